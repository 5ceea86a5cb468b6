"""One-sided bounds of a quantile, at every number of values and without a shape, some of them cut short. Draws nothing.

A quantile lies above t exactly where a greater share of all values lies above t than the quantile leaves. So it is
bounded by order statistics: the least t of which the share above is bounded by what it leaves. Whatever bound of a
share is taken for that must rise with each value; then the quantile's errs no more often than the share's does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bound = Callable[[Floats], float]
TOLERANCE = 1e-12


class Timed(NamedTuple):
    """Values of questions, of which each may have several; arrays of shape (values,)."""

    home: Ints
    """Which question a value is of, from 0 without holes."""
    values: Floats
    """The value; where it is not known, the least that it can be."""
    known: Flags

    def above(self, limit: float, *, worst: bool) -> Floats:
        """The share of each question's values above a limit; `worst`: all that are not known are."""
        much = self.values > limit + TOLERANCE
        if worst:
            much = much | ~self.known
        return np.asarray(np.bincount(self.home, much) / np.bincount(self.home), np.float64)


class Ends(NamedTuple):
    """Bounds of a quantile; None: there is none, since too few values, or too many that are not known, lie below."""

    low: float | None
    high: float | None


def quantile_ends(timed: Timed, share: float, lower: Bound, upper: Bound) -> Ends:
    """Bounds of the value that `share` of all values do not exceed.

    Args:
        timed: at least one value.
        share: in (0, 1): 0.95 for the 95th percentile.
        lower, upper: bounds of a mean from the values of questions, each in [0, 1]; with the mean itself for both, the
            ends are those of these values alone, as what is not known lets them be.

    Returns:
        low: the greatest value of which, or above, more than 1 - share lies by `lower`, nothing unknown counted.
        high: the least value above which at most 1 - share lies by `upper`, everything unknown counted.
    """
    left = 1 - share
    seen = np.unique(timed.values)
    below = np.concatenate(([-np.inf], seen[:-1]))
    highest = _first(len(seen), lambda at: upper(timed.above(float(seen[at]), worst=True)) <= left + TOLERANCE)
    beyond = _first(len(seen), lambda at: lower(timed.above(float(below[at]), worst=False)) <= left + TOLERANCE)
    return Ends(
        None if beyond == 0 else float(seen[beyond - 1]), None if highest == len(seen) else float(seen[highest])
    )


def _first(size: int, holds: Callable[[int], bool]) -> int:
    """The first place at which `holds` is true, which stays true from there on; `size` if it never is."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
