"""What people would have said of all items, from a judge on all and people on a random sample. Draws no sample.

Items are taken for independent of each other: several claims of one question make the interval too narrow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.intervals import Interval

DRAWS = 20_000
LEAST_LABELLED = 200
LEAST_APART = 10
JEFFREYS, PPI = "judge_stratified_jeffreys", "ppi++"


class Sampled(NamedTuple):
    """Items that a person and the judge both ruled on: good by both, by the judge only, by people only, by neither."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def n(self) -> int:
        """All of them."""
        return self.tp + self.fp + self.fn + self.tn


def stratified(
    good: int, bad: int, sample: Sampled, *, level: float = 0.95, seed: int = 0, draws: int = DRAWS
) -> Interval:
    """Share that people would call good: q PPV + (1 - q) FOR, each with Jeffreys' prior Beta(1/2, 1/2).

    `good`, `bad`: how many of all items the judge calls good and not. The estimate is the posterior mean, the interval
    the quantiles of the `draws`; it covers also for small samples and shares near 1, where PPI++ does not. Undefined
    without a sample, or without items.

    Raises ValueError for counts below 0.
    """
    if min(good, bad, *sample) < 0:
        raise ValueError("counts must not be below 0")
    if sample.n == 0 or good + bad == 0:
        reason = "no_sample" if sample.n == 0 else "no_items"
        return Interval(None, None, None, level, sample.n, sample.n, JEFFREYS, reason)
    share, right, missed = (
        _beta(*pair, seed, stream, draws)
        for stream, pair in enumerate(((good, bad), (sample.tp, sample.fp), (sample.fn, sample.tn)))
    )
    made = np.sort(share * right + (1 - share) * missed)
    tail = (1 - level) / 2
    low, high = made[math.floor(tail * (draws - 1))], made[math.ceil((1 - tail) * (draws - 1))]
    q = _mean(good, bad)
    estimate = q * _mean(sample.tp, sample.fp) + (1 - q) * _mean(sample.fn, sample.tn)
    return Interval(estimate, float(low), float(high), level, sample.n, sample.n, JEFFREYS)


def ppi(good: int, bad: int, sample: Sampled, *, level: float = 0.95) -> Interval | None:
    """The same by prediction-powered inference with a tuned weight (PPI++); None outside of its safe region.

    That is 200 items or more by people, with 10 or more in each of the two ways to disagree: below, its 95 % intervals
    were seen to cover between 30 and 90 %. `good` and `bad` count all items, the sample among them.
    Source: Angelopoulos, Duchi and Zrnic 2023.
    """
    if sample.n < LEAST_LABELLED or min(sample.fp, sample.fn) < LEAST_APART:
        return None
    from scipy.special import ndtri

    n, rest = sample.n, good + bad - sample.n
    if rest <= 0:
        return None
    people, judge = (sample.tp + sample.fn) / n, (sample.tp + sample.fp) / n
    others = (good - sample.tp - sample.fp) / rest
    together = sample.tp / n - people * judge
    spread = judge * (1 - judge)
    weight = together / (spread * (1 + n / rest)) if spread > 0 else 0.0
    estimate = weight * others + people - weight * judge
    left = people * (1 - people) - 2 * weight * together + weight * weight * spread
    error = math.sqrt(max(0.0, weight * weight * others * (1 - others) / rest + left / n))
    half = float(ndtri(0.5 + level / 2)) * error
    return Interval(estimate, max(0.0, estimate - half), min(1.0, estimate + half), level, n, n, PPI)


def _mean(good: int, bad: int) -> float:
    return (good + 0.5) / (good + bad + 1)


def _beta(good: int, bad: int, seed: int, stream: int, draws: int) -> NDArray[np.float64]:
    """Draws of Beta(good + 1/2, bad + 1/2) by its quantiles of raw words of PCG64; each stream has words of its own."""
    from scipy.special import betaincinv

    words = np.random.PCG64(seed).advance(stream * draws).random_raw(draws)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    found: NDArray[np.float64] = betaincinv(good + 0.5, bad + 0.5, uniform)
    return found
