"""Quantiles of times of which some were cut short: Kaplan-Meier. Averages nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

TOLERANCE = 1e-12


def quantile(ended: Sequence[float], censored: Sequence[float], share: float) -> float | None:
    """The least time by which `share` of all have ended; None if the times that were given up hide it.

    `ended`: times that ended, shape (n,). `censored`: times after which something was given up, shape (m,); at equal
    times those that ended came first. Without censored times it is the least value with at least `share` of all
    values at or below it (the inverse of the empirical distribution). Kaplan and Meier 1958.
    """
    deaths = Counter(ended)
    gone = sorted(censored)
    risk, alive, left = len(ended) + len(gone), 1.0, 0
    for time in sorted(deaths):
        while left < len(gone) and gone[left] < time:
            left += 1
            risk -= 1
        alive *= (risk - deaths[time]) / risk
        risk -= deaths[time]
        if alive <= 1 - share + TOLERANCE:
            return time
    return None
