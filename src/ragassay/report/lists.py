"""The lists of one trace side by side: an item's rank at every step, what it holds, who may see it. Scores nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragassay.corpus import visible
from ragassay.records.case import Case, Evidence, Principal
from ragassay.records.document import Document, Passage
from ragassay.records.text import many
from ragassay.records.trace import Failure, Item, StepTiming, TraceContent
from ragassay.report.holding import covered, held
from ragassay.report.model import Access, EvidencePlace, ItemView, Place, StepView
from ragassay.report.words import cut

MOST_RANKS = 20
ITEM_TEXT = 300
CONTEXT = "context"
DocumentKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Library:
    """Documents, passages and stray texts, by key."""

    documents: Mapping[DocumentKey, Document]
    passages: Mapping[str, Passage]
    texts: Mapping[str, str]
    hold: float
    versions: Mapping[str, Sequence[Document]]
    """All versions of a document, by its id."""

    def named(self, document_id: str, version: str | None) -> list[Document]:
        """The documents that a label means: one version, or all of them; none if it dangles."""
        return [one for one in self.versions.get(document_id, ()) if version in (None, one.version)]

    def text_of(self, item: Item) -> str | None:
        """An item's text: by its digest, by its passage, or sliced out of its documents; None if none is stored."""
        if item.text_digest is not None and item.text_digest in self.texts:
            return self.texts[item.text_digest]
        if item.passage_id is not None and item.passage_id in self.passages:
            return self.passages[item.passage_id].text
        spans = item.sources or (item.among[:1] if item.resolution == "exact" else ())
        if item.transform == "derived" or item.whole_document or not spans:
            return None
        pieces = [
            document.text[span.start : span.end]
            for span in spans
            if (document := self.documents.get((span.document_id, span.version)))
        ]
        return " … ".join(pieces) or None

    def access_of(self, item: Item, principal: Principal) -> Access:
        """Whether the principal may see everything that the item was made of, or every place among which it is one."""
        found: set[Access] = set()
        for span in item.sources or item.among:
            document = self.documents.get((span.document_id, span.version))
            found.add("unknown" if document is None else "allowed" if visible(document, principal) else "denied")
        if item.among and len(found) > 1:
            return "unknown"
        return "denied" if "denied" in found else "unknown" if "unknown" in found or not found else "allowed"


class Column(NamedTuple):
    """One list of a trace: the step's view and its items (None: the step did not say)."""

    view: StepView
    items: tuple[Item, ...] | None


def context_items(content: TraceContent) -> tuple[Item, ...] | None:
    """What generation saw: the context, else the output of the last assemble step, else unknown."""
    if content.context is not None:
        return content.context
    assembled = [step for step in content.steps if step.kind == "assemble"]
    return assembled[-1].items_out if assembled else None


def columns(content: TraceContent, timings: Sequence[StepTiming]) -> list[Column]:
    """Every step in its order, and the context at the end where it is known."""
    took = {timing.step_id: timing.duration_ms for timing in timings}
    made = [
        Column(
            StepView(
                step_id=step.step_id,
                name=step.name,
                kind=step.kind,
                iteration=step.iteration,
                items=None if step.items_out is None else len(step.items_out),
                parents=step.parents or (),
                inferred=step.parents is None,
                duration_ms=took.get(step.step_id),
                query_text=None if step.query_text is None else cut(step.query_text, ITEM_TEXT),
                failure=failure_text(step.error),
                decisions=tuple(
                    " ".join(part for part in (one.action, one.item_id, one.reason and f"({one.reason})") if part)
                    for one in step.decisions[:MOST_RANKS]
                ),
            ),
            step.items_out,
        )
        for step in content.steps
    ]
    last = context_items(content)
    if last is not None:
        view = StepView(
            step_id=CONTEXT, name=CONTEXT, kind=CONTEXT, iteration=None, items=len(last), parents=(), inferred=False,
            duration_ms=None, query_text=None, failure=None, decisions=(),
        )  # fmt: skip
        made.append(Column(view, last))
    return made


def failure_text(failure: Failure | None) -> str | None:
    """Cause, step and code of a failure in a few words."""
    if failure is None:
        return None
    where = f" at {failure.step}" if failure.step else ""
    return f"{failure.cause.replace('_', ' ')}{where}{f' ({failure.code})' if failure.code else ''}"


def item_table(case: Case, lists: Sequence[Column], library: Library) -> tuple[tuple[ItemView, ...], int]:
    """Different items with their places, and how many there are in all.

    Shown are the first MOST_RANKS of every list, the context, and whatever holds evidence; nearest to the answer first.
    """
    places: dict[tuple[object, ...], list[Place | None]] = {}
    first: dict[tuple[object, ...], Item] = {}
    for number, column in enumerate(lists):
        for item in column.items or ():
            row = places.setdefault(item.identity, [None] * len(lists))
            first.setdefault(item.identity, item)
            if row[number] is None:
                row[number] = Place(rank=item.rank, score=item.score)
    in_context = {number for number, column in enumerate(lists) if column.view.kind == CONTEXT}
    evidence = case.evidence or ()
    shown = []
    for key, row in places.items():
        item = first[key]
        whole, parts = held(item, evidence, library.documents, library.hold)
        near = any(place is not None and place.rank <= MOST_RANKS for place in row)
        seen = any(row[number] is not None for number in in_context)
        if near or seen or whole or parts:
            order = tuple(place.rank if place else 10**9 for place in reversed(row))
            text = library.text_of(item) if seen or whole or parts else None
            shown.append((order, str(key), _item(item, case, library, tuple(row), whole, parts, text)))
    shown.sort(key=lambda one: one[:2])
    return tuple(view for _, _, view in shown), len(places)


def _item(
    item: Item,
    case: Case,
    library: Library,
    places: tuple[Place | None, ...],
    whole: tuple[str, ...],
    parts: tuple[str, ...],
    text: str | None,
) -> ItemView:
    return ItemView(
        label=label(item),
        passage_id=item.passage_id,
        places=places,
        holds=whole,
        parts=parts,
        text=None if text is None else cut(text, ITEM_TEXT),
        resolution=item.resolution,
        transform=item.transform,
        access=None if case.principal is None else library.access_of(item, case.principal),
        reported_access=item.access,
        tenant=item.tenant,
    )


def label(item: Item) -> str:
    """Where an item comes from, in few words: document and span, else its own id."""
    if item.among:
        span = item.among[0]
        return f"{span.document_id} [{span.start}:{span.end}] or {many(len(item.among) - 1, 'other place')}"
    if not item.sources:
        return item.item_id
    span = item.sources[0]
    more = f" +{len(item.sources) - 1}" if len(item.sources) > 1 else ""
    if item.whole_document:
        return f"{span.document_id}{more}"
    return f"{span.document_id} [{span.start}:{span.end}]{more}"


def evidence_places(case: Case, lists: Sequence[Column], library: Library) -> tuple[EvidencePlace, ...]:
    """For each piece of evidence the lists that hold it, or a part of it, with all their items together."""
    made = []
    for one in case.evidence or ():
        whole: list[str] = []
        parts: list[str] = []
        for column in lists:
            state = _state(one, column.items or (), library)
            if state:
                (whole if state == "whole" else parts).append(column.view.step_id)
        made.append(EvidencePlace(evidence_id=one.id, held=tuple(whole), parts=tuple(parts)))
    return tuple(made)


def _state(one: Evidence, items: Iterable[Item], library: Library) -> str:
    spans = []
    touched = False
    for item in items:
        if item.transform == "derived":
            continue
        for span in item.sources:
            if span.document_id == one.document_id and one.version in (None, span.version):
                if one.coarse:
                    return "whole"
                touched = True
                if not item.whole_document:
                    spans.append(span)
    for version in sorted({span.version for span in spans}):
        document = library.documents.get((one.document_id, version))
        got, total = covered(one, [s for s in spans if s.version == version], document.text) if document else (0, 0)
        if total and got >= library.hold * total - 1e-9:
            return "whole"
        if got:
            return "parts"
    return "parts" if touched and not spans else ""
