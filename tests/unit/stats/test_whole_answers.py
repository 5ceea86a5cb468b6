"""Intervals as a whole: counts, level, method and reason too, and PPI++ against arrays instead of counts."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import beta

from ragassay.stats.agreement import ac1, kappa
from ragassay.stats.corrected import Sampled, ppi, stratified
from ragassay.stats.intervals import Interval
from ragassay.stats.paired import newcombe


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [
        (700, 500, Sampled(120, 15, 25, 60)),
        (300, 900, Sampled(30, 40, 11, 150)),
        (5_000, 300, Sampled(230, 10, 31, 19)),
    ],
)
def test_ppi_against_arrays(good: int, bad: int, sample: Sampled, level: float) -> None:
    """The weight from numpy's covariances; the estimate and its error as means and variances of the rulings."""
    people = np.repeat([1.0, 0.0, 1.0, 0.0], sample)
    judge = np.repeat([1.0, 1.0, 0.0, 0.0], sample)
    unseen = np.repeat([1.0, 0.0], [good - sample.tp - sample.fp, bad - sample.fn - sample.tn])
    n, rest = len(people), len(unseen)
    weight = np.cov(people, judge, bias=True)[0, 1] / (judge.var() * (1 + n / rest))
    estimate = weight * unseen.mean() + np.mean(people - weight * judge)
    error = math.sqrt(weight**2 * unseen.var() / rest + np.var(people - weight * judge) / n)
    half = NormalDist().inv_cdf(0.5 + level / 2) * error
    found = ppi(good, bad, sample, level=level)
    assert found[:3] == pytest.approx((estimate, max(0.0, estimate - half), min(1.0, estimate + half)), abs=1e-12)
    assert found[3:] == (level, n, n, "ppi++", "")


def test_ppi_stays_within_0_and_1() -> None:
    assert ppi(2_000, 100, Sampled(180, 10, 10, 0), level=0.9999).high == 1.0
    assert ppi(100, 2_000, Sampled(0, 10, 10, 180), level=0.9999).low == 0.0
    assert ppi(1_000, 300, Sampled(10, 10, 10, 170)) is not None, "ten of each are enough"


def test_stratified_as_a_whole() -> None:
    found = stratified(50, 30, Sampled(10, 2, 3, 8), level=0.9)
    assert found[3:] == (0.9, 23, 23, "judge_stratified_jeffreys", "")
    empty = (None, None, None, 0.9)
    assert stratified(5, 3, Sampled(0, 0, 0, 0), level=0.9) == (*empty, 0, 0, "judge_stratified_jeffreys", "no_sample")
    assert stratified(0, 0, Sampled(1, 0, 0, 1), level=0.9) == (*empty, 2, 2, "judge_stratified_jeffreys", "no_items")
    for counts in ((-1, 3, Sampled(1, 1, 1, 1)), (3, -1, Sampled(1, 1, 1, 1)), (3, 3, Sampled(1, 1, 1, -1))):
        with pytest.raises(ValueError, match="below 0"):
            stratified(*counts)
    assert stratified(50, 30, Sampled(10, 2, 3, 8)) == stratified(50, 30, Sampled(10, 2, 3, 8), seed=0)
    assert stratified(50, 30, Sampled(10, 2, 3, 8)) != stratified(50, 30, Sampled(10, 2, 3, 8), seed=1)


@pytest.mark.parametrize("draws", [40, 41])
def test_the_ends_of_stratified_are_draws(draws: int) -> None:
    """Of 40 or 41 sorted draws those at 1/8 and 7/8, outwards; three streams of words, one after the other."""
    words = np.random.PCG64(7).random_raw(3 * draws).reshape(3, draws)
    share, right, missed = (
        beta(good + 0.5, bad + 0.5).ppf(((row >> np.uint64(11)) + 0.5) / 2.0**53)
        for row, (good, bad) in zip(words, [(50, 30), (10, 2), (3, 8)], strict=True)
    )
    made = sorted(share * right + (1 - share) * missed)
    found = stratified(50, 30, Sampled(10, 2, 3, 8), level=0.75, seed=7, draws=draws)
    assert (found.low, found.high) == pytest.approx((made[4 if draws == 40 else 5], made[35]), abs=1e-12)
    q, ppv, missing = 50.5 / 81, 10.5 / 13, 3.5 / 12
    assert found.estimate == pytest.approx(q * ppv + (1 - q) * missing, abs=1e-12)


def test_ppi_needs_an_item_that_people_have_not_seen() -> None:
    sample = Sampled(100, 20, 30, 50)
    assert ppi(120, 80, sample) is None
    found = ppi(121, 80, sample)
    assert found is not None
    assert found.n == 200


def test_newcombe_as_a_whole() -> None:
    assert newcombe(0, 0, 0, 0, 0.9) == Interval(None, None, None, 0.9, 0, 0, "newcombe", "no_pairs")
    assert newcombe(20, 6, 2, 8, 0.9)[3:] == (0.9, 36, 36, "newcombe", "")
    for at in range(4):
        with pytest.raises(ValueError, match="-1"):
            newcombe(*(-1 if place == at else 3 for place in range(4)))


@pytest.mark.parametrize("figure", [kappa, ac1])
def test_no_pairs_as_a_whole(figure: object) -> None:
    value, interval = figure([], [], level=0.9)
    assert value is None
    assert interval == Interval(None, None, None, 0.9, 0, 0, "bootstrap_percentile", "no_pairs")


def test_the_level_of_agreement_reaches_its_interval() -> None:
    pairs = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "a"), ("a", "a"), ("b", "b")] * 4
    wide, narrow = (kappa(pairs, range(len(pairs)), level=level).interval for level in (0.99, 0.6))
    assert (wide.level, narrow.level) == (0.99, 0.6)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_the_seed_of_agreement_reaches_its_interval() -> None:
    pairs = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "a"), ("a", "a"), ("b", "b")] * 4
    first, again, other = (kappa(pairs, range(len(pairs)), seed=seed).interval for seed in (0, 0, 5))
    assert first == again == kappa(pairs, range(len(pairs))).interval
    assert first != other
