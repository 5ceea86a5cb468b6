"""From a verdict back to the document: each hop with its digest and who made it. Finds nothing new."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragassay.audit.citations import cited_hops, source_file
from ragassay.audit.earlier import labels_before, said_of
from ragassay.audit.hops import Hop, first, hop, rows
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark, Case, Evidence
from ragassay.records.decision import Decision, QuestionVerdict
from ragassay.records.document import Corpus, Document, Passage, Segmentation
from ragassay.records.probe import Assessment, ProbeSuite
from ragassay.records.protocol import Envelope, Protocol, Run, Subject
from ragassay.records.score import ClaimFailure, Estimate, Observation, ScoreTable
from ragassay.records.text import many
from ragassay.records.trace import Item, Measurements, TraceContent
from ragassay.report.grounding.words import FAILURES, TOLD_BY
from ragassay.seal.evidence import About
from ragassay.store import Store


def explain(store: Store, about: About, query_id: str, measure: str | None = None) -> list[Hop]:
    """The hops from the decision (where there is one) to the documents, for one question of a run.

    With a measure: its threshold, its figure and its rows alone. Raises UsageError for a question that the benchmark
    does not have, or a measure that has no row for it.
    """
    run = store.get_record(Run, about.run)
    protocol = store.get_record(Protocol, run.protocol)
    benchmark = store.get_record(Benchmark, protocol.objects["benchmark"])
    case_line, case = first(store, benchmark.blob, Case, lambda one: one.query_id == query_id)
    if case is None:
        raise UsageError(f"the benchmark has no question {query_id!r}", field="question",
                         hint="`ragassay export questions.csv` lists the ids")  # fmt: skip
    hops = [*_verdict(store, about, query_id, measure), *_scores(store, about, case, measure)]
    hops += _claims(store, about, query_id)
    hops += said_of(store, about, query_id)
    hops.append(hop("question and labels", benchmark.blob, case_line, _labelled(case), _question(case)))
    hops += labels_before(store, protocol, query_id, _question)
    hops += _trace(store, run, about.run, query_id)
    hops += _documents(store, protocol, _cited(case))
    hops += cited_hops(store, about, protocol, run, case)
    return hops


def _verdict(store: Store, about: About, query_id: str, measure: str | None) -> Iterator[Hop]:
    """The decision, the rules of it that are about this measure, and the question's own verdict."""
    if about.decision is None:
        return
    decision = store.get_record(Decision, about.decision)
    yield hop("decision", about.decision, None, f"ragassay gate, as of {decision.as_of}", f"outcome {decision.outcome}")
    for one in decision.results:
        if (measure is not None and one.measure == measure) or query_id in one.questions:
            threshold = "" if one.threshold is None else f", threshold {one.threshold:g}"
            told = f"{one.rule}: {one.result}{threshold}. {one.told}"
            yield hop("threshold", decision.policy, None, "the policy, sealed with the protocol", told)
    yield from _probed(store, decision)
    line, own = first(store, decision.questions, QuestionVerdict, lambda one: one.query_id == query_id)
    if own is not None:
        reasons = f": {', '.join(own.reasons)}" if own.reasons else ""
        yield hop("verdict of the question", decision.questions, line, "the policy's needs", f"{own.verdict}{reasons}")


def _probed(store: Store, decision: Decision) -> Iterator[Hop]:
    """The assessment of probes that the decision read, with what it made of it, and the suite."""
    if decision.assessment is None:
        return
    found = store.get_record(Assessment, decision.assessment)
    said = "; ".join(f"{one.rule}: {one.result}" for one in decision.results if one.kind == "probe")
    by = f"ragassay probe, {found.started_at} to {found.finished_at}"
    yield hop("assessment of probes", decision.assessment, None, by, said)
    suite = store.get_record(ProbeSuite, found.suite)
    told = f"{suite.name}: {many(suite.probe_count, 'probe')} of {many(suite.repeats, 'repeat')}"
    yield hop("suite of probes", found.suite, None, f"under the key {suite.key_id}", told)


def _scores(store: Store, about: About, case: Case, measure: str | None) -> Iterator[Hop]:
    if about.scores is None:
        return
    table = store.get_record(ScoreTable, about.scores)
    by = f"ragassay score, table {about.scores}"
    class_ = case.class_ or "answerable"
    found = False
    if measure is not None:
        for line, one in rows(store, table.estimates, Estimate, lambda one: one.measure == measure):
            if one.population.class_ == class_ and one.population.slice is None:
                yield hop("figure of the class", table.estimates, line, by, _figure(one))
    for blob in (table.observations, table.runtime):
        for line, row in rows(store, blob, Observation, lambda one: one.query_id == case.query_id):
            if measure is None or row.measure == measure:
                found = True
                yield hop("score", blob, line, by, _score(row))
    if measure is not None and not found:
        raise UsageError(f"{measure} has no row of this question", field="measure",
                         hint="leave the measure out to see those that have")  # fmt: skip


def _claims(store: Store, about: About, query_id: str) -> Iterator[Hop]:
    """What is wrong with each claim of its answers, by each judge that the table reads."""
    failures = None if about.scores is None else store.get_record(ScoreTable, about.scores).failures
    if failures is None:
        return
    for line, one in rows(store, failures, ClaimFailure, lambda one: one.query_id == query_id):
        where = f", at {' and '.join(one.steps)}" if one.steps else ""
        of = f" ({one.label})" if one.label else ""
        also = f"; also {', '.join(FAILURES[each] for each in one.also)}" if one.also else ""
        told = f"{one.claim_id}, repeat {one.repeat}: {FAILURES[one.failure]}{of}{where}{also}"
        yield hop("claim", failures, line, f"judge {one.judge}, told {TOLD_BY[one.told_by]}", told)


def _figure(one: Estimate) -> str:
    value = one.reason if one.value is None else f"{one.value:.6g}"
    counts = f"{one.scored} scored of {one.attempted} attempted"
    return f"{one.measure} [{one.population}] {one.aggregation}{_at(one.step)}: {value}; {counts}"


def _score(one: Observation) -> str:
    value = f"{one.status}({one.reason})" if one.value is None else f"{one.value:.6g}"
    parts = "" if one.numerator is None else f" = {one.numerator:g} / {one.denominator:g}"
    of = "" if one.target is None else f", {one.target}"
    return f"{one.measure}{_at(one.step)}{of}, repeat {one.repeat}: {value}{parts}"


def _at(step: str | None) -> str:
    return "" if step is None else f" at {step}"


def _labelled(case: Case) -> str:
    label = case.label
    if label is None:
        return "labels without a stated origin"
    who = f" by {label.by}" if getattr(label, "by", None) else ""
    return f"labels: {label.kind}{who}"


def _question(case: Case) -> str:
    spans = [f"{one.document_id}@{one.version}:{one.start}-{one.end} grade {one.grade}" for one in _cited(case)]
    return f"{case.query!r}; evidence: {', '.join(spans) if spans else 'none labelled'}"


def _cited(case: Case) -> list[Evidence]:
    return [one for one in case.evidence or () if one.grade > 0]


def _trace(store: Store, run: Run, run_digest: Digest, query_id: str) -> Iterator[Hop]:
    envelope = store.get_record(Envelope, run.envelope)
    subject = store.get_record(Subject, run.subject)
    by = f"{subject.system.name} ({subject.system.adapter}), ragassay {envelope.ragassay_version}"
    for line, one in rows(store, run.contents, TraceContent, lambda one: one.query_id == query_id):
        yield hop("trace", run.contents, line, by, _steps(one))
        for step in one.steps:
            if step.items_out is not None:
                told = f"{step.kind} {step.name}: {_items(step.items_out)}"
                yield hop("step", run.contents, line, step.name, told)
    for _, measured in rows(store, run.measurements, Measurements, lambda one: one.query_id == query_id):
        if measured.raw is not None:
            yield hop("raw response", measured.raw, None, measured.host or by, "the bytes after redaction")
    yield hop("run", run_digest, None, by, f"started {envelope.started_at}")


def _steps(content: TraceContent) -> str:
    failed = f"; failed: {content.failure.cause}" if content.failure is not None else ""
    answer = "" if content.answer is None else f"; answered {content.answer.text!r}"
    return f"repeat {content.repeat}, {len(content.steps)} steps{failed}{answer}"


def _items(items: tuple[Item, ...]) -> str:
    shown = [f"{one.rank}. {one.item_id} ({_place(one)}{_with_score(one)})" for one in items[:5]]
    return ", ".join(shown) + (f", and {len(items) - 5} more" if len(items) > 5 else "") if shown else "no item"


def _place(item: Item) -> str:
    places = item.sources or item.among
    if not places:
        return "unresolved"
    told = f"{places[0].document_id}@{places[0].version}:{places[0].start}-{places[0].end}"
    return f"{told} or {many(len(item.among) - 1, 'other place')}" if item.among else told


def _with_score(item: Item) -> str:
    return "" if item.score is None else f", score {item.score:.6g}"


def _documents(store: Store, protocol: Protocol, cited: list[Evidence]) -> Iterator[Hop]:
    """Passages that overlap what is labelled, and the documents, down to the bytes that they were made of."""
    if "segmentation" in protocol.objects:
        cut = store.get_record(Segmentation, protocol.objects["segmentation"])
        by = f"{cut.chunker}/{cut.chunker_version}"
        for line, passage in rows(store, cut.blob, Passage, lambda one: any(_meets(one, each) for each in cited)):
            yield hop("passage", cut.blob, line, by, f"{passage.passage_id}: {passage.text[:80]!r}")
    corpus = store.get_record(Corpus, protocol.objects["corpus"])
    if corpus.mode != "embedded":
        return
    for line, one in rows(store, corpus.blob, Document, lambda one: any(_is_of(one, each) for each in cited)):
        by = f"parser {one.parser}, normaliser {one.normaliser}"
        where = f", from {one.url}" if one.url else ""
        yield hop("document", corpus.blob, line, by, f"{one.document_id}@{one.version}{where}: {one.text[:80]!r}")
        yield from source_file(store, corpus, one)
        if one.raw is not None:
            yield hop("source bytes", one.raw, None, "as they were read", f"what {one.document_id} was made of")


def _is_of(place: Any, evidence: Evidence) -> bool:
    same = place.document_id == evidence.document_id
    return same and (evidence.version is None or place.version == evidence.version)


def _meets(passage: Passage, evidence: Evidence) -> bool:
    for one in passage.sources:
        if _is_of(one, evidence):
            start, end = evidence.start, evidence.end
            if start is None or end is None or (one.start < end and start < one.end):
                return True
    return False


def as_values(hops: list[Hop]) -> list[dict[str, Any]]:
    """Hops as JSON values."""
    return [one._asdict() for one in hops]
