"""What a data set says that a system answered and retrieved, as traces. Reads no file and asks nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from ragassay.benchmark.outputs import Output, OutputContext
from ragassay.corpus import Resolver
from ragassay.records.base import Instant, QueryId, StepId
from ragassay.records.canonical import digest_text
from ragassay.records.document import DocumentRef, Span
from ragassay.records.trace import Answer, Item, Measurements, Step, Trace, TraceContent, Unresolved

STEP = "context"
LONGEST_ID = 256


def traces_of(outputs: Iterable[Output], resolver: Resolver, *, as_of: Instant, repeat: int = 0) -> list[Trace]:
    """One trace an output: an answer if there was one, and the contexts as what generation saw.

    A context is tied to the corpus by its id (of a passage or document) or else by its text; what stands nowhere is
    unresolved. Nothing was measured. Contexts that the data set does not speak of are missing; an empty list says that
    the system retrieved nothing.
    """
    return [_trace(one, resolver, as_of, repeat) for one in outputs]


def _trace(output: Output, resolver: Resolver, as_of: Instant, repeat: int) -> Trace:
    items = None
    if output.contexts is not None:
        items = tuple(_item(one, rank, resolver) for rank, one in enumerate(output.contexts, 1))
    steps: tuple[Step, ...] = ()
    if items is not None:
        steps = (Step(step_id=StepId(STEP), name=STEP, kind="fetch", parents=(), items_out=items),)
    content = TraceContent(
        query_id=QueryId(output.query_id),
        repeat=repeat,
        as_of=as_of,
        steps=steps,
        context=items,
        answer=None if output.answer is None else Answer(text=output.answer),
    )
    return Trace(content=content, measurements=Measurements(query_id=content.query_id, repeat=repeat))


def _item(one: OutputContext, rank: int, resolver: Resolver) -> Item:
    found = resolver.by_text(one.text or "")
    if one.id is not None and (one.text is None or not found.sources):
        for lookup in (resolver.by_passage, resolver.by_document):
            named = lookup(one.id)
            if one.text is None:
                found = named
            if named.sources:
                # The id says where it came from; a text that is not its source's words shows no span of it.
                near = resolver.by_text(one.text or "", within=map(_reference, named.sources))
                if one.text is not None:
                    found = near if near.placed else named._replace(transform="derived", passage_id=None)
                break
    as_it_stands = found.resolution != "aligned"
    return Item(
        item_id=_name(one),
        rank=rank,
        resolution=found.resolution,
        transform=found.transform,
        sources=found.sources,
        among=found.among,
        whole_document=found.whole_document,
        passage_id=found.passage_id,
        alignment=found.score,
        text_digest=None if one.text is None or (as_it_stands and found.passage_id) else digest_text(one.text),
        reason=cast("Unresolved", found.reason) if found.reason else None,
    )


def _reference(span: Span) -> DocumentRef:
    """The document version of a span."""
    return DocumentRef(document_id=span.document_id, version=span.version)


def _name(one: OutputContext) -> str:
    """The id under which a context is cited: its own, else one made from its text."""
    if one.id and len(one.id) <= LONGEST_ID:
        return one.id
    text = one.id or one.text
    return f"text-{digest_text(text).removeprefix('sha256:')[:16]}" if text else "no-text"
