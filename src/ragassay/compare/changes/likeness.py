"""When an item of one run is an item of the other, also where documents or passages moved. Reads no label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from ragassay import corpus as corpus_room
from ragassay.compare.changes.artefacts import Sides
from ragassay.corpus.build import load_entries
from ragassay.records.canonical import digest_text
from ragassay.records.document import Corpus, Segmentation, Span
from ragassay.records.trace import Item
from ragassay.store import Store

_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
"""Scores within this of each other are equal."""


class Likeness:
    """Compares lists of items of the baseline with lists of the candidate.

    Two items are the same if they stand at the same places; in a document whose text moved, if they come from it and
    what stands there is the same text. Items without a place are the same if their texts are, else if their ids are.
    """

    def __init__(self, sides: Sides) -> None:
        self._edited = sides.documents.edited
        self._versions = sides.documents.versions
        self._passages = not sides.passages_same
        self._sides = [_Texts(sides, number, self._edited) for number in (0, 1)]
        self.exact = not (self._edited or self._versions or self._passages)
        """Nothing moved: equal records are equal items."""

    def same(self, ours: Sequence[Item] | None, theirs: Sequence[Item] | None) -> bool:
        """Whether two lists hold the same items in the same order with the same scores; absent is not empty."""
        if ours is None or theirs is None:
            return ours is theirs
        if len(ours) != len(theirs):
            return False
        if self.exact and ours == theirs:
            return True
        return all(self._same(a, b) for a, b in zip(ours, theirs, strict=True))

    def _same(self, a: Item, b: Item) -> bool:
        if a.score != b.score and not _near(a.score, b.score):
            return False
        if self._key(a, 0) != self._key(b, 1):
            return False
        texts = self._text(a, 0), self._text(b, 1)
        return None in texts or texts[0] == texts[1]

    def _key(self, item: Item, side: int) -> tuple[object, ...]:
        if not item.sources:
            return ("text", item.text_digest) if item.text_digest else ("id", item.item_id)
        spans = tuple(self._span(one, side, item.whole_document) for one in item.sources)
        return (item.transform, item.whole_document, spans)

    def _span(self, span: Span, side: int, whole: bool) -> tuple[object, ...]:
        if span.document_id in self._edited:
            return (span.document_id, self._sides[side].at(span, whole))
        version = span.version
        if side == 1:
            version = self._versions.get((span.document_id, version), version)
        return (span.document_id, version, span.start, span.end)

    def _text(self, item: Item, side: int) -> str | None:
        if item.text_digest is not None or not self._passages or item.passage_id is None:
            return item.text_digest
        return self._sides[side].passages.get(item.passage_id)


class _Texts:
    """The texts of one side, as far as they are needed."""

    def __init__(self, sides: Sides, side: int, edited: frozenset[str]) -> None:
        self._store: Store = sides.store
        self._objects = sides.protocols[side].objects
        self._edited = edited

    @cached_property
    def _documents(self) -> dict[tuple[str, str], str]:
        """Texts of edited documents; of a referenced corpus, their digests."""
        corpus = self._store.get_record(Corpus, self._objects["corpus"])
        if corpus.mode == "embedded":
            found = corpus_room.load(self._store, corpus)
            return {(one.document_id, one.version): one.text for one in found if one.document_id in self._edited}
        entries = load_entries(self._store, corpus)
        return {(one.document_id, one.version): one.text_digest for one in entries if one.document_id in self._edited}

    @cached_property
    def _embedded(self) -> bool:
        return self._store.get_record(Corpus, self._objects["corpus"]).mode == "embedded"

    def at(self, span: Span, whole: bool) -> str:
        """What stands in a place of an edited document, as a digest."""
        text = self._documents.get((span.document_id, span.version))
        if text is None:
            return f"{span.version} {span.start} {span.end}"
        if not self._embedded:
            return f"{text} {span.start} {span.end}"
        return digest_text(text if whole else text[span.start : span.end])

    @cached_property
    def passages(self) -> dict[str, str]:
        """Passage -> digest of its text."""
        cut = self._objects.get("segmentation")
        if cut is None:
            return {}
        found = corpus_room.load_passages(self._store, self._store.get_record(Segmentation, cut))
        return {one.passage_id: digest_text(one.text) for one in found}


def _near(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return False
    return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
