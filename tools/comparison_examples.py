"""A comparison and the lines of its three tables. Writes nothing itself."""

from __future__ import annotations

from collections.abc import Callable

from ragassay.records.base import Record
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
)  # fmt: skip
from ragassay.records.score import Bounds, Interval, Population


def compared(digest: Callable[[str], str]) -> dict[str, Record]:
    """By name."""
    arms = [
        Arm(
            name=name, run=digest(f"{name} run"), run_record=digest(f"{name} record"), scores=digest(f"{name} scores"),
            subject=digest(f"{name} subject"), protocol=digest(f"{name} protocol"), mixed=mixed,
        )
        for name, mixed in (("monday", ()), ("tuesday", ("model",)))
    ]  # fmt: skip
    comparison = Comparison(
        baseline=arms[0], candidate=arms[1], variation=("segmentation",), level=0.95, seed=7, flips=10_000,
        slices="regressed", paired=29, unpaired=(Unpaired(query_id="q-9", side="candidate"),),
        changes=(
            Change(artefact="segmentation", name="size", before="400", after="200", declared=True),
            Change(artefact="document_added", name="d-7", after="sha256:1"),
        ),
        changes_left_out=2,
        steps=(
            StepChange(step="lexical", kind="lexical", order=0, questions=29, same=20, first=9, downstream=0,
                       only_candidate=1, blamed="segmentation"),
            StepChange(step="fuse", kind="fuse", order=1, questions=29, same=19, first=1, downstream=9, silent=True),
        ),
        effects=digest("effects"), moves=digest("moves"), losses=digest("losses"), judged={"fuse": (0.5, 0.75)},
        weak_baseline=("recall(rel=2)@20 at context, answerable: 0.080 worse than the built-in BM25 over 29",),
        reference=digest("reference"), margin=0.05, stored_configuration=False,
    )  # fmt: skip
    effect = Effect(
        measure="recall(rel=2)@20", population=Population(class_="answerable", slice="risk=high"), aggregation="micro",
        direction="higher", status="value", attempted=30, pairs=26, undefined=1, missing=2, error=1, clusters=20,
        step="last list", baseline=0.5, candidate=0.625, effect=0.125,
        interval=Interval(low=-0.0625, high=0.3125, level=0.95, method="student_t", clusters=20),
        doubt="few_carry_it", bounds=Bounds(low=-0.25, high=0.5),
        test=PairedTest(p=0.25, floor=0.0001, method="random", flips=10_000, adjusted=0.5, correction="holm", family=2),
        detectable=0.25, wins=9, ties=12, losses=5, quantiles=(-1.0, -0.5, 0.0, 0.0, 0.25, 0.5, 1.0), unit="ratio",
    )  # fmt: skip
    absent = Effect(
        measure="latency(kind=rerank)", population=Population(class_="answerable"), aggregation="p95",
        direction="lower", status="undefined", attempted=2, pairs=2, undefined=0, missing=0, error=0, clusters=2,
        reason="right_censored", bounds=Bounds(low=12.5, high=1e300), unit="ms",
    )  # fmt: skip
    move = Move(
        query_id="q-1", measure="recall(rel=2)@20", baseline_status="value", candidate_status="value", step="fuse",
        baseline=1.0, candidate=0.5, difference=-0.5, kind="regressed",
    )  # fmt: skip
    gone = Move(
        query_id="q-2", measure="token_f1", baseline_status="value", candidate_status="error", baseline=0.25,
        kind="disappeared",
    )  # fmt: skip
    loss = NewLoss(
        query_id="q-1", repeat=0, fact_id="f1", steps=("fuse",), fate="lost_whole", upstream_same=True,
        moved=("fuse",), blamed=("segmentation",), silent=False, failure="timeout", failed_at="fuse",
    )  # fmt: skip
    return {
        "comparison": comparison, "effect": effect, "effect-absent": absent, "move": move, "move-gone": gone,
        "newloss": loss,
    }  # fmt: skip
