"""What faults need in order to strike: repeats, older versions, drafts that a filter hides. Searches nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from ragassay.errors import UsageError
from ragassay.records.base import DocumentId, Instant, Scalar
from ragassay.records.document import Document, Passage
from ragassay.trials.faults.chance import struck
from ragassay.trials.faults.older import older_text

MIRROR, DRAFT = "~mirror", "~draft"
OLDER = "0"
"""The version of an older wording."""
UNTIL = Instant("2000-01-01T00:00:00Z")
"""When the older wording of every document ended."""
WHERE: Mapping[str, Scalar] = {"status": "live"}
"""What a sound system asks of the metadata."""
_HALF = 0.5


def ground(documents: Iterable[Document], *, share: float = _HALF, seed: int = 0) -> list[Document]:
    """The documents, marked as live, each with its older version (no longer valid), and, of a share of them each, a
    mirror (the same under another id) and a draft (the older wording under another id, which the metadata tell).

    What a sound system finds is what it found before, each repeat included. UsageError for a document of version `0`.

    >>> one = Document(document_id="a", version="1", text="It rains.", parser="p/1", normaliser="n/1", tenants=("*",))
    >>> [(each.document_id, each.version) for each in ground([one], share=1.0)]
    [('a', '1'), ('a', '0'), ('a~mirror', '1'), ('a~mirror', '0'), ('a~draft', '1')]
    """
    made: list[Document] = []
    for one in documents:
        if one.version == OLDER:
            raise UsageError(f"document {one.document_id!r} has the version {OLDER!r}", hint="it means: older")
        names = [one.document_id]
        if struck(seed, f"{one.document_id}{MIRROR}", share):
            names.append(DocumentId(f"{one.document_id}{MIRROR}"))
        text = older_text(one.text, one.document_id)
        for name in names:
            live = replace(one, document_id=name, metadata={**one.metadata, **WHERE})
            made += [live, replace(live, version=OLDER, text=text, valid_until=UNTIL)]
        if struck(seed, f"{one.document_id}{DRAFT}", share):
            draft = {**one.metadata, "status": "draft"}
            made.append(replace(one, document_id=DocumentId(f"{one.document_id}{DRAFT}"), text=text, metadata=draft))
    return made


def opened(documents: Iterable[Document], names: Collection[str]) -> list[Document]:
    """The documents as one reads them who overlooks that the older versions of some, by their base, have ended."""
    return [
        replace(one, valid_until=None) if one.version == OLDER and base(one.document_id) in names else one
        for one in documents
    ]


def base(document_id: str) -> str:
    """The document that a mirror or a draft is one of."""
    return document_id.removesuffix(MIRROR).removesuffix(DRAFT)


def is_older(passage: Passage) -> bool:
    """Whether a passage is of an older version."""
    return passage.sources[0].version == OLDER
