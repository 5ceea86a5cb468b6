"""Risk at a coverage, bins and counts at their ends: nothing, one decision, more wanted than there is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragassay.measures import selective

CONFIDENCE, WRONG = [0.9, 0.7, 0.7, 0.2], [0, 1, 0, 1]


def test_the_risk_at_a_coverage_row_by_row() -> None:
    """Weights 1: 1, 3, 4 decisions taken with 0, 1, 2 wrong. The second row has the last decision twice, no second."""
    weights = np.array([[1, 1, 1, 1]] * 5 + [[0, 0, 1, 2]] * 2, float)
    found = selective.risk_at(CONFIDENCE, WRONG, np.array([1, 2, 4, 5, 0, 1, 3]), weights)
    assert found == pytest.approx([0.0, 1 / 3, 2 / 4, math.nan, math.nan, 0.0, 2 / 3], nan_ok=True)
    one = selective.risk_at([0.4], [1], np.array([1, 1, 2]), np.array([[1.0], [0.0], [2.0]]))
    assert one == pytest.approx([1.0, math.nan, 1.0], nan_ok=True)


def test_the_risk_at_a_coverage_of_nothing() -> None:
    found = selective.risk_at([], [], np.array([1, 2]), np.zeros((2, 0)))
    assert found.shape == (2,)
    assert np.isnan(found).all()


def test_the_curve_of_nothing() -> None:
    curve = selective.risk_coverage([], [])
    assert [(one.shape, one.dtype) for one in curve] == [((0,), np.float64), ((0,), np.int64), ((0,), np.int64)]
    assert {one.dtype for one in selective.risk_coverage(CONFIDENCE, WRONG)[1:]} == {np.dtype(np.int64)}


def test_one_decision_lies_in_the_middle_bin() -> None:
    assert selective.bin_places([0.5], 1).tolist() == [0]
    assert selective.bin_places([0.5], 2).tolist() == [1]
    assert selective.bin_places([0.5], 5).tolist() == [2]


def test_the_bin_of_each_decision() -> None:
    """Six decisions, three bins of two; the three tied at 0.4 have their middle at 2.5 of 6: the second bin."""
    found = selective.bin_places([0.9, 0.4, 0.1, 0.4, 0.8, 0.4], 3)
    assert (found.tolist(), found.dtype) == ([2, 1, 0, 1, 2, 1], np.int64)
    none = selective.bin_places([], 3)
    assert (none.shape, none.dtype) == ((0,), np.int64)


def test_weights_of_whole_numbers_that_are_no_floats() -> None:
    weights = np.array([[2, 0, 1, 1]], np.uint8)
    assert selective.aurc(CONFIDENCE, WRONG, weights) == pytest.approx(selective.aurc(CONFIDENCE, WRONG, weights * 1.0))
    # Right twice at 0.9 and once at 0.7, wrong once at 0.2: risks 0, 0, 0, 1/4.
    assert selective.aurc(CONFIDENCE, WRONG, weights) == pytest.approx([1 / 16])


@pytest.mark.parametrize("of_all", [selective.aurc, selective.auroc])
def test_one_value_without_weights(of_all: object) -> None:
    assert of_all(CONFIDENCE, WRONG).shape == of_all([], []).shape == (1,)
    assert of_all([], [], np.zeros((3, 0))).shape == (3,)


def test_agreement_of_several_repeats() -> None:
    """Of four pairs of words two are equal, of the other two variants' four one each: (2/4 + 1/4 + 1/4) / 3."""
    assert selective.agreement([["a", "b"], ["a", "a"], ["b", "c"]]) == pytest.approx((2 / 4 + 1 / 4 + 0 / 4) / 3)


def test_what_is_refused_is_told_exactly() -> None:
    with pytest.raises(ValueError, match=r"^confidences must be finite, and marks 0 or 1$"):
        selective.aurc([math.inf], [1])
    with pytest.raises(ValueError, match=r"^two rows of one length are needed, got shapes \(1,\) and \(2,\)$"):
        selective.aurc([1.0], [1, 0])
    with pytest.raises(ValueError, match=r"shapes \(1, 1\) and \(1, 1\)"):
        selective.aurc([[1.0]], [[1]])
