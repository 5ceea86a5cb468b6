"""What a paired test could have found, and how many questions it would take. Tests nothing itself.

Noncentral t with G - 1 degrees of freedom over G independent units (questions, or clusters of them), as in
`statsmodels`' TTestPower. A sign-flip test knows only certain levels: with few units it is held to the greatest one
that does not exceed alpha, and where even its least p exceeds alpha no effect at all can be found. With fewer than
about ten units sign flips find somewhat less than t at that level does (73 of 100 for 80, with six).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

MOST = 10**9


class Detectable(NamedTuple):
    """A minimum detectable effect. `effect` is None where there is none; `reason` then says why."""

    effect: float | None
    """In the unit of the differences, 0 or more; an effect of this size to either side is found with that power."""
    alpha: float
    """The level that the test has in truth: at most the one asked for, 0 where it can never reject."""
    units: int
    reason: str = ""
    """fewer_than_2_clusters, no_variance, or floor_above_alpha."""


def standard_error(differences: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float | None:
    """Standard error of the mean difference, clusters kept together; None for fewer than 2 clusters.

    sqrt(G / (G - 1) * sum over clusters of (summed deviations)^2) / n: the one of `mean_interval`.

    Args:
        differences: shape (n,), finite, one a question.
        clusters: shape (n,), equal labels for questions that are not independent.

    Raises:
        ValueError: lengths that differ, or a difference that is not finite.
    """
    n = len(differences)
    if clusters is not None and len(clusters) != n:
        raise ValueError(f"{n} differences, but {len(clusters)} clusters")
    total = math.fsum(differences)
    if not math.isfinite(total):
        raise ValueError("differences that are not all finite")
    parts: dict[Hashable, list[float]] = defaultdict(list)
    for place, value in enumerate(differences):
        parts[place if clusters is None else clusters[place]].append(value - total / n)
    size = len(parts)
    if size < 2:
        return None
    return math.sqrt(size / (size - 1) * math.fsum(math.fsum(one) ** 2 for one in parts.values())) / n


def detectable(
    error: float | None, units: int, *, alpha: float = 0.05, power: float = 0.8, sides: int = 2, floor: float = 0.0
) -> Detectable:
    """The least true mean difference that a test at `alpha` finds with chance `power`.

    Args:
        error: standard error of the mean difference, as of `standard_error`; None: it has none.
        units: independent units G.
        alpha: level of the test, in (0, 1).
        power: in (alpha, 1).
        sides: 2 for a difference either way, 1 for one way.
        floor: the least p of the test, as of `FlipTest.floor`; its p-values are multiples of it. 0: any p can occur.

    Raises:
        ValueError: a negative error or floor, fewer than 0 units, power not above alpha, or sides other than 1 and 2.
    """
    _check(alpha, power, sides)
    if units < 0 or floor < 0 or (error is not None and not error >= 0):
        raise ValueError(f"error, units and floor must be 0 or more, got {error}, {units}, {floor}")
    level = attainable(alpha, floor)
    if level == 0:
        return Detectable(None, 0.0, units, "floor_above_alpha")
    if error is None or units < 2:
        return Detectable(None, level, units, "fewer_than_2_clusters")
    if error == 0:
        return Detectable(None, level, units, "no_variance")
    high = 1.0
    while power_at(high, units, alpha=level, sides=sides) < power:
        high *= 2
    from scipy.optimize import brentq

    found = brentq(lambda shift: power_at(shift, units, alpha=level, sides=sides) - power, 0.0, high, xtol=1e-10)
    return Detectable(float(found) * error, level, units)


def attainable(alpha: float, floor: float) -> float:
    """The greatest multiple of `floor` that does not exceed `alpha`: the level that a test of such p-values has.

    0 where `floor` exceeds alpha; alpha itself for a floor of 0.
    """
    return alpha if floor == 0 else min(alpha, math.floor(alpha / floor + 1e-9) * floor)


def power_at(shift: float, units: int, *, alpha: float = 0.05, sides: int = 2) -> float:
    """Chance that Student's t test over `units` finds a true mean difference of `shift` standard errors.

    In [0, 1]; rises with shift; `alpha` at shift 0. Units: 2 or more.
    """
    from scipy.special import nctdtr, stdtrit

    degrees = units - 1
    critical = float(stdtrit(degrees, 1 - alpha / sides))
    missed, turned = float(nctdtr(degrees, shift, critical)), float(nctdtr(degrees, -shift, critical))
    above = 1.0 if math.isnan(missed) else 1.0 - missed
    # scipy has no number where the distribution lies far to one side of the critical value
    below = 0.0 if sides == 1 or math.isnan(turned) else 1.0 - turned
    return above + below


def units_needed(
    effect: float, spread: float, *, alpha: float = 0.05, power: float = 0.8, sides: int = 2, most: int = MOST
) -> int | None:
    """The least number of independent units of which a test at `alpha` finds `effect` with chance `power`.

    Args:
        effect: true mean difference, not 0.
        spread: standard deviation of the units' differences, 0 or more; from data: standard error times sqrt(units).
        alpha, power, sides: as in `detectable`.
        most: None is returned where more would be needed.

    At least so many that the exact sign-flip test can reject at all, sides / 2^units <= alpha (6 for 0.05 two-sided),
    however small the spread.

    Raises:
        ValueError: an effect of 0 or not finite, a negative spread, or what `detectable` refuses.
    """
    _check(alpha, power, sides)
    if effect == 0 or not math.isfinite(effect) or not spread >= 0:
        raise ValueError(f"effect must be finite and not 0, spread 0 or more; got {effect}, {spread}")
    least = max(2, math.ceil(math.log2(sides / alpha) - 1e-9))

    def enough(units: int) -> bool:
        if spread == 0:
            return True
        return power_at(abs(effect) / spread * math.sqrt(units), units, alpha=alpha, sides=sides) >= power

    low, high = least - 1, least
    while not enough(high):
        low, high = high, high * 2
        if low >= most:
            return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high <= most else None


def _check(alpha: float, power: float, sides: int) -> None:
    if sides not in (1, 2):
        raise ValueError(f"sides must be 1 or 2, got {sides}")
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha and power must lie between 0 and 1, alpha below; got {alpha} and {power}")
