"""From what a system returned to a trace: items resolved, steps in one form. Never raises for bad data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec

from ragassay.corpus import Resolver
from ragassay.corpus.resolve import Resolved
from ragassay.records.base import Digest, StepId
from ragassay.records.canonical import digest_text
from ragassay.records.document import DocumentRef, Span
from ragassay.records.trace import (
    Answer,
    Citation,
    Cost,
    Failure,
    Item,
    Step,
    StepDecision,
    StepTiming,
    TraceContent,
    Unresolved,
    Usage,
)
from ragassay.run.contract import (
    AnswerIn,
    CitationIn,
    ContextItem,
    DecisionIn,
    Entry,
    FailureIn,
    Request,
    Response,
    SpanIn,
    StepIn,
)
from ragassay.run.reading import InvalidResponseError, Reading, read_response

CONTEXT_STEP = "context"
"""Name of the one step of a system that shows none."""
_LONGEST_ID = 256


class Reported(NamedTuple):
    """Measurements that the system reported itself; envelope, not content."""

    steps: tuple[StepTiming, ...] = ()
    usage: Usage | None = None
    cost: Cost | None = None
    first_token_ms: float | None = None
    calls: int | None = None
    cache_hits: int | None = None


class Normalised(NamedTuple):
    """A trace's content, the texts that only the system has, and what it measured."""

    content: TraceContent
    texts: dict[Digest, str]
    reported: Reported = Reported()
    detail: str | None = None
    """What was wrong, in words, if the content is a failure."""
    lossy: bool = False


def normalise(
    value: Any, request: Request, resolver: Resolver, *, repeat: int = 0, redaction: Digest | None = None
) -> Normalised:
    """The trace of one question from whatever a system returned.

    Anything that is not a response gives a content with failure invalid_response, whose code names the field.
    Lists keep their order and their duplicates; rank is the place in the list.
    """
    frame = TraceContent(
        query_id=request.query_id, repeat=repeat, as_of=request.as_of, seed=request.seed, redaction=redaction
    )
    try:
        reading = read_response(value)
        return _Builder(reading, resolver).build(frame)
    except InvalidResponseError as wrong:
        failure = Failure(cause="invalid_response", code=wrong.field[:_LONGEST_ID])
        return Normalised(msgspec.structs.replace(frame, failure=failure), {}, detail=str(wrong))
    except ValueError as wrong:  # a record refused what its parts say together
        failure = Failure(cause="invalid_response", code="response")
        return Normalised(msgspec.structs.replace(frame, failure=failure), {}, detail=str(wrong))


def failed(failure: Failure, request: Request, *, repeat: int = 0, redaction: Digest | None = None) -> TraceContent:
    """The content of a question to which no response came."""
    return TraceContent(
        query_id=request.query_id,
        repeat=repeat,
        as_of=request.as_of,
        seed=request.seed,
        redaction=redaction,
        failure=failure,
    )


class _Builder:
    """One response on its way to a trace; collects the texts that the corpus does not have."""

    def __init__(self, reading: Reading, resolver: Resolver) -> None:
        self.reading = reading
        self.resolver = resolver
        self.texts: dict[Digest, str] = {}

    def build(self, frame: TraceContent) -> Normalised:
        response = self.reading.response
        context = self.items(response.contexts, "contexts")
        steps = tuple(self.step(one, number) for number, one in enumerate(response.steps))
        if not steps and context is not None:
            steps = (
                Step(step_id=StepId(CONTEXT_STEP), name=CONTEXT_STEP, kind="fetch", parents=(), items_out=context),
            )
        _check_order(steps)
        content = msgspec.structs.replace(
            frame,
            steps=steps,
            context=context,
            answer=self.answer(response),
            retrieval=response.retrieval,
            versions=dict(sorted(response.versions.items())),
            failure=_failure(response.error),
        )
        detail = response.error.detail if response.error else None
        return Normalised(content, self.texts, _reported(response, steps), detail, bool(self.reading.lossy))

    def step(self, given: StepIn, number: int) -> Step:
        path = f"steps[{number}]"
        step_id = StepId(given.step_id or f"s{number + 1}")
        decisions = [_decision(one) for one in given.decisions]
        decisions += [
            StepDecision(action="score_dropped", item_id=None, reason="not a finite number")
            for one in sorted(self.reading.lossy)
            if one.startswith(path + ".items_out[") and one.endswith(".score")
        ]
        return Step(
            step_id=step_id,
            name=given.name or given.kind,
            kind=given.kind,
            parents=None if given.parents is None else tuple(StepId(one) for one in given.parents),
            iteration=given.iteration,
            query_text=given.query_text,
            filter=given.filter,
            principal_seen=given.principal_seen,
            credential_status=given.credential_status,
            decisions=tuple(decisions),
            items_in=self.items(given.items_in, path + ".items_in"),
            items_out=self.items(given.items_out, path + ".items_out"),
            score_direction=given.score_direction,
            error=_failure(given.error, step_id),
        )

    def items(self, entries: Iterable[Entry] | None, path: str) -> tuple[Item, ...] | None:
        if entries is None:
            return None
        return tuple(self.item(one, rank, f"{path}[{rank - 1}]") for rank, one in enumerate(entries, 1))

    def item(self, entry: Entry, rank: int, path: str) -> Item:
        lossy = bool(self.reading.lossy) and self.reading.lost_at(path)
        if isinstance(entry, str):
            found, text = _from_string(self.resolver, entry)
            given = ContextItem()
        else:
            found, text, given = _from_item(self.resolver, entry), entry.text, entry
        if given.start is not None and given.end is not None and given.start > given.end:
            raise InvalidResponseError(f"{path}.end", "before start")
        digest = None
        if text is not None and (found.passage_id is None or found.resolution == "aligned"):
            digest = digest_text(text)
            self.texts[digest] = text
        return Item(
            item_id=item_id(entry),
            rank=rank,
            resolution=found.resolution,
            transform=found.transform,
            sources=found.sources,
            among=found.among,
            whole_document=found.whole_document,
            passage_id=found.passage_id,
            text_digest=digest,
            alignment=found.score,
            reason=cast("Unresolved", found.reason) if found.reason else None,
            score=given.score,
            tenant=given.tenant,
            access=given.access,
            lossy=lossy,
        )

    def answer(self, response: Response) -> Answer | None:
        given = response.answer
        if given is None:
            return None
        if isinstance(given, str):
            given = AnswerIn(text=given)
        outcome = given.outcome or response.outcome
        marks = given.citations if given.citations is not None else response.citations
        place = "answer.citations" if given.citations is not None else "citations"
        return Answer(
            text=given.text,
            outcome=outcome,
            outcome_source="system" if outcome else None,
            citations=None if marks is None else tuple(self.citation(one, n, place) for n, one in enumerate(marks)),
            confidence=given.confidence if given.confidence is not None else response.confidence,
            finish_reason=given.finish_reason or response.finish_reason,
            lossy=self.reading.lost_at("answer"),
        )

    def citation(self, mark: str | CitationIn, number: int, place: str) -> Citation:
        path = f"{place}[{number}]"
        if isinstance(mark, str):
            return Citation(item_id=item_id(mark))
        if (mark.answer_start is None) != (mark.answer_end is None):
            raise InvalidResponseError(path, "answer_start and answer_end go together")
        source = self.span(mark.source, path) if mark.source is not None and not mark.item_id else None
        if source is None and not mark.item_id:
            raise InvalidResponseError(path, "neither item_id nor source")
        return Citation(
            answer_start=mark.answer_start,
            answer_end=mark.answer_end,
            item_id=item_id(mark.item_id) if mark.item_id else None,
            source=source,
        )

    def span(self, source: SpanIn, path: str) -> Span:
        document = self.resolver.by_document(source.document_id, source.version)
        version = source.version or (document.sources[0].version if document.sources else "unknown")
        if source.start > source.end:
            raise InvalidResponseError(f"{path}.source.end", "before start")
        return Span(document_id=source.document_id, version=version, start=source.start, end=source.end)  # type: ignore[arg-type]


def item_id(entry: Entry) -> str:
    """The id under which an entry is cited: its own, else its place, else one made from its text."""
    if isinstance(entry, str):
        named = entry if len(entry) <= _LONGEST_ID and not any(char.isspace() for char in entry) else ""
        text: str | None = entry
    else:
        place = f"{entry.document_id}:{entry.start}-{entry.end}" if entry.start is not None else entry.document_id
        named, text = entry.id or place or "", entry.text
    if named and len(named) <= _LONGEST_ID:
        return named
    return f"text-{digest_text(named or text or '').removeprefix('sha256:')[:16]}" if named or text else "no-text"


def _from_string(resolver: Resolver, entry: str) -> tuple[Resolved, str | None]:
    """What a bare string means: a passage's id, a document's id, else a text."""
    for lookup in (resolver.by_passage, resolver.by_document):
        found = lookup(entry)
        if found.sources:
            return found, None
    return resolver.by_text(entry), entry


def _from_item(resolver: Resolver, item: ContextItem) -> Resolved:
    """Declared source, then id, then text. A text that is not its declared source's counts for no span of it."""
    if item.document_id is not None:
        found = resolver.by_document(item.document_id, item.version)
        if found.sources and item.start is not None and item.end is not None:
            whole = found.sources[0]
            if item.start <= item.end <= whole.end:
                span = msgspec.structs.replace(whole, start=item.start, end=item.end)
                return _at_place(resolver, item, span)
        elif found.sources:
            return _with_text(resolver, item, found)
        elif item.text and (versions := resolver.versions(item.document_id, item.version)):
            near = resolver.by_text(item.text, within=versions)
            if near.placed:
                return near
    if item.id is not None:
        for lookup in (resolver.by_passage, resolver.by_document):
            found = lookup(item.id)
            if found.sources:
                return _with_text(resolver, item, found)
    if item.text is None:
        return resolver.by_document(item.document_id or item.id or "", item.version)
    return resolver.by_text(item.text)


def _at_place(resolver: Resolver, item: ContextItem, span: Span) -> Resolved:
    """A declared place, unless the text that came with it stands elsewhere in the document, or nowhere in it.

    Offsets of a splitter count from another text than the stored one as soon as anything was cleaned on the way. A
    declared transform (decorated, derived) says that the text is not that of the place.
    """
    declared = Resolved((span,), "declared", item.transform or "slice")
    if not item.text or item.transform not in (None, "slice") or resolver.holds(span, item.text):
        return declared
    near = resolver.by_text(item.text, within=[DocumentRef(document_id=span.document_id, version=span.version)])
    return near if near.placed else declared._replace(transform="derived")


def _with_text(resolver: Resolver, item: ContextItem, declared: Resolved) -> Resolved:
    """A declared source together with the text that came: all of it, a part of it, or something else."""
    if not item.text:
        return declared if item.text is None else Resolved((), "unresolved", "derived", reason="empty")
    documents = [DocumentRef(document_id=one.document_id, version=one.version) for one in declared.sources]
    near = resolver.by_text(item.text, within=documents)
    if declared.passage_id is not None and near.passage_id == declared.passage_id and near.resolution == "exact":
        return declared
    if declared.passage_id is not None and declared.sources[0] in near.among and near.resolution == "exact":
        return declared  # its text stands elsewhere too, but the id says where it is from
    if near.placed:
        return near
    transform = item.transform or "derived"
    return declared._replace(transform=transform, passage_id=None)


def _decision(given: DecisionIn) -> StepDecision:
    return StepDecision(
        action=given.action, item_id=item_id(given.item_id) if given.item_id else None, reason=given.reason
    )


def _failure(given: FailureIn | None, step: StepId | None = None) -> Failure | None:
    return None if given is None else Failure(cause="exception", step=step, code=given.code or "reported")


def _check_order(steps: tuple[Step, ...]) -> None:
    seen: set[str] = set()
    for number, step in enumerate(steps):
        if step.step_id in seen:
            raise InvalidResponseError(f"steps[{number}].step_id", f"{step.step_id!r} stands twice")
        late = set(step.parents or ()) - seen
        if late:
            raise InvalidResponseError(f"steps[{number}].parents", f"not before it: {', '.join(sorted(late))}")
        seen.add(step.step_id)


def _reported(response: Response, steps: tuple[Step, ...]) -> Reported:
    timings = tuple(
        StepTiming(
            step_id=step.step_id,
            started_ms=given.started_ms,
            duration_ms=given.duration_ms,
            calls=given.calls,
            cache_hits=given.cache_hits,
            usage=given.usage,
        )
        for step, given in zip(steps, response.steps, strict=False)
        if any(
            one is not None for one in (given.started_ms, given.duration_ms, given.calls, given.cache_hits, given.usage)
        )
    )
    return Reported(
        timings, response.usage, response.cost, response.first_token_ms, response.calls, response.cache_hits
    )
