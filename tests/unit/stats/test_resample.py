"""The bootstrap of a figure: the same for every seed, whole clusters, strata, and a coverage that fits."""

from __future__ import annotations

import numpy as np
import pytest

from ragassay.stats.resample import bootstrap


def mean_of(values: np.ndarray):
    return lambda weights: weights @ values / weights.sum(axis=1)


def test_the_interval_of_a_mean_is_near_the_one_of_scipy() -> None:
    from scipy.stats import bootstrap as scipy_bootstrap

    values = np.random.default_rng(3).normal(size=80)
    got = bootstrap(mean_of(values), range(80), resamples=4_000, seed=5)
    ref = scipy_bootstrap((values,), np.mean, n_resamples=4_000, method="percentile", rng=np.random.default_rng(1))
    assert got.low == pytest.approx(ref.confidence_interval.low, abs=0.02)
    assert got.high == pytest.approx(ref.confidence_interval.high, abs=0.02)
    assert (got.n, got.clusters, got.method) == (80, 80, "bootstrap_percentile")


def test_clusters_are_drawn_whole_and_strata_apart() -> None:
    seen = []

    def figure(weights: np.ndarray) -> np.ndarray:
        seen.append(weights)
        return weights[:, 0]

    bootstrap(figure, ["a", "a", "b", "c", "d"], strata=[0, 0, 0, 1, 1], resamples=200, seed=1)
    weights = np.concatenate(seen)
    assert weights.shape == (200, 5)
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights[:, 0] + weights[:, 2] == 2).all()  # two clusters of the first stratum, drawn twice
    assert (weights[:, 3] + weights[:, 4] == 2).all()
    assert set(weights[:, 0]) == {0.0, 1.0, 2.0}


def test_one_seed_one_interval() -> None:
    values = np.arange(20.0)
    first, again, other = (bootstrap(mean_of(values), range(20), seed=one) for one in (4, 4, 5))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_too_few_clusters_or_values_give_none_and_say_so() -> None:
    values = np.arange(4.0)
    assert bootstrap(mean_of(values), ["a"] * 4).reason == "fewer_than_2_clusters"
    assert bootstrap(mean_of(values), range(4), strata=[0, 0, 0, 1]).low is None
    assert bootstrap(lambda weights: np.full(len(weights), np.nan), range(4)).reason == "no_value_in_most_resamples"
    assert bootstrap(mean_of(np.zeros(0)), []).low is None
    with pytest.raises(ValueError, match="strata"):
        bootstrap(mean_of(values), range(4), strata=[0])
    with pytest.raises(ValueError, match="level"):
        bootstrap(mean_of(values), range(4), level=1.0)
