"""What a retrieval hands on to a model: its list, its steps, the texts that may be shown. Asks no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.corpus import Resolver
from ragassay.records.base import Instant
from ragassay.records.document import Document, Passage
from ragassay.records.trace import PASS_KINDS, SOURCE_KINDS, Failure, Item, Trace
from ragassay.run.contract import ContextItem, Entry, Reply, Request, Response, StepIn
from ragassay.run.normalise import item_id
from ragassay.run.reading import InvalidResponseError
from ragassay.run.systems.prompt import Text

_KEPT_KINDS = SOURCE_KINDS | PASS_KINDS | {"rewrite", "embed"}


class Texts:
    """What may be shown of an entry: its own text, else that of the place, passage or document that it names."""

    def __init__(
        self, documents: Iterable[Document] = (), passages: Iterable[Passage] = (), *, as_of: Instant | None = None
    ) -> None:
        kept, cut = list(documents), list(passages)
        self._resolver = Resolver(kept, cut, as_of=as_of)
        self._documents = {(one.document_id, one.version): one.text for one in kept}
        self._passages = {str(one.passage_id): one.text for one in cut}

    def of(self, entry: Entry) -> Text:
        """The text of one entry, or none."""
        if isinstance(entry, str):
            return Text(item_id(entry), self._named(entry) or entry)
        text = entry.text
        if text is None and entry.document_id is not None:
            text = self._document(entry.document_id, entry.version, entry.start, entry.end)
        if text is None and entry.id is not None:
            text = self._named(entry.id)
        return Text(item_id(entry), text, entry.document_id, entry.score)

    def _named(self, name: str) -> str | None:
        return self._passages.get(name) or self._document(name, None, None, None)

    def _document(self, document_id: str, version: str | None, start: int | None, end: int | None) -> str | None:
        sources = self._resolver.by_document(document_id, version).sources
        text = self._documents.get((sources[0].document_id, sources[0].version)) if sources else None
        if text is None or start is None or end is None:
            return text
        return text[start:end] if start <= end <= len(text) else None


def list_of(response: Response) -> tuple[tuple[StepIn, ...], tuple[Entry, ...]]:
    """The steps of a retrieval that carry items, and the list that may be shown: its contexts, else its last list."""
    steps = tuple(one for one in response.steps if one.kind in _KEPT_KINDS)
    known = {one.step_id for one in steps}
    steps = tuple(
        one
        if one.parents is None
        else msgspec.structs.replace(one, parents=tuple(i for i in one.parents if i in known))
        for one in steps
    )
    if response.contexts is not None:
        if not steps:
            steps = (StepIn(step_id="retrieval", kind="fetch", name="retrieval", items_out=response.contexts),)
        return steps, response.contexts
    lists = [one.items_out for one in steps if one.items_out is not None]
    if not lists:
        raise InvalidResponseError("contexts", "the retrieval names neither contexts nor a list of items")
    return steps, lists[-1]


def of_stored(stored: Mapping[int, Trace], request: Request) -> tuple[Response, Reply | None]:
    """The first stored trace of a question as a response, or why it cannot be used."""
    if not stored:
        failure = Failure(cause="invalid_response", code="retrieval.not_stored")
        return Response(), Reply(failure=failure, detail="retrieval: nothing is stored for this question")
    trace = stored[min(stored)]
    if trace.content.failure is not None:
        return Response(), Reply(failure=trace.content.failure, detail="retrieval: this failure is stored")
    if trace.content.as_of != request.as_of:
        failure = Failure(cause="invalid_response", code="retrieval.as_of")
        detail = f"retrieval: stored as of {trace.content.as_of}; this run asks as of {request.as_of}"
        return Response(), Reply(failure=failure, detail=detail)
    return _of_trace(trace), None


def _of_trace(trace: Trace) -> Response:
    """A stored trace as a response: its lists by place."""
    content = trace.content
    steps = tuple(
        StepIn(
            kind=one.kind, name=one.name, step_id=one.step_id, parents=one.parents, query_text=one.query_text,
            items_out=_entries(one.items_out), score_direction=one.score_direction,
        )
        for one in content.steps
    )  # fmt: skip
    return Response(steps=steps, contexts=_entries(content.context))


def _entries(items: Sequence[Item] | None) -> tuple[Entry, ...] | None:
    return None if items is None else tuple(map(_entry, items))


def _entry(item: Item) -> ContextItem:
    if not item.sources:
        return ContextItem(id=item.item_id, score=item.score)
    if item.passage_id is not None:
        return ContextItem(id=item.passage_id, score=item.score)
    first = item.sources[0]
    place = {} if item.whole_document else {"start": first.start, "end": first.end, "transform": item.transform}
    return ContextItem(
        id=item.item_id,
        score=item.score,
        document_id=first.document_id,
        version=first.version,
        **place,  # type: ignore[arg-type]
    )
