"""Margins on quantiles of times: not worse than the baseline's by as much. Reads the times of both arms, draws none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.gate.bounds import TOLERANCE, best_passes_from, codes
from ragassay.gate.results import number
from ragassay.records.policy import Budget
from ragassay.records.score import Status
from ragassay.records.text import many
from ragassay.score.quantiles import quantile
from ragassay.stats.onesided import lower_bound, upper_bound
from ragassay.stats.quantiles import Ends, Timed, quantile_ends

QUANTILES = {"p50": Fraction(1, 2), "p90": Fraction(9, 10), "p95": Fraction(19, 20), "p99": Fraction(99, 100)}
_UNIT = (0.0, 1.0)


class Repeat(NamedTuple):
    """One repeat of one question: a figure, or the least that it must be, or nothing."""

    status: Status
    value: float | None
    least: float | None = None


class Asked(NamedTuple):
    """One question with all its repeats."""

    query_id: str
    cluster: str
    figures: tuple[Repeat, ...]

    @property
    def status(self) -> Status:
        """Error before missing before a value."""
        found = {one.status for one in self.figures}
        return next(one for one in ("error", "missing", "value", "undefined") if one in found)


class Apart(NamedTuple):
    """How much greater the candidate's quantile is than the baseline's."""

    held: bool | None
    told: str
    candidate: float | None
    baseline: float | None
    most: float | None
    """At most so much greater; None: nobody knows."""
    least: float | None
    method: str
    needed: int | None
    counts: Counter[Status]
    clusters: int


def seen_quantile(asked: Sequence[Asked], share: float) -> float | None:
    """Over all repeats, times that were given up as censored ones (Kaplan and Meier); None where they hide it."""
    values = [f.value for one in asked for f in one.figures if f.value is not None]
    given_up = [f.least for one in asked for f in one.figures if f.least is not None]
    return quantile(values, given_up, share) if values else None


def ends_of_quantile(asked: Sequence[Asked], share: float, alpha: float) -> tuple[Ends, str]:
    """Bounds of a quantile over questions like these, each at `alpha`, and the method: the share above each time is
    bounded by Clopper and Pearson where every question has one repeat and stands alone, else by betting over clusters.
    """
    clusters = [one.cluster for one in asked]
    alone = len(set(clusters)) == len(clusters)
    timed = timed_of(asked)
    method = "exact" if alone and all(len(one.figures) == 1 for one in asked) else "betting"
    given: NDArray[np.int64] | None = None if alone else codes(clusters)
    lower, upper = (
        partial(bound, within=_UNIT, alpha=alpha, clusters=given, method=method) for bound in (lower_bound, upper_bound)
    )
    return quantile_ends(timed, share, lower, upper), method


def timed_of(asked: Sequence[Asked]) -> Timed:
    """The repeats that are, or could be, times; of one that is not known, the least that it is: 0 if nothing is."""
    kept = [(place, f) for place, one in enumerate(asked) for f in one.figures if f.status != "undefined"]
    return Timed(
        np.array([place for place, _ in kept], np.int64),
        np.array([f.value if f.value is not None else f.least or 0.0 for _, f in kept], np.float64),
        np.array([f.value is not None for _, f in kept], np.bool_),
    )


def apart(budget: Budget, candidate: Sequence[Asked], baseline: Sequence[Asked], alpha: float) -> Apart:
    """The difference of both arms' quantiles against a margin.

    Of these questions (`sample`), what is not known at its worst and best; else of questions like them, the bounds of
    both arms at half of alpha: both hold at once with a chance of 1 - alpha at least, however alike the arms are.
    """
    share, margin = float(QUANTILES[budget.statistic]), budget.margin or 0.0
    both = [seen_quantile(one, share) for one in (candidate, baseline)]
    if budget.sample:
        found = [(quantile_ends(timed_of(one), share, _mean, _mean), "sample") for one in (candidate, baseline)]
    else:
        found = [ends_of_quantile(one, share, alpha / 2) for one in (candidate, baseline)]
    (ours, method), (theirs, other) = found
    most, least = _less(ours.high, theirs.low), _less(ours.low, theirs.high)
    held = True if most is not None and most < margin - TOLERANCE else None
    if least is not None and least > margin + TOLERANCE:
        held = False
    needed = None
    enough = best_passes_from(1 - share, _UNIT, alpha / 2, floor=False)
    if held is None and not budget.sample and enough is not None:
        needed = enough if enough > min(len(candidate), len(baseline)) else None
    counts = Counter(one.status for one in candidate)
    return Apart(
        held, _told(budget, both, most, least, held, needed, len(candidate)), both[0], both[1], most, least,
        method if method == other else "betting", needed, counts, len({one.cluster for one in candidate}),
    )  # fmt: skip


def _mean(values: NDArray[np.float64]) -> float:
    return math.fsum(values) / len(values)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _told(
    budget: Budget, both: Sequence[float | None], most: float | None, least: float | None, held: bool | None,
    needed: int | None, size: int,
) -> str:  # fmt: skip
    ours, theirs = ("not known" if one is None else number(one) for one in both)
    told = f"{budget.statistic} is {ours} over {many(size, 'question')}, {theirs} in the baseline; it is "
    told += f"greater by at most {number(most)}" if most is not None else "greater by an unknown amount"
    told += f" and by at least {number(least)}" if least is not None else ""
    told += f", and by less than {number(budget.margin or 0.0)} is demanded"
    if held is not None:
        return f"{told}."
    more = f" {needed:,} independent questions are needed at least." if needed else ""
    return f"{told}: cannot tell.{more}"
