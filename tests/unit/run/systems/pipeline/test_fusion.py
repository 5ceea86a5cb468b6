"""Fusion: hand calculations, a slow second form, and what may not matter: order of lists, empty ones, weights of 0."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import UsageError
from ragassay.run.systems.pipeline.fusion import FUSED_DIGITS, rrf, weighted

BM25 = [(7, 12.0), (3, 9.0), (5, 6.0)]
DENSE = [(5, 0.8), (7, 0.6), (9, 0.4)]

lists = st.lists(
    st.lists(st.integers(0, 12), unique=True, max_size=8).flatmap(
        lambda numbers: st.lists(st.floats(-10, 10, width=32), min_size=len(numbers), max_size=len(numbers)).map(
            lambda scores: list(zip(numbers, sorted(scores, reverse=True), strict=True))
        )
    ),
    max_size=4,
)


def pairs(found: object) -> list[tuple[int, float]]:
    return [tuple(one) for one in found]  # type: ignore[attr-defined]


def test_rrf_by_hand() -> None:
    # 7: 1/61 + 1/62; 5: 1/63 + 1/61; 3: 1/62; 9: 1/63
    assert pairs(rrf([BM25, DENSE])) == [
        (7, round(0.01639344262295082 + 0.016129032258064516, 12)),
        (5, round(0.015873015873015872 + 0.01639344262295082, 12)),
        (3, 0.016129032258),
        (9, 0.015873015873),
    ]


def test_rrf_with_weights_and_another_k_by_hand() -> None:
    # k = 0, weights 1 and 3: 7: 1 + 3/2; 3: 1/2; 5: 1/3 + 3; 9: 3/3
    assert pairs(rrf([BM25, DENSE], 0, [1.0, 3.0])) == [(5, 3.333333333333), (7, 2.5), (9, 1.0), (3, 0.5)]


def test_minmax_by_hand() -> None:
    # BM25: 7 -> 1, 3 -> 1/2, 5 -> 0; DENSE: 5 -> 1, 7 -> 1/2, 9 -> 0
    assert pairs(weighted([BM25, DENSE], [0.5, 1.0])) == [(5, 1.0), (7, 1.0), (3, 0.25), (9, 0.0)]


def test_zscore_by_hand() -> None:
    # BM25: mean 9, deviation sqrt(6): 7 -> 3/sqrt6 = 1.224744871392, 3 -> 0, 5 -> -1.22..; absent -> -1.22..
    # DENSE: mean 0.6, deviation sqrt(0.08/3): 5 -> 1.22.., 7 -> 0, 9 -> -1.22..; absent -> -1.22..
    assert pairs(weighted([BM25, DENSE], None, "zscore")) == [
        (7, 1.224744871392), (5, 0.0), (3, -1.224744871392), (9, -2.449489742783),
    ]  # fmt: skip


def test_scores_as_they_are_by_hand() -> None:
    assert pairs(weighted([BM25, DENSE], [1.0, 10.0], "none")) == [(7, 18.0), (5, 14.0), (3, 9.0), (9, 4.0)]


def test_a_flat_list_says_that_all_are_equally_good() -> None:
    assert pairs(weighted([[(4, 2.0), (1, 2.0)], [(9, 0.3)]])) == [(1, 1.0), (4, 1.0), (9, 1.0)]
    assert pairs(weighted([[(4, 2.0), (1, 2.0)], [(9, 0.3), (1, 0.1)]], None, "zscore")) == [
        (9, 1.0),
        (1, -1.0),
        (4, -1.0),
    ]


def test_ties_are_in_passage_order() -> None:
    assert [one.number for one in rrf([[(8, 1.0)], [(2, 1.0)], [(5, 1.0)]])] == [2, 5, 8]


def test_nothing_to_fuse() -> None:
    assert rrf([]) == weighted([]) == rrf([[], []]) == weighted([[], []], None, "zscore") == []


def test_what_stands_twice_counts_where_it_stands_first() -> None:
    assert rrf([[(1, 3.0), (2, 2.0), (1, 1.0), (4, 0.5)]]) == rrf([[(1, 3.0), (2, 2.0), (4, 0.5)]])
    assert weighted([[(1, 3.0), (2, 2.0), (1, 1.0)]]) == weighted([[(1, 3.0), (2, 2.0)]])


def test_what_is_refused() -> None:
    for wrong in (
        lambda: rrf([BM25], weights=[1.0, 1.0]),
        lambda: rrf([BM25], weights=[0.0]),
        lambda: rrf([BM25], weights=[-1.0]),
        lambda: rrf([BM25], weights=[float("nan")]),
        lambda: rrf([BM25], -1),
        lambda: weighted([BM25], None, "softmax"),  # type: ignore[arg-type]
        lambda: weighted([[(1, float("nan"))]]),
        lambda: weighted([[(1, float("inf"))]]),
    ):
        with pytest.raises(UsageError):
            wrong()


@given(lists, st.integers(0, 100))
def test_rrf_equals_exact_fractions(given_lists: list[list[tuple[int, float]]], k: int) -> None:
    wanted: dict[int, Fraction] = {}
    for one in given_lists:
        for rank, (number, _) in enumerate(one, 1):
            wanted[number] = wanted.get(number, Fraction(0)) + Fraction(1, k + rank)
    found = rrf(given_lists, k)
    assert {one.number for one in found} == wanted.keys()
    for one in found:
        assert abs(one.score - float(wanted[one.number])) < 10.0**-FUSED_DIGITS
    exact = sorted(wanted, key=lambda number: (-round(float(wanted[number]), FUSED_DIGITS), number))
    assert [one.number for one in found] == exact


@given(lists)
def test_the_order_of_the_lists_does_not_matter(given_lists: list[list[tuple[int, float]]]) -> None:
    weights = [1.0, 0.3, 2.5, 0.7][: len(given_lists)]
    for fuse in (
        lambda ones, ws: rrf(ones, 60, ws),
        lambda ones, ws: weighted(ones, ws, "minmax"),
        lambda ones, ws: weighted(ones, ws, "zscore"),
        lambda ones, ws: weighted(ones, ws, "none"),
    ):
        made = {
            tuple(pairs(fuse([given_lists[n] for n in order], [weights[n] for n in order])))
            for order in permutations(range(len(given_lists)))
        }
        assert len(made) == 1


@given(lists.filter(bool), st.sampled_from(["rrf", "minmax", "zscore", "none"]), st.data())
def test_a_weight_of_0_is_as_good_as_no_list(
    given_lists: list[list[tuple[int, float]]], how: str, data: st.DataObject
) -> None:
    gone = data.draw(st.integers(0, len(given_lists)))
    more = [*given_lists[:gone], BM25, *given_lists[gone:]]
    weights = [1.0] * len(given_lists)
    with_it = [*weights[:gone], 0.0, *weights[gone:]]
    if how == "rrf":
        assert rrf(more, 60, with_it) == rrf(given_lists)
    else:
        assert weighted(more, with_it, how) == weighted(given_lists, None, how)  # type: ignore[arg-type]


@given(lists, st.sampled_from(["rrf", "minmax", "zscore", "none"]))
def test_best_first_ties_in_passage_order_and_empty_lists_have_no_say(
    given_lists: list[list[tuple[int, float]]], how: str
) -> None:
    def fuse(ones: list[list[tuple[int, float]]]) -> list[tuple[int, float]]:
        return pairs(rrf(ones) if how == "rrf" else weighted(ones, None, how))  # type: ignore[arg-type]

    found = fuse(given_lists)
    assert found == sorted(found, key=lambda one: (-one[1], one[0]))
    assert fuse([*given_lists, []]) == found
    assert {number for number, _ in found} == {number for one in given_lists for number, _ in one}


@given(st.lists(st.floats(-5, 5, width=16), min_size=1, max_size=8), st.floats(0.5, 4), st.floats(-3, 3))
def test_minmax_does_not_see_scale_and_shift(scores: list[float], scale: float, shift: float) -> None:
    one = [(number, score) for number, score in enumerate(scores)]
    other = [(number, score * scale + shift) for number, score in one]
    for (_, a), (_, b) in zip(sorted(weighted([one])), sorted(weighted([other])), strict=True):
        assert a == pytest.approx(b, abs=1e-6)
