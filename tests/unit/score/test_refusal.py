"""Declining, confidence and calibration over whole tables: every figure counted by hand or by scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import AS_OF, case, doc, one_estimate, scoring

from ragassay.records.case import Case, ReferenceAnswer
from ragassay.records.score import Estimate
from ragassay.records.trace import Answer, Failure, Measurements, RetrievalVerdict, Trace, TraceContent
from ragassay.score import World, complete, estimate, observe

DOCS = (doc("a", "aaaaaaaaaa"),)
RIGHT = "answered_right(of=exact_match)"
EM = "of=exact_match"


def said(
    query_id: str, text: str, outcome: str | None, confidence: float | None = None, *, repeat: int = 0,
    sufficient: bool | None = None, sure: float | None = None, failure: str = "",
) -> Trace:  # fmt: skip
    answer = Answer(text=text, outcome=outcome, outcome_source="system" if outcome else None, confidence=confidence)
    content = TraceContent(
        query_id=query_id, repeat=repeat, as_of=AS_OF, answer=None if failure else answer,
        retrieval=None if failure else RetrievalVerdict(sufficient=sufficient, confidence=sure),
        failure=Failure(cause=failure) if failure else None,
    )  # fmt: skip
    return Trace(content=content, measurements=Measurements(query_id=query_id, repeat=repeat))


def asked(query_id: str, class_: str = "answerable", **more: Any) -> Case:
    truth = {"answerable": "yes", "multi_hop": "yes", "unanswerable": "no"}.get(class_, "not_applicable")
    answers = (ReferenceAnswer(text="yes"),) if truth == "yes" else ()
    return case(query_id, class_=class_, answerable=truth, answers=answers, **more)


def table(cases: Sequence[Case], traces: Sequence[Trace], *measures: str, repeats: int = 1, **more: Any):
    how, world = scoring(*measures, **more), World(DOCS)
    known = {one.query_id: one for one in cases}
    scores = [observe(known[one.content.query_id], one, world, how) for one in traces]
    scores = complete(scores, cases, repeats, world, how)
    rows = [row for one in scores for row in one.observations]
    return rows, estimate(rows, cases, how)


def found(estimates: list[Estimate], measure: str, class_: str = "answerable") -> Estimate:
    return one_estimate(estimates, measure, class_=class_)


def test_abstention_is_held_against_what_was_allowed() -> None:
    plan = [  # class, expect, outcome
        ("answerable", None, "answered"), ("answerable", None, "abstained"),
        ("answerable", ("answered", "clarified"), "clarified"),
        ("unanswerable", None, "abstained"), ("unanswerable", None, "escalated"), ("unanswerable", None, "answered"),
        ("unanswerable", ("denied",), "abstained"), ("adversarial", None, "abstained"),
    ]  # fmt: skip
    cases = [asked(f"q{n}", class_, expect=expect) for n, (class_, expect, _) in enumerate(plan)]
    traces = [said(f"q{n}", "words", did) for n, (_, _, did) in enumerate(plan)]
    names = ("abstention_precision", "abstention_recall", "answerability_coverage", "escalation_rate")
    rows, made = table(cases, traces, *names)
    # Declined: q1 wrongly, q2 rightly, q3, q4 rightly, q6 not as allowed; q7 nobody knows.
    precision = found(made, "abstention_precision", "answerability")
    assert (precision.numerator, precision.denominator, precision.attempted) == (3.0, 5.0, 8)
    assert (precision.scored, precision.undefined, precision.missing) == (5, 2, 1)
    assert precision.bounds is not None
    assert (precision.bounds.low, precision.bounds.high) == (pytest.approx(3 / 6), pytest.approx(4 / 6))
    assert {one.population.class_ for one in made if one.measure == "abstention_precision"} == {"answerability"}
    recall = found(made, "abstention_recall", "unanswerable")
    assert (recall.numerator, recall.denominator) == (2.0, 4.0)
    assert not [one for one in made if (one.measure, one.population.class_) == ("abstention_recall", "answerable")]
    coverage = found(made, "answerability_coverage")
    assert (coverage.numerator, coverage.denominator) == (1.0, 3.0)
    assert found(made, "escalation_rate", "unanswerable").value == 0.25
    assert {row.status for row in rows if row.measure == "abstention_precision" and row.query_id == "q5"} == {
        "undefined"
    }


def test_risk_and_calibration_of_what_was_answered_with_a_confidence() -> None:
    plan = [  # text, outcome, confidence: right 0.9, wrong 0.8, right 0.7, right 0.7, wrong 0.7
        ("yes", "answered", 0.9), ("no", "answered", 0.8), ("yes", "answered", 0.7), ("yes", "partial", 0.7),
        ("no", "answered", 0.7), ("sorry", "abstained", 0.1), ("yes", "answered", None), ("yes", "answered", 1.5),
    ]  # fmt: skip
    cases = [asked(f"q{n}") for n in range(len(plan))]
    traces = [said(f"q{n}", *one) for n, one in enumerate(plan)]
    measures = (
        f"aurc({EM})", f"selective_risk(coverage=0.25,{EM})", f"selective_risk(coverage=0.95,{EM})",
        f"calibration_error(bins=2,{EM})", f"brier({EM})",
    )  # fmt: skip
    _, made = table(cases, traces, *measures)
    # Whether answered rightly: 7 answered, 5 right (1.5 and no confidence are answers too).
    right = found(made, RIGHT)
    assert (right.numerator, right.denominator, right.undefined) == (5.0, 7.0, 1)
    # Order 1.5 r, 0.9 r, 0.8 w, then three tied at 0.7 with one wrong: risks 0, 0, 1/3, then in the mean over orders
    # (1 + 1/3)/4, (1 + 2/3)/5, 2/6. One more has no confidence: missing.
    area = found(made, measures[0])
    expected = (0 + 0 + 1 / 3 + (4 / 3) / 4 + (5 / 3) / 5 + 2 / 6) / 6
    assert (area.aggregation, area.value, area.denominator) == ("set", pytest.approx(expected), 6.0)
    assert (area.attempted, area.scored, area.undefined, area.missing, area.error) == (8, 6, 1, 1, 0)
    assert area.reasons == {"no_confidence": 1, "not_answered": 1}
    assert area.bounds is not None
    assert area.bounds.low < area.value < area.bounds.high
    # A quarter of 8 questions is 2 decisions: none wrong. Clopper-Pearson of 0 in 2: 1 - 0.025^(1/2).
    low_risk = found(made, measures[1])
    assert (low_risk.numerator, low_risk.denominator) == (0.0, 2.0)
    assert low_risk.interval is not None
    assert (low_risk.interval.method, low_risk.interval.high) == ("clopper_pearson", pytest.approx(1 - 0.025**0.5))
    # The unknown one may stand on top and be wrong.
    assert (low_risk.bounds.low, low_risk.bounds.high) == (0.0, 0.5)
    # 0.95 of 8 are 8: one was declined and one has no confidence, so nobody can say.
    high_risk = found(made, measures[2])
    assert (high_risk.status, high_risk.reason) == ("undefined", "coverage_not_reached")
    # 1.5 is no probability: an error for calibration and Brier. Bins of 0.7 0.7 0.7 (2 right) and 0.8 0.9 (1 right).
    error = found(made, measures[3])
    assert (error.value, error.error) == (pytest.approx((abs(2 - 2.1) + abs(1 - 1.7)) / 5), 1)
    assert (error.bounds.low, error.bounds.high) == (0.0, 1.0)
    brier = found(made, measures[4])
    assert brier.value == pytest.approx((0.1**2 + 0.8**2 + 0.3**2 + 0.3**2 + 0.7**2) / 5)
    assert brier.reasons == {"confidence_outside_0_1": 1, "no_confidence": 1, "not_answered": 1}


def test_an_answer_where_none_was_allowed_is_wrong_whatever_it_says() -> None:
    cases = [asked(f"q{n}", "unanswerable") for n in range(3)]
    traces = [
        said("q0", "surely", "answered", 0.9),
        said("q1", "maybe", "answered", 0.5),
        said("q2", "no", "abstained"),
    ]
    _, made = table(cases, traces, f"brier({EM})", f"aurc({EM})")
    assert found(made, f"brier({EM})", "unanswerable").value == pytest.approx((0.81 + 0.25) / 2)
    assert found(made, f"aurc({EM})", "unanswerable").value == 1.0
    assert found(made, RIGHT, "unanswerable").value == 0.0


def test_what_counts_as_right_is_the_declared_least() -> None:
    cases = [asked("q0"), asked("q1")]
    traces = [said("q0", "yes it is", "answered", 0.9), said("q1", "yes", "answered", 0.1)]  # token F1 0.5 and 1
    for least, share in (("0.5", 1.0), ("0.51", 0.5)):
        spelled = f"answered_right(least={least},of=token_f1)"
        _, made = table(cases, traces, f"aurc(least={least},of=token_f1)")
        assert found(made, spelled).value == share
    rows, _ = table(cases, traces, "aurc(least=0.5,of=token_f1)")
    assert {row.measure for row in rows} == {"answered_right(least=0.5,of=token_f1)", "answer_confidence", "token_f1"}


def test_nothing_known_gives_no_number() -> None:
    cases = [asked("q0"), asked("q1"), asked("q2")]
    traces = [said("q0", "yes", "answered"), said("q1", "", None, failure="timeout"), said("q2", "yes", None, 0.9)]
    measures = (f"aurc({EM})", f"selective_risk(coverage=0.5,{EM})", f"calibration_error({EM})", f"brier({EM})")
    _, made = table(cases, traces, *measures)
    for measure in measures:
        one = found(made, measure)
        assert (one.status, one.scored, one.missing, one.error) == ("undefined", 0, 2, 1), measure
        assert one.bounds is not None
        assert one.bounds.low == 0.0
        assert one.bounds.high == 1.0
    assert found(made, measures[0]).reasons == {"no_confidence": 1, "no_outcome": 1, "timeout": 1}
    _, nobody = table(cases, [], *measures)
    assert {found(nobody, one).reason for one in measures} == {"nothing_scored", "coverage_not_reached"}


def test_retrieval_sufficiency_is_apart_from_what_was_answered() -> None:
    from sklearn.metrics import roc_auc_score

    plan = [  # class, expect, confidence of the retriever, its verdict, outcome
        ("answerable", None, 0.9, True, "abstained"), ("multi_hop", None, 0.4, False, "answered"),
        ("answerable", None, 0.6, True, "answered"), ("unanswerable", None, 0.6, True, "answered"),
        ("unanswerable", None, 0.1, False, "abstained"), ("unanswerable", None, 0.3, False, "answered"),
        ("answerable", ("answered", "abstained"), 0.0, False, "answered"), ("adversarial", None, 0.5, True, "answered"),
    ]  # fmt: skip
    cases = [asked(f"q{n}", one[0], expect=one[1]) for n, one in enumerate(plan)]
    traces = [said(f"q{n}", "yes", one[4], sure=one[2], sufficient=one[3]) for n, one in enumerate(plan)]
    _, made = table(cases, traces, "retrieval_auroc", "retrieval_auroc(score=sufficient)", "retrieval_sufficient")
    area = found(made, "retrieval_auroc", "answerability")
    scores, sides = [0.9, 0.4, 0.6, 0.6, 0.1, 0.3], [1, 1, 1, 0, 0, 0]
    assert area.value == pytest.approx(roc_auc_score(sides, scores))
    assert (area.numerator, area.denominator) == (pytest.approx(7.5), 9.0)
    assert (area.attempted, area.scored, area.undefined, area.missing) == (8, 6, 1, 1)
    assert area.reasons == {"either_is_right": 1, "unlabelled": 1}
    # The verdict has one operating point: of 3 that may be answered 2, of 3 others 1; its area is their mean.
    point = found(made, "retrieval_auroc(score=sufficient)", "answerability")
    assert point.value == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert found(made, "retrieval_sufficient", "unanswerable").value == pytest.approx(1 / 3)
    assert {one.population.class_ for one in made if one.measure == "retrieval_auroc"} == {"answerability"}


def test_auroc_needs_both_sides_and_widens_with_failures() -> None:
    cases = [asked("q0"), asked("q1", "unanswerable"), asked("q2")]
    traces = [said("q0", "yes", "answered", sure=0.9), said("q1", "x", "abstained", sure=0.1)]
    traces.append(said("q2", "", None, failure="timeout"))
    _, made = table(cases, traces, "retrieval_auroc")
    one = found(made, "retrieval_auroc", "answerability")
    assert (one.value, one.error) == (1.0, 1)
    assert (one.bounds.low, one.bounds.high) == (0.5, 1.0)  # the third may be of either side: one pair of two is known
    _, made = table(cases[:1], traces[:1], "retrieval_auroc")
    one = found(made, "retrieval_auroc", "answerability")
    assert (one.status, one.reason) == ("undefined", "one_side_only")


def test_pass_k_over_repeats() -> None:
    cases = [asked("q0"), asked("q1"), asked("q2")]
    texts = {"q0": ["yes", "yes", "yes"], "q1": ["yes", "no", "yes"], "q2": ["yes", "yes", None]}
    traces = [
        said(query_id, text or "", "answered", repeat=n, failure="" if text else "timeout")
        for query_id, own in texts.items()
        for n, text in enumerate(own)
    ]
    _, made = table(cases, traces, f"pass_k(k=2,{EM})", f"pass_k(k=3,{EM})", repeats=3)
    two = found(made, f"pass_k(k=2,{EM})")
    assert two.value == pytest.approx((1 + 1 / 3 + 1) / 3)  # C(2,2)/C(3,2) for q1
    assert two.bounds is not None
    assert two.bounds.low == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    three = found(made, f"pass_k(k=3,{EM})")
    assert (three.value, three.scored, three.error) == (0.5, 2, 1)
    assert three.bounds.low == pytest.approx(1 / 3)
    _, one_repeat = table(cases[:1], traces[:1], f"pass_k(k=2,{EM})")
    assert found(one_repeat, f"pass_k(k=2,{EM})").reasons == {"fewer_than_k_repeats": 1}


def test_clusters_have_no_exact_bound() -> None:
    cases = [asked("q0"), *(asked(f"q{n}", paraphrase_of="q0") for n in (1, 2)), asked("q3"), asked("q4")]
    traces = [said(one.query_id, "no" if one.query_id == "q3" else "yes", "answered", 0.5) for one in cases]
    spelled = f"selective_risk(coverage=0.5,{EM})"
    one = found(table(cases, traces, spelled)[1], spelled)
    assert (one.numerator, one.denominator) == (1.0, 5.0)  # all tied: all are answered
    assert (one.interval.method, one.interval.clusters) == ("student_t", 3)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["answerable", "unanswerable", "multi_hop"]), st.sampled_from(["yes", "no"]),
            st.sampled_from(["answered", "abstained", None]), st.sampled_from([None, 0.2, 0.8, 3.0]), st.booleans(),
        ),
        min_size=1, max_size=12,
    ),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_counts_add_up_and_bounds_hold_the_value_in_any_order(plan: list[tuple[Any, ...]], shuffle: Any) -> None:
    cases = [asked(f"q{n}", one[0]) for n, one in enumerate(plan)]
    traces = [
        said(f"q{n}", text, did, sure, sure=sure, failure="timeout" if failed else "")
        for n, (_, text, did, sure, failed) in enumerate(plan)
    ]
    measures = (f"aurc({EM})", f"selective_risk(coverage=0.3,{EM})", f"brier({EM})", "retrieval_auroc")
    measures = (*measures, f"calibration_error({EM})")
    rows, made = table(cases, traces, *measures)
    for one in made:
        assert one.value is None or math.isfinite(one.value)
        if one.bounds is not None and one.value is not None:
            assert one.bounds.low - 1e-12 <= one.value <= one.bounds.high + 1e-12, one.measure
        if one.measure in measures and one.missing + one.error and one.status == "value":
            assert one.bounds is not None
    shuffle.shuffle(rows)
    assert estimate(rows, cases, scoring(*measures)) == made
