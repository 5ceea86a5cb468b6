"""Measures of verdicts, each number counted by hand: values, bounds, what is missing, and by whom."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.score.judged_material import judged, said, span, verdicts
from tests.unit.score.score_material import case, doc, ev, fact, item, one_estimate, row, scoring, step, trace

from ragassay.errors import IntegrityError
from ragassay.records.canonical import digest_text
from ragassay.records.case import Fact, ReferenceAnswer
from ragassay.records.judgement import AnswerClaims
from ragassay.records.score import Bounds, Observation
from ragassay.records.trace import Answer
from ragassay.score import estimate
from ragassay.score.verdicts import Verdicts, united

DOCS = [doc("a", "The fee is three euros. It is due in May."), doc("b", "The office is shut on Monday.")]
A, B = item("a", 0, 41), item("b", 0, 29)
REFERENCE = (ReferenceAnswer(text="three euros"),)
FOUR = "The fee is three euros [1]. It is due in June [1]. The office is shut [2]. The staff is kind."
ALL = (
    "faithfulness", "citation_precision", "citation_recall", "answer_relevance", "correctness", "grounded_accuracy",
    "vital_nuggets", "okay_nuggets", "context_utilisation", "noise_sensitivity", "semantic_similarity", "bertscore",
    "judge_flips",
)  # fmt: skip


def seen(text: str = FOUR, **more: object):  # type: ignore[no-untyped-def]
    return trace(step("s", "lexical", [A, B], ()), answer=text, context=[A, B], **more)


def score(*rulings, measures=("faithfulness",), known=None, answer=FOUR, **more):  # type: ignore[no-untyped-def]
    told = seen(answer)
    by = {"j": verdicts(told, *rulings, **{k: more.pop(k) for k in ("threshold", "state", "stopped") if k in more})}
    return judged(known or case(evidence=(ev("e", "a", 0, 23),), answers=REFERENCE), told, DOCS, *measures, by=by,
                  **more)  # fmt: skip


def bounds_of(one: Observation) -> tuple[float, float] | None:
    return None if one.bounds is None else (one.bounds.low, one.bounds.high)


def test_faithfulness_is_supported_over_evaluated_claims() -> None:
    got = score(*[said(f"claim c{n}", label) for n, label in
                  enumerate(("supported", "contradicted", "supported", "unsupported"), 1)])  # fmt: skip
    found = row(got, "faithfulness(by=j)")
    assert (found.value, found.numerator, found.denominator, found.bounds, found.whole) == (0.5, 2, 4, None, None)
    assert [row(got, "faithfulness(by=j)", target=f"c{n}").value for n in (1, 2, 3, 4)] == [1, 0, 1, 0]


def test_a_verdict_that_did_not_come_is_missing_and_bounds_the_question() -> None:
    got = score(said("claim c1", "supported"), said("claim c2"), said("claim c3", "unsupported"),
                said("claim c4", status="error", reason="truncated"))  # fmt: skip
    found = row(got, "faithfulness(by=j)")
    assert (found.value, found.numerator, found.denominator, found.whole) == (0.5, 1, 2, 4)
    assert bounds_of(found) == (0.25, 0.75)  # one of four for certain, three at the most
    lost = [row(got, "faithfulness(by=j)", target=name) for name in ("c2", "c4")]
    assert [(one.status, one.reason) for one in lost] == [("missing", "timeout"), ("error", "truncated")]


def test_missing_verdicts_bound_the_estimate_by_items_not_by_questions() -> None:
    """q1: 1 of 2 known claims of 4; q2: 4 of 4. Micro: 5/6 known; least (1+4)/8, most (3+4)/8."""
    known = [case("q1"), case("q2")]
    rows = [
        Observation(query_id="q1", repeat=0, measure="faithfulness(by=j)", status="value", value=0.5, numerator=1,
                    denominator=2, whole=4, bounds=Bounds(low=0.25, high=0.75)),
        Observation(query_id="q2", repeat=0, measure="faithfulness(by=j)", status="value", value=1, numerator=4,
                    denominator=4),
    ]  # fmt: skip
    found = estimate(rows, known, scoring("faithfulness(by=j)"))
    micro = one_estimate(found, "faithfulness(by=j)", aggregation="micro")
    assert (micro.value, micro.numerator, micro.denominator) == (5 / 6, 5, 6)
    assert micro.bounds == Bounds(low=5 / 8, high=7 / 8)
    macro = one_estimate(found, "faithfulness(by=j)", aggregation="macro")
    assert (macro.value, macro.bounds) == (0.75, Bounds(low=(0.25 + 1) / 2, high=(0.75 + 1) / 2))


def test_without_any_verdict_it_is_missing_or_an_error_never_one() -> None:
    for reason, status in (("timeout", "missing"), ("truncated", "error")):
        got = score(*[said(f"claim c{n}", status=status, reason=reason) for n in (1, 2, 3, 4)])
        found = row(got, "faithfulness(by=j)")
        assert (found.status, found.reason, found.denominator) == (status, reason, 4)


def test_citation_precision_counts_pairs_and_recall_counts_claims() -> None:
    """c1 cites 1 (supported), c2 cites 1 (not), c3 cites 2 (supported), c4 nothing: pairs 2 of 3, claims 2 of 4."""
    rulings = [said("citation c1:0", "supported"), said("citation c2:1", "unsupported"),
               said("citation c3:2", "supported")]  # fmt: skip
    got = score(*rulings, measures=("citation_precision", "citation_recall"))
    precision, recall = row(got, "citation_precision(by=j)"), row(got, "citation_recall(by=j)")
    assert (precision.numerator, precision.denominator) == (2, 3)
    assert (recall.numerator, recall.denominator) == (2, 4)


def test_what_was_never_in_the_trace_supports_nothing_and_needs_no_verdict() -> None:
    got = score(said("citation c1:0", "supported"), answer="The fee is three euros [1]. It is due [9].",
                measures=("citation_precision", "citation_recall"))  # fmt: skip
    assert row(got, "citation_precision(by=j)").value == 0.5
    assert row(got, "citation_recall(by=j)").value == 0.5


def test_one_good_citation_supports_a_claim_however_the_other_fares() -> None:
    got = score(said("citation c1:0", "supported"), said("citation c1:1"), answer="The fee is three euros [1][2].",
                measures=("citation_precision", "citation_recall"))  # fmt: skip
    assert row(got, "citation_recall(by=j)").value == 1.0
    found = row(got, "citation_precision(by=j)")
    assert (found.status, found.reason, found.denominator, bounds_of(found)) == ("missing", "timeout", 2, (0.5, 1.0))
    unknown = score(said("citation c1:0", "unsupported"), said("citation c1:1"),
                    answer="The fee is three euros [1][2].", measures=("citation_recall",))  # fmt: skip
    assert (row(unknown, "citation_recall(by=j)").status, row(unknown, "citation_recall(by=j)").reason) == (
        "missing", "timeout")  # fmt: skip


def test_answers_that_cite_or_claim_nothing_are_undefined() -> None:
    plain = score(said("claim c1", "supported"), answer="The fee is three euros.",
                  measures=("citation_precision", "citation_recall"))  # fmt: skip
    assert row(plain, "citation_precision(by=j)").reason == "no_citations"
    assert row(plain, "citation_recall(by=j)").value == 0.0
    asked = score(answer="Which fee do you mean?", measures=ALL[:3])
    assert {row(asked, f"{name}(by=j)").reason for name in ALL[:3]} == {"no_claims"}


@pytest.mark.parametrize(("label", "value"), [("relevant", 1.0), ("partly", 0.5), ("irrelevant", 0.0)])
def test_relevance_counts_partly_as_half(label: str, value: float) -> None:
    assert row(score(said("answer relevance", label), measures=("answer_relevance",)),
               "answer_relevance(by=j)").value == value  # fmt: skip


def test_grounded_accuracy_needs_both_and_fails_by_either() -> None:
    supported = [said(f"claim c{n}", "supported") for n in (1, 2, 3, 4)]
    spoilt = [*supported[:3], said("claim c4", "unsupported")]

    def value(*rulings):  # type: ignore[no-untyped-def]
        found = row(score(*rulings, measures=("grounded_accuracy",)), "grounded_accuracy(by=j)")
        return found.value if found.value is not None else (found.status, found.reason)

    assert value(*supported, said("answer correctness", "correct")) == 1
    assert value(*supported, said("answer correctness", "partly")) == 0
    assert value(*spoilt, said("answer correctness", "correct")) == 0
    assert value(*spoilt) == 0  # whatever correctness would have been
    assert value(*supported) == ("missing", "not_judged")
    assert value(*supported[:3], said("answer correctness", "correct"), said("claim c4")) == ("missing", "timeout")


def test_nuggets_by_required_and_by_what_the_context_holds() -> None:
    facts = (
        Fact(id="f1", any_of=(("e1",),), text="three euros"), Fact(id="f2", any_of=(("e2",),), text="in May"),
        Fact(id="f3", any_of=(("e3",),), text="shut", required=False), Fact(id="f4", any_of=(("e4",),), text="gone"),
    )  # fmt: skip
    known = case(evidence=(ev("e1", "a", 0, 23), ev("e2", "a", 24, 41), ev("e3", "b", 0, 29), ev("e4", "z", 0, 9)),
                 facts=facts)  # fmt: skip
    rulings = [said("fact f1", "supported"), said("fact f2", "unsupported"), said("fact f3", "contradicted"),
               said("fact f4", "supported")]  # fmt: skip
    got = score(*rulings, known=known, measures=("vital_nuggets", "okay_nuggets", "context_utilisation"))
    parts = {name: (row(got, f"{name}(by=j)").numerator, row(got, f"{name}(by=j)").denominator)
             for name in ("vital_nuggets", "okay_nuggets", "context_utilisation")}  # fmt: skip
    assert parts == {"vital_nuggets": (2, 3), "okay_nuggets": (0, 1), "context_utilisation": (1, 2)}


def test_facts_without_text_or_labels() -> None:
    silent = case(evidence=(ev("e", "a", 0, 23),), facts=(fact("f", ("e",)),))
    assert row(score(known=silent, measures=("vital_nuggets",)), "vital_nuggets(by=j)").reason == "no_fact_text"
    assert row(score(known=case(), measures=("vital_nuggets",)), "vital_nuggets(by=j)").reason == "unlabelled"
    assert row(score(known=case(evidence=(ev("e", "a", 0, 3),)), measures=("okay_nuggets",)),
               "okay_nuggets(by=j)").reason == "no_facts"  # fmt: skip


def test_noise_is_what_supports_a_claim_and_carries_no_relevant_evidence() -> None:
    """c1 rests on the label, c2 beside it in the same document, c3 on another document, c4 is not supported."""
    rulings = [said("claim c1", "supported", spans=(span("a", 5, 12),)),
               said("claim c2", "supported", spans=(span("a", 24, 41),)),
               said("claim c3", "supported", spans=(span("b", 0, 9),)), said("claim c4", "unsupported")]  # fmt: skip
    found = row(score(*rulings, measures=("noise_sensitivity",)), "noise_sensitivity(by=j)")
    assert (found.numerator, found.denominator) == (2, 4)
    blind = row(score(said("claim c1", "supported"), *rulings[1:], measures=("noise_sensitivity",)),
                "noise_sensitivity(by=j)")  # fmt: skip
    assert (blind.status, blind.reason, blind.denominator, bounds_of(blind)) == ("missing", "no_spans", 4, (0.5, 0.75))


def test_a_judge_of_claims_alone_says_nothing_of_citations_though_some_claims_have_none() -> None:
    """c1 to c3 cite and were not asked about, c4 cites nothing: not 0 of 1, but unknown from 0 to 3 of 4."""
    got = row(score(said("claim c1", "supported"), measures=("citation_recall",)), "citation_recall(by=j)")
    assert (got.status, got.reason, got.denominator, bounds_of(got)) == ("missing", "not_judged", 4, (0.0, 0.75))


def test_similarities_are_scores_and_rule_on_nothing() -> None:
    got = score(said("similarity semantic_similarity", "measured", score=-0.25),
                said("similarity bertscore", status="error", reason="model"),
                measures=("semantic_similarity", "bertscore"))  # fmt: skip
    assert row(got, "semantic_similarity(by=j)").value == -0.25
    assert (row(got, "bertscore(by=j)").status, row(got, "bertscore(by=j)").reason) == ("error", "model")


def test_who_did_not_answer_is_undefined_whatever_a_judge_says() -> None:
    told = trace(answer=Answer(text="I cannot say.", outcome="abstained", outcome_source="system"), context=[A])
    got = judged(case(answers=REFERENCE), told, DOCS, *ALL,
                 by={"j": verdicts(told, said("claim c1", "supported"))})  # fmt: skip
    assert {row(got, f"{name}(by=j)").reason for name in ALL} == {"not_answered"}
    assert got.failures == ()
    empty = trace(answer=" ", context=[A])
    got = judged(case(answers=REFERENCE), empty, DOCS, "faithfulness", by={"j": verdicts(empty)})
    assert row(got, "faithfulness(by=j)").reason == "empty_answer"


def test_no_set_a_stopped_set_and_a_disqualified_one() -> None:
    told = seen()
    known = case(evidence=(ev("e", "a", 0, 23),), answers=REFERENCE)
    none = judged(known, told, DOCS, "faithfulness(by=k)", "correctness(by=k)", by={})
    assert [row(none, f"{one}(by=k)").reason for one in ("faithfulness", "correctness")] == ["not_judged"] * 2
    stopped = {"j": verdicts([], state="partial", stopped="cost_ceiling")}
    got = judged(known, told, DOCS, "faithfulness", by=stopped)
    assert (row(got, "faithfulness(by=j)").status, row(got, "faithfulness(by=j)").reason) == (
        "missing", "cost_ceiling")  # fmt: skip
    out = {"j": verdicts(told, said("claim c1", "supported"), state="disqualified", stopped="controls")}
    measures = tuple(one for one in ALL if "nuggets" not in one and one != "context_utilisation")
    got = judged(known, told, DOCS, *measures, by=out)
    assert {(row(got, f"{one}(by=j)").status, row(got, f"{one}(by=j)").reason) for one in measures} == {
        ("error", "disqualified")}  # fmt: skip
    assert got.failures == ()


def test_a_measure_without_a_judge_is_taken_for_each_and_one_with_only_for_its_own() -> None:
    told = seen()
    by = {"j": verdicts(told, said("claim c1", "supported")), "k": verdicts(told, name="k")}
    got = judged(case(), told, DOCS, "faithfulness", "citation_recall(by=k)", by=by)
    names = {one.measure for one in got.observations if one.target is None}
    assert {"faithfulness(by=j)", "faithfulness(by=k)", "citation_recall(by=k)"} <= names
    assert not names & {"citation_recall(by=j)", "faithfulness"}


def test_right_by_a_judge_stands_for_each_judge() -> None:
    got = score(said("answer correctness", "correct"), measures=("answered_right(of=correctness,least=0.9)",),
                answer=Answer(text=FOUR, outcome="answered", outcome_source="system"))  # fmt: skip
    assert row(got, "answered_right(least=0.9,of=correctness/by:j)").value == 1.0


def test_a_threshold_relabels_by_score_and_leaves_contradictions() -> None:
    rulings = [said("claim c1", "supported", score=0.6), said("claim c2", "unsupported", score=0.5),
               said("claim c3", "contradicted", score=0.9), said("claim c4", "supported", score=0.4)]  # fmt: skip

    def count(threshold: float | None) -> tuple[float | None, float | None]:
        found = row(score(*rulings, threshold=threshold), "faithfulness(by=j)")
        return found.numerator, found.denominator

    assert [count(one) for one in (None, 0.3, 0.5, 0.55, 0.7)] == [(2, 4), (3, 4), (2, 4), (1, 4), (0, 4)]
    blind = row(score(said("claim c1", "supported"), *rulings[1:], threshold=0.45), "faithfulness(by=j)")
    assert (blind.numerator, blind.denominator, bounds_of(blind)) == (1, 3, (0.25, 0.5))


def test_repeats_of_a_judge_go_by_more_than_half_of_all_of_them() -> None:
    def one(*labels: str | None) -> tuple[str | None, str | None, bool]:
        found = united([said("claim c1", label, judge_repeat=n) for n, label in enumerate(labels)])
        return found.label, found.reason, found.flipped

    assert one("supported", "supported", "unsupported") == ("supported", None, True)
    assert one("supported", "unsupported") == (None, "no_majority", True)
    assert one("supported", None, None) == (None, "no_majority", False)
    assert one("supported", "supported", None) == ("supported", None, False)
    assert one(None, None) == (None, "timeout", False)
    got = score(*[said("claim c1", label, judge_repeat=n) for n, label in enumerate(("supported", "unsupported"))],
                *[said("claim c2", "supported", judge_repeat=n) for n in (0, 1)],
                measures=("judge_flips",))  # fmt: skip
    assert (row(got, "judge_flips(by=j)").numerator, row(got, "judge_flips(by=j)").denominator) == (1, 2)
    assert row(score(said("claim c1", "supported"), measures=("judge_flips",)), "judge_flips(by=j)").reason == (
        "no_repeats")  # fmt: skip


def test_claims_of_another_answer_are_refused() -> None:
    told = seen()
    foreign = AnswerClaims(query_id="q", repeat=0, answer=digest_text("something else"))
    made = Verdicts(verdicts(told).record, [foreign], [])
    with pytest.raises(IntegrityError, match="cut from another answer"):
        judged(case(), told, DOCS, "faithfulness", by={"j": made})


LABELS = st.sampled_from(["supported", "unsupported", "contradicted", None])


@settings(max_examples=60, deadline=None)
@given(st.lists(LABELS, min_size=4, max_size=4), st.integers(0, 3), LABELS)
def test_whatever_the_missing_verdicts_had_been_lies_within_the_bounds(
    labels: list[str | None], place: int, other: str | None
) -> None:
    """Any way to fill in the missing verdicts gives a value within the bounds; more verdicts never widen them."""
    found = row(score(*[said(f"claim c{n}", one) for n, one in enumerate(labels, 1)]), "faithfulness(by=j)")
    low, high = (found.bounds.low, found.bounds.high) if found.bounds else (0.0, 1.0)
    if found.status == "value" and found.bounds is None:
        low = high = found.value or 0.0
    for fill in ("supported", "unsupported"):
        full = sum((one or fill) == "supported" for one in labels) / 4
        assert low - 1e-12 <= full <= high + 1e-12
    if labels[place] is None and other is not None:
        labels[place] = other
        more = row(score(*[said(f"claim c{n}", one) for n, one in enumerate(labels, 1)]), "faithfulness(by=j)")
        inner = bounds_of(more) or (more.value, more.value)
        assert low - 1e-12 <= inner[0]
        assert inner[1] <= high + 1e-12
