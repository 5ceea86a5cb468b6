"""Where Student's t interval of a mean covers what it says, told from the data. For description: no gate rests on it.

With few questions, a rare large loss, or one cluster that outweighs the rest, a 95 % interval covers 70 or 88 of 100
and shows nothing of it. The rules below were measured (docs/statistics.md): where at least nine of ten experiments of
a kind are inside, the 95 % interval covers 93 to 97 of 100. On the border the rule picks among experiments, and the
chosen ones cover a little less or more. Measured for level 0.95 only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.stats.intervals import Interval, mean_interval

Floats = NDArray[np.float64]
Reason = Literal["", "no_range", "few_clusters", "no_variance", "few_carry_it", "skewed", "rare_could_hide"]
FEWEST = 20.0
"""Effective number of clusters, n^2 / sum n_g^2."""
CARRY = 10.0
"""Clusters that the spread rests on, (sum of squares)^2 / (sum of fourth powers) of what each adds to the error."""
SKEW = 0.2
"""|third moment| / sum of squares^1.5: the skewness over the root of the number of clusters (Cochran's n > 25 g^2)."""
HIDDEN = 0.5
"""Standard errors by which the mean moves if one unit in G more lies as far off as it can."""


class Region(NamedTuple):
    """Whether a t interval may be believed here, and if not, why; the numbers that were compared with the limits."""

    inside: bool
    reason: Reason
    """The first of these that holds; empty inside.

    no_range: the measure has no least or greatest value, so what has not been seen can be of any size.
    few_clusters: fewer than 20 effective ones. no_variance: all clusters show the same.
    few_carry_it: the spread rests on fewer than 10 clusters. skewed: the spread lies too much to one side.
    rare_could_hide: one more unit in G at the far end of the range would move the mean by half a standard error.
    """
    clusters: float
    """Effective number."""
    carry: float
    skew: float
    hidden: float


class Described(NamedTuple):
    """A t interval, and whether it may be believed."""

    interval: Interval
    region: Region


def paired_interval(
    differences: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Described:
    """The descriptive interval of a paired mean: `mean_interval` of the differences, and its region.

    Args:
        differences: shape (n,), candidate less baseline of each question.
        clusters: shape (n,), equal labels for questions that are not independent.
        level: confidence; the region was measured for 0.95.
        within: least and greatest possible difference.
    """
    return Described(mean_interval(differences, clusters, level, within), in_region(differences, clusters, within))


def in_region(
    values: ArrayLike,
    clusters: Sequence[Hashable] | NDArray[np.int64] | None = None,
    within: tuple[float, float] | None = None,
) -> Region:
    """Whether `mean_interval(values, clusters)` may be believed.

    The order of values plays no part; copies of every question inside of its cluster change nothing. No values:
    outside, few_clusters.

    Args:
        values: shape (n,), finite.
        clusters: shape (n,), equal labels for values that are not independent.
        within: least and greatest possible value; None: there is none, and the answer is no_range.

    Raises:
        ValueError: lengths that differ, or a value that is not finite.
    """
    numbers = np.asarray(values, np.float64)
    n = len(numbers)
    if clusters is not None and len(clusters) != n:
        raise ValueError(f"{n} values, but {len(clusters)} clusters")
    if not np.all(np.isfinite(numbers)):
        raise ValueError("values that are not all finite")
    if n == 0:
        return Region(False, "no_range" if within is None else "few_clusters", 0.0, 0.0, 0.0, math.inf)
    seen: dict[Hashable, int] = {}
    codes = np.arange(n) if clusters is None else np.array([seen.setdefault(one, len(seen)) for one in clusters])
    sizes = np.bincount(codes).astype(np.float64)
    order = np.argsort(numbers, kind="stable")
    mean = math.fsum(numbers) / n
    sums = np.bincount(codes[order], numbers[order] - mean) / n
    reach = None if within is None else max(within[1] - mean, mean - within[0])
    return region_of(sums, sizes, reach)


def region_of(sums: Floats, sizes: Floats, reach: float | None) -> Region:
    """The region of an estimate that is known by what each cluster adds to its error, as of a ratio's linear parts.

    Args:
        sums: shape (G,), G >= 1; they add up to 0, and the root of their squares' sum is the standard error.
        sizes: shape (G,), questions (or denominators) of each cluster.
        reach: how far from the estimate one unit can lie; None: without limit.
    """
    far = np.array([math.inf if reach is None else reach])
    clusters, carry, skew, hidden = (float(one[0]) for one in region_numbers(sums[None, :], sizes, far))
    reason = _reason(clusters, carry, skew, hidden, reach)
    return Region(reason == "", reason, clusters, carry, skew, hidden)


def region_numbers(sums: Floats, sizes: Floats, reach: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The four numbers of each row: effective clusters, carry, skew, hidden; `sums` of shape (rows, G)."""
    ordered = np.sort(sums, axis=1)
    rows, size = ordered.shape
    scale = np.abs(ordered).max(axis=1)
    flat = scale <= 1e-12 * np.where(np.isfinite(reach), np.abs(reach), scale) / size
    unit = ordered / np.where(flat, 1.0, scale)[:, None]
    squares = np.where(flat, 1.0, (unit**2).sum(axis=1))
    effective = np.full(rows, float(sizes.sum()) ** 2 / float((np.sort(sizes) ** 2).sum()))
    carry = np.where(flat, 0.0, squares**2 / np.where(flat, 1.0, (unit**4).sum(axis=1)))
    skew = np.where(flat, 0.0, np.abs((unit**3).sum(axis=1)) / squares**1.5)
    error = scale * np.sqrt(squares * size / max(size - 1, 1))
    hidden = np.where(flat, np.inf, reach / size / np.where(flat, 1.0, error))
    return effective, carry, skew, hidden


def inside(numbers: tuple[Floats, Floats, Floats, Floats]) -> NDArray[np.bool_]:
    """Which rows of `region_numbers` lie inside."""
    clusters, carry, skew, hidden = numbers
    return (clusters >= FEWEST) & (carry >= CARRY) & (skew <= SKEW) & (hidden <= HIDDEN)


def _reason(clusters: float, carry: float, skew: float, hidden: float, reach: float | None) -> Reason:
    if reach is None:
        return "no_range"
    if clusters < FEWEST:
        return "few_clusters"
    if carry == 0:
        return "no_variance"
    if carry < CARRY:
        return "few_carry_it"
    if skew > SKEW:
        return "skewed"
    return "rare_could_hide" if hidden > HIDDEN else ""
