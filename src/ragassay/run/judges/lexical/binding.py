"""Which of several numbers, dates or words of scope in a sentence the words of a claim belong to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from ragassay.run.judges.lexical.concepts import concepts_of, kin
from ragassay.run.judges.lexical.quantities import Quantity, comparable, parts
from ragassay.run.judges.lexical.terms import Sentence, Term, root
from ragassay.run.judges.lexical.vocabulary import NEGATORS

_BY_DISTANCE = 0.12
_ADJACENT = 1.4
"""The word behind a number is mostly what it counts."""
_CARRIED, _SUBJECT = 0.4, 0.75
"""What a word of an earlier part still says of a later one; the subject of the first part is that of all."""
_BACKWARD = 0.08
_OPEN = 0.6
"""A part without a place of its own belongs to those beside it."""
_SYNONYM = 0.7


class Place(Protocol):
    """Anything that stands somewhere in a text."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """Behind the last one."""


class Wanted(NamedTuple):
    """A word of a claim, or a number or date beside the one in question: what it may meet, and its share of all."""

    keys: frozenset[str]
    own: str
    share: float


class _Piece(NamedTuple):
    start: int
    end: int
    segment: int
    keys: frozenset[str]


def keys_of(one: Term, language: str) -> tuple[str, ...]:
    """Under what a word may meet another one: root, group of synonyms, concepts with their sides."""
    own = (root(one.word, language), kin(one.word, language))
    return own + tuple(f"@{name}{side}" for name, side in concepts_of(one, language))


def wanted_of(mine: Sentence, weights: Mapping[str, float], language: str, but: Quantity | None = None) -> list[Wanted]:
    """The claim's content words and those numbers and dates that are of another kind than the one in question."""
    found: dict[str, Wanted] = {}
    for one in mine.terms:
        if one.content and one.word not in NEGATORS:
            keys = keys_of(one, language)
            found.setdefault(keys[0], Wanted(frozenset(keys), keys[0], weights.get(one.key, 0.0)))
    for two in mine.quantities:
        if but is not None and not comparable(two, but):
            weight = max((weights.get(key, 0.0) for key in parts(two)), default=0.0)
            found.setdefault(two.key, Wanted(frozenset([two.key]), two.key, weight))
    total = sum(one.share for one in found.values()) or 1.0
    return [one._replace(share=one.share / total) for one in found.values()]


def attachments(
    places: Sequence[Place], sentence: Sentence, wanted: Sequence[Wanted], language: str
) -> list[list[float]]:
    """For each place how near each wanted word stands to it: 0 where it does not stand in the sentence at all."""
    segments = [bisect_right(sentence.cuts, one.start) for one in places]
    made = [[0.0] * len(wanted) for _ in places]
    for piece in _pieces(sentence, language):
        for number, one in enumerate(wanted):
            if not piece.keys & one.keys:
                continue
            sure = 1.0 if one.own in piece.keys else _SYNONYM
            for which, place in enumerate(places):
                if piece.start == place.start:
                    continue
                near = sure * _near(sentence, piece, place, segments[which], segments)
                made[which][number] = max(made[which][number], near)
    return made


def _pieces(sentence: Sentence, language: str) -> Iterator[_Piece]:
    for one in sentence.terms:
        if one.content:
            yield _Piece(one.start, one.end, one.segment, frozenset(keys_of(one, language)))
    for two in sentence.quantities:
        yield _Piece(two.start, two.end, bisect_right(sentence.cuts, two.start), frozenset([two.key]))


def _near(sentence: Sentence, piece: _Piece, place: Place, segment: int, segments: Sequence[int]) -> float:
    low, high = sorted((piece.start, place.start))
    between = sum(low < one.start < high for one in sentence.terms)
    if piece.segment == segment:
        if piece.start >= place.end and not between:
            return _ADJACENT
        return 1 / (1 + _BY_DISTANCE * between)
    occupied = piece.segment in segments
    if piece.segment > segment:
        return _BACKWARD if occupied or any(segment < one <= piece.segment for one in segments) else _OPEN
    if not occupied:
        return _OPEN / (1 + 0.02 * between)
    return _SUBJECT if piece.segment == min(segments) and _is_subject(sentence, piece) else _CARRIED


def _is_subject(sentence: Sentence, piece: _Piece) -> bool:
    """Whether a word stands at the head of a part that goes on behind it."""
    mine = [one.start for one in sentence.terms if one.segment == piece.segment]
    return len(mine) > 3 and piece.start in mine[:3]


def shares(near: Sequence[Sequence[float]], groups: Sequence[int], weights: Sequence[float]) -> list[float]:
    """For each group of places the weighted share of the words that belong to it rather than to the others, 0 to 1.

    A word that stands as near to all says nothing for one of them; a word that stands nowhere says nothing at all.
    """
    many = max(groups) + 1 if groups else 0
    made = [0.0] * many
    for number, weight in enumerate(weights):
        best = [0.0] * many
        for which, group in enumerate(groups):
            best[group] = max(best[group], near[which][number])
        total = sum(best)
        if total:
            for group in range(many):
                made[group] += weight * min(1.0, max(best)) * best[group] / total
    return made
