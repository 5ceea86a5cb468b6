"""BM25, dense, hybrid, hybrid with rerank on CLAPnq, MuSiQue, Cranfield: a table by class, where facts die, time.

    python -m bench.pipelines [--questions N] [--data clapnq musique cranfield] [--cache DIR] [--out FILE]

All documents of a data set are its corpus. `--questions` (300) is the most that is asked of each: every n-th of its
file, so that classes keep their shares; what was left out is said. Passages are embedded once and kept in `--cache`
(`out/pipelines`); questions are embedded anew for each pipeline, one question at a time, so that times are those of a
first question. PIPELINES_DATA names the folder of the data sets.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.page import put_out
from bench.pipeline_tables import COLUMNS, Asked, World, survival_lines, table_lines, time_lines

from ragassay import benchmark
from ragassay.assay import Plan, measure, perform, seal
from ragassay.cli.workspace import cases_of, corpus_of, open_workspace
from ragassay.records.protocol import Run
from ragassay.records.score import Estimate, FactFate, ScoreTable, SurvivalRow
from ragassay.records.text import instant
from ragassay.records.trace import Measurements
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.pipeline.parts import LexicalRetriever, VectorRetriever, make_reranker, make_retriever
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.run.systems.pipeline.settings_lists import Lexical, RerankMaxSim, Vector
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.pipeline.vectors import VectorCache

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("PIPELINES_DATA", ROOT.parent / "shared" / "data"))
SETS = {"clapnq": 2, "musique": 2, "cranfield": 1}
"""With the least grade that counts as relevant."""
TOP_K, CANDIDATES, READ = 20, 100, 30
LEXICAL = {"kind": "lexical", "candidates": CANDIDATES}
MINILM = {"kind": "vector", "embedder": "minilm", "candidates": CANDIDATES}
PIPELINES: dict[str, dict[str, Any]] = {
    "BM25": {"retrievers": [LEXICAL | {"candidates": TOP_K}]},
    "dense wordllama": {"retrievers": [MINILM | {"embedder": "wordllama", "candidates": TOP_K}]},
    "dense minilm": {"retrievers": [MINILM | {"candidates": TOP_K}]},
    "hybrid": {"retrievers": [LEXICAL, MINILM], "fusion": {"top_n": TOP_K}},
    "hybrid + rerank": {
        "retrievers": [LEXICAL, MINILM], "fusion": {"top_n": READ},
        "rerank": {"kind": "maxsim", "embedder": "minilm", "top_n": TOP_K},
    },
}  # fmt: skip


def world_of(name: str, questions: int, folder: Path) -> World:
    """One data set by the example that everybody may run, with the declared sample of its questions."""
    script, out = ROOT / "examples" / f"{name}.py", folder / name
    subprocess.run([sys.executable, str(script), str(DATA / name), str(out)], check=True, capture_output=True)
    workspace = open_workspace(out / "ragassay.toml")
    frozen = corpus_of(workspace)
    reading = cases_of(workspace, frozen.documents)
    lines = list(reading)
    most = min(questions, len(lines))
    chosen = [lines[number * len(lines) // most] for number in range(most)]
    built = benchmark.build(
        workspace.store, chosen, frozen.corpus, frozen.documents, name=name, version="1", completeness="partial",
        as_of=instant(workspace.settings.run.as_of),
    )  # fmt: skip
    return World(name, workspace.store, frozen, built, SETS[name], len(lines))


class Parts:
    """The retrievers that the pipelines of one data set share, and what embedding its passages took."""

    def __init__(self, world: World, cache: VectorCache) -> None:
        self._world, self._cache = world, cache
        self.index = Index(world.frozen.documents, world.frozen.passages)
        self.made: dict[Any, Any] = {}
        self.built: list[str] = []

    def retriever(self, declared: Lexical | Vector) -> LexicalRetriever | VectorRetriever:
        """One index for each embedder; every pipeline embeds each question itself."""
        if isinstance(declared, Lexical):
            return LexicalRetriever(self.index)
        if declared.embedder not in self.made:
            made = make_retriever(
                declared, self._world.frozen.documents, self._world.frozen.passages, cache=self._cache
            )
            assert isinstance(made, VectorRetriever)
            envelope = made.index.artefact.envelope
            made.index.query_embedder.embed(["ready"])
            took = f"{envelope.computed:,} embedded in {envelope.duration_ms / 1000:,.0f} s"
            self.built.append(
                f"{declared.embedder}: {made.index.content.passages:,} passages, {took}, {envelope.cache_hits:,} cached"
            )
            self.made[declared.embedder] = made
        return self.made[declared.embedder]  # type: ignore[no-any-return]


def ask(world: World, parts: Parts, name: str) -> Asked:
    """One pipeline: seal, run, score."""
    settings = pipeline_settings({"name": name, **PIPELINES[name]})
    rerank = settings.rerank
    system = PipelineSystem(
        world.frozen.documents,
        world.frozen.passages,
        settings,
        retrievers=[parts.retriever(one) for one in settings.retrievers],
        reranker=make_reranker(rerank) if isinstance(rerank, RerankMaxSim) else None,
        index=parts.index,
    )
    spelled = name.replace(" ", "").replace("+", "-")
    plan = Plan(
        as_of="2026-06-01", name=spelled, top_k=TOP_K, max_error_rate=0.0, concurrency=1, timeout_s=120.0,
        measures=(*(one.format(rel=world.rel) for one in COLUMNS.values()), "fact_coverage", "latency"),
    )  # fmt: skip
    sealed = seal(world.store, plan, world.frozen, world.built, system.identity)
    _, digest = asyncio.run(perform(world.store, plan, sealed, system))
    table = world.store.get_record(ScoreTable, measure(world.store, digest, sealed.protocol.scoring, name=spelled))
    run = world.store.get_record(Run, digest)
    return Asked(
        list(world.store.get_lines(Estimate, table.estimates)),
        list(world.store.get_lines(SurvivalRow, table.survival)),
        list(world.store.get_lines(FactFate, table.fates)),
        list(world.store.get_lines(Measurements, run.measurements)),
    )


def report(names: Sequence[str], questions: int, cache: Path) -> Iterator[str]:
    """All tables, in Markdown, as they are ready."""
    table = [
        f"| data, class (questions) | pipeline | {' | '.join(COLUMNS)} | median / p95 ms |",
        "|---|---|" + "--:|" * (len(COLUMNS) + 1),
    ]
    rest: list[str] = []
    sampled, built = [], []
    vectors = VectorCache.open(cache / "vectors.sqlite")
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            began = time.perf_counter()
            world = world_of(name, questions, Path(scratch))
            parts = Parts(world, vectors)
            asked = {}
            for one in PIPELINES:
                asked[one] = ask(world, parts, one)
                print(f"{name}: {one}, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            count = len(asked["BM25"].measured)
            sampled.append(
                f"- {name}: {count} of {world.of} questions" + (" (every n-th of its file)" if count < world.of else "")
                + f", {len(world.frozen.documents):,} documents in {len(world.frozen.passages):,} passages"
            )  # fmt: skip
            built += [f"- {name}, {one}" for one in parts.built]
            table += table_lines(world, asked)
            rest += ["", f"## {name}: where facts die", "", *survival_lines(asked, world)]
            rest += ["", f"## {name}: where the time went", "", "Mean milliseconds a question.", "", *time_lines(asked)]
    vectors.close()
    yield from ("## What was asked", "", *sampled, "", "Embedding the passages:", "", *built, "")
    yield from ("## By class", "", *table, *rest)


def main() -> int:
    """The tables, printed and, with --out, written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "pipelines")
    parser.add_argument("--out", type=Path, help="a Markdown file; what stands above its line `<!-- tables -->` stays")
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data sets in {DATA}: PIPELINES_DATA names their folder", file=sys.stderr)
        return 1
    lines = list(report(given.data, given.questions, given.cache))
    put_out(lines, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
