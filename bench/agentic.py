"""One retrieval, two and three by the rule, on multi-hop questions: what the further rounds bring, and what they cost.

    python -m bench.agentic [--questions 200] [--cache DIR] [--out FILE]

MuSiQue, all documents of its questions as the corpus, BM25 with 20 candidates a round (and, with `--dense`, MiniLM), a
context of 600 words for each of them, so that more rounds must push something out. PIPELINES_DATA names the folder of
the data sets.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.page import put_out
from bench.pipelines import DATA, ROOT, Parts, world_of

from ragassay.assay import Plan, measure, perform, seal
from ragassay.records.protocol import Run
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.pipeline.vectors import VectorCache

ROUNDS: dict[str, dict[str, Any] | None] = {
    "one retrieval": None,
    "one retrieval of 60": None,
    "2 rounds, by turns": {"kind": "rule", "rounds": 2},
    "3 rounds, by turns": {"kind": "rule", "rounds": 3},
    "3 rounds, fused (rrf)": {"kind": "rule", "rounds": 3, "join": "rrf"},
}
LEXICAL = {"kind": "lexical", "candidates": 20}
DENSE = {"kind": "vector", "embedder": "minilm", "candidates": 20}


def shown(estimates: list[Estimate], spelled: str, step: str | None) -> str:
    """A mean over all questions with its interval; a dash where there is none."""
    for one in estimates:
        whole = one.population.class_ == "multi_hop" and one.population.slice is None
        if (
            one.measure == spelled
            and one.step == step
            and whole
            and one.aggregation == "macro"
            and one.value is not None
        ):
            between = f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else ""
            return f"{one.value:.3f}{between}"
    return "-"


def ask(world: Any, parts: Parts, name: str, retrieval: dict[str, Any]) -> tuple[list[str], Counter[str]]:
    """The cells of one row, and why the rounds ended."""
    spelled = "".join(one if one.isalnum() else "-" for one in f"{retrieval['kind']}-{name}")
    more = {"agentic": found} if (found := ROUNDS[name]) is not None else {}
    if name == "one retrieval of 60":  # as many items as three rounds may bring
        retrieval = {**retrieval, "candidates": 60}
    settings = pipeline_settings({"name": spelled, "retrievers": [retrieval], **more})
    retrievers = [parts.retriever(one) for one in settings.retrievers]
    system = PipelineSystem(
        world.frozen.documents, world.frozen.passages, settings, retrievers=retrievers, index=parts.index
    )
    plan = Plan(
        as_of="2026-06-01", name=spelled, top_k=60, max_error_rate=0.0, concurrency=1, timeout_s=120.0,
        measures=("fact_coverage", "latency"),
    )  # fmt: skip
    sealed = seal(world.store, plan, world.frozen, world.built, system.identity)
    _, digest = asyncio.run(perform(world.store, plan, sealed, system))
    table = world.store.get_record(ScoreTable, measure(world.store, digest, sealed.protocol.scoring, name=spelled))
    run = world.store.get_record(Run, digest)
    estimates = list(world.store.get_lines(Estimate, table.estimates))
    times = sorted(one.latency_ms or 0.0 for one in world.store.get_lines(Measurements, run.measurements))
    ends: Counter[str] = Counter()
    searched = asked = 0
    for trace in world.store.get_lines(TraceContent, run.contents):
        asked += 1
        searched += sum(one.kind in ("lexical", "vector") for one in trace.steps)
        ends.update(
            " ".join((one.reason or "").split(": ")[0].split()) for step in trace.steps if step.name == "join"
            for one in step.decisions if one.action == "stop"
        )  # fmt: skip
    cells = [
        shown(estimates, "fact_coverage", "join" if found is not None else "dedup"),
        *(shown(estimates, "fact_coverage", f"dedup#{number}") for number in (1, 2, 3)),
        shown(estimates, "fact_coverage", "context"),
        f"{searched / asked:.2f}",
        f"{times[len(times) // 2]:.0f}",
    ]
    return cells, ends


def report(questions: int, cache: Path, retrievals: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The table, in Markdown, and why rounds ended."""
    vectors = VectorCache.open(cache / "vectors.sqlite")
    with tempfile.TemporaryDirectory() as scratch:
        world = world_of("musique", questions, Path(scratch))
        parts = Parts(world, vectors)
        asked = f"{min(questions, world.of)} of {world.of} questions of MuSiQue"
        yield f"{asked}, {len(world.frozen.passages):,} passages. Share of the facts held:"
        yield ""
        yield (
            "| retriever | rounds | all lists together | round 1 | round 2 | round 3 | context of 600 words "
            "| searches a question | median ms |"
        )
        yield "|---|---|" + "--:|" * 7
        why: list[str] = []
        for kind, retrieval in retrievals.items():
            for name in ROUNDS:
                cells, ends = ask(world, parts, name, retrieval)
                yield f"| {kind} | {name} | {' | '.join(cells)} |"
                if ends:
                    said = ", ".join(f"{number} {reason}" for reason, number in ends.most_common())
                    why.append(f"- {kind}, {name}: {said}")
                print(f"{kind}, {name}", file=sys.stderr, flush=True)
        yield from ("", "Why the rounds of a question ended:", "", *why)
    vectors.close()


def main() -> int:
    """The table, printed and, with --out, written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--dense", action="store_true", help="also over MiniLM's vectors")
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "pipelines")
    parser.add_argument("--out", type=Path, help="a Markdown file; what stands above its line `<!-- tables -->` stays")
    given = parser.parse_args()
    if not (DATA / "musique").is_dir():
        print(f"no folder musique in {DATA}: PIPELINES_DATA names the folder of the data sets", file=sys.stderr)
        return 1
    retrievals = {"BM25": LEXICAL} | ({"dense minilm": DENSE} if given.dense else {})
    lines = list(report(given.questions, given.cache, retrievals))
    put_out(lines, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
