"""Negations and opposites: whether the evidence says the contrary of a claim in the claim's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.run.judges.lexical.concepts import COMPARED, concepts_of, lost_to
from ragassay.run.judges.lexical.model import Finding
from ragassay.run.judges.lexical.terms import Sentence, Term, root
from ragassay.run.judges.lexical.vocabulary import (
    ARABIC_NO,
    CHINESE_NO,
    COMPARATIVE,
    JAPANESE_NO,
    NEGATORS,
    ONLY,
)

_LEAST_SHARED = 0.34
"""Of the claim's weight, that must stand in one sentence before its polarity is compared."""
_BOUNDS = {"more", "less", "fewer", "mehr", "weniger", "más", "menos", "nur", "only", "solo", "sólo"}


class Signed(NamedTuple):
    """What is said in a part of a sentence: 1 said, -1 denied."""

    sign: int
    term: Term


def check_polarity(
    claim: Sequence[Sentence],
    shown: Sequence[Sentence],
    chosen: Sequence[int],
    weights: Mapping[str, float],
    language: str,
) -> Iterator[Finding]:
    """A finding where a sentence of the evidence and the claim say one thing with opposite signs."""
    for mine in claim:
        said, told = _signed(mine, language), _concepts(mine, language)
        total = sum(weights.get(one.key, 0.0) for one in mine.terms if one.content) or 1.0
        for at in chosen[:1]:
            finding = _against(mine, shown[at], at, said, told, weights, total, language)
            if finding is not None:
                yield finding
                return


def _against(
    mine: Sentence, theirs: Sentence, at: int, said: dict[str, Signed], told: dict[str, Signed],
    weights: Mapping[str, float], total: float, language: str,
) -> Finding | None:  # fmt: skip
    """Concepts decide; where the two share none, the words of the claim do, by their weight."""
    part = _part(mine, theirs, weights, language)
    other = _signed(theirs, language, part)
    every = _concepts(theirs, language, part)
    concepts = [name for name in told if name in every]
    shared = sum(weights.get(one.term.key, 0.0) for key, one in said.items() if key in other)
    if concepts:
        wrong = [name for name in concepts if told[name].sign != every[name].sign]
        if not wrong or len(wrong) < len(concepts):
            return None
        a, b = told[wrong[0]].term, every[wrong[0]].term
        why = f"the claim says {a.word!r}, the evidence the opposite ({b.word!r})"
        return Finding("opposite", True, 0.9, why, at, b.start, b.end)
    if shared / total < _LEAST_SHARED:
        return None
    wrong_weight = sum(
        weights.get(one.term.key, 0.0) for key, one in said.items() if key in other and other[key].sign != one.sign
    )
    if shared and wrong_weight / shared > 0.6:
        first = next(one.term for key, one in other.items() if key in said and said[key].sign != one.sign)
        why = f"{first.word!r} is negated in one of claim and evidence and not in the other"
        strength = min(1.0, 0.4 + 0.6 * wrong_weight / total)
        return Finding("negation", True, strength, why, at, first.start, first.end)
    return None


def _part(mine: Sentence, theirs: Sentence, weights: Mapping[str, float], language: str) -> set[int]:
    """The parts of a sentence that hold most of the claim; the best one, and those that add words of it."""
    wanted = {root(one.word, language): weights.get(one.key, 0.0) for one in mine.terms if one.content}
    names = {name for one in mine.terms for name, _ in concepts_of(one, language)}
    score: dict[int, float] = {}
    seen: dict[int, set[str]] = {}
    for one in theirs.terms:
        key = root(one.word, language)
        hit = wanted.get(key, 0.0)
        if not hit and any(name in names for name, _ in concepts_of(one, language)):
            hit = 1.0
        if hit and key not in seen.setdefault(one.segment, set()):
            seen[one.segment].add(key)
            score[one.segment] = score.get(one.segment, 0.0) + hit
    if not score:
        return set()
    best = max(score, key=lambda number: (score[number], -number))
    return {best} | {number for number in score if seen[number] - seen[best] and score[number] >= 0.5 * score[best]}


def _negations(sentence: Sentence) -> dict[int, int]:
    """How often each part of a sentence is negated; `no more than`, `not only` and `not all` negate nothing."""
    made: dict[int, int] = {}
    words = [one.word for one in sentence.terms]
    for at, term in enumerate(sentence.terms):
        after = words[at + 1] if at + 1 < len(words) else ""
        cut = term.word.endswith(("n't", "n’t")) or term.word in ("cannot", "can't", "don't", "doesn't")
        if not (term.word in NEGATORS or cut or term.word in ARABIC_NO or _han_negates(term.word)):
            continue
        if after in _BOUNDS or after in ("all", "alle", "todos", "every"):
            continue
        made[term.segment] = made.get(term.segment, 0) + 1
    return made


def _han_negates(word: str) -> bool:
    first = word[:1]
    return len(word) <= 2 and (first in CHINESE_NO or word in JAPANESE_NO) and first >= "\u3040"


def _signed(sentence: Sentence, language: str, part: set[int] | None = None) -> dict[str, Signed]:
    """The content words of a sentence by root, each with the sign of its part."""
    negations = _negations(sentence)
    made: dict[str, Signed] = {}
    for one in sentence.terms:
        if not one.content or one.word in NEGATORS or (part is not None and one.segment not in part):
            continue
        if one.word in ONLY or one.word in COMPARATIVE:
            continue
        made.setdefault(root(one.word, language), Signed(-1 if negations.get(one.segment, 0) % 2 else 1, one))
    return made


def _concepts(sentence: Sentence, language: str, part: set[int] | None = None) -> dict[str, Signed]:
    """The concepts of a sentence with their sides; one that stands on both sides says nothing."""
    negations = _negations(sentence)
    made: dict[str, Signed] = {}
    both: set[str] = set()
    compares = any(one.word in ("than", "als", "que") for one in sentence.terms)
    for at, one in enumerate(sentence.terms):
        if (part is not None and one.segment not in part) or lost_to(sentence.terms, at, language):
            continue
        for name, side in concepts_of(one, language):
            if name in COMPARED and (compares or one.word in ("before", "after", "up", "down", "lower", "higher")):
                continue
            own = one.word in NEGATORS
            times = negations.get(one.segment, 0) - own
            sign = -side if times % 2 else side
            if name in made and made[name].sign != sign:
                both.add(name)
            made.setdefault(name, Signed(sign, one))
    return {name: one for name, one in made.items() if name not in both}
