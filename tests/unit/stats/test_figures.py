"""Bounds of figures of a set: against hand calculations and scipy, by property, and by drawing experiments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ragassay.measures.selective import aurc, aurc_weights, auroc, bin_places, bins_of, calibration_error
from ragassay.stats.figures import auroc_bounds, calibration_bounds, chernoff_lower
from ragassay.stats.onesided import lower_bound, upper_bound

ALPHA = 0.05
Marks = tuple[list[float], list[int]]
SCORES = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]) | st.floats(0, 1), st.integers(0, 1)), min_size=1)


def test_the_weights_of_an_area_by_hand() -> None:
    """Of three decisions the first counts 1/3 of each of 1, 1/2, 1/3: 11/6; the last only in the third."""
    assert aurc_weights([0.9, 0.5, 0.1]).tolist() == pytest.approx([11 / 6, 5 / 6, 1 / 3])
    assert aurc_weights([0.1, 0.9]).tolist() == pytest.approx([0.5, 1.5])
    assert aurc_weights([0.5, 0.5]).tolist() == pytest.approx([1.0, 1.0])
    assert aurc_weights([0.9, 0.5], before=1).tolist() == pytest.approx([1 / 2 + 1 / 3, 1 / 3])
    assert aurc_weights([]).tolist() == []


@given(SCORES, st.integers(0, 4))
def test_the_weighted_mean_of_wrong_decisions_is_the_area(drawn: list[tuple[float, int]], before: int) -> None:
    scores, wrong = [one for one, _ in drawn], [one for _, one in drawn]
    weights = aurc_weights(scores)
    assert weights.sum() == pytest.approx(len(scores))
    assert (weights > 0).all()
    assert float(weights @ wrong) / len(scores) == pytest.approx(float(aurc(scores, wrong)[0]), abs=1e-9)
    longer = [*range(before + 2, 2, -1), *scores]
    area = float(aurc(longer, [0] * before + wrong)[0])
    assert float(aurc_weights(scores, before) @ wrong) / len(longer) == pytest.approx(area, abs=1e-9)


@given(SCORES, st.integers(1, 6))
def test_the_bins_of_decisions(drawn: list[tuple[float, int]], bins: int) -> None:
    scores, right = [one for one, _ in drawn], [one for _, one in drawn]
    places = bin_places(scores, bins)
    made = bins_of(scores, right, bins)
    assert sorted(np.unique(places, return_counts=True)[1].tolist()) == sorted(one.n for one in made)
    gaps = [abs(sum(right[i] - scores[i] for i in np.flatnonzero(places == one))) for one in set(places.tolist())]
    assert sum(gaps) / len(scores) == pytest.approx(float(calibration_error(scores, right, bins)[0]), abs=1e-9)


def test_bounds_of_a_weighted_mean() -> None:
    """Equal weights change nothing, a value without weight counts for nothing, and weights are sizes of clusters."""
    values, within = [1.0, 0.0, 1.0, 1.0, 0.4, 0.9], (0.0, 1.0)
    plain = lower_bound(values, within, ALPHA)
    assert lower_bound(values, within, ALPHA, weights=[3.0] * 6) == pytest.approx(plain, abs=1e-12)
    cut = upper_bound([0.2, 0.9, 0.1], within, ALPHA, weights=[1.0, 0.0, 1.0])
    assert cut == pytest.approx(upper_bound([0.2, 0.2, 0.1], within, ALPHA, weights=[0.5, 0.5, 1.0], clusters="aab"),
                                abs=0.05)  # fmt: skip
    as_clusters = lower_bound([0.3] * 2 + [0.8] * 3, within, ALPHA, clusters="aabbb")
    assert lower_bound([0.3, 0.8], within, ALPHA, weights=[2.0, 3.0]) == pytest.approx(as_clusters, abs=1e-12)
    shuffled = lower_bound([0.8, 0.3], within, ALPHA, weights=[3.0, 2.0])
    assert shuffled == lower_bound([0.3, 0.8], within, ALPHA, weights=[2.0, 3.0])


@pytest.mark.parametrize("weights", [[1.0], [0.0, 0.0], [-1.0, 2.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_weights_that_are_none(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        lower_bound([0.1, 0.2], (0.0, 1.0), ALPHA, weights=weights)
    with pytest.raises(ValueError, match="exact"):
        lower_bound([0.0, 1.0], (0.0, 1.0), ALPHA, method="exact", weights=[1.0, 2.0])


def test_chernoff_by_hand() -> None:
    """All of n right: m^n = alpha. It is below the exact bound, and no chance of it exceeds alpha."""
    assert chernoff_lower(1.0, 20, ALPHA) == pytest.approx(ALPHA ** (1 / 20), abs=1e-12)
    assert chernoff_lower(0.0, 20, ALPHA) == 0.0
    for right in range(1, 20):
        low = chernoff_lower(right / 20, 20, ALPHA)
        assert low < lower_bound([1.0] * right + [0.0] * (20 - right), (0.0, 1.0), ALPHA, method="exact")
        assert binom.sf(right - 1, 20, low) <= ALPHA


def test_calibration_by_hand() -> None:
    """Fifty decisions in five bins of ten: 0.1 + sqrt(log(20) / 100); bias at most 5 sqrt(10) / 100."""
    bins = np.repeat(np.arange(5), 10)
    reach, bias = math.sqrt(math.log(20) / 100), 5 * math.sqrt(10) / 100
    found = calibration_bounds(0.4, bins, ALPHA)
    assert found == pytest.approx((0.4 - reach - bias, 0.4 + reach))
    pairs = calibration_bounds(0.4, bins, ALPHA, [one // 2 for one in range(50)])
    assert pairs.high == pytest.approx(0.4 + reach * math.sqrt(2))
    assert pairs.low == pytest.approx(max(0.0, 0.4 - reach * math.sqrt(2) - bias * math.sqrt(2)))
    assert calibration_bounds(0.0, [1], ALPHA) == (0.0, 1.0)
    with pytest.raises(ValueError, match="one of each"):
        calibration_bounds(0.4, [], ALPHA)
    with pytest.raises(ValueError, match="alpha"):
        calibration_bounds(0.4, [1], 0.0)


def test_auroc_by_hand() -> None:
    """Thirty and fifty alone: as thirty independent pairs. In clusters of one positive and one negative: McDiarmid."""
    ups, downs = [f"u{one}" for one in range(30)], [f"d{one}" for one in range(50)]
    found = auroc_bounds(0.9, 0.95, ups, downs, ALPHA)
    assert found == (chernoff_lower(0.9, 30, ALPHA), 1 - chernoff_lower(1 - 0.95, 30, ALPHA))
    both = [f"c{one}" for one in range(30)]
    reach = math.sqrt(30 * (2 / 30) ** 2 * math.log(20) / 2)
    assert auroc_bounds(0.9, 0.9, both, both, ALPHA) == pytest.approx((0.9 - reach, min(1.0, 0.9 + reach)))
    with pytest.raises(ValueError, match="at least one"):
        auroc_bounds(0.9, 0.9, [], downs, ALPHA)


def misses(low: Any, high: Any, truth: Any) -> tuple[float, float]:
    return float(np.mean(np.array(low) > np.array(truth))), float(np.mean(np.array(high) < np.array(truth)))


@pytest.mark.parametrize("n", [20, 100])
def test_bounds_hold_in_experiments(n: int) -> None:
    """400 draws: neither side misses more often than alpha and three Monte Carlo errors."""
    rng = np.random.default_rng(n)
    most = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / 400)
    areas, gaps, ranks = [], [], []
    for _ in range(400):
        sure = np.round(rng.random(n), 1)
        chance = np.where(sure > 0.5, 0.02, 0.6)
        wrong = (rng.random(n) < chance).astype(float)
        weights = aurc_weights(sure)
        bounds = [bound(wrong, (0.0, 1.0), ALPHA, weights=weights) for bound in (lower_bound, upper_bound)]
        areas.append((*bounds, float(weights @ chance) / n))
        places = bin_places(sure, 5)
        gap = calibration_bounds(float(calibration_error(sure, 1 - wrong, 5)[0]), places, ALPHA)
        true = sum(abs(float(((1 - chance) - sure)[places == one].sum())) for one in range(5)) / n
        gaps.append((*gap, true))
        scores, side = rng.normal(size=n), np.arange(n) < n // 3
        scores[side] += 1.5
        value = float(auroc(scores, side.astype(float))[0])
        ids = list(range(n))
        ranks.append((*auroc_bounds(value, value, ids[: n // 3], ids[n // 3 :], ALPHA), 0.8555778))
    for found in (areas, gaps, ranks):
        assert max(misses(*zip(*found, strict=True))) <= most
