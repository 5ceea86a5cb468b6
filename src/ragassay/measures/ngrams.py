"""bleu and chrf of one answer against references: sacrebleu's sentence scores, in 0..1; nothing is computed here.

sacrebleu comes with the extra `text`, and is imported when a score is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from ragassay.errors import MissingExtraError
from ragassay.measures.outcome import NO_REFERENCE, Outcome

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF


def bleu(answer: str, references: Iterable[str]) -> Outcome:
    """Geometric mean of 1- to 4-gram precisions against all references together, with brevity penalty.

    13a tokens. Zero counts are smoothed exponentially; orders longer than the answer are left out (effective order).
    Numerator and denominator are the value over 1: there is no single count. No reference: missing(no_reference).

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    return _scored(_scorers()[0], answer, list(references))


def chrf(answer: str, references: Iterable[str]) -> Outcome:
    """F2 of mean precision and recall of character 1- to 6-grams without white space, with the best reference.

    No reference: missing(no_reference); nothing in common, or no characters: 0.

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    return _scored(_scorers()[1], answer, list(references))


@cache
def _scorers() -> tuple[BLEU, CHRF]:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise MissingExtraError("bleu and chrf need sacrebleu", hint="pip install 'ragassay[text]'") from error
    return BLEU(effective_order=True), CHRF()


def _scored(scorer: BLEU | CHRF, answer: str, references: list[str]) -> Outcome:
    if not references:
        return NO_REFERENCE
    value = min(scorer.sentence_score(answer, references).score / 100, 1.0)
    return Outcome("value", value, value, 1.0)
