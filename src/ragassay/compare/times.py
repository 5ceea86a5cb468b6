"""Times of two arms: mean and quantiles, of which some may have been cut short. Leaves no timeout out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ragassay.compare.cells import VALUE, Cells, Flags, Floats, Ints
from ragassay.compare.effect import student
from ragassay.compare.pairs import Joined, Placed
from ragassay.records.score import Bounds, Interval
from ragassay.score.answer import BEYOND_ALL
from ragassay.score.quantiles import TOLERANCE, quantile

WOODRUFF = "woodruff_mover"
QUANTILES = {"median": 0.5, "p95": 0.95, "p99": 0.99}


class Times(NamedTuple):
    """Every repeat of one arm over the questions that both have; arrays of shape (repeats,)."""

    ended: Floats
    """Sorted."""
    clusters: Ints
    """Of those that ended, in their order."""
    given_up: Floats
    """The times until then."""
    lost_clusters: Ints
    least: float
    """The mean over questions, each time that was cut short at what it had reached."""


class Difference(NamedTuple):
    """A quantile of both arms; `baseline`, `candidate` are None where timeouts hide it."""

    baseline: float | None
    candidate: float | None
    interval: Interval | None
    bounds: Bounds | None


def times_of(join: Joined, left: Placed, right: Placed) -> tuple[Times, Times] | None:
    """The times of both arms over the questions of which both have one, be it cut short; None where an arm has none."""
    if left.cells is None or right.cells is None:
        return None
    homes = join.baseline, join.candidate
    among = left.member & right.member
    for own, home in zip((left, right), homes, strict=True):
        assert own.cells is not None
        among = among & ((own.status == VALUE) | np.isin(home, own.cells.censored[0]))
    return _times(left.cells, homes[0], among, join.clusters), _times(right.cells, homes[1], among, join.clusters)


def _times(cells: Cells, home: Ints, among: Flags, clusters: Ints) -> Times:
    """`home`: where each question of both arms stands in this arm's own order; -1: nowhere."""
    own = np.flatnonzero(home >= 0)
    back = np.full(int(home.max(initial=-1)) + 1, -1, np.int64)
    back[home[own]] = own
    kept = []
    for places, values in (cells.values, cells.censored):
        at = back[places]
        inside = (at >= 0) & among[at]
        kept.append((at[inside], values[inside]))
    (ended_at, ended), (lost_at, lost) = kept
    both = np.concatenate((ended_at, lost_at))
    many = np.bincount(both, minlength=len(among))
    sums = np.bincount(both, np.concatenate((ended, lost)), minlength=len(among))
    means = (sums[many > 0] / many[many > 0]).tolist()
    order = np.argsort(ended, kind="stable")
    least = math.fsum(means) / len(means) if means else 0.0
    return Times(ended[order], clusters[ended_at][order], lost, clusters[lost_at], least)


def mean_bounds(a: Times, b: Times) -> Bounds:
    """Of the difference of means, where a time was cut short: no time is too large for it."""
    low = -BEYOND_ALL if len(a.given_up) else b.least - a.least
    high = BEYOND_ALL if len(b.given_up) else b.least - a.least
    return Bounds(low=low, high=high)


def between(a: Times, b: Times, share: float, level: float) -> Difference:
    """The quantile of each arm by Kaplan and Meier, and an interval of their difference.

    Each arm's by Woodruff (the interval of the share of times at or below the quantile, read back as times; clusters
    kept together), the two joined by the method of variance estimates recovery with the correlation of the two shares
    (Zou and Donner 2008). No interval where a share's leaves (0, 1): then the times are too few for that quantile.
    """
    first, second = _quantile(a, share), _quantile(b, share)
    if first is None or second is None:
        low = -BEYOND_ALL if first is None else _least(b, share) - first
        high = BEYOND_ALL if second is None else second - _least(a, share)
        return Difference(first, second, None, Bounds(low=low, high=high))
    return Difference(first, second, _interval(a, b, (first, second), share, level), None)


class Above(NamedTuple):
    """By cluster, how many more repeats of the candidate than of the baseline are above a time; shape (clusters,)."""

    clusters: Ints
    more: Floats
    size: float
    """The sum of what the differences are made of, without their signs."""


def above(a: Times, b: Times, share: float) -> Above | None:
    """What a sign flip turns round in order to test a quantile: Mood's median test, paired and for any share.

    The quantile of both arms together stays where it is whichever arm an answer came from; so if the arms are
    exchangeable, swapping the two of any cluster changes nothing but the sign of what it adds to the difference of the
    two shares above that quantile. One that was given up is above. None where timeouts hide the common quantile.
    """
    every, lost = np.sort(np.concatenate((a.ended, b.ended))), np.concatenate((a.given_up, b.given_up))
    at = _quantile(Times(every, a.clusters[:0], lost, a.clusters[:0], 0.0), share)
    if at is None:
        return None
    over = [np.concatenate((own.ended > at, np.ones(len(own.given_up), np.bool_))).astype(np.float64) for own in (a, b)]
    homes = [np.concatenate((own.clusters, own.lost_clusters)) for own in (a, b)]
    common = math.fsum(one.sum() for one in over) / sum(map(len, over))
    clusters = np.unique(np.concatenate(homes))
    ours, theirs = (
        np.bincount(np.searchsorted(clusters, home), one - common, minlength=len(clusters))
        for home, one in zip(homes, over, strict=True)
    )
    size = math.fsum(math.fsum(np.abs(one - common)) for one in over)
    return Above(clusters.astype(np.int64), (theirs - ours).astype(np.float64), size)


def _least(own: Times, share: float) -> float:
    found = _quantile(own, share)
    return found if found is not None else float(max((*own.ended[-1:], own.given_up.min())))


def _quantile(own: Times, share: float) -> float | None:
    if len(own.given_up):
        return quantile(own.ended.tolist(), own.given_up.tolist(), share)
    place = max(math.ceil((share - TOLERANCE) * len(own.ended)), 1) - 1
    return float(own.ended[place]) if place < len(own.ended) else None


def _interval(a: Times, b: Times, found: tuple[float, float], share: float, level: float) -> Interval | None:
    """Of the difference of two quantiles; None for fewer than 2 clusters or where an end is not there."""
    every = np.unique(np.concatenate((a.clusters, a.lost_clusters, b.clusters, b.lost_clusters)))
    if len(every) < 2:
        return None
    parts = [_parts(own, value, every) for own, value in zip((a, b), found, strict=True)]
    ends = []
    for own, part in zip((a, b), parts, strict=True):
        error = math.sqrt(len(every) / (len(every) - 1) * math.fsum(part**2))
        reach = student(level, len(every) - 1) * error
        if error == 0 or share - reach <= 0 or share + reach >= 1:
            return None
        low, high = _quantile(own, share - reach), _quantile(own, share + reach)
        if low is None or high is None:
            return None
        ends.append((low, high))
    norm = math.sqrt(math.fsum(parts[0] ** 2) * math.fsum(parts[1] ** 2))
    alike = math.fsum(parts[0] * parts[1]) / norm
    (first, second), ((low_a, high_a), (low_b, high_b)) = found, ends
    down, up = (
        math.sqrt(max(mine**2 + other**2 - 2 * alike * mine * other, 0.0))
        for mine, other in ((second - low_b, high_a - first), (high_b - second, first - low_a))
    )
    effect = second - first
    return Interval(low=effect - down, high=effect + up, level=level, method=WOODRUFF, clusters=len(every))


def _parts(own: Times, value: float, every: Ints) -> Floats:
    """What each cluster adds to the error of the share of times at or below the quantile."""
    below = np.concatenate(((own.ended <= value).astype(np.float64), np.zeros(len(own.given_up))))
    size = len(below)
    home = np.searchsorted(every, np.concatenate((own.clusters, own.lost_clusters)))
    sums = np.bincount(home, (below - math.fsum(below) / size) / size, minlength=len(every))
    return sums.astype(np.float64)
