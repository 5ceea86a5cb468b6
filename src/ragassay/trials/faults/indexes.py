"""Six ways in which what is searched is not what was sealed, document by document. Asks nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from ragassay.corpus.segment import chunk
from ragassay.records.base import PassageId
from ragassay.records.document import Document, Passage
from ragassay.trials.faults.chance import place, struck
from ragassay.trials.faults.ground import OLDER, base, is_older

COPIES = 3
"""How often a document is indexed again."""
SHIFT = 150
"""Code points by which a place is given wrong."""
_HALF = 0.5
Told = dict[str, Any]
"""Of an item: what the system says of it beside its score."""


class Extra(NamedTuple):
    """A passage that a faulty index may hold, of which document, and what the system says of it."""

    passage: Passage
    document_id: str
    told: Told
    like: int | None
    """Number of the sealed passage that has the same words."""


class Holding(NamedTuple):
    """What a faulty index holds: numbers of passages (the sealed ones first, then the extra ones), arm by arm."""

    lexical: list[int] | None
    """None: what was sealed."""
    vector: list[int]
    opened: frozenset[str]
    """Documents whose older version is found as if it held; of every other document it is held and not found."""


Extras = Callable[[Sequence[Document], Sequence[Passage], Mapping[str, int]], Iterator[Extra]]


class IndexFault(NamedTuple):
    """What it may add to an index, and what the index holds of it at a seed and a strength."""

    extras: Extras | None = None
    instead: bool = True
    """Struck documents lose the passages that they have."""
    older: bool = False
    """Struck documents have those of their older version, if there is one."""
    vector_only: bool = False
    half: bool = False
    """Of the struck documents only a half (by chance) has other passages; the others have none."""


def holding(
    fault: IndexFault, passages: Sequence[Passage], extras: Sequence[Extra], seed: int, strength: float
) -> Holding:
    """What is searched. At strength 0 it is what was sealed."""
    hit = {key: struck(seed, key, strength) for key in {document_of(one) for one in passages}}
    opened = frozenset(
        key
        for key, own in hit.items()
        if own and fault.older and not (fault.half and place(seed, f"{key} is new") < _HALF)
    )
    held = []
    for number, one in enumerate(passages):
        key = document_of(one)
        if not (hit[key] and fault.instead) or (is_older(one) and key in opened):
            held.append(number)
    held += [number for number, one in enumerate(extras, len(passages)) if hit[one.document_id]]
    return Holding(None if fault.vector_only else held, held, opened)


def document_of(passage: Passage) -> str:
    """The document of a passage; that of a mirror or a draft is the one that it is of."""
    return base(passage.sources[0].document_id)


def _copies(_documents: Sequence[Document], passages: Sequence[Passage], _cut: Mapping[str, int]) -> Iterator[Extra]:
    for like, one in _searched(passages):
        for number in range(COPIES):
            name = f"{one.passage_id}#copy{number}"
            yield _extra(one, f"copy{number}", one.text, {"id": name, "text": one.text}, like)


def _shifted(documents: Sequence[Document], passages: Sequence[Passage], _cut: Mapping[str, int]) -> Iterator[Extra]:
    """Every passage with a place in its document that is off by SHIFT, and without its text."""
    lengths = {one.document_id: len(one.text) for one in documents}  # the same in every version
    for number, one in _searched(passages):
        span = one.sources[0]
        end = min(span.end + SHIFT, lengths[span.document_id])
        told = {
            "id": f"chunk-{number}", "document_id": span.document_id, "version": span.version,
            "start": min(span.start + SHIFT, end), "end": end,
        }  # fmt: skip
        yield _extra(one, "shifted", one.text, told, number)


def _apart(documents: Sequence[Document], _passages: Sequence[Passage], cut: Mapping[str, int]) -> Iterator[Extra]:
    """Every document cut at the same size without an overlap."""
    current = [one for one in documents if one.version != OLDER]
    for one in chunk(current, chunker="tokens", size=cut["size"], overlap=0):
        yield _extra(one, "apart", one.text, {"id": str(one.passage_id), "text": one.text}, None)


def _searched(passages: Sequence[Passage]) -> Iterator[tuple[int, Passage]]:
    return ((number, one) for number, one in enumerate(passages) if not is_older(one))


def _extra(one: Passage, why: str, text: str, told: Told, like: int | None) -> Extra:
    made = replace(one, passage_id=PassageId(f"{one.passage_id}#{why}"), text=text)
    return Extra(made, document_of(one), told, like)


INDEXES: Mapping[str, IndexFault] = {
    "stale documents": IndexFault(older=True),
    "missing documents": IndexFault(),
    "duplicated documents": IndexFault(_copies, instead=False),
    "shifted spans": IndexFault(_shifted),
    "overlap lost": IndexFault(_apart),
    "yesterday's index": IndexFault(older=True, vector_only=True, half=True),
}
