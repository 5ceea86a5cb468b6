"""Two proportions on the same questions: published examples, statsmodels, and coverage counted over every table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, multinomial

from ragassay.stats import clopper_pearson, wilson
from ragassay.stats.paired import mcnemar, newcombe, tango

counts = st.integers(0, 60)


@pytest.mark.parametrize(
    "gained, lost, p",
    [(1, 7, 0.0703125), (0, 5, 0.0625), (12, 2, 0.012939453125), (30, 30, 1.0), (86, 150, 3.7159361395713866e-05)],
)
def test_mcnemar_has_the_values_of_statsmodels(gained: int, lost: int, p: float) -> None:
    """statsmodels 0.15.0, mcnemar([[0, gained], [lost, 0]], exact=True)."""
    assert mcnemar(gained, lost).p == pytest.approx(p, rel=1e-12)
    assert mcnemar(lost, gained) == mcnemar(gained, lost)


def test_published_examples() -> None:
    """Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), chapter 8.

    Airway hyper-responsiveness (Bentur 2009: 1, 1, 7, 12) and complete response (Cavo 2012: 59, 6, 16, 80), to the
    digits in print and in the tests of the authors' R package contingencytables.
    """
    assert mcnemar(1, 7).p == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar(1, 7).mid_p == pytest.approx(0.0391, abs=5e-5)
    assert tango(1, 7, 21)[1:3] == pytest.approx((-0.517, -0.026), abs=5e-4)
    assert newcombe(1, 1, 7, 12)[1:3] == pytest.approx((-0.507, -0.026), abs=5e-4)
    assert mcnemar(6, 16).p == pytest.approx(0.052479, abs=5e-7)
    assert mcnemar(6, 16).mid_p == pytest.approx(0.034690, abs=5e-7)
    assert tango(6, 16, 161)[:3] == pytest.approx((-0.0621, -0.1240, -0.0054), abs=5e-5)
    assert newcombe(59, 6, 16, 80)[:3] == pytest.approx((-0.0621, -0.1186, -0.0046), abs=5e-5)


@given(counts, counts)
def test_mcnemar_is_the_sign_test(gained: int, lost: int) -> None:
    found = mcnemar(gained, lost)
    if gained + lost:
        assert found.p == pytest.approx(binomtest(gained, gained + lost, 0.5).pvalue, rel=1e-9)
        assert found.floor == pytest.approx(mcnemar(gained + lost, 0).p)
    assert 0 < found.mid_p <= found.p <= 1
    assert found.floor <= found.p


@given(counts, counts, counts, counts)
def test_statsmodels_itself(both: int, gained: int, lost: int, neither: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    if gained + lost:
        theirs = tables.mcnemar([[both, gained], [lost, neither]], exact=True).pvalue
        assert mcnemar(gained, lost).p == pytest.approx(theirs, rel=1e-9)
    n = both + gained + lost + neither
    if n:
        for ours, name in ((wilson(gained, n), "wilson"), (clopper_pearson(gained, n), "beta")):
            assert ours[1:3] == pytest.approx(proportion.proportion_confint(gained, n, 0.05, name), abs=1e-9)


@pytest.mark.parametrize(
    "highs, n, score, exact",
    [
        (0, 10, (0.0, 0.27753279986288926), (0.0, 0.30849710781876083)),
        (7, 20, (0.18119182410108203, 0.5671457233147638), (0.15390920478454118, 0.5921885345328282)),
        (297, 300, (0.9710165066376601, 0.9965933815622847), (0.9710554887443074, 0.9979329927649077)),
        (300, 300, (0.9873570287754538, 1.0), (0.9877790253057065, 1.0)),
    ],
)
def test_wilson_and_clopper_pearson_have_the_values_of_statsmodels(
    highs: int, n: int, score: tuple[float, float], exact: tuple[float, float]
) -> None:
    """statsmodels 0.15.0, proportion_confint(highs, n, 0.05, "wilson") and (..., "beta")."""
    assert wilson(highs, n)[1:3] == pytest.approx(score, abs=1e-12)
    assert clopper_pearson(highs, n)[1:3] == pytest.approx(exact, abs=1e-12)


@given(counts, counts, counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_ends_of_tango_solve_its_equation(gained: int, lost: int, rest: int, level: float) -> None:
    n = gained + lost + rest
    if n == 0:
        return
    found = tango(gained, lost, n, level)
    z = math.sqrt(binomial_z(level))
    for end in found[1:3]:
        assert end is not None
        if abs(end) > 1 - 1e-9:
            continue
        q = likeliest(gained, lost, n, end)
        variance = 2 * q + end - end * end
        assert n * ((gained - lost) / n - end) ** 2 == pytest.approx(z * z * variance, rel=1e-4, abs=1e-8)


def binomial_z(level: float) -> float:
    from scipy.stats import chi2

    return float(chi2.ppf(level, 1))


def likeliest(gained: int, lost: int, n: int, difference: float) -> float:
    """Of the chances of a loss that the difference allows, the likeliest: by search, not by formula."""
    from scipy.optimize import minimize_scalar

    low, high = max(0.0, -difference), (1 - difference) / 2

    def against(q: float) -> float:
        parts = ((gained, q + difference), (lost, q), (n - gained - lost, 1 - 2 * q - difference))
        return -sum(count * math.log(max(chance, 1e-300)) for count, chance in parts if count)

    return float(minimize_scalar(against, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)


@given(counts, counts, counts, counts, st.floats(0.5, 0.99))
def test_both_intervals_are_mirrored_and_hold_the_estimate(
    both: int, gained: int, lost: int, neither: int, level: float
) -> None:
    n = both + gained + lost + neither
    if n == 0:
        assert tango(0, 0, 0, level).reason == newcombe(0, 0, 0, 0, level).reason == "no_pairs"
        return
    for one, other in (
        (tango(gained, lost, n, level), tango(lost, gained, n, level)),
        (newcombe(both, gained, lost, neither, level), newcombe(both, lost, gained, neither, level)),
    ):
        low, high, estimate = one.low, one.high, one.estimate
        assert low is not None
        assert high is not None
        assert estimate == (gained - lost) / n
        assert -1 <= low <= estimate + 1e-12
        assert estimate - 1e-12 <= high <= 1
        assert high > low
        assert (other.low, other.high) == pytest.approx((-high, -low), abs=1e-12)


@given(counts, counts, st.integers(1, 60))
def test_wider_with_the_level_and_narrower_with_pairs(gained: int, lost: int, rest: int) -> None:
    n = gained + lost + rest
    widths = [width(tango(gained, lost, n, level)) for level in (0.8, 0.95, 0.99)]
    assert widths == sorted(widths)
    widths = [width(newcombe(rest, gained, lost, 0, level)) for level in (0.8, 0.95, 0.99)]
    assert widths == sorted(widths)
    assert width(tango(4 * gained, 4 * lost, 4 * n)) < width(tango(gained, lost, n))


def width(of: tuple[object, ...]) -> float:
    low, high = of[1], of[2]
    assert isinstance(low, float)
    assert isinstance(high, float)
    return high - low


def test_nothing_moved() -> None:
    z2 = binomial_z(0.95)
    assert tango(0, 0, 20)[1:3] == pytest.approx((-z2 / (20 + z2), z2 / (20 + z2)))
    assert tango(20, 0, 20).high == 1
    assert tango(0, 20, 20).low == -1
    assert mcnemar(0, 0) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("chances", [(0.6, 0.1, 0.1, 0.2), (0.85, 0.08, 0.04, 0.03), (0.3, 0.3, 0.1, 0.3)])
def test_coverage_over_every_table_of_30_pairs(chances: tuple[float, ...]) -> None:
    """Counted over all 5,456 tables: near 95 %, and more where few questions move."""
    n, held, total = 30, [0.0, 0.0], 0.0
    truth = chances[1] - chances[2]
    tables = [(a, b, c, n - a - b - c) for a in range(n + 1) for b in range(n + 1 - a) for c in range(n + 1 - a - b)]
    weights = multinomial(n, chances).pmf(np.array(tables))
    ends = {}
    for (both, gained, lost, neither), weight in zip(tables, weights, strict=True):
        if weight < 1e-7:
            continue
        if (gained, lost) not in ends:
            ends[gained, lost] = tango(gained, lost, n)
        total += weight
        for place, one in enumerate((ends[gained, lost], newcombe(both, gained, lost, neither))):
            assert one.low is not None
            assert one.high is not None
            held[place] += weight * (one.low <= truth <= one.high)
    assert total > 0.999
    most = 0.99 if chances[1] + chances[2] < 0.15 else 0.97
    assert all(0.93 <= one <= most for one in held), held


@pytest.mark.parametrize(
    "call",
    [lambda: mcnemar(-1, 2), lambda: tango(3, 3, 5), lambda: tango(1, 1, 5, 1.0), lambda: newcombe(1, -1, 0, 0),
     lambda: newcombe(0, 0, 0, 0, 0.0)],
)  # fmt: skip
def test_what_is_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"must|of 5 pairs"):
        call()  # type: ignore[operator]
