"""All objects that stand behind a run and what was made of it, found by walking from record to record. Reads only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ragassay.errors import AbsentError
from ragassay.records.base import Digest, Record
from ragassay.records.case import Case
from ragassay.records.comparison import Comparison
from ragassay.records.decision import Decision, Review
from ragassay.records.document import CorpusEntry, Document, Passage, SkippedLine
from ragassay.records.judgement import Calibration, Judgement, JudgementSet, Sample
from ragassay.records.ledger import Supersession
from ragassay.records.probe import Finding, PlantedDocument, Probe, ProbeReply
from ragassay.records.protocol import Protocol, Run
from ragassay.records.provenance import SourceFile
from ragassay.records.score import ScoreTable
from ragassay.records.trace import Measurements, TraceContent
from ragassay.seal.signatures import PREFIX
from ragassay.store import Ref, Store
from ragassay.store.absence import ERASED, absence_of, tombstones
from ragassay.store.links import Target, links_of
from ragassay.store.refs import record_of
from ragassay.store.superseding import SUPERSEDED

TEXTS: tuple[type[Record], ...] = (
    Case, CorpusEntry, Document, Finding, Judgement, Measurements, Passage, PlantedDocument, Probe, ProbeReply,
    Review, SkippedLine, SourceFile, TraceContent,
)  # fmt: skip
"""Lines and records that hold, or lead to, texts of documents, questions, answers, probes or people."""
MADE = (
    "scores/", "past/", "decision/", "comparison/", "review/", "judgements/", "calibrations/", "samples/", f"{PREFIX}/",
)  # fmt: skip
"""Names of what is made of runs, and of what is signed about it."""


class Reached(NamedTuple):
    """Names and objects behind a run."""

    refs: tuple[Ref, ...]
    objects: dict[Digest, Target]
    absent: tuple[Digest, ...]
    """Named and not stored: optional, erased, or left out of a public file."""


def reach(store: Store, run: Digest) -> Reached:
    """The run, every table, comparison, decision and review that it is part of, each bundle about one of these.

    AbsentError if the run's own record is gone on purpose; what else is gone is passed over with all that it names.
    """
    refs = _refs(store, run)
    objects: dict[Digest, Target] = {}
    absent: list[Digest] = []
    _walk(store, refs, objects, absent)
    graves = _graves(store, {*absent, *_made(store, run)})
    _walk(store, graves, objects, absent)
    return Reached(tuple(sorted({*refs, *graves}, key=lambda one: one.name)), objects, tuple(sorted(set(absent))))


def _walk(store: Store, refs: list[Ref], objects: dict[Digest, Target], absent: list[Digest]) -> None:
    todo = [(one.digest, _target(one)) for one in refs]
    while todo:
        digest, target = todo.pop()
        if digest in objects and (objects[digest] == target or target.holds == "bytes"):
            continue
        if digest not in store and (target.optional or absence_of(store, digest) is not None):
            absent.append(digest)
            continue
        objects[digest] = target
        for record in _records(store, digest, target):
            todo += [(Digest(one.digest), one.target) for one in links_of(record)]


def _made(store: Store, run: Digest) -> set[Digest]:
    """Tables and decisions of a run, as the ledger says: of what was erased no record is left to say it."""
    entries = [one.entry for one in store.ledger.lines(torn=True)]
    scored = {one.objects["scores"] for one in entries if one.act == "scored" and one.objects.get("run") == run}
    decided = [one.objects for one in entries if one.act == "decided" and one.objects.get("scores") in scored]
    return scored | {one["decision"] for one in decided}


def _graves(store: Store, absent: set[Digest]) -> list[Ref]:
    """Names of the tombstones of what was erased, and of the bundles about these."""
    told = {digest for digest, one in tombstones(store) if absent & set(one.objects)}
    signed = {f"{PREFIX}/{one.removeprefix('sha256:')}/" for one in told}
    named = [one for one in store.refs(ERASED) if one.digest in told]
    return named + [one for one in store.refs(f"{PREFIX}/") if one.name.startswith(tuple(signed))]


def _target(ref: Ref) -> Target:
    kind = record_of(ref.kind)
    return Target("bytes") if kind is None else Target("record", kind)


def _records(store: Store, digest: Digest, target: Target) -> Iterable[Record]:
    if target.kind is None:
        return ()
    if target.holds == "record":
        return (store.get_record(target.kind, digest),)
    if target.holds == "lines" and target.kind in (Document, Case, Measurements):  # lines that name further bytes
        return store.get_lines(target.kind, digest)
    return ()


def _refs(store: Store, run: Digest) -> list[Ref]:
    """Names of the run itself, of what was made of it, and of what is signed about any of these."""
    every = store.refs()
    found = [one for one in every if one.digest == run]
    record = store.get_record(Run, run)
    found += [one for one in every if one.digest == record.protocol]
    made = [one for one in every if one.name.startswith(MADE) and one.kind != "bytes" and _is_of(store, one, run)]
    found += made
    known = {one.digest.removeprefix("sha256:") for one in found}
    found += [one for one in every if one.name.startswith(f"{PREFIX}/") and one.name.split("/")[1] in known]
    found += _superseding(store, every, {str(one.digest) for one in found} | _behind(store, found))
    return sorted(set(found), key=lambda one: one.name)


def _behind(store: Store, refs: list[Ref]) -> set[str]:
    """What has a past of its own besides the named: benchmarks, and every set and calibration that a table reads."""
    found: set[str] = set()
    for one in refs:
        if record_of(one.kind) is ScoreTable:
            table = store.get_record(ScoreTable, one.digest)
            found |= {*table.judged.values(), *table.calibrations.values()}
        elif record_of(one.kind) is Protocol:
            found.add(store.get_record(Protocol, one.digest).objects.get("benchmark", ""))
    return found


def _superseding(store: Store, every: list[Ref], known: set[str]) -> list[Ref]:
    """The records that say how each of these came to stand where it stands, back to the first."""
    made = [(one, store.get_record(Supersession, one.digest)) for one in every if one.name.startswith(SUPERSEDED)]
    found: dict[str, Ref] = {}
    while new := [(ref, one) for ref, one in made if one.new in known and ref.name not in found]:
        found |= {ref.name: ref for ref, _ in new}
        known = known | {str(one.old) for _, one in new}
    return list(found.values())


def _judged_run(store: Store, ref: Ref) -> str:
    """`Run.identity()` of the run that a set, a sample or a calibration is about."""
    if record_of(ref.kind) is Sample:
        return store.get_record(Sample, ref.digest).run
    digest = ref.digest if record_of(ref.kind) is JudgementSet else store.get_record(Calibration, ref.digest).judged
    return store.get_record(JudgementSet, digest).run


def _is_of(store: Store, ref: Ref, run: Digest) -> bool:
    """Whether a name is of this run; of what was erased nobody can tell, and a name for it needs nobody."""
    try:
        return _is_about(store, ref, run)
    except AbsentError:
        return False


def _is_about(store: Store, ref: Ref, run: Digest) -> bool:
    kind = record_of(ref.kind)
    if kind is ScoreTable:
        return store.get_record(ScoreTable, ref.digest).run_record == run
    if kind is Comparison:
        compared = store.get_record(Comparison, ref.digest)
        return run in (compared.baseline.run_record, compared.candidate.run_record)
    if kind is Decision:
        decision = store.get_record(Decision, ref.digest)
        return run in [one.run_record for one in (decision.candidate, decision.baseline) if one is not None]
    if kind in (JudgementSet, Sample, Calibration):
        return _judged_run(store, ref) == store.get_record(Run, run).identity()
    if kind is Review:
        review = store.get_record(Review, ref.digest)
        tables = [store.get_record(ScoreTable, one) for one in (review.candidate, review.baseline)]
        return run in [one.run_record for one in tables]
    return False
