"""Intervals against scipy, statsmodels' published formulas by hand, and coverage of known truths."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ragassay.stats import Interval, clopper_pearson, mean, mean_interval, ratio_interval, wilson

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
    nothing = (None, None, None)
    assert mean_interval([]) == Interval(*nothing, 0.95, 0, 0, "student_t", "no_values")
    assert ratio_interval([0, 0], [0, 0], level=0.9) == Interval(*nothing, 0.9, 2, 2, "student_t", "no_values")
    one = Interval(0.5, None, None, 0.8, 1, 1, "student_t", "fewer_than_2_clusters")
    assert mean_interval([0.5], level=0.8) == one
    assert mean_interval([1, 0, 1], ["a", "a", "a"]).low is None
    assert mean_interval([0.5, 0.5]) == Interval(0.5, 0.5, 0.5, 0.95, 2, 2, "student_t", "no_variance")
    assert wilson(0, 0, 0.9) == Interval(*nothing, 0.9, 0, 0, "wilson", "no_trials")
    assert clopper_pearson(0, 0, 0.9) == Interval(*nothing, 0.9, 0, 0, "clopper_pearson", "no_trials")


def test_an_interval_says_what_it_is() -> None:
    found = mean_interval([0.0, 0.2, 0.4], level=0.9)
    # s = 0.2, so the error is 0.2 / sqrt(3); less than 1, and yet a variance
    assert found.low == pytest.approx(0.2 - scipy.stats.t.ppf(0.95, 2) * 0.2 / math.sqrt(3))
    assert (*found[:1], *found[3:]) == (pytest.approx(0.2), 0.9, 3, 3, "student_t", "")
    for interval, method in ((wilson, "wilson"), (clopper_pearson, "clopper_pearson")):
        part = interval(3, 12, 0.9)
        assert (part.estimate, *part[3:]) == (0.25, 0.9, 12, 12, method, "")


def test_no_success_begins_at_zero_and_nothing_but_success_ends_at_one() -> None:
    for trials in range(1, 200):
        for interval in (wilson, clopper_pearson):
            assert interval(0, trials).low == 0.0 < interval(0, trials).high < 1.0
            assert interval(trials, trials).high == 1.0 > interval(trials, trials).low > 0.0


def test_all_values_at_one_end_keep_a_width() -> None:
    perfect = mean_interval([1.0] * 10, within=(0, 1))
    assert (perfect.low, perfect.high) == pytest.approx((0.05 ** (1 / 10), 1.0))
    nothing = mean_interval([0.0] * 10, within=(0, 1))
    assert (nothing.low, nothing.high) == pytest.approx((0.0, 1 - 0.05 ** (1 / 10)))
    cut = mean_interval([0.0, 1.0, 1.0], within=(0, 1))
    assert (cut.low, cut.high, cut.method) == (0.0, 1.0, "student_t")


def test_the_ends_of_any_range_count() -> None:
    # All values at 3 in [-1, 3]: a mean m has that with chance at most ((m + 1) / 4)^G, so low = -1 + 4 * 0.05^(1/G).
    found = mean_interval([3.0] * 6, ["a", "a", "b", "b", "c", "c"], within=(-1, 3))
    assert found == Interval(3.0, pytest.approx(-1 + 4 * 0.05 ** (1 / 3)), 3, 0.95, 6, 3, "exact_at_end", "")
    low = mean_interval([-1.0] * 4, level=0.9, within=(-1, 3))
    assert low == Interval(-1.0, -1, pytest.approx(3 - 4 * 0.1 ** (1 / 4)), 0.9, 4, 4, "exact_at_end", "")
    # As a ratio: 2 of 2 and 6 of 6 are all 1, whatever the sizes; 1 of 2 and 3 of 6 lie within.
    assert ratio_interval([2, 6], [2, 6], within=(0, 1)).method == "exact_at_end"
    inner = ratio_interval([1, 3.5], [2, 6], within=(0, 1))
    assert inner.method == "student_t"
    cut = mean_interval([0.0, 3.0, 2.0], within=(-1, 3))
    assert cut.high == 3


def test_clusters_of_a_ratio_are_summed_first() -> None:
    # a: 1 of 4 and 3 of 4, b: 1 of 2 and 1 of 2; ratio 6 / 12; residuals a: 4 - .5 * 8 = 0, b: 2 - .5 * 4 = 0
    found = ratio_interval([1, 3, 1, 1], [4, 4, 2, 2], ["a", "a", "b", "b"])
    assert found == Interval(0.5, 0.5, 0.5, 0.95, 4, 2, "student_t", "no_variance")


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


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: mean_interval([0.5, math.nan]), "an interval over values that are not all finite"),
        (lambda: mean_interval([0.5, math.inf]), "an interval over values that are not all finite"),
        (lambda: ratio_interval([1.0], [math.inf]), "an interval over values that are not all finite"),
        (lambda: mean([math.nan]), "a mean of values that are not all finite"),
        (lambda: mean([math.inf]), "a mean of values that are not all finite"),
        (lambda: mean_interval([1, 2], level=1), "level must lie between 0 and 1, got 1"),
        (lambda: mean_interval([1, 2], level=0), "level must lie between 0 and 1, got 0"),
        (lambda: wilson(1, 2, 1.5), "level must lie between 0 and 1, got 1.5"),
        (lambda: clopper_pearson(1, 2, 0), "level must lie between 0 and 1, got 0"),
        (lambda: mean_interval([1, 2], ["a"]), "2 values, but 1 clusters"),
        (lambda: ratio_interval([1, 2], [1, 2, 3]), "2 values, but 3 denominators"),
        (lambda: wilson(3, 2), "successes must lie in 0..trials, got 3 of 2"),
        (lambda: clopper_pearson(-1, 2), "successes must lie in 0..trials, got -1 of 2"),
    ],
)
def test_bad_input(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


@given(st.lists(st.floats(0, 1), min_size=1).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_mean_does_not_depend_on_order(pair: tuple[list[float], list[float]]) -> None:
    assert mean(pair[0]) == mean(pair[1])
    assert mean([]) is None
