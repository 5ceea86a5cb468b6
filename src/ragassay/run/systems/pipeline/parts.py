"""The parts of a pipeline, made from its settings: retrievers and reranker. Puts nothing together and asks nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from ragassay.errors import RagassayError, UsageError
from ragassay.records.base import Instant
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.pace import Conditions
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.opening import Hits, Where
from ragassay.run.systems.pipeline.dense import DenseIndex, VectorIndex
from ragassay.run.systems.pipeline.embedders import TextEmbedder, embedder
from ragassay.run.systems.pipeline.rerank import FunctionReranker, MaxSim, Reranker
from ragassay.run.systems.pipeline.settings_lists import (
    Embedding,
    Lexical,
    Rerank,
    RerankEndpoint,
    RerankMaxSim,
    Vector,
)
from ragassay.run.systems.pipeline.vectors import VectorCache


class Found(NamedTuple):
    """A list, and what finding it cost."""

    hits: Hits
    calls: int = 0
    cache_hits: int = 0
    timed: bool = True
    """False: a cache that other systems or runs filled saved time, so that what passed is not what finding takes."""


class Retriever(Protocol):
    """What finds passages: numbers in passage order, higher scores better, filters applied before ranking.

    `attach(Conditions)` and `close()` are called if it has them; `local` says that it may be called in the loop of
    the run, since it neither blocks nor computes for long.
    """

    @property
    def kind(self) -> Literal["lexical", "vector"]:
        """Of its steps."""
        ...

    @property
    def local(self) -> bool:
        """As declared above."""
        ...

    @property
    def identity(self) -> str:
        """Everything that changes a ranking."""
        ...

    def find(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None
    ) -> Found:
        """The `top_k` best open passages."""
        ...


class LexicalRetriever:
    """BM25 over an `Index`."""

    kind: Literal["lexical"] = "lexical"
    local = True

    def __init__(self, index: Index) -> None:
        self.index = index
        self.identity = index.identity

    def attach(self, conditions: Conditions) -> None:  # noqa: ARG002  only embedders want them
        """Build the index."""
        self.index.warm()

    def find(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None
    ) -> Found:
        """As in `Retriever`."""
        return Found(self.index.search(query, top_k=top_k, principal=principal, as_of=as_of, where=where))


class VectorRetriever:
    """Cosine over a `VectorIndex`."""

    kind: Literal["vector"] = "vector"
    local = False

    def __init__(self, index: VectorIndex) -> None:
        self.index = index
        self.identity = str(getattr(index, "identity", ""))

    def attach(self, conditions: Conditions) -> None:
        """Build the index, with the conditions of the run for embedders that send requests."""
        self.index.attach(conditions)
        self.index.warm()

    def find(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None
    ) -> Found:
        """As in `Retriever`; a question whose vector was in the cache is a hit, and not timed."""
        got = self.index.embed(query)
        hits = self.index.search_vector(got.vectors[0], top_k=top_k, principal=principal, as_of=as_of, where=where)
        return Found(hits, got.calls, got.hits, timed=not got.hits)

    def check_secrets(self) -> None:
        """UsageError if a secret that an embedder or a database needs is not set."""
        self.index.check_secrets()

    def close(self) -> None:
        """Close what the index holds open."""
        self.index.close()


class LaterCache:
    """The cache of vectors in a file that is opened, and made, when the first text is embedded."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._cache: VectorCache | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.opened, name)

    @property
    def opened(self) -> VectorCache:
        """The cache."""
        if self._cache is None:
            self._cache = VectorCache.of_store(self._store)
        return self._cache


def make_retriever(
    settings: Lexical | Vector,
    documents: Iterable[Document],
    passages: Sequence[Passage],
    *,
    cache: VectorCache | LaterCache | None = None,
    folder: Path | None = None,
    field: str = "retrievers",
) -> LexicalRetriever | VectorRetriever:
    """The retriever that a part of the settings means; nothing is embedded yet. UsageError names the key in `field`."""
    if isinstance(settings, Lexical):
        return LexicalRetriever(Index(documents, passages, k1=settings.k1, b=settings.b))
    texts = make_embedder(settings.embedder, folder=folder, field=f"{field}.embedder")
    asked = settings.query_embedder
    more: dict[str, Any] = {"cache": cache, "clock": SYSTEM_CLOCK}
    if asked is not None:
        more["query_embedder"] = make_embedder(asked, folder=folder, field=f"{field}.query_embedder")
    place = f"{field}.query_embedder" if settings.postgres is None else f"{field}.postgres"
    try:
        if settings.postgres is None:
            return _measured(DenseIndex(documents, passages, texts, **more))
        from ragassay.run.systems.pipeline.postgres import PostgresIndex

        where = settings.postgres
        more |= {"connection": where.connection, "schema": where.schema, "hnsw": where.hnsw}
        return _measured(PostgresIndex(documents, passages, texts, **more))
    except RagassayError as error:
        raise _within(error, place)  # noqa: B904  the same error, with its place


def _measured(index: VectorIndex) -> VectorRetriever:
    """A retriever that embeds each question when it is asked, so that its time is that of a new question."""
    index.keeps_questions = False
    return VectorRetriever(index)


def make_reranker(settings: Rerank, *, folder: Path | None = None, field: str = "rerank") -> Reranker:
    """The reranker that a part of the settings means."""
    if isinstance(settings, RerankMaxSim):
        return MaxSim(make_embedder(settings.embedder, folder=folder, field=f"{field}.embedder"))
    try:
        if isinstance(settings, RerankEndpoint):
            from ragassay.run.systems.pipeline.rerank_endpoint import EndpointReranker

            return EndpointReranker(
                settings.url, settings.model, revision=settings.revision, options=settings.options,
                **settings.transport(),
            )  # fmt: skip
        from ragassay.run.systems.python import load_callable

        function: Any = load_callable(settings.callable, folder=folder)
        return FunctionReranker(settings.callable, function)
    except RagassayError as error:
        raise _within(error, field)  # noqa: B904  the same error, with its place


def make_embedder(given: Embedding, *, folder: Path | None, field: str) -> TextEmbedder:
    """The embedder that a name, or a table with a `kind`, means."""
    rest: dict[str, Any] = {} if isinstance(given, str) else dict(given)
    kind = given if isinstance(given, str) else rest.pop("kind", None)
    try:
        if not isinstance(kind, str) or not kind:
            raise UsageError("the embedder needs its kind", field="kind", hint='embedder = { kind = "minilm" }')
        return embedder(kind, folder=folder, **rest)
    except RagassayError as error:
        raise _within(error, field)  # noqa: B904  the same error, with its place


def _within(error: RagassayError, field: str) -> RagassayError:
    """The error with its field below `field`."""
    inner = error.field
    last = field.rsplit(".", 1)[-1]
    error.field = field if not inner or inner == last else f"{field}.{inner}"
    return error


def tell_all(parts: Iterable[tuple[str, Any]], method: str, *given: Any) -> None:
    """Call a method of the parts that have it; an error of a part is about its key in [system]."""
    for place, one in parts:
        told = getattr(one, method, None)
        if not callable(told):
            continue
        try:
            told(*given)
        except RagassayError as error:
            if error.field:
                inner = error.field.removeprefix("system.").removeprefix(f"{place}.")
                error.field = f"system.{place}.{inner}"
            raise
