"""Small real runs of a hybrid pipeline in one store, each with one thing or another changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from ragassay import benchmark, corpus, run, score, seal
from ragassay.compare.changes import artefacts, losses, steps
from ragassay.records.base import Digest
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.comparison import Change
from ragassay.records.document import Document
from ragassay.records.policy import Policy
from ragassay.records.protocol import Run, Scoring, Stated, Subject
from ragassay.records.provenance import Provenance
from ragassay.records.score import ScoreTable
from ragassay.redact import Redaction
from ragassay.run.systems.pipeline.dense import DenseIndex
from ragassay.run.systems.pipeline.parts import LexicalRetriever, VectorRetriever, make_retriever
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.store import Store

TEXTS = {
    "rain": "Rain falls when warm air rises and cools. The water in it condenses into drops.",
    "snow": "Snow falls when the air is below zero degrees. Flakes form around dust.",
    "wind": "Wind is air that moves from high pressure to low pressure. It cools the skin.",
    "tea": "Green tea is steeped at eighty degrees for two minutes. Black tea takes four.",
    "bread": "Bread rises because yeast makes carbon dioxide from sugar. Salt slows it.",
    "salt": "Salt is won from the sea by letting water dry in the sun. It keeps food.",
}
QUESTIONS = {
    "q-bread": ("Why does bread rise?", "bread", "Bread rises because yeast makes carbon dioxide from sugar."),
    "q-rain": ("When does rain fall?", "rain", "Rain falls when warm air rises and cools."),
    "q-salt": ("How is salt won from the sea?", "salt", "Salt is won from the sea by letting water dry in the sun."),
    "q-tea": ("How long is green tea steeped?", "tea", "Green tea is steeped at eighty degrees for two minutes."),
}
SYSTEM: dict[str, Any] = {
    "retrievers": [
        {"kind": "lexical", "candidates": 4},
        {"kind": "vector", "embedder": "letters", "candidates": 4},
    ],
    "context": {"tokens": 60},
}
SUBJECT: dict[str, Any] = {
    "as_of": "2026-08-01T00:00:00Z", "seed": 7, "repeats": 1, "top_k": 5, "history": "gold", "timeout_s": 30.0,
    "redaction": Redaction().digest,
}  # fmt: skip
SCORING = Scoring(
    measures=("fact_coverage", "recall(rel=2)@5"), measure_versions={"fact_coverage": "1", "recall": "1"}, hold=1.0,
    tokenizer="word/1", normalisation="squad", level=0.95, ties="list_order",
)  # fmt: skip


class Letters:
    """An embedder that counts letters: the same text has the same vector, on every machine."""

    dimensions = 26

    def __init__(self, identity: str = "letters/1", turn: int = 1) -> None:
        self.identity, self._turn = identity, turn

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions))
        for number, text in enumerate(texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    rows[number, (ord(letter) - 97) * self._turn % 26] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)


def document(document_id: str, text: str, **more: Any) -> Document:
    given = {"version": "1", "parser": "text/1", "normaliser": "none/1", "tenants": ("*",), **more}
    return Document(document_id=document_id, text=text, **given)  # type: ignore[arg-type]


def documents(**edits: str | None) -> list[Document]:
    """The six documents, some of them with another text, more of them, or some left out (None)."""
    return [document(name, text) for name, text in {**TEXTS, **edits}.items() if text is not None]


def lines(*, facts: bool = True, questions: dict[str, tuple[str, str, str]] | None = None) -> list[CaseLine]:
    made = []
    for query_id, (query, document_id, quote) in (questions or QUESTIONS).items():
        case: dict[str, Any] = {
            "query_id": query_id, "query": query,
            "evidence": [{"id": "e", "document_id": document_id, "quote": quote, "grade": 3}],
        }  # fmt: skip
        if facts:
            case["facts"] = [{"id": "f", "any_of": [["e"]]}]
        made.append(parse_value(CaseLine, case))
    return made


class Made(NamedTuple):
    """A run, its score table, and where they are."""

    run: Run
    run_digest: Digest
    table: ScoreTable
    table_digest: Digest


class Changed(NamedTuple):
    """All that is said about two runs."""

    changes: tuple[Change, ...]
    steps: dict[str, Any]
    losses: list[Any]

    @property
    def named(self) -> list[tuple[str, str]]:
        return [(one.artefact, one.name) for one in self.changes]


class Bench:
    """One store and runs in it."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder / "store", create=True)
        self._number = 0

    def run(
        self,
        *,
        texts: Sequence[Document] | None = None,
        cut: dict[str, Any] | None = None,
        cases: Sequence[CaseLine] | None = None,
        system: dict[str, Any] | None = None,
        embedder: Any = None,
        reranker: Any = None,
        indexed: Sequence[Document] | None = None,
        adapter: Callable[..., Any] | None = None,
        wrap: Callable[[Any], Any] | None = None,
        scoring: Scoring = SCORING,
        policy: Policy | None = None,
        told: Provenance | None = None,
        **subject: Any,
    ) -> Made:
        """A finished and scored run. `indexed`: what the vector index was built on, instead of the corpus."""
        self._number += 1
        name = f"run-{self._number}"
        frozen, digest = corpus.build(self.store, list(texts or documents()), name=name, provenance=told)
        kept = corpus.load(self.store, frozen)
        how = {"chunker": "sentences", "window": 1, "stride": 1, **(cut or {})}
        how = {key: value for key, value in how.items() if value is not None}
        cutting, _ = corpus.segment(self.store, frozen, kept, name=name, **how)
        passages = corpus.load_passages(self.store, cutting)
        built = benchmark.build(self.store, list(cases or lines()), frozen, kept, name="small", version="1")
        made = (adapter or self._pipeline)(kept, passages, system or SYSTEM, embedder, reranker, indexed, how)
        sealed = seal.freeze(
            self.store,
            name=name,
            subject=Subject(
                corpus=frozen.digest, segmentation=Stated(value=cutting.identity()),
                benchmark=built.benchmark.identity(), system=made.identity, **{**SUBJECT, **subject},
            ),
            scoring=scoring,
            policy=policy or Policy(name="none"),
            objects={"corpus": digest, "benchmark": built.digest},
        )  # fmt: skip
        asked = wrap(made) if wrap is not None else made
        found, run_digest = asyncio.run(
            run.execute(self.store, sealed.digest, asked, name=name, signals=False, error_budget=4)
        )
        table, table_digest = score.table(self.store, run_digest, sealed.protocol.scoring)
        return Made(found, run_digest, table, table_digest)

    def _pipeline(
        self, kept: Any, passages: Any, settings: Any, embedder: Any, reranker: Any, indexed: Any, how: Any
    ) -> PipelineSystem:
        made = pipeline_settings(settings)
        own = passages
        if indexed is not None:
            frozen, _ = corpus.build(self.store, list(indexed), name="indexed")
            other, _ = corpus.segment(self.store, frozen, list(indexed), name="indexed", **how)
            own = corpus.load_passages(self.store, other)
        retrievers: list[Any] = []
        for one in made.retrievers:
            if isinstance(one, type(made.retrievers[0])) and not hasattr(one, "embedder"):
                retrievers.append(make_retriever(one, kept, passages))
            else:
                retrievers.append(VectorRetriever(DenseIndex(indexed or kept, own, embedder or Letters())))
        assert isinstance(retrievers[0], LexicalRetriever)
        return PipelineSystem(kept, passages, made, retrievers=retrievers, reranker=reranker)

    def between(self, a: Made, b: Made, *, scores: bool = False) -> Changed:
        """Everything that is said about two runs."""
        changes = artefacts(self.store, a.run, b.run, scores=(a.table, b.table) if scores else None)
        found = steps(self.store, a.run, b.run, changes)
        return Changed(changes, {one.step: one for one in found}, list(losses(self.store, a.table, b.table, changes)))


def system(**more: Any) -> dict[str, Any]:
    """The settings of the pipeline with some keys of the first level changed."""
    return {**SYSTEM, **more}


def other(one: Document, **more: Any) -> Document:
    return replace(one, **more)
