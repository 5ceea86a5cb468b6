"""Intervals against scipy, statsmodels' published formulas by hand, and coverage of known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ragassay.stats import clopper_pearson, mean, mean_interval, ratio_interval, wilson

numbers = st.lists(st.floats(-100, 100), min_size=2, max_size=30)


@given(numbers, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_mean_interval_is_students_t(values: list[float], level: float) -> None:
    found = mean_interval(values, level=level)
    assert found.estimate == pytest.approx(float(np.mean(values)), abs=1e-9)
    error = scipy.stats.sem(values)
    if error > 1e-6:
        low, high = scipy.stats.t.interval(level, len(values) - 1, np.mean(values), error)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def test_equal_clusters_are_t_on_cluster_means() -> None:
    values = [0.1, 0.3, 0.5, 0.5, 0.9, 0.7, 0.2, 0.0]
    clusters = ["a", "a", "b", "b", "c", "c", "d", "d"]
    means = np.array(values).reshape(4, 2).mean(axis=1)
    expected = scipy.stats.t.interval(0.95, 3, means.mean(), scipy.stats.sem(means))
    found = mean_interval(values, clusters)
    assert (found.low, found.high) == pytest.approx(expected)
    assert (found.n, found.clusters) == (8, 4)


def test_unequal_clusters_keep_the_mean_of_all_values() -> None:
    # Sums of deviations from .5: a = +.5 (one value), b = -.5 (three values: 1, 0, 0 -> -.5)
    found = mean_interval([1.0, 1.0, 0.0, 0.0], ["a", "b", "b", "b"])
    error = math.sqrt(2 / 1 * (0.5**2 + 0.5**2)) / 4
    assert found.estimate == 0.5
    assert found.high == pytest.approx(0.5 + scipy.stats.t.ppf(0.975, 1) * error)


def test_too_little_is_undefined_and_never_a_certainty() -> None:
    assert mean_interval([]).reason == "no_values"
    assert mean_interval([]).estimate is None
    one = mean_interval([0.5])
    assert (one.estimate, one.low, one.high, one.reason) == (0.5, None, None, "fewer_than_2_clusters")
    assert mean_interval([1, 0, 1], ["a", "a", "a"]).low is None
    assert ratio_interval([0, 0], [0, 0]).estimate is None
    assert mean_interval([0.5, 0.5]).reason == "no_variance"
    assert wilson(0, 0).low is None
    assert clopper_pearson(0, 0).high is None


def test_all_values_at_one_end_keep_a_width() -> None:
    perfect = mean_interval([1.0] * 10, within=(0, 1))
    assert (perfect.low, perfect.high) == pytest.approx((0.05 ** (1 / 10), 1.0))
    nothing = mean_interval([0.0] * 10, within=(0, 1))
    assert (nothing.low, nothing.high) == pytest.approx((0.0, 1 - 0.05 ** (1 / 10)))
    cut = mean_interval([0.0, 1.0, 1.0], within=(0, 1))
    assert (cut.low, cut.high) == (0.0, 1.0)


def test_ratio_interval_by_hand() -> None:
    # 3 of 4, 1 of 4: ratio .5, residual sums +1 and -1.
    found = ratio_interval([3, 1], [4, 4])
    error = math.sqrt(2 * (1 + 1)) / 8
    assert found.estimate == 0.5
    assert found.low == pytest.approx(0.5 - scipy.stats.t.ppf(0.975, 1) * error)


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.9, 0.95, 0.99]))
def test_proportions_equal_scipy(successes: int, trials: int, level: float) -> None:
    successes = min(successes, trials)
    test = scipy.stats.binomtest(successes, trials)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        found, theirs = ours(successes, trials, level), test.proportion_ci(level, method)
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_zero_leaks_bound() -> None:
    assert clopper_pearson(0, 300, 0.90).high == pytest.approx(1 - 0.05 ** (1 / 300))


def test_bad_input() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            mean_interval([0.5, bad])
        with pytest.raises(ValueError, match="finite"):
            mean([bad])
    with pytest.raises(ValueError, match="level"):
        mean_interval([1, 2], level=1)
    with pytest.raises(ValueError, match="clusters"):
        mean_interval([1, 2], ["a"])
    with pytest.raises(ValueError, match=r"0\.\.trials"):
        wilson(3, 2)


@given(st.lists(st.floats(0, 1), min_size=1).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_mean_does_not_depend_on_order(pair: tuple[list[float], list[float]]) -> None:
    assert mean(pair[0]) == mean(pair[1])
    assert mean([]) is None
