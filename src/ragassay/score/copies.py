"""Equal documents as one in a trace, so that steps which name different copies are seen to hand on one item."""

from __future__ import annotations

from msgspec.structs import replace

from ragassay.records.document import Span
from ragassay.records.trace import Item, TraceContent
from ragassay.score.world import World


def without_copies(content: TraceContent, world: World) -> TraceContent:
    """The trace with every source moved to the first document of its class; the trace itself if no two are equal."""
    if not world.copies:
        return content
    steps = tuple(
        replace(one, items_in=_moved(one.items_in, world), items_out=_moved(one.items_out, world))
        for one in content.steps
    )
    return replace(content, steps=steps, context=_moved(content.context, world))


def _moved(items: tuple[Item, ...] | None, world: World) -> tuple[Item, ...] | None:
    return None if items is None else tuple(_item(one, world) for one in items)


def _item(item: Item, world: World) -> Item:
    places = [(one, world.original(one.document_id, one.version)) for one in item.sources]
    if all((one.document_id, one.version) == first for one, first in places):
        return item
    moved = [
        one if first is None else Span(document_id=first[0], version=first[1], start=one.start, end=one.end)
        for one, first in places
    ]
    return replace(item, sources=tuple(dict.fromkeys(moved)))
