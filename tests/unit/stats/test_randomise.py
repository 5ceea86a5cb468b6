"""Sign flips against exact enumeration in fractions and scipy; bootstrap coverage; the same for any block size."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragassay.stats import bootstrap_mean, sign_flip

steps = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(-1, 3), Fraction(1, 2), Fraction(1), Fraction(-1)])


def enumerated(values: list[Fraction]) -> float:
    observed = abs(sum(values))
    sums = [sum(sign * one for sign, one in zip(signs, values, strict=True))
            for signs in itertools.product((1, -1), repeat=len(values))]  # fmt: skip
    return sum(abs(one) >= observed for one in sums) / len(sums)


@settings(max_examples=40)
@given(st.lists(st.tuples(steps, steps), min_size=1, max_size=8))
@example([(Fraction(0), Fraction(1, 3)), *[(Fraction(0), Fraction(-1, 3))] * 3, (Fraction(0), Fraction(1))])
def test_small_tables_equal_enumeration_in_fractions(rows: list[tuple[Fraction, Fraction]]) -> None:
    """Differences like 1/3 sum to other doubles in other orders; ties must still count as ties."""
    found = sign_flip([[float(one) for one in row] for row in rows], seed=0)
    assert found.exact
    assert found.p.tolist() == [enumerated([row[at] for row in rows]) for at in range(2)]


def test_sixteen_units_equal_enumeration() -> None:
    rng = np.random.default_rng(4)
    table = rng.choice([0.0, 1 / 3, -1 / 3, 0.25, 1.0, -0.5], (16, 3))
    sums = [Fraction(0)]
    for row in table[:, 1]:
        one = Fraction(row).limit_denominator(12)
        sums = [part + sign * one for part in sums for sign in (1, -1)]
    expected = sum(abs(one) >= abs(sums[0]) for one in sums) / 2**16
    found = sign_flip(table, seed=0)
    assert (found.p[1], found.flips, found.exact) == (expected, 65_536, True)


def test_p_is_never_zero_and_counts_the_observed() -> None:
    found = sign_flip(np.ones(40), seed=1, flips=999)
    assert (found.p[0], found.floor, found.exact) == (1 / 1000, 1 / 1000, False)
    assert sign_flip(np.zeros(40), seed=1, flips=99).p[0] == 1.0
    assert sign_flip(np.ones(10), seed=1).p[0] == 2 / 1024


def test_agrees_with_scipy_within_monte_carlo_error() -> None:
    values = np.random.default_rng(2).normal(0.1, 0.5, 60)
    theirs = scipy.stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(1)
    )
    assert sign_flip(values, seed=3).p[0] == pytest.approx(theirs.pvalue, abs=0.02)


@pytest.mark.parametrize("rows", [5, 63, 64, 65, 200])
def test_block_size_and_threads_do_not_matter(rows: int) -> None:
    table = np.random.default_rng(rows).normal(size=(rows, 4)) / 3
    ways = list(itertools.product((1, 7, 64, 10_000), (1, 2, 5, None)))
    first, *others = (sign_flip(table, seed=9, flips=500, exact_up_to=8, block=b, threads=t) for b, t in ways)
    for other in others:
        assert first.p.tolist() == other.p.tolist()
        assert first.p_adjusted.tolist() == other.p_adjusted.tolist()
    low, *rest = (bootstrap_mean(table, seed=9, resamples=300, block=b, threads=t) for b, t in ways)
    for other in rest:
        assert low.low.tolist() == other.low.tolist()
        assert low.high.tolist() == other.high.tolist()


def test_columns_share_signs_and_stand_alone() -> None:
    table = np.random.default_rng(1).normal(0.05, 1, (50, 3))
    both = sign_flip(table, seed=2, flips=2_000)
    assert [sign_flip(table[:, at], seed=2, flips=2_000).p[0] for at in range(3)] == both.p.tolist()
    assert np.all(both.p_adjusted >= both.p)
    single = sign_flip(table[:, 0], seed=2, flips=2_000)
    assert single.p_adjusted[0] == single.p[0]


def test_clusters_flip_together() -> None:
    # Two clusters of sums 3 and 1: |+-3 +-1| >= 4 in 2 of 4 patterns.
    found = sign_flip([1, 2, 0.5, 0.5], seed=0, clusters=["a", "a", "b", "b"])
    assert (found.p[0], found.n, found.flips) == (0.5, 2, 4)
    assert found.difference[0] == 1.0


def test_scale_does_not_matter() -> None:
    table = np.random.default_rng(1).normal(size=(30, 1))
    for factor in (1e-12, 1e-3, 1e6, 1e12):
        assert sign_flip(table * factor, seed=1, flips=500).p[0] == sign_flip(table, seed=1, flips=500).p[0]


def test_bootstrap_is_near_the_normal_interval_for_many() -> None:
    values = np.random.default_rng(5).normal(0.3, 1.0, 2_000)
    found = bootstrap_mean(values, seed=1, resamples=4_000)
    half = 1.96 * values.std() / np.sqrt(2_000)
    assert found.estimate[0] == pytest.approx(values.mean())
    assert found.low[0] == pytest.approx(values.mean() - half, abs=0.005)
    assert found.high[0] == pytest.approx(values.mean() + half, abs=0.005)


def test_bootstrap_of_clusters_keeps_rows_together() -> None:
    values = [1.0, 1.0, 0.0, 0.0]
    found = bootstrap_mean(values, seed=1, clusters=["a", "a", "b", "b"], resamples=2_000)
    assert (found.low[0], found.high[0], found.n) == (0.0, 1.0, 2)


def test_bad_input() -> None:
    for bad in ([], [[1.0, float("nan")]]):
        with pytest.raises(ValueError, match=r"shape|finite"):
            sign_flip(bad, seed=1)
    with pytest.raises(ValueError, match="clusters"):
        sign_flip([1.0, 2.0], seed=1, clusters=["a"])
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap_mean([1.0], seed=1)
    with pytest.raises(ValueError, match="level"):
        bootstrap_mean([1.0, 2.0], seed=1, level=1.0)
