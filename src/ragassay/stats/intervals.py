"""Confidence intervals for means, ratios and proportions; an interval that the data cannot give is undefined.

Sums are `math.fsum`, so that order does not matter; quantiles are those of `scipy.special`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """A two-sided confidence interval. `low` and `high` are None where undefined; `reason` then says why."""

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    """Values, or trials."""
    clusters: int
    """Independent groups; n where each value is its own."""
    method: str
    reason: str = ""


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Interval:
    """Interval for the mean of `values`: Student t with G - 1 degrees of freedom over G clusters.

    The estimate is the mean of all values; its variance is that of the clusters' summed deviations, which for
    clusters of equal size is the t interval on cluster means, and without clusters the plain one. Undefined with
    fewer than 2 clusters. Pairs of systems: give the differences.

    Args:
        values: shape (n,), finite.
        clusters: shape (n,), equal labels for values that are not independent (paraphrases, a conversation).
        level: confidence, in (0, 1).
        within: least and greatest value of the measure; the interval is cut to it. Where all values lie at one of
            these ends, t would be of zero width; the exact one-sided bound alpha^(1/G) is used instead.
    """
    return ratio_interval(values, [1.0] * len(values), clusters, level, within)


def ratio_interval(
    numerators: Sequence[float],
    denominators: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Interval:
    """Interval for a micro mean, sum(numerators) / sum(denominators), clustered by question or by a wider group.

    Linearised (delta method): Student t with G - 1 degrees of freedom on the clusters' sums of
    numerator - ratio * denominator. Undefined with fewer than 2 clusters or a denominator that sums to 0.
    """
    n = len(numerators)
    _check_level(level)
    for name, other in (("denominators", denominators), ("clusters", clusters)):
        if other is not None and len(other) != n:
            raise ValueError(f"{n} values, but {len(other)} {name}")
    top, bottom = math.fsum(numerators), math.fsum(denominators)
    if not (math.isfinite(top) and math.isfinite(bottom)):
        raise ValueError("an interval over values that are not all finite")
    groups = _sums(numerators, denominators, clusters)
    size = len(groups)
    if n == 0 or bottom == 0:
        return _undefined("student_t", "no_values", level, n, size)
    ratio = top / bottom
    if size < 2:
        return _undefined("student_t", "fewer_than_2_clusters", level, n, size)._replace(estimate=ratio)
    if within is not None and _at_end(numerators, denominators, within):
        return _exact_at_end(ratio, level, n, size, within)
    squares = math.fsum((num - ratio * den) ** 2 for num, den in groups)
    error = math.sqrt(size / (size - 1) * squares) / abs(bottom)
    half = _student(level, size - 1) * error
    low, high = ratio - half, ratio + half
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    return Interval(ratio, low, high, level, n, size, "student_t", "" if half > 0 else "no_variance")


def wilson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for a proportion of independent trials; undefined for no trials."""
    _check_counts(successes, trials, level)
    if trials == 0:
        return _undefined("wilson", "no_trials", level, 0, 0)
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    low = 0.0 if successes == 0 else middle - spread
    high = 1.0 if successes == trials else middle + spread
    return Interval(share, low, high, level, trials, trials, "wilson")


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """The exact interval for a proportion, never too narrow: the one for gates; undefined for no trials."""
    _check_counts(successes, trials, level)
    if trials == 0:
        return _undefined("clopper_pearson", "no_trials", level, 0, 0)
    from scipy.special import betaincinv

    tail, failures = (1 - level) / 2, trials - successes
    low = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures == 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return Interval(successes / trials, low, high, level, trials, trials, "clopper_pearson")


def _undefined(method: str, reason: str, level: float, n: int, clusters: int) -> Interval:
    return Interval(None, None, None, level, n, clusters, method, reason)


def _student(level: float, degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + level / 2))


def _sums(
    numerators: Sequence[float], denominators: Sequence[float], clusters: Sequence[Hashable] | None
) -> list[tuple[float, float]]:
    """Numerator and denominator of each cluster, in order of first appearance."""
    if clusters is None or len(set(clusters)) == len(clusters):
        return [(float(num), float(den)) for num, den in zip(numerators, denominators, strict=True)]
    parts: dict[Hashable, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for num, den, name in zip(numerators, denominators, clusters, strict=True):
        parts[name][0].append(num)
        parts[name][1].append(den)
    return [(math.fsum(nums), math.fsum(dens)) for nums, dens in parts.values()]


def _at_end(numerators: Sequence[float], denominators: Sequence[float], within: tuple[float, float]) -> bool:
    """True when every value that has a denominator lies at the same end of the range."""
    ends = [[num == end * den for num, den in zip(numerators, denominators, strict=True)] for end in within]
    return any(map(all, ends))


def _exact_at_end(ratio: float, level: float, n: int, size: int, within: tuple[float, float]) -> Interval:
    """All values at one end: a mean m has them so in G clusters with chance at most (distance to the other end)^G."""
    least, greatest = within
    reach = (1 - (1 - level) ** (1 / size)) * (greatest - least)
    low, high = (least, least + reach) if ratio == least else (greatest - reach, greatest)
    return Interval(ratio, low, high, level, n, size, "exact_at_end")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")


def _check_counts(successes: int, trials: int, level: float) -> None:
    _check_level(level)
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must lie in 0..trials, got {successes} of {trials}")
