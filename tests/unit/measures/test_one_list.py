"""The worked examples of the reference notes, made with pytrec_eval 0.5 and by hand, against one-list kernels."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ragassay.errors import InputError, UsageError
from ragassay.measures import Measure, Outcome, evaluate, one_list, parse

# name: (qrels, ranked documents); the rank orders are those that score, then id, both descending, give.
EXAMPLES = {
    "E1": ({"a": 1, "b": 0, "c": 1, "z": 1}, "a b x c y"),
    "E2": ({"d1": 1, "d5": 0}, "d9 d5 d1 d3"),
    "E3": ({"10": 1, "2": 1}, "9 2 100 10"),
    "E4": ({"a": 3, "b": 2, "c": 1, "d": 0, "e": 3, "f": 0}, "b d a x c f"),
    "E5": ({"a": 1, "b": 1, "c": 1}, "a q"),
    "E6": ({"a": -1, "b": 2, "c": 0, "d": 1, "f": 3}, "a b e c d"),
    "E7": ({"a": 0, "b": 0}, "a b"),
    "E8": ({"r1": 1, "r2": 1, "r3": 1, "n1": 0}, "u1 r1 n1 r2 u2 r3"),
    "E9": ({"r1": 1, "r2": 1, "n1": 0, "n2": 0, "n3": 0}, "n1 r1 n2 u n3 r2"),
    "E10": ({"a": 1}, "x y"),
    "E11": ({"a": 1}, "b a"),
    "E12": (
        {f"d{i:02}": 3 if i < 2 else 2 if i < 5 else 1 for i in range(12)},
        "d00 d01 d02 d03 d05 d07 d08 d09 d11 d40 d41 d42",
    ),
}
MEASURES = "ap ap@3 rr precision@3 precision@10 recall@3 recall@5 ndcg@3 ndcg@5 ndcg@10 bpref r_precision infap"
MEASURES = MEASURES.split()
TABLE = """
E1 1 .5 .33333333 1 .33333333 .2 .33333333 .66666667 .46927873 .67138607 .67138607 .33333333 .33333333 .5
E2 1 .33333333 .33333333 .33333333 .33333333 .1 1 1 .5 .5 .5 0 0 .33333667
E3 1 .5 .25 .5 .33333333 .2 .5 1 .38685281 .65092093 .65092093 1 .5 .49999875
E4 1 .56666667 .41666667 1 .66666667 .3 .5 .75 .59394624 .61467128 .61467128 .5 .5 .5666665
E4 2 .55555556 .55555556 1 .66666667 .2 .66666667 .66666667 .59394624 .61467128 .61467128 .55555556 .66666667 .55555556
E5 1 .33333333 .33333333 1 .33333333 .1 .33333333 .33333333 .46927873 .46927873 .46927873 .33333333 .33333333 .33333333
E6 1 .3 .16666667 .5 .33333333 .2 .33333333 .66666667 .26499301 .34623288 .34623288 .33333333 .33333333 .41666667
E6 2 .25 .25 .5 .33333333 .1 .5 .5 .26499301 .34623288 .34623288 .5 .5 .375
E8 1 .5 .16666667 .5 .33333333 .3 .33333333 .66666667 .29608191 .49818926 .66534971 .33333333 .33333333 .49999981
E9 1 .41666667 .25 .5 .33333333 .2 .5 .5 .38685281 .38685281 .60526024 .25 .5 .41666958
E10 1 0 0 0 0 0 0 0 0 0 0 0 0 0
E11 1 .5 .5 .5 .33333333 .1 1 1 .63092975 .63092975 .63092975 1 0 .5
E12 1 .75 .25 1 1 .9 .25 .41666667 1 .94861044 .92591018 .75 .75 .74999848
"""
CELLS = [
    (row.split()[0], int(row.split()[1]), name, float(value))
    for row in TABLE.strip().splitlines()
    for name, value in zip(MEASURES, row.split()[2:], strict=True)
]
SECOND = """
E1 .5625 .1875 .3024 .5376 - .46927873 .67138607 .0771484375 1:.5625 2/3 .6 .3 2/3 .6 .6
E2 .125 .625 .128 .712 - .5 .5 .0208333333 1:.1666666667 2/3 .4 .2 2/3 .5 .5
E4 .65625 .078125 .40992 .364544 .46875 .5032319774 .5159779304 .311702474 3:.5592447917 1 .8 .5 1 .8 5/6
E5 .5 .5 .2 .8 - .46927873 .46927873 .0625 1:.5 1/3 .2 .1 .5 .5 .5
E6 .28125 .65625 .24192 .65568 .1770833333 .2015151419 .2427012898 .10390625 3:.203125 1/3 .6 .3 1/3 .6 .6
E9 .265625 .078125 .225536 .364544 - .38685281 .38685281 .03125 1:.25 1 .8 .5 1 .8 5/6
"""
"""rbp, graded rbp by 3, exp ndcg, err by the rubric's 4 and by the greatest grade of its own, judged of k and of what
there is: as in the notes, where exp ndcg of grades 0 and 1 is the linear one."""
SECOND_NAMES = (
    "rbp(p=0.5,rel=1) rbp_residual(p=0.5) rbp(p=0.8,rel=1) rbp_residual(p=0.8) rbp(max=3,p=0.5) ndcg(gain=exp)@3 "
    "ndcg(gain=exp)@5 err(max=4)@5 err(max={})@5 judged@3 judged@5 judged@10 judged(over=retrieved)@3 "
    "judged(over=retrieved)@5 judged(over=retrieved)@10"
)
MORE = [
    (row.split()[0], name.format(cell.partition(":")[0]), float(Fraction(cell.rpartition(":")[2])))
    for row in SECOND.strip().splitlines()
    for name, cell in zip(SECOND_NAMES.split(), row.split()[1:], strict=True)
    if cell != "-"
] + [
    ("E4", "hit(rel=3)@2", 0.0),
    ("E4", "hit(rel=3)@3", 1.0),
    ("E4", "set_precision(rel=1)", 3 / 6),
    ("E4", "set_f1(rel=1)", 2 * 3 / (6 + 4)),
    ("E4", "set_ap(rel=1)", 3 / 6 * 3 / 4),
    ("E1", "precision(list=condensed,rel=1)@3", 2 / 3),  # a b c without x and y
]


def run(example: str, measure: Measure) -> Outcome:
    qrels, ranked = EXAMPLES[example]
    documents = ranked.split()
    gains = [qrels.get(one, 0) for one in documents]
    return one_list(measure, gains, [qrels.get(one, -1) >= 0 for one in documents], list(qrels.values()))


@pytest.mark.parametrize("example, rel, name, expected", CELLS)
def test_worked_examples(example: str, rel: int, name: str, expected: float) -> None:
    found = run(example, parse(name).with_rel(rel))
    assert found.value == pytest.approx(expected, abs=6e-9)
    assert found.numerator / found.denominator == found.value


@pytest.mark.parametrize("example, name, expected", MORE)
def test_more_worked_examples(example: str, name: str, expected: float) -> None:
    assert run(example, parse(name)).value == pytest.approx(expected, abs=6e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_the_example_without_anything_relevant(name: str) -> None:
    """E7: trec_eval prints 0; natively there is nothing to say."""
    measure = parse(name).with_rel(1)
    assert run("E7", measure) == Outcome("undefined", None, None, None, "nothing_relevant")
    assert run("E7", measure.with_params(mode="trec")).value == 0.0


def test_the_examples_of_float32_and_of_a_duplicate() -> None:
    """E11 in either order; E13 is an error of trec_eval, and natively a counts once, at rank 1."""
    scores = {"q": {"a": 33.9211702, "b": 33.9211701}}
    found = evaluate({"q": {"a": 1}}, scores, ["rr(mode=trec)", "rr(mode=trec10)"])
    assert [one.value for one in found.summaries()] == [0.5, 1.0]
    rows = (["q"] * 3, ["a", "b", "a"], [3.0, 2.0, 1.0])
    assert evaluate({"q": {"a": 1}}, rows, ["ap"])["ap"].value == 1.0
    with pytest.raises(InputError, match="stands twice"):
        evaluate({"q": {"a": 1}}, rows, ["ap(mode=trec)"])


def test_nothing_relevant_is_undefined_and_zero_in_trec_mode() -> None:
    for name in [*MEASURES, "rbp(p=0.5)", "err(max=3)", "set_precision"]:
        spelled = parse(name).with_rel(1)
        assert one_list(spelled, [0, 0], [True, True], [0, 0]).status == "undefined"
        in_trec = one_list(spelled.with_params(mode="trec"), [0, 0], [True, True], [0, 0])
        assert (in_trec.status, in_trec.value) == ("value", 0.0)


def test_an_empty_list_is_not_perfect() -> None:
    assert one_list("precision(rel=1)@5", [], [], [1]) == Outcome("value", 0.0, 0.0, 5.0)
    assert one_list("harmful@5", [], [], [1]) == Outcome("undefined", None, None, None, "empty_list")
    assert one_list("judged", [], [], [1]).reason == "empty_list"
    assert one_list("rbp_residual(p=0.5)", [], [], [1]).value == 1.0


def test_an_item_may_hold_several_pieces_of_evidence() -> None:
    # Ranks hold 2, 0 and 1 of four relevant pieces.
    arguments = ([3, 0, 2], [True, True, True], [3, 3, 2, 2, 0])
    assert one_list("recall(rel=2)@1", *arguments, held=[2, 0, 1]).value == 2 / 4
    assert one_list("recall(rel=2)@3", *arguments, held=[2, 0, 1]).value == 3 / 4
    assert one_list("precision(rel=2)@3", *arguments, held=[2, 0, 1]).value == 2 / 3
    assert one_list("ap(rel=2)", *arguments, held=[2, 0, 1]).value == pytest.approx((2 * 1 + 2 / 3) / 4)


def test_harmful_counts_marked_items_over_those_read() -> None:
    assert one_list("harmful@2", [1, 0, 1], [False] * 3, []).value == 1 / 2
    assert one_list("harmful@10", [1, 0, 1], [False] * 3, []).value == 2 / 3


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="which grades are relevant"):
        one_list("recall@3", [1], [True], [1])
    with pytest.raises(UsageError, match="not a measure of ranked lists"):
        one_list("latency", [1], [True], [1])
    with pytest.raises(UsageError, match="persistence"):
        one_list("rbp(rel=1)", [1], [True], [1])
    with pytest.raises(InputError, match="above max"):
        one_list("err(max=2)", [3], [True], [3])
    with pytest.raises(InputError, match="too large"):
        one_list("ndcg(gain=exp)", [2000], [True], [2000])
    with pytest.raises(ValueError, match="gains must hold whole numbers"):
        one_list("ndcg", [0.5], [True], [1])
    with pytest.raises(ValueError, match="shape"):
        one_list("ndcg", [1, 2], [True], [1])
