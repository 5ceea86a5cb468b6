"""Small promises of the statistics that no other test looked at."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from ragassay.stats.cores import cores
from ragassay.stats.corrected import Sampled, stratified
from ragassay.stats.paired import mcnemar, tango
from ragassay.stats.region import in_region, region_numbers
from ragassay.stats.shared_flips import FlipGroup, _Table, shared_flips


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
