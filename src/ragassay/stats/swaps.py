"""Paired randomisation tests of figures of a set: swap the arms of whole units by chance. Knows no figure.

The signs are those of `ragassay.stats.shared_flips` under the same seed, so that tests of one comparison belong
together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.shared_flips import Flips, flipped_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CELLS = 40_000_000
"""So many rows times swaps are worth their time; never fewer swaps than 1,000."""
_AT_ONCE = 1 << 21
_EQUAL = 1e-12


class Arms(NamedTuple):
    """Rows of both arms one after the other; arrays of shape (rows,)."""

    unit: Ints
    """What is swapped as one: the same number in both arms."""
    candidate: NDArray[np.bool_]


def swap_test(
    difference: Callable[[Floats], Floats],
    arms: Arms,
    differs: Ints,
    *,
    seed: int,
    units: int,
    swaps: int = 10_000,
    exact_up_to: int = 16,
) -> Flips | None:
    """Two-sided: how often is |difference| at least as large as it was seen, if the arms of each unit are exchangeable?

    Fisher's randomisation, with the figure itself as the statistic; for areas under ROC curves Bandos, Rockette and Gur
    2005. A swap under which the figure has no value counts as one at least as large.

    Args:
        difference: for weights of shape (k, rows), 1 where a row is the candidate's and 0 where it is the baseline's,
            the figure of the candidate less that of the baseline, shape (k,); NaN where either has none.
        differs: numbers of the units whose rows are not the same in both arms: the others change nothing.
        units: how many numbers of units there are.
        swaps: random ones, where more than `exact_up_to` units differ; fewer than that where there are very many rows.

    Returns:
        None where the figure has no value as it was seen. p is 1 where no unit differs.
    """
    rows = len(arms.unit)
    seen = float(difference(arms.candidate[None, :].astype(np.float64))[0]) if rows else float("nan")
    if np.isnan(seen):
        return None
    many = len(differs)
    exact = many <= exact_up_to
    total = 1 << many if exact else min(swaps, max(1_000, CELLS // rows))
    step = max(1, _AT_ONCE // rows)
    count = 0
    for low in range(0, total, step):
        high = min(low + step, total)
        if exact:
            bits = np.zeros((high - low, units))
            bits[:, differs] = (np.arange(low, high)[:, None] >> np.arange(many)[None, :]) & 1
        else:
            bits = flipped_units(units, low, high, seed).T
        found = difference(np.where(arms.candidate, 1.0 - bits[:, arms.unit], bits[:, arms.unit]))
        count += int(np.count_nonzero(np.isnan(found) | (np.abs(found) >= abs(seen) - _EQUAL)))
    if exact:
        return Flips(count / total, min(1.0, 2.0 / total), True, total)
    return Flips((count + 1) / (total + 1), 1.0 / (total + 1), False, total)
