"""Risk by coverage, calibration and discrimination against scikit-learn, a naive walk over all orders, and by hand."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.measures import selective

LEVELS = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])
DECISIONS = st.lists(st.tuples(LEVELS, st.integers(0, 1)), min_size=1, max_size=6)
MANY = st.lists(st.tuples(LEVELS, st.integers(0, 1)), min_size=1, max_size=40)


def split(decisions: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    return [one for one, _ in decisions], [one for _, one in decisions]


def naive_aurc(decisions: list[tuple[float, int]]) -> float:
    """Mean over all orders that descend in confidence of the mean selective risk."""
    areas = []
    for order in permutations(decisions):
        if any(one[0] < other[0] for one, other in pairwise(order)):
            continue
        areas.append(np.mean([sum(bad for _, bad in order[:k]) / k for k in range(1, len(order) + 1)]))
    return float(np.mean(areas))


def test_aurc_by_hand() -> None:
    # Confidences 0.9 0.8 0.7 0.6; wrong: no, yes, no, yes. Risks 0, 1/2, 1/3, 2/4: mean 1/3.
    assert selective.aurc([0.7, 0.9, 0.6, 0.8], [0, 0, 1, 1])[0] == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert selective.aurc([0.5] * 4, [1, 0, 0, 0])[0] == pytest.approx(0.25)  # all tied: the share of wrong ones
    assert selective.aurc([1, 2, 3], [0, 0, 0])[0] == 0.0
    assert selective.aurc([1, 2, 3], [1, 1, 1])[0] == pytest.approx(1.0)
    assert math.isnan(selective.aurc([], [])[0])


@given(DECISIONS)
def test_aurc_is_the_mean_over_all_orders_of_the_tied(decisions: list[tuple[float, int]]) -> None:
    assert selective.aurc(*split(decisions))[0] == pytest.approx(naive_aurc(decisions), abs=1e-12)


@given(MANY)
def test_auroc_is_that_of_scikit_learn(decisions: list[tuple[float, int]]) -> None:
    from sklearn.metrics import roc_auc_score

    scores, good = split(decisions)
    got = selective.auroc(scores, good)[0]
    if len(set(good)) < 2:
        assert math.isnan(got)
    else:
        assert got == pytest.approx(roc_auc_score(good, scores), abs=1e-12)


@given(MANY, st.integers(1, 12))
def test_bins_part_no_equal_confidences_and_lose_nobody(decisions: list[tuple[float, int]], bins: int) -> None:
    scores, good = split(decisions)
    made = selective.bins_of(scores, good, bins)
    assert (sum(one.n for one in made), sum(one.right for one in made)) == (len(scores), sum(good))
    assert len(made) <= bins
    assert all(one.high < other.low for one, other in pairwise(made))
    gaps = sum(abs(one.right - one.confidence * one.n) for one in made) / len(scores)
    assert selective.calibration_error(scores, good, bins)[0] == pytest.approx(gaps, abs=1e-12)


@pytest.mark.parametrize(("n", "bins"), [(100, 10), (60, 5), (12, 12), (7, 1)])
def test_calibration_error_is_that_of_the_quantile_bins_of_scikit_learn(n: int, bins: int) -> None:
    from sklearn.calibration import calibration_curve

    draw = np.random.default_rng(7)
    scores = draw.permutation(np.linspace(0.01, 0.99, n))
    good = (draw.random(n) < scores**2).astype(int)
    if bins == 1:
        expected = abs(good.mean() - scores.mean())
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right, told = calibration_curve(good, scores, n_bins=bins, strategy="quantile")
        expected = float(np.mean(np.abs(right - told)))  # bins of equal size
    assert {one.n for one in selective.bins_of(scores, good, bins)} == {n // bins}
    assert selective.calibration_error(scores, good, bins)[0] == pytest.approx(expected, abs=1e-12)


def test_calibration_error_by_hand() -> None:
    # Two bins of two: {0.2, 0.4} one right of two: |0.5 - 0.3|; {0.8, 1.0} one right: |0.5 - 0.9|.
    assert selective.calibration_error([1.0, 0.2, 0.8, 0.4], [1, 0, 0, 1], 2)[0] == pytest.approx((0.2 + 0.4) / 2)
    assert selective.bins_of([1.0, 0.2, 0.8, 0.4], [1, 0, 0, 1], 2)[0] == (0.2, 0.4, 2, pytest.approx(0.3), 1)
    assert selective.bins_of([], [], 3) == []
    assert math.isnan(selective.calibration_error([], [], 3)[0])


@given(MANY, st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_weights_are_repetitions(decisions: list[tuple[float, int]], drawn: list[int]) -> None:
    scores, good = split(decisions)
    own = drawn[: len(scores)]
    again = np.repeat(scores, own), np.repeat(good, own)
    weights = np.array([own, [1] * len(own)], float)
    for weighted, plain, alone in (
        (selective.aurc(scores, good, weights), selective.aurc(*again), selective.aurc(scores, good)),
        (selective.auroc(scores, good, weights), selective.auroc(*again), selective.auroc(scores, good)),
        (
            selective.calibration_error(scores, good, 3, weights),
            selective.calibration_error(*again, 3),
            selective.calibration_error(scores, good, 3),
        ),
    ):
        assert weighted == pytest.approx([plain[0], alone[0]], abs=1e-12, nan_ok=True)


def test_the_curve_and_the_risk_at_a_coverage_by_hand() -> None:
    curve = selective.risk_coverage([0.9, 0.7, 0.7, 0.2], [0, 1, 0, 1])
    assert (list(curve.thresholds), list(curve.taken), list(curve.wrong)) == ([0.9, 0.7, 0.2], [1, 3, 4], [0, 1, 2])
    assert selective.at_coverage(curve, 1) == (0.9, 1, 0)
    assert selective.at_coverage(curve, 2) == (0.7, 3, 1)  # the tied stay together
    assert selective.at_coverage(curve, 4) == (0.2, 4, 2)
    assert selective.at_coverage(curve, 5) is None
    assert selective.at_coverage(curve, 0) is None
    assert selective.at_coverage(selective.risk_coverage([], []), 1) is None


@given(DECISIONS, st.integers(0, 2), st.integers(1, 8))
def test_bounds_of_the_risk_are_those_of_all_ways_to_fill_in(
    decisions: list[tuple[float, int]], unknown: int, wanted: int
) -> None:
    scores, bad = split(decisions)
    got = selective.risk_bounds(scores, bad, wanted, unknown)
    levels = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    found = set()

    def fill(extra: list[tuple[float, int]]) -> None:
        if len(extra) < unknown:
            for level in levels:
                for mark in (0, 1):
                    fill([*extra, (level, mark)])
            return
        every = [*decisions, *extra]
        if len(every) < wanted:
            return
        for sign in (1, -1):
            order = sorted(every, key=lambda one: (-one[0], sign * one[1]))
            found.add(sum(mark for _, mark in order[:wanted]) / wanted)

    fill([])
    if not found:
        assert got is None
    else:
        assert got == pytest.approx((min(found), max(found)))


@pytest.mark.parametrize(
    ("passed", "tried", "k", "expected"), [(5, 5, 3, 1.0), (3, 5, 2, 3 / 10), (3, 4, 4, 0.0), (2, 4, 1, 0.5)]
)
def test_pass_all(passed: int, tried: int, k: int, expected: float) -> None:
    assert selective.pass_all(passed, tried, k) == pytest.approx(expected)


def test_pass_all_refuses_more_than_was_tried() -> None:
    for k in (0, 4):
        with pytest.raises(ValueError, match=r"1\.\.3"):
            selective.pass_all(3, 3, k)


def test_agreement_by_hand() -> None:
    assert selective.agreement([["a"], ["a"], ["b"]]) == pytest.approx(1 / 3)
    assert selective.agreement([["a", "b"], ["a"]]) == 0.5
    assert selective.agreement([["a"], ["a"]]) == 1.0


def test_shapes_and_marks_are_checked() -> None:
    for scores, marks in (([1.0], [1, 0]), ([math.nan], [1]), ([1.0], [0.5])):
        with pytest.raises(ValueError, match=r"length|finite"):
            selective.aurc(scores, marks)
