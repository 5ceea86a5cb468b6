"""One run under a score table, opened for a decision: every byte checked, every number made again from the traces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import ragassay.benchmark
from ragassay import score
from ragassay.compare.alike import of_measuring, unlike
from ragassay.compare.changes import Sides, artefacts
from ragassay.errors import IntegrityError, UsageError
from ragassay.gate.twins import as_one
from ragassay.measures import Measure, parse
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark, Case
from ragassay.records.comparison import Arm
from ragassay.records.policy import JudgeDemands
from ragassay.records.protocol import Envelope, Protocol, Run, Scoring, Subject
from ragassay.records.score import Observation, ScoreTable
from ragassay.records.trace import TraceContent
from ragassay.score.derived import OVERLAP
from ragassay.score.estimates import COUNTED
from ragassay.seal import verify_run
from ragassay.store import Store

Rows = dict[str, list[Observation]]
"""Question -> its rows of one measure at one place, by repeat."""
ALWAYS = frozenset({"outcome", "judged"})
"""Measures that are read whatever a policy names."""
WITH_TARGETS = COUNTED | {OVERLAP}
"""Measures whose target names a cell or what was found, not a part of the question."""
UNCONFIRMED = "split=candidate"
"""Slice of questions that came from a queue and that nobody has confirmed: no rule reads them."""


class Observed:
    """Observations by measure, place and question; of measures that nobody reads, only where they were taken."""

    def __init__(self, observations: Iterable[Observation], wanted: Collection[str] | None = None) -> None:
        """`wanted`: spellings of which the rows are kept; None: all."""
        self.rows: dict[tuple[str, str | None], Rows] = defaultdict(dict)
        for one in observations:
            name = one.measure.partition("(")[0].partition("@")[0]
            if one.target is None or name in WITH_TARGETS:
                rows = self.rows[one.measure, one.step]
                if wanted is None or one.measure in wanted or name in ALWAYS:
                    rows.setdefault(one.query_id, []).append(one)
        for rows in self.rows.values():
            for own in rows.values():
                own.sort(key=lambda row: row.repeat)

    @cached_property
    def places(self) -> dict[str, tuple[str | None, ...]]:
        """Measure -> where it was taken; iterations of a step are not places of their own."""
        found: dict[str, list[str | None]] = defaultdict(list)
        for measure, step in self.rows:
            if step is None or "#" not in step:
                found[measure].append(step)
        return {measure: tuple(sorted(steps, key=lambda one: one or "")) for measure, steps in found.items()}

    def at(self, measure: str, step: str | None) -> Rows:
        """The rows of one measure at one place; none if it was not taken there."""
        return self.rows.get((measure, step), {})


class Evidence(NamedTuple):
    """The records around one score table, which follows from its run."""

    name: str
    scores: Digest
    table: ScoreTable
    run: Run
    protocol: Protocol
    subject: Subject
    scoring: Scoring
    envelope: Envelope
    benchmark: Benchmark
    cases: tuple[Case, ...]
    """Those that a rule may read: without unconfirmed candidates, and those that ask the same as one cluster."""
    unconfirmed: int
    observed: Observed
    contents: tuple[TraceContent, ...]
    judges: JudgeDemands = JudgeDemands()
    """What the policy that reads this asks of judges."""
    twins: int = 0
    """Questions that ask what another one asks, though nobody declared it."""

    @property
    def arm(self) -> Arm:
        """What a decision says about this side."""
        return Arm(
            name=self.name,
            run=self.table.run,
            run_record=self.table.run_record,
            scores=self.scores,
            subject=self.run.subject,
            protocol=self.run.protocol,
            mixed=self.mixed,
        )

    @property
    def mixed(self) -> tuple[str, ...]:
        """Reported version keys with more than one value, counted again from the traces."""
        seen: dict[str, set[str]] = defaultdict(set)
        for one in self.contents:
            for key, value in one.versions.items():
                seen[key].add(value)
        return tuple(sorted({key for key, values in seen.items() if len(values) > 1} | set(self.run.mixed)))

    @property
    def asked(self) -> int:
        """Keys (question, repeat) that were to be asked."""
        return (len(self.cases) + self.unconfirmed) * self.subject.repeats

    @property
    def failed(self) -> int:
        """Traces that are a failure."""
        return sum(one.failure is not None for one in self.contents)

    def spelled(self, measure: str) -> Measure:
        """A measure as this table spells it: with the benchmark's least relevant grade."""
        return parse(measure).with_rel(self.benchmark.rel)


def score_again(store: Store, stored: ScoreTable) -> ScoreTable:
    """The table of the same run and scoring; the run's bytes, and all that its protocol reaches, are hashed again."""
    verify_run(store, stored.run_record)
    return score.again(store, stored)[0]


Again = Callable[[Store, ScoreTable], ScoreTable]
"""`score_again`, or what has done that for the same run and scoring a moment ago."""


def gather(
    store: Store, scores: str, name: str, wanted: Collection[str] | None = None, again: Again = score_again
) -> Evidence:
    """Open a score table for a decision.

    The run and all that its protocol reaches are hashed again, and the run is scored again: the table must come out
    byte for byte. So no number that was typed into a table, and no table of other traces, is ever read.

    Raises IntegrityError if anything is not what it should be.
    """
    table = store.get_record(ScoreTable, scores)
    made = again(store, table)
    if made != table:
        wrong = [one for one in table.__struct_fields__ if getattr(made, one) != getattr(table, one)]
        raise IntegrityError(
            f"the score table {scores} does not follow from its run: {', '.join(wrong)} come out otherwise",
            field="scores",
            hint="somebody changed it, or another version of ragassay made it; score the run again",
        )
    return read_evidence(store, scores, name, wanted)


def read_evidence(store: Store, scores: str, name: str, wanted: Collection[str] | None = None) -> Evidence:
    """The records around a score table as they stand, nothing made again: for trials, never for a decision."""
    table = store.get_record(ScoreTable, scores)
    run = store.get_record(Run, table.run_record)
    protocol = store.get_record(Protocol, run.protocol)
    benchmark = store.get_record(Benchmark, _benchmark(protocol))
    cases = ragassay.benchmark.load(store, benchmark)
    confirmed = [one for one in cases if UNCONFIRMED not in one.slice]
    kept = as_one(confirmed)
    spelled = None if wanted is None else {str(parse(one).with_rel(benchmark.rel)) for one in wanted}
    rows = chain(store.get_lines(Observation, table.observations), store.get_lines(Observation, table.runtime))
    return Evidence(
        name=name,
        scores=Digest(scores),
        table=table,
        run=run,
        protocol=protocol,
        subject=store.get_record(Subject, run.subject),
        scoring=store.get_record(Scoring, table.scoring),
        envelope=store.get_record(Envelope, run.envelope),
        benchmark=benchmark,
        cases=kept,
        unconfirmed=len(cases) - len(kept),
        observed=Observed(rows, spelled),
        contents=tuple(store.get_lines(TraceContent, run.contents)),
        twins=sum(one.cluster != other.cluster for one, other in zip(confirmed, kept, strict=True)),
    )


def _benchmark(protocol: Protocol) -> Digest:
    found = protocol.objects.get("benchmark")
    if found is None:
        raise IntegrityError(
            "the protocol does not say where its benchmark is", field="protocol.objects.benchmark", hint="seal it again"
        )
    return found


def check_alike(store: Store, candidate: Evidence, baseline: Evidence, variation: Sequence[str]) -> None:
    """UsageError where candidate and baseline were not measured alike: other questions, corpus, measures or judges.

    The same is refused as where two runs are compared (`compare.alike`): what differs and was not declared as the
    variation under study. Over another corpus the same questions are another benchmark; that it names another corpus,
    and where in it its labels stand, needs no word of its own. That the two policies differ is no matter.
    """
    known = Sides(store, baseline.run, candidate.run)
    changes = artefacts(store, *known.runs, scores=(baseline.table, candidate.table), sides=known)
    found = unlike(baseline, candidate, of_measuring(known, changes), variation)
    if found is not None:
        kinds = ", ".join(f'"{one}"' for one in found.kinds)
        raise UsageError(
            f"{baseline.name} and {candidate.name} were not measured alike: {found.told}",
            field="policy.variation",
            hint=f"declare it as what is studied (variation = [{kinds}] in the policy), or run both on the same",
        )
