"""Power of paired tests: against statsmodels' values, tests that were really run, and the floor of sign flips."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct, sem
from scipy.stats import t as student

from ragassay.stats import mean_interval, sign_flip
from ragassay.stats.power import attainable, detectable, power_at, standard_error, units_needed


@pytest.mark.parametrize(
    "units, alpha, sides, effect",
    [
        (2, 0.05, 2, 11.549889754978167), (3, 0.05, 2, 3.264043552819638), (6, 0.03125, 2, 1.6152407291740107),
        (20, 0.05, 2, 0.6604416544380312), (150, 0.05, 2, 0.23023590792673412), (300, 0.05, 1, 0.14388263067135854),
        (7000, 0.05, 2, 0.033489141286616585),
    ],
)  # fmt: skip
def test_detectable_effects_of_statsmodels(units: int, alpha: float, sides: int, effect: float) -> None:
    """statsmodels 0.15.0, TTestPower().solve_power(nobs, alpha, power=0.8), in standard deviations."""
    found = detectable(1 / math.sqrt(units), units, alpha=alpha, sides=sides)
    assert found.effect == pytest.approx(effect, rel=5e-5)
    assert (found.alpha, found.units, found.reason) == (alpha, units, "")


@pytest.mark.parametrize(
    "effect, one_sided, two_sided",
    [(0.02, 967.3787802409661, 1228.3065677399675), (0.03, 430.70026298204886, 546.983594098311),
     (0.05, 155.92567158567616, 198.150820955562), (0.1, 40.02907613995644, 51.009447295600204),
     (0.2, 11.144239850374804, 14.30276455812943)],
)  # fmt: skip
def test_needed_units_of_statsmodels(effect: float, one_sided: float, two_sided: float) -> None:
    """statsmodels 0.15.0, TTestPower().solve_power(effect / 0.25, alpha=0.05, power=0.8), rounded up.

    The normal formula ((1.645 + 0.842) 0.25 / effect)^2 gives 967, 430, 155 and 39 one-sided: up to 2 fewer.
    """
    assert units_needed(effect, 0.25, sides=1) == math.ceil(one_sided)
    assert units_needed(effect, 0.25) == math.ceil(two_sided)
    assert 0 <= math.ceil(one_sided) - ((1.6448536 + 0.8416212) * 0.25 / effect) ** 2 < 3


def test_statsmodels_itself() -> None:
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    for units in (4, 11, 60, 900):
        for sides, name in ((1, "larger"), (2, "two-sided")):
            for shift in (0.3, 1.0, 2.5, 4.0):
                theirs = power.power(shift / math.sqrt(units), units, 0.05, alternative=name)
                assert power_at(shift, units, sides=sides) == pytest.approx(float(theirs), abs=1e-9)


@given(st.floats(0, 12), st.integers(3, 3000), st.sampled_from([0.01, 0.05]), st.sampled_from([1, 2]))
def test_power_is_the_noncentral_t(shift: float, units: int, alpha: float, sides: int) -> None:
    critical = student.ppf(1 - alpha / sides, units - 1)
    expected = nct.sf(critical, units - 1, shift) if shift else student.sf(critical, units - 1)
    found = power_at(shift, units, alpha=alpha, sides=sides)
    assert expected - 1e-7 <= found <= min(1.0, expected + alpha) + 1e-7
    assert found >= power_at(shift * 0.9, units, alpha=alpha, sides=sides) - 1e-9
    assert power_at(0.0, units, alpha=alpha, sides=sides) == pytest.approx(alpha, abs=1e-9)


def test_power_of_tests_that_were_run() -> None:
    """4,000 experiments of 25 normal differences at the effect said to be detectable: t finds 80 of 100."""
    rng = np.random.default_rng(11)
    effect = detectable(0.3 / 5, 25).effect
    assert effect is not None
    draws = rng.normal(effect, 0.3, (4000, 25))
    found = np.mean(np.abs(draws.mean(axis=1)) / sem(draws, axis=1) > student.ppf(0.975, 24))
    assert found == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 4000))


@pytest.mark.parametrize("units, level, least", [(6, 2 / 64, 0.70), (10, 51 * 2 / 2048, 0.77), (14, 0.05, 0.77)])
def test_power_of_sign_flips_that_were_run(units: int, level: float, least: float) -> None:
    """The exact test of normal differences at the effect said: 80 of 100, with six units some fewer."""
    rng = np.random.default_rng(12)
    floor = sign_flip(np.ones(units), seed=0).floor
    found = detectable(1 / math.sqrt(units), units, floor=floor)
    assert floor == 2 / 2**units
    assert found.alpha == pytest.approx(level, abs=floor)
    assert found.effect is not None
    draws = rng.normal(found.effect, 1, (units, 1500))
    rejected = np.mean([sign_flip(one, seed=0).p[0] <= 0.05 for one in draws.T])
    assert least <= rejected <= 0.83


@given(st.integers(1, 40), st.floats(0.001, 0.5))
def test_the_level_that_a_floor_allows(units: int, alpha: float) -> None:
    floor = 2.0 / 2**units
    level = attainable(alpha, floor)
    assert level <= alpha
    assert alpha - level < floor * (1 + 1e-6) + 1e-9
    assert (level == 0) == (floor > alpha)
    assert attainable(alpha, 0.0) == alpha


def test_where_nothing_can_be_found() -> None:
    assert detectable(0.1, 5, floor=2 / 32).reason == "floor_above_alpha"
    assert detectable(0.1, 1).reason == detectable(None, 0).reason == "fewer_than_2_clusters"
    assert detectable(0.0, 9).reason == "no_variance"
    assert all(detectable(error, n).effect is None for error, n in ((0.1, 1), (None, 0), (0.0, 9)))


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 6)), min_size=2, max_size=30))
def test_standard_error_is_that_of_the_interval(rows: list[tuple[float, int]]) -> None:
    values, clusters = [value for value, _ in rows], [name for _, name in rows]
    for groups in (None, clusters):
        error, interval = standard_error(values, groups), mean_interval(values, groups)
        if error is None:
            assert interval.reason == "fewer_than_2_clusters"
            continue
        assert interval.low is not None
        assert interval.high is not None
        half = student.ppf(0.975, interval.clusters - 1) * error
        assert (interval.high - interval.low) / 2 == pytest.approx(half, abs=1e-12)
        assert standard_error(values[::-1], groups and groups[::-1]) == pytest.approx(error, abs=1e-15)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.integers(2, 4))
def test_copies_in_a_cluster_never_tighten(values: list[float], copies: int) -> None:
    one = standard_error(values)
    many = standard_error(values * copies, list(range(len(values))) * copies)
    assert many == pytest.approx(one, abs=1e-12)


@given(st.floats(0.001, 2), st.floats(0.01, 2), st.sampled_from([0.01, 0.05]), st.sampled_from([1, 2]))
def test_needed_units_are_the_least(effect: float, spread: float, alpha: float, sides: int) -> None:
    found = units_needed(effect, spread, alpha=alpha, sides=sides)
    assert found is not None
    assert found >= math.log2(sides / alpha)

    def power(units: int) -> float:
        return power_at(effect / spread * math.sqrt(units), units, alpha=alpha, sides=sides)

    assert power(found) >= 0.8
    assert power(found - 1) < 0.8 or 2.0 ** (found - 1) < sides / alpha
    assert units_needed(-effect, spread, alpha=alpha, sides=sides) == found


def test_few_and_too_many() -> None:
    assert units_needed(1.0, 0.0) == 6
    assert units_needed(1.0, 0.0, sides=1) == 5
    assert units_needed(1e-6, 0.25) is None
    assert units_needed(0.02, 0.25, most=1228) is None
    assert units_needed(0.02, 0.25, most=1229) == 1229


@pytest.mark.parametrize(
    "call",
    [lambda: detectable(-1.0, 5), lambda: detectable(1.0, -5), lambda: detectable(1.0, 5, floor=-1),
     lambda: detectable(1.0, 5, sides=3), lambda: detectable(1.0, 5, power=0.01), lambda: units_needed(0.0, 1.0),
     lambda: units_needed(1.0, -1.0), lambda: units_needed(1.0, 1.0, alpha=0.0), lambda: units_needed(math.inf, 1.0),
     lambda: standard_error([1.0, math.nan]), lambda: standard_error([1.0], [1, 2])],
)  # fmt: skip
def test_what_is_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"must|finite|clusters"):
        call()  # type: ignore[operator]
