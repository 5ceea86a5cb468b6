"""Defects reproduced in other tools, each named after what it did, with the right value here; and hostile texts."""

from __future__ import annotations

import math
import time

import pytest
from tests.unit.score.score_material import (
    case,
    doc,
    ev,
    fact,
    item,
    loose,
    number,
    one_estimate,
    row,
    score,
    scoring,
    step,
    trace,
    whole,
)  # fmt: skip

from ragassay.records.case import ReferenceAnswer
from ragassay.records.document import Span
from ragassay.records.text import clean
from ragassay.records.trace import Answer, Item
from ragassay.score import World, complete, estimate, observe

A, B = doc("a", "aaaaaaaaaa"), doc("b", "bbbbbbbbbb")
GOT_A, GOT_B, OTHER = item("a", 0, 10), item("b", 0, 10), item("c", 0, 10)
DOCS = (A, B, doc("c", "cccccccccc"))


def _run(answers: list[tuple[str, str]], *measures: str, failure: str = "exception"):
    """Ten questions: (reference, answer); the answer `!` is a failed trace."""
    cases = [
        case(f"q{n}", evidence=(ev("e", "a", 0, 10),), answers=(ReferenceAnswer(text=right),))
        for n, (right, _) in enumerate(answers)
    ]
    how, world = scoring(*measures), World(DOCS)
    scores = []
    for known, (_, said) in zip(cases, answers, strict=True):
        if said == "!":
            seen = trace(query_id=known.query_id, failure=failure, latency_ms=100.0)
        else:
            answer = Answer(text=said, outcome="answered", outcome_source="system")
            seen = trace(step("bm25", "lexical", [GOT_A], ()), query_id=known.query_id, answer=answer, latency_ms=10.0)
        scores.append(observe(known, seen, world, how))
    scores = complete(scores, cases, 1, world, how)
    rows = [one for got in scores for one in (*got.observations, *got.runtime)]
    return rows, estimate(rows, cases, how)


def test_ragas_headline_one_good_row_and_nine_failed_rows_is_not_0_9() -> None:
    _, estimates = _run([("yes", "yes")] + [("yes", "!")] * 9, "exact_match", "recall(rel=2)")
    found = one_estimate(estimates, "exact_match")
    assert (found.attempted, found.scored, found.error) == (10, 1, 9)
    assert found.value == 1.0  # of the one that has a value, and it says so:
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (0.1, 1.0)
    assert found.interval is None  # one question has no interval
    recall = one_estimate(estimates, "recall(rel=2)", "bm25", aggregation="macro")
    assert (recall.attempted, recall.scored, recall.error) == (10, 1, 9)
    assert recall.bounds is not None
    assert recall.bounds.low == 0.1


def test_inspect_ten_samples_of_which_seven_have_no_score_is_not_a_plain_1() -> None:
    # 3 right, 4 errors, 3 empty answers
    _, estimates = _run([("yes", "yes")] * 3 + [("yes", "!")] * 4 + [("yes", "")] * 3, "exact_match")
    found = one_estimate(estimates, "exact_match")
    assert (found.attempted, found.scored, found.error, found.missing) == (10, 3, 4, 3)
    assert found.reasons == {"empty_answer": 3, "exception": 4}
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (pytest.approx(0.3), 1.0)


def test_deepeval_failures_are_not_failures_of_the_product() -> None:
    rows, estimates = _run([("yes", "yes")] + [("yes", "!")] * 4, "exact_match", "error_rate", "errors")
    assert [one.status for one in rows if one.measure == "exact_match"].count("error") == 4
    found = one_estimate(estimates, "error_rate")
    assert (found.value, found.numerator, found.denominator) == (0.8, 4.0, 5.0)
    assert one_estimate(estimates, "errors").value == 4.0


def test_nothing_scored_is_undefined_with_a_reason_and_never_1() -> None:
    _, estimates = _run([("yes", "!")] * 3, "exact_match", "recall(rel=2)", "fact_coverage", "abstention_rate")
    assert estimates
    for one in estimates:
        assert (one.status, one.value, one.reason) == ("undefined", None, "nothing_scored")
        assert (one.attempted, one.error) == (3, 3)
        assert one.bounds is not None, "all that is known is the range"
        assert (one.bounds.low, one.bounds.high) == (0.0, 1.0)


def test_ndcg_of_a_short_list_is_0_613() -> None:
    # 2 relevant, 1 returned, at rank 1: 1/log2(2) over 1/log2(2) + 1/log2(3) = 1 / 1.6309 = 0.6131
    known = case(evidence=(ev("e1", "a", 0, 10, grade=1), ev("e2", "b", 0, 10, grade=1)))
    got = score(known, trace(step("bm25", "lexical", [GOT_A], ())), DOCS, "ndcg@10", "ndcg", rel=1)
    for measure in ("ndcg@10", "ndcg"):
        assert number(got, measure, "bm25") == pytest.approx(0.6131471927654584, abs=1e-12)


def test_ndcg_with_a_duplicated_hit_is_not_2_13() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10, grade=1),))
    seen = trace(step("bm25", "lexical", [GOT_A, GOT_A, GOT_A, GOT_B], ()))
    got = score(known, seen, DOCS, "ndcg@10", "recall(rel=1)", "precision(rel=1)@4", rel=1)
    assert number(got, "ndcg@10", "bm25") == 1.0
    assert number(got, "recall(rel=1)", "bm25") == 1.0
    assert number(got, "precision(rel=1)@4", "bm25") == 0.25  # one of four ranks, not three
    assert number(got, "duplicate_rate", "bm25") == 0.5  # two of four items


def test_ap_is_not_1_when_1_of_10_relevant_is_found() -> None:
    text = doc("t", "0123456789")
    known = case(evidence=tuple(ev(f"e{n}", "t", n, n + 1) for n in range(10)))
    got = score(known, trace(step("bm25", "lexical", [item("t", 0, 1)], ())), [text], "ap(rel=2)", "recall(rel=2)")
    assert number(got, "ap(rel=2)", "bm25") == pytest.approx(0.1, abs=1e-12)
    assert number(got, "recall(rel=2)", "bm25") == pytest.approx(0.1, abs=1e-12)


def test_empty_ground_truth_is_undefined_and_divides_by_nothing() -> None:
    seen = trace(step("bm25", "lexical", [GOT_A], ()))
    measures = ("recall(rel=2)", "ndcg@10", "ap(rel=2)", "precision(rel=2)@5", "fact_coverage", "empty_retrieval")
    none = score(case(evidence=(), class_="unanswerable", answerable="no"), seen, DOCS, *measures)
    for measure in measures[:-1]:
        found = row(none, measure, "bm25")
        assert (found.status, found.value) == ("undefined", None)
    assert number(none, "empty_retrieval", "bm25") == 0.0
    nothing = trace(step("bm25", "lexical", [], ()))
    assert number(score(case(evidence=(), answerable="no", class_="unanswerable"), nothing, DOCS, *measures),
                  "empty_retrieval", "bm25") == 1.0  # fmt: skip
    # Unlabelled is not the same: missing, and no part of empty_retrieval.
    unlabelled = score(case(), seen, DOCS, *measures)
    assert row(unlabelled, "recall(rel=2)", "bm25").reason == "unlabelled"
    assert not [one for one in unlabelled.observations if one.measure == "empty_retrieval"]
    # Judged, but nothing relevant: recall is undefined, the list is judged all the same.
    judged = score(case(evidence=(ev("e", "a", 0, 10, grade=0),)), seen, DOCS, "recall(rel=2)", "judged@1")
    assert row(judged, "recall(rel=2)", "bm25").reason == "nothing_relevant"
    assert number(judged, "judged@1", "bm25") == 1.0


def test_a_failed_trace_with_an_empty_list_is_no_correct_rejection() -> None:
    known = case(evidence=(), class_="unanswerable", answerable="no")
    seen = trace(step("bm25", "lexical", [], ()), failure="timeout")
    got = score(known, seen, DOCS, "empty_retrieval", "abstention_rate", "unsupported_answer")
    assert {one.status for one in got.observations} == {"error"}
    assert {one.reason for one in got.observations} == {"timeout"}


def test_timeouts_are_right_censored() -> None:
    _, estimates = _run([("yes", "yes")] * 8 + [("yes", "!")] * 2, "latency", failure="timeout")
    # 8 at 10 ms, 2 given up at 100 ms: half are done by 10, 80 % too; the 95th and the mean nobody knows.
    by_name = {one.aggregation: one for one in estimates if one.measure == "latency"}
    assert by_name["median"].value == 10.0
    for name in ("p95", "p99", "macro"):
        assert (by_name[name].status, by_name[name].reason) == ("undefined", "right_censored")
    assert by_name["p95"].bounds is not None
    assert by_name["p95"].bounds.low == 100.0
    assert by_name["macro"].bounds is not None
    assert by_name["macro"].bounds.low == pytest.approx((8 * 10 + 2 * 100) / 10)
    assert (by_name["p95"].attempted, by_name["p95"].scored, by_name["p95"].error) == (10, 8, 2)


def test_the_least_mean_of_timeouts_is_over_questions_like_the_mean() -> None:
    """q1: 10 and 10 ms. q2: given up at 1 ms, and one repeat that measured nothing. By question (10 + 1) / 2."""
    known = [case("q1"), case("q2")]
    seen = [
        trace(query_id="q1", repeat=0, latency_ms=10.0),
        trace(query_id="q1", repeat=1, latency_ms=10.0),
        trace(query_id="q2", repeat=0, latency_ms=1.0, failure="timeout"),
        trace(query_id="q2", repeat=1),
    ]
    how = scoring("latency")
    rows = [observe(known[int(one.content.query_id[1]) - 1], one, World(DOCS), how) for one in seen]
    estimates = estimate([row for one in rows for row in one.runtime], known, how)
    (mean,) = [one for one in estimates if one.aggregation == "macro"]
    assert mean.reason == "right_censored"
    assert mean.bounds is not None
    assert mean.bounds.low == pytest.approx(5.5)


def test_contexts_of_one_empty_string_are_an_unresolved_item_without_text() -> None:
    known = case(evidence=(ev("e", "a", 0, 10),), facts=(fact("f", ("e",)),))
    got = score(
        known, trace(step("context", "fetch", [loose("")], ()), context=[loose("")]), DOCS,
        "recall(rel=2)", "fact_coverage", "context_precision(rel=2)", "evidence_density(rel=2)", "context_tokens",
        "unique_parents", "overlap_ratio",
    )  # fmt: skip
    assert number(got, "context_tokens", "context") == 0.0
    assert row(got, "evidence_density(rel=2)", "context").reason == "no_text_in_context"
    assert row(got, "unique_parents", "context").reason == "no_spans"
    found = row(got, "recall(rel=2)", "context")
    # Nobody knows what stood there: a missing label, not an irrelevant document.
    assert (found.status, found.reason) == ("missing", "unknown_items")
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (0.0, 1.0)
    assert row(got, "fact_coverage", "context").status == "missing"


def test_a_context_of_1_mb_is_scored_in_a_moment() -> None:
    big = doc("big", "word " * 210_000)  # 1.05 million code points, 840,000 of them not white space
    known = case(evidence=(ev("e", "big", 0, 500_000),), facts=(fact("f", ("e",)),))
    passages = [item("big", at, at + 5_000) for at in range(0, 1_050_000, 5_000)]
    started = time.perf_counter()
    got = score(
        known, trace(step("bm25", "lexical", passages, ()), context=passages), [big],
        "recall(rel=2)", "evidence_density(rel=2)", "overlap_ratio", "context_tokens", "fact_coverage",
    )  # fmt: skip
    assert time.perf_counter() - started < 20  # seconds, a guard against quadratic work only
    assert number(got, "recall(rel=2)", "context") == 1.0
    assert number(got, "evidence_density(rel=2)", "context") == pytest.approx(400_000 / 840_000, abs=1e-12)
    assert number(got, "overlap_ratio", "context") == 0.0
    assert number(got, "context_tokens", "context") == 210_000


def test_an_answer_of_100_000_words() -> None:
    said = "word " * 99_999 + "end"
    rows, _ = _run([("end", said)], "token_f1", "exact_match")
    # 1 shared token of 100,000 and 1: 2 / 100,001
    found = row(rows, "token_f1")
    assert found.value == pytest.approx(2 / 100_001, abs=1e-12)
    assert row(rows, "exact_match").value == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "公開に失敗した場合、改訂番号は保持されます。",
        "Zażółć gęślą jaźń; żółw.",
        "الرد: نعم، يمكن",
        "ok 👩‍👩‍👧 🇵🇱 done",
        "e\u0301 e\u0301",
    ],
    ids=["japanese", "polish", "arabic", "emoji", "combining"],
)
def test_offsets_are_code_points_in_any_script(text: str) -> None:
    half = len(text) // 2
    known = case(
        evidence=(ev("e1", "t", 0, half), ev("e2", "t", half, len(text))), facts=(fact("f", ("e1", "e2")),),
        answers=(ReferenceAnswer(text=text),),
    )  # fmt: skip
    answer = Answer(text=text, outcome="answered", outcome_source="system")
    seen = trace(step("bm25", "lexical", [item("t", 0, half)], ()), answer=answer)
    got = score(known, seen, [doc("t", text)], "recall(rel=2)", "fact_coverage", "exact_match", normalisation="unicode")
    assert number(got, "recall(rel=2)", "bm25") == 0.5
    assert number(got, "fact_coverage", "bm25") == 0.0
    assert number(got, "exact_match") == 1.0


def test_lone_surrogates_are_lossy_and_never_evidence_by_luck() -> None:
    stored = clean("gr\ud800n is here")
    assert stored.lossy
    assert stored.text == "gr\ufffdn is here"
    document = doc("t", stored.text, lossy=True)
    known = case(evidence=(ev("e", "t", 0, 4),), answers=(ReferenceAnswer(text=stored.text),))
    got = score(known, trace(step("bm25", "lexical", [item("t", 0, 4)], ()), answer=stored.text), [document],
                "recall(rel=2)", "token_f1")  # fmt: skip
    assert number(got, "recall(rel=2)", "bm25") == 1.0
    assert number(got, "token_f1") == 1.0


def test_white_space_between_chunks_is_not_evidence() -> None:
    text = doc("t", "one two  three\n\nfour")
    known = case(evidence=(ev("e", "t", 0, 20),))
    words = [item("t", 0, 3), item("t", 4, 7), item("t", 9, 14), item("t", 16, 20)]
    assert number(score(known, trace(step("s", "lexical", words, ())), [text]), "recall(rel=2)", "s") == 1.0
    assert number(score(known, trace(step("s", "lexical", words[:3], ())), [text]), "recall(rel=2)", "s") == 0.0
    # 11 of 15 code points: enough for hold = 11/15, not for 12/15
    part = trace(step("s", "lexical", words[:3], ()))
    assert number(score(known, part, [text], hold=11 / 15), "recall(rel=2)", "s") == 1.0
    assert number(score(known, part, [text], hold=12 / 15), "recall(rel=2)", "s") == 0.0


def test_whole_documents_are_measured_as_documents_and_leave_span_facts_unknown() -> None:
    known = case(evidence=(ev("e1", "a", 0, 5), ev("e2", "b")), facts=(fact("f1", ("e1",)), fact("f2", ("e2",))))
    seen = trace(step("run", "lexical", [whole("a"), whole("b")], ()))
    got = score(known, seen, DOCS, "recall(rel=2)", "recall(rel=2,unit=document)@1", "fact_coverage")
    assert number(got, "recall(rel=2)", "run") == 1.0
    assert row(got, "recall(rel=2)", "run").coarse
    assert number(got, "recall(rel=2,unit=document)@1", "run") == 0.5
    found = row(got, "fact_coverage", "run")
    assert found.status == "missing"
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (0.5, 1.0)  # f2 rests on a document-level label: held


def test_equal_documents_of_equal_authorization_are_one_for_labels() -> None:
    twin, hidden = doc("twin", "aaaaaaaaaa"), doc("hidden", "aaaaaaaaaa", tenants=("x",))
    known = case(evidence=(ev("e", "a", 0, 10),))
    measures = ("recall(rel=2)",)
    assert number(score(known, trace(step("s", "lexical", [item("twin", 0, 10)], ())), [A, twin, hidden], *measures),
                  "recall(rel=2)", "s") == 1.0  # fmt: skip
    assert number(score(known, trace(step("s", "lexical", [item("hidden", 0, 10)], ())), [A, twin, hidden], *measures),
                  "recall(rel=2)", "s") == 0.0  # fmt: skip
    both = Item(
        item_id="x", rank=1, resolution="exact", transform="slice",
        sources=tuple(Span(document_id=one, version="1", start=0, end=10) for one in ("a", "twin")),
    )  # fmt: skip
    got = score(known, trace(step("s", "lexical", [both, GOT_A], ())), [A, twin], *measures)
    assert number(got, "duplicate_rate", "s") == 0.5


def test_dangling_evidence_stays_in_the_denominator() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10), ev("e2", "gone", 0, 5)))
    got = score(known, trace(step("s", "lexical", [GOT_A], ())), DOCS)
    found = row(got, "recall(rel=2)", "s")
    assert (found.value, found.numerator, found.denominator) == (0.5, 1.0, 2.0)


def test_context_measures_by_hand() -> None:
    text = doc("t", "aaaaabbbbbcccccddddd")
    known = case(evidence=(ev("e1", "t", 0, 5), ev("e2", "t", 15, 20, grade=1)))
    context = [item("t", 0, 10), item("t", 5, 15), item("a", 0, 10)]
    got = score(
        known, trace(context=context), (text, A),
        "context_precision(rel=2)", "context_recall(rel=2)", "evidence_density(rel=2)", "unique_parents",
        "overlap_ratio", "context_tokens",
    )  # fmt: skip
    # 30 code points in all, 5 of them relevant evidence; 5 (5 to 10) stand twice; 1 of 3 items carries evidence.
    assert number(got, "context_precision(rel=2)", "context") == pytest.approx(1 / 3, abs=1e-12)
    assert number(got, "context_recall(rel=2)", "context") == 1.0
    assert number(got, "evidence_density(rel=2)", "context") == pytest.approx(5 / 30, abs=1e-12)
    assert number(got, "overlap_ratio", "context") == pytest.approx(5 / 30, abs=1e-12)
    assert number(got, "unique_parents", "context") == 2.0
    assert number(got, "context_tokens", "context") == 3.0  # each text is one run of letters
    assert math.isclose(row(got, "evidence_density(rel=2)", "context").denominator or 0, 30)
