"""Percentile bootstrap of a figure of a whole set, resampling groups that belong together. Knows no figure.

Random numbers are raw words of PCG64 with our own mapping, so that the same seed gives the same interval everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.intervals import Interval

Floats = NDArray[np.float64]
METHOD = "bootstrap_percentile"
_WORDS_AT_ONCE = 1 << 21


def bootstrap(
    figure: Callable[[Floats], Floats],
    clusters: Sequence[Hashable],
    *,
    strata: Sequence[Hashable] | None = None,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 1000,
) -> Interval:
    """Percentile interval of `figure`, drawing whole clusters with replacement.

    It describes what other questions of the same kind would give; it is no bound, and too narrow for few clusters.

    Args:
        figure: weights of shape (resamples, n), how often each row was drawn, to one value a resample; NaN where a
            resample has none.
        clusters: shape (n,), equal labels for rows that belong together.
        strata: shape (n,), groups that are drawn each for itself, as the two sides of a comparison are.
        seed: of the drawing.

    Returns:
        An interval without estimate; low and high are None for fewer than 2 clusters in a stratum (*reason* says so),
        or where fewer than half of the resamples have a value.

    Raises:
        ValueError: lengths that differ, or a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    n = len(clusters)
    if strata is not None and len(strata) != n:
        raise ValueError(f"{n} clusters, but {len(strata)} strata")
    groups = _groups(clusters, strata)
    size = sum(len(members) for members in groups)
    if not groups or min(map(len, groups)) < 2:
        return Interval(None, None, None, level, n, size, METHOD, "fewer_than_2_clusters")
    owner = np.empty(n, np.int64)
    for place, rows in enumerate(row for members in groups for row in members):
        owner[rows] = place
    block = max(1, _WORDS_AT_ONCE // max(size, n))
    found = [
        figure(_picks(seed, low, min(low + block, resamples), [len(one) for one in groups])[:, owner])
        for low in range(0, resamples, block)
    ]
    values = np.sort(np.concatenate(found))
    known = values[~np.isnan(values)]
    if 2 * len(known) < resamples:
        return Interval(None, None, None, level, n, size, METHOD, "no_value_in_most_resamples")
    tail = (1 - level) / 2
    low_at = math.floor(tail * (len(known) - 1))
    high_at = math.ceil((1 - tail) * (len(known) - 1))
    return Interval(None, float(known[low_at]), float(known[high_at]), level, n, size, METHOD)


def _groups(clusters: Sequence[Hashable], strata: Sequence[Hashable] | None) -> list[list[list[int]]]:
    """Rows by cluster by stratum, in order of first appearance."""
    found: dict[Hashable, dict[Hashable, list[int]]] = {}
    for row, name in enumerate(clusters):
        found.setdefault(None if strata is None else strata[row], {}).setdefault(name, []).append(row)
    return [list(one.values()) for one in found.values()]


def _picks(seed: int, low: int, high: int, sizes: Sequence[int]) -> Floats:
    """How often each cluster of each stratum is drawn in the resamples low..high; each has words of its own."""
    width = sum(sizes)
    words = np.random.PCG64(seed).advance(low * width).random_raw((high - low) * width).reshape(-1, width)
    made: Floats = np.zeros((high - low, width), np.float64)
    start = 0
    for size in sizes:
        drawn = (words[:, start : start + size] >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)
        flat = drawn.astype(np.int64) + np.arange(high - low)[:, None] * size
        counts = np.bincount(flat.ravel(), minlength=(high - low) * size).reshape(-1, size)
        made[:, start : start + size] = counts
        start += size
    return made
