"""A run under a scoring layer to its score table in the store. Asks nothing, judges nothing, reads no clock."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from ragassay import corpus as corpus_room
from ragassay.errors import IntegrityError, UsageError
from ragassay.measures import version_of
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Corpus, Segmentation
from ragassay.records.protocol import Protocol, Run, Scoring, Subject
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.trace import Measurements, Trace, TraceContent
from ragassay.score.answer import RUNTIME_MEASURES
from ragassay.score.cases import Cases
from ragassay.score.kept import Kept
from ragassay.score.observe import measures_of, observe
from ragassay.score.pile import Pile
from ragassay.score.verdicts import judges_of, read
from ragassay.score.world import World
from ragassay.store import Store


def table(
    store: Store,
    run_digest: str,
    scoring_digest: str,
    *,
    judged: Mapping[str, Digest] | None = None,
    calibrations: Mapping[str, Digest] | None = None,
) -> tuple[ScoreTable, Digest]:
    """Score every question of a run; the table and its digest. The caller sets the ref `scores/NAME`.

    `judged`: judge -> its JudgementSet on this run; those that the scoring layer or a measure names are read, and a
    judge without a set leaves its measures missing(not_judged). `calibrations`: judge -> Calibration of that very
    identity; kept in the table for who reads it, and changes no number.

    Equal records give equal bytes. `ScoreTable.run` is `Run.identity()`; `content` covers everything but what was
    measured of time, tokens, cost and failures. Raises IntegrityError if traces and questions do not belong together,
    InputError for a corpus whose text the store does not hold.
    """
    with _no_cycles():
        return _table(store, run_digest, scoring_digest, judged or {}, calibrations or {})


def again(store: Store, stored: ScoreTable) -> tuple[ScoreTable, Digest]:
    """The table of the same run, scoring, judgements and calibrations: equal to the stored one, or that is wrong."""
    return table(store, stored.run_record, stored.scoring, judged=stored.judged, calibrations=stored.calibrations)


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Without the collector of reference cycles: scoring makes none, and each of its rounds walks all rows again.

    With it, the time for 10,000 questions is twice what the time for 1,000 lets expect.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _table(
    store: Store,
    run_digest: str,
    scoring_digest: str,
    judged: Mapping[str, Digest],
    calibrations: Mapping[str, Digest],
) -> tuple[ScoreTable, Digest]:
    run = store.get_record(Run, run_digest)
    scoring = store.get_record(Scoring, scoring_digest)
    _check_versions(scoring)
    protocol = store.get_record(Protocol, run.protocol)
    subject = store.get_record(Subject, run.subject)
    benchmark = store.get_record(Benchmark, protocol.objects["benchmark"])
    world = load_world(store, run, protocol, subject, benchmark)
    verdicts = read(store, run, scoring, judges_of(scoring, measures_of(scoring, world.rel)), judged)
    known = {name: calibrations[name] for name in sorted(verdicts) if name in calibrations}
    with Pile() as lines, Pile() as columns:
        cases = Cases(store, benchmark, lines)
        world.greatest = max(world.greatest, cases.greatest)
        kept = Kept(lines, columns, cases, subject.repeats)
        for trace in _traces(store, run):
            kept.add(observe(_case(cases, trace), trace, world, scoring, verdicts))
        kept.close(world, scoring, run.stopped)
        read_sets = {name: judged[name] for name in sorted(verdicts)}
        return _write(store, run, scoring, Digest(scoring_digest), cases.brief, kept, read_sets, known)


def _check_versions(scoring: Scoring) -> None:
    """UsageError where a measure is not the one that was sealed: it may say something else."""
    for name, sealed in scoring.measure_versions.items():
        here = version_of(name)
        if here != sealed:
            raise UsageError(
                f"measure {name} is {here} here, and was sealed as {sealed}",
                field="scoring.measures",
                hint="install the version that was sealed, or seal the scoring again",
            )


def load_world(store: Store, run: Run, protocol: Protocol, subject: Subject, benchmark: Benchmark) -> World:
    """The corpus, the segmentation (where one is sealed) and the texts of a run."""
    corpus = store.get_record(Corpus, protocol.objects["corpus"])
    cut = protocol.objects.get("segmentation")
    passages = None
    if cut is not None and subject.segmentation.value is not None:
        passages = corpus_room.load_passages(store, store.get_record(Segmentation, cut))
    texts: dict[str, str] = {str(one["digest"]): str(one["text"]) for one in store.get_lines(dict, run.texts)}
    return World(
        corpus_room.load(store, corpus),
        passages,
        texts=texts,
        rel=benchmark.rel,
        complete=benchmark.completeness == "complete",
        as_of=subject.as_of,
        greatest=max((int(grade) for grade in benchmark.rubric.grades if grade.isdecimal()), default=benchmark.rel),
    )


def _traces(store: Store, run: Run) -> Iterator[Trace]:
    """One trace at a time: all of them together are much larger than their scores."""
    measured = _Measured(store.get_lines(Measurements, run.measurements))
    for content in store.get_lines(TraceContent, run.contents):
        yield Trace(content=content, measurements=measured.of(content))


class _Measured:
    """Measurements by question; they come in the order of the traces, and any that do not are kept until wanted."""

    def __init__(self, every: Iterator[Measurements]) -> None:
        self._every = every
        self._early: dict[tuple[str, int], Measurements] = {}

    def of(self, content: TraceContent) -> Measurements:
        """Those of one trace; without any, all of them unknown."""
        key = (content.query_id, content.repeat)
        while key not in self._early and (one := next(self._every, None)) is not None:
            self._early[one.query_id, one.repeat] = one
        return self._early.pop(key, None) or Measurements(query_id=content.query_id, repeat=content.repeat)


def _case(cases: Cases, trace: Trace) -> Case:
    case = cases.whole(trace.content.query_id)
    if case is None:
        raise IntegrityError(
            f"the run has a trace of question {trace.content.query_id!r}, which its benchmark does not have",
            hint="run and benchmark do not belong together; run `ragassay store check`",
        )
    return case


def _write(
    store: Store,
    run: Run,
    scoring: Scoring,
    scoring_digest: Digest,
    cases: Sequence[Case],
    kept: Kept,
    judged: dict[str, Digest],
    calibrations: dict[str, Digest],
) -> tuple[ScoreTable, Digest]:
    blobs = {
        "observations": store.put_lines(kept.observations()),
        "estimates": store.put_lines(kept.estimates(cases, scoring)),
        "fates": store.put_lines(kept.fates()),
        "survival": store.put_lines(kept.survival()),
    }
    if judged:
        blobs["failures"] = store.put_lines(kept.failures())
    made = ScoreTable(
        run=run.identity(),
        run_record=digest_of(run),
        scoring=scoring_digest,
        content=_content(store, blobs),
        runtime=store.put_lines(kept.runtime()),
        questions=len(cases),
        observations=blobs["observations"],
        estimates=blobs["estimates"],
        fates=blobs["fates"],
        survival=blobs["survival"],
        failures=blobs.get("failures"),
        judged=judged,
        calibrations=calibrations,
    )
    return made, store.put_record(made)


def _content(store: Store, blobs: dict[str, Digest]) -> Digest:
    """Digest over the stored lines (not over their compression), estimates of runtime measures left out."""
    parts = []
    for name, blob in sorted(blobs.items()):
        digest = hashlib.sha256()
        for line in store.get_raw_lines(blob):
            if name != "estimates" or not _is_runtime(line):
                digest.update(line + b"\n")
        parts.append([name, digest.hexdigest()])
    return digest_of(parts)


def _is_runtime(line: bytes) -> bool:
    measure = msgspec.json.decode(line, type=Estimate).measure
    return measure.partition("(")[0] in RUNTIME_MEASURES
