"""What a system returned (an id or a text) to places in the corpus. Guesses nothing: unresolved is an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import NamedTuple

from ragassay.corpus import align, decoration
from ragassay.corpus.access import reference
from ragassay.corpus.fold import fold
from ragassay.corpus.places import most_places
from ragassay.records.base import Instant, PassageId
from ragassay.records.document import Document, DocumentRef, Passage, Span, Transform
from ragassay.records.text import valid_at
from ragassay.records.trace import Resolution

_MOST_CACHED = 20_000
"""Characters; longer texts are looked up each time."""
_MOST_AMONG = 32
"""Spans of a text that stands in several places; with more it is unresolved."""
Allowed = frozenset[int] | None
"""Numbers of the classes that may be looked at; None: all."""


class Resolved(NamedTuple):
    """Where something stands in the corpus; an item takes the first five as they are."""

    sources: tuple[Span, ...]
    resolution: Resolution
    transform: Transform
    passage_id: PassageId | None = None
    whole_document: bool = False
    reason: str = ""
    """Why it is unresolved: empty, not_found, unknown_id, ambiguous, ambiguous_version, too_long."""
    score: float | None = None
    """Of an aligned text: the share of its characters that stand in the sources (white space and decoration aside)."""
    among: tuple[Span, ...] = ()
    """All places of a text that stands in several alike; it has no sources then."""

    @property
    def placed(self) -> tuple[Span, ...]:
        """The sources, or the places among which it is one; empty exactly when it is unresolved."""
        return self.sources or self.among


class _Class(NamedTuple):
    """Documents of equal text and equal authorization: one for labels."""

    text: str
    members: tuple[Document, ...]


class Resolver:
    """Looks up passages, documents and texts of one corpus and one segmentation.

    With `as_of`, an id without a version and a text that stands in several versions mean what is valid then. Without
    `floor` a text is found letter for letter or not at all. The texts are indexed when the first one is looked up:
    about 0.15 s a million characters, and 4 bytes a character (more of a corpus that is not Latin).
    """

    def __init__(
        self,
        documents: Iterable[Document],
        passages: Iterable[Passage] = (),
        *,
        as_of: Instant | None = None,
        floor: float | None = None,
    ) -> None:
        self._as_of = as_of
        self._floor = floor
        self._by_id: dict[str, list[Document]] = defaultdict(list)
        grouped: dict[tuple[str, str], list[Document]] = defaultdict(list)
        self._class_of: dict[DocumentRef, int] = {}
        for one in documents:
            self._by_id[one.document_id].append(one)
            grouped[one.sameness()].append(one)
        self._classes = [_Class(members[0].text, tuple(members)) for members in grouped.values()]
        for number, one_class in enumerate(self._classes):
            self._class_of.update(dict.fromkeys(map(reference, one_class.members), number))
        self._passages: dict[str, Passage] = {}
        self._by_text: dict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            self._passages[passage.passage_id] = passage
            self._by_text[passage.text.strip()].append(passage)

    def versions(self, document_id: str, version: str | None = None) -> tuple[DocumentRef, ...]:
        """All versions of a document, or the one that is named, in corpus order."""
        every = self._by_id.get(document_id, ())
        return tuple(reference(one) for one in every if version in (None, one.version))

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

    def by_text(self, text: str, *, within: Iterable[DocumentRef] = ()) -> Resolved:
        """Where this text stands, white space at its ends aside.

        Letter for letter first: among the passages, then in the documents, where it must be the only place. Documents
        of equal text and equal authorization count as one, and all of them are sources. A text that stands in several
        other places is `ambiguous`; an empty one is `empty`. With a `floor`, it has all of them in `among` instead (up
        to 32), and a text that stands nowhere is aligned (see `align`): `score` is the share of it that stands in the
        sources. `within`: only these documents.
        """
        wanted = text.strip()
        if not wanted:
            return _unresolved("empty")
        allowed = frozenset(self._class_of[one] for one in within if one in self._class_of) if within else None
        look_up = self._cached if len(wanted) <= _MOST_CACHED else self._found
        return look_up(wanted, allowed)

    def holds(self, span: Span, text: str) -> bool:
        """Whether this text stands letter for letter at this place, white space at the ends of both aside."""
        stored = next((one.text for one in self._by_id[span.document_id] if one.version == span.version), "")
        return stored[span.start : span.end].strip() == text.strip()

    def prepare(self) -> None:
        """Index the texts now, so that no look-up takes the time for it."""
        self._texts  # noqa: B018  worked out when it is first read

    @cached_property
    def _cached(self) -> Callable[[str, Allowed], Resolved]:
        """One question's steps hand on the same texts."""
        return lru_cache(maxsize=4096)(self._found)

    def _found(self, wanted: str, allowed: Allowed) -> Resolved:
        found = self._among_passages(self._by_text.get(wanted), allowed) or self._among_documents(wanted, allowed)
        if found.reason != "not_found" or self._floor is None:
            return found
        return self._aligned(wanted, allowed, self._floor)

    def _among_passages(self, matches: Sequence[Passage] | None, allowed: Allowed) -> Resolved | None:
        if not matches:
            return None
        places = {self._place(one): one for one in reversed(matches)}
        if allowed is not None:
            places = {place: one for place, one in places.items() if all(part[0] in allowed for part in place)}
            if not places:
                return None
        if len(places) > 1 and self._as_of is not None:
            places = {place: one for place, one in places.items() if self._any_valid(one)} or places
        if len(places) > 1:
            spans = (one.sources for one in places.values() if one.transform == "slice")
            each = [self._of_all_members(one) for one in spans if len(one) == 1]
            return self._several(each, "exact") if len(each) == len(places) else _unresolved("ambiguous")
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

    def _among_documents(self, wanted: str, allowed: Allowed) -> Resolved:
        texts, owners = self._texts
        places = self._settled(texts.exact(wanted, self._only(allowed)), owners, allowed)
        return self._one_or_several(places, "exact", "slice", len(places) < most_places(wanted))

    def _aligned(self, wanted: str, allowed: Allowed, floor: float) -> Resolved:
        """The text as it came, then without what a cut leaves at its ends, as one piece; then in pieces."""
        for one in align.readings(wanted):
            if found := self._among_passages(self._decorated.get(fold(one)), allowed):
                return found._replace(resolution="aligned", score=1.0) if found.placed else found
            if (found := self._whole(one, allowed, "slice")).reason != "not_found":
                return found
        texts, owners = self._texts
        reason = "not_found"
        tries = (True, False) if self._as_of is not None else (False,)
        for one, only_valid in product(align.readings(wanted), tries):
            made = align.pieces(one, texts, floor, self._choices(owners, allowed, only_valid), self._names)
            if isinstance(made, align.Aligned):
                parts = [(part, self._best(_admitted(owners[part.text], allowed))) for part in made.sources]
                sources = dict.fromkeys(self._spans((number, part) for part, every in parts for number in every))
                return Resolved(tuple(sources), "aligned", made.shape, score=made.score)
            reason = made if reason == "not_found" else reason
        return (self._headed(wanted, allowed) if reason == "ambiguous" else None) or _unresolved(reason)

    def _whole(self, wanted: str, allowed: Allowed, transform: Transform) -> Resolved:
        """The one place or the several places of a dense text."""
        texts, owners = self._texts
        spans, complete = align.whole(wanted, texts, self._only(allowed))
        return self._one_or_several(self._settled(spans, owners, allowed), "aligned", transform, complete)

    def _headed(self, wanted: str, allowed: Allowed) -> Resolved | None:
        """A text that stands in several places behind lines that only the system has: the place that these name, if it
        is one, else all of them."""
        for front, body in decoration.headed(
            wanted, lambda dense: bool(self._texts[0].places.find(dense)), self._known
        ):
            named = [one for name in front for one in self._known.get(name, ())]
            inside = frozenset(named) if allowed is None else allowed & frozenset(named)
            for only in (inside, allowed) if inside else (allowed,):
                if (found := self._whole(body, only, "decorated")).placed:
                    return found
        return None

    def _one_or_several(
        self, places: Sequence[tuple[int, align.Found]], how: Resolution, transform: Transform, complete: bool
    ) -> Resolved:
        """What stands in one place has it as its source; in several, if these are all, it is one among them."""
        if not places:
            return _unresolved("not_found")
        each = [tuple(self._spans([one])) for one in places]
        if len(each) > 1:
            return self._several(each, how, transform) if complete else _unresolved("ambiguous")
        return Resolved(each[0], how, transform, score=1.0 if how == "aligned" else None)

    def _several(self, places: Iterable[tuple[Span, ...]], how: Resolution, transform: Transform = "slice") -> Resolved:
        spans = tuple(dict.fromkeys(span for one in places for span in one))
        if self._floor is None or len(spans) > _MOST_AMONG:
            return _unresolved("ambiguous")
        return Resolved((), how, transform, score=1.0 if how == "aligned" else None, among=spans)

    def _only(self, allowed: Allowed) -> list[int] | None:
        """Numbers of the texts that may be looked at; None: all."""
        return None if allowed is None else sorted({self._text_of[one] for one in allowed})

    def _settled(
        self, found: Iterable[align.Found], owners: Sequence[list[int]], allowed: Allowed
    ) -> list[tuple[int, align.Found]]:
        """(class, place) of the places of texts; at `as_of` those that are valid then, if any is."""
        places = [(number, one) for one in found for number in _admitted(owners[one.text], allowed)]
        if len(places) > 1 and self._as_of is not None:
            kept = set(self._best([number for number, _ in places]))
            places = [one for one in places if one[0] in kept]
        return places

    def _best(self, numbers: list[int]) -> list[int]:
        """Of classes those valid at `as_of`, if any is; else all."""
        if self._as_of is None:
            return numbers
        return [one for one in numbers if self._valid(self._classes[one].members)] or numbers

    def _choices(self, owners: Sequence[list[int]], allowed: Allowed, only_valid: bool) -> Callable[[int], int]:
        """How many classes have a text, of those that may be looked at."""

        def count(number: int) -> int:
            numbers = _admitted(owners[number], allowed)
            if only_valid:
                numbers = [one for one in numbers if self._valid(self._classes[one].members)]
            return len(numbers)

        return count

    def _names(self, number: int) -> set[str]:
        """What a system may put before a text that it took from here: title, id and url, in their dense form."""
        members = [one for owner in self._texts[1][number] for one in self._classes[owner].members]
        return {fold(name) for one in members for name in (one.title, one.url, one.document_id) if name}

    def _spans(self, places: Iterable[tuple[int, align.Found]]) -> Iterator[Span]:
        return (_span(one, at.start, at.end) for number, at in places for one in self._classes[number].members)

    @cached_property
    def _texts(self) -> tuple[align.Texts, list[list[int]]]:
        """The distinct texts, indexed, and the classes that have each."""
        owners: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(self._classes):
            owners[one.text].append(number)
        return align.Texts(list(owners)), list(owners.values())

    @cached_property
    def _text_of(self) -> dict[int, int]:
        """Class -> the number of its text."""
        return {one: number for number, owners in enumerate(self._texts[1]) for one in owners}

    @cached_property
    def _known(self) -> dict[str, list[int]]:
        """Title, id and url of the documents in their dense form -> their classes."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(self._classes):
            for name in {fold(name) for own in one.members for name in (own.title, own.url, own.document_id) if name}:
                found[name].append(number)
        return dict(found)

    @cached_property
    def _decorated(self) -> dict[str, list[Passage]]:
        """The passages that are no slice, by dense form; slices are found in their documents."""
        found: dict[str, list[Passage]] = defaultdict(list)
        for passage in self._passages.values():
            if passage.transform != "slice" and passage.sources:
                found[fold(passage.text)].append(passage)
        return dict(found)

    def _valid(self, documents: Iterable[Document]) -> list[Document]:
        as_of = self._as_of
        assert as_of is not None
        return [one for one in documents if valid_at(one.valid_from, one.valid_until, as_of)]


def _span(document: Document, start: int, end: int) -> Span:
    return Span(document_id=document.document_id, version=document.version, start=start, end=end)


def _admitted(numbers: list[int], allowed: Allowed) -> list[int]:
    return numbers if allowed is None else [one for one in numbers if one in allowed]


def _unresolved(reason: str) -> Resolved:
    return Resolved((), "unresolved", "derived", reason=reason)
