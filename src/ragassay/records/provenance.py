"""Where data come from, under which terms, and what was done to them, step by step. Believes and checks nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, Record, require
from ragassay.records.text import is_digest

Said = Annotated[str, Meta(min_length=1, max_length=2000)]
Named = Annotated[str, Meta(min_length=1, max_length=512)]
_MOST = 100
TransformationKind = Literal["convert", "ocr", "parse", "normalise", "redact", "translate", "other"]


class Transformation(Record, frozen=True, kw_only=True):
    """One thing that was done to a text: which tool did it, and the bytes before and after, where they are known."""

    kind: TransformationKind
    name: Named
    """Tool and version, such as `tesseract 5.5.1`."""
    before: Digest | None = None
    after: Digest | None = None
    note: Said | None = None

    def __post_init__(self) -> None:
        require(all(one is None or is_digest(one) for one in (self.before, self.after)), "before, after: digests")

    @property
    def told(self) -> str:
        """Kind and tool, as lists of them say it."""
        return f"{self.kind} {self.name}"


class Provenance(Record, frozen=True, kw_only=True):
    """What is known of where data come from. What is absent is not known; nobody fills it in."""

    origin: Said | None = None
    """From where: an address, a system, an archive."""
    owner: Said | None = None
    """Whose it is."""
    licence: Said | None = None
    """Its SPDX name, an address, or a sentence."""
    collection: Said | None = None
    """How and when it was collected."""
    authorisation: Said | None = None
    """By whose leave it is used here, and for what."""
    transformations: tuple[Transformation, ...] = ()
    """What was done to it before it was read here, in order."""
    limits: tuple[Said, ...] = ()
    """What is known to be wrong with it, or missing from it."""

    def __post_init__(self) -> None:
        for name in ("transformations", "limits"):
            require(len(getattr(self, name)) <= _MOST, f"{name} has more than {_MOST} entries")

    def over(self, other: Provenance | None) -> Provenance:
        """This, and what only the other one says."""
        if other is None:
            return self
        own = {name: getattr(self, name) for name in self.__struct_fields__}
        return Provenance(**{name: value or getattr(other, name) for name, value in own.items()})

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return self == Provenance()


FACTS = ("origin", "owner", "licence", "collection", "authorisation")
"""What a data card counts, fact by fact."""


class Source(Record, frozen=True, kw_only=True):
    """The place that a document was read from."""

    file: Annotated[str, Meta(min_length=1)]
    """Below the folder that was read, or the name of the file."""
    line: Annotated[int, Meta(ge=1)] | None = None
    """Line, or row, on which it begins, from 1; absent if all of the file is the document."""
    digest: Digest | None = None
    """Of the file's bytes, or of those of its lines without the last line's end; absent where it is no bytes."""

    def __post_init__(self) -> None:
        require(self.digest is None or is_digest(self.digest), "digest must be a digest")


class SourceFile(Record, frozen=True, kw_only=True):
    """One file that documents were read from, as it was then."""

    file: Annotated[str, Meta(min_length=1)]
    digest: Digest
    """SHA-256 of its bytes, packed ones as they are."""
    size: Annotated[int, Meta(ge=0)]
    """In bytes."""
    documents: Annotated[int, Meta(ge=0)]
