"""Where a t interval may be believed: by hand, its invariances, and the kinds of data that it must warn of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.stats import mean_interval
from ragassay.stats.region import in_region, inside, paired_interval, region_numbers, region_of

BOTH = (-1.0, 1.0)
rows = st.lists(st.tuples(st.floats(-1, 1, width=32), st.integers(0, 30)), min_size=2, max_size=60)


def test_by_hand() -> None:
    """64 halves up and down: all 64 carry it; no skew; error sqrt(64/63 * 64 * (1/128)^2); 1.0 away at most."""
    found = in_region([0.5, -0.5] * 32, within=BOTH)
    error = math.sqrt(64 / 63 * 64) / 128
    assert found[:2] == (True, "")
    assert (found.clusters, found.carry, found.skew) == pytest.approx((64, 64, 0))
    assert found.hidden == pytest.approx(1 / 64 / error)


def test_skew_by_hand() -> None:
    """One in five at 1, others 0: skewness (1 - 2p) / sqrt(p (1 - p)) = 1.5, over the root of 100."""
    found = in_region([1.0, 0, 0, 0, 0] * 20, within=(0, 1))
    assert found.skew == pytest.approx(0.15)
    assert found.carry == pytest.approx(100 / (1 / 0.16 - 3))
    assert found.inside


@pytest.mark.parametrize(
    "values, clusters, within, reason",
    [
        ([0.5, -0.5] * 32, None, None, "no_range"),
        ([0.5, -0.5] * 9, None, BOTH, "few_clusters"),
        ([0.5, -0.5] * 32, [at // 8 for at in range(64)], BOTH, "few_clusters"),
        ([0.5, -0.5] * 50, [0] * 60 + list(range(1, 41)), BOTH, "few_clusters"),
        ([0.0] * 64, None, BOTH, "no_variance"),
        ([0.3] * 64, None, BOTH, "no_variance"),
        ([0.5, -0.5] * 3 + [0.0] * 200, None, BOTH, "few_carry_it"),
        ([-1.0] * 12 + [0.0] * 500, None, BOTH, "skewed"),
        ([0.01, -0.01] * 100, None, BOTH, "rare_could_hide"),
        ([], None, BOTH, "few_clusters"),
        ([], None, None, "no_range"),
    ],
)
def test_why_it_is_outside(
    values: list[float], clusters: list[int] | None, within: tuple[float, float] | None, reason: str
) -> None:
    found = in_region(values, clusters, within)
    assert (found.inside, found.reason) == (False, reason)


def test_no_values_as_a_whole() -> None:
    assert in_region([]) == (False, "no_range", 0.0, 0.0, 0.0, math.inf)
    assert in_region([], [], BOTH) == (False, "few_clusters", 0.0, 0.0, 0.0, math.inf)


def test_a_rare_loss_that_was_not_drawn_is_warned_of() -> None:
    """30 questions of which one in twenty loses all: where none was drawn, the spread tells nothing of it."""
    rng = np.random.default_rng(2)
    quiet = rng.normal(0, 0.05, 30).tolist()
    assert in_region(quiet, within=BOTH).reason == "rare_could_hide"


@given(rows, st.randoms(use_true_random=False))
def test_order_plays_no_part(values: list[tuple[float, int]], random: object) -> None:
    moved = list(values)
    random.shuffle(moved)  # type: ignore[attr-defined]
    one, other = (in_region([x for x, _ in each], [c for _, c in each], BOTH) for each in (values, moved))
    assert one.reason == other.reason or "no_variance" in (one.reason, other.reason)
    assert one[2:5] == pytest.approx(other[2:5], rel=1e-6, abs=1e-9)


@given(rows, st.floats(0.1, 10), st.floats(-5, 5))
def test_moves_with_the_range(values: list[tuple[float, int]], scale: float, shift: float) -> None:
    numbers = [round(x, 3) for x, _ in values]
    one = in_region(numbers, within=BOTH)
    other = in_region([shift + scale * x for x in numbers], within=(shift - scale, shift + scale))
    if one.carry:
        assert one[2:5] == pytest.approx(other[2:5], rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=40), st.integers(2, 4))
def test_copies_in_a_cluster_change_nothing(values: list[float], copies: int) -> None:
    one = in_region(values, within=BOTH)
    many = in_region(values * copies, list(range(len(values))) * copies, BOTH)
    assert one.clusters == pytest.approx(many.clusters)
    assert one.carry == pytest.approx(many.carry, rel=1e-6, abs=1e-9)


@given(rows)
def test_limits_of_the_numbers(values: list[tuple[float, int]]) -> None:
    """As many clusters as there are at most; carry at most that; skew at most 1 (power means)."""
    clusters = [c for _, c in values]
    found = in_region([x for x, _ in values], clusters, BOTH)
    assert 1 - 1e-9 <= found.clusters <= len(set(clusters)) + 1e-9
    assert 0 <= found.carry <= len(set(clusters)) + 1e-9
    assert 0 <= found.skew <= 1 + 1e-9
    assert found.inside == (found.reason == "")


@given(rows)
def test_the_interval_is_that_of_the_mean(values: list[tuple[float, int]]) -> None:
    numbers, clusters = [x for x, _ in values], [c for _, c in values]
    found = paired_interval(numbers, clusters, 0.9, BOTH)
    assert found.interval == mean_interval(numbers, clusters, 0.9, BOTH)
    assert found.region == in_region(numbers, clusters, BOTH)


def test_rows_at_once_are_the_rows_alone() -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(0, 0.2, (50, 40)) - (rng.random((50, 40)) < 0.1) * 0.6
    off = (table - table.mean(axis=1, keepdims=True)) / 40
    reach = 1 + np.abs(table.mean(axis=1))
    together = inside(region_numbers(off, np.ones(40), reach))
    alone = [in_region(one, within=BOTH).inside for one in table]
    assert together.tolist() == alone
    assert 0 < sum(alone) < 50


def test_parts_of_a_ratio() -> None:
    parts = np.array([0.01, -0.01] * 40)
    assert region_of(parts, np.full(80, 3.0), 0.5).inside
    assert region_of(parts, np.full(80, 3.0), None).reason == "no_range"


@pytest.mark.parametrize(
    "values, clusters, why",
    [([math.nan, 1.0], None, "^values that are not all finite$"), ([1.0], [1, 2], "^1 values, but 2 clusters$")],
)
def test_what_is_refused(values: list[float], clusters: list[int] | None, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        in_region(values, clusters)
