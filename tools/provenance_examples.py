"""Records of where data come from, for the golden vectors. Invented; writes nothing itself."""

from __future__ import annotations

from ragassay.records.base import Record
from ragassay.records.canonical import digest_bytes
from ragassay.records.document import Corpus, Document
from ragassay.records.provenance import Provenance, Source, SourceFile, Transformation

SCAN, TEXT = (digest_bytes(one) for one in (b"a scan", b"its text"))
LETTERS = Provenance(
    origin="the archive of the town, box 12", owner="Town of Ahrenfeld", licence="CC-BY-4.0",
    collection="scanned in 2026 by the archive", authorisation="letter of 2026-05-02: evaluation only",
    transformations=(
        Transformation(kind="ocr", name="tesseract 5.5.1", before=SCAN, after=TEXT, note="German Fraktur"),
        Transformation(kind="redact", name="names 2", before=TEXT),
    ),
    limits=("pages 3 and 4 are missing", "names are left out"),
)  # fmt: skip


def provenance() -> dict[str, Record]:
    """A document that says all that there is to say, one that says nothing, and a corpus with its files."""
    told = Document(
        document_id="letter-12", version="1", text="Dear Sir", parser="text/1", normaliser="bom/1", tenants=("*",),
        provenance=LETTERS, source=Source(file="box-12/letter.txt", digest=TEXT),
    )  # fmt: skip
    silent = Document(
        document_id="letter-13", version="1", text="Dear Madam", parser="jsonl/1", normaliser="none/1",
        source=Source(file="letters.jsonl", line=13, digest=digest_bytes(b"a line")),
    )  # fmt: skip
    corpus = Corpus(
        digest=Corpus.digest_entries([told.entry(), silent.entry()]), documents=2, mode="embedded",
        blob=digest_bytes(b"blob"), provenance=Provenance(licence="CC-BY-4.0", limits=("two letters only",)),
        sources=digest_bytes(b"files"),
    )  # fmt: skip
    file = SourceFile(file="letters.jsonl", digest=digest_bytes(b"a file"), size=6, documents=1)
    return {
        "provenance-document": told, "provenance-document-silent": silent, "provenance-entry": told.entry(),
        "provenance-corpus": corpus, "sourcefile": file,
    }  # fmt: skip
