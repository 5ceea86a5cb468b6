"""The same CLAPnq questions through seven doors: the same scores, and a table of what each cannot report.

    python examples/adapters/compare.py ../shared/data/clapnq --questions 30

One BM25 search (`search.py`) is asked as a Python callable, an HTTP service, a JSON-lines command, from a TREC file and
as a retriever of LangChain, LlamaIndex and Haystack (`doors.py`; a library that is not installed is left out, and the
table says so). Exit code 1 if two doors score differently.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import clapnq  # noqa: E402
import search  # noqa: E402

from ragassay import benchmark  # noqa: E402
from ragassay.assay import Frozen, Plan, freeze_corpus, measure, perform, seal  # noqa: E402
from ragassay.cli.systems import make_system  # noqa: E402
from ragassay.corpus import read  # noqa: E402
from ragassay.errors import MissingExtraError  # noqa: E402
from ragassay.records.protocol import Run  # noqa: E402
from ragassay.records.score import Estimate, Observation, ScoreTable  # noqa: E402
from ragassay.records.text import instant  # noqa: E402
from ragassay.records.trace import Measurements, TraceContent  # noqa: E402
from ragassay.run.systems.said import PARTS, Said, said  # noqa: E402
from ragassay.store import Store  # noqa: E402

AS_OF = "2026-06-01"
TOP_K = 20
MEASURES = ("recall(rel=2)@5", "recall(rel=2)@20", "rr(rel=2)@20", "ndcg@10", "fact_coverage")
LIBRARIES = ("langchain", "llamaindex", "haystack")
STEP = {"step": "lexical", "step_name": "bm25"}


class Door(NamedTuple):
    """What one door gave: the scores of every question, their means, and what was reported."""

    scores: dict[tuple[str, str], str]
    means: dict[str, str]
    said: Said


class World(NamedTuple):
    """Everything that the doors share."""

    folder: Path
    store: Store
    frozen: Frozen
    built: Any


def prepare(data: Path, questions: int, folder: Path) -> World:
    """CLAPnq as a corpus and a benchmark in a new store, and its passages for the search."""
    answerable, unanswerable = clapnq.read(data)
    every = [row for pair in zip(answerable, unanswerable, strict=True) for row in pair]
    write(folder / "documents.jsonl", clapnq.unique(clapnq.passage(row) for row in every))
    write(folder / "cases.jsonl", (clapnq.case(row) for row in every[:questions]))
    store = Store.open(folder / "store", create=True)
    frozen = freeze_corpus(
        store, read(folder / "documents.jsonl"), name="clapnq", chunker="tokens", size=80, overlap=20
    )
    cases = benchmark.read_cases(folder / "cases.jsonl")
    built = benchmark.build(
        store, cases, frozen.corpus, frozen.documents, name="clapnq", version="1", completeness="partial",
        as_of=instant(AS_OF),
    )  # fmt: skip
    write(
        folder / "passages.jsonl",
        (
            {"id": one.passage_id, "text": one.text, "document_id": span.document_id, "start": span.start,
             "end": span.end}
            for one in frozen.passages for span in one.sources[:1]
        ),
    )  # fmt: skip
    os.environ["SEARCH_FOLDER"] = str(folder)
    search.opened.cache_clear()
    return World(folder, store, frozen, built)


def write(path: Path, lines: Any) -> None:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")


@contextmanager
def sections(world: World) -> Iterator[dict[str, dict[str, Any]]]:
    """`[system]` of each door, as it would stand in ragassay.toml."""
    server = search.serve()
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    run = world.folder / "bm25.run.txt"
    run.write_text("".join(trec(world)), "utf-8")
    command = [sys.executable, str(HERE / "search.py")]
    try:
        yield {
            "python": {"kind": "python", "callable": "search:answer"},
            "http": {"kind": "http", "url": f"http://127.0.0.1:{server.server_address[1]}/"},
            "command": {"kind": "command", "command": command, "env": {"SEARCH_FOLDER": str(world.folder)}},
            "trec": {"kind": "trec", "file": str(run), "step": "bm25"},
            **{one: {"kind": one, "retriever": f"doors:{one}", **STEP} for one in LIBRARIES},
        }
    finally:
        server.shutdown()
        server.server_close()


def trec(world: World) -> Iterator[str]:
    for case in benchmark.load(world.store, world.built.benchmark):
        for rank, (one, score) in enumerate(search.opened().best(case.query, TOP_K), 1):
            yield f"{case.query_id} Q0 {one['id']} {rank} {score!r} bm25\n"


def ask(world: World, name: str, section: Mapping[str, Any]) -> Door:
    """One door: seal, run, score."""
    system = make_system(section, HERE, world.frozen, instant(AS_OF))
    plan = Plan(as_of=AS_OF, name=name, top_k=TOP_K, measures=MEASURES, max_error_rate=0.0)
    sealed = seal(world.store, plan, world.frozen, world.built, system.identity)
    _, digest = asyncio.run(perform(world.store, plan, sealed, system))
    table = world.store.get_record(ScoreTable, measure(world.store, digest, sealed.protocol.scoring, name=name))
    run = world.store.get_record(Run, digest)
    traces = zip(
        world.store.get_lines(TraceContent, run.contents),
        world.store.get_lines(Measurements, run.measurements),
        strict=True,
    )
    return Door(
        {
            (f"{one.query_id} {one.step or ''}", one.measure): shown(one.status, one.value, one.reason)
            for one in world.store.get_lines(Observation, table.observations)
        },
        {
            one.measure: f"{shown(one.status, one.value, one.reason)} ({one.scored} of {one.attempted})"
            for one in world.store.get_lines(Estimate, table.estimates)
            if one.measure in MEASURES
            and (one.step, str(one.population), one.aggregation) == ("bm25", "answerable", "macro")
        },
        said(traces),
    )


def shown(status: str, value: float | None, reason: str | None) -> str:
    return f"{value:.4f}" if value is not None else f"{status}({reason})"


def compare(data: Path, questions: int, folder: Path) -> tuple[dict[str, Door], list[str]]:
    """Every door that can be opened here, and the names of those that cannot."""
    world = prepare(data, questions, folder)
    doors: dict[str, Door] = {}
    closed: list[str] = []
    with sections(world) as described:
        for name, section in described.items():
            try:
                doors[name] = ask(world, name, section)
            except MissingExtraError as cause:
                closed.append(f"{name}: {cause.message}; {cause.hint}")
    return doors, closed


def tables(doors: Mapping[str, Door], closed: list[str]) -> str:
    """Both tables, in Markdown."""
    measures = list(next(iter(doors.values())).means)
    lines = ["| at step bm25, answerable | " + " | ".join(measures) + " |", "|---" * (len(measures) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(door.means[one] for one in measures) + " |" for name, door in doors.items()]
    lines += ["", "| reported | " + " | ".join(doors) + " |", "|---" * (len(doors) + 1) + "|"]
    nowhere = [part for part in PARTS if not any(door.said.counts[part] for door in doors.values())]
    for part in (one for one in PARTS if one not in nowhere):
        marks = ("yes" if door.said.counts[part] else "missing" for door in doors.values())
        lines.append(f"| {part} | " + " | ".join(marks) + " |")
    lines += ["", f"missing everywhere, since a search has none: {', '.join(nowhere)}"]
    return "\n".join([*lines, *(f"\nnot compared: {one}" for one in closed)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with the two CLAPnq files")
    parser.add_argument("--questions", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        doors, closed = compare(given.data, given.questions, Path(folder))
    print(tables(doors, closed))
    first = next(iter(doors.values()))
    differ = [name for name, door in doors.items() if door.scores != first.scores]
    print(f"\nscores of {first.said.questions} questions: " + (f"{', '.join(differ)} differ" if differ else "the same"))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
