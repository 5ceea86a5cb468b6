"""One-sided bounds, at every number of decisions, of figures of a set that are no means. Knows no measure's rows.

- *Calibration error* with given bins is, for given confidences, a function of which decisions were right, and one of
  them moves it by 1/n at most. So it is above its mean by more than sqrt(log(1/alpha) / 2n) with chance alpha at most
  (McDiarmid 1989), and below it likewise. Its mean is never below the error that it estimates, which a share right p_b
  instead of the one observed would have (Jensen); and above it by at most the mean of |share right - p_b|, at most
  sum over bins of sqrt(n_b) / 2n, since no standard deviation of a share exceeds 1/(2 sqrt(n_b)). What is bounded is
  the error at these confidences and in these bins.
- *AUROC* of positives and negatives that are drawn alike is a mean of means of min(n+, n-) pairs of which none share a
  question, whatever they are matched by; so the bound of Chernoff and Hoeffding for that many independent values holds
  for it (Hoeffding 1963, section 5). In clusters the larger of what one of them can move it by counts (McDiarmid).

In clusters all of them take the whole cluster as one: sums of squares of its shares take the place of 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ends(NamedTuple):
    """A lower and an upper bound, each wrong with chance alpha at most."""

    low: float
    high: float


def calibration_bounds(
    value: float, bins: Iterable[Hashable], alpha: float, clusters: Sequence[Hashable] | None = None
) -> Ends:
    """Bounds of the calibration error that `value` was measured as.

    Args:
        value: the mean over decisions of |share right - mean confidence| of their bin.
        bins: shape (n,), n >= 1: equal labels for decisions of one bin. They must not depend on what was right.
        alpha: chance of a bound on the wrong side, in (0, 1).
        clusters: shape (n,), equal labels for decisions that are not independent; None: all are.

    Raises:
        ValueError: no decision, lengths that differ, or alpha outside of (0, 1).
    """
    _check(alpha)
    place = _codes(bins)
    n = len(place)
    unit = np.arange(n) if clusters is None else _codes(clusters)
    if not n or len(unit) != n:
        raise ValueError(f"{n} bins and {len(unit)} clusters: one of each a decision is needed")
    reach = _reach(np.bincount(unit) / n, alpha)
    both = np.unique(place * n + unit, return_counts=True)
    squares = np.bincount(both[0] // n, both[1].astype(np.float64) ** 2)
    bias = float(np.sqrt(squares).sum()) / (2 * n)
    return Ends(max(0.0, value - reach - bias), min(1.0, value + reach))


def auroc_bounds(
    worst: float, best: float, positive: Sequence[Hashable], negative: Sequence[Hashable], alpha: float
) -> Ends:
    """Bounds of the chance that a positive scores above a negative (half of it where they tie).

    Args:
        worst, best: the share of pairs in the right order, with what is not known at its worst and at its best.
        positive, negative: the cluster of each positive and of each negative that is known, at least one of each.
        alpha: chance of a bound on the wrong side, in (0, 1).
    """
    _check(alpha)
    if not positive or not negative:
        raise ValueError("at least one positive and one negative are needed")
    both = [*positive, *negative]
    if len(set(both)) == len(both):
        few = min(len(positive), len(negative))
        return Ends(chernoff_lower(worst, few, alpha), 1 - chernoff_lower(1 - best, few, alpha))
    unit = _codes(both)
    ups, downs = (np.bincount(one, minlength=unit.max() + 1) for one in (unit[: len(positive)], unit[len(positive) :]))
    reach = _reach(np.minimum(ups / len(positive) + downs / len(negative), 1.0), alpha)
    return Ends(max(0.0, worst - reach), min(1.0, best + reach))


def chernoff_lower(mean: float, count: int, alpha: float) -> float:
    """The least m of which `count` independent values from 0 to 1 show `mean` or more with a chance above alpha, by
    exp(-count kl(mean, m)) (Hoeffding 1963, theorem 1); from below, so that rounding leaves it on the safe side."""
    wanted = -math.log(alpha) / count
    low, high = 0.0, min(max(mean, 0.0), 1.0)
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _kl(mean, middle) >= wanted else (low, middle)
    return low


def _kl(p: float, q: float) -> float:
    """Of two shares, p >= q: the divergence of Kullback and Leibler."""
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def _reach(shares: Floats, alpha: float) -> float:
    """McDiarmid: how far a figure lies above its mean, if one unit moves it by its share at most."""
    return math.sqrt(math.fsum(shares**2) * -math.log(alpha) / 2)


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}")


def _codes(labels: Iterable[Hashable]) -> Ints:
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in labels], np.int64)
