"""Two runs of the hand-made questions in one store, and a comparison of them whose every number is written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.unit.report import sample
from tests.unit.report.test_from_store import LINES, stored

from ragassay.records.base import Digest, FactId, QueryId
from ragassay.records.comparison import (
    Arm,
    Change,
    Comparison,
    Effect,
    Move,
    NewLoss,
    PairedTest,
    StepChange,
    Unpaired,
)
from ragassay.records.protocol import Run
from ragassay.records.score import Bounds, Interval, Observation, Population, ScoreTable
from ragassay.records.trace import Failure, TraceContent
from ragassay.store import Store

PR, CS, CL = sample.PR, sample.CS, sample.CL
RECALL = "recall(rel=2)@20"


class Sample(NamedTuple):
    store: Store
    comparison: Digest
    record: Comparison


def contents_now() -> list[TraceContent]:
    """Of the baseline's traces: a-1 loses its evidence, a-2 keeps it, u-1 answers, u-2 fails, h-1 says more."""
    changed = {
        "a-1": sample.trace(
            "a-1",
            [[(CL, 0), (PR, 0), (PR, 1)], [(CL, 0), (PR, 1)], [(CL, 0)]],
            sample.said("The publisher keeps the cache entry."),
        ),
        "a-2": sample.trace("a-2", [[(CL, 0), (PR, 1)], [(CL, 0), (PR, 1)], [(PR, 1)]], sample.said("Three times.")),
        "u-1": sample.trace("u-1", [[(CL, 0)], [(CL, 0)], [(CL, 0)]], sample.said("Ann wrote it.")),
        "u-2": sample.trace("u-2", [], failure=Failure(cause="timeout")),
        "h-1": sample.trace(
            "h-1", [[("hostile", 0)]] * 3, sample.said(sample.HOSTILE * 2 + "now"), query_text="another text"
        ),
    }
    return [changed.get(one.query_id, one) for one in sample.contents()]


def observations_now() -> list[Observation]:
    rows = []
    for row in sample.observations():
        if row.measure == RECALL and row.query_id in ("a-1", "a-2") and row.step in ("assemble", "context"):
            got = 0 if row.query_id == "a-1" else 1
            row = msgspec.structs.replace(row, value=float(got), numerator=float(got))
        rows.append(row)
    return rows


def effect(measure: str, class_: str, step: str | None, counts: tuple[int, int, int, int], **more: Any) -> Effect:
    pairs, undefined, missing, error = counts
    given: dict[str, Any] = {
        "aggregation": "macro", "direction": "higher", "status": "value", "attempted": sum(counts), "pairs": pairs,
        "undefined": undefined, "missing": missing, "error": error, "clusters": pairs, **more,
    }  # fmt: skip
    return Effect(
        measure=measure, population=Population(class_=class_, slice=given.pop("slice", None)), step=step, **given
    )


def interval(low: float, high: float) -> Interval:
    return Interval(low=low, high=high, level=0.95, method="t by cluster", clusters=4)


def paired(p: float, adjusted: float | None = None, **more: Any) -> PairedTest:
    return PairedTest(p=p, floor=more.pop("floor", 0.0001), method="random", flips=10_000, adjusted=adjusted, **more)


def effects() -> list[Effect]:
    return [
        effect(
            RECALL, "answerable", "context", (4, 0, 1, 1), baseline=0.5, candidate=0.5, effect=0.0,
            interval=interval(-0.7, 0.7), bounds=Bounds(low=-0.33, high=0.33), test=paired(1.0, floor=0.5),
            detectable=0.9, wins=1, ties=2, losses=1, quantiles=(-1.0, -0.85, -0.25, 0.0, 0.25, 0.85, 1.0),
        ),
        effect(
            RECALL, "multi_hop", "context", (1, 0, 0, 0), baseline=0.5, candidate=0.5, effect=0.0, ties=1,
        ),
        effect(
            "context_precision(rel=2)", "answerable", "context", (4, 0, 1, 1), baseline=0.375, candidate=0.625,
            effect=0.25, interval=interval(0.1, 0.4), test=paired(0.01, 0.02, correction="holm", family=2),
            detectable=0.2, wins=3, ties=1, losses=0,
        ),
        effect(
            "unsupported_answer", "unanswerable", None, (2, 0, 0, 0), aggregation="micro", direction="lower",
            baseline=0.5, candidate=1.0, effect=0.5, interval=interval(0.2, 0.8), test=paired(0.03), losses=1, ties=1,
        ),
        effect(
            "latency", "answerable", None, (5, 0, 0, 1), aggregation="median", direction="lower", unit="ms",
            baseline=46.0, candidate=52.0, effect=6.0, interval=interval(-2.0, 14.0),
        ),
        effect(
            "brier", "answerable", None, (0, 0, 6, 0), status="missing", reason="no_confidence", direction="lower",
        ),
        effect(
            RECALL, "answerable", "bm25", (4, 0, 1, 1), baseline=0.75, candidate=0.75, effect=0.0, ties=4,
        ),
        effect(
            RECALL, "answerable", "context", (1, 0, 0, 0), slice="language=ja", baseline=1.0, candidate=1.0,
            effect=0.0, ties=1,
        ),
    ]  # fmt: skip


def move(query_id: str, kind: Any, before: float | None, now: float | None, **more: Any) -> Move:
    given: dict[str, Any] = {
        "measure": RECALL, "step": "context", "baseline_status": "value", "candidate_status": "value", **more,
    }  # fmt: skip
    difference = None if before is None or now is None else now - before
    return Move(query_id=QueryId(query_id), kind=kind, baseline=before, candidate=now, difference=difference, **given)


def moves() -> list[Move]:
    latency: dict[str, Any] = {"measure": "latency", "step": None}
    return [
        move("a-1", "regressed", 1.0, 0.0),
        move("a-1", "regressed", 1.0, 0.0, step="assemble"),
        move("a-2", "improved", 0.0, 1.0),
        move("u-1", "regressed", 0.0, 1.0, measure="unsupported_answer", step=None),
        move("u-2", "disappeared", 1.0, None, measure="unsupported_answer", step=None, candidate_status="error"),
        *(move(one.query_id, "regressed", 40.0, 42.0, **latency) for one in sample.cases()),
    ]


def losses() -> list[NewLoss]:
    return [
        NewLoss(
            query_id=QueryId("a-1"), repeat=0, fact_id=FactId("f1"), steps=("dedup",), fate="lost_whole",
            upstream_same=False, moved=("bm25",), blamed=("embedder",),
        )
    ]  # fmt: skip


def changes() -> tuple[Change, ...]:
    return (
        Change(artefact="document_text", name="cache-limits", before="sha256:aa", after="sha256:bb"),
        Change(artefact="document_added", name=sample.HOSTILE, after=sample.HOSTILE),
        Change(artefact="embedder", name="dense.embedder", before="letters/1", after="letters/2", declared=True),
    )


def steps() -> tuple[StepChange, ...]:
    return (
        StepChange(step="bm25", kind="lexical", order=0, questions=9, same=7, first=2, downstream=0, blamed="embedder"),
        StepChange(step="dedup", kind="dedup", order=1, questions=9, same=7, first=0, downstream=2, only_baseline=1),
        StepChange(step="assemble", kind="assemble", order=2, questions=9, same=5, first=2, downstream=2, silent=True),
    )


def made(path: Path, **changed: Any) -> Sample:
    """The store and the comparison; `changed` replaces fields of it, or its lines (effects_rows, moves_rows, ...)."""
    store, material, scores, run_digest = stored(path)
    baseline, run = store.get_record(ScoreTable, scores), store.get_record(Run, run_digest)
    now = contents_now()
    rows: dict[str, Any] = {name: getattr(material, name) for name in LINES}
    rows["observations"] = observations_now()
    other = msgspec.structs.replace(
        run, contents=store.put_lines(now), measurements=store.put_lines(sample.measurements(now)),
        content=sample.digest("other"),
    )  # fmt: skip
    table = msgspec.structs.replace(
        baseline, run=other.identity(), run_record=store.put_record(other),
        **{name: store.put_lines(found) for name, found in rows.items()},
    )  # fmt: skip

    def arm(name: str, run: Run, table: ScoreTable) -> Arm:
        return Arm(
            name=name, run=run.identity(), run_record=table.run_record, scores=store.put_record(table),
            subject=run.subject, protocol=run.protocol,
        )  # fmt: skip

    record = Comparison(
        baseline=arm("yesterday", run, baseline), candidate=arm("today", other, table), variation=("embedder",),
        level=0.95, seed=0, flips=10_000, paired=11,
        unpaired=changed.pop("unpaired", (Unpaired(query_id=QueryId("z-1"), side="baseline"),)),
        changes=changed.pop("changes", changes()), steps=changed.pop("steps", steps()),
        effects=store.put_lines(changed.pop("effects_rows", effects())),
        moves=store.put_lines(changed.pop("moves_rows", moves())),
        losses=store.put_lines(changed.pop("losses_rows", losses())),
        judged={"bm25": (0.9, 0.7)}, weak_baseline=changed.pop("weak_baseline", ("worse than BM25 on multi-hop",)),
        **changed,
    )  # fmt: skip
    return Sample(store, store.put_record(record), record)
