"""Bounds of quantiles: order statistics as the binomial distribution has them, by hand, by property."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ragassay.score.quantiles import quantile
from ragassay.stats.onesided import lower_bound, upper_bound
from ragassay.stats.quantiles import Bound, Timed, quantile_ends

TIMES = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=30)


def mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return math.fsum(values) / len(values)


def timed(values: list[float], unknown: int = 0) -> Timed:
    """The last ones are not known to have ended."""
    known = np.arange(len(values)) < len(values) - unknown
    return Timed(np.arange(len(values)), np.array(values), known)


def bounds(alpha: float, method: str = "exact") -> tuple[Bound, Bound]:
    return partial(lower_bound, within=(0.0, 1.0), alpha=alpha, method=method), partial(
        upper_bound, within=(0.0, 1.0), alpha=alpha, method=method
    )


@pytest.mark.parametrize("n", [10, 72, 200, 1000])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_they_are_the_order_statistics_of_the_binomial(n: int, share: float) -> None:
    """Conover 1999, section 3.2: X_(k) is an upper bound from the first k on with P(Bin(n, share) >= k) <= alpha."""
    values = np.random.default_rng(n).permutation(np.arange(1, n + 1)).astype(float).tolist()
    ranks = np.arange(1, n + 1)
    high = ranks[binom.sf(ranks - 1, n, share) <= 0.025]
    low = ranks[binom.cdf(ranks - 1, n, share) < 0.025]
    found = quantile_ends(timed(values), share, *bounds(0.025))
    assert found.high == (float(high[0]) if len(high) else None)
    assert found.low == (float(low[-1]) if len(low) else None)


@given(TIMES, st.sampled_from([0.5, 0.9, 0.95]))
def test_by_the_mean_itself_both_ends_are_the_quantile(values: list[float], share: float) -> None:
    found = quantile_ends(timed(values), share, mean, mean)
    assert (found.low, found.high) == (quantile(values, [], share),) * 2


@given(TIMES, st.integers(0, 30), st.sampled_from([0.5, 0.95]))
def test_what_is_not_known_widens_and_no_completion_lies_outside(values: list[float], lost: int, share: float) -> None:
    unknown = min(lost, len(values))
    found = quantile_ends(timed(values, unknown), share, mean, mean)
    for more in (0.0, 3.0, 1e6):
        ended = values[: len(values) - unknown] + [one + more for one in values[len(values) - unknown :]]
        true = quantile(ended, [], share)
        assert true is not None
        assert found.low is None or found.low <= true
        assert found.high is None or found.high >= true
    assert (found.high is None) == (unknown > (1 - share) * len(values) + 1e-9)


@given(st.lists(st.floats(0, 100), min_size=5, max_size=60), st.integers(0, 4), st.floats(0, 50))
def test_a_greater_time_never_lowers_a_bound(values: list[float], place: int, more: float) -> None:
    later = [one + more if at == place else one for at, one in enumerate(values)]
    before, after = (quantile_ends(timed(one), 0.5, *bounds(0.05, "betting")) for one in (values, later))
    assert (after.low or 0) >= (before.low or 0) - 1e-9
    assert before.high is None or after.high is None or after.high >= before.high - 1e-9


def test_repeats_are_shares_of_their_question() -> None:
    """Two questions: one with both repeats above 10, one with one of two; then 3/4 of the share lies above."""
    found = Timed(np.array([0, 0, 1, 1]), np.array([11.0, 12.0, 9.0, 30.0]), np.ones(4, np.bool_))
    assert found.above(10.0, worst=False).tolist() == [1.0, 0.5]
    assert quantile_ends(found, 0.25, mean, mean) == (9.0, 9.0)
    assert quantile_ends(found, 0.26, mean, mean) == (11.0, 11.0)
