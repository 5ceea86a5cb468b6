"""Two corpora and their segmentations, document by document. Reads no trace and no label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ragassay import corpus as corpus_room
from ragassay.compare.changes.shown import change, text_of
from ragassay.compare.changes.versions import Renewed, renewed
from ragassay.corpus.build import load_entries
from ragassay.records.base import Digest, DocumentId, Instant
from ragassay.records.comparison import Change
from ragassay.records.document import Corpus, CorpusEntry, Document, Segmentation
from ragassay.records.provenance import Provenance
from ragassay.records.text import many
from ragassay.store import Store

Key = tuple[DocumentId, str]
_ABOUT = ("url", "valid_from", "valid_until", "supersedes", "metadata")
"""What of a document does not follow from its text; the title may, and `lossy` and `raw` do. Of its provenance the
declared transformations, with their digests, may."""


class Pair(NamedTuple):
    """One document on both sides."""

    before: CorpusEntry
    after: CorpusEntry


class Documents(NamedTuple):
    """The documents of two corpora, set against each other."""

    changes: tuple[Change, ...]
    edited: frozenset[str]
    """Ids of documents of which some version's text is another one, came or went."""
    versions: dict[Key, str]
    """(document_id, version of the candidate) -> version of the baseline, of documents that are the same text."""

    @property
    def moved(self) -> frozenset[str]:
        """Ids of documents in which a label may stand elsewhere: their text or their version is another one."""
        return self.edited | {document_id for document_id, _ in self.versions}


SAME = Documents((), frozenset(), {})


def document_changes(store: Store, a: Digest, b: Digest, moments: tuple[Instant, Instant]) -> Documents:
    """What differs between two corpora (records by digest): texts, access and description, each told from the others.

    What was declared of a whole corpus (licence, origin, ...) is its description. A document is known again by its id
    and version; where one version stands alone on each side, by its id. Where another version holds now than before, at
    the `as_of` of each run (`moments`), its text was edited, whatever became of the two versions. One whose parser,
    normaliser or declared preparation (OCR, say, of it or of the whole corpus) is another counts under that, whatever
    became of its text. A title that moved with the text is no change of its own.
    """
    before, after = store.get_record(Corpus, a), store.get_record(Corpus, b)
    declared = tuple(_declared(before, after))
    if before.digest == after.digest:
        return SAME._replace(changes=declared)
    ours, theirs = _entries(store, before), _entries(store, after)
    pairs, gone, new = _paired(ours, theirs)
    moved = [one for one in pairs if one.before != one.after]
    other = _tools(before) != _tools(after)
    follows = _follows(store, (before, after), moved)
    both = {one.document_id for one in ours.values()} & {one.document_id for one in theirs.values()}
    ids = both & {one.document_id for one in (*gone, *new, *(pair.before for pair in moved))}
    other_one = renewed(store, (before, after), (ours.values(), theirs.values()), moments, ids)
    changes = [change("document_text", name, *(one.text_digest for one in pair)) for name, pair in other_one.items()]
    for pair in moved:
        known = other_one.get(pair.before.document_id)
        told = _of_pair(pair, follows, reparsed=other or _reparsed(pair))
        explained = known is not None and known.explains(pair.before)
        changes += [one for one in told if not (explained and one.artefact in ("document_text", "document_metadata"))]
    changes += [change("document_removed", _name(one), one.text_digest, None) for one in _left(gone, other_one)]
    changes += [change("document_added", _name(one), None, one.text_digest) for one in _left(new, other_one)]
    other_text = [one for one in pairs if one.before.text_digest != one.after.text_digest]
    return Documents(
        (*declared, *_parsers(moved), *changes),
        frozenset({one.document_id for one in (*gone, *new, *(pair.before for pair in other_text))} | {*other_one}),
        {
            (one.after.document_id, one.after.version): one.before.version
            for one in pairs
            if one.before.version != one.after.version and one.before.text_digest == one.after.text_digest
        },
    )


def _left(entries: list[CorpusEntry], other_one: dict[str, Renewed]) -> Iterator[CorpusEntry]:
    for one in entries:
        known = other_one.get(one.document_id)
        if known is None or not known.explains(one):
            yield one


def segmentation_changes(store: Store, a: Digest | None, b: Digest | None, *, corpus_same: bool) -> list[Change]:
    """What differs between two segmentations; passages alone are a change only where the corpus is the same."""
    before = store.get_record(Segmentation, a) if a is not None else None
    after = store.get_record(Segmentation, b) if b is not None else None
    if before is None or after is None:
        names = [None if one is None else f"{one.chunker} {one.chunker_version}" for one in (before, after)]
        return [] if names[0] == names[1] else [change("segmentation", "segmentation", *names)]
    found = []
    chunkers = [f"{one.chunker} {one.chunker_version}" for one in (before, after)]
    if chunkers[0] != chunkers[1]:
        found.append(change("segmentation", "chunker", *chunkers))
    elif before.parameters != after.parameters:
        for key in sorted({*before.parameters, *after.parameters}):
            one, other = before.parameters.get(key), after.parameters.get(key)
            if one != other:
                found.append(change("segmentation", key, text_of(one), text_of(other)))
    if not found and corpus_same and before.passages_digest != after.passages_digest:
        found.append(change("segmentation", "passages", before.passages_digest, after.passages_digest))
    return found


def passages_same(store: Store, a: Digest | None, b: Digest | None) -> bool:
    """Whether two segmentations have the same passages; of two that are not there, yes."""
    if a is None or b is None:
        return a == b
    return store.get_record(Segmentation, a).passages_digest == store.get_record(Segmentation, b).passages_digest


def _entries(store: Store, corpus: Corpus) -> dict[Key, CorpusEntry]:
    return {_key(one): one for one in load_entries(store, corpus)}


def _paired(
    ours: dict[Key, CorpusEntry], theirs: dict[Key, CorpusEntry]
) -> tuple[list[Pair], list[CorpusEntry], list[CorpusEntry]]:
    """The same documents, those of the baseline alone, those of the candidate alone; by id and version."""
    pairs = {key: Pair(ours[key], theirs[key]) for key in ours.keys() & theirs.keys()}
    left: dict[str, tuple[list[CorpusEntry], list[CorpusEntry]]] = defaultdict(lambda: ([], []))
    for side, entries in enumerate((ours, theirs)):
        for key, one in entries.items():
            if key not in pairs:
                left[key[0]][side].append(one)
    gone: list[CorpusEntry] = []
    new: list[CorpusEntry] = []
    for before, after in left.values():
        if len(before) == len(after) == 1:
            pairs[before[0].document_id, before[0].version] = Pair(before[0], after[0])
        else:
            gone += before
            new += after
    return [pairs[key] for key in sorted(pairs)], sorted(gone, key=_key), sorted(new, key=_key)


def _key(entry: CorpusEntry) -> Key:
    return entry.document_id, entry.version


def _name(entry: CorpusEntry) -> str:
    """The id, with its version where that tells more than that there is one."""
    return entry.document_id if entry.version == "1" else f"{entry.document_id}@{entry.version}"


_WORDS = {"normaliser": "normaliser", "prepared": "preparation"}
_MADE_BY = ("parser", "normaliser", "prepared")


def _reparsed(pair: Pair) -> bool:
    return any(getattr(pair.before, name) != getattr(pair.after, name) for name in _MADE_BY)


def _declared(before: Corpus, after: Corpus) -> Iterator[Change]:
    """What the declarations of two whole corpora say otherwise, fact by fact."""
    ours, theirs = (one.provenance or Provenance() for one in (before, after))
    for name in ours.__struct_fields__:
        one, other = getattr(ours, name), getattr(theirs, name)
        if one != other:
            told = (text_of(each) if each else None for each in (one, other))
            tools = name == "transformations" and _tools(before) != _tools(after)
            yield change("parser" if tools else "document_metadata", f"{name} of the corpus", *told)


def _tools(corpus: Corpus) -> list[str]:
    """What the whole corpus went through before it was read, as it was declared."""
    return [one.told for one in corpus.provenance.transformations] if corpus.provenance is not None else []


def _parsers(moved: list[Pair]) -> Iterator[Change]:
    """One change a pair of parsers, and a pair of normalisers, however many documents went through them."""
    for field in _MADE_BY:
        counts: Counter[tuple[str, str]] = Counter()
        first: dict[tuple[str, str], str] = {}
        for one in moved:
            pair = (getattr(one.before, field) or "nothing", getattr(one.after, field) or "nothing")
            if pair[0] != pair[1]:
                counts[pair] += 1
                first.setdefault(pair, one.before.document_id)
        for (before, after), count in sorted(counts.items()):
            of = first[before, after] if count == 1 else many(count, "document")
            yield change("parser", of if field == "parser" else f"{_WORDS[field]} of {of}", before, after)


def _of_pair(pair: Pair, follows: frozenset[str], *, reparsed: bool) -> Iterator[Change]:
    before, after = pair
    name = before.document_id
    text = before.text_digest != after.text_digest
    if text and not reparsed:
        yield change("document_text", name, before.text_digest, after.text_digest)
    if before.auth_digest != after.auth_digest:
        yield change("document_acl", name, before.auth_digest, after.auth_digest)
    if before.meta_digest != after.meta_digest and name not in follows:
        yield change("document_metadata", name, before.meta_digest, after.meta_digest)
    elif before.version != after.version and not text and before.auth_digest == after.auth_digest:
        yield change("document_metadata", f"{name} version"[:512], before.version, after.version)


def _follows(store: Store, corpora: tuple[Corpus, Corpus], moved: list[Pair]) -> frozenset[str]:
    """Ids of documents whose text or parser moved and of whose description only that moved which follows from it.

    Of a referenced corpus nobody knows; there the description counts.
    """
    wanted = {
        one.before.document_id
        for one in moved
        if one.before.meta_digest != one.after.meta_digest
        and (one.before.text_digest != one.after.text_digest or _reparsed(one))
    }
    if not wanted or "referenced" in {one.mode for one in corpora}:
        return frozenset()
    ours, theirs = (
        {(one.document_id, one.version): one for one in corpus_room.load(store, each) if one.document_id in wanted}
        for each in corpora
    )
    return frozenset(
        one.before.document_id
        for one in moved
        if one.before.document_id in wanted and _about(ours[_key(one.before)]) == _about(theirs[_key(one.after)])
    )


def _about(document: Document) -> tuple[object, ...]:
    kept = msgspec.structs.replace(document.provenance or Provenance(), transformations=())
    return (kept, *(getattr(document, name) for name in _ABOUT))
