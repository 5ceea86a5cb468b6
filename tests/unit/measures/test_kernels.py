"""Kernels on several questions at once, by hand; what they refuse, word by word; types of what they hand on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.measures import column, one_list, parse
from ragassay.measures.kernels import KERNELS
from ragassay.measures.lists import Lists, places, running, summed
from ragassay.measures.ranking import whole


def lists(*questions: tuple[list[int | None], list[int]]) -> Lists:
    """Several questions: grades by rank (None: unjudged), and the grades of labels that were not retrieved."""
    rows = [(number, at + 1, grade) for number, (ranked, _) in enumerate(questions)
            for at, grade in enumerate(ranked) if grade is not None]  # fmt: skip
    labels = [(number, grade) for number, (ranked, more) in enumerate(questions)
              for grade in sorted([*(one for one in ranked if one is not None), *more], reverse=True)]  # fmt: skip
    query, rank, grade = (np.array(one, np.int64) for one in zip(*rows, strict=True))
    label_query, label_grade = (np.array(one, np.int64) for one in zip(*labels, strict=True))
    retrieved = np.array([len(ranked) for ranked, _ in questions])
    return Lists(len(questions), retrieved, query, rank, grade, label_query, label_grade)


# The second question retrieved nothing, the last one is the only one without labels that count.
FOUR = lists(
    ([2, None, 0, 1, None, 3], [1]),
    ([], [2, 1]),
    ([None, 1, 1], [0]),
    ([0, None], []),
)
LOG = np.log2
DCG = 2 / LOG(2) + 1 / LOG(5) + 3 / LOG(7)
EXPECTED = {
    "recall(rel=1)@4": [2 / 4, 0, 2 / 2, None],
    "hit(rel=2)@4": [1, 0, None, None],
    "precision(rel=1)@4": [2 / 4, 0, 2 / 4, None],
    "precision(rel=1)@1": [1, 0, 0, None],
    "r_precision(rel=1)": [2 / 4, 0, 1 / 2, None],
    "rr(rel=1)": [1, 0, 1 / 2, None],
    "rr(rel=1)@1": [1, 0, 0, None],
    "rr(rel=3)@5": [0, None, None, None],
    "ap(rel=1)": [(1 + 2 / 4 + 3 / 6) / 4, 0, (1 / 2 + 2 / 3) / 2, None],
    "ap(rel=1)@4": [(1 + 2 / 4) / 4, 0, (1 / 2 + 2 / 3) / 2, None],
    "ndcg": [DCG / (3 + 2 / LOG(3) + 1 / 2 + 1 / LOG(5)), 0, (1 / LOG(3) + 1 / 2) / (1 + 1 / LOG(3)), None],
    "ndcg@2": [2 / (3 + 2 / LOG(3)), 0, (1 / LOG(3)) / (1 + 1 / LOG(3)), None],
    "ndcg(gain=exp)@2": [3 / (7 + 3 / LOG(3)), 0, (1 / LOG(3)) / (1 + 1 / LOG(3)), None],
    "rbp(p=0.5,rel=1)": [0.5 * (1 + 1 / 8 + 1 / 32), 0, 0.5 * (1 / 2 + 1 / 4), None],
    "rbp(p=0.5,rel=1)@4": [0.5 * (1 + 1 / 8), 0, 0.5 * (1 / 2 + 1 / 4), None],
    "rbp(max=3,p=0.5)@4": [0.5 * (2 / 3 + 1 / 3 / 8), 0, 0.5 * (1 / 3 / 2 + 1 / 3 / 4), None],
    "rbp_residual(p=0.5)": [1 - 0.5 * (1 + 1 / 4 + 1 / 8 + 1 / 32), 1, 1 - 0.5 * (1 / 2 + 1 / 4), 1 - 0.5],
    "rbp_residual(p=0.5)@3": [1 - 0.5 * (1 + 1 / 4), 1, 1 - 0.5 * (1 / 2 + 1 / 4), 1 - 0.5],
    "err(max=3)@4": [3 / 8 + 1 / 4 * 5 / 8 * 1 / 8, 0, 1 / 2 * 1 / 8 + 1 / 3 * 7 / 8 * 1 / 8, None],
    "err(max=3)": [3 / 8 + 1 / 4 * 5 / 8 * 1 / 8 + 1 / 6 * 5 / 8 * 7 / 8 * 7 / 8, 0,
                   1 / 2 * 1 / 8 + 1 / 3 * 7 / 8 * 1 / 8, None],
    "bpref(rel=1)": [(1 + 0 + 0) / 4, 0, (1 + 1) / 2, None],
    "infap(rel=1)": [
        (1 + (1 / 4 + 3 / 4 * (2 / 3) * (1 + 1e-5) / (2 + 2e-5))
         + (1 / 6 + 5 / 6 * (3 / 5) * (2 + 1e-5) / (3 + 2e-5))) / 4,
        0, (1 / 2 + (1 / 3 + 2 / 3 * (1 / 2) * (1 + 1e-5) / (1 + 2e-5))) / 2, None],
    "judged@4": [3 / 4, 0, 2 / 4, 1 / 4],
    "judged": [4 / 6, None, 2 / 3, 1 / 2],
    "judged(over=retrieved)@4": [3 / 4, None, 2 / 3, 1 / 2],
    "harmful@4": [2 / 4, None, 2 / 3, 0],
    "harmful": [3 / 6, None, 2 / 3, 0],
    "set_precision(rel=1)": [3 / 6, None, 2 / 3, None],
    "set_f1(rel=1)": [2 * 3 / (6 + 4), 0, 2 * 2 / (3 + 2), None],
    "set_ap(rel=1)": [9 / 24, 0, 4 / 6, None],
    "ap(list=condensed,rel=1)": [(1 + 2 / 3 + 3 / 4) / 4, 0, 1, None],
}  # fmt: skip
REASONS = {"judged": "empty_list", "harmful": "empty_list", "set_precision": "nothing_relevant_or_empty_list"}


def test_every_kernel_is_here() -> None:
    assert {parse(name).name for name in EXPECTED} == set(KERNELS)


@pytest.mark.parametrize("name", EXPECTED)
def test_four_questions_at_once_by_hand(name: str) -> None:
    measure = parse(name)
    found = column(measure, FOUR)
    assert found.measure == measure
    assert found.value.shape == found.numerator.shape == found.denominator.shape == found.undefined.shape == (4,)
    assert (found.value.dtype, found.numerator.dtype, found.denominator.dtype) == (np.float64,) * 3
    assert found.undefined.dtype == bool
    for question, expected in enumerate(EXPECTED[name]):
        outcome = found.outcome(question)
        if expected is None:
            reason = REASONS.get(measure.name, "nothing_relevant")
            assert outcome == ("undefined", None, None, None, reason)
            assert not found.value[question] or found.denominator[question]
        else:
            assert (outcome.status, outcome.value, outcome.reason) == ("value", pytest.approx(expected, abs=1e-12), "")
    in_trec = column(measure.with_params(mode="trec"), FOUR)
    if "mode" in measure.declared.params:
        assert in_trec.value.tolist() == pytest.approx([one or 0 for one in EXPECTED[name]], abs=1e-12)
        assert not in_trec.undefined.any()
        assert in_trec.undefined.dtype == bool


@pytest.mark.parametrize(
    "call, kind, message, hint",
    [
        (lambda: one_list("err@3", [1], [True], [1]), UsageError, "err@3 does not say the greatest grade",
         "as in err(max=3)@10; gdeval has max=4"),
        (lambda: one_list("err(max=2)", [3], [True], [3]), InputError, "grade 3 is above max=2",
         "give the greatest grade of the rubric"),
        (lambda: one_list("rbp(max=1,p=0.5)", [0], [True], [2]), InputError, "grade 2 is above max=1",
         "give the greatest grade of the rubric"),
        (lambda: one_list("rbp(rel=1)", [1], [True], [1]), UsageError, "rbp(rel=1) does not say its persistence",
         "as in rbp(p=0.8)"),
        (lambda: one_list("rbp_residual", [1], [True], [1]), UsageError, "rbp_residual does not say its persistence",
         "as in rbp_residual(p=0.8)"),
        (lambda: one_list("recall@3", [1], [True], [1]), UsageError, "recall@3 does not say which grades are relevant",
         "spell it recall(rel=1)@3 or recall(rel=2)@3"),
        (lambda: one_list("ndcg(gain=exp)", [1001], [True], [1]), InputError, "grade 1001 is too large for gain=exp",
         "2^grade - 1 needs grades up to 1000; use gain=lin or smaller grades"),
        (lambda: one_list("latency", [1], [True], [1]), UsageError, "latency is not a measure of ranked lists",
         "these are: ap, bpref, err, harmful, hit, infap, judged, ndcg, precision, r_precision, rbp, rbp_residual, "
         "recall, rr, set_ap, set_f1, set_precision"),
    ],
)  # fmt: skip
def test_refusals(call: Callable[[], object], kind: type[RagassayError], message: str, hint: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_the_greatest_grades_that_are_taken() -> None:
    assert one_list("ndcg(gain=exp)", [1000], [True], [1000]).value == 1.0
    assert one_list("err(max=1)", [1], [True], [1]).value == 1 / 2
    assert one_list("err(max=1)", [], [], [1]).value == 0.0
    assert one_list("rbp(max=1,p=0.5)", [1], [True], [1]).value == 1 / 2
    assert one_list("rbp(max=1,p=0.5)", [-3, 1], [False, True], [1]).value == 1 / 4


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([[1]], [True], [1]), "gains must be one-dimensional, got shape (1, 1)"),
        (([0.5], [True], [1]), "gains must hold whole numbers, got dtype float64"),
        (([1], [True], [0.5]), "ideal must hold whole numbers, got dtype float64"),
        (([1], [True], ["x"]), "ideal must hold whole numbers, got dtype <U1"),
        (([1, 2], [True], [1]), "gains has shape (2,), judged has shape (1,)"),
        (([1], [True], [1], [0.5]), "held must hold whole numbers, got dtype float64"),
        (([1], [True], [1], [1, 1]), "gains has shape (1,), held has shape (2,)"),
    ],
)
def test_bad_arrays(arguments: tuple[list[int], ...], message: str) -> None:
    gains, judged, ideal, *held = arguments
    with pytest.raises(ValueError, match=r"^(gains|ideal|held) ") as caught:
        one_list("ndcg", gains, judged, ideal, held=held[0] if held else None)
    assert str(caught.value) == message


def test_whole_numbers_of_any_type_are_taken() -> None:
    for values in ([2, 0], [2.0, 0.0], np.array([2, 0], np.uint8), np.array([2, 0], np.int16), []):
        assert whole(values, "x").tolist() == list(map(int, values))
        assert whole(values, "x").dtype == np.int64
    assert whole([True, False], "x").tolist() == [1, 0]


def test_an_item_that_holds_something_is_judged_and_others_are_not() -> None:
    found = one_list("judged@4", [0, 0, 0, 2], [False] * 4, [2, 2], held=[1, 0, 0, 1])
    assert found.value == 2 / 4
    assert one_list("judged@4", [0, 0, 0, 2], [False, True, False, False], [2], held=[0, 0, 0, 0]).value == 2 / 4
    assert one_list("recall(rel=2)@1", [0, 2], [False, True], [2, 2], held=[1, 1]).value == 1 / 2


def test_sums_by_question() -> None:
    query = np.array([0, 0, 2, 2, 2])
    assert summed(query, np.array([0.5, 0.25, 1, 2, 3]), 5).tolist() == [0.75, 0, 6, 0, 0]
    assert summed(query[:0], np.zeros(0, np.int64), 2).dtype == np.float64
    flags = np.array([True, True, False, True, True])
    assert running(flags, query, 4).tolist() == [1, 2, 0, 1, 2]
    assert running(flags, query, 4).dtype == np.int64
    assert running(np.array([3, 4, 5, 6, 7]), query, 3).tolist() == [3, 7, 5, 11, 18]
    assert places(query, 4).tolist() == [1, 2, 1, 2, 3]
    assert places(query[:0], 3).tolist() == []


def test_lists_cut_and_truncated() -> None:
    cut = FOUR.truncated(2)
    assert (cut.rank.tolist(), cut.retrieved.tolist()) == ([1, 2, 1], [2, 0, 2, 2])
    assert FOUR.cut(2).retrieved.tolist() == [6, 0, 3, 2]
    assert FOUR.cut(None) is FOUR
    condensed = FOUR.condensed()
    assert (condensed.rank.tolist(), condensed.retrieved.tolist()) == ([1, 2, 3, 4, 1, 2, 1], [4, 0, 2, 1])
    assert FOUR.relevant_labels(2).tolist() == [2, 1, 0, 0]
    assert FOUR.other_labels(2).tolist() == [3, 1, 3, 1]
    negative = lists(([-1, 0, 1], [-2]))
    assert (negative.other_labels(1).tolist(), negative.judged.tolist()) == ([1], [False, True, True])
    assert negative.holds(1).tolist() == [0, 0, 1]
    assert negative.holds(1).dtype == np.int64
