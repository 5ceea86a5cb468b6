"""What the traces of a run say of each step, counted: a step that gives no list is not covered by one that does."""

from __future__ import annotations

import pytest

from ragassay.records.base import Instant
from ragassay.records.trace import Failure, Item, Step, TraceContent
from ragassay.score.identities import Reported


def items(*scores: float | None) -> tuple[Item, ...]:
    return tuple(
        Item(item_id=f"i{rank}", rank=rank, resolution="unresolved", transform="slice", score=one)
        for rank, one in enumerate(scores, 1)
    )


def step(kind: str, given: tuple[Item, ...] | None, *, error: Failure | None = None) -> Step:
    return Step(step_id=f"{kind}-1", name=kind, kind=kind, items_out=given, error=error)  # type: ignore[arg-type]


def said(*steps: Step, context: tuple[Item, ...] | None = None) -> set[str]:
    reported = Reported(())
    reported.add(
        TraceContent(query_id="q", repeat=0, as_of=Instant("2026-08-01T00:00:00Z"), steps=steps, context=context), None
    )
    return {name for name in ("steps", "scores") if reported.has[name]}


RANKED, BARE = items(0.9, 0.4), items(None, None)
BROKEN = Failure(cause="timeout", step="rerank-1")
TRACES: dict[str, tuple[set[str], set[str]]] = {
    "nothing": (said(), set()),
    "a context with scores": (said(context=RANKED), {"steps", "scores"}),
    "a context without": (said(context=BARE), {"steps"}),
    "each step": (said(step("vector", RANKED), step("rerank", RANKED), context=BARE), {"steps", "scores"}),
    "a reranker that gives no list": (said(step("vector", RANKED), step("rerank", None), context=BARE), {"scores"}),
    "one that failed": (
        said(step("vector", RANKED), step("rerank", None, error=BROKEN), context=BARE), {"steps", "scores"}),
    "only a reranker's scores are absent": (said(step("vector", RANKED), step("rerank", BARE)), {"steps"}),
    "what is handed on needs no score": (said(step("vector", RANKED), step("assemble", BARE)), {"steps", "scores"}),
    "a tool and a guard without a list": (
        said(step("vector", RANKED), step("tool", None), step("guard", None)), {"steps", "scores"}),
    "only a step that hands on": (said(step("assemble", BARE)), {"steps"}),
    "no step gives a list": (said(step("vector", None), context=RANKED), {"scores"}),
    "nothing was found": (said(step("vector", ())), {"steps", "scores"}),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_lists_and_scores_of_each_step(name: str) -> None:
    found, wanted = TRACES[name]
    assert found == wanted
