"""Figures of a whole set of decisions, with bounds for what is not known and intervals by cluster. Makes no rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragassay.measures import Measure
from ragassay.measures import selective as kernels
from ragassay.records.case import Case
from ragassay.records.score import Bounds, Estimate, Interval, Observation
from ragassay.score.aggregate import Base, interval_of
from ragassay.score.confidence import OUTSIDE
from ragassay.stats import clopper_pearson, ratio_interval
from ragassay.stats.resample import bootstrap

UNIT_RANGE = frozenset({"calibration_error"})
ANY = Bounds(low=0.0, high=1.0)


class Marked(NamedTuple):
    """One decision: a row with 1 where it was wrong (or where the question may be answered), and its score."""

    row: Observation
    score: float


Own = Sequence[tuple[Case, Sequence[Marked]]]


class Known(NamedTuple):
    """The decisions that have everything, in the order of the cases."""

    scores: list[float]
    marks: list[float]
    clusters: list[str]
    unknown: int
    attempted: int

    @property
    def alone(self) -> bool:
        """Whether every decision is a cluster of its own."""
        return len(set(self.clusters)) == len(self.clusters)


def decision(measure: Measure, right: Observation, sure: Observation | None) -> Marked:
    """Whether an answer was wrong, with its confidence; what either of the two rows lacks, this one lacks."""
    wrong = None if right.value is None else 1.0 - right.value
    return _joined(measure, right, sure, wrong, "no_confidence")


def ranked(measure: Measure, side: Observation, score: Observation | None) -> Marked:
    """On which side a question is, with the retriever's score."""
    return _joined(measure, side, score, side.value, "no_confidence")


def _joined(measure: Measure, row: Observation, score: Observation | None, mark: float | None, absent: str) -> Marked:
    """`row` as a row of `measure` with the value `mark`, or as the first of the two that has no value."""
    status, reason = row.status, row.reason
    if mark is not None and (score is None or score.value is None):
        status = "missing" if score is None else score.status
        reason = absent if score is None else score.reason
    elif mark is not None and score is not None and score.value is not None:
        outside = measure.name in UNIT_RANGE and not 0 <= score.value <= 1
        status, reason = ("error", OUTSIDE) if outside else ("value", None)
    found = mark if status == "value" else None
    made = Observation(
        query_id=row.query_id, repeat=row.repeat, measure=str(measure), status=status, step=row.step, value=found,
        numerator=found, denominator=None if status == "undefined" else 1.0, reason=reason,
    )  # fmt: skip
    return Marked(made, score.value if score is not None and score.value is not None else math.nan)


def known_of(own: Own) -> Known:
    """The decisions of a population, and how many there are of which something is not known."""
    every = [(case, one) for case, rows in own for one in rows]
    there = [(case, one) for case, one in every if one.row.value is not None]
    return Known(
        [one.score for _, one in there],
        [one.row.value or 0.0 for _, one in there],
        [case.cluster for case, _ in there],
        sum(one.row.status in ("missing", "error") for _, one in every),
        len(every),
    )


def of_decisions(measure: Measure, base: Base, own: Own, level: float) -> Estimate:
    """aurc, calibration_error or selective_risk of one population."""
    known = known_of(own)
    if measure.name == "selective_risk":
        return _risk(measure, base, known, level)
    if not known.scores:
        return base.make("set", None, bounds=ANY if known.unknown else None)
    if measure.name == "aurc":
        value = float(kernels.aurc(known.scores, known.marks)[0])
        found = bootstrap(lambda drawn: kernels.aurc(known.scores, known.marks, drawn), known.clusters, level=level)
        bounds = _area_bounds(known, value)
    else:
        bins, right = int(measure.get("bins") or 10), [1 - one for one in known.marks]
        value = float(kernels.calibration_error(known.scores, right, bins)[0])
        found = bootstrap(
            lambda drawn: kernels.calibration_error(known.scores, right, bins, drawn), known.clusters, level=level
        )
        bounds = ANY if known.unknown else None
    n = float(len(known.scores))
    return base.make("set", value, numerator=value * n, denominator=n, interval=interval_of(found), bounds=bounds)


def _area_bounds(known: Known, value: float) -> Bounds | None:
    """With the unknown decisions as the most confident, all right or all wrong; ties at their best and worst."""
    if not known.unknown:
        return None
    ends = []
    for sign in (1.0, -1.0):
        order = np.lexsort((sign * np.asarray(known.marks), -np.asarray(known.scores)))
        marks = np.concatenate((np.full(known.unknown, float(sign < 0)), np.asarray(known.marks)[order]))
        ends.append(float(kernels.aurc(np.arange(len(marks), 0, -1.0), marks)[0]))
    return Bounds(low=min(ends[0], value), high=max(ends[1], value))


def wanted_of(coverage: float, attempted: int) -> int:
    """Decisions that a coverage asks for: the least number that is at least this share of all attempted."""
    return math.ceil(coverage * attempted - 1e-9)


def _risk(measure: Measure, base: Base, known: Known, level: float) -> Estimate:
    """The share of wrong ones among the most confident that make up the coverage; exact bound without clusters."""
    wanted = wanted_of(float(measure.get("coverage") or 0.0), known.attempted)
    curve = kernels.risk_coverage(known.scores, known.marks)
    found = kernels.at_coverage(curve, wanted)
    ends = kernels.risk_bounds(known.scores, known.marks, wanted, known.unknown) if known.unknown else None
    if found is None:
        bounds = None if ends is None else Bounds(low=ends[0], high=ends[1])
        return base.make("set", None, reason="coverage_not_reached", bounds=bounds)
    value = found.wrong / found.taken
    return base.make(
        "set",
        value,
        numerator=float(found.wrong),
        denominator=float(found.taken),
        interval=risk_interval(known, found, level),
        bounds=None if ends is None else Bounds(low=min(ends[0], value), high=max(ends[1], value)),
    )


def risk_interval(known: Known, found: kernels.Selected, level: float) -> Interval | None:
    """Clopper and Pearson's where each decision stands alone; else Student's t over clusters, which is not exact."""
    if known.alone:
        return interval_of(clopper_pearson(found.wrong, found.taken, level))
    taken = [place for place, score in enumerate(known.scores) if score >= found.threshold]
    marks, clusters = [known.marks[one] for one in taken], [known.clusters[one] for one in taken]
    return interval_of(ratio_interval(marks, [1.0] * len(marks), clusters, level, (0.0, 1.0)))


def of_ranked(base: Base, own: Own, level: float) -> Estimate:
    """The AUROC of one population; undefined where one of the two sides is empty."""
    known = known_of(own)
    good = int(sum(known.marks))
    pairs = good * (len(known.marks) - good)
    if not pairs:
        reason = "one_side_only" if known.scores else "nothing_scored"
        return base.make("set", None, reason=reason, bounds=ANY if known.unknown else None)
    value = float(kernels.auroc(known.scores, known.marks)[0])
    found = bootstrap(
        lambda drawn: kernels.auroc(known.scores, known.marks, drawn),
        known.clusters,
        strata=[str(one) for one in known.marks],
        level=level,
    )
    return base.make(
        "set",
        value,
        numerator=value * pairs,
        denominator=float(pairs),
        interval=interval_of(found),
        bounds=ranked_bounds(known, own, value),
    )


def ranked_bounds(known: Known, own: Own, value: float) -> Bounds | None:
    """What an AUROC of `value` could be, whatever is not known of some questions; None where all is known."""
    if not known.unknown:
        return None
    if any(one.row.reason == "unlabelled" for _, rows in own for one in rows):
        return ANY
    good, size = int(sum(known.marks)), len(known.marks)
    pairs = good * (size - good)
    most = max((good + up) * (size - good + known.unknown - up) for up in range(known.unknown + 1))
    low, high = value * pairs / most, 1 - (1 - value) * pairs / most
    return Bounds(low=min(low, value), high=max(high, value))
