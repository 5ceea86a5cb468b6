"""Rows of the mutation table for documents: every format that `ragassay.corpus.read` knows."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

from ragassay.corpus import chunk, read
from trials.mutations import Seeded

JSONL = [
    {"document_id": "a", "text": "One. Two!\n\nThree?", "title": "T", "tenants": ["x", "*"], "acl": {"roles": ["r"]}},
    {
        "documentId": "b",
        "text": "",
        "validFrom": "2026-01-01",
        "metadata": {"n": 1.5, "l": ["a", True]},
        "version": "2",
    },
    {"document_id": "c", "text": "日本語のテキスト。😀", "supersedes": {"document_id": "b", "version": "2"}},
]
BEIR = [
    {"_id": str(at), "title": f"Title {at}", "text": f"Text {at}. ü", "metadata": {"u": {"v": [1]}}} for at in range(4)
]
DOCS = [{"doc_id": f"d{at}", "title": "T", "body": "Body text.", "date": 3} for at in range(4)]
CSV = (
    "\ufeffsep=;\r\ndocument_id;text;title;tenants;acl_users;valid_from\r\n"
    '1;"a ""b""\r\nc";T;x|y;*;2026-01-01\r\n2;d;;*;ann|bo;\r\n;;;;;\r\n'
)
TREC = """<?xml version="1.0"?>
<DOC>
<DOCNO> AP-1 </DOCNO><HEADLINE>Head &amp; line</HEADLINE>
<TEXT><P>First a < b &hyph; c.</P><P>Second <F P=105>x</F></P><!-- no --></TEXT>
</DOC>
<doc><docno>2</docno><title>t</title><text>t x <![CDATA[<raw> & ]]></text></doc>
"""
HTML = """<!doctype html><html><head><title>T &amp; t</title><meta charset="iso-8859-1"><style>x{}</style></head><body>
<h1>Top</h1><p>One <b>two</b><br>three &eacute;<script>alert("</p>")</script><ul><li>a<ol><li>b</ol></ul>
<table><tr><th>a<th>b<tr><td>1<td>2|3</table><pre>code
 x</pre><blockquote>q</blockquote><table><tr><td><h2>In</h2></table><img alt="pic" src="x"></body></html>"""


def _lines(values: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in values)


def _file(name: str, data: bytes) -> Any:
    def write(folder: Path) -> list[Path]:
        (folder / name).write_bytes(data)
        return [folder / name]

    return write


def _folder(files: dict[str, bytes]) -> Any:
    def write(folder: Path) -> list[Path]:
        for name, data in files.items():
            path = folder / "source" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return [folder / "source"]

    return write


def _parquet(name: str, columns: tuple[str, str]) -> Any:
    def write(folder: Path) -> list[Path]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        sources = []
        for codec in ("NONE", "SNAPPY", "ZSTD", "GZIP"):
            table = pa.table(
                {
                    columns[0]: [f"d{at}" for at in range(20)],
                    columns[1]: [f"Text number {at}. ü" * 3 for at in range(20)],
                    "title": pa.array(["t", None] * 10).dictionary_encode(),
                    "tenants": [["x"], None] * 10,
                }
            )
            path = folder / codec / name
            path.parent.mkdir(parents=True)
            pq.write_table(table, path, compression=codec, row_group_size=7)
            sources.append(path if "/" not in name else folder / codec)
        return sources

    return write


def _read(name: str, **more: Any) -> Any:
    def reading(source: Path, chance: random.Random) -> Any:
        named = name if more or chance.random() < 0.8 else None
        found = read(source, format=named, on_error=chance.choice(("stop", "skip")), default_tenants=["*"], **more)
        for chunker in ("sentences", "markdown", "tokens"):
            chunk(found, chunker=chunker)
        return found

    return reading


def formats() -> dict[str, Seeded]:
    """One row for each format."""
    beir = {"corpus.jsonl": _lines(BEIR), "README.md": b"# data", "qrels/test.tsv": b"q\td\ts\n"}
    return {
        "corpus-jsonl": Seeded(_file("documents.jsonl", _lines(JSONL)), _read("jsonl")),
        "corpus-jsonl-gz": Seeded(_file("documents.jsonl.gz", gzip.compress(_lines(JSONL), mtime=0)), _read("jsonl")),
        "corpus-csv": Seeded(_file("documents.csv", CSV.encode()), _read("csv")),
        "corpus-csv-mapped": Seeded(
            _file("sheet.csv", b"ID,Title,Body\n1,a,b\n2,\"x,y\",z\n"),
            _read("csv", columns={"document_id": "ID", "text": ["Title", "Body"]}, encoding="cp1252"),
        ),
        "corpus-csv-utf16": Seeded(_file("documents.csv", CSV.removeprefix("\ufeff").encode("utf-16")), _read("csv")),
        "corpus-parquet": Seeded(_parquet("documents.parquet", ("document_id", "text")), _read("parquet")),
        "corpus-beir": Seeded(_folder(beir), _read("beir")),
        "corpus-mteb": Seeded(_parquet("corpus/corpus-00000-of-00001.parquet", ("_id", "text")), _read("mteb")),
        "corpus-ir_datasets": Seeded(_folder({"docs.jsonl": _lines(DOCS)}), _read("ir_datasets")),
        "corpus-ir_datasets-tsv": Seeded(
            _folder({"docs.tsv": "1\tone\n2\ttwo ü\n3\t\n".encode()}), _read("ir_datasets", encoding="latin-1")
        ),
        "corpus-trec": Seeded(_folder({"a.sgml": TREC.encode(), "b": TREC.replace("AP-1", "3").replace(">2<", ">4<")
                                       .encode("latin-1")}), _read("trec")),
        "corpus-html": Seeded(_file("page.html", HTML.encode()), _read("html")),
        "corpus-folder": Seeded(
            _folder({"a.md": b"# A\n\n- x\n\n| a |\n|---|\n", "b/c.txt": b"text", "d.html": HTML.encode("latin-1")}),
            _read("folder"),
        ),
    }  # fmt: skip
