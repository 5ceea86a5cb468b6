"""What a system returned (an id or a text) to places in the corpus. Guesses nothing: unresolved is an answer."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragassay.corpus.access import reference
from ragassay.records.base import Instant, PassageId
from ragassay.records.document import CorpusEntry, Document, DocumentRef, Passage, Span, Transform
from ragassay.records.text import valid_at
from ragassay.records.trace import Resolution

_BREAK = "\ud800"
"""Stands between documents in the joined text: a lone surrogate is never in stored text."""
_MOST_PLACES = 1000
"""How many places of one text are looked at before it is called ambiguous."""


class Resolved(NamedTuple):
    """Where something stands in the corpus; an item takes the first five as they are."""

    sources: tuple[Span, ...]
    resolution: Resolution
    transform: Transform
    passage_id: PassageId | None = None
    whole_document: bool = False
    reason: str = ""
    """Why it is unresolved: empty, not_found, unknown_id, ambiguous, ambiguous_version."""


class _Class(NamedTuple):
    """Documents of equal text and equal authorization: one for labels."""

    text: str
    members: tuple[Document, ...]


class Resolver:
    """Looks up passages, documents and exact texts of one corpus and one segmentation.

    With `as_of`, an id without a version and a text that stands in several versions mean what is valid then.
    """

    def __init__(
        self, documents: Iterable[Document], passages: Iterable[Passage] = (), *, as_of: Instant | None = None
    ) -> None:
        self._as_of = as_of
        self._by_id: dict[str, list[Document]] = defaultdict(list)
        grouped: dict[tuple[str, str], list[Document]] = defaultdict(list)
        self._class_of: dict[DocumentRef, int] = {}
        for one in documents:
            entry: CorpusEntry = one.entry()
            self._by_id[one.document_id].append(one)
            grouped[entry.text_digest, entry.auth_digest].append(one)
        self._classes = [_Class(members[0].text, tuple(members)) for members in grouped.values()]
        for number, one_class in enumerate(self._classes):
            self._class_of.update(dict.fromkeys(map(reference, one_class.members), number))
        self._passages: dict[str, Passage] = {}
        self._by_text: dict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            self._passages[passage.passage_id] = passage
            self._by_text[passage.text.strip()].append(passage)
        self._joined: str | None = None
        self._starts: list[int] = []
        self._texts: list[list[int]] = []

    def equivalents(self, document_id: str, version: str) -> tuple[DocumentRef, ...]:
        """All documents of equal text and equal authorization, in corpus order; empty if there is no such document."""
        number = self._class_of.get(DocumentRef(document_id=document_id, version=version))  # type: ignore[arg-type]
        return () if number is None else tuple(map(reference, self._classes[number].members))

    def by_passage(self, passage_id: str) -> Resolved:
        """The sources of a passage of the segmentation; `declared`, since the system named it."""
        passage = self._passages.get(passage_id)
        if passage is None or not passage.sources:
            return _unresolved("unknown_id")
        return Resolved(passage.sources, "declared", passage.transform, passage.passage_id)

    def by_document(self, document_id: str, version: str | None = None) -> Resolved:
        """A whole document by its id; without `version` the only one, or the only one valid at `as_of`."""
        versions = self._by_id.get(document_id, [])
        if version is not None:
            versions = [one for one in versions if one.version == version]
        if len(versions) > 1 and self._as_of is not None:
            versions = self._valid(versions)
            if not versions:
                return _unresolved("ambiguous_version")
        if not versions:
            return _unresolved("unknown_id")
        if len(versions) > 1:
            return _unresolved("ambiguous_version")
        return Resolved((_span(versions[0], 0, len(versions[0].text)),), "declared", "slice", None, True)

    def by_text(self, text: str) -> Resolved:
        """Where exactly this text stands, white space at its ends aside.

        First among the passages, then in the documents, where it must be the only place. Documents of equal text and
        equal authorization count as one, and all of them are sources. A text that stands in several other places is
        `ambiguous`; an empty one is `empty`.
        """
        wanted = text.strip()
        if not wanted:
            return _unresolved("empty")
        return self._among_passages(wanted) or self._among_documents(wanted)

    def _among_passages(self, wanted: str) -> Resolved | None:
        matches = self._by_text.get(wanted)
        if not matches:
            return None
        places = {self._place(one): one for one in reversed(matches)}
        if len(places) > 1 and self._as_of is not None:
            places = {place: one for place, one in places.items() if self._any_valid(one)} or places
        if len(places) > 1:
            return _unresolved("ambiguous")
        ((_, passage),) = places.items()
        return Resolved(self._of_all_members(passage.sources), "exact", passage.transform, passage.passage_id)

    def _place(self, passage: Passage) -> tuple[tuple[int, int, int], ...]:
        return tuple((self._class_number(one), one.start, one.end) for one in passage.sources)

    def _class_number(self, span: Span) -> int:
        return self._class_of.get(DocumentRef(document_id=span.document_id, version=span.version), -1)

    def _any_valid(self, passage: Passage) -> bool:
        return all(self._valid(self._members(span)) for span in passage.sources)

    def _members(self, span: Span) -> Sequence[Document]:
        number = self._class_number(span)
        return self._classes[number].members if number >= 0 else ()

    def _of_all_members(self, sources: tuple[Span, ...]) -> tuple[Span, ...]:
        whole = (_span(one, span.start, span.end) for span in sources for one in self._members(span))
        return tuple(dict.fromkeys((*sources, *whole)))

    def _among_documents(self, wanted: str) -> Resolved:
        if _BREAK in wanted:
            return _unresolved("not_found")
        places = self._places(wanted)
        if not places:
            return _unresolved("not_found")
        if len(places) > 1 and self._as_of is not None:
            places = [one for one in places if self._valid(self._classes[one[0]].members)] or places
        if len(places) > 1:
            return _unresolved("ambiguous")
        number, start = places[0]
        spans = (_span(one, start, start + len(wanted)) for one in self._classes[number].members)
        return Resolved(tuple(spans), "exact", "slice")

    def _places(self, wanted: str) -> list[tuple[int, int]]:
        """(class, start) of every place of a text, overlapping ones too."""
        joined = self._join()
        found: list[tuple[int, int]] = []
        at = joined.find(wanted)
        while at >= 0 and len(found) < _MOST_PLACES:
            text_number = bisect_right(self._starts, at) - 1
            found.extend((number, at - self._starts[text_number]) for number in self._texts[text_number])
            at = joined.find(wanted, at + 1)
        return found

    def _join(self) -> str:
        if self._joined is None:
            texts: dict[str, list[int]] = defaultdict(list)
            for number, one in enumerate(self._classes):
                texts[one.text].append(number)
            at = 0
            for text, numbers in texts.items():
                self._starts.append(at)
                self._texts.append(numbers)
                at += len(text) + len(_BREAK)
            self._joined = _BREAK.join(texts)
        return self._joined

    def _valid(self, documents: Iterable[Document]) -> list[Document]:
        as_of = self._as_of
        assert as_of is not None
        return [one for one in documents if valid_at(one.valid_from, one.valid_until, as_of)]


def _span(document: Document, start: int, end: int) -> Span:
    return Span(document_id=document.document_id, version=document.version, start=start, end=end)


def _unresolved(reason: str) -> Resolved:
    return Resolved((), "unresolved", "derived", reason=reason)
