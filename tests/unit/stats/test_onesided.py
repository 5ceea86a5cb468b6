"""Bounds for gates: against scipy, the capital multiplied out by hand, and coverage counted over every outcome."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from ragassay.stats.onesided import lower_bound, lower_bounds, upper_bound, upper_bounds

UNIT = (0.0, 1.0)
values_in_unit = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=40)
alphas = st.floats(0.001, 0.5)


@pytest.mark.parametrize("highs", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.4])
def test_exact_is_that_of_scipy(highs: int, alpha: float) -> None:
    values = [1.0] * highs + [0.0] * (20 - highs)
    low = binomtest(highs, 20, alternative="greater").proportion_ci(1 - alpha, method="exact").low
    high = binomtest(highs, 20, alternative="less").proportion_ci(1 - alpha, method="exact").high
    assert lower_bound(values, UNIT, alpha, method="exact") == pytest.approx(low, abs=1e-10)
    assert upper_bound(values, UNIT, alpha, method="exact") == pytest.approx(high, abs=1e-10)
    twice = [2 * value - 1 for value in values]
    assert lower_bound(twice, (-1, 1), alpha, method="exact") == pytest.approx(2 * low - 1, abs=1e-10)


def test_no_leak_in_300_and_in_3000_questions() -> None:
    """The published rule 1 - 0.05^(1/n)."""
    assert upper_bound([0.0] * 300, UNIT, 0.05, method="exact") == pytest.approx(1 - 0.05 ** (1 / 300))
    assert upper_bound([0.0] * 3000, UNIT, 0.05, method="exact") == pytest.approx(0.000998, abs=1e-6)


def test_one_question_by_hand() -> None:
    """One unit has the one stake 1/2: 1/2 + 1/2 * 0.7 / m = 20."""
    assert lower_bound([0.7], UNIT, 0.05) == pytest.approx(0.35 / 19.5)
    assert lower_bound([0.7] * 9, UNIT, 0.05, clusters=[4] * 9) == pytest.approx(0.35 / 19.5)


def test_two_questions_by_hand() -> None:
    """Stakes 2/3 (and none below 1/sqrt 2): (1/3 + 2/3 * 0.3/m)(1/3 + 2/3 * 0.9/m) = 20, a quadratic in 1/m."""
    root = max(np.roots([0.2 * 0.6, (0.2 + 0.6) / 3, 1 / 9 - 20]))
    assert lower_bound([0.9, 0.3], UNIT, 0.05) == pytest.approx(1 / root)


def capital(mean: float, sums: list[float], sizes: list[int]) -> float:
    """K(m) of the module's docstring, multiplied out for range [0, 1]."""
    count, largest = len(sums), max(sizes)
    lowest = 1 / math.sqrt(sum((size / largest) ** 2 for size in sizes))
    stakes = [count / (count + 1)]
    while stakes[-1] > lowest * (1 + 1e-9):
        stakes.append(stakes[-1] / 2)
    made = [
        math.prod(1 + c * (total - mean * size) / (mean * largest) for total, size in zip(sums, sizes, strict=True))
        for c in stakes
    ]
    weights = [math.exp(-((math.log(c / lowest / 8) / 1.2) ** 2) / 2) for c in stakes]
    return sum(weight * one for weight, one in zip(weights, made, strict=True)) / sum(weights)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(1, 4)), min_size=1, max_size=20), alphas)
def test_the_capital_at_the_bound_is_one_over_alpha(groups: list[tuple[float, int]], alpha: float) -> None:
    values = [value for value, size in groups for _ in range(size)]
    clusters = [at for at, (_, size) in enumerate(groups) for _ in range(size)]
    bound = lower_bound(values, UNIT, alpha, clusters)
    sums, sizes = [value * size for value, size in groups], [size for _, size in groups]
    assert capital(bound, sums, sizes) == pytest.approx(1 / alpha, rel=1e-8)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), min_size=1, max_size=7),
    st.sampled_from([0.01, 0.05, 0.2, 0.4]),
)
def test_coverage_over_every_outcome_of_unlike_clusters(groups: list[tuple[float, int]], alpha: float) -> None:
    """Each cluster answers all of its questions or none, with its own chance: the worst case, counted exactly."""
    sizes = np.array([size for _, size in groups])
    clusters = np.repeat(np.arange(len(groups)), sizes)
    target = sum(chance * size for chance, size in groups) / sizes.sum()
    outcomes = np.array(list(itertools.product([0.0, 1.0], repeat=len(groups))))
    chances = np.array([chance for chance, _ in groups])
    weight = np.where(outcomes == 1, chances, 1 - chances).prod(axis=1)
    table = np.repeat(outcomes, sizes, axis=1)
    above = lower_bounds(table, UNIT, alpha, clusters) > target + 1e-12
    below = upper_bounds(table, UNIT, alpha, clusters) < target - 1e-12
    assert weight[above].sum() <= alpha
    assert weight[below].sum() <= alpha


@given(values_in_unit, alphas, st.randoms(use_true_random=False))
def test_order_plays_no_part(values: list[float], alpha: float, random: object) -> None:
    clusters = [at // 3 for at in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = [values[at] for at in order]
    assert lower_bound(moved, UNIT, alpha) == lower_bound(values, UNIT, alpha)
    renamed = [f"c{clusters[at]}" for at in order]
    assert lower_bound(moved, UNIT, alpha, renamed) == lower_bound(values, UNIT, alpha, clusters)


def test_order_plays_no_part_to_the_last_bit() -> None:
    """1,000 draws with clusters of unlike sizes: thirds do not add up to the same in every order."""
    rng = np.random.default_rng(1)
    for _ in range(1000):
        values, clusters = rng.random(14), np.arange(14) // 3
        order = rng.permutation(14)
        assert lower_bound(values[order], UNIT, 0.1, clusters[order].tolist()) == lower_bound(
            values, UNIT, 0.1, clusters.tolist()
        )


@given(values_in_unit, alphas, st.integers(1, 4))
def test_between_the_end_of_the_range_and_the_mean(values: list[float], alpha: float, size: int) -> None:
    clusters = [at // size for at in range(len(values))]
    mean = math.fsum(values) / len(values)
    assert 0 <= lower_bound(values, UNIT, alpha, clusters) <= mean + 1e-12
    assert mean - 1e-12 <= upper_bound(values, UNIT, alpha, clusters) <= 1


@given(values_in_unit, alphas, st.integers(1, 4), st.integers(0, 39), st.floats(0, 1))
def test_rises_with_every_value(values: list[float], alpha: float, size: int, place: int, by: float) -> None:
    clusters = [at // size for at in range(len(values))]
    more = list(values)
    more[place % len(values)] += by * (1 - more[place % len(values)])
    assert lower_bound(more, UNIT, alpha, clusters) >= lower_bound(values, UNIT, alpha, clusters) - 1e-12
    assert upper_bound(more, UNIT, alpha, clusters) >= upper_bound(values, UNIT, alpha, clusters) - 1e-12


@given(values_in_unit, alphas, alphas, st.integers(1, 4))
def test_rises_with_alpha(values: list[float], one: float, other: float, size: int) -> None:
    clusters = [at // size for at in range(len(values))]
    low, high = sorted((one, other))
    assert lower_bound(values, UNIT, low, clusters) <= lower_bound(values, UNIT, high, clusters) + 1e-12
    ends = [float(value > 0.5) for value in values]
    assert lower_bound(ends, UNIT, low, method="exact") <= lower_bound(ends, UNIT, high, method="exact")


@given(values_in_unit, alphas, st.floats(-50, 50), st.floats(0.1, 100))
def test_moves_with_the_range(values: list[float], alpha: float, shift: float, scale: float) -> None:
    moved = [min(max(shift + scale * value, shift), shift + scale) for value in values]
    expected = shift + scale * lower_bound(values, UNIT, alpha)
    assert lower_bound(moved, (shift, shift + scale), alpha) == pytest.approx(expected, abs=1e-9 * (scale + abs(shift)))


@given(values_in_unit, alphas, st.integers(2, 5))
def test_copies_in_a_cluster_never_tighten(values: list[float], alpha: float, copies: int) -> None:
    many = values * copies
    clusters = list(range(len(values))) * copies
    alone = lower_bound(values, UNIT, alpha)
    assert lower_bound(many, UNIT, alpha, clusters) == pytest.approx(alone, abs=1e-12)


@given(values_in_unit, alphas)
def test_upper_is_the_mirror_and_rows_are_alone(values: list[float], alpha: float) -> None:
    mirrored = [1 - value for value in values]
    assert upper_bound(values, UNIT, alpha) == pytest.approx(1 - lower_bound(mirrored, UNIT, alpha), abs=1e-9)
    both = lower_bounds([values, mirrored], UNIT, alpha)
    assert both.tolist() == [lower_bound(values, UNIT, alpha), lower_bound(mirrored, UNIT, alpha)]


def test_all_at_an_end() -> None:
    assert lower_bound([0.0] * 8, UNIT, 0.05) == 0
    assert upper_bound([1.0] * 8, UNIT, 0.05) == 1
    assert upper_bound([0.0] * 8, UNIT, 0.05) < 1
    assert lower_bounds(np.zeros((0, 3)), UNIT, 0.05).shape == (0,)


def test_seven_thousand_and_extremes_are_finite() -> None:
    rng = np.random.default_rng(7)
    values = np.clip(rng.normal(0, 0.25, 7000), -1, 1)
    clusters = rng.integers(0, 3000, 7000)
    plain, grouped = lower_bound(values, (-1, 1), 0.05), lower_bound(values, (-1, 1), 0.05, clusters)
    assert all(values.mean() - 0.02 < bound < values.mean() for bound in (plain, grouped))
    assert 0 < lower_bound([1e-290, 1.0], UNIT, 1e-290) < 1e-280
    assert 0.99 < lower_bound([1.0] * 7000, UNIT, 1e-9) < 1
    assert lower_bound([1e-250], UNIT, 0.05) == 0


@pytest.mark.parametrize(
    "change, told",
    [
        ({"values": []}, "no values"),
        ({"values": [0.5, 1.5]}, "got 1.5"),
        ({"values": [0.5, float("nan")]}, "got nan"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"within": (1.0, 0.0)}, "within"),
        ({"within": (0.0, math.inf)}, "within"),
        ({"clusters": [1]}, "2 values, but 1 clusters"),
        ({"method": "t"}, "betting"),
        ({"method": "exact"}, "only"),
        ({"values": [0.0, 1.0], "method": "exact", "clusters": [1, 1]}, "independent"),
    ],
)
def test_what_is_refused(change: dict[str, object], told: str) -> None:
    given_: dict[str, object] = {"values": [0.5, 0.25], "within": UNIT, "alpha": 0.05}
    with pytest.raises(ValueError, match=told):
        lower_bound(**{**given_, **change})  # type: ignore[arg-type]


def test_a_value_may_lie_outside_by_rounding_alone() -> None:
    assert lower_bound([0.1 + 0.2 + 0.7 + 1e-12, 0.5], UNIT, 0.05) == lower_bound([1.0, 0.5], UNIT, 0.05)
    with pytest.raises(ValueError, match="whole range"):
        lower_bound([1.000001, 0.5], UNIT, 0.05)


def test_a_table_has_two_dimensions() -> None:
    with pytest.raises(ValueError, match="rows"):
        lower_bounds([0.5], UNIT, 0.05)
