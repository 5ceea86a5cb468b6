"""What may be declared of the steps of a pipeline that make lists: retrievers to context. Ranks nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ragassay.records.base import Record
from ragassay.records.document import Name
from ragassay.run.systems.pipeline.settings_models import NotNegative, Part, Some, Text, Transport

Embedding = Text | dict[str, Any]
"""A kind, or { kind = "...", ... } with its settings; see `embedders.embedder`."""


class Lexical(Record, frozen=True, kw_only=True):
    """BM25."""

    name: Name = "lexical"
    candidates: Some | None = None
    """How many it finds; the top_k of the run if left out."""
    k1: NotNegative = 1.5
    b: Part = 0.75


class Postgres(Record, frozen=True, kw_only=True):
    """Vectors in PostgreSQL with pgvector instead of in memory; see `postgres.PostgresIndex`."""

    connection: dict[str, str]
    """{ env = "NAME" }: the variable that holds the connection string, which may hold a password."""
    schema: Text = "ragassay"
    hnsw: bool | dict[str, int] = False
    """Approximate; { m = 16, ef_construction = 64, ef_search = 40 }, or true for these."""


class Vector(Record, frozen=True, kw_only=True):
    """Dense retrieval: cosine of vectors."""

    embedder: Embedding
    query_embedder: Embedding | None = None
    """Where questions are embedded in another way, with a prefix of their own say."""
    name: Name = "vector"
    candidates: Some | None = None
    postgres: Postgres | None = None
    """Left out: all vectors in memory, compared exactly."""


class Fusion(Record, frozen=True, kw_only=True):
    """Several lists to one."""

    method: Literal["rrf", "weighted"] = "rrf"
    k: Annotated[int, Meta(ge=0)] = 60
    """Of rrf."""
    weights: tuple[NotNegative, ...] | None = None
    """One a retriever, in their order; 1 each if left out."""
    normalise: Literal["minmax", "zscore", "none"] = "minmax"
    """Of weighted."""
    top_n: Some | None = None
    """How many are handed on; all if left out."""


class RerankMaxSim(Record, frozen=True, kw_only=True):
    """Late interaction over vectors of word pieces."""

    embedder: Embedding = "minilm"
    candidates: Some | None = None
    """How many of the list are read; all if left out. What is not read is not handed on."""
    top_n: Some | None = None
    """How many are handed on; the top_k of the run if left out."""


class RerankEndpoint(Transport, frozen=True, kw_only=True):
    """A `/rerank` endpoint in the form of Cohere and Jina."""

    url: Text
    model: Text
    revision: str = ""
    options: dict[str, Any] = {}
    candidates: Some | None = None
    top_n: Some | None = None


class RerankFunction(Record, frozen=True, kw_only=True):
    """A function `score(query, texts) -> scores` of a module beside the settings."""

    callable: Text
    candidates: Some | None = None
    top_n: Some | None = None


Rerank = RerankMaxSim | RerankEndpoint | RerankFunction


class Context(Record, frozen=True, kw_only=True):
    """What generation sees."""

    tokens: Some = 600
    """Budget in word tokens; a text that does not fit is left out, and the next one is tried."""
    top: Some | None = None
    order: Literal["rank", "reverse", "edges"] = "rank"
    """rank: best first; reverse: best last; edges: best ones first and last, the others between them."""
    item: Text = "[$n] $text"
    separator: str = "\n\n"
