"""What a citation of an answer points to in its trace. Judges no citation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragassay.records.document import Span
from ragassay.records.trace import Citation, Item, TraceContent


def items_of(content: TraceContent, context: Sequence[Item] | None) -> Iterator[Item]:
    """Every item of a trace: the context first, then what each step gave out, from the last to the first."""
    yield from context or ()
    for step in reversed(content.steps):
        yield from step.items_out or ()


def cited(citation: Citation, items: Iterable[Item]) -> Item | None:
    """The first item of this id, or whose sources meet the cited span; None if it is not among them."""
    if citation.source is None:
        return next((one for one in items if one.item_id == citation.item_id), None)
    wanted = citation.source
    return next((one for one in items if any(_meets(span, wanted) for span in one.sources)), None)


def _meets(one: Span, other: Span) -> bool:
    same = (one.document_id, one.version) == (other.document_id, other.version)
    return same and one.start < other.end and other.start < one.end
