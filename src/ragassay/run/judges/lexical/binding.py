"""Numbers, dates and words of scope: whether what a claim binds to something is bound to it in the evidence too."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.run.judges.lexical.model import CheckName, Finding
from ragassay.run.judges.lexical.polarity import concepts_of
from ragassay.run.judges.lexical.quantities import Quantity, comparable, equal
from ragassay.run.judges.lexical.terms import Sentence, Term, root
from ragassay.run.judges.lexical.vocabulary import ALL, APPROXIMATE, FEW, MOST, NONE, ONLY, OPEN, SOME

_MARGIN = 0.06
"""By how much another number must stand nearer to the claim's words than the claim's own."""
_TOLERANCE = 0.05
_SUBJECT = 12
"""Characters before the first number: what stands there is the subject of all of them."""
_SCOPES = (("only", ONLY), ("none", NONE), ("most", MOST), ("few", FEW), ("some", SOME), ("all", ALL), ("open", OPEN))
_CLASH = {
    frozenset(pair)
    for pair in (
        ("all", "some"), ("all", "most"), ("all", "few"), ("all", "none"), ("none", "some"), ("none", "most"),
        ("none", "few"), ("most", "few"), ("most", "none"), ("only", "open"), ("all", "only"),
    )
}  # fmt: skip


class Bound(NamedTuple):
    """How near a place in the evidence stands to the words of a claim, 0 to 1."""

    near: float
    sentence: int


class Scope(NamedTuple):
    """A word of scope, by class."""

    what: str
    word: str
    start: int
    end: int


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
    tolerance = _TOLERANCE if _approximate(mine, one) else 0.0
    same: Bound | None = None
    other: tuple[Bound, Quantity] | None = None
    wanted = _context(mine, weights, language)
    for at, sentence in enumerate(shown):
        if not sentence.quantities or (at not in chosen and not _has(sentence, one)):
            continue
        alike = [two for two in sentence.quantities if comparable(one, two)]
        for two in alike:
            loose = tolerance or (_TOLERANCE if _approximate(sentence, two) else 0.0)
            bound = Bound(_near(two, alike, sentence, wanted, language), at)
            if equal(one, two, loose):
                same = max(same or bound, bound)
            elif at in chosen and (other is None or bound > other[0]):
                other = bound, two
    said = _said(one)
    if other is not None and other[0].near - (same.near if same else -_MARGIN) > _MARGIN:
        strength = min(1.0, (0.75 if same is None else 0.6) + other[0].near - (same.near if same else 0.0))
        two = other[1]
        why = f"the claim says {said}; the evidence says {_said(two)} where the claim's words stand"
        return Finding(check, True, strength, why, other[0].sentence, two.start, two.end)
    if same is None:
        where = chosen[0] if chosen else 0
        span = (shown[where].start, shown[where].end) if shown else (0, 0)
        return Finding(check, False, 0.6, f"{said} does not stand in the evidence", where, *span)
    return None


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


def _context(mine: Sentence, weights: Mapping[str, float], language: str) -> dict[str, float]:
    """The claim's content words by root, each with its share of the whole weight."""
    found = {root(one.word, language): weights.get(one.key, 0.0) for one in mine.terms if one.content}
    total = sum(found.values()) or 1.0
    for one in mine.terms:
        for name, side in concepts_of(one, language) if one.content else ():
            found.setdefault(f"@{name}{side}", weights.get(one.key, 0.0))
    return {key: weight / total for key, weight in found.items()}


def _near(
    place: Quantity | Scope,
    rivals: Sequence[Quantity | Scope],
    sentence: Sentence,
    wanted: Mapping[str, float],
    language: str,
) -> float:
    """The share of the wanted words that stand in the same part of the sentence, or in no rival's, by distance."""
    own = bisect_right(sentence.cuts, place.start)
    taken = {bisect_right(sentence.cuts, one.start) for one in rivals if one is not place}
    best: dict[str, float] = {}
    first = min((one.start for one in rivals), default=0)
    for term in sentence.terms:
        key = root(term.word, language)
        if key not in wanted:
            said = [f"@{name}{side}" for name, side in concepts_of(term, language)]
            key = next((one for one in said if one in wanted), key)
        weight = wanted.get(key)
        if weight is None:
            continue
        words = _distance(sentence, term, place)
        if len(rivals) > 1 and term.end < first and first - term.end > _SUBJECT:
            factor = 0.5
        elif term.segment == own:
            factor = 1 / (1 + 0.08 * words)
        else:
            factor = 0.15 / (1 + 0.08 * words) if term.segment in taken else 0.5 / (1 + 0.02 * words)
        best[key] = max(best.get(key, 0.0), weight * factor)
    return sum(best.values())


def _distance(sentence: Sentence, term: Term, place: Quantity | Scope) -> int:
    low, high = sorted((term.start, place.start))
    return sum(low < one.start < high for one in sentence.terms)


def scopes(sentence: Sentence) -> list[Scope]:
    """The words of scope of a sentence; `nearly all`, `not all`, `more than half`, `all but` by what they mean."""
    made: list[Scope] = []
    words = [one.word for one in sentence.terms]
    for at, term in enumerate(sentence.terms):
        what = next((name for name, group in _SCOPES if term.word in group), "")
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        if not what or (term.word in ("any", "both", "part", "parte", "teil", "even", "too", "more")):
            what = "all" if term.word == "both" else what if term.word in ("part", "parte", "teil", "even") else ""
        if what == "all" and before in ("nearly", "almost", "fast", "beinahe", "casi"):
            what = "most"
        if what == "all" and before in ("not", "nicht", "no"):
            what = "some"
        if what == "all" and any(
            word in ("except", "but", "außer", "excepto", "salvo") for word in words[at + 1 : at + 6]
        ):
            what = "some"
        if what == "only" and after in ("some", "a", "einige", "algunos", "in") and term.word != "reserved":
            continue
        if what == "few" and before == "a" and "only" not in words:
            what = "some"
        if what:
            made.append(Scope(what, term.word, term.start, term.end))
    return made + _halves(sentence)


def _halves(sentence: Sentence) -> list[Scope]:
    """`more than half`, `mehr als die Hälfte`, `más de la mitad` are most."""
    made = []
    for one in sentence.quantities:
        near = [term.word for term in sentence.terms if 0 <= one.start - term.end < 14]
        if one.kind == "count" and one.value == 0.5 and {"more", "mehr", "más"} & set(near):
            made.append(Scope("most", "half", one.start, one.end))
    return made


def check_scope(
    claim: Sequence[Sentence],
    shown: Sequence[Sentence],
    chosen: Sequence[int],
    weights: Mapping[str, float],
    language: str,
) -> Iterator[Finding]:
    """A finding for each word of scope in the claim that the evidence's nearest one is not compatible with."""
    for mine in claim:
        wanted = _context(mine, weights, language)
        for one in scopes(mine):
            agree, clash = 0.0, None
            for at in chosen[:2]:
                rivals = scopes(shown[at])
                for two in rivals:
                    near = _near(two, rivals, shown[at], wanted, language)
                    if two.what == one.what:
                        agree = max(agree, near)
                    elif frozenset((one.what, two.what)) in _CLASH and (clash is None or near > clash[0]):
                        clash = near, two, at
            if clash and clash[0] > agree + 0.02:
                strength = min(1.0, 0.6 + clash[0] - agree)
                why = f"the claim says {one.word!r} ({one.what}); the evidence says {clash[1].word!r} ({clash[1].what})"
                yield Finding("scope", True, strength, why, clash[2], clash[1].start, clash[1].end)
                return
    yield from _bounds(claim, shown, chosen)


_LEAST = ("at least", "no fewer than", "no less than", "not less than", "mindestens", "wenigstens", "al menos",
          "como mínimo", "minimum", "or more", "more than")  # fmt: skip
_MOST = ("at most", "no more than", "not more than", "up to", "höchstens", "maximal", "nicht mehr als", "como máximo",
         "maximum", "or fewer", "or less", "a lo sumo", "fewer than", "less than", "cannot carry more")  # fmt: skip


def _bounds(claim: Sequence[Sentence], shown: Sequence[Sentence], chosen: Sequence[int]) -> Iterator[Finding]:
    """`at least` against `at most` beside the same number."""
    mine = " ".join(one.word for each in claim for one in each.terms)
    mine_side = _side(mine)
    if not mine_side:
        return
    numbers = {two.key for each in claim for two in each.quantities}
    for at in chosen[:1]:
        theirs = " ".join(one.word for one in shown[at].terms)
        side = _side(theirs)
        same = [two for two in shown[at].quantities if two.key in numbers]
        if side and side != mine_side and same:
            why = f"the claim says {mine_side}; the evidence says {side}"
            yield Finding("scope", True, 0.9, why, at, same[0].start, same[0].end)
            return


def _side(text: str) -> str:
    text = f" {text} "
    if any(f" {one} " in text for one in _MOST):
        return "at most"
    return "at least" if any(f" {one} " in text for one in _LEAST) else ""
