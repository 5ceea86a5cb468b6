"""Numbers and dates: whether what a claim says of something is what the evidence says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.run.judges.lexical.binding import Wanted, attachments, shares, wanted_of
from ragassay.run.judges.lexical.model import CheckName, Finding
from ragassay.run.judges.lexical.quantities import Quantity, comparable, equal
from ragassay.run.judges.lexical.terms import Sentence
from ragassay.run.judges.lexical.vocabulary import APPROXIMATE

_MARGIN = 0.05
"""By how much another number must stand nearer to the claim's words than the claim's own."""
_TOLERANCE = 0.05


class _Candidate(NamedTuple):
    quantity: Quantity
    sentence: int
    near: list[float]


def check_quantities(
    claim: Sequence[Sentence],
    shown: Sequence[Sentence],
    chosen: Sequence[int],
    weights: Mapping[str, float],
    language: str,
) -> Iterator[Finding]:
    """A finding for each number or date of the claim that the evidence does not give, or gives to something else."""
    for mine in claim:
        for one in mine.quantities:
            found = _of_quantity(one, mine, shown, chosen, weights, language)
            if found is not None:
                yield found


def _of_quantity(
    one: Quantity, mine: Sentence, shown: Sequence[Sentence], chosen: Sequence[int], weights: Mapping[str, float],
    language: str,
) -> Finding | None:  # fmt: skip
    check: CheckName = "date" if one.kind == "date" else "number"
    wanted = wanted_of(mine, weights, language, one)
    found = list(_candidates(one, wanted, shown, chosen, language))
    loose = _approximate(mine, one)
    same = [_same(one, two, shown, loose) for two in found]
    groups = _grouped(found, same)
    bound = shares([two.near for two in found], groups, [two.share for two in wanted])
    rivals = [(bound[group], at) for at, group in enumerate(groups) if not same[at] and found[at].sentence in chosen]
    best, at = max(rivals, key=lambda pair: (pair[0], -pair[1]), default=(0.0, -1))
    own = bound[0] if any(same) else 0.0
    if at >= 0 and (best - own > _MARGIN if any(same) else best > 0):
        two = found[at]
        strength = min(1.0, (0.55 if any(same) else 0.75) + best - own)
        why = f"the claim says {_said(one)}; the evidence says {_said(two.quantity)} where the claim's words stand"
        return Finding(check, True, strength, why, two.sentence, two.quantity.start, two.quantity.end)
    if not any(same):
        where = chosen[0] if chosen else 0
        span = (shown[where].start, shown[where].end) if shown else (0, 0)
        return Finding(check, False, 0.6, f"{_said(one)} does not stand in the evidence", where, *span)
    return None


def _candidates(
    one: Quantity, wanted: Sequence[Wanted], shown: Sequence[Sentence],
    chosen: Sequence[int], language: str,
) -> Iterator[_Candidate]:  # fmt: skip
    for at, sentence in enumerate(shown):
        if not sentence.quantities or (at not in chosen and not _has(sentence, one)):
            continue
        alike = [two for two in sentence.quantities if comparable(one, two)]
        for two, near in zip(alike, attachments(alike, sentence, wanted, language), strict=True):
            yield _Candidate(two, at, near)


def _same(one: Quantity, two: _Candidate, shown: Sequence[Sentence], loose: bool) -> bool:
    loose = loose or _approximate(shown[two.sentence], two.quantity)
    return equal(one, two.quantity, _TOLERANCE if loose else 0.0)


def _grouped(found: Sequence[_Candidate], same: Sequence[bool]) -> list[int]:
    """Group 0 says what the claim says; every other value is a group of its own."""
    numbers: dict[str, int] = {}
    return [
        0 if alike else numbers.setdefault(two.quantity.key, len(numbers) + 1)
        for two, alike in zip(found, same, strict=True)
    ]


def _has(sentence: Sentence, one: Quantity) -> bool:
    return any(comparable(one, two) and equal(one, two, _TOLERANCE) for two in sentence.quantities)


def _approximate(sentence: Sentence, one: Quantity) -> bool:
    return any(term.word in APPROXIMATE and 0 <= one.start - term.end <= 8 for term in sentence.terms)


def _said(one: Quantity) -> str:
    if one.kind == "date":
        year, month, day, weekday = one.date
        parts = [f"{year:04d}" if year else "", f"month {month}" if month else "", f"day {day}" if day else "",
                 f"weekday {weekday}" if weekday else ""]  # fmt: skip
        return "the date " + ", ".join(part for part in parts if part)
    return f"{one.value:.10g}" + ("" if one.kind == "count" else f" ({one.kind})")
