"""Which evidence a list of items holds: held, not held, or unknown. Forms no score.

Evidence is held if the union of the items' intervals covers at least `hold` of its code points that are not white
space; a document-level label is held by any resolved item of its document. A derived item covers nothing. Where the
resolved items do not cover, an unresolved or derived item makes it unknown; an item that is from one of several places
alike makes unknown what it would cover in any of them, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from ragassay.records.trace import Item
from ragassay.score.labels import Label, Labels, size
from ragassay.score.world import Interval, World

TOLERANCE = 1e-9
"""A covered count within this of its threshold counts as equal to it."""


class State(IntEnum):
    """Whether a list holds something; the order is that of knowing more for it."""

    NOT_HELD = 0
    UNKNOWN = 1
    HELD = 2


class Reading(NamedTuple):
    """A list read from its top. Per item: labels that it is the first to hold, labels that it touches, whether it may
    hold what nobody knows. Per label: whether the whole list holds it, and how many of its code points it covers."""

    first: list[tuple[int, ...]]
    touched: list[tuple[int, ...]]
    open: list[bool]
    states: tuple[State, ...]
    covered: tuple[int, ...]
    by_document: bool
    """A whole document, of which nobody said what was read, touched a label."""


class _Cover:
    """The part of one place of one label that is covered so far, as disjoint ascending intervals."""

    __slots__ = ("count", "label", "parts", "place", "plain", "total")

    def __init__(self, label: int, place: Interval, total: int, plain: bool) -> None:
        self.label, self.place, self.total, self.plain = label, place, total, plain
        self.parts: list[tuple[int, int]] = []
        self.count = 0

    def add(self, at: Interval, world: World) -> bool:
        """Cover what lies within; whether this interval touches the label at all."""
        start, end = max(at.start, self.place.start), min(at.end, self.place.end)
        if start >= end:
            return False
        cut = Interval(at.place, start, end)
        if size(cut, self.plain, world) == 0:
            return False
        if not any(low <= start and end <= high for low, high in self.parts):
            self._merge(start, end)
            self.count = sum(size(Interval(at.place, *one), self.plain, world) for one in self.parts)
        return True

    def _merge(self, start: int, end: int) -> None:
        apart = [one for one in self.parts if one[1] < start or end < one[0]]
        near = [one for one in self.parts if not (one[1] < start or end < one[0])]
        low, high = min([start, *(one[0] for one in near)]), max([end, *(one[1] for one in near)])
        self.parts = sorted([*apart, (low, high)])

    def full(self, hold: float) -> bool:
        return self.count > 0 and self.count >= hold * self.total - TOLERANCE


class Reader:
    """Reads lists against the labels of one case."""

    def __init__(self, labels: Sequence[Label], world: World, hold: float) -> None:
        self.labels = tuple(labels)
        self.world = world
        self.hold = hold
        self._coarse: dict[int, list[int]] = {}
        self._fine: dict[int, list[int]] = {}
        for number, one in enumerate(self.labels):
            for place in {each.place for each in one.places}:
                (self._coarse if one.coarse else self._fine).setdefault(place, []).append(number)

    def read(self, items: Iterable[Item]) -> Reading:
        """The items in their order. Adding an item never makes a state lower."""
        covers = self._covers()
        held = [False] * len(self.labels)
        first: list[tuple[int, ...]] = []
        touched: list[tuple[int, ...]] = []
        unknown: list[bool] = []
        nothing_known = False
        by_document = False
        perhaps: set[int] = set()
        for item in items:
            near, whole, maybe = self._among(item) if item.among else (*self._touch(item, covers), ())
            new = [number for number in near if not held[number] and (number in whole or self._full(covers[number]))]
            for number in new:
                held[number] = True
            by_document |= item.whole_document and any(not self.labels[number].coarse for number in near)
            first.append(tuple(new))
            touched.append(tuple(near))
            perhaps.update(maybe)
            hidden = item.transform == "derived" or not (item.sources or item.among)
            nothing_known |= hidden
            unknown.append(hidden or bool(maybe))
        return Reading(
            first,
            touched,
            unknown,
            tuple(
                State.HELD if one else State.UNKNOWN if nothing_known or number in perhaps else State.NOT_HELD
                for number, one in enumerate(held)
            ),
            tuple(max((cover.count for cover in own), default=0) for own in covers),
            by_document,
        )

    def states(self, items: Sequence[Item]) -> tuple[State, ...]:
        """State of each label for what needs to know the very place: a whole document leaves a span unknown."""
        reading = self.read(items)
        if not reading.by_document:
            return reading.states
        strict = self.read([one for one in items if not one.whole_document]).states
        return tuple(
            State.UNKNOWN if loose is State.HELD and tight is not State.HELD and not label.coarse else loose
            for loose, tight, label in zip(reading.states, strict, self.labels, strict=True)
        )

    def _covers(self) -> list[list[_Cover]]:
        return [
            [_Cover(number, at, total, one.plain) for at, total in zip(one.places, one.totals, strict=True)]
            for number, one in enumerate(self.labels)
        ]

    def _full(self, covers: Iterable[_Cover]) -> bool:
        return any(one.full(self.hold) for one in covers)

    def _among(self, item: Item) -> tuple[list[int], set[int], list[int]]:
        """Of an item that is from one of several places: the labels that it touches and holds wherever it is from
        (those on the document of all of them), and those that it would touch in some."""
        places = self.world.among(item)
        documents = {at.place for at in places}
        near = {number: None for at in places for number in self._coarse.get(at.place, ())}
        sure = [number for number in near if documents.issubset(one.place for one in self.labels[number].places)]
        maybe = [number for number in near if number not in sure]
        fine = {number: None for at in places for number in self._fine.get(at.place, ())}
        maybe += [number for number in fine if any(_meet(self.labels[number], at, self.world) for at in places)]
        return sure, set(sure), maybe

    def _touch(self, item: Item, covers: list[list[_Cover]]) -> tuple[list[int], set[int]]:
        """Labels that an item touches, and those of them that it holds by naming their document."""
        near: dict[int, None] = {}
        whole: set[int] = set()
        for at in self.world.of(item):
            for number in self._coarse.get(at.place, ()):
                near[number] = None
                whole.add(number)
            if item.transform == "derived":
                continue
            for number in self._fine.get(at.place, ()):
                for cover in covers[number]:
                    if cover.place.place == at.place and cover.add(at, self.world):
                        near[number] = None
        return list(near), whole


def _meet(label: Label, at: Interval, world: World) -> bool:
    """Whether an interval and a label have anything in common that counts."""
    near = (one for one in label.places if one.place == at.place)
    common = (Interval(at.place, max(at.start, one.start), min(at.end, one.end)) for one in near)
    return any(one.start < one.end and size(one, label.plain, world) > 0 for one in common)


def fact_states(labels: Labels, reader: Reader, states: Sequence[State]) -> dict[str, State]:
    """Fact -> whether a list holds it: some set of its evidence is held whole. Facts that nobody may see are absent."""
    of = {label.id: state for label, state in zip(reader.labels, states, strict=True)}
    return {
        fact.id: max(min(of[one] for one in group) for group in labels.sets[fact.id])
        for fact in labels.facts
        if labels.sets[fact.id]
    }
