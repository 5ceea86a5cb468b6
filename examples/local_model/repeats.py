"""Whether a small language model on this machine says the same again, and what of it the measures of repeats show.

    python examples/local_model/repeats.py [--questions 12] [--repeats 3] [--out out/local-model-repeats]

Asks the same questions several times through the same pipeline (answers as JSON, so that the model names an outcome):
at temperature 0 without the server's prompt cache, at temperature 0 with it, and at temperature 0.8. Counts questions
whose answers are not the same bytes in all repeats, and shows the flip rate and pass^k of the outcome. See run.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from run import ROOT, cell, chosen, served, settings_of

from ragassay import benchmark
from ragassay import demo as demo_data
from ragassay.assay import Plan, measure, perform, seal
from ragassay.cli.demo import demo_workspace
from ragassay.cli.workspace import cases_of, corpus_of
from ragassay.records.protocol import Run
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.text import instant
from ragassay.records.trace import TraceContent
from ragassay.run.systems.pipeline.system import PipelineSystem

WAYS: dict[str, dict[str, Any]] = {
    "temperature 0, no prompt cache": {},
    "temperature 0, prompt cache": {"cache_prompt": True},
    "temperature 0.8, no prompt cache": {"temperature": 0.8},
}

PASS = "pass_k(k={},least=0.5,of=abstention_rate)"
"""The chance that all of so many repeats abstain."""


def asked(store: Any, frozen: Any, built: Any, system: PipelineSystem, name: str, repeats: int) -> tuple[Any, Any]:
    """The traces and estimates of one way."""
    measures = ("abstention_rate", PASS.format(repeats), "outcome", "error_rate")
    plan = Plan(
        as_of=demo_data.AS_OF, name=name, top_k=20, repeats=repeats, max_error_rate=1.0, concurrency=1, timeout_s=120.0,
        measures=measures,
    )  # fmt: skip
    sealed = seal(store, plan, frozen, built, system.identity)
    _, digest = asyncio.run(perform(store, plan, sealed, system))
    scores = measure(store, digest, sealed.protocol.scoring, name=name)
    run, table = store.get_record(Run, digest), store.get_record(ScoreTable, scores)
    return list(store.get_lines(TraceContent, run.contents)), list(store.get_lines(Estimate, table.estimates))


def told(traces: list[TraceContent]) -> tuple[int, int, int]:
    """Questions that were asked, those whose answers are not all the same bytes, and those with several outcomes."""
    texts: dict[str, set[str]] = {}
    outcomes: dict[str, set[str]] = {}
    for one in traces:
        failed = "" if one.failure is None else one.failure.code or one.failure.cause
        said = one.answer
        texts.setdefault(one.query_id, set()).add(said.text if said is not None else failed)
        outcomes.setdefault(one.query_id, set()).add((said.outcome or "none") if said is not None else failed)
    return len(texts), *(sum(len(each) > 1 for each in found.values()) for found in (texts, outcomes))


def row(name: str, traces: list[TraceContent], estimates: list[Estimate], repeats: int) -> str:
    """One line of the table."""
    count, texts, outcomes = told(traces)
    cells = [
        cell(estimates, spelled, "answerable")
        for spelled in ("abstention_rate", "flip_rate(of=abstention_rate)", PASS.format(repeats))
    ]
    return f"| {name} | {texts} of {count} | {outcomes} of {count} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--url", help="a chat endpoint instead of a server of our own")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "local-model-repeats")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    workspace = demo_workspace(given.out)
    frozen = corpus_of(workspace)
    lines = chosen(list(cases_of(workspace, frozen.documents)), given.questions)
    built = benchmark.build(
        workspace.store, lines, frozen.corpus, frozen.documents, name=f"demo-{len(lines)}", version=demo_data.VERSION,
        completeness="partial", as_of=instant(demo_data.AS_OF),
    )  # fmt: skip
    rows = []
    with served(given.url) as url:
        for name, options in WAYS.items():
            began = time.perf_counter()
            settings = settings_of("json", url, 40)
            settings["generate"]["options"] |= options
            settings["evidence_floor"] = 0.0
            system = PipelineSystem(frozen.documents, frozen.passages, settings)
            traces, estimates = asked(workspace.store, frozen, built, system, f"way-{len(rows) + 1}", given.repeats)
            rows.append(row(name, traces, estimates, given.repeats))
            print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    print(f"{len(lines)} questions, each {given.repeats} times.\n")
    print(f"| | other bytes | other outcomes | abstention_rate | flip_rate of it | pass_k of it, k = {given.repeats} |")
    print("|---|--:|--:|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
