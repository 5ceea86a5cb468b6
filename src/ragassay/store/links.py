"""Which fields of which record name other blobs, and what those hold. Reads nothing.

`Corpus.digest`, `Segmentation.corpus`, `Benchmark.corpus` and the corpus, segmentation and benchmark of a Subject are
digests of content, not of blobs; `Protocol.objects` says where the records with that content are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ragassay.records.advice import Advice, ReadText
from ragassay.records.base import Record
from ragassay.records.case import Benchmark, Case
from ragassay.records.comparison import Comparison, Effect, Move, NewLoss
from ragassay.records.decision import Decision, QuestionVerdict, Review
from ragassay.records.document import Corpus, CorpusEntry, Document, Passage, Segmentation, SkippedLine
from ragassay.records.experiment import Experiment
from ragassay.records.judgement import (
    AnswerClaims,
    Calibration,
    JudgeIdentity,
    Judgement,
    JudgementSet,
    JudgeWork,
    Sample,
    SampledItem,
)
from ragassay.records.ledger import Supersession
from ragassay.records.probe import Assessment, Finding, PlantedDocument, Probe, ProbeReply, ProbeSuite
from ragassay.records.protocol import Envelope, Policy, Protocol, Run, Scoring, Subject
from ragassay.records.provenance import SourceFile
from ragassay.records.score import ClaimFailure, Estimate, FactFate, Observation, ScoreTable, SurvivalRow
from ragassay.records.trace import Measurements, TraceContent


class Target(NamedTuple):
    """What a digest leads to: one record, lines of records, plain objects in lines, or bytes."""

    holds: Literal["record", "lines", "objects", "bytes"]
    kind: type[Record] | None = None
    optional: bool = False
    """It may be absent: the digest alone identifies it."""


class Link(NamedTuple):
    """One field of a record that names a blob."""

    field: str
    digest: str
    target: Target


def _record(kind: type[Record], *, optional: bool = False) -> Target:
    return Target("record", kind, optional)


def _lines(kind: type[Record]) -> Target:
    return Target("lines", kind)


BYTES = Target("bytes")
FIELDS: dict[type[Record], dict[str, Target]] = {
    Advice: {"assessment": _record(Assessment), "judge": _record(JudgeIdentity), "texts": _lines(ReadText)},
    Assessment: {"suite": _record(ProbeSuite), "replies": _lines(ProbeReply), "findings": _lines(Finding)},
    Benchmark: {"blob": _lines(Case)},
    Calibration: {"judge": _record(JudgeIdentity), "people": _lines(Judgement), "judged": _record(JudgementSet)},
    Case: {"raw": BYTES},
    Comparison: {
        "effects": _lines(Effect),
        "moves": _lines(Move),
        "losses": _lines(NewLoss),
        "reference": _record(ScoreTable),
    },
    Corpus: {"blob": _lines(Document), "skipped": _lines(SkippedLine), "sources": _lines(SourceFile)},
    Decision: {
        "policy": _record(Policy),
        "questions": _lines(QuestionVerdict),
        "reference": _record(ScoreTable),
        "assessment": _record(Assessment),
    },
    Document: {"raw": BYTES},
    JudgementSet: {
        "judge": _record(JudgeIdentity),
        "claims": _lines(AnswerClaims),
        "judgements": _lines(Judgement),
        "work": _lines(JudgeWork),
        "supersedes": _record(JudgementSet),
        "sample": _record(Sample),
        "cut": _record(JudgementSet),
    },
    Measurements: {"raw": BYTES},
    ProbeSuite: {"documents": _lines(PlantedDocument), "probes": _lines(Probe)},
    Protocol: {"subject": _record(Subject), "scoring": _record(Scoring), "policy": _record(Policy)},
    Review: {"candidate": _record(ScoreTable), "baseline": _record(ScoreTable)},
    Sample: {"items": _lines(SampledItem)},
    Run: {
        "subject": _record(Subject),
        "protocol": _record(Protocol),
        "contents": _lines(TraceContent),
        "measurements": _lines(Measurements),
        "texts": Target("objects"),
        "envelope": _record(Envelope),
    },
    ScoreTable: {
        "run_record": _record(Run),
        "scoring": _record(Scoring),
        "observations": _lines(Observation),
        "runtime": _lines(Observation),
        "estimates": _lines(Estimate),
        "fates": _lines(FactFate),
        "survival": _lines(SurvivalRow),
        "failures": _lines(ClaimFailure),
    },
    Segmentation: {"blob": _lines(Passage)},
    Subject: {"redaction": Target("bytes", optional=True)},
    Supersession: {"old": Target("bytes", optional=True), "new": Target("bytes", optional=True)},
}
"""Record -> field -> what its digest leads to. Records that are not here name no blobs."""
OBJECTS: dict[str, type[Record]] = {"corpus": Corpus, "segmentation": Segmentation, "benchmark": Benchmark}
"""Role in `Protocol.objects` -> record."""


def links_of(record: Record) -> Iterator[Link]:
    """Every blob that a record names."""
    for field, target in FIELDS.get(type(record), {}).items():
        digest = getattr(record, field)
        if digest is None:
            continue
        if isinstance(record, Corpus) and record.mode == "referenced" and field == "blob":
            target = _lines(CorpusEntry)
        yield Link(field, digest, target)
    if isinstance(record, Protocol):
        for role, digest in sorted(record.objects.items()):
            yield Link(f"objects.{role}", digest, _record(OBJECTS[role]))
    if isinstance(record, ScoreTable):
        for name, digest in sorted(record.judged.items()):
            yield Link(f"judged.{name}", digest, _record(JudgementSet))
        for name, digest in sorted(record.calibrations.items()):
            yield Link(f"calibrations.{name}", digest, _record(Calibration))
    if isinstance(record, Sample):
        for name, digest in sorted(record.judged.items()):
            yield Link(f"judged.{name}", digest, _record(JudgementSet))
    if isinstance(record, Comparison | Decision):
        for side in ("candidate", "baseline"):
            arm = getattr(record, side)
            if arm is not None:
                yield Link(f"{side}.run_record", arm.run_record, _record(Run))
                yield Link(f"{side}.scores", arm.scores, _record(ScoreTable))
    if isinstance(record, Experiment):
        for number, one in enumerate(record.tried):
            yield Link(f"tried[{number}].subject", one.subject, _record(Subject))
            yield Link(f"tried[{number}].run", one.run, _record(Run))
            yield Link(f"tried[{number}].scores", one.scores, _record(ScoreTable))
