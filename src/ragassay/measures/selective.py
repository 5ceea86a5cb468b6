"""Confidence held against being right: risk by coverage, calibration, discrimination. Reads no trace and no label.

All of them look at a whole set of decisions at once; none is a mean of figures of single questions but Brier's. Equal
confidences are never parted: what depends on their order is its mean over all orders, or takes all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Curve(NamedTuple):
    """Risk by coverage: one point a confidence that occurs, from the highest down. Shapes (thresholds,)."""

    thresholds: Floats
    taken: Ints
    """Decisions with this confidence or more."""
    wrong: Ints
    """Those of them that are wrong."""


class Selected(NamedTuple):
    """The decisions above a threshold."""

    threshold: float
    taken: int
    wrong: int


class Bin(NamedTuple):
    """Decisions of nearly equal confidence."""

    low: float
    high: float
    n: int
    confidence: float
    """Mean."""
    right: int


class _Blocks(NamedTuple):
    """Decisions by confidence, highest first; equal confidences are one block."""

    order: Ints
    starts: Ints
    values: Floats

    def sums(self, weights: Floats) -> Floats:
        """(resamples, n) to (resamples, blocks)."""
        made: Floats = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        return made


def risk_coverage(confidence: ArrayLike, wrong: ArrayLike) -> Curve:
    """The risk-coverage curve of decisions (El-Yaniv and Wiener 2010): answer only from a confidence on, and count.

    Args:
        confidence: shape (n,), finite; only the order counts.
        wrong: shape (n,), 1 where the decision was wrong, else 0.
    """
    scores, bad = _pair(confidence, wrong)
    if not len(scores):
        return Curve(scores, np.zeros(0, np.int64), np.zeros(0, np.int64))
    blocks = _blocks(scores)
    sums = blocks.sums(np.stack((np.ones_like(bad), bad)))
    taken, count = np.cumsum(sums, axis=1).astype(np.int64)
    return Curve(blocks.values, taken, count)


def aurc(confidence: ArrayLike, wrong: ArrayLike, weights: Floats | None = None) -> Floats:
    """Area under the risk-coverage curve: mean over k of the share of wrong ones among the k most confident.

    Geifman, Uziel and El-Yaniv 2019. Range [0, 1], lower is better; the least that a ranking can reach depends on the
    share of wrong decisions. Ties: the mean over all orders of the tied. No decision: NaN.

    Args:
        weights: shape (resamples, n), how often each decision counts (whole numbers); absent: once.

    Returns:
        One value a resample; shape (1,) without weights.
    """
    scores, bad = _pair(confidence, wrong)
    counts = _counts(weights, len(scores))
    if not len(scores):
        return np.full(len(counts), np.nan)
    blocks = _blocks(scores)
    size, errors = blocks.sums(counts), blocks.sums(counts * bad)
    upto, before = np.cumsum(size, axis=1), np.cumsum(size, axis=1) - size
    earlier = np.cumsum(errors, axis=1) - errors
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, int(upto.max(initial=1)) + 1))))
    slope = np.divide(errors, size, out=np.zeros_like(errors), where=size > 0)
    steps = harmonic[upto.astype(np.int64)] - harmonic[before.astype(np.int64)]
    area = np.sum((earlier - slope * before) * steps + errors, axis=1)
    return _over(area, upto[:, -1])


def aurc_weights(confidence: ArrayLike, before: int = 0) -> Floats:
    """How much each decision counts in `aurc`: their mean weighted so, over those that were wrong, is that area.

    `before`: so many more decisions that are more confident than all of these. Shape (n,), each above 0; they add up to
    n where `before` is 0. They depend on the confidences alone.
    """
    scores = np.asarray(confidence, np.float64)
    n = len(scores)
    if not n:
        return np.zeros(0)
    blocks = _blocks(scores)
    size = np.diff(np.append(blocks.starts, n)).astype(np.float64)
    earlier = blocks.starts + before
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, n + before + 1))))
    steps = harmonic[earlier + size.astype(np.int64)] - harmonic[earlier]
    later = np.append(np.cumsum(steps[::-1])[::-1], 0.0)[1:]
    made = np.empty(n)
    made[blocks.order] = np.repeat(1 - earlier * steps / size + later, size.astype(np.int64))
    return made


def at_coverage(curve: Curve, wanted: int) -> Selected | None:
    """The fewest decisions from a confidence on that are at least `wanted`; None where there are not so many.

    Equal confidences stay together, so that there may be more of them than wanted.
    """
    if wanted < 1 or not len(curve.taken) or curve.taken[-1] < wanted:
        return None
    place = int(np.searchsorted(curve.taken, wanted))
    return Selected(float(curve.thresholds[place]), int(curve.taken[place]), int(curve.wrong[place]))


def risk_at(confidence: ArrayLike, wrong: ArrayLike, wanted: Ints, weights: Floats) -> Floats:
    """The risk of `at_coverage` for each row of weights; NaN where it is not reached.

    Args:
        wanted: shape (resamples,), decisions that the coverage asks for.
        weights: shape (resamples, n), how often each decision counts.
    """
    scores, bad = _pair(confidence, wrong)
    if not len(scores):
        return np.full(len(weights), np.nan)
    blocks = _blocks(scores)
    taken, errors = (np.cumsum(blocks.sums(one), axis=1) for one in (weights, weights * bad))
    reached = (taken >= wanted[:, None]) & (taken > 0)
    place = reached.argmax(axis=1)[:, None]
    found = _over(np.take_along_axis(errors, place, 1)[:, 0], np.take_along_axis(taken, place, 1)[:, 0])
    found[~reached.any(axis=1) | (wanted < 1)] = np.nan
    return found


def risk_bounds(confidence: ArrayLike, wrong: ArrayLike, wanted: int, unknown: int) -> tuple[float, float] | None:
    """The least and the greatest risk of the `wanted` most confident of all, with `unknown` more decisions.

    Each unknown one may have any confidence, and may be right or wrong; equal confidences may stand in any order.
    None where there are not so many decisions.
    """
    scores, bad = _pair(confidence, wrong)
    inside = min(unknown, wanted)
    if wanted < 1 or len(scores) + unknown < wanted:
        return None
    ends = []
    for sign in (1.0, -1.0):
        order = np.lexsort((sign * bad, -scores))
        known = np.concatenate(([0.0], np.cumsum(bad[order])))
        least = max(0, wanted - len(scores))
        ends.append([float(known[wanted - more]) + (more if sign < 0 else 0) for more in range(least, inside + 1)])
    return min(ends[0]) / wanted, max(ends[1]) / wanted


def bins_of(confidence: ArrayLike, right: ArrayLike, bins: int) -> list[Bin]:
    """Bins of nearly equally many decisions, lowest confidence first; equal confidences are in one bin.

    A block of equal confidences goes to the bin in which its middle lies, so that there may be fewer bins.
    """
    scores, good = _pair(confidence, right)
    if not len(scores):
        return []
    blocks = _blocks(-scores)
    size = blocks.sums(np.ones((1, len(scores))))[0]
    hits = blocks.sums(good[None, :])[0]
    place = _places(size[None, :], bins)[0]
    made = []
    for one in np.unique(place):
        own = place == one
        values, n = -blocks.values[own], size[own]
        mean = float(np.sum(values * n) / n.sum())
        made.append(Bin(float(values[0]), float(values[-1]), int(n.sum()), mean, int(hits[own].sum())))
    return made


def bin_places(confidence: ArrayLike, bins: int) -> Ints:
    """The bin of each decision, as in `bins_of`; shape (n,)."""
    scores = np.asarray(confidence, np.float64)
    if not len(scores):
        return np.zeros(0, np.int64)
    blocks = _blocks(-scores)
    size = np.diff(np.append(blocks.starts, len(scores)))
    made = np.empty(len(scores), np.int64)
    made[blocks.order] = np.repeat(_places(size[None, :].astype(np.float64), bins)[0], size)
    return made


def calibration_error(confidence: ArrayLike, right: ArrayLike, bins: int, weights: Floats | None = None) -> Floats:
    """Expected calibration error: the mean over decisions of |share right - mean confidence| of their bin.

    Naeini, Cooper and Hauskrecht 2015, with bins of equal mass (Nguyen and O'Connor 2015). Range [0, 1], lower is
    better. It is biased upwards, the more the fewer decisions a bin has. Ties: see `bins_of`. No decision: NaN.
    """
    scores, good = _pair(confidence, right)
    counts = _counts(weights, len(scores))
    if not len(scores):
        return np.full(len(counts), np.nan)
    blocks = _blocks(-scores)
    size, hits = blocks.sums(counts), blocks.sums(counts * good)
    gaps = hits + blocks.values * size
    place = _places(size, bins)
    total = np.zeros(len(counts))
    for one in range(bins):
        total += np.abs(np.sum(np.where(place == one, gaps, 0.0), axis=1))
    return _over(total, size.sum(axis=1))


def auroc(scores: ArrayLike, positive: ArrayLike, weights: Floats | None = None) -> Floats:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counted half.

    Hanley and McNeil 1982; the Mann-Whitney statistic over the number of pairs, so it does not depend on how many there
    are of each. Range [0, 1]; 0.5 tells nothing apart. No positive or no negative: NaN.
    """
    values, good = _pair(scores, positive)
    counts = _counts(weights, len(values))
    if not len(values):
        return np.full(len(counts), np.nan)
    blocks = _blocks(-values)
    ups, downs = blocks.sums(counts * good), blocks.sums(counts * (1 - good))
    below = np.cumsum(downs, axis=1) - downs
    return _over(np.sum(ups * (below + downs / 2), axis=1), ups.sum(axis=1) * downs.sum(axis=1))


def pass_all(passed: int, tried: int, k: int) -> float:
    """The chance that k repeats drawn from those tried all pass: C(passed, k) / C(tried, k); ValueError for k > tried.

    Unbiased for the chance that k independent repeats all pass (Yao et al. 2024, pass^k).
    """
    from math import comb

    if not 1 <= k <= tried:
        raise ValueError(f"k must lie in 1..{tried}, got {k}")
    return comb(passed, k) / comb(tried, k)


def agreement(words: Sequence[Sequence[str]]) -> float:
    """The chance that two variants, one repeat of each, have the same word; mean over all pairs of variants.

    `words`: the words of each variant's repeats, at least two variants, none empty. Range [0, 1].
    """
    pairs = [
        sum(one == other for one in mine for other in theirs) / (len(mine) * len(theirs))
        for place, mine in enumerate(words)
        for theirs in words[place + 1 :]
    ]
    return float(np.mean(pairs))


def _pair(scores: ArrayLike, marks: ArrayLike) -> tuple[Floats, Floats]:
    values, flags = np.asarray(scores, np.float64), np.asarray(marks, np.float64)
    if values.ndim != 1 or values.shape != flags.shape:
        raise ValueError(f"two rows of one length are needed, got shapes {values.shape} and {flags.shape}")
    if not np.all(np.isfinite(values)) or not np.all((flags == 0) | (flags == 1)):
        raise ValueError("confidences must be finite, and marks 0 or 1")
    return values, flags


def _counts(weights: Floats | None, n: int) -> Floats:
    return np.ones((1, n)) if weights is None else np.asarray(weights, np.float64)


def _blocks(scores: Floats) -> _Blocks:
    order = np.argsort(-scores, kind="stable")
    values = scores[order]
    starts = np.concatenate(([0], np.flatnonzero(values[1:] != values[:-1]) + 1)).astype(np.int64)
    return _Blocks(order.astype(np.int64), starts, values[starts])


def _places(size: Floats, bins: int) -> Ints:
    """The bin of each block: that of its middle."""
    middle = 2 * np.cumsum(size, axis=1) - size
    total = np.maximum(size.sum(axis=1, keepdims=True), 1)
    made: Ints = np.minimum(np.floor(bins * middle / (2 * total)), bins - 1).astype(np.int64)
    return made


def _over(top: Floats, bottom: Floats) -> Floats:
    made: Floats = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return made
