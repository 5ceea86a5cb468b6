"""ap, bpref, infap, ndcg and r_precision for every number of relevant completions at once; nothing is tried one by one.

The n unjudged items of a list stand at its open ranks. For m = 0, 1, ..., n the topmost m (or the lowest m) of them get
the rubric's greatest grade, the others grade 0: n + 1 values in n log n steps, since one more only shifts sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.measures.kernels.infap import EPSILON
from ragassay.measures.kernels.ndcg import gains
from ragassay.measures.kernels.parts import least_grade
from ragassay.measures.lists import Bools, Floats, Ints
from ragassay.measures.spelling import Measure

EVERY_COUNT = frozenset({"ap", "bpref", "infap", "ndcg", "r_precision"})
"""Measures whose extremes may lie at any number of relevant completions."""

_OF_PIECES = frozenset({"ap", "r_precision"})
"""Those of them that count pieces of evidence, not items."""


class Case(NamedTuple):
    """One question: its judged items by rank, all its judged labels from the greatest down, and the open ranks."""

    rank: Ints
    grade: Ints
    labels: Ints
    open_ranks: Ints
    greatest: int
    held: Ints | None = None
    """Pieces of relevant evidence that each judged item is the first to hold; None: one where its grade is relevant."""


def every_count(measure: Measure, case: Case, *, top: bool) -> Floats:
    """Values for each number of completions where one is defined; `top`: the topmost open ranks, else the lowest."""
    above: Floats | Ints
    below: Floats | Ints
    above, below = _ndcg(measure, case, top) if measure.name == "ndcg" else _of_relevant(measure, case, top)
    kept: Bools = below > 0
    result: Floats = above[kept] / below[kept]
    return result


def _of_relevant(measure: Measure, case: Case, top: bool) -> tuple[Floats | Ints, Ints]:
    """Numerators of the measures whose divisor is R, and R; no completion is relevant where `greatest` is too small."""
    rel, open_ranks = least_grade(measure), case.open_ranks
    pieces = case.held if case.held is not None and measure.name in _OF_PIECES else (case.grade >= rel).astype(np.int64)
    good, held = case.rank[pieces > 0], pieces[pieces > 0]
    added = np.arange(len(open_ranks) + 1 if case.greatest >= rel else 1)
    total = np.count_nonzero(case.labels >= rel) + added
    if measure.name == "r_precision":
        return _first(good, held, open_ranks, total, top), total
    if measure.name == "bpref":
        others = np.count_nonzero(case.labels < rel) + len(open_ranks) - added
        return _preferred(good, case.rank[case.grade < rel], open_ranks, total, others, top), total
    return _precisions(measure, good, held, open_ranks, top)[: len(added)], total


def _ndcg(measure: Measure, case: Case, top: bool) -> tuple[Floats, Floats]:
    """DCG and ideal DCG; the ideal is a sum over grades of what one adds to the next lower, times discounts."""
    kind, most = str(measure.get("gain")), len(case.open_ranks)
    k = measure.cutoff or len(case.rank) + len(case.labels) + most
    worth = float(gains(np.array([case.greatest]), kind)[0])
    order = case.open_ranks if top else case.open_ranks[::-1]
    seen = case.rank <= k
    base = np.sum(gains(case.grade[seen], kind) / np.log2(case.rank[seen] + 1.0))
    dcg = base + worth * _summed(np.where(order <= k, 1.0 / np.log2(order + 1.0), 0.0))
    discounts = 1.0 / np.log2(np.arange(len(case.labels) + most) + 2.0)
    discounts[k:] = 0.0
    reach, ideal, lower = _summed(discounts), np.zeros(most + 1), 0.0
    for grade in np.unique(np.append(case.labels, case.greatest)):
        own = float(gains(np.array([grade]), kind)[0])
        more = np.arange(most + 1) if grade <= case.greatest else 0
        ideal += (own - lower) * reach[np.count_nonzero(case.labels >= grade) + more]
        lower = own
    return dcg, ideal


def _precisions(measure: Measure, good: Ints, held: Ints, open_ranks: Ints, top: bool) -> Floats:
    """Sum over relevant ranks of a + w * (relevant ranks above), as ap and infap are where everything is judged; each
    term as often as its item holds pieces."""
    ranks = np.arange(max(good.max(initial=0), open_ranks.max(initial=0)) + 1.0)
    ranks[0] = 1.0
    if measure.name == "ap":
        own = np.where(ranks <= (measure.cutoff or len(ranks)), 1.0 / ranks, 0.0)
        weight = own
    else:
        weight = (ranks - 1.0) / ranks / (ranks - 1.0 + 2 * EPSILON)
        own = 1.0 / ranks + weight * EPSILON
    relevant, pieces = np.zeros(len(ranks)), np.zeros(len(ranks))
    relevant[good], pieces[good] = 1.0, held
    over = np.cumsum(relevant) - relevant
    weighed = np.cumsum(pieces * weight)
    order = open_ranks if top else open_ranks[::-1]
    # One more relevant item: its own precision, and one more above each relevant item below it.
    step = own[order] + weight[order] * over[order] + weighed[-1] - weighed[order]
    step += weight[order] * np.arange(len(order)) if top else _summed(weight[order])[:-1]
    result: Floats = np.sum(pieces * (own + weight * over)) + _summed(step)
    return result


def _first(good: Ints, held: Ints, open_ranks: Ints, total: Ints, top: bool) -> Floats:
    """Relevant pieces in the first R ranks, R = total."""
    added = np.arange(len(total))
    inside = np.searchsorted(open_ranks, total, "right")
    new = np.minimum(inside, added) if top else np.maximum(inside - (len(open_ranks) - added), 0)
    result: Floats = _summed(held)[np.searchsorted(good, total, "right")] + new
    return result


def _preferred(good: Ints, poor: Ints, open_ranks: Ints, total: Ints, others: Ints, top: bool) -> Floats:
    """Sum over relevant items of 1 - min(c, R) / min(N, R); c = non-relevant items above, R = total, N = others."""
    added = np.arange(len(total))
    left = len(open_ranks) - added
    known = _known_capped(np.searchsorted(poor, good), np.searchsorted(open_ranks, good), added, left, total, top)
    poor_above = np.searchsorted(poor, open_ranks)
    none, every = np.zeros_like(added), np.full_like(added, len(open_ranks))
    begin, end, room = (none, added, total) if top else (left, every, total - left)
    full = np.clip(np.searchsorted(poor_above, room, "right"), begin, end)
    sums = _summed(poor_above)
    new = sums[full] - sums[begin] + (full - begin) * (total - room) + (end - full) * total
    result: Floats = len(good) + added - (known + new) / np.maximum(np.minimum(others, total), 1)
    return result


def _known_capped(fixed: Ints, free: Ints, added: Ints, left: Ints, total: Ints, top: bool) -> Floats:
    """Sum of min(c, total) over the known relevant items; c = poor ones above (fixed) and open ones above (free) that
    are not made relevant. c never falls from rank to rank, so those below `total` are the first ones: halving."""
    limit = added if top else left
    few, many = np.zeros(len(total), np.int64), np.full(len(total), len(fixed))
    for _ in range(len(fixed).bit_length()):
        middle = np.minimum((few + many) // 2, len(fixed) - 1)
        cut = np.minimum(free[middle], limit)
        inside = fixed[middle] + (free[middle] - cut if top else cut) <= total
        few, many = np.where(inside & (few < many), middle + 1, few), np.where(inside, many, middle)
    sums = _summed(free)
    under = np.minimum(few, np.searchsorted(free, limit, "right"))
    cut = sums[under] + (few - under) * limit
    result: Floats = _summed(fixed)[few] + (sums[few] - cut if top else cut) + (len(fixed) - few) * total
    return result


def _summed(values: Ints | Floats) -> Floats:
    """Sums of the first 0, 1, 2, ... values."""
    return np.concatenate((np.zeros(1), np.cumsum(values)))
