"""What may stand in `[system]` with `kind = "pipeline"`, read strictly. Builds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ragassay.errors import RagassayError, RecordError, UsageError
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


class RuleRewrite(Record, frozen=True, kw_only=True):
    """The last user turns before the question."""

    history_turns: Annotated[int, Meta(ge=0)] = 1


class ModelRewrite(Transport, frozen=True, kw_only=True):
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


class Extractive(Record, frozen=True, kw_only=True):
    """Sentences of the context that cover the question best, copied and cited."""

    max_sentences: Some = 2


class Chat(Transport, frozen=True, kw_only=True):
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
    form: Literal["text", "json"] = "text"
    """json: the endpoint is asked, by a JSON Schema, for an object of answer, citations and outcome."""
    longest: Some = 600
    """Characters of an answer in the form json."""

    def __post_init__(self) -> None:
        require(self.prompt is None or self.prompt_file is None, "give either prompt or prompt_file")
        require(all(one.strip() for one in self.markers), "a marker is empty")
        said = self.form == "json" and bool(self.markers or self.outcome)
        require(not said, "in the form json the reply says its outcome itself: no markers, no outcome")


class AgenticRule(Record, frozen=True, kw_only=True):
    """Retrieve again for what the best sentence names and the question does not; see `agentic`."""

    rounds: Annotated[int, Meta(ge=1, le=3)] = 3
    """Retrievals at most."""
    read: Some = 5
    """How many of the best items of all rounds so far are read."""
    terms: Some = 3
    """Names (or else words) that a follow-up query takes from a sentence, at most."""
    enough: Part = 1.0
    """No further round where a sentence that was read covers this part of the question (by idf mass)."""
    join: Literal["turns", "rrf"] = "turns"
    """How the rounds become one list: the first of each, then the second of each; or reciprocal rank fusion."""
    k: Annotated[int, Meta(ge=0)] = 60
    """Of rrf."""


class AgenticModel(Transport, frozen=True, kw_only=True):
    """A chat model writes the follow-up query from what was found, or says that it is enough."""

    url: Text
    model: Text
    rounds: Annotated[int, Meta(ge=1, le=3)] = 3
    read: Some = 5
    prompt: str | None = None
    """A template with $question and $found; a standard one if left out."""
    stop: Text = "ENOUGH"
    """A reply that begins with this (case and marks aside) ends the search."""
    join: Literal["turns", "rrf"] = "turns"
    k: Annotated[int, Meta(ge=0)] = 60
    options: dict[str, Any] = {}
    send_seed: bool = True


class Plain(Record, frozen=True, kw_only=True):
    """What of a pipeline is of one kind only."""

    name: Name = "pipeline"
    where: dict[str, Scalar] = {}
    """Metadata that every document of a passage must have; who may see it and what is valid is asked always."""
    fusion: Fusion = Fusion()
    dedup: bool = True
    context: Context = Context()
    evidence_floor: Part | None = None
    """The least part of the question (by idf mass) that the best sentence of the context must cover; 0.4 if extractive,
    0 otherwise, if left out."""
    insufficient: str = ABSTENTION
    """What is said where the evidence is not enough."""


class PipelineSettings(Plain, frozen=True, kw_only=True):
    """All of `[system]` but its kind: rewrite, retrievers, fusion, rerank, dedup, context, generate."""

    retrievers: tuple[Lexical | Vector, ...]
    rewrite: RuleRewrite | ModelRewrite = RuleRewrite()
    agentic: AgenticRule | AgenticModel | None = None
    """Left out: one retrieval."""
    rerank: Rerank | None = None
    generate: Extractive | Chat = Extractive()

    @property
    def floor(self) -> float:
        """The evidence floor in force."""
        usual = 0.4 if isinstance(self.generate, Extractive) else 0.0
        return usual if self.evidence_floor is None else float(self.evidence_floor)


def pipeline_settings(given: Mapping[str, Any]) -> PipelineSettings:
    """The settings of a section without its `kind`; UsageError names the key that is wrong."""
    rest = dict(given)
    try:
        parts: dict[str, Any] = {
            key: _of_kind(rest.pop(key), key, kinds) for key, kinds in _KINDS.items() if key in rest
        }
        parts["retrievers"] = _retrievers(rest.pop("retrievers", None))
        if unknown := sorted(rest.keys() - set(Plain.__struct_fields__)):
            known = ", ".join(PipelineSettings.__struct_fields__)
            raise UsageError(f"unknown field {unknown[0]!r}", hint=f"known fields: {known}")
        plain = parse_value(Plain, rest)
        made = PipelineSettings(**{key: getattr(plain, key) for key in Plain.__struct_fields__}, **parts)
    except RecordError as error:
        hint = _HINT if "ragassay schema" in error.hint else error.hint
        raise UsageError(error.message, field=error.field, hint=hint) from None
    _check(made)
    return made


def _retrievers(given: Any) -> tuple[Lexical | Vector, ...]:
    hint = '[[system.retrievers]] with kind = "lexical" or "vector"'
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= _MOST_RETRIEVERS:
        raise UsageError(f"a pipeline has 1 to {_MOST_RETRIEVERS} retrievers", field="retrievers", hint=hint)
    return tuple(_of_kind(one, f"retrievers[{number}]", _RETRIEVERS) for number, one in enumerate(given))


def _of_kind(given: Any, field: str, kinds: Mapping[str, Any]) -> Any:
    """One part, whose `kind` says which keys it may have."""
    known = ", ".join(kinds)
    if not isinstance(given, Mapping):
        raise UsageError(f"{field} is not a table", field=field, hint=f'{{ kind = "..." }}; kinds: {known}')
    rest = dict(given)
    kind = rest.pop("kind", None)
    if kind not in kinds:
        said = "there is no kind" if kind is None else f"there is no kind {kind!r}"
        raise UsageError(said, field=f"{field}.kind" if kind is not None else field, hint=f"kinds: {known}")
    try:
        return parse_value(kinds[kind], rest)
    except RagassayError as error:
        error.field = f"{field}.{error.field}" if error.field else field
        raise


def _check(made: PipelineSettings) -> None:
    names = [one.name for one in made.retrievers]
    twice = next((number for number, one in enumerate(names) if one in (*names[:number], *_TAKEN)), None)
    if twice is not None:
        raise UsageError(
            f"two steps are called {names[twice]!r}",
            field=f"retrievers[{twice}].name",
            hint="give each retriever a name of its own",
        )
    weights = made.fusion.weights
    if weights is not None and (len(weights) != len(names) or not any(weights)):
        raise UsageError(
            f"{len(weights)} weights for {len(names)} retrievers, one of them above 0",
            field="fusion.weights",
            hint="one weight a retriever, in their order",
        )
    if not made.insufficient.strip():
        raise UsageError("the sentence is empty", field="insufficient", hint="an empty answer is not an abstention")


_TAKEN = ("rewrite", "follow", "join", "fuse", "rerank", "dedup", "assemble", "generate")
_MOST_RETRIEVERS = 8
_HINT = "see *A pipeline of real parts* in docs/systems.md"
_RETRIEVERS: dict[str, type[Record]] = {"lexical": Lexical, "vector": Vector}
_KINDS: dict[str, dict[str, type[Record]]] = {
    "rewrite": {"rule": RuleRewrite, "model": ModelRewrite},
    "agentic": {"rule": AgenticRule, "model": AgenticModel},
    "rerank": {"maxsim": RerankMaxSim, "endpoint": RerankEndpoint, "python": RerankFunction},
    "generate": {"extractive": Extractive, "chat": Chat},
}
