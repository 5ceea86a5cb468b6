"""The runs of a store in order of time, and one measure over them, cut where two runs cannot be compared.

Computes differences only between neighbours of one stretch. Reads no trace and scores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragassay.records.base import Digest
from ragassay.records.case import Benchmark
from ragassay.records.protocol import Envelope, Protocol, Run, Scoring, Subject
from ragassay.records.score import FIGURES, Estimate, ScoreTable
from ragassay.report.dimensions import headline

if TYPE_CHECKING:
    from ragassay.store import Store

TAGS = "tags/"
PAST = "past/"
"""Names that keep every scored run in the list after another run has taken its name."""


class RunLine(NamedTuple):
    """One run: when, what, under which names and tags, how it ended, and its score table."""

    digest: Digest
    started_at: str
    names: tuple[str, ...]
    tags: tuple[str, ...]
    system: str
    benchmark: str
    state: str
    questions: int
    failures: int
    scores: Digest | None
    versions: tuple[tuple[str, str], ...]
    """What must be equal for two runs to be compared: benchmark, corpus, scoring, as of, history."""


class Point(NamedTuple):
    """The value of one run, or why there is none; `change` against the run before it in the same stretch."""

    run: RunLine
    estimate: Estimate | None
    boundary: tuple[str, ...]
    """What differs from the run before: there the line breaks and no difference is computed."""
    change: float | None


class Series(NamedTuple):
    """One measure of one class over the runs."""

    measure: str
    class_: str
    points: tuple[Point, ...]


def runs(store: Store, tag: str | None = None) -> list[RunLine]:
    """All runs that a name, a tag or a score table leads to, oldest first; with `tag` those that carry it."""
    names: dict[Digest, list[str]] = {}
    for ref in store.refs("run/"):
        names.setdefault(ref.digest, []).append(ref.name.removeprefix("run/"))
    tags: dict[Digest, list[str]] = {}
    for ref in store.refs(TAGS):
        tags.setdefault(ref.digest, []).append(ref.name.removeprefix(TAGS).rpartition("/")[0])
    tables: dict[Digest, list[tuple[Digest, ScoreTable]]] = {}
    for digest in dict.fromkeys(ref.digest for prefix in ("scores/", PAST) for ref in store.refs(prefix)):
        table = store.get_record(ScoreTable, digest)
        tables.setdefault(table.run_record, []).append((digest, table))
    found = [
        _line(store, digest, names.get(digest, []), tags.get(digest, []), tables.get(digest, []))
        for digest in dict.fromkeys([*names, *tags, *tables])
    ]
    found.sort(key=lambda one: (one.started_at, one.digest))
    return [one for one in found if tag is None or tag in one.tags]


def _line(
    store: Store, digest: Digest, names: list[str], tags: list[str], tables: list[tuple[Digest, ScoreTable]]
) -> RunLine:
    run = store.get_record(Run, digest)
    protocol = store.get_record(Protocol, run.protocol)
    subject = store.get_record(Subject, run.subject)
    benchmark = store.get_record(Benchmark, protocol.objects["benchmark"]) if "benchmark" in protocol.objects else None
    own = [one for one in tables if one[1].scoring == protocol.scoring] or tables
    scored = min(own, default=None, key=lambda one: one[0])
    scoring = store.get_record(Scoring, scored[1].scoring if scored else protocol.scoring)
    return RunLine(
        digest=digest,
        started_at=store.get_record(Envelope, run.envelope).started_at,
        names=tuple(sorted(names)),
        tags=tuple(sorted(set(tags))),
        system=subject.system.name,
        benchmark=f"{benchmark.name} {benchmark.version}" if benchmark else subject.benchmark[7:19],
        state=run.state,
        questions=run.questions,
        failures=run.failures + run.questions - run.answered,
        scores=scored[0] if scored else None,
        versions=(
            ("benchmark", subject.benchmark),
            ("corpus", subject.corpus),
            ("scoring", _measured(scoring)),
            ("as of", subject.as_of),
            ("history", subject.history),
            ("part of the questions", "all" if run.state == "complete" else digest),
        ),
    )


def _measured(scoring: Scoring) -> str:
    from ragassay.records.canonical import digest_of

    return digest_of(scoring)


def trend(store: Store, lines: Sequence[RunLine], measure: str, class_: str | None = None) -> list[Series]:
    """The measure over the scored runs, a series a class, at the step nearest to the answer."""
    scored = [one for one in lines if one.scores is not None]
    values = [_values(store, one, measure) for one in scored]
    classes = list(dict.fromkeys(name for one in values for name in one))
    return [
        Series(measure, name, tuple(_points(scored, [one.get(name) for one in values])))
        for name in classes
        if class_ in (None, name)
    ]


def _values(store: Store, line: RunLine, measure: str) -> dict[str, Estimate]:
    table = store.get_record(ScoreTable, line.scores or "")
    own = [
        one
        for one in store.get_lines(Estimate, table.estimates)
        if one.measure == measure and one.population.slice is None and one.aggregation in FIGURES
    ]
    steps = sorted({one.step for one in own if one.step}, key=lambda name: (name == "context", name))
    rows = sorted(headline(own, steps), key=lambda one: one.aggregation)
    return {one.population.class_: one for one in reversed(rows)}


def _points(lines: Sequence[RunLine], estimates: Sequence[Estimate | None]) -> Iterable[Point]:
    before: tuple[RunLine, Estimate | None] | None = None
    for line, estimate in zip(lines, estimates, strict=True):
        boundary: tuple[str, ...] = ()
        change = None
        if before is not None:
            boundary = tuple(
                name for (name, one), (_, other) in zip(line.versions, before[0].versions, strict=True) if one != other
            )
            last = before[1].value if before[1] else None
            now = estimate.value if estimate else None
            same_step = before[1] is not None and estimate is not None and before[1].step == estimate.step
            if not boundary and same_step and last is not None and now is not None:
                change = now - last
        yield Point(line, estimate, boundary, change)
        before = (line, estimate)
