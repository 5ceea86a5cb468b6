"""The corpus as scoring sees it: classes of equal documents, what is not white space, texts. Scores nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from ragassay.corpus import visible
from ragassay.corpus.words import TOKENIZER, words
from ragassay.records.base import DocumentId, Instant
from ragassay.records.canonical import digest_text
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage, Span
from ragassay.records.text import valid_at
from ragassay.records.trace import Item

_SPACE = re.compile(r"\s")
NO_TEXT = digest_text("")
"""What an item has that came as an empty text, which is not one whose text nobody reported."""


class Interval(NamedTuple):
    """Code points `start` to `end` of the text of one class of documents."""

    place: int
    start: int
    end: int


class World:
    """Documents, passages and texts of one run, with everything about them that is worked out once.

    Documents of equal text and equal authorization are one class; intervals name the class.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        passages: Iterable[Passage] | None = None,
        *,
        texts: Mapping[str, str] | None = None,
        rel: int = 2,
        complete: bool = False,
        as_of: Instant | None = None,
        greatest: int = 1,
    ) -> None:
        """`passages` None: no segmentation is sealed. `rel`: the benchmark's least relevant grade. `complete`: every
        document was judged for every question. `texts`: text by digest, of items that are not passages. `greatest`: the
        greatest grade of the rubric."""
        self.rel = rel
        self.complete = complete
        self.greatest = greatest
        self.as_of = as_of
        self.texts = texts or {}
        self._documents: list[Document | None] = []
        self._place: dict[tuple[str, str], int] = {}
        self._versions: dict[str, list[Document]] = {}
        self._spaces: dict[int, list[int]] = {}
        self._intervals: dict[tuple[tuple[Span, ...], bool], tuple[Interval, ...]] = {}
        self._tokens: dict[str, int] = {}
        self._superseded: dict[tuple[str, str], list[Document]] = {}
        self._add(documents)
        self.copies = len(self._documents) < sum(map(len, self._versions.values()))
        """Whether two documents of the corpus have equal text and equal authorization."""
        self.segmented = passages is not None
        self.passages: dict[str, Passage] = {one.passage_id: one for one in passages or ()}
        self._passage_at: dict[tuple[Interval, ...], str] = {}
        self._passages_in: dict[int, list[tuple[str, tuple[Interval, ...]]]] = {}
        self._index()

    def _add(self, documents: Iterable[Document]) -> None:
        classes: dict[tuple[str, str], int] = {}
        for one in documents:
            key = one.sameness()
            if key not in classes:
                classes[key] = len(self._documents)
                self._documents.append(one)
            self._place[one.document_id, one.version] = classes[key]
            self._versions.setdefault(one.document_id, []).append(one)
            if one.supersedes is not None:
                old = one.supersedes
                self._superseded.setdefault((old.document_id, old.version), []).append(one)

    def _index(self) -> None:
        for passage in self.passages.values():
            at = self.intervals(passage.sources)
            if self._passage_at.setdefault(at, passage.passage_id) == passage.passage_id:
                for place in {one.place for one in at}:
                    self._passages_in.setdefault(place, []).append((passage.passage_id, at))

    def place(self, document_id: str, version: str) -> int:
        """The class of a document version; one that the corpus does not have gets a class of its own."""
        key = (document_id, version)
        if key not in self._place:
            self._place[key] = len(self._documents)
            self._documents.append(None)
        return self._place[key]

    def original(self, document_id: str, version: str) -> tuple[DocumentId, str] | None:
        """The first document of a class; None if the corpus does not have it."""
        document = self._documents[self.place(document_id, version)]
        return None if document is None else (document.document_id, document.version)

    def known(self, place: int) -> bool:
        """Whether the corpus has this class."""
        return self._documents[place] is not None

    def versions(self, document_id: str, version: str | None) -> list[Document]:
        """The documents that a label means: that version, else those valid at `as_of`, else all; none: it dangles."""
        every = [one for one in self._versions.get(document_id, ()) if version in (None, one.version)]
        if len(every) < 2 or self.as_of is None:
            return every
        at = self.as_of
        return [one for one in every if valid_at(one.valid_from, one.valid_until, at)] or every

    @cached_property
    def says_validity(self) -> bool:
        """Whether any document of the corpus has an end, or supersedes another."""
        every = (one for versions in self._versions.values() for one in versions)
        return bool(self._superseded) or any(one.valid_until is not None for one in every)

    def outdated(self, span: Span) -> bool:
        """Whether a document is stale (its end has come) or superseded by one that holds already, at `as_of`.

        One that the corpus does not have is not; without `as_of` only what is superseded is.
        """
        own = [one for one in self._versions.get(span.document_id, ()) if one.version == span.version]
        newer = self._superseded.get((span.document_id, span.version), ())
        at = self.as_of
        if at is None:
            return bool(newer)
        ended = any(one.valid_until is not None and not valid_at(None, one.valid_until, at) for one in own)
        return ended or any(valid_at(one.valid_from, None, at) for one in newer)

    def visible(self, place: int, principal: Principal) -> bool:
        """Whether a principal may see a class; one that the corpus does not have hides nothing."""
        document = self._documents[place]
        return document is None or visible(document, principal)

    def length(self, place: int) -> int:
        """Code points of a class's text."""
        document = self._documents[place]
        return 0 if document is None else len(document.text)

    def dense(self, at: Interval) -> int:
        """Code points of an interval that are not white space; of a document that is not there: all."""
        document = self._documents[at.place]
        if document is None:
            return at.end - at.start
        spaces = self._spaces.get(at.place)
        if spaces is None:
            spaces = self._spaces[at.place] = [match.start() for match in _SPACE.finditer(document.text)]
        end = min(at.end, len(document.text))
        if end <= at.start:
            return 0
        return (end - at.start) - (bisect_left(spaces, end) - bisect_left(spaces, at.start))

    def intervals(self, sources: tuple[Span, ...], whole_document: bool = False) -> tuple[Interval, ...]:
        """The distinct intervals of sources in order; a whole document is all of its text."""
        key = (sources, whole_document)
        found = self._intervals.get(key)
        if found is None:
            found = self._intervals[key] = tuple(dict.fromkeys(self._interval(one, whole_document) for one in sources))
        return found

    def _interval(self, span: Span, whole_document: bool) -> Interval:
        place = self.place(span.document_id, span.version)
        if whole_document:
            return Interval(place, 0, max(self.length(place), span.end))
        return Interval(place, span.start, span.end)

    def of(self, item: Item) -> tuple[Interval, ...]:
        """The intervals of an item; empty exactly when it is unresolved or one of several places (`among`)."""
        return self.intervals(item.sources, item.whole_document)

    def among(self, item: Item) -> tuple[Interval, ...]:
        """The places of which an item is one, nobody knows which."""
        return self.intervals(item.among)

    def homes(self, item: Item) -> tuple[int, ...]:
        """The documents (as classes) that an item is from: of one among several places their document, if it is the
        same of all; empty if nobody knows."""
        at = dict.fromkeys(one.place for one in self.of(item))
        if not at:
            at = dict.fromkeys(one.place for one in self.among(item))
            return tuple(at) if len(at) == 1 else ()
        return tuple(at)

    def identity(self, item: Item) -> tuple[object, ...]:
        """What makes two items the same: their intervals, else their text, else their id."""
        if item.sources:
            return (item.identity[0], *sorted(self.of(item)))
        return item.identity

    def distinct(self, items: Iterable[Item]) -> list[Item]:
        """Each item once, at its first place."""
        found: dict[tuple[object, ...], Item] = {}
        for item in items:
            found.setdefault(self.identity(item), item)
        return list(found.values())

    def passage_of(self, item: Item) -> str | None:
        """The passage of the sealed segmentation that an item is; None if it is none."""
        if item.passage_id is not None and item.passage_id in self.passages:
            at = self.intervals(self.passages[item.passage_id].sources)
            return self._passage_at.get(at)
        return self._passage_at.get(self.of(item))

    def passages_in(self, place: int) -> list[tuple[str, tuple[Interval, ...]]]:
        """Passages with a source in a class; passages with equal intervals are one."""
        return self._passages_in.get(place, [])

    def text_of(self, item: Item) -> str | None:
        """An item's text: by its digest, its passage, or cut from its sources; None where nobody kept it."""
        if item.text_digest is not None and item.text_digest in self.texts:
            return self.texts[item.text_digest]
        if item.passage_id is not None and item.passage_id in self.passages:
            return self.passages[item.passage_id].text
        if not item.sources:
            return self._alike(item)
        documents = [self._documents[one.place] for one in self.of(item)]
        if item.transform == "derived" or None in documents:
            return None
        cut = zip(self.of(item), documents, strict=True)
        return "\n".join(document.text[one.start : one.end] for one, document in cut if document is not None)

    def _alike(self, item: Item) -> str | None:
        """The text of an item without sources: what stands letter for letter in each of several places."""
        document = self._documents[self.among(item)[0].place] if item.among else None
        if document is not None and item.resolution == "exact":
            return document.text[item.among[0].start : item.among[0].end]
        return "" if item.text_digest == NO_TEXT else None

    def tokens(self, item: Item, tokenizer: str) -> int | None:
        """Tokens of an item's text; None if the text or the tokenizer is not known."""
        text = self.text_of(item)
        if text is None or tokenizer != TOKENIZER:
            return None
        found = self._tokens.get(text)
        if found is None:
            found = self._tokens[text] = len(words(text))
        return found
