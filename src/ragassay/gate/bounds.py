"""One-sided bounds of a mean, and what a larger set of questions would show. Never a t interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.onesided import lower_bound, upper_bound

TOLERANCE = 1e-12
"""Numbers that differ by no more are equal: a verdict must not hang on the last bit."""
MOST_NEEDED = 10_000_000


class Ends(NamedTuple):
    """Bounds of a mean of which not every value is known: of the worst, and of the best that it could be."""

    low: float
    """Lower bound of the worst."""
    high: float
    """Upper bound of the best."""
    method: str
    clusters: int


def clears(value: float, threshold: float) -> bool:
    """value >= threshold, within TOLERANCE."""
    return value >= threshold - TOLERANCE


def ends_of(
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
    within: tuple[float, float],
    alpha: float,
    clusters: Sequence[Hashable],
    *,
    two_valued: bool,
) -> Ends:
    """One-sided bounds, each at `alpha`, valid at every number of questions.

    Independent values that can only lie at the two ends of the range (`two_valued`, known before anything was
    measured): exact (Clopper and Pearson). Otherwise betting (Waudby-Smith and Ramdas), over clusters where questions
    are not independent. That values happen to lie at the ends chooses nothing: a method that the values choose does not
    hold its level, and a value between the ends that went missing would turn a doubt into a pass. Needs at least one
    value.
    """
    numbers = codes(clusters)
    groups = len(set(clusters))
    both = np.concatenate((lows, highs))
    at_ends = bool(np.all((both == within[0]) | (both == within[1])))
    method = "exact" if two_valued and at_ends and groups == len(lows) else "betting"
    given = None if groups == len(lows) else numbers
    low = float(lower_bound(lows, within, alpha, clusters=given, method=method))
    high = float(upper_bound(highs, within, alpha, clusters=given, method=method))
    return Ends(low, high, method, groups)


def codes(clusters: Sequence[Hashable]) -> NDArray[np.int64]:
    """Clusters as whole numbers, in order of first appearance."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in clusters], np.int64)


def least_n(passes: Callable[[int], bool], most: int = MOST_NEEDED) -> int | None:
    """The least n for which `passes` is true, if it stays true from there on; None above `most`."""
    high = 1
    while not passes(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def best_passes_from(threshold: float, within: tuple[float, float], alpha: float, *, floor: bool) -> int | None:
    """How many independent questions a floor (or a ceiling) needs at least, if every one has the best value.

    In n of them a mean at the threshold has that with chance at most r^n, where r is the threshold's place in the
    range; so the least n with r^n <= alpha. None where no number is enough.
    """
    least, greatest = within
    place = (threshold - least) / (greatest - least)
    rest = place if floor else 1 - place
    if rest >= 1 - TOLERANCE:
        return None
    if rest <= 0:
        return 1
    return max(1, math.ceil(math.log(alpha) / math.log(rest) - 1e-9))


def scaled_n(clusters: int, reach: float, distance: float) -> int | None:
    """About how many clusters would tell `distance`, where `clusters` tell `reach`, which falls as 1/sqrt(n)."""
    if distance <= TOLERANCE:
        return None
    needed = math.ceil(clusters * (reach / distance) ** 2)
    return max(clusters + 1, needed) if needed <= MOST_NEEDED else None
