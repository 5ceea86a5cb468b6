"""Texts that a data set calls gold, as places in documents: of a given corpus, or made from them. Reads no file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ragassay.corpus import Resolver
from ragassay.errors import InputError
from ragassay.records.base import DocumentId
from ragassay.records.canonical import digest_text
from ragassay.records.document import Document
from ragassay.records.text import many

VERSION = "1"


class Spot(NamedTuple):
    """Where a text stands: a document, and the code points in it, white space at the ends aside."""

    document_id: str
    version: str
    start: int
    end: int
    base: int
    """Where the text's first code point would stand; what stands at n of it stands at `base + n` of the document."""


class Gold:
    """Finds gold texts in a corpus, letter for letter; without one, each distinct text is a document of its own.

    A text that a given corpus does not hold, or holds in several places, becomes a label on a document that is not
    there: it is counted as never found, and stays in the denominators.
    """

    def __init__(self, source: str, corpus: Iterable[Document] | None = None) -> None:
        self._source = source
        self._resolver = Resolver(corpus) if corpus is not None else None
        self._made: dict[str, Document] = {}
        self.asked: set[str] = set()
        self.lost: dict[str, str] = {}
        """Text -> why it has no place: not_found, ambiguous."""

    @property
    def documents(self) -> list[Document]:
        """The documents made from texts, in the order in which these came."""
        return list(self._made.values())

    def spot(self, text: str, *, title: str | None = None) -> Spot:
        """The place of a gold text. InputError if it is blank: it would always count as found."""
        if not text.strip():
            raise InputError("an empty text", hint="leave it out; nothing can be evidence for it")
        self.asked.add(text)
        made = document_id(self._source, text)
        if self._resolver is None:
            self._add(made, text, title)
            return self._of_its_own(made, text)
        found = self._resolver.by_text(text)
        if found.resolution == "exact" and found.sources:
            one = found.sources[0]
            return Spot(one.document_id, one.version, one.start, one.end, one.start - _lead(text))
        self.lost[text] = found.reason if found.resolution == "unresolved" else "not_found"
        return self._of_its_own(made, text)

    def _of_its_own(self, made: str, text: str) -> Spot:
        start = _lead(text)
        return Spot(made, VERSION, start, start + len(text.strip()), 0)

    def named(self, name: str) -> None:
        """A document of which only the id is known: without a corpus it is one without text."""
        if self._resolver is None:
            self._add(name, "", None)

    def _add(self, name: str, text: str, title: str | None) -> None:
        self._made.setdefault(
            name,
            Document(
                document_id=DocumentId(name),
                version=VERSION,
                text=text,
                title=title,
                parser=f"{self._source}/1",
                normaliser="none/1",
            ),
        )

    def evidence(self, text: str, name: str, grade: int, provenance: dict[str, Any]) -> dict[str, Any]:
        """A label on a gold text, as a case line holds it."""
        spot = self.spot(text)
        place = {"document_id": spot.document_id, "version": spot.version, "start": spot.start, "end": spot.end}
        return {"id": name, "grade": grade, "provenance": provenance, **place}

    def notes(self) -> list[str]:
        """What was not found in a given corpus."""
        if not self.lost:
            return []
        several = sum(reason == "ambiguous" for reason in self.lost.values())
        return [
            f"{len(self.lost)} of {len(self.asked)} gold texts have no place in the corpus ({several} stand in several "
            "places, the others do not stand in it letter for letter): counted as never found"
        ]


def _lead(text: str) -> int:
    return len(text) - len(text.lstrip())


def document_id(source: str, text: str) -> str:
    """An id from the text: equal texts are one document, and no title can clash."""
    return f"{source}-{digest_text(text).removeprefix('sha256:')[:16]}"


class QueryIds:
    """Ids from questions: the digest of the text, and for one that stands again a number behind it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._count: dict[str, int] = {}

    def of(self, text: str) -> str:
        """The id of the next question with this text."""
        name = document_id(self._source, text)
        self._count[name] = self._count.get(name, 0) + 1
        return name if self._count[name] == 1 else f"{name}-{self._count[name]}"

    def notes(self) -> list[str]:
        """Questions that stand more than once."""
        again = sum(count - 1 for count in self._count.values())
        if not again:
            return []
        repeating = many(again, "question repeats", "questions repeat")
        return [f"{repeating} an earlier one word for word; each counts, so their scores are not independent"]
