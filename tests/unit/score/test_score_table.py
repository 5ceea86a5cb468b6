"""From a store to a score table: joined, completed, equal bytes, content apart from what was measured of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.score.score_material import AS_OF, case, doc, ev, fact, item, row, scoring, step, trace

from ragassay import benchmark, corpus
from ragassay.errors import IntegrityError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set
from ragassay.records.case import Case, CaseLine, ReferenceAnswer
from ragassay.records.protocol import Policy, Protocol, Run, Stated, Subject, SystemIdentity
from ragassay.records.score import Estimate, FactFate, Observation, SurvivalRow
from ragassay.records.trace import Answer, StepTiming, Trace
from ragassay.score import table
from ragassay.store import Store

DOCS = [doc("a", "one two three four five six"), doc("b", "seven eight nine ten")]
MEASURES = (
    "recall(rel=2)@5", "recall(rel=2,unit=passage)@5", "fact_coverage", "empty_retrieval", "token_f1", "outcome",
    "abstention_rate", "latency", "tokens", "error_rate",
)  # fmt: skip
GOT = item("a", 0, 27)


def cases() -> list[Case]:
    return [
        case("q1", evidence=(ev("e", "a", 0, 7, grade=3),), facts=(fact("f", ("e",)),), slice=("language=de",),
             answers=(ReferenceAnswer(text="one two"),)),
        case("q2", evidence=(ev("e", "b", 0, 5),), facts=(fact("f", ("e",)),)),
        case("q3", evidence=(), class_="unanswerable", answerable="no"),
        case("q4", evidence=(ev("e", "a", 0, 3),), facts=(fact("f", ("e",)),)),
    ]  # fmt: skip


def traces(latency_ms: float = 10.0) -> list[Trace]:
    said = Answer(text="one two", outcome="answered", outcome_source="system")
    return [
        trace(step("bm25", "lexical", [GOT], ()), step("assemble", "assemble", [GOT], ("bm25",)), query_id="q1",
              answer=said, latency_ms=latency_ms, steps=()),
        trace(query_id="q2", failure="timeout", latency_ms=60_000.0),
        trace(step("bm25", "lexical", [], ()), step("assemble", "assemble", [], ("bm25",)), query_id="q3",
              answer=Answer(text="no", outcome="abstained", outcome_source="system"), latency_ms=latency_ms),
    ]  # fmt: skip


def sealed_run(
    store: Store, seen: Sequence[Trace], known: Sequence[Case], *, cut: bool = True
) -> tuple[Digest, Digest]:
    """A protocol and a run of it in a store, made of records; returns the digests of run and scoring."""
    whole, corpus_digest = corpus.build(store, DOCS, name="c")
    segmentation, cut_digest = corpus.segment(store, whole, DOCS, name="c", size=2, overlap=0)
    lines = [CaseLine(**{name: getattr(one, name) for name in Case.__struct_fields__}) for one in known]
    built = benchmark.build(store, lines, whole, DOCS, name="b", version="1")
    how = scoring(*MEASURES)
    subject = Subject(
        corpus=whole.digest,
        segmentation=Stated(value=segmentation.identity()) if cut else Stated(absent="none"),
        benchmark=built.digest,
        system=SystemIdentity(name="s", adapter="python", retriever=Stated(value="r"), generator=Stated(absent="none"),
                              prompt=Stated(absent="none"), settings={}),
        as_of=AS_OF, seed=0, repeats=1, top_k=5, history="none", timeout_s=60.0, redaction=digest_of("none"),
    )  # fmt: skip
    scoring_digest = store.put_record(how)
    objects = {"corpus": corpus_digest, "benchmark": built.digest, **({"segmentation": cut_digest} if cut else {})}
    protocol = Protocol(
        subject=store.put_record(subject), scoring=scoring_digest, policy=store.put_record(Policy(name="none")),
        corpus_hash=Stated(value=whole.digest), retriever_version=Stated(value="r"), prompt_hash=Stated(absent="none"),
        judge_model=Stated(absent="none"), objects=objects,
    )  # fmt: skip
    run = Run(
        subject=protocol.subject, protocol=store.put_record(protocol), state="complete", questions=len(known),
        answered=len(seen), failures=1, content=digest_set(digest_of(one.content) for one in seen),
        contents=store.put_lines(one.content for one in seen),
        measurements=store.put_lines(one.measurements for one in seen),
        texts=store.put_lines([]), envelope=store.put(b"{}"),
    )  # fmt: skip
    return store.put_record(run), scoring_digest


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_every_question_has_every_row_and_counts_by_hand(store: Store) -> None:
    made, digest = table(store, *sealed_run(store, traces(), cases()))
    assert store.get_record(type(made), digest) == made
    rows = list(store.get_lines(Observation, made.observations))
    by_question = Counter((one.query_id, one.measure, one.step) for one in rows if one.target is None)
    for name in ("q1", "q2", "q3", "q4"):
        for place in ("bm25", "assemble", "context"):
            assert by_question[name, "recall(rel=2)@5", place] == 1
    assert row([one for one in rows if one.query_id == "q2"], "recall(rel=2)@5", "bm25").reason == "timeout"
    assert row([one for one in rows if one.query_id == "q4"], "recall(rel=2)@5", "bm25").reason == "no_trace"
    found = [
        one
        for one in store.get_lines(Estimate, made.estimates)
        if one.measure == "recall(rel=2)@5" and one.step == "context" and one.aggregation == "macro"
    ]
    answerable = next(one for one in found if str(one.population) == "answerable")
    # q1 is 1, q2 a timeout, q4 has no trace
    assert (answerable.attempted, answerable.scored, answerable.error, answerable.missing) == (3, 1, 1, 1)
    assert answerable.bounds is not None
    assert (answerable.bounds.low, answerable.bounds.high) == (pytest.approx(1 / 3), 1.0)
    assert {str(one.population) for one in found} == {"answerable", "answerable, language=de", "unanswerable"}
    runtime = list(store.get_lines(Observation, made.runtime))
    assert Counter(one.status for one in runtime if one.measure == "latency") == {"value": 2, "error": 1, "missing": 1}
    fates = {one.query_id: one.fate for one in store.get_lines(FactFate, made.fates)}
    assert fates == {"q1": "held", "q2": "unknown", "q4": "unknown"}


def test_survival_adds_up_and_follows_the_steps(store: Store) -> None:
    made, _ = table(store, *sealed_run(store, traces(), cases()))
    rows = [one for one in store.get_lines(SurvivalRow, made.survival) if one.population.slice is None]
    assert [one.step for one in rows] == ["bm25", "assemble", "context"]
    for one in rows:
        assert (one.facts, one.held, one.not_held, one.unknown, one.absent) == (3, 1, 0, 2, 0)


def test_passages_are_derived_by_half_of_the_evidence(store: Store) -> None:
    # Passages of two words: `one two`, `three four`, `five six` (a), `seven eight`, `nine ten` (b).
    # e of q1 is `one two`: the first passage carries it. An item that is no passage makes the measure missing.
    first = item("a", 0, 7)
    seen = traces()
    steps = (step("bm25", "lexical", [item("a", 8, 18), first], ()),)
    seen[0] = msgspec.structs.replace(seen[0], content=msgspec.structs.replace(seen[0].content, steps=steps))
    made, _ = table(store, *sealed_run(store, seen, cases()))
    rows = [one for one in store.get_lines(Observation, made.observations) if one.query_id == "q1"]
    found = row(rows, "recall(rel=2,unit=passage)@5", "bm25")
    assert (found.value, found.denominator) == (1.0, 1.0)
    made, _ = table(store, *sealed_run(store, traces(), cases()))
    rows = [one for one in store.get_lines(Observation, made.observations) if one.query_id == "q1"]
    assert row(rows, "recall(rel=2,unit=passage)@5", "bm25").reason == "not_of_the_segmentation"
    made, _ = table(store, *sealed_run(store, traces(), cases(), cut=False))
    rows = [one for one in store.get_lines(Observation, made.observations) if one.query_id == "q1"]
    assert row(rows, "recall(rel=2,unit=passage)@5", "bm25").reason == "no_segmentation"


def test_equal_records_give_equal_bytes_and_time_is_not_content(store: Store) -> None:
    first = table(store, *sealed_run(store, traces(), cases()))
    assert table(store, *sealed_run(store, traces(), cases())) == first
    timed = traces(latency_ms=99.0)
    content, measured = timed[0].content, timed[0].measurements
    timing = (StepTiming(step_id=content.steps[0].step_id, duration_ms=4.0),)
    timed[0] = Trace(content=content, measurements=msgspec.structs.replace(measured, steps=timing))
    slower, _ = table(store, *sealed_run(store, timed, cases()))
    assert slower.content == first[0].content
    assert slower.run == first[0].run
    assert slower.runtime != first[0].runtime
    other = traces()
    answer = Answer(text="two", outcome="answered", outcome_source="system")
    other[0] = msgspec.structs.replace(other[0], content=msgspec.structs.replace(other[0].content, answer=answer))
    assert table(store, *sealed_run(store, other, cases()))[0].content != first[0].content


def test_a_trace_of_a_question_that_nobody_asked_is_refused(store: Store) -> None:
    with pytest.raises(IntegrityError, match="q9"):
        table(store, *sealed_run(store, [trace(query_id="q9")], cases()))
