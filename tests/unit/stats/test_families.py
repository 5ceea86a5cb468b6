"""Holm, and Benjamini and Hochberg: against statsmodels' values, the definitions and their false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.stats.families import bh, holm

P = [0.01, 0.04, 0.03, 0.005, 0.04, 0.2, 0.9, 0.0001]
"""statsmodels 0.15.0, multipletests(P, method="holm") and (..., "fdr_bh"), gave the two rows below."""
HOLM = [0.06, 0.16, 0.15, 0.035, 0.16, 0.4, 0.9, 0.0008]
BH = [0.02666666666666667, 0.05333333333333334, 0.05333333333333334, 0.02, 0.05333333333333334, 0.2285714285714286,
      0.9, 0.0008]  # fmt: skip
ps = st.lists(st.floats(0, 1), max_size=12)


def test_the_values_of_statsmodels() -> None:
    assert holm(P) == pytest.approx(HOLM, abs=1e-15)
    assert bh(P) == pytest.approx(BH, abs=1e-15)


@given(ps.filter(len))
def test_statsmodels_itself(p: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1], abs=1e-12)
    assert bh(p) == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1], abs=1e-12)


def test_none_and_one() -> None:
    assert holm([]).shape == bh([]).shape == (0,)
    assert holm([0.3]).tolist() == bh([0.3]).tolist() == [0.3]


@given(ps)
def test_the_definitions_one_by_one(p: list[float]) -> None:
    m, ordered = len(p), sorted(p)
    stepped = [max(min(1.0, (m - j) * ordered[j]) for j in range(i + 1)) for i in range(m)]
    scaled = [min(ordered[j] * m / (j + 1) for j in range(i, m)) for i in range(m)]
    assert sorted(holm(p).tolist()) == pytest.approx(stepped)
    assert sorted(bh(p).tolist()) == pytest.approx(scaled)


@given(ps.filter(len), st.randoms(use_true_random=False))
def test_order_is_kept_and_ties_stay_ties(p: list[float], random: object) -> None:
    order = list(range(len(p)))
    random.shuffle(order)  # type: ignore[attr-defined]
    for adjust in (holm, bh):
        made = adjust(p)
        assert adjust([p[at] for at in order]).tolist() == [made[at] for at in order]
        assert all(made[i] <= made[j] for i in range(len(p)) for j in range(len(p)) if p[i] <= p[j])
        assert np.all(made >= np.array(p) * (1 - 1e-15))
        assert np.all(made <= 1)
    assert np.all(bh(p) <= holm(p) + 1e-15)


@given(ps.filter(len), st.integers(0, 11), st.floats(0, 1))
def test_rises_with_every_p(p: list[float], place: int, by: float) -> None:
    more = list(p)
    more[place % len(p)] += by * (1 - more[place % len(p)])
    for adjust in (holm, bh):
        assert np.all(adjust(more) >= adjust(p) - 1e-12)


def test_false_alarms_in_families_of_nothing() -> None:
    """20 true null hypotheses: any rejected in at most 5 of 100 families, less three Monte Carlo errors."""
    draws = np.random.default_rng(3).random((4000, 20))
    for adjust in (holm, bh):
        alarms = np.mean([adjust(p).min() <= 0.05 for p in draws])
        assert 0.05 - 3 * 0.0035 <= alarms <= 0.05 + 3 * 0.0035


@pytest.mark.parametrize("bad", [[1.5], [-0.1], [float("nan")], [[0.1, 0.2]]])
def test_what_is_refused(bad: list[float]) -> None:
    for adjust in (holm, bh):
        with pytest.raises(ValueError, match="p-values"):
            adjust(bad)
