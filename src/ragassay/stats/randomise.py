"""Sign-flip randomisation tests and bootstrap intervals for many columns at once, on exact integers.

Differences become whole numbers of a common tiny unit, so that sums are exact in any order: the results are the same
for every block size, number of threads and machine. Random bits are raw words of PCG64 with our own mapping.
No clock, no global state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.stats.cores import cores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Found = TypeVar("Found")
_BITS_TO_SPEND = 61
_TABLE_BYTES = 64 << 20
_ROUNDING = 2**50
"""Sums that differ by less than this part of the sum of absolute differences are equal: a double holds 1/3 to 2^-54 of
its size, and a difference of two scores to a few times that."""


class FlipTest(NamedTuple):
    """Two-sided sign-flip tests. Arrays have shape (columns,); NaN nowhere: `p` is 1 where nothing differs."""

    difference: Floats
    """Mean difference of each column."""
    p: Floats
    p_adjusted: Floats
    """p of the largest standardised difference of all columns (max-T, Westfall and Young): family-wise."""
    n: int
    """Independent units: clusters, or rows."""
    flips: int
    exact: bool
    """All 2^n sign patterns were counted; else p = (count + 1) / (flips + 1)."""
    floor: float
    """The least p that this test can give."""


class BootstrapInterval(NamedTuple):
    """Percentile bootstrap of the mean. Arrays have shape (columns,)."""

    estimate: Floats
    low: Floats
    high: Floats
    n: int
    resamples: int


def sign_flip(
    differences: ArrayLike,
    *,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    flips: int = 10_000,
    exact_up_to: int = 16,
    block: int = 2_048,
    threads: int | None = None,
) -> FlipTest:
    """Paired randomisation test (Fisher): flip the sign of each unit's difference; is |sum| that large by chance?

    All columns share the signs, so that their joint distribution is kept.

    Args:
        differences: shape (rows,) or (rows, columns), finite: one row a question, one column a measure and pair.
        seed: of the random signs; unused where the test is exact.
        clusters: rows of one cluster are flipped together.
        flips: random sign patterns, where there are more than `exact_up_to` units.
        exact_up_to: up to so many units all 2^n patterns are counted (at most 24).
        block: patterns at once; the result does not depend on it.
        threads: workers, by default one a core; the result does not depend on it.

    Raises:
        ValueError: no rows, or a value that is not finite.
    """
    table, _ = _whole(differences, clusters)
    rows, columns = table.shape
    exact = rows <= min(exact_up_to, 24)
    observed = np.abs(table.sum(axis=0))
    slack = len(np.asarray(differences)) + np.abs(table).sum(axis=0) // _ROUNDING
    scale = np.sqrt((table.astype(np.float64) ** 2).sum(axis=0))
    scale[scale == 0] = 1.0
    counts, family = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    total = 1 << rows if exact else flips
    sums_of = _Sums(table)

    def count(low: int, high: int) -> tuple[Ints, Ints]:
        sums = np.abs(sums_of(_all_patterns(rows, low, high) if exact else _random_patterns(rows, low, high, seed)))
        most = (sums / scale).max(axis=1)
        own: Ints = np.count_nonzero(sums >= observed - slack, axis=0)
        joint: Ints = np.count_nonzero(most[:, None] >= (observed - slack) / scale, axis=0)
        return own, joint

    for own, joint in _by_blocks(count, total, block, threads):
        counts += own
        family += joint
    added, below = (0, total) if exact else (1, total + 1)
    means = np.asarray(differences, np.float64).reshape(-1, columns).mean(axis=0)
    floor = 2.0 / total if exact else 1.0 / below
    return FlipTest(means, (counts + added) / below, (family + added) / below, rows, total, exact, floor)


def bootstrap_mean(
    values: ArrayLike,
    *,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    block: int = 64,
    threads: int | None = None,
) -> BootstrapInterval:
    """Percentile interval of the mean of each column, resampling rows, or whole clusters with all their rows.

    For few units it is too narrow: prefer `mean_interval`. The result depends neither on `block` nor on `threads`.

    Raises:
        ValueError: fewer than 2 units, a level outside (0, 1), or a value that is not finite.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    table, unit = _whole(values, clusters, bits=52)
    rows = len(table)
    if rows < 2:
        raise ValueError("a bootstrap needs at least 2 independent units")
    sizes = _sizes(len(np.asarray(values)), clusters)
    weights = np.concatenate((table, sizes[:, None]), axis=1).astype(np.float64)

    def draw(low: int, high: int) -> Floats:
        drawn = (_words(seed, low * rows, high * rows) >> np.uint64(32)) * np.uint64(rows) >> np.uint64(32)
        owner = np.repeat(np.arange(high - low), rows) * rows
        picks = np.bincount(owner + drawn.astype(np.int64), minlength=(high - low) * rows).reshape(-1, rows)
        sums = picks.astype(np.float64) @ weights
        means: Floats = sums[:, :-1] / sums[:, -1:] * unit
        return means

    means = np.concatenate(list(_by_blocks(draw, resamples, block, threads)))
    tail = (1 - level) / 2
    ends = np.quantile(means, [tail, 1 - tail], axis=0, method="inverted_cdf")
    estimate = table.sum(axis=0) / sizes.sum() * unit
    return BootstrapInterval(estimate, ends[0], ends[1], rows, resamples)


def _whole(values: ArrayLike, clusters: Sequence[Hashable] | None, bits: int = _BITS_TO_SPEND) -> tuple[Ints, float]:
    """Sums of each cluster as whole numbers of a unit (a power of two), small enough that no sum can overflow."""
    table = np.asarray(values, np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or not len(table):
        raise ValueError(f"values must have shape (rows,) or (rows, columns) with rows, got {table.shape}")
    if not np.all(np.isfinite(table)):
        raise ValueError("values that are not all finite")
    if clusters is not None and len(clusters) != len(table):
        raise ValueError(f"{len(table)} rows, but {len(clusters)} clusters")
    greatest = float(np.abs(table).max()) or 1.0
    power = bits - int(np.ceil(np.log2(len(table)))) - int(np.floor(np.log2(greatest))) - 2
    whole = np.rint(np.ldexp(table, power)).astype(np.int64)
    if clusters is not None:
        index = _index(clusters)
        summed = np.zeros((int(index.max()) + 1, whole.shape[1]), np.int64)
        np.add.at(summed, index, whole)
        whole = summed
    return whole, float(np.ldexp(1.0, -power))


def _index(clusters: Sequence[Hashable]) -> Ints:
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in clusters])


def _sizes(rows: int, clusters: Sequence[Hashable] | None) -> Ints:
    return np.ones(rows, np.int64) if clusters is None else np.bincount(_index(clusters))


def _by_blocks(work: Callable[[int, int], Found], total: int, block: int, threads: int | None) -> Iterator[Found]:
    """The work on [0, total) block by block, in order, on several threads: numpy lets go of the interpreter."""
    lows = range(0, total, block)
    highs = [*lows[1:], total]
    if len(lows) == 1:
        yield work(0, total)
        return
    with ThreadPoolExecutor(min(threads or cores(), len(lows) or 1)) as pool:
        yield from pool.map(work, lows, highs)


def _words(seed: int, low: int, high: int) -> NDArray[np.uint64]:
    """Words low..high of the one endless row of random words that belongs to a seed."""
    return np.random.PCG64(seed).advance(low).random_raw(high - low)


def _all_patterns(rows: int, low: int, high: int) -> NDArray[np.uint8]:
    """Sign patterns low..high of all 2^rows, as bytes whose bits say which units are flipped."""
    numbers = np.arange(low, high, dtype="<u8")
    return numbers.view(np.uint8).reshape(-1, 8)[:, : (rows + 7) // 8]


def _random_patterns(rows: int, low: int, high: int, seed: int) -> NDArray[np.uint8]:
    """Random sign patterns low..high; each is made of words of its own."""
    width = (rows + 63) // 64
    return _words(seed, low * width, high * width).astype("<u8").view(np.uint8).reshape(-1, width * 8)


class _Sums:
    """Sums of each column under sign patterns, eight units at a time from tables of their 256 sums."""

    def __init__(self, table: Ints) -> None:
        self.columns = table.shape[1]
        padded = np.zeros(((len(table) + 7) // 8 * 8, self.columns), np.int64)
        padded[: len(table)] = table
        self.eights = padded.reshape(-1, 8, self.columns)
        self.signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)[None, :]) & 1)
        small = len(self.eights) * 256 * self.columns * 8 <= _TABLE_BYTES
        self.tables = np.einsum("ps,esc->epc", self.signs, self.eights) if small else None

    def __call__(self, bits: NDArray[np.uint8]) -> Ints:
        """Sums for each pattern; bits of shape (patterns, bytes), a bit that is set flips its unit."""
        total = np.zeros((len(bits), self.columns), np.int64)
        part = np.empty_like(total)
        by_byte = np.ascontiguousarray(bits.T).astype(np.intp)
        for at, eight in enumerate(self.eights):
            own = self.signs @ eight if self.tables is None else self.tables[at]
            np.take(own, by_byte[at], axis=0, out=part, mode="clip")
            total += part
        return total
