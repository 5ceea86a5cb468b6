"""Sign flips against exact enumeration in fractions and scipy; bootstrap coverage; the same for any block size."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragassay.stats import bootstrap_mean, randomise, sign_flip

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


def words(seed: int, count: int) -> list[int]:
    return [int(one) for one in np.random.PCG64(seed).random_raw(count)]


@pytest.mark.parametrize("rows", [17, 64, 70])
def test_random_flips_done_again_with_plain_numbers(rows: int) -> None:
    """Bit i of a pattern's words flips unit i; p counts sums at least as large, and the observed one."""
    rng = np.random.default_rng(rows)
    table = rng.integers(-3, 6, (rows, 3)).astype(float)
    table[:, 2] = 0
    each, flips = (rows + 63) // 64, 250
    row, counts, family = words(11, each * flips), [0, 0, 0], [0, 0, 0]
    observed = [abs(sum(int(one) for one in column)) for column in table.T]
    size = [sum(int(one) ** 2 for one in column) ** 0.5 or 1.0 for column in table.T]
    for flip in range(flips):
        own = row[flip * each : (flip + 1) * each]
        signs = [1 - 2 * (own[at // 64] >> (at % 64) & 1) for at in range(rows)]
        sums = [abs(sum(sign * int(one) for sign, one in zip(signs, column, strict=True))) for column in table.T]
        most = max(one / by for one, by in zip(sums, size, strict=True))
        for at in range(3):
            counts[at] += sums[at] >= observed[at]
            family[at] += most >= observed[at] / size[at] - 1e-12
    found = sign_flip(table, seed=11, flips=flips)
    assert found.p.tolist() == [(one + 1) / (flips + 1) for one in counts]
    assert found.p_adjusted.tolist() == [(one + 1) / (flips + 1) for one in family]
    assert found.difference.tolist() == pytest.approx(table.mean(axis=0).tolist())
    assert (found.n, found.flips, found.exact, found.floor) == (rows, flips, False, 1 / (flips + 1))


def test_all_patterns_done_again_with_plain_numbers() -> None:
    table = [[1, -2], [2, 2], [3, 1], [5, -1]]
    most = []
    for signs in itertools.product((1, -1), repeat=4):
        sums = [abs(sum(sign * row[at] for sign, row in zip(signs, table, strict=True))) for at in range(2)]
        most.append(max(sums[0] / 39**0.5, sums[1] / 10**0.5))
    found = sign_flip(table, seed=5)
    assert found.p.tolist() == [2 / 16, 16 / 16]  # |+-1 +-2 +-3 +-5| = 11 in two patterns; any sum is at least 0
    assert found.p_adjusted.tolist() == [sum(one >= 11 / 39**0.5 - 1e-12 for one in most) / 16, 1.0]
    assert (found.n, found.flips, found.exact, found.floor) == (4, 16, True, 2 / 16)
    assert found.difference.tolist() == [11 / 4, 0.0]


def test_how_many_units_are_enumerated() -> None:
    values = [1.0] * 17
    assert sign_flip(values[:16], seed=1).exact
    assert not sign_flip(values, seed=1, flips=9).exact
    assert sign_flip(values, seed=1).flips == 10_000
    assert sign_flip(values, seed=1, exact_up_to=17).p[0] == 2 / 2**17
    assert not sign_flip([1.0] * 25, seed=1, flips=9, exact_up_to=30).exact


@pytest.mark.parametrize("clusters", [None, list("aabbbcddde")])
def test_a_bootstrap_done_again_with_plain_numbers(clusters: list[str] | None) -> None:
    """A word's upper half, times the units, over 2^32, draws a unit; means of all rows drawn; ends by counting."""
    values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    names = clusters or list(range(10))
    units = [[value for value, name in zip(values, names, strict=True) if name == one] for one in dict.fromkeys(names)]
    count, resamples = len(units), 200
    row, means = words(4, count * resamples), []
    for at in range(resamples):
        drawn = [units[(word >> 32) * count >> 32] for word in row[at * count : (at + 1) * count]]
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    means.sort()
    found = bootstrap_mean(values, seed=4, clusters=clusters, resamples=resamples, level=0.9)
    # Inverted distribution: the least mean that 5 % (95 %) of the means do not exceed
    assert (found.low[0], found.high[0]) == (pytest.approx(means[9]), pytest.approx(means[189]))
    assert (found.estimate[0], found.n, found.resamples) == (pytest.approx(3.9), count, resamples)
    both = bootstrap_mean(
        [[one, 10 - one] for one in values], seed=4, clusters=clusters, resamples=resamples, level=0.9
    )
    assert (both.low[0], both.high[0]) == (found.low[0], found.high[0])
    assert both.low[1] == pytest.approx(10 - means[190])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: sign_flip([], seed=1), "values must have shape (rows,) or (rows, columns) with rows, got (0, 1)"),
        (lambda: sign_flip([[[1.0]]], seed=1),
         "values must have shape (rows,) or (rows, columns) with rows, got (1, 1, 1)"),
        (lambda: sign_flip([[1.0, float("nan")]], seed=1), "values that are not all finite"),
        (lambda: sign_flip([float("inf")], seed=1), "values that are not all finite"),
        (lambda: sign_flip([1.0, 2.0], seed=1, clusters=["a"]), "2 rows, but 1 clusters"),
        (lambda: bootstrap_mean([1.0], seed=1), "a bootstrap needs at least 2 independent units"),
        (lambda: bootstrap_mean([1.0, 2.0], seed=1, clusters=["a", "a"]),
         "a bootstrap needs at least 2 independent units"),
        (lambda: bootstrap_mean([1.0, 2.0], seed=1, level=1.0), "level must lie between 0 and 1, got 1.0"),
        (lambda: bootstrap_mean([1.0, 2.0], seed=1, level=0), "level must lie between 0 and 1, got 0"),
    ],
)  # fmt: skip
def test_bad_input(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


def test_values_of_any_size_do_not_overflow() -> None:
    """Whole numbers of a tiny unit must hold the sum of all rows, however large and many."""
    for size in (1e-300, 1.0, 1e300):
        found = sign_flip([[size, -size]] * 1_000, seed=1, flips=50)
        assert found.p.tolist() == [1 / 51, 1 / 51]
        spread = bootstrap_mean([size] * 999 + [0.0], seed=1, resamples=100)
        assert 0.99 <= spread.low[0] / size <= 0.999 <= spread.high[0] / size <= 1.0


def test_a_table_too_large_to_be_tabled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(3).normal(0.1, 1, (100, 2))
    expected = sign_flip(table, seed=2, flips=300)
    monkeypatch.setattr(randomise, "_TABLE_BYTES", 0)
    assert sign_flip(table, seed=2, flips=300).p.tolist() == expected.p.tolist()
