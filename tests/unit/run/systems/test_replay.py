"""Stored traces and TREC runs as systems: what was said and measured then, and nothing that was not."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.unit.run.small import AS_OF, Small

from ragassay.errors import RagassayError
from ragassay.records.protocol import Run
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run import execute
from ragassay.run.systems.python import PythonSystem
from ragassay.run.systems.replay import ReplaySystem
from ragassay.traces import read_jsonl


def replay(small: Small, kind: Any, file: Path, **more: Any) -> ReplaySystem:
    return ReplaySystem(kind, file, small.documents, small.passages, **{"as_of": AS_OF, **more})


def perform(small: Small, system: Any, name: str = "latest", **more: Any) -> Run:
    sealed = small.seal(system.identity, **more)
    return asyncio.run(execute(small.store, sealed, system, name=name, error_budget=99))[0]


def traces(small: Small, run: Run) -> list[tuple[TraceContent, Measurements]]:
    contents = small.store.get_lines(TraceContent, run.contents)
    return list(zip(contents, small.store.get_lines(Measurements, run.measurements), strict=True))


def write(path: Path, small: Small, run: Run) -> Path:
    lines = [
        msgspec.json.encode({"content": content, "measurements": measured}) for content, measured in traces(small, run)
    ]
    path.write_bytes(b"\n".join(lines))
    return path


def answer(request: Any) -> Any:
    if request.query_id == "q005":
        raise RuntimeError("no model")
    return {
        "answer": {"text": "Warm air rises.", "outcome": "answered", "citations": ["rain"]},
        "steps": [{"kind": "vector", "items_out": [{"document_id": "rain", "start": 0, "end": 20, "score": 0.5}, "own"],
                   "duration_ms": 3.5}],
        "usage": {"input_tokens": 11}, "versions": {"model": "m-1"},
    }  # fmt: skip


def test_a_run_that_is_replayed_has_the_same_content_and_the_same_times(small: Small, tmp_path: Path) -> None:
    first = perform(small, PythonSystem(answer))
    file = write(tmp_path / "run.jsonl", small, first)
    again = perform(small, replay(small, "traces", file), "again")
    assert again.content == first.content
    assert again.failures == first.failures == 1
    before, after = traces(small, first), traces(small, again)
    assert [one.latency_ms for _, one in before] == [one.latency_ms for _, one in after]
    assert [one.attempts for _, one in before] == [one.attempts for _, one in after]
    assert after[0][1].usage == before[0][1].usage
    assert after[5][1].failure_detail == "RuntimeError: no model"
    assert read_jsonl(write(tmp_path / "second.jsonl", small, again))[0].content == after[0][0]


def test_a_long_file_of_traces_is_not_held_as_objects(small: Small, tmp_path: Path) -> None:
    first = msgspec.json.encode({"content": traces(small, perform(small, PythonSystem(answer)))[0][0]})
    content = json.loads(first)["content"]
    content["steps"][0]["items_out"] *= 20
    for rank, item in enumerate(content["steps"][0]["items_out"], 1):
        item.update(rank=rank, item_id=f"i{rank}")
    file = tmp_path / "long.jsonl"
    file.write_text(
        "\n".join(json.dumps({**content, "query_id": f"q{n}", "repeat": r}) for n in range(150) for r in (0, 1))
    )
    tracemalloc.start()
    try:
        system = replay(small, "traces", file)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert file.stat().st_size > 2_000_000
    assert held < 500_000
    assert most < 1_000_000
    stored = asyncio.run(system.ask(SimpleNamespace(query_id="q149"))).stored  # type: ignore[arg-type]
    assert stored is not None
    assert {repeat: one.content.repeat for repeat, one in stored.items()} == {0: 0, 1: 1}
    assert len(stored[1].content.steps[0].items_out or ()) == 40
    assert stored[1].content.query_id == "q149"


def test_questions_and_repeats_that_are_not_stored_fail(small: Small, tmp_path: Path) -> None:
    file = write(tmp_path / "run.jsonl", small, perform(small, PythonSystem(answer)))
    file.write_bytes(b"\n".join(file.read_bytes().split(b"\n")[1:]))
    run = perform(small, replay(small, "traces", file), "again", repeats=2)
    failed = {(c.query_id, c.repeat): c.failure.code for c, _ in traces(small, run) if c.failure}
    assert failed[("q000", 0)] == "not_stored"
    assert {code for (_, repeat), code in failed.items() if repeat == 1} == {"not_stored"}
    assert sum(code == "not_stored" for code in failed.values()) == 7


def test_a_trace_of_another_moment_is_refused(small: Small, tmp_path: Path) -> None:
    file = write(tmp_path / "run.jsonl", small, perform(small, PythonSystem(answer)))
    run = perform(small, replay(small, "traces", file), "again", as_of="2026-09-01T00:00:00Z")
    assert {c.failure.code for c, _ in traces(small, run) if c.failure} == {"as_of"}
    assert run.failures == 6


def test_items_that_stand_nowhere_in_this_corpus_are_unresolved(small: Small, tmp_path: Path) -> None:
    def item(rank: int, document: str, end: int, **more: Any) -> dict[str, Any]:
        place = {"document_id": document, "version": "1", "start": 0, "end": end}
        return {"item_id": f"i{rank}", "rank": rank, "resolution": "declared", "transform": "slice",
                "sources": [place], **more}  # fmt: skip

    items = [item(1, "rain", 20), item(2, "rain", 9999), item(3, "elsewhere", 5), item(4, "snow", 9, passage_id="ours")]
    content = {"query_id": "q000", "repeat": 0, "as_of": AS_OF, "context": items,
               "steps": [{"step_id": "s", "name": "s", "kind": "vector", "items_out": items}]}  # fmt: skip
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps(content))
    kept, measured = traces(small, perform(small, replay(small, "traces", file)))[0]
    assert [one.resolution for one in kept.context or ()] == ["declared", "unresolved", "unresolved", "declared"]
    assert (kept.context or ())[3].passage_id is None
    assert kept.steps[0].items_out == kept.context
    assert measured.latency_ms is None, "nobody measured it, so it is missing, not the time that reading took"
    assert measured.attempts == ()


def test_a_trec_run_says_ids_and_scores_and_nothing_else(small: Small, tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    file.write_text("".join(f"q00{n} Q0 {name} 1 {score} x\n" for n in range(5)
                            for name, score in (("snow", 1.5), ("rain", 2.5), ("nowhere", 0.5))))  # fmt: skip
    run = perform(small, replay(small, "trec", file, step="bm25"))
    assert run.failures == 1, "the sixth question has no line"
    content, measured = traces(small, run)[0]
    (step,) = content.steps
    assert (step.name, [one.item_id for one in step.items_out or ()]) == ("bm25", ["rain", "snow", "nowhere"])
    assert [one.resolution for one in step.items_out or ()] == ["declared", "declared", "unresolved"]
    assert (content.answer, content.context, measured.latency_ms, measured.usage) == (None, None, None, None)


def test_another_file_is_another_system_and_lines_left_out_are_said(small: Small, tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    file.write_text("q000 Q0 rain 1 2.5 x\nq001 Q0 rain\n")
    with pytest.raises(RagassayError, match="columns"):
        replay(small, "trec", file)
    first = replay(small, "trec", file, on_error="skip")
    assert first.identity.settings["lines_left_out"] == 1
    assert first.notes
    file.write_text("q000 Q0 rain 1 2.6 x\n")
    assert replay(small, "trec", file).identity != first.identity
    with pytest.raises(RagassayError, match="absent"):
        replay(small, "trec", tmp_path / "absent.txt")
