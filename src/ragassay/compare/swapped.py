"""A figure of many decisions in two arms: tested by swapping the arms, its interval by drawing both together.

The figure is that of `ragassay.measures.selective`; which decisions there are, `ragassay.score.sets` says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.compare.effect import EXACT_UP_TO
from ragassay.measures import Measure, parse, selective
from ragassay.records.comparison import PairedTest
from ragassay.records.score import Interval
from ragassay.score.aggregate import interval_of
from ragassay.score.sets import Own
from ragassay.stats.resample import bootstrap
from ragassay.stats.swaps import Arms, swap_test

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BY_RANK = frozenset({"aurc", "selective_risk", "retrieval_auroc"})
"""Figures of which only the order of the scores of an arm counts: scores become ranks of their arm, so that an arm
whose scores are on another scale is not another arm for that."""


class Decided(NamedTuple):
    """Decisions of both arms, the baseline's first; arrays of shape (rows,)."""

    scores: Floats
    marks: Floats
    unit: Ints
    candidate: NDArray[np.bool_]
    attempted: tuple[Floats, Floats]
    """Decisions that were to be made, by unit, of each arm; shape (units,)."""
    units: int


class Swapped(NamedTuple):
    """What two arms differ by: the test, and an interval where there is one."""

    test: PairedTest | None
    interval: Interval | None
    clusters: int


def swapped(
    spelled: str, both: tuple[Own, Own], numbers: Mapping[str, int], *, seed: int, swaps: int, level: float
) -> Swapped:
    """The test and interval of one figure; `numbers`: question -> its cluster."""
    measure = parse(spelled)
    own = decided(both, numbers, by_rank=measure.name in BY_RANK)
    difference = difference_of(measure, own)
    arms = Arms(own.unit, own.candidate)
    clusters = len(np.unique(own.unit))
    found = swap_test(
        difference, arms, differing(own), seed=seed, units=own.units, swaps=swaps, exact_up_to=EXACT_UP_TO
    )
    test = None
    if found is not None:
        method = "exact" if found.exact else "random"
        test = PairedTest(p=found.p, floor=found.floor, method=method, flips=found.flips)  # type: ignore[arg-type]
    return Swapped(test, None if measure.name == "selective_risk" else _interval(measure, own, level), clusters)


def decided(both: tuple[Own, Own], numbers: Mapping[str, int], *, by_rank: bool) -> Decided:
    """The decisions of both arms as arrays."""
    units = max(numbers.values(), default=-1) + 1
    scores, marks, unit, side, attempted = [], [], [], [], []
    for place, own in enumerate(both):
        every = [(numbers[case.query_id], one) for case, rows in own for one in rows]
        known = [(home, one.score, one.row.value) for home, one in every if one.row.value is not None]
        values = np.array([score for _, score, _ in known], np.float64)
        scores.append(ranks(values) if by_rank else values)
        marks.append([mark for *_, mark in known])
        unit.append(np.array([home for home, *_ in known], np.int64))
        side.append(np.full(len(known), place == 1))
        attempted.append(np.bincount([home for home, _ in every], minlength=units).astype(np.float64))
    return Decided(
        np.concatenate(scores), np.concatenate(marks).astype(np.float64), np.concatenate(unit), np.concatenate(side),
        (attempted[0], attempted[1]), units,
    )  # fmt: skip


def ranks(values: Floats) -> Floats:
    """Mean ranks from 0 to 1, equal values alike."""
    if not len(values):
        return values
    _, home, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - counts / 2) / len(values))[home.reshape(-1)], np.float64)


def differing(own: Decided) -> Ints:
    """The units whose decisions are not the same in both arms."""
    found: dict[int, list[list[tuple[float, float]]]] = defaultdict(lambda: [[], []])
    for home, side, score, mark in zip(
        own.unit.tolist(), own.candidate.tolist(), own.scores.tolist(), own.marks.tolist(), strict=True
    ):
        found[home][side].append((score, mark))
    unlike = [home for home, (one, other) in found.items() if sorted(one) != sorted(other)]
    bare = np.flatnonzero(own.attempted[0] != own.attempted[1]).tolist()
    return np.array(sorted({*unlike, *bare}), np.int64)


def difference_of(measure: Measure, own: Decided) -> Callable[[Floats], Floats]:
    """The figure of the rows with weight 1 less that of the others, one a row of weights."""
    if measure.name == "selective_risk":
        return _risks(float(measure.get("coverage") or 0.0), own)
    figure = figure_of(measure, own)
    return lambda weights: figure(weights) - figure(1 - weights)


def figure_of(measure: Measure, own: Decided) -> Callable[[Floats], Floats]:
    """The figure over the rows with their weights."""
    if measure.name == "calibration_error":
        bins = int(measure.get("bins") or 10)
        return lambda weights: selective.calibration_error(own.scores, 1 - own.marks, bins, weights)
    kernel = selective.aurc if measure.name == "aurc" else selective.auroc
    return lambda weights: kernel(own.scores, own.marks, weights)


def _risks(coverage: float, own: Decided) -> Callable[[Floats], Floats]:
    """Each arm at the coverage of what it attempted; a unit is swapped where the candidate's rows have weight 0."""
    first, second = own.attempted

    def difference(weights: Floats) -> Floats:
        found = []
        stays = np.ones((len(weights), own.units))
        stays[:, own.unit] = np.where(own.candidate, weights, 1 - weights)
        for mine, other, counts in ((second, first, weights), (first, second, 1 - weights)):
            attempted = stays @ mine + (1 - stays) @ other
            wanted = np.ceil(coverage * attempted - 1e-9).astype(np.int64)
            found.append(selective.risk_at(own.scores, own.marks, wanted, counts))
        return found[0] - found[1]

    return difference


def _interval(measure: Measure, own: Decided, level: float) -> Interval | None:
    """Percentile bootstrap: a cluster is drawn with its decisions in both arms; of an AUROC each side by itself."""
    figure = figure_of(measure, own)
    one, other = own.candidate.astype(np.float64), (~own.candidate).astype(np.float64)
    strata = own.marks.tolist() if measure.name == "retrieval_auroc" else None
    found = bootstrap(
        lambda drawn: figure(drawn * one) - figure(drawn * other), own.unit.tolist(), strata=strata, level=level
    )
    return interval_of(found)
