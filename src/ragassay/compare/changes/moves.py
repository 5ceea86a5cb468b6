"""Two traces of one question, step by step: whose output is another one, and whether what came in was. Blames nothing.

What came into a step is what its parents handed on, and what the steps before it said (a rewritten query). A step that
both traces have is known by its name and by which of that name it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from ragassay.compare.changes.likeness import Likeness
from ragassay.compare.changes.nodes import ANSWER, Point, Points
from ragassay.records.trace import TraceContent

Key = tuple[str, int]


class Move(NamedTuple):
    """What became of the steps of one name in one question."""

    name: str
    kind: str
    side: Literal["both", "baseline", "candidate"]
    """Which traces have it."""
    same: bool
    """Both have it, and its output is the same."""
    first: bool
    """Its output differs although what came in is the same; of a step that one side lacks: it changes what came in."""


class Pair:
    """Two traces of one key. `asked_same`: both systems were asked the same, after the same history."""

    def __init__(self, ours: TraceContent, theirs: TraceContent, likeness: Likeness, *, asked_same: bool) -> None:
        self.ours, self.theirs = Points(ours), Points(theirs)
        self._like, self._asked_same = likeness, asked_same
        self._out: dict[Key, bool] = {}
        self._came: dict[Key, bool] = {}

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """One a step name, in the order of the candidate; steps that it lacks stand where the baseline has them."""
        keys: dict[str, list[Key]] = {name: [] for name in _merged(self.ours.all, self.theirs.all)}
        for key in self._every_key:  # what came in before what it came into
            self._came_same(key)
            keys[key[0]].append(key)
        return tuple(self._move(name, own) for name, own in keys.items())

    @cached_property
    def context_same(self) -> bool:
        """Whether generation saw the same."""
        return self._like.same(self.ours.context, self.theirs.context)

    def origins(self, names: Sequence[str]) -> tuple[str, ...]:
        """Steps at which the change begins, among these and all that they stood on; none named: all before generation.

        Where a step failed that the baseline's did not, that is where.
        """
        if names:
            within = self.ours.before(names) | self.theirs.before(names)
        else:
            within = self.ours.way() | self.theirs.way()
        return tuple(one.name for one in self.moves if one.first and one.name in within)

    def came_same(self, names: Sequence[str]) -> bool:
        """Whether what came into all steps of these names is the same; of no names: whether the question is."""
        if not names:
            return self._asked_same
        keys = [key for key in self._every_key if key[0] in names]
        return bool(keys) and all(self._came_same(key) for key in keys)

    @cached_property
    def _every_key(self) -> list[Key]:
        return list(dict.fromkeys([*self.theirs.by_key, *self.ours.by_key]))

    def _move(self, name: str, keys: list[Key]) -> Move:
        a, b = (any(key in one.by_key for key in keys) for one in (self.ours, self.theirs))
        point = self._any(keys[0])
        same = all(self._out_same(key) for key in keys)
        first = any(not self._out_same(key) and self._came_same(key) and self._matters(key) for key in keys)
        return Move(name, point.kind, "both" if a and b else "baseline" if a else "candidate", same, first)

    def _any(self, key: Key) -> Point:
        return self._of(self.theirs, key) or self._of(self.ours, key)  # type: ignore[return-value]

    @staticmethod
    def _of(points: Points, key: Key) -> Point | None:
        place = points.by_key.get(key)
        return None if place is None else points.all[place]

    def _out_same(self, key: Key) -> bool:
        if key not in self._out:
            a, b = self._of(self.ours, key), self._of(self.theirs, key)
            self._out[key] = a is not None and b is not None and a.said == b.said and self._like.same(a.items, b.items)
        return self._out[key]

    def _came_same(self, key: Key) -> bool:
        if key not in self._came:
            self._came[key] = self._asked_same and self._find_came(key)
        return self._came[key]

    def _find_came(self, key: Key) -> bool:
        a, b = self._of(self.ours, key), self._of(self.theirs, key)
        if a is None or b is None:
            point, points = (a, self.ours) if b is None else (b, self.theirs)
            assert point is not None
            parents = [points.all[one].key for one in point.parents]
            return all(self._flow_same(one) for one in parents) and self._words_same(points, point)
        ours = {self.ours.all[one].key for one in a.parents}
        theirs = {self.theirs.all[one].key for one in b.parents}
        if ours == theirs:
            if not all(self._flow_same(one) for one in ours):
                return False
        elif not self._like.same(self.ours.inputs(a), self.theirs.inputs(b)):
            return False
        if a.kind in ("generate", ANSWER) and not self.context_same:
            return False
        return self._words_same(self.ours, a) and self._words_same(self.theirs, b)

    def _flow_same(self, key: Key) -> bool:
        """Whether a step hands the same on. A source adds to what came in; one that did not say hands that on."""
        point = self._any(key)
        if not self._out_same(key):
            return False
        return self._came_same(key) if point.source or point.items is None else True

    def _words_same(self, points: Points, point: Point) -> bool:
        """Whether all steps that speak, of those that this one stood on, say the same."""
        before = [points.all[place] for place in points.upstream(point.parents)]
        return all(self._out_same(one.key) for one in before if one.speaks)

    def _matters(self, key: Key) -> bool:
        """Of a step that one side lacks: whether it hands on other items than came in; of any other: yes.

        Where a trace failed, what it lacks did not come to pass: only the step that failed matters.
        """
        a, b = self._of(self.ours, key), self._of(self.theirs, key)
        if a is not None and b is not None:
            return True
        failures = [one.content.failure for one in (self.ours, self.theirs) if one.content.failure is not None]
        if failures:
            return any(_is_of(key[0], one.step) for one in failures)
        point, points = (a, self.ours) if b is None else (b, self.theirs)
        assert point is not None
        if point.items is None or point.source or point.step is None:
            return True
        inputs = points.inputs(point)
        return [one.identity for one in inputs] != [one.identity for one in point.items]


def _is_of(name: str, failed: str | None) -> bool:
    """Whether a failure is that of the steps of this name; one that names no step is that of the answer."""
    return name == ANSWER if failed is None else name == failed or failed.startswith(f"{name}-")


def _merged(ours: Sequence[Point], theirs: Sequence[Point]) -> list[str]:
    """Names in the order of the candidate; what only the baseline has stands after what it follows there."""
    names = list(dict.fromkeys(one.name for one in theirs))
    place = 0
    for name in dict.fromkeys(one.name for one in ours):
        if name in names:
            place = names.index(name) + 1
        else:
            names.insert(place, name)
            place += 1
    return names
