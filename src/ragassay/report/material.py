"""Everything that a scorecard is built from, out of the store; traces and scores as streams. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import ragassay.benchmark
import ragassay.corpus
from ragassay.errors import StoreError
from ragassay.records.base import Digest, Record
from ragassay.records.case import Benchmark, Case
from ragassay.records.decision import Decision
from ragassay.records.document import Corpus, Document, Passage, Segmentation
from ragassay.records.ledger import Supersession
from ragassay.records.protocol import Envelope, Policy, Protocol, Run, Scoring, Subject
from ragassay.records.provenance import SourceFile
from ragassay.records.score import ClaimFailure, Estimate, FactFate, Observation, ScoreTable, SurvivalRow
from ragassay.records.trace import Measurements, TraceContent
from ragassay.report.assessed import AssessedBy, assessments_behind
from ragassay.report.edits import edits_behind
from ragassay.report.grounding.material import JudgeRead, judges_read
from ragassay.report.tried import TriedBy, tried_by
from ragassay.score.identities import Judged, judges_of
from ragassay.score.verdicts import Verdicts, read

if TYPE_CHECKING:
    from ragassay.store import Store

T = TypeVar("T", bound=Record)


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """The records of a blob of lines, read and checked anew each time: never all of them in memory."""

    store: Store
    kind: type[T]
    digest: Digest

    def __iter__(self) -> Iterator[T]:
        return self.store.get_lines(self.kind, self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The records around one score table. What is Iterable may be read several times and may be large."""

    scores: Digest
    table: ScoreTable
    run: Run
    protocol: Protocol
    subject: Subject
    scoring: Scoring
    policy: Policy
    benchmark: Benchmark
    corpus: Corpus
    segmentation: Segmentation | None
    envelope: Envelope
    cases: tuple[Case, ...]
    documents: tuple[Document, ...]
    passages: tuple[Passage, ...]
    contents: Iterable[TraceContent]
    measurements: Iterable[Measurements]
    observations: Iterable[Observation]
    runtime: Iterable[Observation]
    estimates: tuple[Estimate, ...]
    fates: Iterable[FactFate]
    survival: tuple[SurvivalRow, ...]
    decisions: tuple[tuple[Decision, str], ...] = ()
    """What gates decided on exactly this score table, each with the name of its policy."""
    sources: tuple[SourceFile, ...] = ()
    """The files that the documents were read from."""
    judges: tuple[Judged, ...] = ()
    verdicts: Mapping[str, Verdicts] = field(default_factory=dict)
    """Judge -> what it said, for the judges that the scores read."""
    judges_read: tuple[JudgeRead, ...] = ()
    """The same with who they are and what people made of them."""
    failures: tuple[ClaimFailure, ...] = ()
    """What is wrong with single claims."""
    tried: tuple[TriedBy, ...] = ()
    """The experiments that tried the run's system."""
    edits: tuple[tuple[str, tuple[Supersession, ...]], ...] = ()
    """What was taken back of verdicts, calibrations and labels before, newest first."""
    assessed: tuple[AssessedBy, ...] = ()
    """Cross-tenant probes of the system."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Text digest -> text of items that are not passages."""


def load(store: Store, scores: Digest) -> Material:
    """All records that one score table stands on. Raises IntegrityError for a damaged or missing blob, of traces and
    scores when they are read."""
    table = store.get_record(ScoreTable, scores)
    run = store.get_record(Run, table.run_record)
    protocol = store.get_record(Protocol, run.protocol)
    subject = store.get_record(Subject, run.subject)
    corpus, segmentation = _cut(store, protocol)
    documents, passages = documents_of(store, protocol)
    benchmark = store.get_record(Benchmark, _object(protocol, "benchmark"))
    scoring = store.get_record(Scoring, table.scoring)
    verdicts = read(store, run, scoring, table.judged, table.judged)
    policy, decisions = store.get_record(Policy, protocol.policy), tuple(decisions_on(store, scores))
    return Material(
        scores=scores,
        table=table,
        run=run,
        protocol=protocol,
        subject=subject,
        scoring=scoring,
        policy=policy,
        benchmark=benchmark,
        corpus=corpus,
        segmentation=segmentation,
        envelope=store.get_record(Envelope, run.envelope),
        cases=tuple(ragassay.benchmark.load(store, benchmark)),
        documents=documents,
        passages=passages,
        contents=Stored(store, TraceContent, run.contents),
        measurements=Stored(store, Measurements, run.measurements),
        observations=Stored(store, Observation, table.observations),
        runtime=Stored(store, Observation, table.runtime),
        estimates=tuple(store.get_lines(Estimate, table.estimates)),
        fates=Stored(store, FactFate, table.fates),
        survival=tuple(store.get_lines(SurvivalRow, table.survival)),
        decisions=decisions,
        sources=tuple(ragassay.corpus.load_sources(store, corpus)),
        judges=judges_of(store, table),
        verdicts=verdicts,
        judges_read=tuple(judges_read(store, table, scoring, verdicts)),
        failures=tuple(store.get_lines(ClaimFailure, table.failures)) if table.failures else (),
        tried=tuple(tried_by(store, run, subject)),
        edits=tuple(edits_behind(store, table, protocol)),
        assessed=tuple(assessments_behind(store, subject, policy, decisions)),
        texts={str(line["digest"]): str(line["text"]) for line in store.get_lines(dict, run.texts)},
    )


def decisions_on(store: Store, scores: Digest) -> Iterator[tuple[Decision, str]]:
    """The named decisions of a store on one score table, each with the name of its policy."""
    for digest in dict.fromkeys(one.digest for one in store.refs("decision/")):
        found = store.get_record(Decision, digest)
        if found.candidate.scores == scores:
            yield found, store.get_record(Policy, found.policy).name


def documents_of(store: Store, protocol: Protocol) -> tuple[tuple[Document, ...], tuple[Passage, ...]]:
    """The documents of a protocol's corpus and the passages of its segmentation (none without one)."""
    corpus, segmentation = _cut(store, protocol)
    passages = ragassay.corpus.load_passages(store, segmentation) if segmentation else ()
    return tuple(ragassay.corpus.load(store, corpus)), tuple(passages)


def _cut(store: Store, protocol: Protocol) -> tuple[Corpus, Segmentation | None]:
    cut = protocol.objects.get("segmentation")
    corpus = store.get_record(Corpus, _object(protocol, "corpus"))
    return corpus, store.get_record(Segmentation, cut) if cut else None


def _object(protocol: Protocol, role: str) -> Digest:
    found = protocol.objects.get(role)  # type: ignore[call-overload]
    if found is None:
        raise StoreError(
            f"the protocol does not say where its {role} is", hint="seal it again: `ragassay seal` records that"
        )
    return Digest(found)
