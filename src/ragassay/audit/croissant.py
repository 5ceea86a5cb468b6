"""The data behind a run as a Croissant 1.0 description (JSON-LD): whose, under which terms, and which bytes. Fills in
nothing that is not recorded, and copies no text.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from ragassay import corpus as corpus_room
from ragassay.audit.archive import OBJECTS
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark
from ragassay.records.document import Corpus
from ragassay.records.protocol import Protocol, Run
from ragassay.records.provenance import Provenance
from ragassay.records.text import many
from ragassay.store import Store

CONFORMS = "http://mlcommons.org/croissant/1.0"
CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
    "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet",
    "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
    "equivalentProperty": "cr:equivalentProperty", "samplingRate": "cr:samplingRate",
    "rai": "http://mlcommons.org/croissant/RAI/", "recordSet": "cr:recordSet", "references": "cr:references",
    "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""The context of the specification, section *Namespaces and @context*."""
_FORMATS = {
    ".jsonl": "application/jsonlines", ".json": "application/json", ".csv": "text/csv",
    ".parquet": "application/x-parquet", ".md": "text/markdown", ".txt": "text/plain", ".html": "text/html",
    ".htm": "text/html", ".pdf": "application/pdf", ".gz": "application/gzip", ".xml": "text/xml",
}  # fmt: skip
_ANY = "application/octet-stream"
_DOCUMENTS = {
    "embedded": ("document_id", "version", "text", "parser", "normaliser"),
    "referenced": ("document_id", "version", "text_digest", "parser", "normaliser"),
}
_SAID = {
    "query_id": "The question's own id.",
    "query": "The question as it was asked.",
    "document_id": "The document's own id.",
    "version": "Which version of it.",
    "text": "Its text after parsing, into which spans of labels point (Unicode code points).",
    "text_digest": "SHA-256 of that text, which is not stored here.",
    "parser": "What made a text of its bytes.",
    "normaliser": "What was done with that text.",
}
"""Field -> what it is. Every stored line has them, whatever else it has."""


def croissant(store: Store, run: Digest) -> dict[str, Any]:
    """The benchmark of a run and the corpus that it stands on, as one data set.

    `distribution` names the stored lines of questions and documents as an exported file of evidence holds them, and the
    files that documents were read from, each with its SHA-256; `recordSet` the fields that every such line has, of a
    corpus without texts the digests of those. Raises IntegrityError for damaged records.
    """
    protocol = store.get_record(Protocol, store.get_record(Run, run).protocol)
    benchmark = store.get_record(Benchmark, protocol.objects["benchmark"])
    corpus = store.get_record(Corpus, protocol.objects["corpus"])
    told = (benchmark.provenance or Provenance()).over(corpus.provenance)
    made: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": benchmark.name,
        "version": benchmark.version,
        "description": _described(benchmark, corpus),
        "isLiveDataset": False,
        "distribution": [_stored("questions", benchmark.blob), _stored("documents", corpus.blob),
                         *_files(store, corpus)],
        "recordSet": [_records("questions", ("query_id", "query")),
                      _records("documents", _DOCUMENTS[corpus.mode], key=("document_id", "version"))],
    }  # fmt: skip
    both = (benchmark.provenance, corpus.provenance)
    made |= _each("license", [one.licence for one in both if one])
    made |= _each("creator", [one.owner for one in both if one], as_owner=True)
    made |= {"url": told.origin} if told.origin and "://" in told.origin else {}
    made |= _each("isBasedOn", [one.origin for one in both if one])
    made |= _each("rai:dataCollection", [one.collection for one in both if one])
    made |= _each("usageInfo", [one.authorisation for one in both if one])
    made |= _each("rai:dataLimitations", [limit for one in both if one for limit in one.limits])
    made |= _each("rai:dataPreprocessingProtocol", [one.told for own in both if own for one in own.transformations])
    return made


def _described(benchmark: Benchmark, corpus: Corpus) -> str:
    told = f"{many(benchmark.cases, 'question')} with labels over {many(corpus.documents, 'document')}."
    return f"{told} {benchmark.notes}" if benchmark.notes else told


def _each(name: str, said: list[str | None], *, as_owner: bool = False) -> dict[str, Any]:
    """A property with what is recorded, once each; no property where nothing is."""
    kept = list(dict.fromkeys(one for one in said if one))
    values = [{"@type": "sc:Organization", "name": one} if as_owner else one for one in kept]
    return {} if not values else {name: values[0] if len(values) == 1 else values}


def _stored(what: str, blob: Digest) -> dict[str, Any]:
    plain = blob.removeprefix("sha256:")
    return {
        "@type": "cr:FileObject", "@id": what, "name": what, "contentUrl": f"{OBJECTS}{plain}",
        "description": f"The {what} as they were sealed: JSON lines, packed with zstd.",
        "encodingFormat": ["application/zstd", "application/jsonlines"], "sha256": plain,
    }  # fmt: skip


def _records(what: str, fields: tuple[str, ...], key: tuple[str, ...] = ()) -> dict[str, Any]:
    """The lines of one of the stored files; the first field is their key, if no other is said."""
    own, place = what.removesuffix("s"), {"@id": what}
    return {
        "@type": "cr:RecordSet", "@id": f"{own}-records", "name": f"{own}-records",
        "description": f"One line of {what} each, when these are unpacked (zstd).",
        "key": [{"@id": f"{own}-records/{one}"} for one in key or fields[:1]],
        "field": [
            {
                "@type": "cr:Field", "@id": f"{own}-records/{one}", "name": f"{own}-records/{one}",
                "description": _SAID[one], "dataType": "sc:Text",
                "source": {"fileObject": place, "extract": {"column": one}},
            }
            for one in fields
        ],
    }  # fmt: skip


def _files(store: Store, corpus: Corpus) -> list[dict[str, Any]]:
    return [
        {
            "@type": "cr:FileObject", "@id": f"source-{number}", "name": PurePosixPath(one.file).name,
            "contentUrl": one.file, "contentSize": f"{one.size} B",
            "description": f"{many(one.documents, 'document')} of the corpus {'was' if one.documents == 1 else 'were'} "
                           "read from it.",
            "encodingFormat": _FORMATS.get(PurePosixPath(one.file).suffix.lower(), _ANY),
            "sha256": one.digest.removeprefix("sha256:"),
        }
        for number, one in enumerate(corpus_room.load_sources(store, corpus), 1)
    ]  # fmt: skip
