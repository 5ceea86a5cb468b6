"""Bootstrap and swaps to the last draw: which words are drawn, which order statistics are the ends, blocks, records."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragassay.stats import resample, swaps
from ragassay.stats.intervals import Interval
from ragassay.stats.resample import bootstrap
from ragassay.stats.shared_flips import Flips, flipped_units
from ragassay.stats.swaps import Arms, swap_test

Floats = np.ndarray


def test_what_is_drawn_word_by_word() -> None:
    """Strata of three and of two clusters: five words a resample, each times its stratum's size over 2^32, rounded
    down, is the cluster that is drawn. Rows of one cluster have one weight."""
    clusters, strata = ["a", "b", "a", "c", "x", "y", "y"], [0, 0, 0, 0, 1, 1, 1]
    seen: list[Floats] = []

    def figure(weights: Floats) -> Floats:
        seen.append(weights)
        return weights[:, 0]

    bootstrap(figure, clusters, strata=strata, seed=8, resamples=6)
    words = [int(word) >> 32 for word in np.random.PCG64(8).random_raw(30)]
    wanted = []
    for at in range(6):
        own = words[5 * at : 5 * at + 5]
        first, second = [word * 3 >> 32 for word in own[:3]], [word * 2 >> 32 for word in own[3:]]
        of = {name: first.count(place) for place, name in enumerate("abc")}
        of |= {name: second.count(place) for place, name in enumerate("xy")}
        wanted.append([float(of[name]) for name in clusters])
    assert np.concatenate(seen).tolist() == wanted


@pytest.mark.parametrize(("resamples", "low", "high"), [(40, 4.0, 35.0), (41, 5.0, 35.0)])
def test_the_ends_are_order_statistics(resamples: int, low: float, high: float) -> None:
    """Of values 0, 1, 2, ... those at 1/8 and 7/8 of the way to the last, outwards."""

    def figure(weights: Floats) -> Floats:
        return np.arange(len(weights))[::-1] * 1.0

    found = bootstrap(figure, "abcdd", level=0.75, resamples=resamples)
    assert found == Interval(None, low, high, 0.75, 5, 4, "bootstrap_percentile")


def test_half_of_the_resamples_must_have_a_value() -> None:
    def figure(known: int) -> object:
        return lambda weights: np.where(np.arange(len(weights)) < known, np.arange(len(weights)) * 1.0, math.nan)

    found = bootstrap(figure(20), "abcd", level=0.75, resamples=40)
    assert found == Interval(None, 2.0, 17.0, 0.75, 4, 4, "bootstrap_percentile")
    found = bootstrap(figure(19), "abcd", level=0.75, resamples=40)
    assert found == Interval(None, None, None, 0.75, 4, 4, "bootstrap_percentile", "no_value_in_most_resamples")


def test_too_few_clusters_as_a_whole() -> None:
    few = "fewer_than_2_clusters"
    none = (None, None, None)
    assert bootstrap(len, "aaaa", level=0.8) == (*none, 0.8, 4, 1, "bootstrap_percentile", few)
    assert bootstrap(len, "") == (*none, 0.95, 0, 0, "bootstrap_percentile", few)
    assert bootstrap(len, "abc", strata=[0, 0, 1]) == (*none, 0.95, 3, 3, "bootstrap_percentile", few)
    assert bootstrap(lambda weights: weights[:, 0], "ab").reason == ""
    for level in (0.0, 1.0):
        with pytest.raises(ValueError, match=f"^level must lie between 0 and 1, got {level}$"):
            bootstrap(len, "ab", level=level)
    with pytest.raises(ValueError, match=r"^2 clusters, but 1 strata$"):
        bootstrap(len, "ab", strata=[0])


def test_a_thousand_resamples_of_seed_0_unless_told() -> None:
    sizes: list[int] = []

    def figure(weights: Floats) -> Floats:
        sizes.append(len(weights))
        return weights @ np.arange(5.0)

    found = bootstrap(figure, "abcde")
    assert sum(sizes) == 1_000
    assert found == bootstrap(figure, "abcde", seed=0, level=0.95, resamples=1_000)


@pytest.mark.parametrize("words", [1, 12, 35])
def test_blocks_change_nothing(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def figure(weights: Floats) -> Floats:
        return weights @ np.arange(5.0)

    whole = bootstrap(figure, "aabcd", seed=3, resamples=50)
    monkeypatch.setattr(resample, "_WORDS_AT_ONCE", words)
    assert bootstrap(figure, "aabcd", seed=3, resamples=50) == whole


def arms(units: int) -> Arms:
    return Arms(np.tile(np.arange(units), 2), np.arange(2 * units) >= units)


def of_values(values: Floats) -> object:
    """The candidate's sum less the baseline's: `values` of the first arm, then of the second."""
    return lambda weights: weights @ values - (1 - weights) @ values


def test_a_swap_test_by_hand() -> None:
    """Differences 3, 1, 1: |3 + 1 + 1| is reached by no change or all: 2 of 8. A unit that is alike is left out."""
    values = np.array([0.0, 0.0, 2.0, 7.0, 3.0, 1.0, 3.0, 7.0])
    found = swap_test(of_values(values), arms(4), np.array([0, 1, 2]), seed=0, units=4)
    assert found == Flips(2 / 8, 2 / 8, True, 8)
    values[4] = -2.0  # -2 + 1 + 1 = 0: every swap reaches it
    assert swap_test(of_values(values), arms(4), np.array([0, 1, 2]), seed=0, units=4) == Flips(1.0, 2 / 8, True, 8)
    alike = np.array([1.0, 2.0, 1.0, 2.0])
    assert swap_test(of_values(alike), arms(2), np.array([], int), seed=0, units=2) == Flips(1.0, 1.0, True, 1)
    assert swap_test(of_values(np.zeros(0)), arms(0), np.array([], int), seed=0, units=0) is None


def test_random_swaps_are_the_common_signs() -> None:
    """Counted with numpy from the signs that all tests of a comparison share."""
    dice = np.random.default_rng(2)
    values = dice.integers(0, 4, 60).astype(float)
    gaps = values[30:] - values[:30]
    signs = 1 - 2 * flipped_units(30, 0, 777, 5)
    count = int((np.abs(gaps @ signs) >= abs(gaps.sum()) - 1e-9).sum())
    found = swap_test(of_values(values), arms(30), np.flatnonzero(gaps), seed=5, units=30, swaps=777)
    assert found == Flips((count + 1) / 778, 1 / 778, False, 777)


def test_exact_up_to_sixteen_units_and_ten_thousand_swaps_unless_told() -> None:
    for units, wanted in ((16, (True, 1 << 16)), (17, (False, 10_000))):
        values = np.concatenate((np.zeros(units), np.ones(units)))
        found = swap_test(of_values(values), arms(units), np.arange(units), seed=1, units=units)
        assert found is not None
        assert (found.exact, found.flips) == wanted
    few = swap_test(of_values(values), arms(17), np.arange(17), seed=1, units=17, exact_up_to=17, swaps=5)
    assert few == Flips(2 / (1 << 17), 2 / (1 << 17), True, 1 << 17)


@pytest.mark.parametrize(("cells", "wanted"), [(40 * 1_500, 1_500), (40 * 900, 1_000), (1, 1_000), (10**9, 4_000)])
def test_many_rows_have_fewer_swaps_and_never_fewer_than_1_000(
    cells: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swaps, "CELLS", cells)
    values = np.concatenate((np.zeros(20), np.ones(20)))
    found = swap_test(of_values(values), arms(20), np.arange(20), seed=1, units=20, swaps=4_000)
    assert found is not None
    assert found.flips == wanted


@pytest.mark.parametrize("exact_up_to", [0, 16])
@pytest.mark.parametrize("at_once", [1, 70, 999])
def test_blocks_of_swaps_change_nothing(exact_up_to: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([0.1, 0.5, 0.3, 0.9, 0.4, 0.0, 0.7, 0.2, 0.6, 0.8])
    whole = swap_test(
        of_values(values), arms(5), np.arange(5), seed=4, units=5, swaps=1_200, exact_up_to=exact_up_to
    )  # fmt: skip
    monkeypatch.setattr(swaps, "_AT_ONCE", at_once)
    again = swap_test(
        of_values(values), arms(5), np.arange(5), seed=4, units=5, swaps=1_200, exact_up_to=exact_up_to
    )  # fmt: skip
    assert again == whole
