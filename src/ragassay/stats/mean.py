"""The mean, exactly rounded; it leaves nothing out and fills nothing in."""

from __future__ import annotations

import math
from collections.abc import Iterable


def mean(values: Iterable[float]) -> float | None:
    """Sum by `math.fsum` over the count, the same in any order; None for no values.

    A value that is not finite is a ValueError: what has no score may not enter a mean.
    """
    numbers = [*map(float, values)]
    total = math.fsum(numbers)
    if not math.isfinite(total):
        raise ValueError("a mean of values that are not all finite")
    return total / len(numbers) if numbers else None
