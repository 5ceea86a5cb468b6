"""Numbers of the scorecard, counted by hand in `sample`."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report import sample

from ragassay.records.policy import Rule
from ragassay.records.protocol import Policy
from ragassay.records.trace import Answer, Usage
from ragassay.report import build, to_json
from ragassay.report.dimensions import leading
from ragassay.report.model import Scorecard
from ragassay.report.runtime import even_bars, ratio_bars


@pytest.fixture(scope="module")
def card() -> Scorecard:
    return build(sample.material())


def question(card: Scorecard, query_id: str):
    return next(one for one in card.questions if one.query_id == query_id)


def test_verdict_is_counted_and_not_invented(card: Scorecard) -> None:
    assert card.verdict.lead == "Not decided: no policy was declared."
    assert card.verdict.reasons == (
        "Of 5 facts that 5 answerable questions need, the context held 2; 1 was found and lost again at assemble "
        "(whole); 1 was never found by any step; for 1 it cannot be told.",
        "Of 2 facts that 1 multi-hop question needs, the context held 1; 1 was found and lost again at dedup "
        "(in parts).",
        "Refused although it should answer: 1 of 4 answerable questions.",
        "Answered although it should decline: 1 of 2 unanswerable questions.",
        "1 of 11 questions ended in a failure (1 timeout); it stays in every count.",
        "Not measured: faithfulness, relevance, citations, correctness and authorization.",
    )


def test_most_of_the_losses_are_named_with_their_step() -> None:
    rows = sample.survival()
    rows[2] = msgspec.structs.replace(rows[2], held=1, not_held=3, lost_whole=2)
    fates = [one for one in sample.fates() if one.query_id != "a-3"]
    fates.append(
        sample.FactFate(query_id="a-3", repeat=0, fact_id="f1", required=True, fate="lost_whole", steps=("assemble",))
    )
    told = build(sample.material(survival=tuple(rows), fates=tuple(fates))).verdict.reasons[0]
    assert "2 were found and lost again, all of them at assemble (2 whole)" in told


def test_nothing_measured_says_so_and_gives_no_number() -> None:
    empty = build(
        sample.material(estimates=(), observations=(), runtime=(), fates=(), survival=(), contents=(), measurements=())
    )
    assert empty.verdict.lead == "Not decided: no policy was declared."
    assert empty.verdict.reasons == (
        "Nothing was measured: no question has a trace.",
        "11 of 11 questions have no trace.",
    )
    assert empty.funnels == ()
    assert empty.distributions == ()
    assert empty.outcomes == ()
    assert not any(one.measured for one in (*empty.dimensions, *empty.other))


def test_no_question_at_all_is_not_a_pass() -> None:
    nothing = build(
        sample.material(
            cases=(), estimates=(), observations=(), runtime=(), fates=(), survival=(), contents=(), measurements=()
        )
    )
    assert "Nothing was measured" in nothing.verdict.sentence
    assert "1.0" not in nothing.verdict.sentence
    assert "100" not in nothing.verdict.sentence


def test_rules_without_a_gate_are_not_decided() -> None:
    strict = Policy(name="strict", rules=(Rule(measure="recall@20", at_least=0.5),))
    assert build(sample.material(policy=strict)).verdict.lead.startswith("Not decided: policy")


def test_fates_add_up_to_the_facts_and_steps_keep_their_order(card: Scorecard) -> None:
    answerable, hops = card.funnels
    assert (answerable.facts, answerable.questions) == (5, 5)
    assert sum(answerable.fates.values()) == 5
    assert [(one.step, one.held, one.lost_whole) for one in answerable.steps] == [
        ("bm25", 3, 0), ("dedup", 3, 0), ("assemble", 2, 1), ("context", 2, 0),
    ]  # fmt: skip
    assert hops.steps[1].joint == {"assemble": 1}
    assert card.steps == ("bm25", "dedup", "assemble", "context")


def test_headline_stands_at_the_context_with_its_five_counts(card: Scorecard) -> None:
    row, items = card.dimensions[0].headline[:2]
    assert (items.aggregation, items.numerator, items.denominator) == ("micro", 2, 5)
    assert (row.measure, row.step, row.population.class_) == ("recall(rel=2)@20", "context", "answerable")
    assert (row.value, row.numerator, row.denominator) == (0.5, 2, 4)
    assert (row.attempted, row.scored, row.undefined, row.missing, row.error) == (6, 4, 0, 1, 1)
    assert [one.population.class_ for one in leading(card.dimensions[0].headline)] == [
        "answerable", "multi_hop", "unanswerable", "adversarial", "cross_tenant",
    ]  # fmt: skip


def test_what_needs_a_judge_is_not_measured_and_says_what_would_do_it(card: Scorecard) -> None:
    found = {one.key: one for one in (*card.dimensions, *card.other)}
    for key in ("faithfulness", "relevance", "citations", "correctness", "authorization"):
        assert not found[key].measured
        assert found[key].headline == ()
        assert found[key].not_measured[0].would_need
    assert "judge" in found["faithfulness"].not_measured[0].would_need


def test_overlap_with_a_reference_does_not_measure_correctness() -> None:
    more = sample.estimate("token_f1", "answerable", None, (4, 0, 2, 0), **sample.value(0.5, 2, 4))
    found = {one.key: one for one in build(sample.material(estimates=(*sample.estimates(), more))).other}
    assert found["correctness"].headline[0].measure == "token_f1"
    assert not found["correctness"].measured
    assert [one.measure for one in found["correctness"].not_measured] == ["correctness"]


def test_outcomes_by_hand(card: Scorecard) -> None:
    rows = {row.class_: row for row in card.outcomes}
    assert rows["answerable"].did == {"answered": 3, "abstained": 1, "failed": 1, "empty answer": 1}
    assert rows["unanswerable"].expected == ("abstained", "clarified", "escalated")
    assert rows["cross_tenant"].expected == ("abstained", "clarified", "escalated", "denied")
    assert sum(row.total for row in card.outcomes) == 11


def test_foreign_document_in_the_context_is_named(card: Scorecard) -> None:
    assert (card.access.questions, card.access.items, card.access.denied) == (1, 1, 1)
    assert card.access.denied_questions == ("x-1",)
    view = question(card, "x-1")
    assert view.evidence is not None
    assert view.evidence[0].visible is False
    assert view.repeats[0].items[0].access == "denied"


def test_question_shows_where_each_piece_was_held(card: Scorecard) -> None:
    view = question(card, "m-1")
    places = {one.evidence_id: one for one in view.repeats[0].evidence}
    assert places["e1"].held == ("bm25", "dedup", "assemble", "context")
    assert places["e2"].held == ("bm25",)
    assert view.flags == ("lost",)
    rows = {one.label: one for one in view.repeats[0].items}
    lost = rows["publish-recovery [55:99]"]
    assert [place and place.rank for place in lost.places] == [2, None, None, None, None]
    assert lost.holds == ("e2",)


def test_evidence_on_two_halves_is_held_by_the_list_and_in_parts_by_the_items() -> None:
    text = sample.TEXTS["publish-recovery"]
    label = sample.Evidence(id="e1", document_id="publish-recovery", version="1", start=10, end=len(text), grade=3)
    case = msgspec.structs.replace(sample.cases()[0], evidence=(label,))
    view = question(build(sample.material(cases=(case, *sample.cases()[1:]))), "a-1").repeats[0]
    assert view.evidence[0].held == ("bm25", "dedup")
    assert view.evidence[0].parts == ("assemble", "context")
    holding = {one.label: (one.holds, one.parts) for one in view.items}
    assert holding["publish-recovery [0:55]"] == ((), ("e1",))


def test_flags_follow_fates_failures_and_statuses(card: Scorecard) -> None:
    assert question(card, "a-2").flags == ("lost",)
    assert question(card, "a-3").flags == ("never_found",)
    assert question(card, "a-4").flags == ("failed", "error")
    assert question(card, "n-1").flags == ("missing", "unjudged")
    assert question(card, "u-1").flags == ("undefined",)
    assert question(card, "x-1").flags == ("undefined", "denied")
    assert question(card, "a-1").flags == ()


def test_citation_of_what_is_not_there_is_said(card: Scorecard) -> None:
    first, second = question(card, "a-1").repeats[0].citations
    assert (first.end, first.in_context) == (39, True)
    assert (second.end, second.in_context) == (None, False)
    assert "no item" in second.points_to


def test_timeout_is_censored_and_not_left_out(card: Scorecard) -> None:
    row = next(one for one in card.runtime if one.measure == "latency")
    assert row.figures == {"p50": 46.0}
    assert row.at_least == {"p95": 60_000.0, "p99": 60_000.0}
    assert (row.censored, row.attempted, row.scored, row.error) == (1, 6, 5, 1)
    cost = next(one for one in card.runtime if one.measure == "cost")
    assert cost.figures == {}
    assert cost.missing == 6


def test_tokens_and_calls_of_each_step_stand_beside_those_of_the_question() -> None:
    made = sample.contents()
    used = {
        "bm25": {"calls": 0},
        "dedup": {"calls": 2, "cache_hits": 1, "usage": Usage(input_tokens=30, output_tokens=4)},
        "assemble": {},
    }
    measured = [
        msgspec.structs.replace(
            one, steps=tuple(msgspec.structs.replace(each, **used.get(each.step_id, {})) for each in one.steps)
        )
        for one in sample.measurements(made)
    ]
    rows = [
        one
        for one in build(sample.material(measurements=measured)).runtime
        if one.step == "dedup" and one.class_ == "answerable"
    ]
    count = 5  # of 6 answerable questions; one timed out and has no steps
    found = {
        one.measure: (one.figures["mean"], one.figures["sum"], one.missing) for one in rows if "mean" in one.figures
    }
    assert found["tokens(kind=input)"] == (30.0, 30.0 * count, 0)
    assert found["tokens(kind=output)"] == (4.0, 4.0 * count, 0)
    assert found["calls"] == (2.0, 2.0 * count, 0)
    assert found["cache_hits"] == (1.0, 1.0 * count, 0)
    others = [one for one in build(sample.material(measurements=measured)).runtime if one.step == "bm25"]
    assert not [one for one in others if one.measure in found], "no calls, no tokens: no row"


def test_slices_have_their_own_denominators(card: Scorecard) -> None:
    rows = {(one.class_, one.slice): one for one in card.populations}
    assert rows["answerable", None].questions == 6
    assert rows["answerable", "recovery"].questions == 5
    assert rows["answerable", "recovery"].cells == (None,) * len(card.population_measures)
    found = rows["answerable", "language=ja"].cells[0]
    assert found is not None
    assert (found.numerator, found.denominator) == (1, 1)


def test_a_long_answer_is_cut_with_its_length_and_digest() -> None:
    long = "x" * 1_000_000
    first = msgspec.structs.replace(sample.contents()[0], answer=Answer(text=long))
    card = build(sample.material(contents=(first, *sample.contents()[1:])))
    answer = question(card, "a-1").repeats[0].answer
    assert answer is not None
    assert answer.total == 1_000_000
    assert len(answer.text) == 4_000
    assert answer.digest == sample.digest(long)


def test_a_question_without_trace_stays(card: Scorecard) -> None:
    fewer = build(sample.material(contents=tuple(one for one in sample.contents() if one.query_id != "u-1")))
    view = question(fewer, "u-1")
    assert view.repeats[0].failure == "no trace"
    assert "failed" in view.flags
    assert len(fewer.questions) == len(card.questions)


def test_a_question_that_was_never_asked_says_why() -> None:
    made = sample.material(contents=tuple(one for one in sample.contents() if one.query_id != "u-1"))
    run = msgspec.structs.replace(made.run, state="partial", stopped="cost_ceiling")
    view = question(build(replace(made, run=run)), "u-1")
    assert view.repeats[0].failure == "not asked (cost ceiling)"


def test_repeats_are_shown_each_for_itself() -> None:
    made = sample.material()
    twice = [msgspec.structs.replace(one, repeat=number) for one in made.contents for number in (0, 1)]
    material = replace(made, subject=msgspec.structs.replace(made.subject, repeats=2), contents=tuple(twice))
    card = build(material)
    assert card.asked == 22
    assert [one.repeat for one in question(card, "a-1").repeats] == [0, 1]


def test_json_holds_the_same_numbers_and_every_key(card: Scorecard) -> None:
    made = to_json(card)
    assert made["funnels"][0]["fates"]["held"] == 2
    assert made["dimensions"][2]["measured"] is False
    assert made["questions"][0]["repeats"][0]["answer"]["digest"] is None
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(made)), Scorecard) == card


def test_the_same_records_give_the_same_scorecard(card: Scorecard) -> None:
    assert build(sample.material()) == card


@given(st.lists(st.floats(0, 1), min_size=1))
def test_ratio_bars_hold_every_value_and_keep_the_ends_apart(values: list[float]) -> None:
    bars = ratio_bars(values)
    assert sum(bar.count for bar in bars) == len(values)
    assert bars[0].count == values.count(0.0)
    assert bars[-1].count == values.count(1.0)


@given(st.lists(st.floats(0, 1e12, allow_nan=False), min_size=1))
def test_even_bars_hold_every_value(values: list[float]) -> None:
    bars = even_bars(values)
    assert sum(bar.count for bar in bars) == len(values)
    assert (bars[0].low, bars[-1].high) == (min(values), max(values))


def test_what_a_system_says_too_little_about_is_a_caveat() -> None:
    assert not any("contexts" in one or "decline" in one for one in build(sample.material()).caveats)
    first, *others = sample.contents()
    unnamed = msgspec.structs.replace(sample.item("cache-limits", 0, 1), resolution="unresolved", sources=())
    bare = msgspec.structs.replace(sample.item("cache-limits", 0, 2), whole_document=True)
    silent = msgspec.structs.replace(first, context=(unnamed, bare), answer=Answer(text="Yes."))
    told = build(sample.material(contents=(silent, *others))).caveats
    # contexts of the eleven traces hold 1 1 1 - 2 0 1 1 1 2 1 items; the first now has 2, the fourth has no steps
    assert any(one.startswith("1 of 12 items in the contexts could not be tied") for one in told)
    assert any(one.startswith("Of 12 items in the contexts, 1 names a document and no part") for one in told)
    # ten answers, one of them empty
    assert any(one.startswith("Of 9 answers, 1 says not whether") for one in told)


def test_what_was_left_out_of_documents_and_questions_is_a_caveat() -> None:
    made = sample.material()
    left_out = msgspec.structs.replace(made.corpus, skipped_lines=3, skipped=sample.digest("skipped"))
    notes = "\n".join(f"note {number}" for number in range(1, 23))
    noted = msgspec.structs.replace(made.benchmark, notes=notes)
    told = build(replace(made, corpus=left_out, benchmark=noted)).caveats
    assert "3 lines of the documents' source could not be read and are not in the corpus (on_error = skip)." in told
    said = [one for one in told if one.startswith("Of the benchmark: ")]
    assert said == [
        *(f"Of the benchmark: note {number}" for number in range(1, 21)),
        "Of the benchmark: 2 further notes.",
    ]
    assert not any("Of the benchmark" in one or "could not be read" in one for one in build(made).caveats)


def test_without_facts_the_verdict_says_recall_at_every_step() -> None:
    told = build(sample.material(survival=(), fates=())).verdict.sentence
    assert (
        "recall(rel=2)@20 in the context is 0.500 over 4 answerable questions; "
        "it was 0.750 after bm25, 0.750 after dedup, 0.500 after assemble."
    ) in told
