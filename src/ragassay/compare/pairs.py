"""Two arms, or one, question by question: values, clusters, and which questions have none and why. Tests nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.compare.cells import MISSING, STATUSES, UNDEFINED, VALUE, Cells, Flags, Floats, Ints
from ragassay.compare.side import Side
from ragassay.records.score import Population, Status
from ragassay.score.estimates import BOTH, SUMS

Aggregation = Literal["macro", "micro", "sum"]
NOT_ASKED = "not_asked"
NOT_MEASURED = "not_measured"
OTHER_POPULATION = "other_population"
LAST_LIST = "last list"
"""In place of a step: the last list before the context of each arm, whatever that step is called there."""


class Lost(NamedTuple):
    """A question of the population without a value, on which side, and why."""

    query_id: str
    side: Literal["baseline", "candidate"]
    status: Status
    reason: str


class Ends(NamedTuple):
    """What each question could add at the least and at the most: those with a value, missing and in error."""

    low: Floats
    high: Floats
    clusters: Ints


class Column(NamedTuple):
    """One measure of one arm over one population; arrays of shape (questions with a value,)."""

    measure: str
    step: str | None
    population: Population
    aggregation: str
    query_ids: tuple[str, ...]
    values: Floats
    """macro: the mean over repeats; sum: their sum; micro: the numerator."""
    clusters: Ints
    """Equal for questions of one conversation or paraphrase group."""
    weights: Floats | None
    """Denominators, for micro."""
    within: tuple[float, float] | None
    direction: str
    lost: tuple[Lost, ...]
    ends: Ends | None
    """Of the value; for macro of a bounded measure."""


class Pairs(NamedTuple):
    """One measure of two arms over the questions of one population that have a value in both; shape (pairs,)."""

    measure: str
    step: str | None
    population: Population
    aggregation: str
    """macro: a question's mean over repeats; sum: their sum; micro: numerators, with `weights`."""
    query_ids: tuple[str, ...]
    baseline: Floats
    candidate: Floats
    clusters: Ints
    weights: tuple[Floats, Floats] | None
    """Denominators of baseline and candidate, for micro."""
    within: tuple[float, float] | None
    """Least and greatest value of one arm, where there is a greatest."""
    direction: str
    lost: tuple[Lost, ...]
    """Questions of the population without a value on a side; one lost on both sides is there twice."""
    ends: Ends | None
    """Of the difference candidate less baseline; for macro of a bounded measure."""
    limits: tuple[float, float] | None = None
    """Of the difference of the two ratios, where anything is not known; for micro of a bounded measure."""

    @property
    def differences(self) -> Floats:
        """Candidate less baseline of each question (macro, sum)."""
        return self.candidate - self.baseline


class Joined:
    """The questions of two arms by id: those of either, in the order of ids."""

    def __init__(self, a: Side, b: Side) -> None:
        self.ids = tuple(sorted(a.places.keys() | b.places.keys()))
        self.baseline = np.array([a.places.get(one, -1) for one in self.ids], np.int64)
        self.candidate = np.array([b.places.get(one, -1) for one in self.ids], np.int64)
        both = zip(self.baseline.tolist(), self.candidate.tolist(), strict=True)
        names = [(b.cases[right] if right >= 0 else a.cases[left]).cluster for left, right in both]
        seen: dict[str, int] = {}
        self.clusters = np.array([seen.setdefault(one, len(seen)) for one in names], np.int64)
        self._moved: dict[tuple[bool, str, str | None], Cells | None] = {}
        self._sides = (a, b)

    @cached_property
    def id_array(self) -> NDArray[np.object_]:
        """The ids, to be picked by place."""
        return np.array(self.ids, object)

    def cells(self, right: bool, measure: str, step: str | None) -> Cells | None:
        """The cells of one arm at the places of all questions of both, made once."""
        key = (right, measure, step)
        if key not in self._moved:
            side, at = self._sides[right], self.candidate if right else self.baseline
            own = side.cells(measure, side.last_list if step == LAST_LIST else step)
            self._moved[key] = None if own is None else own.at(at)
        return self._moved[key]


def joined(a: Side, b: Side) -> Joined:
    """Both arms by id, made once for each pair of sides."""
    found = a.joins.get(id(b))
    if not isinstance(found, Joined):
        found = a.joins[id(b)] = Joined(a, b)
    return found


def aggregation_of(side: Side, measure: str, step: str | None) -> tuple[Aggregation, ...]:
    """How a measure adds up over questions, the main one first."""
    told = side.told(measure, step)
    if told.name in BOTH:
        return "macro", "micro"
    if told.name in SUMS:
        return "macro", "sum"
    return ("micro",) if told.declared is not None and told.declared.aggregation == "micro" else ("macro",)


class Placed(NamedTuple):
    """The cells of one arm at the places of all questions of both, and which of them are of the population."""

    cells: Cells | None
    """None: the arm has no row of this measure at this step."""
    member: Flags
    """The question is of the population and of the measure here."""
    status: NDArray[np.int8]
    """As in the cells; MISSING for one that was not asked, or is of another population here."""


def placed(side: Side, at: Ints, cells: Cells | None, population: Population) -> Placed:
    """One arm's `cells` at the places `at` (-1: a question that it does not have)."""
    inside = np.zeros(len(at), np.bool_)
    own = side.members.get(population)
    if own is not None:
        inside = own[at] & (at >= 0)
    if cells is None:
        return Placed(None, inside, np.full(len(at), MISSING, np.int8))
    member = inside & cells.member
    return Placed(cells, member, np.where(member, cells.status, np.int8(MISSING)))


def both_placed(
    a: Side, b: Side, measure: str, step: str | None, population: Population
) -> tuple[Joined, Placed, Placed]:
    """Both arms at the places of all questions of either."""
    join = joined(a, b)
    left = placed(a, join.baseline, join.cells(False, measure, step), population)
    right = placed(b, join.candidate, join.cells(True, measure, step), population)
    return join, left, right


def pairs(
    a: Side, b: Side, measure: str, population: Population, step: str | None, aggregation: str | None = None
) -> Pairs:
    """Every question of the population that has a value in both arms, and every other one with its reason.

    Repeats are averaged inside the question; one has a value if any repeat has. A question that one arm was never
    asked, or that is of another population there, is missing on that side. `aggregation`: by default the main one.
    """
    join, left, right = both_placed(a, b, measure, step, population)
    either = left.member | right.member
    both = either & (left.status == VALUE) & (right.status == VALUE)
    at = np.flatnonzero(both)
    how = aggregation or aggregation_of(b, measure, step)[0]
    told = b.told(measure, step)
    return Pairs(
        measure=measure,
        step=step,
        population=population,
        aggregation=how,
        query_ids=tuple(join.id_array[at].tolist()),
        baseline=_numbers(left, how, at),
        candidate=_numbers(right, how, at),
        clusters=join.clusters[at],
        weights=(_weights(left, at), _weights(right, at)) if how == "micro" else None,
        within=told.within,
        direction=told.declared.direction if told.declared else "none",
        lost=(
            *_lost(left, join.baseline, join.ids, either, "baseline"),
            *_lost(right, join.candidate, join.ids, either, "candidate"),
        ),
        ends=_ends(left, right, either, join.clusters, told.within) if how == "macro" else None,
        limits=_ratio_limits(left, right, either, told.within) if how == "micro" else None,
    )


def column(
    side: Side, measure: str, population: Population, step: str | None, aggregation: str | None = None
) -> Column:
    """One arm alone, by the rules of `pairs`."""
    every = np.arange(len(side.cases))
    own = placed(side, every, side.cells(measure, step), population)
    at = np.flatnonzero(own.member & (own.status == VALUE))
    how = aggregation or aggregation_of(side, measure, step)[0]
    told, clusters = side.told(measure, step), side.clusters
    ends = None
    if how == "macro" and told.within is not None:
        countable = own.member & (own.status != UNDEFINED)
        low, high = _limits(own, told.within)
        ends = Ends(low[countable], high[countable], clusters[countable])
    ids = tuple(case.query_id for case in side.cases)
    return Column(
        measure, step, population, how, tuple(ids[one] for one in at), _numbers(own, how, at), clusters[at],
        _weights(own, at) if how == "micro" else None, told.within,
        told.declared.direction if told.declared else "none",
        _lost(own, every, ids, own.member, "candidate"), ends,
    )  # fmt: skip


def _numbers(own: Placed, how: str, at: Ints) -> Floats:
    if own.cells is None:
        return np.zeros(0)
    return {"micro": own.cells.numerator, "sum": own.cells.total}.get(how, own.cells.value)[at]


def _weights(own: Placed, at: Ints) -> Floats:
    return np.zeros(0) if own.cells is None else own.cells.denominator[at]


def _lost(
    own: Placed, at: Ints, ids: Sequence[str], either: Flags, name: Literal["baseline", "candidate"]
) -> tuple[Lost, ...]:
    made = []
    for place in np.flatnonzero(either & (own.status != VALUE)).tolist():
        code, here = int(own.status[place]), int(at[place])
        if not own.member[place]:
            reason = NOT_ASKED if here < 0 else OTHER_POPULATION
        elif own.cells is None:
            reason = NOT_MEASURED
        else:
            reason = own.cells.reasons.get((here, code), "no_observation")
        made.append(Lost(ids[place], name, STATUSES[code], reason))
    return tuple(made)


def _limits(own: Placed, within: tuple[float, float]) -> tuple[Floats, Floats]:
    """Least and greatest of each question: its own, or the whole range where the arm has none of it."""
    size = len(own.status)
    if own.cells is None:
        return np.full(size, within[0]), np.full(size, within[1])
    bare = ~own.member
    low, high = np.where(bare, within[0], own.cells.low), np.where(bare, within[1], own.cells.high)
    return low, high


def _ends(
    left: Placed, right: Placed, either: Flags, clusters: Ints, within: tuple[float, float] | None
) -> Ends | None:
    """Of the difference, over all questions that no side leaves undefined."""
    if within is None:
        return None
    countable = either & (left.status != UNDEFINED) & (right.status != UNDEFINED)
    (left_low, left_high), (right_low, right_high) = _limits(left, within), _limits(right, within)
    return Ends((right_low - left_high)[countable], (right_high - left_low)[countable], clusters[countable])


def _ratio_limits(
    left: Placed, right: Placed, either: Flags, within: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Of the difference of ratios, over all questions that no side leaves undefined; None: all of it is known."""
    if within is None:
        return None
    countable = either & (left.status != UNDEFINED) & (right.status != UNDEFINED)
    if not countable.any():
        return None
    found = [_ratio_ends(one, countable, within) for one in (left, right)]
    if all(low == high for low, high in found):
        return None
    return found[1][0] - found[0][1], found[1][1] - found[0][0]


def _ratio_ends(own: Placed, countable: Flags, within: tuple[float, float]) -> tuple[float, float]:
    """Least and greatest ratio of one arm: the whole range where a denominator is not known."""
    cells = own.cells
    if cells is None or not own.member[countable].all():
        return within
    bottom = cells.bottom[countable]
    total = math.fsum(bottom) if not np.isnan(bottom).any() else 0.0
    if total == 0:
        return within
    if not cells.unsure[countable].any():
        ratio = math.fsum(cells.low_part[countable]) / total
        return ratio, ratio
    return math.fsum(cells.low_part[countable]) / total, math.fsum(cells.high_part[countable]) / total


def status_counts(pairs_: Pairs) -> tuple[int, int, int]:
    """(undefined, missing, error) questions: in error if on either side, else missing on either, else undefined."""
    worst: dict[str, int] = {}
    rank = {"undefined": 0, "missing": 1, "error": 2}
    for one in pairs_.lost:
        worst[one.query_id] = max(worst.get(one.query_id, 0), rank[one.status])
    found = list(worst.values())
    return found.count(0), found.count(1), found.count(2)
