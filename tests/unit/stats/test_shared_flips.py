"""Sign flips of many groups under one row of signs: against `sign_flip`, scipy, and a count by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragassay.stats import sign_flip
from ragassay.stats.shared_flips import FlipGroup, shared_flips


def group(values: np.ndarray, units: list[int] | None = None) -> FlipGroup:
    table = np.asarray(values, float).reshape(len(values), -1)
    return FlipGroup(np.arange(len(table)) if units is None else np.array(units), table, np.abs(table).sum(axis=0))


def test_all_patterns_of_four_by_hand() -> None:
    values = np.array([0.5, -0.25, 1.0, 0.25])
    reached = sum(
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) >= 1.5
        for signs in itertools.product((1, -1), repeat=4)
    )
    (found,) = shared_flips([group(values)], 4, seed=0)[0]
    assert (found.p, found.floor, found.exact, found.flips) == (reached / 16, 2 / 16, True, 16)


def test_units_that_do_not_differ_do_not_count() -> None:
    values = np.concatenate((np.array([1.0, 1.0, 1.0, -0.5, 1.0]), np.zeros(500)))
    found = shared_flips([group(values)], 505, seed=0)[0][0]
    theirs = stats.permutation_test((values[:5],), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert (found.p, found.exact, found.flips) == (pytest.approx(theirs.pvalue), True, 32)


def test_right_or_wrong_is_mcnemar() -> None:
    values = np.concatenate((np.ones(9), -np.ones(3), np.zeros(50)))
    (found,) = shared_flips([group(values)], 62, seed=0)[0]
    assert found.p == pytest.approx(stats.binomtest(3, 12).pvalue)


def test_nothing_differs() -> None:
    assert shared_flips([group(np.zeros(30))], 30, seed=0)[0] == [(1.0, 1.0, True, 1)]


def test_the_signs_are_those_of_sign_flip() -> None:
    dice = np.random.default_rng(3)
    table = dice.normal(0.02, 0.3, (200, 5))
    ours = shared_flips([group(table)], 200, seed=11, flips=3_000)[0]
    theirs = sign_flip(table, seed=11, flips=3_000)
    assert [one.p for one in ours] == theirs.p.tolist()
    assert {one.floor for one in ours} == {theirs.floor}


def test_a_part_of_the_units_has_the_signs_of_the_whole() -> None:
    """A slice's sums are what the whole table would give with zeros in the other rows."""
    dice = np.random.default_rng(4)
    values, inside = dice.normal(0.05, 0.3, 300), np.sort(dice.choice(300, 90, replace=False))
    padded = np.zeros(300)
    padded[inside] = values[inside]
    part, whole = shared_flips([group(values[inside], inside.tolist()), group(padded)], 300, seed=2, flips=2_000)
    assert part[0].p == whole[0].p


@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=60),
    st.integers(1, 400),
    st.integers(0, 3),
)
def test_neither_blocks_nor_neighbours_nor_scale_change_a_p(values: list[float], block: int, power: int) -> None:
    table = np.array(values)
    (alone,) = shared_flips([group(table)], len(table), seed=5, flips=300)[0]
    scaled = np.ldexp(table, 10 * power)
    beside = np.stack((np.ones(len(table)), scaled), axis=1)
    again = shared_flips([group(beside)], len(table), seed=5, flips=300, block=block)[0][1]
    assert again == alone
    assert alone.floor <= alone.p <= 1


def test_equal_sums_of_rounded_numbers_are_equal() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in doubles, yet no pattern is more extreme than all of one sign."""
    values = np.array([0.1, 0.2, 0.3] * 8)
    found = shared_flips([group(values)], 24, seed=1, flips=5_000)[0][0]
    assert found.p == pytest.approx(1 / 5_001)
    turned = np.array([0.3, -0.1, -0.2])
    assert shared_flips([group(turned)], 3, seed=1)[0][0].p == 1.0


def test_a_null_is_rejected_as_often_as_it_should_be() -> None:
    dice = np.random.default_rng(8)
    found = shared_flips([group(dice.normal(0, 1, (40, 1_000)))], 40, seed=9, flips=500)[0]
    rejected = sum(one.p <= 0.05 for one in found)
    assert abs(rejected - 50) < 4 * math.sqrt(1_000 * 0.05 * 0.95)


@pytest.mark.parametrize(
    "bad",
    [
        FlipGroup(np.arange(2), np.array([[1.0], [np.nan]]), np.ones(1)),
        FlipGroup(np.arange(3), np.ones((2, 1)), np.ones(1)),
        FlipGroup(np.arange(2), np.ones((2, 2)), np.ones(1)),
    ],
)
def test_what_does_not_fit_is_refused(bad: FlipGroup) -> None:
    with pytest.raises(ValueError, match=r"finite|for values of"):
        shared_flips([bad], 3, seed=0)
