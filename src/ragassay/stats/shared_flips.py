"""Sign-flip tests of many groups of columns under one common row of signs, on exact integers. Knows no measure.

Every difference becomes a whole number of a tiny unit of its column, small enough that no sum reaches 2^53: products
in double precision are then exact, whatever the block size, the number of threads or the order of the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BITS = 51
_EXACT_AT_MOST = 24
_AT_ONCE = 1 << 22


class FlipGroup(NamedTuple):
    """Columns over the same units."""

    units: Ints
    """Shape (rows,): which signs these rows take, each at most once."""
    values: Floats
    """Shape (rows, columns): the difference of each unit; 0 where a column has none."""
    sizes: Floats
    """Shape (columns,): the sum of the absolute values that the differences were made of; sums nearer to each other
    than their rounding are equal."""


class Flips(NamedTuple):
    """Two-sided p of one column."""

    p: float
    floor: float
    exact: bool
    flips: int


def shared_flips(
    groups: Sequence[FlipGroup],
    units: int,
    *,
    seed: int,
    flips: int = 10_000,
    exact_up_to: int = 16,
    block: int | None = None,
) -> list[list[Flips]]:
    """For each column of each group: how often is |sum| under random signs at least as large as it was observed?

    Where at most `exact_up_to` units of a column differ from 0, all their 2^k patterns are counted, and p is exact
    (the others add nothing, whatever their sign). Else p = (count + 1) / (flips + 1). Unit u has one sign in all
    groups: the row of signs is that of `sign_flip` over `units` units with the same seed.

    Args:
        units: how many units there are in all; 0 or more.
        block: sign patterns at once, by default so many that they take about 32 MB; the result does not depend on it.

    Raises:
        ValueError: a value that is not finite, or shapes that do not fit.
    """
    tables = [_Table(one, units) for one in groups]
    exact_at_most = min(exact_up_to, _EXACT_AT_MOST)
    made: list[list[Flips | None]] = []
    for table in tables:
        own: list[Flips | None] = []
        for column in range(table.whole.shape[1]):
            values = table.whole[:, column]
            values = values[values != 0]
            own.append(_exact(values, table.slack[column]) if len(values) <= exact_at_most else None)
        made.append(own)
        table.keep([place for place, one in enumerate(own) if one is None])
    left = [table for table in tables if table.whole.shape[1]]
    if left:
        step = block or min(max(_AT_ONCE // max(units, 1), 16), flips)
        for low in range(0, flips, step):
            signs = flipped_units(units, low, min(low + step, flips), seed)
            for table in left:
                table.count(signs)
    floor = 1.0 / (flips + 1)
    done = []
    for table, own in zip(tables, made, strict=True):
        counts = iter(table.counts.tolist())
        done.append([one or Flips((next(counts) + 1) / (flips + 1), floor, False, flips) for one in own])
    return done


class _Table:
    """One group as whole numbers, and how often each column's sum was reached."""

    def __init__(self, group: FlipGroup, units: int) -> None:
        values = np.asarray(group.values, np.float64)
        if values.ndim != 2 or len(values) != len(group.units) or values.shape[1] != len(group.sizes):
            raise ValueError(f"{len(group.units)} units and {len(group.sizes)} sizes for values of {values.shape}")
        if not np.all(np.isfinite(values)):
            raise ValueError("values that are not all finite")
        self.units = np.asarray(group.units, np.int64)
        self.every = len(self.units) == units and bool((self.units == np.arange(units)).all())
        _, above = np.frexp(np.abs(values).max(axis=0, initial=0.0))
        power = _BITS - above - max(len(values) - 1, 0).bit_length()
        self.whole = np.rint(np.ldexp(values, power))
        self.slack = len(values) + np.ldexp(np.asarray(group.sizes, np.float64), power - _BITS)
        self._ready()

    def keep(self, columns: Sequence[int]) -> None:
        """Leave the other columns out."""
        self.whole, self.slack = self.whole[:, columns], self.slack[columns]
        self._ready()

    def _ready(self) -> None:
        """Columns that are the same are counted once."""
        rows = [(column.tobytes(), slack) for column, slack in zip(self.whole.T, self.slack.tolist(), strict=True)]
        seen: dict[tuple[bytes, float], int] = {}
        self.home = [seen.setdefault(one, len(seen)) for one in rows]
        first = [self.home.index(place) for place in range(len(seen))]
        self.total = self.whole[:, first].sum(axis=0)
        self.least = np.abs(self.total) - self.slack[first]
        self.across = np.ascontiguousarray(self.whole[:, first].T)
        self._counts = np.zeros(len(first), np.int64)

    @property
    def counts(self) -> Ints:
        """Of each column."""
        return self._counts[self.home]

    def count(self, flipped: Floats) -> None:
        """Add the patterns of a block: 1 where a unit is flipped; shape (units, patterns)."""
        sums = self.across @ (flipped if self.every else flipped[self.units])
        np.abs(self.total[:, None] - 2 * sums, out=sums)
        self._counts += np.count_nonzero(sums >= self.least[:, None], axis=1)


def _exact(values: Floats, slack: float) -> Flips:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums + value, sums - value))
    count = int(np.count_nonzero(np.abs(sums) >= abs(values.sum()) - slack))
    return Flips(count / len(sums), min(1.0, 2.0 / len(sums)), True, len(sums))


def flipped_units(units: int, low: int, high: int, seed: int) -> Floats:
    """Patterns low..high of the seed: 1 where a unit is flipped; shape (units, patterns)."""
    width = (units + 63) // 64
    words = np.random.PCG64(seed).advance(low * width).random_raw((high - low) * width)
    rows = words.astype("<u8").view(np.uint8).reshape(high - low, width * 8)
    bits = np.unpackbits(np.ascontiguousarray(rows.T), axis=0, bitorder="little")[:units]
    return bits.astype(np.float64)
