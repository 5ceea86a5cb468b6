"""What stands behind each citation of an answer: whose it is, how it came here, if it entails. Judges none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ragassay.corpus import visible
from ragassay.records.case import Case
from ragassay.records.document import Document, Span
from ragassay.records.trace import Citation, Item, TraceContent
from ragassay.score.verdicts import Given

DocumentKey = tuple[str, str]
MOST_DOCUMENTS = 5
"""Documents of one citation whose way is told."""


class Entails(NamedTuple):
    """What a judge said of a claim and the citation behind it."""

    judge: str
    claim_id: str
    said: str
    """The label, or why there is none."""


class Cited(NamedTuple):
    """One citation of an answer."""

    place: int
    """Among the answer's citations, from 0."""
    points_to: str
    access: Literal["allowed", "denied", "unknown", "unscoped"]
    """By tenants and acl of its documents; unscoped: no principal asked."""
    through: tuple[str, ...]
    """A line a document: every transformation from the bytes that were read to what was cited."""
    gap: str | None
    """Why some of that way is not known; None: all of it is."""
    entails: tuple[Entails, ...]
    """Empty: nobody judged it."""


def citations_of(content: TraceContent, given: Mapping[str, Given | None]) -> tuple[Citation, ...] | None:
    """The citations of an answer as judging read them, which is what verdicts name by their places: each mark of the
    text by itself; else as the system reports them. None: neither has any."""
    if content.answer is None:
        return None
    judged = [one.claims.citations for one in given.values() if one is not None and one.claims is not None]
    return next((one for one in judged if one), content.answer.citations)


def cited(
    content: TraceContent, case: Case, documents: Mapping[DocumentKey, Document], given: Mapping[str, Given | None]
) -> tuple[Cited, ...] | None:
    """What stands behind each citation; None where the answer's citations are not known.

    `given`: judge -> what it said of this answer. `documents` by (document_id, version), at least those that are cited.
    """
    citations = citations_of(content, given)
    if citations is None:
        return None
    items = _items(content)
    return tuple(_cited(place, one, items, case, documents, given) for place, one in enumerate(citations))


def documents_cited(content: TraceContent, given: Mapping[str, Given | None]) -> set[DocumentKey]:
    """The documents that the citations of an answer lead to."""
    items = _items(content)
    return {
        (span.document_id, span.version)
        for one in citations_of(content, given) or ()
        for span in _spans(one, items.get(one.item_id or ""))
    }


def _items(content: TraceContent) -> dict[str, Item]:
    """Items by id; what generation saw goes before what a step gave out."""
    lists = [content.context or (), *(one.items_out or () for one in reversed(content.steps))]
    found: dict[str, Item] = {}
    for items in lists:
        for one in items:
            found.setdefault(one.item_id, one)
    return found


def _spans(citation: Citation, item: Item | None) -> tuple[Span, ...]:
    if citation.source is not None:
        return (citation.source,)
    return item.sources if item is not None else ()


def _cited(
    place: int, citation: Citation, items: Mapping[str, Item], case: Case, documents: Mapping[DocumentKey, Document],
    given: Mapping[str, Given | None],
) -> Cited:  # fmt: skip
    item = items.get(citation.item_id) if citation.item_id is not None else None
    spans = _spans(citation, item)
    named = list(dict.fromkeys((span.document_id, span.version) for span in spans))
    found = [documents[key] for key in named if key in documents]
    target = "; ".join(f"{one.document_id}@{one.version}:{one.start}-{one.end}" for one in spans[:MOST_DOCUMENTS])
    return Cited(
        place=place,
        points_to=target or str(citation.item_id),
        access=_access(case, found, whole=bool(named) and len(found) == len(named)),
        through=tuple(_way(one, item) for one in found[:MOST_DOCUMENTS]),
        gap=_gap(citation, item, found, len(named)),
        entails=tuple(_entails(place, given)),
    )


def _access(
    case: Case, found: Sequence[Document], *, whole: bool
) -> Literal["allowed", "denied", "unknown", "unscoped"]:
    """Whether the principal may see every document; denied as soon as one is denied."""
    if case.principal is None:
        return "unscoped"
    if any(not visible(one, case.principal) for one in found):
        return "denied"
    return "allowed" if whole else "unknown"


def _way(document: Document, item: Item | None) -> str:
    """`guide@1: guide.md (sha256:…) -> parse markdown/1 -> slice`."""
    source = document.source
    read = "" if source is None else f"{source.file}{'' if source.line is None else f':{source.line}'}"
    digest = f" ({source.digest})" if source is not None and source.digest is not None else ""
    steps = [f"{read}{digest}"] if read else []
    steps += [f"{one.told}{'' if one.after is None else f' ({one.after})'}" for one in document.transformations()]
    if item is not None:
        how = "" if item.alignment is None else f" {item.alignment:.2f}"
        steps.append(f"{item.transform}, tied {item.resolution}{how}")
    else:
        steps.append("slice")
    return f"{document.document_id}@{document.version}: {' -> '.join(steps)}"


def _gap(citation: Citation, item: Item | None, found: Sequence[Document], named: int) -> str | None:
    if citation.source is None and item is None:
        return "no item of this trace has this id"
    if item is not None and not item.sources:
        if item.among:
            return "its text stands in several places alike, and nothing says which was meant"
        return f"it is tied to no document ({item.reason or 'unresolved'})"
    if item is not None and item.transform == "derived":
        return "the system rewrote the text, and does not say by what"
    if len(found) < named:
        return "its document is not in the corpus"
    if any(one.source is None for one in found):
        return "what the document was read from is not recorded"
    return None


def _entails(place: int, given: Mapping[str, Given | None]) -> list[Entails]:
    found = []
    for judge, one in sorted(given.items()):
        for (about, target), ruling in one.rulings.items() if one is not None else ():
            claim, _, number = target.rpartition(":")
            if about == "citation" and number == str(place):
                said = ruling.label or f"{ruling.status}({ruling.reason})"
                found.append(Entails(judge, claim, said))
    return found
