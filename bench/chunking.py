"""Six chunkings of long pages, measured alike: what more context does to recall and to evidence_density.

    python -m bench.chunking [--claims N] [--budgets 150 600 2400] [--work DIR] [--out FILE]

WiCE (dev): each claim of Wikipedia is a question whose evidence are sentences of the page that it cites; the corpus is
all the pages, which have 1,000 words in the median. One retriever (BM25) and one budget of words for all chunkings, so
that only the cut differs. Labels are spans of the pages, so every chunking is measured against the same truth.
CHUNKING_DATA names the folder of the data sets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.page import put_out

from ragassay import benchmark
from ragassay.assay import Frozen, Plan, freeze_corpus, measure, perform, seal
from ragassay.cli.workspace import Workspace, cases_of, open_workspace, read_documents
from ragassay.corpus.words import words
from ragassay.records.case import Case
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.text import instant
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.pipeline.parts import LexicalRetriever
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.run.systems.pipeline.system import PipelineSystem

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("CHUNKING_DATA", ROOT.parent / "shared" / "data"))
AS_OF, TOP_K = "2026-06-01", 100
CHUNKINGS: dict[str, dict[str, Any]] = {
    "60 words": {"chunker": "tokens", "size": 60, "overlap": 0},
    "120 words, 20 shared": {"chunker": "tokens", "size": 120, "overlap": 20},
    "240 words, 40 shared": {"chunker": "tokens", "size": 240, "overlap": 40},
    "480 words, 80 shared": {"chunker": "tokens", "size": 480, "overlap": 80},
    "lines up to 160 words": {"chunker": "markdown", "size": 160, "overlap": 0},
    "5 sentences, every 3": {"chunker": "sentences", "window": 5, "stride": 3, "longest": 80},
}
COLUMNS = {
    "page recall@1": ("recall(rel=2,unit=document)@1", "dedup"),
    "page recall@5": ("recall(rel=2,unit=document)@5", "dedup"),
    "evidence recall@5": ("recall(rel=2)@5", "dedup"),
    "fact_coverage": ("fact_coverage", "context"),
    "context recall": ("context_recall(rel=2)", None),
    "evidence_density": ("evidence_density(rel=2)", None),
    "pages in context": ("unique_parents", None),
    "context words": ("context_tokens", None),
}
SETTINGS = """[corpus]
documents = "documents.jsonl"
name = "wice"

[benchmark]
cases = "cases.jsonl"
name = "wice"
version = "1"
completeness = "partial"

[system]
kind = "reference"

[run]
as_of = "2026-06-01"
"""
PROVENANCE = {"kind": "imported", "by": "WiCE annotators", "rubric": "sentences that support the claim"}


def converted(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The page of a claim as a document, a sentence a line; the claim as a case if it is supported at least in part."""
    name = f"wice-{row['meta']['id']}"
    text = "\n".join(row["evidence"])
    page = {"document_id": name, "text": text, "tenants": ["*"], "metadata": {"source": "wice"}}
    sets = [list(dict.fromkeys(one)) for one in row["supporting_sentences"] if one]
    sets = [[number for number in one if row["evidence"][number].strip()] for one in sets]
    sets = [one for one in sets if one]
    if not sets or row["label"] == "not_supported":
        return page, None
    starts, at = [], 0
    for sentence in row["evidence"]:
        starts.append(at)
        at += len(sentence) + 1
    alone = {one[0] for one in sets if len(one) == 1}
    evidence = [
        {
            "id": f"s{number}", "document_id": name, "start": starts[number],
            "end": starts[number] + len(row["evidence"][number]), "grade": 3 if number in alone else 2,
            "provenance": PROVENANCE,
        }
        for number in sorted({number for one in sets for number in one})
    ]  # fmt: skip
    case = {
        "query_id": name, "query": f"{row['meta']['claim_title']}: {row['claim']}", "class": "answerable",
        "evidence": evidence, "slice": [f"label={row['label']}"],
        "facts": [{"id": "claim", "any_of": [[f"s{number}" for number in one] for one in sets]}],
    }  # fmt: skip
    return page, case


class World(NamedTuple):
    """The pages and the claims."""

    workspace: Workspace
    documents: list[Any]
    claims: int
    of: int


def world_of(folder: Path, most: int | None) -> World:
    """All pages, and the claims that have support; every n-th of these if that is asked for."""
    rows = [json.loads(line) for line in (DATA / "wice" / "claim_dev.jsonl").read_text("utf-8").splitlines()]
    made = [converted(row) for row in rows]
    cases = [case for _, case in made if case is not None]
    kept = min(most or len(cases), len(cases))
    chosen = [cases[number * len(cases) // kept] for number in range(kept)]
    for name, lines in (("documents.jsonl", [page for page, _ in made]), ("cases.jsonl", chosen)):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    (folder / "ragassay.toml").write_text(SETTINGS, "utf-8")
    workspace = open_workspace(folder / "ragassay.toml")
    return World(workspace, list(read_documents(workspace)), kept, len(rows))


def ask(world: World, frozen: Frozen, built: Any, index: Index, budget: int, name: str) -> list[Estimate]:
    """One chunking with one budget: seal, run, score."""
    settings = {"name": name, "retrievers": [{"kind": "lexical"}], "context": {"tokens": budget}}
    system = PipelineSystem(
        frozen.documents,
        frozen.passages,
        pipeline_settings(settings),
        retrievers=[LexicalRetriever(index)],
        index=index,
    )
    plan = Plan(
        as_of=AS_OF, name=name, top_k=TOP_K, max_error_rate=0.0, concurrency=1,
        measures=tuple(dict.fromkeys(spelled for spelled, _ in COLUMNS.values())),
    )  # fmt: skip
    store = world.workspace.store
    sealed = seal(store, plan, frozen, built, system.identity)
    _, digest = asyncio.run(perform(store, plan, sealed, system))
    table = store.get_record(ScoreTable, measure(store, digest, sealed.protocol.scoring, name=name))
    return list(store.get_lines(Estimate, table.estimates))


def value(estimates: Sequence[Estimate], column: str) -> str:
    """One cell: a mean over all claims with its interval."""
    spelled, step = COLUMNS[column]
    found = [
        one for one in estimates
        if one.measure == spelled and one.population.slice is None and one.aggregation == "macro"
        and (step is None or one.step == step)
    ]  # fmt: skip
    if not found or found[0].value is None:
        return "-"
    one = found[0]
    if column in ("pages in context", "context words"):
        return f"{one.value:,.1f}" if column == "pages in context" else f"{one.value:,.0f}"
    digits = 4 if column == "evidence_density" else 3
    between = f" ({one.interval.low:.{digits - 1}f} to {one.interval.high:.{digits - 1}f})" if one.interval else ""
    return f"{one.value:.{digits}f}{between}"


def whole(frozen: Frozen, cases: Sequence[Case]) -> str:
    """The share of evidence sentences that some one passage holds whole: what the cut alone leaves possible."""
    places: dict[str, list[tuple[int, int]]] = {}
    for passage in frozen.passages:
        for span in passage.sources:
            places.setdefault(str(span.document_id), []).append((span.start, span.end))
    spans = [(str(one.document_id), one.start, one.end) for case in cases for one in case.evidence or ()]
    held = sum(any(a <= start and end <= b for a, b in places[document]) for document, start, end in spans)
    return f"{held / len(spans):.1%}"


def report(world: World, budgets: Sequence[int], fixed: int) -> Iterator[str]:
    """All tables, in Markdown."""
    store = world.workspace.store
    cuts: list[str] = []
    at_fixed: list[str] = []
    more: list[str] = []
    for name, cut in CHUNKINGS.items():
        began = time.perf_counter()
        spelled = name.replace(" ", "-").replace(",", "")
        frozen = freeze_corpus(store, world.documents, name=spelled, **cut)
        lines = list(cases_of(world.workspace, frozen.documents))
        built = benchmark.build(
            store, lines, frozen.corpus, frozen.documents, name="wice", version="1", completeness="partial",
            as_of=instant(AS_OF),
        )  # fmt: skip
        cases = list(benchmark.load(store, built.benchmark))
        sizes = [len(words(one.text)) for one in frozen.passages]
        cuts.append(
            f"| {name} | {len(sizes):,} | {statistics.median(sizes):.0f} | {max(sizes)} | {whole(frozen, cases)} |"
        )
        index = Index(frozen.documents, frozen.passages)
        for budget in budgets:
            found = ask(world, frozen, built, index, budget, f"{spelled}-{budget}")
            if budget == fixed:
                at_fixed.append(f"| {name} | {' | '.join(value(found, one) for one in COLUMNS)} |")
            cells = (value(found, one) for one in ("fact_coverage", "context recall", "evidence_density"))
            more.append(f"| {name} | {budget:,} | {value(found, 'context words')} | {' | '.join(cells)} |")
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    pages = [len(words(one.text)) for one in world.documents]
    size = f"{statistics.median(pages):,.0f} words in the median and {max(pages):,} at most"
    yield f"{world.claims} claims with support (of {world.of}), {len(pages)} pages of {size}."
    yield f"BM25, {TOP_K} items; the context takes what fits into its budget, best first."
    yield from (
        "",
        "**What the cut makes of the pages.** *Whole*: evidence sentences that one passage holds whole.",
        "",
    )
    yield from ("| chunking | passages | median words | most | whole |", "|---|--:|--:|--:|--:|", *cuts, "")
    yield from (f"**One budget, {fixed:,} words.**", "")
    yield from (f"| chunking | {' | '.join(COLUMNS)} |", "|---|" + "--:|" * len(COLUMNS), *at_fixed, "")
    yield from ("**More context.**", "")
    yield "| chunking | budget | words used | fact_coverage | context recall | evidence_density |"
    yield from ("|---|--:|--:|--:|--:|--:|", *more)


def main() -> int:
    """The tables, printed and, with --out, written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=int, help="at most so many; all if left out")
    parser.add_argument("--budgets", type=int, nargs="+", default=[150, 600, 2400])
    parser.add_argument("--work", type=Path, help="a folder to work in, so that a run that was stopped goes on")
    parser.add_argument("--out", type=Path, help="a Markdown file; what stands above its line `<!-- tables -->` stays")
    given = parser.parse_args()
    if not (DATA / "wice").is_dir():
        print(f"no folder wice in {DATA}: CHUNKING_DATA names the folder of the data sets", file=sys.stderr)
        return 1
    fixed = 600 if 600 in given.budgets else given.budgets[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.work or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        lines = list(report(world_of(folder, given.claims), given.budgets, fixed))
    put_out(lines, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
