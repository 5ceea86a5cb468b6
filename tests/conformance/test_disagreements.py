"""Where tools disagree: our value, with the hand calculation beside it, and what the other tool says instead."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from ragassay.errors import InputError
from ragassay.measures import evaluate, one_list
from ragassay.measures.drop_in import RelevanceEvaluator

GRADED = {"a": 3, "b": 2, "c": 1, "d": 0, "e": 3, "f": 0}
RUN = {"b": 9.0, "d": 8.0, "a": 7.0, "x": 6.0, "c": 5.0, "f": 4.0}


def value(measure: str, qrels: dict[str, int], run: dict[str, float]) -> float | None:
    return evaluate({"q": qrels}, {"q": run}, [measure]).question(measure, "q").value


def test_sklearn_agrees_when_all_labels_are_passed_in_and_not_otherwise() -> None:
    items = ["b", "d", "a", "x", "c", "f", "e"]
    truth = [[GRADED.get(item, 0) for item in items]]
    scores = [[RUN.get(item, 0.0) for item in items]]
    assert value("ndcg@10", GRADED, RUN) == pytest.approx(0.61467128, abs=1e-8)
    # With all seven rows scikit-learn also discounts the unretrieved e at rank 7: 3 / log2(8) = 1.
    ideal = 3 + 3 / np.log2(3) + 2 / 2 + 1 / np.log2(5)
    ours = (2 + 3 / 2 + 1 / np.log2(6)) / ideal
    assert value("ndcg@10", GRADED, RUN) == pytest.approx(ours)
    assert ndcg_score(truth, scores) == pytest.approx((2 + 3 / 2 + 1 / np.log2(6) + 1) / ideal)
    # Cut at 3 the two agree: (2/1 + 0 + 3/2) / (3 + 3/log2(3) + 2/2) = 0.59394624
    assert value("ndcg@3", GRADED, RUN) == pytest.approx(ndcg_score(truth, scores, k=3))
    # Left out of sklearn's rows, the unretrieved e vanishes from the ideal: 0.7350 instead of 0.5939.
    assert ndcg_score([truth[0][:6]], [scores[0][:6]], k=3) == pytest.approx(0.7350, abs=1e-4)


def test_ties_go_by_id_not_by_insertion_order() -> None:
    # Order d9 d5 d1 d3 (ids descending by bytes): first relevant at rank 3. ranx: depends on insertion order.
    for run in ({"d1": 2, "d9": 2, "d5": 2, "d3": 1}, {"d9": 2, "d5": 2, "d3": 1, "d1": 2}):
        assert value("rr", {"d1": 1, "d5": 0}, run) == pytest.approx(1 / 3)
    result = evaluate({"q": {"d1": 1}}, {"q": {"d1": 2, "d9": 2, "d5": 2, "d3": 1}}, ["rr"])
    assert result["rr"].ties == (pytest.approx(1 / 3), 1.0)
    assert result.tie_rate == 3 / 4


def test_string_ids_order_by_bytes() -> None:
    # "9" > "2" > "100" > "10": order 9 2 100 10, relevant 2 and 10: (1/2 + 2/4) / 2.
    assert value("ap", {"10": 1, "2": 1}, dict.fromkeys(["10", "9", "2", "100"], 1.5)) == 0.5


def test_double_and_float32_order() -> None:
    run = {"a": 33.9211702, "b": 33.9211701}  # equal as float32: then b > a by id
    assert value("rr", {"a": 1}, run) == 1.0
    assert value("rr(mode=trec)", {"a": 1}, run) == 0.5
    assert value("rr(mode=trec10)", {"a": 1}, run) == 1.0


def test_graded_rbp_stays_in_range() -> None:
    # b(2) d(0) a(3) x c(1) f(0), p = .5, grade / 3: .5 * (2/3 + 3/3 / 4 + 1/3 / 16) = 0.46875; ranx: 1.40625
    assert value("rbp(p=0.5,max=3)", GRADED, RUN) == pytest.approx(0.46875)


def test_the_residual_keeps_its_tail() -> None:
    # All retrieved items judged: p^2 = .25 is still open; trec_eval 10 prints 0.
    assert value("rbp_residual(p=0.5)", {"a": 1, "b": 0}, {"a": 2, "b": 1}) == pytest.approx(0.25)


def test_bpref_with_a_negative_grade_and_without_non_relevant_ones() -> None:
    # E6: order a(-1) b(2) e c(0) d(1); b: 1 - 0; d: 1 - min(1,3)/min(1,3) = 0; / 3. ranx: 0.1667.
    grades = {"a": -1, "b": 2, "c": 0, "d": 1, "f": 3}
    assert value("bpref", grades, {"a": 5, "b": 4, "e": 3, "c": 2, "d": 1}) == pytest.approx(1 / 3)
    assert value("bpref", {"a": 1}, {"a": 1.0}) == 1.0  # ranx: NaN


def test_bpref_with_fewer_non_relevant_than_relevant() -> None:
    # E8: N = 1 < R = 3: r1: 1; r2, r3: 1 - min(1,3)/min(1,3) = 0; / 3. With R alone as divisor: (1 + 2/3 + 2/3)/3.
    run = {"u1": 9, "r1": 8, "n1": 7, "r2": 6, "u2": 5, "r3": 4}
    assert value("bpref", {"r1": 1, "r2": 1, "r3": 1, "n1": 0}, run) == pytest.approx(1 / 3)


def test_precision_divides_by_k_for_short_lists() -> None:
    assert value("precision@10", {"a": 1, "b": 1, "c": 1}, {"a": 2.0, "q": 1.0}) == 1 / 10


def test_judged_has_two_conventions() -> None:
    qrels, run = {"a": 1, "b": 0}, {"a": 3.0, "x": 2.0}
    assert value("judged@10", qrels, run) == 1 / 10
    assert value("judged(over=retrieved)@10", qrels, run) == 1 / 2
    theirs = ir_measures.calc_aggregate(
        [ir_measures.Judged @ 10],
        [ir_measures.Qrel("q", item, grade) for item, grade in qrels.items()],
        [ir_measures.ScoredDoc("q", item, score) for item, score in run.items()],
    )
    assert theirs[ir_measures.Judged @ 10] == 1 / 2


def test_ir_measures_agrees_where_its_definition_is_the_same() -> None:
    qrels = [ir_measures.Qrel("q", item, grade) for item, grade in GRADED.items()]
    run = [ir_measures.ScoredDoc("q", item, score) for item, score in RUN.items()]
    for theirs, ours in [
        ("nDCG@3", "ndcg@3"),
        ("AP(rel=2)", "ap(rel=2)"),
        ("P(rel=1)@5", "precision@5"),
        ("R@5", "recall@5"),
        ("Success@1", "hit@1"),
        ("RR", "rr"),
        ("Bpref", "bpref"),
        ("Rprec", "r_precision"),
        ("infAP", "infap"),
    ]:
        measure = ir_measures.parse_measure(theirs)
        assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(value(ours, GRADED, RUN))


def test_nothing_relevant_is_undefined_not_zero() -> None:
    result = evaluate({"q": {"a": 0}, "r": {"a": 1}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}, ["ap", "ap(mode=trec)"])
    assert result.question("ap", "q").reason == "nothing_relevant"
    assert (result["ap"].value, result["ap"].scored, result["ap"].undefined) == (1.0, 1, 1)
    assert (result["ap(mode=trec)"].value, result["ap(mode=trec)"].scored) == (0.5, 2)


def test_a_missing_question_is_missing_unless_complete() -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}
    native = evaluate(qrels, run, ["ap"])
    assert (native["ap"].value, native["ap"].missing, native["ap"].bounds) == (1.0, 1, (0.5, 1.0))
    assert native.question("ap", "r").reason == "not_in_run"
    assert evaluate(qrels, run, ["ap"], complete=True)["ap"].value == 0.5
    with pytest.raises(InputError, match="no items for query 'r'"):
        evaluate(qrels, run, ["ap(mode=trec10)"])


def test_empty_evidence_has_no_value() -> None:
    result = evaluate({"q": {"a": 1}}, {}, ["ap"])
    assert (result["ap"].value, result["ap"].scored, result["ap"].missing) == (None, 0, 1)


def test_a_duplicate_counts_once_at_its_first_rank() -> None:
    columns = (["q"] * 4, ["a", "b", "a", "c"], [3.0, 2.0, 1.0, 0.5])
    result = evaluate({"q": {"a": 1, "c": 1}}, columns, ["ap", "precision@3"])
    assert result.question("ap", "q").value == pytest.approx((1 + 2 / 3) / 2)
    assert result.duplicate_rate == 1 / 4
    with pytest.raises(InputError, match="stands twice"):
        evaluate({"q": {"a": 1}}, columns, ["ap(mode=trec)"])


def test_condensed_lists_drop_the_unjudged() -> None:
    run = {"x": 9.0, "a": 8.0, "y": 7.0, "b": 6.0}
    assert value("rr", {"a": 1, "b": 0}, run) == 0.5
    assert value("rr(list=condensed)", {"a": 1, "b": 0}, run) == 1.0
    assert one_list("rr(list=condensed,rel=1)", [0, 1], [False, True], [1]).value == 1.0


def test_tied_scores_with_scikit_learn() -> None:
    # b and a share a score. By id b stands first: 1/log2(2) + 3/log2(3), ideal 3 + 1/log2(3). scikit-learn gives each
    # of the two ranks the mean gain (1 + 3) / 2; that lies between our two ends.
    qrels, run = {"a": 3, "b": 1}, {"a": 1.0, "b": 1.0}
    ideal = 3 + 1 / np.log2(3)
    result = evaluate({"q": qrels}, {"q": run}, ["ndcg"])
    assert result["ndcg"].value == pytest.approx((1 + 3 / np.log2(3)) / ideal)
    assert result["ndcg"].ties == (pytest.approx((1 + 3 / np.log2(3)) / ideal), pytest.approx(1.0))
    theirs = ndcg_score([[3, 1]], [[1.0, 1.0]])
    assert theirs == pytest.approx(2 * (1 + 1 / np.log2(3)) / ideal)
    low, high = result["ndcg"].ties
    assert low < theirs < high


def test_a_negative_grade_gains_nothing_where_scikit_learn_refuses() -> None:
    # a(-1) at rank 1 gains 0, b(2) at rank 2 gains 2 / log2(3), of an ideal of 2.
    assert value("ndcg", {"a": -1, "b": 2}, {"a": 2.0, "b": 1.0}) == pytest.approx(1 / np.log2(3))
    with pytest.raises(ValueError, match="negative"):
        ndcg_score([[-1, 2]], [[2.0, 1.0]])


def test_rr_with_a_cut_off_orders_ties_as_rr_without() -> None:
    # By id, descending: b, a; a is found at rank 2. ir_measures takes another provider for RR@k, which ascends: a, b.
    qrels, run = {"a": 1}, {"a": 1.0, "b": 1.0}
    assert value("rr", qrels, run) == value("rr@2", qrels, run) == 1 / 2
    theirs = ir_measures.calc_aggregate(
        [ir_measures.RR, ir_measures.RR @ 2],
        [ir_measures.Qrel("q", "a", 1)],
        [ir_measures.ScoredDoc("q", item, score) for item, score in run.items()],
    )
    assert (theirs[ir_measures.RR], theirs[ir_measures.RR @ 2]) == (1 / 2, 1.0)


def test_a_duplicate_where_ir_measures_takes_the_last() -> None:
    # a at 3 and again at 0.5, b at 2. First rank: a, b: 1. The last score of a puts it behind b: 1/2.
    rows = [("a", 3.0), ("b", 2.0), ("a", 0.5)]
    found = evaluate({"q": {"a": 1}}, (["q"] * 3, *map(list, zip(*rows, strict=True))), ["rr"])
    assert (found["rr"].value, found.duplicate_rate) == (1.0, 1 / 3)
    run = [ir_measures.ScoredDoc("q", item, score) for item, score in rows]
    theirs = ir_measures.calc_aggregate([ir_measures.RR], [ir_measures.Qrel("q", "a", 1)], run)
    assert theirs[ir_measures.RR] == 1 / 2


def test_a_question_that_the_run_lacks_where_ir_measures_counts_zero() -> None:
    # q: 1, r is not in the run. Natively the mean is over what was run, 1 of [0.5, 1]; with -c it is (1 + 0) / 2.
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}
    assert (evaluate(qrels, run, ["rr"])["rr"].value, evaluate(qrels, run, ["rr"], complete=True)["rr"].value) == (
        1,
        0.5,
    )
    theirs = ir_measures.calc_aggregate(
        [ir_measures.RR],
        [ir_measures.Qrel(query, "a", 1) for query in qrels],
        [ir_measures.ScoredDoc("q", "a", 1.0)],
    )
    assert theirs[ir_measures.RR] == 0.5


def test_an_item_with_the_questions_own_id_is_not_dropped() -> None:
    # BEIR drops it before scoring: then b would stand at rank 1.
    assert evaluate({"q": {"b": 1}}, {"q": {"q": 2.0, "b": 1.0}}, ["rr"])["rr"].value == 1 / 2


def test_recall_divides_by_all_that_is_relevant() -> None:
    # Three relevant, one read, found: 1 of 3. BEIR's recall_cap divides by min(3, 1): 1.
    qrels = {"a": 1, "b": 1, "c": 1}
    assert value("recall@1", qrels, {"a": 2.0, "b": 1.0}) == pytest.approx(1 / 3)
    assert value("ap@1", qrels, {"a": 2.0, "b": 1.0}) == pytest.approx(1 / 3)


def test_ndcg_is_not_changed_by_the_least_relevant_grade() -> None:
    # b(1) a(3): (1 + 3 / log2(3)) / (3 + 1 / log2(3)). ranx with -l2 drops the grade of b: (3 / log2(3)) / 3.
    found = evaluate({"q": {"a": 3, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["ndcg"], rel=2)
    assert found["ndcg"].value == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))


def test_a_list_that_judged_only_leaves_empty_is_zero_in_the_drop_in() -> None:
    # Nothing is left of [x]: set_P is 0 of 0, which pytrec_eval divides to NaN.
    found = RelevanceEvaluator({"q": {"a": 1}}, {"set_P", "map"}, judged_docs_only_flag=True).evaluate(
        {"q": {"x": 1.0}}
    )
    assert found == {"q": {"set_P": 0.0, "map": 0.0}}
