"""Documents to a sealed corpus in the store, and back. Reads no source format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from ragassay.errors import InputError, IntegrityError
from ragassay.records.base import Digest
from ragassay.records.document import Corpus, CorpusEntry, Document, SkippedLine
from ragassay.records.provenance import Provenance, SourceFile

if TYPE_CHECKING:
    from ragassay.store import Store


def build(
    store: Store,
    documents: Iterable[Document],
    *,
    name: str,
    mode: Literal["embedded", "referenced"] = "embedded",
    default_tenants: Sequence[str] | None = None,
    provenance: Provenance | None = None,
) -> tuple[Corpus, Digest]:
    """Store documents as an immutable corpus under the ref `corpus/NAME`; the digest is that of the Corpus record.

    `default_tenants` is written into each document that names no tenants, and recorded. `mode` referenced stores
    digests only. `provenance` is that of all documents; what it leaves out, the data set may have said of itself. That,
    the raw bytes of lossy documents, the lines that were left out and the files that were read are taken from the
    `Reading` that a reader returned. The same set of documents gives the same `Corpus.digest` in any order.

    Raises InputError for no documents, one (document_id, version) twice, or raw bytes that nobody has.
    """
    raws: dict[Digest, bytes] = getattr(documents, "raws", {})
    skipped: list[SkippedLine] = getattr(documents, "skipped", [])
    sources: list[SourceFile] = getattr(documents, "sources", [])
    told = (provenance or Provenance()).over(getattr(documents, "provenance", None))
    if default_tenants is None:
        default_tenants = getattr(documents, "default_tenants", None)
    tenants = tuple(default_tenants) if default_tenants is not None else None
    kept = [_with_tenants(one, tenants) for one in documents]
    _check(kept)
    _keep_raws(store, kept, raws)
    entries = [one.entry() for one in kept]
    corpus = Corpus(
        digest=Corpus.digest_entries(entries),
        documents=len(kept),
        mode=mode,
        blob=store.put_lines(kept) if mode == "embedded" else store.put_lines(entries),
        default_tenants=tenants,
        skipped_lines=len(skipped) or None,
        skipped=store.put_lines(skipped) if skipped else None,
        provenance=None if told.empty else told,
        sources=store.put_lines(sources) if sources else None,
    )
    digest = store.put_record(corpus)
    store.set_ref(f"corpus/{name}", digest, kind="corpus")
    return corpus, digest


def load(store: Store, corpus: Corpus) -> list[Document]:
    """The documents of an embedded corpus in the order given to `build`, checked against its digest.

    Raises InputError for a referenced corpus (its text is elsewhere), IntegrityError if the stored lines are not it.
    """
    if corpus.mode != "embedded":
        raise InputError(
            "this corpus is referenced: the store holds its digests, not its text",
            hint="read the documents from where they are, or build the corpus with mode embedded",
        )
    documents = list(store.get_lines(Document, corpus.blob))
    _verify(corpus, [one.entry() for one in documents])
    return documents


def load_entries(store: Store, corpus: Corpus) -> list[CorpusEntry]:
    """What the corpus digest covers, of an embedded or a referenced corpus, checked against the digest."""
    if corpus.mode == "embedded":
        return [one.entry() for one in load(store, corpus)]
    entries = list(store.get_lines(CorpusEntry, corpus.blob))
    _verify(corpus, entries)
    return entries


def load_skipped(store: Store, corpus: Corpus) -> list[SkippedLine]:
    """What was left out when the corpus was read, in the order of reading."""
    return list(store.get_lines(SkippedLine, corpus.skipped)) if corpus.skipped is not None else []


def load_sources(store: Store, corpus: Corpus) -> list[SourceFile]:
    """The files that a corpus was read from, by name; none where nobody recorded them."""
    return list(store.get_lines(SourceFile, corpus.sources)) if corpus.sources is not None else []


def _verify(corpus: Corpus, entries: list[CorpusEntry]) -> None:
    if len(entries) != corpus.documents or Corpus.digest_entries(entries) != corpus.digest:
        raise IntegrityError(
            "the stored documents are not those that the corpus digest names",
            hint="`ragassay store check` names damaged objects; build the corpus again from its source",
        )


def _with_tenants(document: Document, tenants: tuple[str, ...] | None) -> Document:
    if tenants is None or document.tenants is not None:
        return document
    return msgspec.structs.replace(document, tenants=tenants)


def _check(documents: list[Document]) -> None:
    if not documents:
        raise InputError("a corpus of no documents", hint="check what the reader was given")
    seen: set[tuple[str, str]] = set()
    for one in documents:
        key = (one.document_id, one.version)
        if key in seen:
            raise InputError(
                f"document {key[0]!r} version {key[1]!r} is there twice",
                field="document_id",
                hint="give each version of a document its own `version`",
            )
        seen.add(key)


def _keep_raws(store: Store, documents: list[Document], raws: dict[Digest, bytes]) -> None:
    for one in documents:
        if one.raw is None:
            continue
        if one.raw in raws:
            store.put(raws[one.raw])
            continue
        try:
            store.get(one.raw)
        except IntegrityError as cause:
            raise InputError(
                f"the raw bytes of document {one.document_id!r} are neither in the store nor handed over",
                field="raw",
                hint="hand `build` what the reader returned, or leave `raw` out",
            ) from cause
