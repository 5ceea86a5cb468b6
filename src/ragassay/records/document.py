"""Documents, the corpus that they make, and its segmentation into passages. Knows no file format."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, DocumentId, Instant, Metadata, PassageId, Record, require
from ragassay.records.canonical import digest_of, digest_set, digest_text, is_digest
from ragassay.records.provenance import Provenance, Source, Transformation
from ragassay.records.text import in_order, is_instant

Name = Annotated[str, Meta(min_length=1, max_length=512)]
_LONGEST = 512
Count = Annotated[int, Meta(ge=0)]
Rank = Annotated[int, Meta(ge=1)]

Transform = Literal["slice", "decorated", "derived"]
"""slice: the text is exactly its source; decorated: a heading or title is prefixed; derived: rewritten."""


class Acl(Record, frozen=True, kw_only=True):
    """Who may read: anybody with a listed user id, group or role. Empty admits nobody."""

    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()


class DocumentRef(Record, frozen=True, kw_only=True):
    """One version of one document."""

    document_id: DocumentId
    version: Name


class Document(Record, frozen=True, kw_only=True):
    """One version of one source text. Offsets into it are Unicode code points of `text`."""

    document_id: Annotated[DocumentId, Meta(min_length=1, max_length=512)]
    version: Name
    text: str
    """May be empty: some collections hold an empty document that is judged relevant."""
    parser: Name
    normaliser: Name
    title: str | None = None
    url: str | None = None
    tenants: tuple[str, ...] | None = None
    """`["*"]` is public; absent admits nobody."""
    acl: Acl | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    supersedes: DocumentRef | None = None
    metadata: Metadata = {}
    lossy: bool = False
    raw: Digest | None = None
    """The raw bytes as a blob, when `lossy`."""
    provenance: Provenance | None = None
    """Of this document; what it does not say, its corpus may say for all."""
    source: Source | None = None
    """The place that it was read from: circumstance, not identity, so no digest of the corpus holds it."""

    def __post_init__(self) -> None:
        for moment in (self.valid_from, self.valid_until):
            require(moment is None or is_instant(moment), f"{moment!r} is not an instant such as 2026-08-01T00:00:00Z")
        require(in_order(self.valid_from, self.valid_until), "valid_until is before valid_from")
        require(self.raw is None or is_digest(self.raw), "raw must be a digest")

    def sameness(self) -> tuple[str, str]:
        """Equal for two documents of equal text and authorization.

        Documents of which no text is known are not equal: only their ids tell them apart.
        """
        if not self.text.strip():
            return self.document_id, self.version
        entry = self.entry()
        return entry.text_digest, entry.auth_digest

    def entry(self) -> CorpusEntry:
        """What the corpus digest covers of this document."""
        about: dict[str, object] = {
            "title": self.title or "",
            "url": self.url or "",
            "valid_from": self.valid_from or "",
            "valid_until": self.valid_until or "",
            "supersedes": self.supersedes or {},
            "metadata": self.metadata,
            "lossy": self.lossy,
            "raw": self.raw or "",
        }
        if self.provenance is not None:
            about["provenance"] = self.provenance
        access = {
            "tenants": ["given", *sorted(set(self.tenants))] if self.tenants is not None else ["absent"],
            "acl": ["absent"]
            if self.acl is None
            else [
                "given",
                sorted(set(self.acl.roles)),
                sorted(set(self.acl.groups)),
                sorted(set(self.acl.users)),
            ],
        }
        return CorpusEntry(
            document_id=self.document_id,
            version=self.version,
            text_digest=digest_text(self.text),
            auth_digest=digest_of(access),
            meta_digest=digest_of(about),
            parser=self.parser,
            normaliser=self.normaliser,
            prepared=self._prepared(),
        )

    def _prepared(self) -> str | None:
        """The tools of its declared transformations, in order."""
        steps = self.provenance.transformations if self.provenance is not None else ()
        told = "; ".join(one.told for one in steps)
        return None if not told else told if len(told) <= _LONGEST else f"{told[:400]} {digest_text(told)}"

    def transformations(self) -> tuple[Transformation, ...]:
        """Everything that was done to it, in order: what was declared, then reading, then normalising."""
        read = self.source.digest if self.source is not None else None
        whole = self.normaliser.startswith("none")
        text = digest_text(self.text)
        own = Transformation(kind="parse", name=self.parser, before=read, after=text if whole else None)
        declared = self.provenance.transformations if self.provenance is not None else ()
        last = () if whole else (Transformation(kind="normalise", name=self.normaliser, after=text),)
        return (*declared, own, *last)


class CorpusEntry(Record, frozen=True, kw_only=True):
    """One line of the corpus digest: text, authorization and description each have a digest of their own."""

    document_id: DocumentId
    version: Name
    text_digest: Digest
    auth_digest: Digest
    meta_digest: Digest
    parser: Name
    normaliser: Name
    prepared: Name | None = None
    """What was done to it before it was read, as it was declared: tools in order."""


class SkippedLine(Record, frozen=True, kw_only=True):
    """One line, row, block or file that a reader could not read and was told to leave out."""

    file: str
    """As the source names it: below the folder that was read, or the name of the file that was read."""
    reason: str
    line: Rank | None = None
    """Line, or row of a Parquet file, from 1; absent if all of the file is meant."""
    field: str | None = None


class Corpus(Record, frozen=True, kw_only=True):
    """An immutable set of document versions. Identity is `digest`; the rest says where the bytes are."""

    digest: Digest
    """`digest_set` over the digests of the entries, so mode and order do not count."""
    documents: Count
    mode: Literal["embedded", "referenced"]
    blob: Digest
    """Embedded: JSON lines of Document (zstd). Referenced: JSON lines of CorpusEntry (zstd)."""
    default_tenants: tuple[str, ...] | None = None
    """What the builder wrote into documents that named no tenant."""
    skipped_lines: Rank | None = None
    """How many lines of the source were left out (`on_error = "skip"`); absent if none was."""
    skipped: Digest | None = None
    """JSON lines of SkippedLine (zstd): each one that was left out, in the order of reading."""
    provenance: Provenance | None = None
    """Of the whole corpus, as it was declared; a document's own word goes before it."""
    sources: Digest | None = None
    """JSON lines of SourceFile (zstd): the files that it was read from, by name."""

    def __post_init__(self) -> None:
        require((self.skipped is None) == (self.skipped_lines is None), "skipped and skipped_lines go together")

    @staticmethod
    def digest_entries(entries: list[CorpusEntry]) -> Digest:
        """The corpus digest of these entries."""
        return digest_set(digest_of(entry) for entry in entries)


class Span(Record, frozen=True, kw_only=True):
    """Code points `start` to `end` (exclusive) of one version of one document."""

    document_id: DocumentId
    version: Name
    start: Count
    end: Count

    def __post_init__(self) -> None:
        require(self.start <= self.end, f"a span from {self.start} to {self.end} ends before it starts")


class Passage(Record, frozen=True, kw_only=True):
    """One chunk: its text and where in the corpus it comes from."""

    passage_id: PassageId
    text: str
    sources: tuple[Span, ...]
    transform: Transform


class Segmentation(Record, frozen=True, kw_only=True):
    """How a corpus was cut, and into what."""

    corpus: Digest
    chunker: Name
    chunker_version: Name
    parameters: Metadata
    """Size, overlap, tokenizer, headings, tables: everything that the chunker was told."""
    passages: Count
    passages_digest: Digest
    """`digest_set` over the digests of the passages."""
    blob: Digest
    """JSON lines of Passage (zstd), in document order."""

    def identity(self) -> Digest:
        """The digest that a Subject names: all but where the bytes are."""
        return digest_of([self.corpus, self.chunker, self.chunker_version, self.parameters, self.passages_digest])
