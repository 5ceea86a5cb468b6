"""Exact bounds of a measure over everything that its unjudged items could be; and of a mean over missing questions.

A completion gives each unjudged retrieved item a grade from 0 to the rubric's greatest; the labels, and so the ideal
list and the number of relevant items, grow by them. Items beyond the list stay out. Bounds are attained.

Measures that pass over unjudged items (bpref, infap, list=condensed) find none in a completion; so their value on the
judgements at hand, which is an estimate, may lie outside. judged and rbp_residual count what is judged: that is known,
and their bounds are their value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragassay.measures.completions import EVERY_COUNT, Case, every_count
from ragassay.measures.kernels.ndcg import gains
from ragassay.measures.kernels.parts import least_grade
from ragassay.measures.lists import Bools, Floats, Ints, Lists
from ragassay.measures.ranking import column
from ragassay.measures.spelling import Measure

_MOST_STEPS = 60
"""Dinkelbach's ratios come nearer faster than by any fixed factor: a handful of steps does, and rounding adds none."""


CERTAIN = frozenset({"judged", "rbp_residual"})
"""Measures of the judgements themselves: a further judgement would be another fact, not another guess at the same."""


class Bounds(NamedTuple):
    """Least and greatest value over all completions that are defined; both None where none is."""

    low: float | None
    high: float | None


def bounds(measure: Measure, lists: Lists, question: int, greatest: int) -> Bounds:
    """Bounds of one measure for one question of `lists`.

    For a fixed number of relevant completions a measure that never falls when a better item moves up is greatest
    with them at the topmost unjudged ranks, and least at the lowest; so those are tried for each number that can
    matter. ndcg is least with grades of 0 and `greatest` only (a ratio of a linear and a convex function of gains);
    its greatest value may need grades between, found level by level (Dinkelbach). An unjudged item that turns out to
    be relevant holds one piece of evidence; for harmful it is harmful or not.

    Args:
        measure: any measure of ranked lists.
        lists: with or without `held`.
        question: index of the question.
        greatest: the rubric's greatest grade.
    """
    if measure.name in CERTAIN:
        known = _values(measure, _one(lists, question))
        return Bounds(float(known[0]), float(known[0])) if len(known) else Bounds(None, None)
    case = _case(measure, lists, question, greatest)
    if measure.name in EVERY_COUNT:
        values = np.concatenate([every_count(measure, case, top=top) for top in (True, False)])
    else:
        values = _values(measure, _trials(case, _extremes(measure, case), measure))
    if not len(values):
        return Bounds(None, None)
    high = float(values.max())
    if measure.name == "ndcg":
        high = max(high, _greatest_ndcg(measure, case))
    return Bounds(float(values.min()), high)


def mean_over_unjudged(each: Sequence[Bounds], scored: Bools) -> Bounds:
    """Bounds of the mean over scored questions, when every question may be any of its completions.

    A question that is not scored for lack of a relevant label counts as soon as a completion gives it one: it is
    taken in where that makes the mean less (or greater), and left out where not. Both None where none can be scored.
    """
    least = np.array([one.low for one, own in zip(each, scored, strict=True) if own and one.low is not None])
    most = np.array([one.high for one, own in zip(each, scored, strict=True) if own and one.high is not None])
    others = [one for one, own in zip(each, scored, strict=True) if not own]
    low = _least_mean(least, np.array([one.low for one in others if one.low is not None]))
    high = _least_mean(-most, -np.array([one.high for one in others if one.high is not None]))
    return Bounds(low, None if high is None else -high)


def _least_mean(always: Floats, perhaps: Floats) -> float | None:
    """Least mean of all of `always` with any of `perhaps`; None of nothing."""
    ascending = np.sort(perhaps)
    total, count = math.fsum(always.tolist()), len(always)
    for value in ascending.tolist():
        if count and value * count >= total:
            break
        total, count = total + value, count + 1
    return total / count if count else None


def _one(lists: Lists, question: int) -> Lists:
    """One question of `lists` alone."""
    rows = slice(*np.searchsorted(lists.query, (question, question + 1)).tolist())
    labels = slice(*np.searchsorted(lists.label_query, (question, question + 1)).tolist())
    return Lists(
        queries=1,
        retrieved=lists.retrieved[question : question + 1],
        query=lists.query[rows] - question,
        rank=lists.rank[rows],
        grade=lists.grade[rows],
        label_query=lists.label_query[labels] - question,
        label_grade=lists.label_grade[labels],
        held=None if lists.held is None else lists.held[rows],
    )


def _case(measure: Measure, lists: Lists, question: int, greatest: int) -> Case:
    """One question; a negative grade is open. `held` is left out where no measure of the name reads it."""
    one = _one(lists, question)
    labels = one.label_grade[one.label_grade >= 0]
    rank, grade = one.rank[one.judged], one.grade[one.judged]
    held = None
    if measure.name == "harmful":
        greatest = 1
    elif one.held is not None and "rel" in measure.declared.params and measure.get("max") is None:
        held = one.held[one.judged]
    every = np.arange(1, int(one.retrieved[0]) + 1)
    return Case(rank, grade, labels, np.setdiff1d(every, rank, assume_unique=True), greatest, held)


def _extremes(measure: Measure, case: Case) -> Ints:
    """Grades of the open ranks in the completions among which the extreme ones are, a row each: the topmost or the
    lowest are relevant. Where grades are graded, one that is barely relevant at the lowest rank may be the least."""
    total = len(case.open_ranks)
    within = total if measure.cutoff is None else int(np.count_nonzero(case.open_ranks <= measure.cutoff))
    counts = np.array(sorted({0, min(1, total), within, total - within, total}))
    top = (np.arange(total)[None, :] < counts[:, None]) * case.greatest
    rows = [top, top[:, ::-1]]
    if total and measure.get("max") is not None:
        least = np.zeros((1, total), np.int64)
        least[0, -1] = min(case.greatest, 1)
        rows.append(least)
    return np.concatenate(rows)


def _trials(case: Case, given: Ints, measure: Measure) -> Lists:
    """One list for each row of `given`: the grades of the open ranks."""
    trials = len(given)
    all_ranks = np.concatenate((case.rank, case.open_ranks))
    order = np.argsort(all_ranks)
    grades = np.concatenate((np.tile(case.grade, (trials, 1)), given), axis=1)[:, order]
    all_labels = -np.sort(-np.concatenate((np.tile(case.labels, (trials, 1)), given), axis=1), axis=1)
    number = np.arange(trials)
    held = None
    if case.held is not None:
        fresh = (given >= least_grade(measure)).astype(np.int64)
        held = np.concatenate((np.tile(case.held, (trials, 1)), fresh), axis=1)[:, order].ravel()
    return Lists(
        queries=trials,
        retrieved=np.full(trials, len(all_ranks)),
        query=np.repeat(number, len(all_ranks)),
        rank=np.tile(all_ranks[order], trials),
        grade=grades.ravel(),
        label_query=np.repeat(number, all_labels.shape[1]),
        label_grade=all_labels.ravel(),
        held=held,
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
