"""Swap tests of figures of a set: by counting all swaps, against scipy's permutation test, and by their level."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test

from ragassay.compare.swapped import Decided, difference_of, differing, ranks
from ragassay.measures import parse, selective
from ragassay.stats.randomise import sign_flip
from ragassay.stats.shared_flips import Flips
from ragassay.stats.swaps import Arms, swap_test

AURC = "aurc(of=exact_match)"
FIGURES = [AURC, "selective_risk(of=exact_match,coverage=0.5)", "calibration_error(of=exact_match,bins=5)",
           "retrieval_auroc(score=confidence)"]  # fmt: skip
Arm = tuple[list[float], list[float]]


def both(one: Arm, other: Arm, clusters: list[int] | None = None) -> Decided:
    """Two arms of one decision a question."""
    n = len(one[0])
    unit = np.array(clusters if clusters is not None else range(n))
    attempted = np.bincount(unit).astype(float)
    return Decided(
        np.array([*one[0], *other[0]]), np.array([*one[1], *other[1]]), np.concatenate([unit, unit]),
        np.arange(2 * n) >= n, (attempted, attempted), int(unit.max()) + 1,
    )  # fmt: skip


def test_of(own: Decided, spelled: str, **more: Any) -> Flips:
    found = swap_test(
        difference_of(parse(spelled), own), Arms(own.unit, own.candidate), differing(own), units=own.units,
        **{"seed": 1, **more},
    )  # fmt: skip
    assert found is not None
    return found


test_of.__test__ = False  # type: ignore[attr-defined]


def drawn(seed: int, n: int) -> tuple[Arm, Arm]:
    rng = np.random.default_rng(seed)

    def arm() -> Arm:
        return rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], n).tolist(), (rng.random(n) < 0.4).astype(float).tolist()

    return arm(), arm()


@pytest.mark.parametrize("spelled", FIGURES)
@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 1, 2, 3, 4, 5]])
def test_all_swaps_are_counted(spelled: str, clusters: list[int] | None) -> None:
    """Against a loop over every swap, with the figure of each arm taken by itself."""
    one, other = drawn(4, 8)
    measure, unit = parse(spelled), clusters or list(range(8))

    def figure(scores: list[float], marks: list[float]) -> float:
        if measure.name == "aurc":
            return float(selective.aurc(scores, marks)[0])
        if measure.name == "retrieval_auroc":
            return float(selective.auroc(scores, marks)[0])
        if measure.name == "calibration_error":
            return float(selective.calibration_error(scores, [1 - mark for mark in marks], 5)[0])
        found = selective.at_coverage(selective.risk_coverage(scores, marks), 4)
        assert found is not None
        return found.wrong / found.taken

    def difference(swapped: tuple[int, ...]) -> float:
        sides: list[Arm] = [([], []), ([], [])]
        for place in range(8):
            for side, arm in enumerate((one, other)):
                at = side ^ swapped[unit[place]]
                sides[at][0].append(arm[0][place])
                sides[at][1].append(arm[1][place])
        return figure(*sides[1]) - figure(*sides[0])

    units = max(unit) + 1
    seen = abs(difference((0,) * units))
    every = [abs(difference(swap)) for swap in itertools.product((0, 1), repeat=units)]
    extreme = np.mean([np.isnan(value) or value >= seen - 1e-9 for value in every])
    own = both(one, other, clusters)
    found = test_of(own, spelled)
    assert found.exact
    assert found.p == pytest.approx(extreme)
    assert found.floor == 2 / found.flips
    assert len(differing(own)) <= units


def test_a_figure_that_is_a_mean_has_the_p_of_a_sign_flip() -> None:
    """The risk at nearly full coverage is the share of wrong ones: the same statistic, the same signs."""
    one, other = drawn(7, 60)
    own = both(one, other)
    found = test_of(own, "selective_risk(of=exact_match,coverage=0.9999)", seed=9, swaps=999)
    plain = sign_flip(np.array(other[1]) - np.array(one[1]), seed=9, flips=999)
    assert (found.p, found.floor) == (pytest.approx(float(plain.p[0])), pytest.approx(0.001))


def test_like_scipy() -> None:
    """scipy.stats.permutation_test with pairs swapped (permutation_type "samples"): within Monte Carlo error."""
    one, other = drawn(11, 40)
    found = test_of(both(one, other), AURC, swaps=4_000)

    def statistic(a: Any, b: Any, axis: int = -1) -> Any:
        first, second = np.asarray(a), np.asarray(b)
        return selective.aurc(second.real, second.imag)[0] - selective.aurc(first.real, first.imag)[0]

    pairs = [np.array(scores) + 1j * np.array(marks) for scores, marks in (one, other)]
    scipys = permutation_test(pairs, statistic, permutation_type="samples", n_resamples=1_000, vectorized=False,
                              random_state=3)  # fmt: skip
    assert found.p == pytest.approx(scipys.pvalue, abs=4 * (0.25 / 1_000) ** 0.5)


def test_equal_arms_have_p_one_and_a_figure_without_value_none() -> None:
    one, _ = drawn(2, 30)
    assert test_of(both(one, one), AURC).p == 1.0
    own = both(([0.1, 0.2], [1.0, 1.0]), ([0.3, 0.4], [1.0, 1.0]))
    figure = difference_of(parse("retrieval_auroc(score=confidence)"), own)
    assert swap_test(figure, Arms(own.unit, own.candidate), differing(own), seed=0, units=2) is None


@pytest.mark.parametrize("spelled", FIGURES)
def test_its_level(spelled: str) -> None:
    """200 pairs of arms that are alike, 40 questions: at most 5 % below 0.05, and three Monte Carlo errors."""
    ps = []
    for seed in range(200):
        one, other = drawn(seed, 40)
        by_rank = not spelled.startswith("calibration")
        arms = [(ranks(np.array(scores)).tolist() if by_rank else scores, marks) for scores, marks in (one, other)]
        ps.append(test_of(both(arms[0], arms[1]), spelled, seed=seed, swaps=199).p)
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    assert 0.35 <= np.mean(ps) <= 0.75


def test_ranks() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0, 7.0])).tolist() == pytest.approx([0.5, 0.125, 0.5, 0.875])
    assert ranks(np.array([])).tolist() == []
