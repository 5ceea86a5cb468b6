"""The effect of one measure over one population: difference, interval, what was won and lost. Tests no hypothesis."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.compare.cells import Floats, Ints
from ragassay.compare.pairs import Pairs
from ragassay.records.comparison import Effect
from ragassay.records.score import Bounds, Interval, Status
from ragassay.stats.power import detectable
from ragassay.stats.region import region_of

EQUAL = 1e-12
"""Two values within this part of the greater one are equal."""
EXACT_UP_TO = 16
"""Up to so many clusters all sign patterns are counted."""
AT = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""The quantiles of the differences."""
Doubt = Literal["no_range", "few_clusters", "no_variance", "few_carry_it", "skewed", "rare_could_hide"]
STUDENT, ALL_EQUAL = "student_t", "exact_all_equal"


class Differences(NamedTuple):
    """What the pairs of one measure differ by; arrays of shape (pairs,)."""

    plain: Floats
    """Candidate less baseline of each question's value; of equal values exactly 0."""
    parts: Floats
    """What each question adds to the effect's error: they add up to 0, and their spread is that of the effect."""
    flipped: Floats
    """What a sign flip turns round."""
    size: float
    """The sum of the absolute values that `flipped` was made of."""
    baseline: float
    candidate: float
    effect: float


def differences(made: Pairs) -> Differences | None:
    """The differences of at least one pair; None where there is none, or where a ratio has no denominator."""
    if not made.query_ids:
        return None
    if made.weights is not None:
        return _ratios(made, *made.weights)
    a, b = made.baseline, made.candidate
    plain = apart(a, b)
    total, n = math.fsum(plain), len(plain)
    scale = 1.0 if made.aggregation == "sum" else 1.0 / n
    size = math.fsum(np.abs(a)) + math.fsum(np.abs(b))
    parts = (plain - total / n) * scale
    first, second = (math.fsum(one) if made.aggregation == "sum" else math.fsum(one) / n for one in (a, b))
    effect = total if made.aggregation == "sum" else total / n
    return Differences(plain, parts, plain, size, first, second, effect)


def _ratios(made: Pairs, below: Floats, beneath: Floats) -> Differences | None:
    a, b = made.baseline, made.candidate
    bottom, floor = math.fsum(below), math.fsum(beneath)
    if bottom == 0 or floor == 0:
        return None
    first, second = math.fsum(a) / bottom, math.fsum(b) / floor
    both = (math.fsum(a) + math.fsum(b)) / (bottom + floor)
    parts = (b - second * beneath) / floor - (a - first * below) / bottom
    flipped = apart(a - both * below, b - both * beneath)
    alike = (a == b) & (below == beneath)
    flipped[alike] = 0.0
    known = (below != 0) & (beneath != 0)
    own = [np.divide(top, under, out=np.zeros(len(a)), where=known) for top, under in ((a, below), (b, beneath))]
    sizes = (a, b, both * below, both * beneath)
    size = math.fsum(math.fsum(np.abs(one)) for one in sizes)
    effect = 0.0 if alike.all() else second - first
    return Differences(apart(*own), parts, flipped, size, first, second, effect)


def apart(a: Floats, b: Floats) -> Floats:
    """b - a, and 0 where the two are equal but for rounding."""
    found = b - a
    found[np.abs(found) <= EQUAL * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return found


class Spread(NamedTuple):
    """How sure an effect is."""

    clusters: int
    interval: Interval | None
    detectable: float | None
    doubt: Doubt | None = None
    """Why the interval may cover less than it says."""


def spread(made: Pairs, own: Differences, level: float, flips: int) -> Spread:
    """Student's t with G - 1 degrees of freedom over the clusters' sums; where all differences are equal, the exact
    bound of G clusters that all show the same: a mean could be further off by 1 - alpha^(1/G) of the way to each end.
    """
    sums = by_cluster(made.clusters, own.parts)
    size = len(sums)
    limits = None
    if made.within is not None and made.aggregation != "sum":
        limits = made.within[0] - made.within[1], made.within[1] - made.within[0]
    if _all_equal(made, own):
        if limits is None:
            return Spread(size, None, None)
        reach = 1 - (1 - level) ** (1 / size)
        low, high = (own.effect + reach * (end - own.effect) for end in limits)
        return Spread(size, Interval(low=low, high=high, level=level, method=ALL_EQUAL, clusters=size), None)
    if size < 2:
        return Spread(size, None, None)
    error = math.sqrt(size / (size - 1) * math.fsum(sums**2))
    if error == 0:
        return Spread(size, None, None)
    half = student(level, size - 1) * error
    low, high = own.effect - half, own.effect + half
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    reach = _errors_seen(size, level, flips)
    seen = None if reach is None else reach * error
    interval = Interval(low=low, high=high, level=level, method=STUDENT, clusters=size)
    return Spread(size, interval, seen, _doubt(made, own, sums, limits))


def _doubt(made: Pairs, own: Differences, sums: Floats, limits: tuple[float, float] | None) -> Doubt | None:
    """A ratio's clusters are as large as their denominators."""
    weights = np.ones(len(own.plain)) if made.weights is None else (made.weights[0] + made.weights[1]) / 2
    reach = None if limits is None else max(limits[1] - own.effect, own.effect - limits[0])
    return region_of(sums, by_cluster(made.clusters, weights), reach).reason or None


@lru_cache(maxsize=4096)
def _errors_seen(units: int, level: float, flips: int) -> float | None:
    """How many standard errors an effect must have to be found in 80 of 100 repetitions; None: no p can be so small."""
    floor = 2.0 / 2**units if units <= EXACT_UP_TO else 1.0 / (flips + 1)
    return detectable(1.0, units, alpha=1 - level, floor=floor).effect


def _all_equal(made: Pairs, own: Differences) -> bool:
    if made.weights is not None:
        return not own.flipped.any()
    return bool(np.ptp(own.plain) <= EQUAL * max(1.0, abs(float(own.plain[0]))))


def student(level: float, degrees: int) -> float:
    """The two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + level / 2))


def compact(clusters: Ints) -> Ints:
    """The same groups, numbered from 0 without holes."""
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def by_cluster(clusters: Ints, values: Floats) -> Floats:
    """The sum of each cluster."""
    summed: Floats = np.bincount(compact(clusters), values).astype(np.float64)
    return summed


def counts(own: Differences, direction: str) -> tuple[int, int, int]:
    """(wins, ties, losses) of the candidate; of a measure without a better direction only the ties are counted."""
    up, down = int(np.count_nonzero(own.plain > 0)), int(np.count_nonzero(own.plain < 0))
    ties = len(own.plain) - up - down
    return (up, ties, down) if direction == "higher" else (down, ties, up) if direction == "lower" else (0, ties, 0)


def quantiles(values: NDArray[np.float64]) -> tuple[float, ...]:
    """The values at `AT`: of each the least with at least that share of all at or below it."""
    ordered = np.sort(values)
    places = [max(math.ceil(share * len(ordered) - EQUAL * len(ordered)), 1) - 1 for share in AT]
    return tuple(float(ordered[place]) for place in places)


def bounds_of(made: Pairs, effect: float | None) -> Bounds | None:
    """What the effect could be whatever is missing or in error; None where all is known, or it has no greatest."""
    if made.limits is not None:
        low, high = made.limits
    elif made.ends is not None and len(made.ends.low) and bool((made.ends.low != made.ends.high).any()):
        size = len(made.ends.low)
        low, high = math.fsum(made.ends.low) / size, math.fsum(made.ends.high) / size
    else:
        return None
    return Bounds(low=low, high=high) if effect is None else Bounds(low=min(low, effect), high=max(high, effect))


def why_not(made: Pairs) -> tuple[Status, str]:
    """Of an effect without a value: error before missing before undefined, and the commonest reason of that."""
    for status in ("error", "missing", "undefined"):
        found = Counter(one.reason for one in made.lost if one.status == status)
        if found:
            return status, min(found.items(), key=lambda one: (-one[1], one[0]))[0]
    return "undefined", "no_denominator"


def effect_of(
    made: Pairs, counted: tuple[int, int, int], own: Differences | None, unit: str, level: float, flips: int
) -> Effect:
    """The effect without its test. `counted`: undefined, missing and error questions."""
    undefined, missing, error = counted
    fields: dict[str, Any] = {
        "measure": made.measure, "population": made.population, "aggregation": made.aggregation,
        "direction": made.direction, "attempted": len(made.query_ids) + sum(counted), "pairs": len(made.query_ids),
        "undefined": undefined, "missing": missing, "error": error, "step": made.step, "unit": unit,
    }  # fmt: skip
    if own is None:
        status, reason = why_not(made)
        return Effect(status=status, reason=reason, clusters=len(set(made.clusters.tolist())),
                      bounds=bounds_of(made, None), **fields)  # fmt: skip
    found = spread(made, own, level, flips)
    wins, ties, losses = counts(own, made.direction)
    return Effect(
        status="value", baseline=own.baseline, candidate=own.candidate, effect=own.effect, interval=found.interval,
        detectable=found.detectable, doubt=found.doubt, bounds=bounds_of(made, own.effect), clusters=found.clusters,
        wins=wins, ties=ties, losses=losses, quantiles=quantiles(own.plain), **fields,
    )  # fmt: skip
