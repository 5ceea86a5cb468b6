"""Which evidence a single item holds, for showing it. The score table, not this, says what a list holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ragassay.records.case import Evidence
from ragassay.records.document import Document, Span
from ragassay.records.trace import Item


class Held(NamedTuple):
    """Ids of evidence held by one item alone, and of evidence of which it holds only a part."""

    whole: tuple[str, ...]
    parts: tuple[str, ...]


def covered(evidence: Evidence, spans: Iterable[Span], text: str) -> tuple[int, int]:
    """(covered, total) non-white-space code points of the evidence within its document's text.

    Spans may overlap; each code point counts once. Spans of other documents or versions are the caller's to leave out.
    """
    start, end = evidence.start or 0, evidence.end or 0
    inside: set[int] = set()
    for span in spans:
        inside.update(range(max(start, span.start), min(end, span.end)))
    total = sum(1 for at in range(start, min(end, len(text))) if not text[at].isspace())
    return sum(1 for at in inside if at < len(text) and not text[at].isspace()), total


def held(item: Item, evidence: Iterable[Evidence], documents: Mapping[tuple[str, str], Document], hold: float) -> Held:
    """What one item holds by itself. A derived or unresolved item holds nothing that could be shown by overlap.

    Of an item that names a document without saying what of it was read, a labelled span is at most a part.
    """
    whole: list[str] = []
    parts: list[str] = []
    if item.transform != "derived":
        for one in evidence:
            near = [
                span
                for span in item.sources
                if span.document_id == one.document_id and one.version in (None, span.version)
            ]
            if not near:
                continue
            if one.coarse or item.whole_document:
                (whole if one.coarse else parts).append(one.id)
                continue
            document = documents.get((near[0].document_id, near[0].version))
            got, total = covered(one, near, document.text) if document else (0, 0)
            if total and got >= hold * total - 1e-9:
                whole.append(one.id)
            elif got:
                parts.append(one.id)
    return Held(tuple(whole), tuple(parts))
