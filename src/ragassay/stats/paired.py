"""Two proportions on the same questions: McNemar's test, Tango's and Newcombe's intervals. Knows no cluster.

Of n questions `gained` are right in the candidate alone and `lost` in the baseline alone. Questions must be
independent; for paraphrases and conversations flip signs by cluster and use `mean_interval`. Never test the two
proportions as if they were of different questions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ragassay.stats.intervals import Interval, wilson


class McNemar(NamedTuple):
    """Two-sided p-values of no difference between the two proportions; each in (0, 1]."""

    p: float
    """Exact: never too small. 1 where nothing was gained and nothing lost."""
    mid_p: float
    """Half of the chance of the very outcome left out: closer to its level on average, and now and then above it."""
    floor: float
    """The least `p` that so many moved questions can give: 2 / 2^(gained + lost), at most 1."""


def mcnemar(gained: int, lost: int) -> McNemar:
    """McNemar's test, conditional on the questions that moved: their signs are fair coins under the null hypothesis.

    p = 2 P(X <= min(gained, lost)), X binomial with gained + lost trials and chance 1/2, at most 1; mid_p takes half of
    P(X = min) off each tail (Fagerland, Lydersen and Laake 2013). Questions that did not move play no part.

    Raises:
        ValueError: a negative count.
    """
    _check(gained=gained, lost=lost)
    moved, fewer = gained + lost, min(gained, lost)
    if moved == 0:
        return McNemar(1.0, 1.0, 1.0)
    from scipy.stats import binom

    tail, point = float(binom.cdf(fewer, moved, 0.5)), float(binom.pmf(fewer, moved, 0.5))
    mid = 1.0 if gained == lost else min(1.0, 2 * tail - point)
    return McNemar(min(1.0, 2 * tail), mid, min(1.0, 2.0 * 0.5**moved))


def tango(gained: int, lost: int, pairs: int, level: float = 0.95) -> Interval:
    """Tango's score interval (1998) for the difference of two paired proportions, (gained - lost) / pairs.

    All d with (estimate - d)^2 pairs <= z^2 (2 q(d) + d (1 - d)), where q(d) is the likeliest chance of a loss if the
    difference is d. In [-1, 1]; of no zero width where nothing moved: then z^2 / (pairs + z^2) to both sides.
    Undefined for no pairs.

    Raises:
        ValueError: a negative count, more moved questions than pairs, or a level outside of (0, 1).
    """
    _check(gained=gained, lost=lost, pairs=pairs)
    if gained + lost > pairs:
        raise ValueError(f"{gained} gained and {lost} lost of {pairs} pairs")
    z = _z(level)
    if pairs == 0:
        return Interval(None, None, None, level, 0, 0, "tango", "no_pairs")
    high = _tango_end(gained, lost, pairs, z)
    low = -_tango_end(lost, gained, pairs, z)
    return Interval((gained - lost) / pairs, low, high, level, pairs, pairs, "tango")


def newcombe(both: int, gained: int, lost: int, neither: int, level: float = 0.95) -> Interval:
    """Newcombe's interval (1998, method 10) for the difference of two paired proportions, (gained - lost) / n.

    Wilson's intervals of the two proportions, joined by squares with the correlation of the two (continuity corrected
    where it is positive). In closed form, in [-1, 1]. Undefined for no pairs.

    Args:
        both: right in both arms; `neither`: in none.

    Raises:
        ValueError: a negative count, or a level outside of (0, 1).
    """
    _check(both=both, gained=gained, lost=lost, neither=neither)
    n = both + gained + lost + neither
    if n == 0:
        _z(level)
        return Interval(None, None, None, level, 0, 0, "newcombe", "no_pairs")
    candidate, baseline = wilson(both + gained, n, level), wilson(both + lost, n, level)
    alike = _correlation(both, gained, lost, neither)
    estimate = (gained - lost) / n
    low = estimate - _joined(_below(candidate), _above(baseline), alike)
    high = estimate + _joined(_above(candidate), _below(baseline), alike)
    return Interval(estimate, max(low, -1.0), min(high, 1.0), level, n, n, "newcombe")


def _tango_end(up: int, down: int, n: int, z: float) -> float:
    """The upper end, by bisection from the estimate, which lies inside, to 1, which does not."""
    inside, outside = (up - down) / n, 1.0
    while True:
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            return inside
        linear = -(up + down) + (2 * n - up + down) * middle
        inner = linear * linear + 8 * n * down * middle * (1 - middle)
        q = (math.sqrt(max(inner, 0.0)) - linear) / (4 * n)
        if ((up - down) / n - middle) ** 2 * n <= z * z * (2 * q + middle * (1 - middle)):
            inside = middle
        else:
            outside = middle


def _correlation(both: int, gained: int, lost: int, neither: int) -> float:
    """phi of the two arms, with n/2 taken off a positive determinant; 0 where a margin is empty."""
    n = both + gained + lost + neither
    margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither)
    if margins == 0:
        return 0.0
    determinant = both * neither - gained * lost
    corrected = max(determinant - n / 2, 0.0) if determinant > 0 else determinant
    return corrected / math.sqrt(margins)


def _joined(one: float, other: float, alike: float) -> float:
    return math.sqrt(max(one * one + other * other - 2 * alike * one * other, 0.0))


def _below(of: Interval) -> float:
    assert of.estimate is not None
    assert of.low is not None
    return of.estimate - of.low


def _above(of: Interval) -> float:
    assert of.estimate is not None
    assert of.high is not None
    return of.high - of.estimate


def _z(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 0:
            raise ValueError(f"{name} must be 0 or more, got {count}")
