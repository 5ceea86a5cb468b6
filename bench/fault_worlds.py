"""Data sets in which every fault has something to strike, and runs over them, kept in a folder. Judges none."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.pipelines import DATA, ROOT
from msgspec.structs import replace

from ragassay import benchmark
from ragassay.assay import Frozen, Plan, freeze_corpus, measure, perform, seal
from ragassay.benchmark import Built
from ragassay.cli.workspace import cases_of, open_workspace, read_documents
from ragassay.errors import StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import canonical_bytes, parse_value
from ragassay.records.case import CaseLine
from ragassay.records.policy import Policy
from ragassay.records.text import instant
from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions
from ragassay.run.systems.pipeline.parts import make_embedder, make_reranker
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.run.systems.pipeline.settings_lists import RerankMaxSim
from ragassay.run.systems.pipeline.vectors import VectorCache
from ragassay.store import Store
from ragassay.trials.faults import WHERE, SilentSystem, Site, ground
from ragassay.trials.faults.chance import place

AS_OF = "2026-06-01"
SETS = {"clapnq": {"size": 80, "overlap": 20}, "musique": {"size": 200, "overlap": 40}}
OTHERS = 3
"""Every third question is one of the others, on which strengths are fixed."""
TOP_K, FUSED, CANDIDATES, READ = 20, 20, 20, 10
HYBRID: dict[str, Any] = {
    "name": "hybrid",
    "retrievers": [
        {"kind": "lexical", "candidates": CANDIDATES},
        {"kind": "vector", "embedder": "minilm", "candidates": CANDIDATES},
    ],
    "fusion": {"top_n": FUSED},
    "where": dict(WHERE),
}
RERANKED = {
    **HYBRID,
    "name": "hybrid + rerank",
    "rerank": {"kind": "maxsim", "embedder": "minilm", "candidates": READ, "top_n": TOP_K},
}
MEASURES = (
    "recall(rel=2)@20", "ndcg@5", "survival", "duplicate_rate", "overlap_ratio", "stale_in_context", "false_refusal",
    "unsupported_answer", "error_rate", "judged@20",
)  # fmt: skip


class World(NamedTuple):
    """A data set, frozen; questions on which strengths are fixed, and those that the gate reads."""

    name: str
    store: Store
    frozen: Frozen
    lines: dict[str, list[CaseLine]]
    """`other` and `gate`."""
    built: dict[str, Built]
    sites: dict[str, Site]
    """`hybrid`, and `rerank` with a reranker."""
    policy: Policy


def world(name: str, folder: Path, policy: Policy, most: int | None = None) -> World:
    """One data set by the example that everybody may run; `most`: questions of each part, for a quick look."""
    out = folder / name
    if not (out / "ragassay.toml").exists():
        script = ROOT / "examples" / f"{name}.py"
        subprocess.run([sys.executable, str(script), str(DATA / name), str(out)], check=True, capture_output=True)
    workspace = open_workspace(out / "ragassay.toml")
    read = list(read_documents(workspace))
    versions = {one.document_id: one.version for one in read}
    lines = [_versioned(one, versions) for one in cases_of(workspace, read)]
    parts = {"other": lines[::OTHERS], "gate": [one for place, one in enumerate(lines) if place % OTHERS]}
    if most is not None:
        parts = {key: one[:: max(1, len(one) // most)][:most] for key, one in parts.items()}
    frozen = freeze_corpus(workspace.store, ground(read), name=name, chunker="tokens", **SETS[name])
    built = {key: _built(workspace.store, frozen, one, f"{name}-{key}") for key, one in parts.items()}
    return World(name, workspace.store, frozen, parts, built, _sites(frozen, name, folder), policy)


class Remembering:
    """A reranker that scores the same pair once."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.identity = inner, inner.identity
        self._known: dict[tuple[str, str], float] = {}

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """As in `Reranker`."""
        new = [one for one in dict.fromkeys(texts) if (query, one) not in self._known]
        if new:
            self._known |= {(query, one): score for one, score in zip(new, self._inner.score(query, new), strict=True)}
        return [self._known[query, one] for one in texts]


def _sites(frozen: Frozen, name: str, folder: Path) -> dict[str, Site]:
    cache = VectorCache.open(folder / "vectors.sqlite")
    made: dict[str, Site] = {}
    for key, settings in (("hybrid", HYBRID), ("rerank", RERANKED)):
        declared = pipeline_settings(settings)
        reranker = Remembering(make_reranker(declared.rerank)) if isinstance(declared.rerank, RerankMaxSim) else None
        made[key] = Site(
            frozen.documents, frozen.passages, declared, make_embedder("minilm", folder=None, field="embedder"),
            SETS[name], cache, reranker,
        )  # fmt: skip
    return made


def _versioned(line: CaseLine, versions: dict[str, str]) -> CaseLine:
    """Every label with the version that it is of, so that it never means another wording."""
    if line.evidence is None:
        return line
    return replace(
        line, evidence=tuple(replace(one, version=versions.get(one.document_id, "1")) for one in line.evidence)
    )


def _built(store: Store, frozen: Frozen, lines: Sequence[CaseLine], name: str) -> Built:
    return benchmark.build(
        store, lines, frozen.corpus, frozen.documents, name=name, version="1", completeness="partial",
        as_of=instant(AS_OF),
    )  # fmt: skip


def scores_of(
    world: World, part: str, name: str, made: Callable[[], Any], frozen: Callable[[], Frozen] | None = None
) -> Digest:
    """The score table of one system on one part of the questions; one that is in the store is not made again.

    `frozen`: what is sealed instead of the world's own corpus.
    """
    spelled = f"{world.name}-{part}-{name}".replace(" ", "_").replace("'", "")
    try:
        return world.store.ref(f"scores/{spelled}")
    except StoreError:
        pass
    cut, built = world.frozen, world.built[part]
    if frozen is not None:
        cut = frozen()
        lines = [
            parse_value(CaseLine, json.loads(canonical_bytes(one)))
            for one in benchmark.load(world.store, built.benchmark)
        ]
        built = _built(world.store, cut, lines, f"{world.name}-{part}")
    system = made()
    plan = Plan(
        as_of=AS_OF, name=spelled, top_k=TOP_K, max_error_rate=0.0, concurrency=1, timeout_s=600.0, measures=MEASURES,
        policy=world.policy,
    )  # fmt: skip
    sealed = seal(world.store, plan, cut, built, system.identity)
    _, digest = asyncio.run(perform(world.store, plan, sealed, system))
    return measure(world.store, digest, sealed.protocol.scoring, name=spelled)


class BySeed:
    """The same fault at several seeds: each question meets one of them."""

    def __init__(self, systems: Sequence[SilentSystem]) -> None:
        self.identity, self._systems = systems[0].identity, systems

    def attach(self, conditions: Conditions) -> None:
        """Hand them on."""
        for one in self._systems:
            one.attach(conditions)

    async def ask(self, request: Request) -> Reply:
        """By the question's id."""
        return await self._systems[int(place(0, request.query_id) * len(self._systems))].ask(request)
