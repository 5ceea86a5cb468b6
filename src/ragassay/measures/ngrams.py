"""bleu and chrf of one answer against references, equal to sacrebleu's sentence scores (in 0..1, not 0..100).

Own code, since sacrebleu would bring six distributions for sixty lines; conformance tests compare the two.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ragassay.measures.outcome import Outcome

_ORDER, _CHARACTERS, _BETA_SQUARED = 4, 6, 4
_SPLITS = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def tokens_13a(text: str) -> list[str]:
    """mteval-v13a's words, as in WMT."""
    line = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, char in _ENTITIES:
            line = line.replace(entity, char)
    line = f" {line} "
    for pattern, parted in _SPLITS:
        line = pattern.sub(parted, line)
    return line.split()


def bleu(answer: str, references: Iterable[str]) -> Outcome:
    """Geometric mean of 1- to 4-gram precisions against all references together, with brevity penalty.

    Zero counts are smoothed exponentially; orders longer than the answer are left out (effective order). Numerator
    and denominator are the value over 1: there is no single count. No reference: missing(no_reference).
    """
    mine = tokens_13a(answer.rstrip())
    golds = [tokens_13a(text.rstrip()) for text in references]
    if not golds:
        return Outcome("missing", None, None, None, "no_reference")
    nearest = min((abs(len(gold) - len(mine)), len(gold)) for gold in golds)[1]
    correct, total = [], []
    for n in range(1, _ORDER + 1):
        own = _grams(mine, n)
        best: Counter[tuple[str, ...]] = Counter()
        for gold in golds:
            best |= _grams(gold, n)
        total.append(own.total())
        correct.append((own & best).total())
    value = _geometric(correct, total) * _brevity(len(mine), nearest)
    return Outcome("value", value, value, 1.0)


def chrf(answer: str, references: Iterable[str]) -> Outcome:
    """F2 of mean precision and recall of character 1- to 6-grams without white space, with the best reference.

    No reference: missing(no_reference); nothing in common, or no characters: 0.
    """
    mine = _characters(answer)
    scores = [_f2(mine, _characters(text)) for text in references]
    if not scores:
        return Outcome("missing", None, None, None, "no_reference")
    value = max(scores)
    return Outcome("value", value, value, 1.0)


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[at:] for at in range(n)), strict=False))


def _brevity(mine: int, nearest: int) -> float:
    if mine >= nearest:
        return 1.0
    return math.exp(1 - nearest / mine) if mine else 0.0


def _geometric(correct: list[int], total: list[int]) -> float:
    if not any(correct):
        return 0.0
    logs, halved = [], 1.0
    for right, all_of in zip(correct, total, strict=True):
        if all_of == 0:
            break
        if right == 0:
            halved *= 2
        logs.append(math.log(right / all_of if right else 1 / (halved * all_of)))
    return math.exp(math.fsum(logs) / len(logs))


def _characters(text: str) -> list[Counter[str]]:
    line = "".join(text.split())
    return [Counter(line[at : at + n] for at in range(len(line) - n + 1)) for n in range(1, _CHARACTERS + 1)]


def _f2(mine: list[Counter[str]], theirs: list[Counter[str]]) -> float:
    precisions, recalls = [], []
    for own, gold in zip(mine, theirs, strict=True):
        if own and gold:
            shared = (own & gold).total()
            precisions.append(shared / own.total())
            recalls.append(shared / gold.total())
    if not precisions:
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    if precision + recall == 0:
        return 0.0
    return (1 + _BETA_SQUARED) * precision * recall / (_BETA_SQUARED * precision + recall)
