"""Small promises of the statistics that no other test looked at."""

from __future__ import annotations

import math
import os
import re

import numpy as np
import pytest

from ragassay.stats.cores import cores
from ragassay.stats.corrected import Sampled, stratified
from ragassay.stats.figures import auroc_bounds
from ragassay.stats.onesided import _checked
from ragassay.stats.paired import mcnemar, tango
from ragassay.stats.region import in_region, region_numbers
from ragassay.stats.shared_flips import FlipGroup, _Table, flipped_units, shared_flips


def test_as_many_gained_as_lost_is_exactly_one() -> None:
    assert {mcnemar(at, at)[:2] for at in range(1, 400)} == {(1.0, 1.0)}


def test_every_count_of_tango_is_checked() -> None:
    for counts, name in (((-1, 0, 5), "gained"), ((0, -1, 5), "lost"), ((0, 0, -1), "pairs")):
        with pytest.raises(ValueError, match=f"^{name} must be 0 or more, got -1$"):
            tango(*counts)


def test_counts_below_0_are_told_exactly() -> None:
    with pytest.raises(ValueError, match=re.escape("counts must not be below 0") + "$") as caught:
        stratified(-1, 1, Sampled(1, 1, 1, 1))
    assert str(caught.value) == "counts must not be below 0"


def test_one_core_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for count, wanted in ((None, 1), (7, 7)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert cores() == wanted


@pytest.mark.parametrize("rows", [1, 2, 3, 1_024, 1_025])
def test_whole_numbers_are_as_fine_as_their_sums_allow(rows: int) -> None:
    """No sum of absolute values passes 2^51, and twice the rows of 1 would not fit twice."""
    values = np.full((rows, 1), 1 - 2.0**-40)
    table = _Table(FlipGroup(np.arange(rows), values, np.array([float(rows)])), rows)
    assert 2.0**49 <= np.abs(table.whole).sum() <= 2.0**51


def test_a_small_row_beside_a_large_one_is_not_flat() -> None:
    small, large = [1e-14, -1e-14] * 32, [0.5, -0.5] * 32
    sums = np.array([small, large])
    together = region_numbers(sums, np.ones(64), np.array([1e-13, 1.0]))
    alone = [region_numbers(sums[at : at + 1], np.ones(64), np.array([(1e-13, 1.0)[at]])) for at in range(2)]
    for at in range(2):
        assert [float(one[at]) for one in together] == pytest.approx([float(one[0]) for one in alone[at]])
    assert in_region(large, within=(-1.0, 1.0)).inside


def test_a_flat_row_beside_one_that_is_not() -> None:
    """Without variance nothing carries it, and one more unit could move the mean by any number of errors."""
    sums = np.array([[0.0] * 64, [0.5 / 64, -0.5 / 64] * 32])
    _, carry, skew, hidden = region_numbers(sums, np.ones(64), np.ones(2))
    assert carry.tolist() == pytest.approx([0.0, 64.0])
    assert skew.tolist() == pytest.approx([0.0, 0.0])
    assert hidden.tolist() == [np.inf, pytest.approx(hidden[1])]
    assert 0 < hidden[1] < 1


def test_ten_thousand_flips_unless_told() -> None:
    values = np.ones((17, 1))
    (found,) = shared_flips([FlipGroup(np.arange(17), values, np.array([17.0]))], 17, seed=1)[0]
    assert (found.flips, found.floor, found.exact) == (10_000, 1 / 10_001, False)


def test_no_pairs_are_told_by_name() -> None:
    assert tango(0, 0, 0)[:8] == (None, None, None, 0.95, 0, 0, "tango", "no_pairs")


def test_a_curve_of_nothing_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"^at least one positive and one negative are needed$"):
        auroc_bounds(0.5, 0.5, [], ["a"], 0.05)


def test_a_cluster_of_everything_moves_the_curve_by_one_at_most() -> None:
    """McDiarmid with shares 1 and small ones: a cluster with most of both sides would count 1.8 by addition alone."""
    ours, theirs = ["big"] * 9 + ["p"], ["big"] * 9 + ["n"]
    reach = math.sqrt((1.0 + 2 * 0.1**2) * math.log(2) / 2)
    low, high = auroc_bounds(0.7, 0.7, ours, theirs, 0.5)
    assert (low, high) == (pytest.approx(0.7 - reach), 1.0)


def test_what_could_hide_lies_at_the_farther_end_of_the_range() -> None:
    """The mean is 0.9: 0 is nine times as far as 1."""
    values = [0.8, 1.0] * 16
    assert in_region(values, within=(0.0, 1.0)).hidden == pytest.approx(9 * in_region(values, within=(0.8, 1.0)).hidden)


def test_a_full_word_of_units_takes_one_word_of_the_stream() -> None:
    """Pattern p of 64 units is the p-th word of the generator, its lowest bit the first unit."""
    words = np.random.PCG64(5).random_raw(4)
    expected = [[float(int(word) >> unit & 1) for unit in range(64)] for word in words[1:]]
    assert flipped_units(64, 1, 4, 5).T.tolist() == expected


def test_a_value_may_lie_outside_by_rounding_of_its_range() -> None:
    """A billionth of the range, however wide that is."""
    assert _checked([1000.0000005, 1.0], (0.0, 1000.0), 0.05, None)[0].tolist() == [1000.0, 1.0]
    with pytest.raises(ValueError, match=r"got 1000\.00001: give the measure's whole range$"):
        _checked([1000.00001, 1.0], (0.0, 1000.0), 0.05, None)
    with pytest.raises(ValueError, match=r"got 0\.0010000005: give"):
        _checked([0.0010000005], (0.0, 0.001), 0.05, None)
