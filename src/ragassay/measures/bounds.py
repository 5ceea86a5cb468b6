"""Exact bounds of a measure over everything that its unjudged items could be; and of a mean over missing questions.

A completion gives each unjudged retrieved item a grade from 0 to the rubric's greatest; the labels, and so the ideal
list and the number of relevant items, grow by them. Items beyond the list stay out. Bounds are attained.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.measures.completions import EVERY_COUNT, Case, every_count
from ragassay.measures.kernels.ndcg import gains
from ragassay.measures.lists import Bools, Floats, Ints, Lists
from ragassay.measures.ranking import column
from ragassay.measures.spelling import Measure

_MOST_STEPS = 60
"""Dinkelbach's ratios come nearer faster than by any fixed factor: a handful of steps does, and rounding adds none."""


class Bounds(NamedTuple):
    """Least and greatest value over all completions that are defined; both None where none is."""

    low: float | None
    high: float | None


def bounds(measure: Measure, lists: Lists, question: int, greatest: int) -> Bounds:
    """Bounds of one measure for one question of `lists`.

    For a fixed number of relevant completions a measure that never falls when a better item moves up is greatest
    with them at the topmost unjudged ranks, and least at the lowest; so those are tried for each number that can
    matter. ndcg is least with grades of 0 and `greatest` only (a ratio of a linear and a convex function of gains);
    its greatest value may need grades between, found level by level (Dinkelbach).

    Args:
        measure: any measure of ranked lists but judged, harmful and rbp_residual.
        lists: without `held`.
        question: index of the question.
        greatest: the rubric's greatest grade.

    Raises:
        ValueError: the measure has no such bounds.
    """
    if measure.name in {"judged", "harmful", "rbp_residual"} or measure.get("list") == "condensed":
        raise ValueError(f"{measure} has no bounds over unjudged items")
    case = _case(lists, question, greatest)
    found = [_extremes(measure, case, top) for top in (True, False)]
    if len(case.open_ranks):
        least = case._replace(greatest=min(greatest, int(measure.get("rel") or 1)))
        found.append(_values(measure, _trials(least, np.array([1]), top=False)))
    values = np.concatenate(found)
    if not len(values):
        return Bounds(None, None)
    high = float(values.max())
    if measure.name == "ndcg":
        high = max(high, _greatest_ndcg(measure, case))
    return Bounds(float(values.min()), high)


def mean_bounds(
    values: Floats, missing: int, low: float, high: float, each: tuple[Floats, Floats] | None = None
) -> tuple[float, float] | None:
    """Bounds of the mean when `missing` further questions could have any value in [low, high]; None without questions.

    `each`, where given, is the lower and the upper bound of every scored question in place of its value.
    """
    total = len(values) + missing
    if total == 0:
        return None
    lower, upper = each if each is not None else (values, values)
    return (float(lower.sum()) + missing * low) / total, (float(upper.sum()) + missing * high) / total


def _case(lists: Lists, question: int, greatest: int) -> Case:
    """One question; a negative grade is open."""
    labels = lists.label_grade[(lists.label_query == question) & (lists.label_grade >= 0)]
    rows = (lists.query == question) & lists.judged
    rank = lists.rank[rows]
    every = np.arange(1, int(lists.retrieved[question]) + 1)
    return Case(rank, lists.grade[rows], labels, np.setdiff1d(every, rank, assume_unique=True), greatest)


def _extremes(measure: Measure, case: Case, top: bool) -> Floats:
    """Values among which those of the extreme completions are, with the topmost or the lowest open ranks relevant."""
    if measure.name in EVERY_COUNT:
        return every_count(measure, case, top=top)
    total = len(case.open_ranks)
    within = total if measure.cutoff is None else int(np.count_nonzero(case.open_ranks <= measure.cutoff))
    return _values(measure, _trials(case, np.unique([0, min(1, total), within, total - within, total]), top))


def _trials(case: Case, counts: Ints, top: bool) -> Lists:
    """One list for each number of completions: that many open ranks, the topmost or the lowest, get the grade."""
    trials, total = len(counts), len(case.open_ranks)
    chosen = np.arange(total)[None, :] < counts[:, None]
    given = np.where(chosen if top else chosen[:, ::-1], case.greatest, 0)
    all_ranks = np.concatenate((case.rank, case.open_ranks))
    order = np.argsort(all_ranks)
    grades = np.concatenate((np.tile(case.grade, (trials, 1)), given), axis=1)[:, order]
    all_labels = -np.sort(-np.concatenate((np.tile(case.labels, (trials, 1)), given), axis=1), axis=1)
    number = np.arange(trials)
    return Lists(
        queries=trials,
        retrieved=np.full(trials, len(all_ranks)),
        query=np.repeat(number, len(all_ranks)),
        rank=np.tile(all_ranks[order], trials),
        grade=grades.ravel(),
        label_query=np.repeat(number, all_labels.shape[1]),
        label_grade=all_labels.ravel(),
    )


def _values(measure: Measure, trials: Lists) -> Floats:
    found = column(measure.with_params(mode="native"), trials)
    kept: Bools = ~found.undefined
    return found.value[kept]


def _greatest_ndcg(measure: Measure, case: Case) -> float:
    """The greatest ndcg: how many open ranks, from the top, should have at least each grade.

    DCG and ideal are sums over levels j of the gain that j adds times discounts; for a fixed ratio t each level's
    best number maximises W(m) - t * D(L_j + m) on its own, and these numbers fall as j rises. Dinkelbach's iteration
    raises t to the greatest ratio.
    """
    kind, labels, greatest = str(measure.get("gain")), case.labels, case.greatest
    k = measure.cutoff or len(case.rank) + len(case.open_ranks) + len(labels)
    steps = np.diff(gains(np.arange(greatest + 1), kind))
    discount = 1.0 / np.log2(np.arange(len(labels) + len(case.open_ranks)) + 2.0)
    discount[k:] = 0.0
    ideal_of = np.concatenate(([0.0], np.cumsum(discount)))
    inside = case.open_ranks[case.open_ranks <= k]
    reach = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(inside + 1.0))))
    good = case.rank <= k
    base = float(np.sum(gains(case.grade[good], kind) / np.log2(case.rank[good] + 1.0)))
    at_least = np.array([np.count_nonzero(labels >= level) for level in range(1, greatest + 1)], np.int64)
    above = labels[labels > greatest]
    extra = gains(above, kind) - gains(np.full(len(above), greatest), kind)
    fixed = float(np.sum(extra * discount[: len(above)]))
    cost = ideal_of[at_least[:, None] + np.arange(len(reach))[None, :]]
    ratio = 0.0
    for _ in range(_MOST_STEPS):
        best = np.argmax(reach[None, :] - ratio * cost, axis=1)
        top = base + float(np.sum(steps * reach[best]))
        bottom = fixed + float(np.sum(steps * cost[np.arange(len(best)), best]))
        if bottom <= 0 or top <= ratio * bottom:
            break
        ratio = top / bottom
    return ratio
