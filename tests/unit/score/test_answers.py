"""Outcomes, refusal by class, answer texts and runtime figures: each by hand."""

from __future__ import annotations

import math

import msgspec
import pytest
from tests.unit.score.score_material import case, doc, ev, number, one_estimate, row, score, scoring, step, trace

from ragassay.records.case import ReferenceAnswer
from ragassay.records.trace import Answer, Cost, StepTiming, Trace, Usage
from ragassay.score import World, complete, estimate, observe
from ragassay.score.answer import outcome_of

DOCS = (doc("a", "aaaaaaaaaa"),)
REFUSAL = ("outcome", "abstention_rate", "false_refusal", "unsupported_answer")


def said(text: str, outcome: str | None = None) -> Answer:
    return Answer(text=text, outcome=outcome, outcome_source="system" if outcome else None)


@pytest.mark.parametrize(
    "answer, rules, expected",
    [
        (said("x", "abstained"), (), ("abstained", "")),
        (said("I do not know.", "answered"), ("do not know",), ("answered", "")),  # the system's word goes first
        (said("I do not know."), ("(?i)do not know",), ("abstained", "")),
        (said("Paris"), ("do not know",), ("answered", "")),  # rules are declared, none matches
        (said("Paris"), (), ("", "no_outcome")),
        (said(""), (".*",), ("", "empty_answer")),  # an empty answer is never abstained by rule
        (said(" \n", "answered"), (), ("", "empty_answer")),
        (said("", "denied"), (), ("denied", "")),
        (None, (), ("", "no_answer")),
    ],
)
def test_outcome_of(answer: Answer | None, rules: tuple[str, ...], expected: tuple[str, str]) -> None:
    assert outcome_of(trace(answer=answer).content, rules) == expected


def test_refusal_measures_are_apart_by_class_with_their_own_denominators() -> None:
    plan = [  # class, answerable, outcome
        ("answerable", "yes", "answered"), ("answerable", "yes", "abstained"), ("answerable", "yes", "denied"),
        ("answerable", "partial", "clarified"), ("unanswerable", "no", "answered"), ("unanswerable", "no", "abstained"),
        ("unanswerable", "no", None), ("adversarial", "not_applicable", "abstained"),
    ]  # fmt: skip
    how, world = scoring(*REFUSAL), World(DOCS)
    cases, scores = [], []
    for place, (class_, truth, did) in enumerate(plan):
        known = case(f"q{place}", class_=class_, answerable=truth, evidence=())
        cases.append(known)
        scores.append(observe(known, trace(query_id=f"q{place}", answer=said("words", did)), world, how))
    rows = [one for got in complete(scores, cases, 1, world, how) for one in got.observations]
    found = estimate(rows, cases, how)
    # answerable: 4 asked. Refused: abstained, clarified = 2 of 4 (denied is no abstention).
    assert one_estimate(found, "abstention_rate").value == 0.5
    # false refusals: q1 abstained, q2 denied; q3 may be clarified: 2 of 4.
    refused = one_estimate(found, "false_refusal")
    assert (refused.numerator, refused.denominator, refused.attempted) == (2.0, 4.0, 4)
    # unanswerable: q4 answered, q5 not, q6 did not say: 1 of 2 with an outcome, bounds 1/3 to 2/3.
    invented = one_estimate(found, "unsupported_answer", class_="unanswerable")
    assert (invented.value, invented.attempted, invented.scored, invented.missing) == (0.5, 3, 2, 1)
    assert invented.bounds is not None
    assert (invented.bounds.low, invented.bounds.high) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    # No false_refusal among the unanswerable, no unsupported_answer among the answerable, nothing pooled.
    pairs = {(one.measure, one.population.class_) for one in found}
    assert ("false_refusal", "unanswerable") not in pairs
    assert ("unsupported_answer", "answerable") not in pairs
    # Nobody says what is right for the adversarial one: missing, not 0.
    assert one_estimate(found, "false_refusal", class_="adversarial").reasons == {"unlabelled": 1}
    # The table's cells are the targets.
    cells = sorted((one.query_id, one.target) for one in rows if one.measure == "outcome")
    assert cells == [(f"q{place}", did) for place, (_, _, did) in enumerate(plan)]


def test_answer_texts_only_where_there_is_an_answer_and_a_reference() -> None:
    known = case(answers=(ReferenceAnswer(text="the red house"), ReferenceAnswer(text="a barn")))
    measures = ("exact_match", "token_f1")
    got = score(known, trace(answer=said("Red house!", "answered")), DOCS, *measures)
    assert (number(got, "exact_match"), number(got, "token_f1")) == (1.0, 1.0)
    got = score(known, trace(answer=said("red car")), DOCS, *measures)
    assert number(got, "token_f1") == 0.5  # 1 of 2 words shared with `red house`: 2 * 1 / (2 + 2)
    for answer, status, reason in (
        (said("red house", "abstained"), "undefined", "not_answered"),
        (said(""), "missing", "empty_answer"),
        (None, "missing", "no_answer"),
    ):
        found = row(score(known, trace(answer=answer), DOCS, *measures), "exact_match")
        assert (found.status, found.reason) == (status, reason)
    assert row(score(case(), trace(answer="x"), DOCS, *measures), "exact_match").reason == "no_reference"
    unanswerable = case(class_="unanswerable", answerable="no")
    assert row(score(unanswerable, trace(answer="x"), DOCS, *measures), "exact_match").reason == "nothing_to_answer"


def test_runtime_is_a_value_where_reported_and_missing_where_not() -> None:
    plain = trace(
        step("x", "lexical", [], (), step_id="1"), step("y", "lexical", [], (), step_id="2"),
        step("z", "generate", None, (), step_id="3"),
        latency_ms=30.0, usage=Usage(input_tokens=7), cost=Cost(amount=0.5, currency="EUR"), calls=2,
    )  # fmt: skip
    timings = (StepTiming(step_id="1", duration_ms=1.0), StepTiming(step_id="2", duration_ms=2.0))
    measured = msgspec.structs.replace(plain.measurements, steps=timings)
    got = score(case(), Trace(content=plain.content, measurements=measured), DOCS,
                "latency", "first_token", "tokens", "cost", "calls", "cache_hits", "error_rate", "errors")  # fmt: skip
    assert not got.observations
    assert number(got, "latency") == 30.0
    assert number(got, "latency(kind=lexical)") == 3.0
    assert row(got, "latency(kind=generate)").reason == "not_reported"
    assert number(got, "tokens(kind=input)") == 7.0
    assert row(got, "tokens(kind=output)").status == "missing"
    assert number(got, "cost(kind=EUR)") == 0.5
    assert number(got, "calls") == 2.0
    assert row(got, "cache_hits").reason == "not_reported"
    assert number(got, "error_rate") == 0.0
    assert number(got, "errors") == 0.0


def test_what_nobody_judged_is_missing() -> None:
    measures = ("faithfulness", "answer_relevance", "semantic_similarity")
    got = score(case(evidence=(ev("e", "a", 0, 3),)), trace(answer="x"), DOCS, *measures)
    for measure, why in zip(measures, ("not_judged", "not_judged", "no_reference"), strict=True):
        assert (row(got, measure).status, row(got, measure).reason) == ("missing", why)


def test_words_in_common_by_hand() -> None:
    known = case(evidence=(), answers=(ReferenceAnswer(text="the cat sat on the mat"), ReferenceAnswer(text="dogs")))
    got = score(known, trace(answer="the cat on the mat"), DOCS, "rouge_1", "rouge_2", "rouge_l", "bleu")
    # 5 of 5 and 6 words; pairs (the cat), (on the), (the mat) of 4 and 5; the common subsequence has 5 words
    assert row(got, "rouge_1").value == pytest.approx(10 / 11)
    assert row(got, "rouge_2").value == pytest.approx(6 / 9)
    assert row(got, "rouge_l").value == pytest.approx(10 / 11)
    # precisions 5/5, 3/4, 1/3, and of two 4-grams none (smoothed: 1/2 of 1/2); one word short of the nearest reference
    assert row(got, "bleu").value == pytest.approx(math.exp(1 - 6 / 5) * (1 * 3 / 4 * 1 / 3 * 1 / 4) ** 0.25)
    refused = score(known, trace(answer=said("no", "abstained")), DOCS, "rouge_l")
    assert row(refused, "rouge_l").reason == "not_answered"
