"""What a system did for one question, as two records: what happened, and what was measured. Judges nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, Instant, Metadata, PassageId, QueryId, Record, StepId, require
from ragassay.records.case import Outcome, Principal
from ragassay.records.document import Count, Name, Rank, Span, Transform

StepKind = Literal[
    "rewrite", "embed", "lexical", "vector", "fuse", "rerank", "fetch", "dedup", "assemble", "generate", "cite",
    "guard", "tool",
]  # fmt: skip
SOURCE_KINDS: frozenset[str] = frozenset({"lexical", "vector", "fetch", "tool"})
"""Steps that add items and cannot lose any."""
PASS_KINDS: frozenset[str] = frozenset({"fuse", "rerank", "dedup", "assemble", "guard", "cite"})
"""Steps that hand on items and can lose some. All other kinds carry no items."""
Resolution = Literal["declared", "exact", "aligned", "unresolved"]
Unresolved = Literal["empty", "not_found", "unknown_id", "ambiguous", "ambiguous_version", "too_long"]
"""Why: no text came; the text stands nowhere; nothing has this id; the text stands in several places that are told
apart; the id means several versions; the text is too long to be looked for in pieces."""


class Item(Record, frozen=True, kw_only=True):
    """One entry of a list that a step took in or gave out."""

    item_id: Name
    rank: Rank
    resolution: Resolution
    transform: Transform
    sources: tuple[Span, ...] = ()
    """Empty exactly when the item is unresolved, or stands in several places (`among`)."""
    among: tuple[Span, ...] = ()
    """The places in which its text stands alike, where nothing says which of them it was taken from."""
    whole_document: bool = False
    """The sources name documents without spans that were looked up (TREC runs, lists of ids)."""
    passage_id: PassageId | None = None
    text_digest: Digest | None = None
    alignment: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The share of its characters that stand in the sources, white space and recognised decoration aside."""
    reason: Unresolved | None = None
    """Why it is unresolved, where that is known."""
    score: float | None = None
    tenant: str | None = None
    access: str | None = None
    """What the system reported about access; never our finding."""
    lossy: bool = False

    def __post_init__(self) -> None:
        places = self.sources or self.among
        require((self.resolution == "unresolved") == (not places), "places are absent exactly when unresolved")
        require(not (self.sources and self.among), "an item has either sources or places among which it is one")
        require(len(self.among) != 1, "one place is a source")
        require(not self.among or self.resolution in ("exact", "aligned"), "a declared place is a source")
        require((self.resolution == "aligned") == (self.alignment is not None), "alignment goes with aligned")
        require(self.reason is None or self.resolution == "unresolved", "a reason goes with unresolved")

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two items the same: their sources, else their text, else their id.

        A derived item and a whole document are never the same as a slice: they do not show what a slice shows, so that
        one of them that stands first must not hide it.
        """
        if self.sources:
            shows = "derived" if self.transform == "derived" else "whole" if self.whole_document else "sources"
            return (shows, *sorted((s.document_id, s.version, s.start, s.end) for s in self.sources))
        return ("text", self.text_digest) if self.text_digest else ("id", self.item_id)


class StepDecision(Record, frozen=True, kw_only=True):
    """Something that a step decided about an item or the question."""

    action: Name
    """For example allow, deny, drop, keep, truncate, abstain."""
    item_id: Name | None = None
    reason: str | None = None


class Failure(Record, frozen=True, kw_only=True):
    """Why something did not come. The free-text detail is a measurement, so that it never moves a digest."""

    cause: Literal[
        "timeout", "connection", "http_status", "rate_limited", "invalid_response", "exception", "process", "guard"
    ]
    step: StepId | None = None
    code: str | None = None
    """A stable word: the HTTP status, the exception's type, the field that was wrong."""


class Step(Record, frozen=True, kw_only=True):
    """One step. `items_out` absent means that the step did not say (transparent); `[]` means none."""

    step_id: Annotated[StepId, Meta(min_length=1, max_length=256)]
    name: Name
    """Stable across traces; estimates group by it."""
    kind: StepKind
    parents: tuple[StepId, ...] | None = None
    """Absent: inferred by rule, and the report says so."""
    iteration: Count | None = None
    query_text: str | None = None
    filter: Metadata | None = None
    principal_seen: Principal | None = None
    credential_status: str | None = None
    decisions: tuple[StepDecision, ...] = ()
    items_in: tuple[Item, ...] | None = None
    items_out: tuple[Item, ...] | None = None
    score_direction: Literal["higher", "lower"] | None = None
    """Which way scores of this step are better; one list has one direction."""
    error: Failure | None = None


class Citation(Record, frozen=True, kw_only=True):
    """A mark in the answer and what it points to."""

    answer_start: Count | None = None
    answer_end: Count | None = None
    item_id: Name | None = None
    source: Span | None = None

    def __post_init__(self) -> None:
        require((self.item_id is None) != (self.source is None), "a citation has either item_id or source")
        require((self.answer_start is None) == (self.answer_end is None), "answer_start and answer_end go together")


class Answer(Record, frozen=True, kw_only=True):
    """What the system said. An empty text is missing(empty_answer), never abstained."""

    text: str
    outcome: Outcome | None = None
    outcome_source: Literal["system", "rule", "judge"] | None = None
    citations: tuple[Citation, ...] | None = None
    """Absent: the system does not report citations."""
    confidence: float | None = None
    finish_reason: str | None = None
    lossy: bool = False

    def __post_init__(self) -> None:
        require((self.outcome is None) == (self.outcome_source is None), "outcome and outcome_source go together")


class RetrievalVerdict(Record, frozen=True, kw_only=True):
    """The retriever's own word on whether it found enough, apart from the generator's abstention."""

    sufficient: bool | None = None
    confidence: float | None = None


class TraceContent(Record, frozen=True, kw_only=True):
    """What happened for one (query_id, repeat). Its digest is what *identical rerun* compares."""

    query_id: QueryId
    repeat: Count
    as_of: Instant
    seed: Count | None = None
    steps: tuple[Step, ...] = ()
    context: tuple[Item, ...] | None = None
    """What generation saw; absent, it is the output of the last assemble step."""
    answer: Answer | None = None
    retrieval: RetrievalVerdict | None = None
    versions: dict[str, str] = {}
    """Only from response fields that the mapping names."""
    failure: Failure | None = None
    redaction: Digest | None = None
    """The transform that ran over everything stored here."""

    def __post_init__(self) -> None:
        ids = [step.step_id for step in self.steps]
        require(len(ids) == len(set(ids)), "two steps have one step_id")
        seen: set[str] = set()
        for step in self.steps:
            unknown = set(step.parents or ()) - seen
            require(
                not unknown, f"step {step.step_id} names a parent that is not before it: {', '.join(sorted(unknown))}"
            )
            seen.add(step.step_id)


class Usage(Record, frozen=True, kw_only=True):
    """Tokens as the system reported them."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None


class StepTiming(Record, frozen=True, kw_only=True):
    """Measurements of one step."""

    step_id: StepId
    started_ms: float | None = None
    duration_ms: float | None = None
    calls: Count | None = None
    cache_hits: Count | None = None
    usage: Usage | None = None


class Attempt(Record, frozen=True, kw_only=True):
    """One try at a question, kept also when a later one succeeded."""

    duration_ms: float
    failure: Failure | None = None
    waited_ms: float | None = None
    """How long the run waited before this attempt (back-off, Retry-After)."""


class Cost(Record, frozen=True, kw_only=True):
    """Money as the system reported it."""

    amount: Annotated[float, Meta(ge=0)]
    currency: Name


class Measurements(Record, frozen=True, kw_only=True):
    """What was measured around one trace; sealed beside it, never part of the content digest."""

    query_id: QueryId
    repeat: Count
    latency_ms: float | None = None
    """Of the last attempt, as seen by the caller; with failure timeout it is right-censored."""
    first_token_ms: float | None = None
    steps: tuple[StepTiming, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    usage: Usage | None = None
    cost: Cost | None = None
    calls: Count | None = None
    cache_hits: Count | None = None
    endpoint: str | None = None
    host: str | None = None
    raw: Digest | None = None
    """The response's bytes after redaction, as a blob."""
    request_id: str | None = None
    failure_detail: str | None = None
    redactions: dict[str, int] = {}
    completed: Count | None = None
    """Order of completion within the run."""


class Trace(Record, frozen=True, kw_only=True):
    """Both parts of one trace, as they travel between rooms and as a trace file holds them."""

    content: TraceContent
    measurements: Measurements

    def __post_init__(self) -> None:
        same = (self.content.query_id, self.content.repeat) == (self.measurements.query_id, self.measurements.repeat)
        require(same, "content and measurements are of different questions")
