"""Documents of which another version holds now than before: an edited text, however many versions stay beside it.

Says nothing of corpora of which it does not have the documents.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ragassay import corpus as corpus_room
from ragassay.corpus.access import reference, standing
from ragassay.records.base import Instant
from ragassay.records.document import Corpus, CorpusEntry, Document
from ragassay.store import Store


class Renewed(NamedTuple):
    """One document whose text is another one since another version of it holds."""

    before: CorpusEntry
    after: CorpusEntry

    def explains(self, entry: CorpusEntry) -> bool:
        """Whether an entry is one of the two: that it came, went, ended or holds again is the same change."""
        key = entry.document_id, entry.version
        return key in {(one.document_id, one.version) for one in self}


def renewed(
    store: Store,
    corpora: tuple[Corpus, Corpus],
    entries: tuple[Collection[CorpusEntry], Collection[CorpusEntry]],
    moments: tuple[Instant, Instant],
    ids: Collection[str],
) -> dict[str, Renewed]:
    """Of these ids: those of which exactly one version holds on each side, with texts that differ, of one parser.

    A version holds that is valid at that run's `as_of` and that no other document supersedes then.
    """
    if not ids or "referenced" in {one.mode for one in corpora}:
        return {}
    ours, theirs = (
        _holding(corpus_room.load(store, one), own, moment, ids)
        for one, own, moment in zip(corpora, entries, moments, strict=True)
    )
    found = {}
    for name in sorted(ours.keys() & theirs.keys()):
        pair = Renewed(ours[name], theirs[name])
        parsers, versions, texts = (
            {getattr(one, field) for one in pair} for field in ("parser", "version", "text_digest")
        )
        if len(parsers) == 1 and len(versions) == len(texts) == 2:
            found[name] = pair
    return found


def _holding(
    documents: Collection[Document], entries: Collection[CorpusEntry], moment: Instant, ids: Collection[str]
) -> dict[str, CorpusEntry]:
    """Id -> its only version that holds."""
    stands = standing(documents, moment)
    by_key = {(one.document_id, one.version): one for one in entries}
    held: dict[str, list[CorpusEntry]] = {}
    for one in documents:
        if one.document_id in ids and stands[reference(one)].current:
            held.setdefault(one.document_id, []).append(by_key[one.document_id, one.version])
    return {name: own[0] for name, own in held.items() if len(own) == 1}
