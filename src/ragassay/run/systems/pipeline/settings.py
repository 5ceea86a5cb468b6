"""What may stand in `[system]` with `kind = "pipeline"`, read strictly. Builds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ragassay.errors import RagassayError, UsageError
from ragassay.records.base import Record, Scalar, require
from ragassay.records.canonical import parse_value
from ragassay.records.case import Outcome
from ragassay.records.document import Name
from ragassay.run.systems.reference import ABSTENTION

Some = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[float, Meta(ge=0)]
Part = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(min_length=1)]
Embedding = Text | dict[str, Any]
"""A kind, or { kind = "...", ... } with its settings; see `embedders.embedder`."""


class Transport(Record, frozen=True, kw_only=True):
    """How an endpoint is reached, as in `kind = "http"`."""

    headers: dict[str, Any] = {}
    retries: Annotated[int, Meta(ge=0)] | None = None
    retry_on: tuple[str, ...] | None = None
    max_wait_s: NotNegative | None = None
    max_bytes: Some | None = None
    use_proxy_settings: bool | None = None
    endpoint: str | None = None

    def transport(self) -> dict[str, Any]:
        """What was declared of it."""
        named = {name: getattr(self, name) for name in Transport.__struct_fields__}
        return {name: value for name, value in named.items() if value is not None and value != {}}


class Lexical(Record, frozen=True, kw_only=True, tag_field="kind", tag="lexical"):
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


class Vector(Record, frozen=True, kw_only=True, tag_field="kind", tag="vector"):
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


class RerankMaxSim(Record, frozen=True, kw_only=True, tag_field="kind", tag="maxsim"):
    """Late interaction over vectors of word pieces."""

    embedder: Embedding = "minilm"
    candidates: Some | None = None
    """How many of the list are read; all if left out. What is not read is not handed on."""
    top_n: Some | None = None
    """How many are handed on; the top_k of the run if left out."""


class RerankEndpoint(Transport, frozen=True, kw_only=True, tag_field="kind", tag="endpoint"):
    """A `/rerank` endpoint in the form of Cohere and Jina."""

    url: Text
    model: Text
    revision: str = ""
    options: dict[str, Any] = {}
    candidates: Some | None = None
    top_n: Some | None = None


class RerankFunction(Record, frozen=True, kw_only=True, tag_field="kind", tag="python"):
    """A function `score(query, texts) -> scores` of a module beside the settings."""

    callable: Text
    candidates: Some | None = None
    top_n: Some | None = None


class RuleRewrite(Record, frozen=True, kw_only=True, tag_field="kind", tag="rule"):
    """The last user turns before the question."""

    history_turns: Annotated[int, Meta(ge=0)] = 1


class ModelRewrite(Transport, frozen=True, kw_only=True, tag_field="kind", tag="model"):
    """A chat model writes the query; what it writes is searched."""

    url: Text
    model: Text
    prompt: str | None = None
    """A template with $question and $history; a standard one if left out."""
    history_turns: Annotated[int, Meta(ge=0)] | None = None
    """The last turns (of both sides) that it sees; all if left out."""
    always: bool = False
    """Also where there is no history."""
    options: dict[str, Any] = {}
    send_seed: bool = True


class Context(Record, frozen=True, kw_only=True):
    """What generation sees."""

    tokens: Some = 600
    """Budget in word tokens; a text that does not fit is left out, and the next one is tried."""
    top: Some | None = None
    order: Literal["rank", "reverse", "edges"] = "rank"
    """rank: best first; reverse: best last; edges: best ones first and last, the others between them."""
    item: Text = "[$n] $text"
    separator: str = "\n\n"


class Extractive(Record, frozen=True, kw_only=True, tag_field="kind", tag="extractive"):
    """Sentences of the context that cover the question best, copied and cited."""

    max_sentences: Some = 2


class Chat(Transport, frozen=True, kw_only=True, tag_field="kind", tag="chat"):
    """An OpenAI-compatible chat endpoint."""

    url: Text
    model: Text
    prompt: str | None = None
    prompt_file: str | None = None
    engine: Literal["string", "jinja"] = "string"
    prompt_version: str = ""
    system_prompt: str = ""
    history_turns: Annotated[int, Meta(ge=0)] | None = None
    options: dict[str, Any] = {}
    stream: bool = False
    send_seed: bool = True
    citations: str | None = "[n]"
    """How an answer cites: `n` (its number in the context) or `id` between two marks; "" if it does not."""
    markers: dict[str, Outcome] = {}
    """What an answer begins with -> its outcome: { "NO ANSWER" = "abstained" }. The marker is taken off."""
    outcome: Outcome | None = None
    """Of an answer without a marker; left out: unknown, unless there are markers, then answered."""

    def __post_init__(self) -> None:
        require(self.prompt is None or self.prompt_file is None, "give either prompt or prompt_file")
        require(all(one.strip() for one in self.markers), "a marker is empty")


class PipelineSettings(Record, frozen=True, kw_only=True):
    """All of `[system]` but its kind: rewrite, retrievers, fusion, rerank, dedup, context, generate."""

    retrievers: Annotated[tuple[Lexical | Vector, ...], Meta(min_length=1, max_length=8)]
    name: Name = "pipeline"
    rewrite: RuleRewrite | ModelRewrite = RuleRewrite()
    where: dict[str, Scalar] = {}
    """Metadata that every document of a passage must have, beside who may see it and what is valid: all before ranking."""
    fusion: Fusion = Fusion()
    rerank: RerankMaxSim | RerankEndpoint | RerankFunction | None = None
    dedup: bool = True
    context: Context = Context()
    generate: Extractive | Chat = Extractive()
    evidence_floor: Part | None = None
    """The least part of the question (by idf mass) that the best sentence of the context must cover; 0.4 if extractive,
    0 otherwise, if left out."""
    insufficient: str = ABSTENTION
    """What is said where the evidence is not enough."""

    def __post_init__(self) -> None:
        names = [one.name for one in self.retrievers]
        twice = next((one for one in names if names.count(one) > 1 or one in _TAKEN), None)
        require(twice is None, f"two steps are called {twice!r}: give each retriever a name of its own")
        weights = self.fusion.weights
        require(weights is None or len(weights) == len(names), "fusion.weights: one weight for each retriever")
        require(weights is None or any(weights), "fusion.weights: one weight must be more than 0")
        require(bool(self.insufficient.strip()), "insufficient is empty: an empty answer is not an abstention")


_TAKEN = ("rewrite", "fuse", "rerank", "dedup", "assemble", "generate")


def pipeline_settings(given: Mapping[str, Any]) -> PipelineSettings:
    """The settings of a section without its `kind`; UsageError names the key that is wrong."""
    try:
        return parse_value(PipelineSettings, dict(given))
    except RagassayError as error:
        hint = "see *A pipeline of real parts* in docs/systems.md"
        raise UsageError(error.message, field=error.field, hint=hint) from None
