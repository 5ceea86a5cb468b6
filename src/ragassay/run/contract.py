"""What is asked of a system and what it may answer, with its JSON Schema. Asks nothing and resolves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from msgspec import Meta

from ragassay.records.base import Digest, Instant, Metadata, QueryId, Record
from ragassay.records.case import Outcome, Principal, Turn
from ragassay.records.document import Count, Name, Transform
from ragassay.records.index import IndexArtefact
from ragassay.records.protocol import SystemIdentity
from ragassay.records.schema import schema_of
from ragassay.records.trace import Attempt, Cost, Failure, RetrievalVerdict, StepKind, Trace, Usage


class Request(Record, frozen=True, kw_only=True):
    """One question. `credential` is handed to the system and never stored anywhere."""

    query_id: QueryId
    query: str
    as_of: Instant
    top_k: Annotated[int, Meta(ge=1)]
    history: tuple[Turn, ...] = ()
    principal: Principal | None = None
    credential: str | None = None
    seed: Count | None = None
    """The seed of the run plus the repeat: repeats differ, reruns do not."""

    def __repr__(self) -> str:
        return f"Request(query_id={self.query_id!r}, query={self.query!r})"


class ContextItem(Record, frozen=True, kw_only=True):
    """One entry of a list. Its place in the list is its rank; what it does not say is missing."""

    id: str | None = None
    """Of a passage or a document of the corpus, or the system's own."""
    text: str | None = None
    score: float | None = None
    document_id: str | None = None
    version: str | None = None
    start: Count | None = None
    """Code points in the stored text of the document; goes with `end`."""
    end: Count | None = None
    transform: Transform | None = None
    tenant: str | None = None
    access: str | None = None


Entry = str | ContextItem
"""A string is an id or a text, whichever the corpus knows."""


class SpanIn(Record, frozen=True, kw_only=True):
    """A place in a document."""

    document_id: str
    start: Count
    end: Count
    version: str | None = None


class CitationIn(Record, frozen=True, kw_only=True):
    """A mark in the answer and what it points to: an item of a list, or a place."""

    item_id: str | None = None
    source: SpanIn | None = None
    answer_start: Count | None = None
    answer_end: Count | None = None


class AnswerIn(Record, frozen=True, kw_only=True):
    """The answer, where it is more than a text."""

    text: str
    outcome: Outcome | None = None
    citations: tuple[str | CitationIn, ...] | None = None
    confidence: float | None = None
    finish_reason: str | None = None


class DecisionIn(Record, frozen=True, kw_only=True):
    """Something that a step decided."""

    action: Name
    item_id: str | None = None
    reason: str | None = None


class FailureIn(Record, frozen=True, kw_only=True):
    """An error that the system reports about itself or about one step."""

    code: str | None = None
    detail: str | None = None


class StepIn(Record, frozen=True, kw_only=True):
    """One step of the system, with its measurements."""

    kind: StepKind
    name: Name | None = None
    """Stable across questions; absent: the kind."""
    step_id: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    """Absent: `s1`, `s2`, ... in the order given."""
    parents: tuple[str, ...] | None = None
    iteration: Count | None = None
    query_text: str | None = None
    filter: Metadata | None = None
    principal_seen: Principal | None = None
    credential_status: str | None = None
    decisions: tuple[DecisionIn, ...] = ()
    items_in: tuple[Entry, ...] | None = None
    items_out: tuple[Entry, ...] | None = None
    score_direction: Literal["higher", "lower"] | None = None
    error: FailureIn | None = None
    started_ms: float | None = None
    duration_ms: float | None = None
    calls: Count | None = None
    cache_hits: Count | None = None
    usage: Usage | None = None
    """Tokens of this step's own calls."""


class Response(Record, frozen=True, kw_only=True):
    """What a system says about one question. Nothing is required; what is absent is *missing*, never empty.

    The least is a list of ids, or an answer with `contexts`. Fields that are not declared here are ignored.
    """

    answer: str | AnswerIn | None = None
    contexts: tuple[Entry, ...] | None = None
    """What generation saw, in its order. `[]` says that it saw nothing; absent says nothing."""
    outcome: Outcome | None = None
    citations: tuple[str | CitationIn, ...] | None = None
    confidence: float | None = None
    finish_reason: str | None = None
    steps: tuple[StepIn, ...] = ()
    retrieval: RetrievalVerdict | None = None
    versions: dict[str, str] = {}
    """For example {"model": "m-2026-07"}: more than one value in a run makes the run mixed."""
    usage: Usage | None = None
    cost: Cost | None = None
    first_token_ms: float | None = None
    calls: Count | None = None
    cache_hits: Count | None = None
    error: FailureIn | None = None
    """The system could not answer and says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an adapter hands back: the value that came, or why none came, and what was measured on the way."""

    value: Any = None
    """Anything; `normalise` makes a trace of it."""
    failure: Failure | None = None
    """Of the whole question. Of a `value` beside it, `steps` are kept: what was finished before."""
    detail: str | None = None
    """Free text about the failure; a measurement, never content."""
    attempts: tuple[Attempt, ...] = ()
    raw: bytes | None = None
    """The bytes that came, before redaction."""
    endpoint: str | None = None
    host: str | None = None
    request_id: str | None = None
    latency_ms: float | None = None
    """Of the last attempt; absent: the run measures it around `ask`."""
    timed: bool = True
    """False: a cache that another system or run filled saved time, so that the question has no latency."""
    stored: Mapping[int, Trace] | None = None
    """Instead of all else: what was kept of this question earlier, by repeat, with the measurements made then."""
    texts: Mapping[Digest, str] = field(default_factory=dict)
    """With `stored`: texts of its items by digest, where they are known."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that were sent and must not be stored if they come back."""


class Circumstances(NamedTuple):
    """What a system says of itself that changes no identity: kept in the envelope of a run and shown in its report."""

    indexes: tuple[IndexArtefact, ...] = ()
    notes: tuple[str, ...] = ()
    """Whole sentences."""


class System(Protocol):
    """What every adapter is. `identity` can be read before anything is asked.

    `ask` may return a `Reply`, or anything that `Response` allows. An optional method `attach(Conditions)` is called
    once before the first question, and an optional `async aclose()` after the last one. An optional
    `circumstances() -> Circumstances` is asked once after the last question.
    """

    @property
    def identity(self) -> SystemIdentity:
        """Everything of the system that can change a score."""
        ...

    async def ask(self, request: Request) -> Any:
        """The reply to one question; raising is a failure of this question only."""
        ...


def system_schema() -> dict[str, Any]:
    """JSON Schemas of both directions: {"request": ..., "response": ...}; snake_case, camelCase is read too.

    The response is a list of entries (ids, texts, items) or an object in which undeclared fields are ignored.
    """
    response = schema_of(Response)
    definitions = response.pop("$defs")
    root = response.pop("$ref")
    dialect = response.pop("$schema")
    entries = definitions["Response"]["properties"]["contexts"]
    for part in definitions.values():
        part.pop("additionalProperties", None)
    return {
        "$schema": dialect,
        "title": "ragassay system contract",
        "request": schema_of(Request),
        "response": {
            "$schema": dialect,
            "anyOf": [{"type": "array", "items": entries["items"]}, {"$ref": root}],
            "$defs": definitions,
        },
    }


def request_value(request: Request, *, with_credential: bool = False) -> dict[str, Any]:
    """A request as plain JSON values; the credential only where it is asked for."""
    import msgspec

    value: Mapping[str, Any] = msgspec.to_builtins(request)
    return {key: one for key, one in value.items() if with_credential or key != "credential"}
