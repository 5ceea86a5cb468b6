"""CSV and Parquet: values by hand, and against pandas and pyarrow as independent writers and readers."""

from __future__ import annotations

import csv
import gzip
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.corpus import build, load_skipped, read
from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.store import Store

MAPPED = {"document_id": "ID", "text": ["Titel", "Inhalt"]}


def sheet(folder: Path, text: str | bytes, name: str = "d.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_sheet_as_a_german_excel_writes_it(tmp_path: Path) -> None:
    text = '\ufeffsep=;\r\nID;Titel;Inhalt;Zahl\r\n7;Über;"a ""b"";\r\nc";3,5\r\n8;;x;\r\n;;;\r\n'
    found = read(sheet(tmp_path, text), columns=MAPPED)
    assert found.format == "csv"
    assert [(one.document_id, one.text, one.normaliser) for one in found] == [
        ("7", 'Über\n\na "b";\r\nc', "joined/1"),
        ("8", "x", "joined/1"),
    ]
    assert found.unread == ["Zahl"]
    assert found[0].parser == "csv/1"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_pandas_writes_is_read_back(tmp_path: Path, delimiter: str, encoding: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"document_id": ["a", "b"], "text": ['x;,|\t"\n y', "é 日本 😀"], "title": ["t", None]})
    path = tmp_path / "d.csv"
    frame.to_csv(path, sep=delimiter, encoding=encoding, index=False)
    found = read(path)
    assert [(one.document_id, one.text, one.title) for one in found] == [
        ("a", 'x;,|\t"\n y', "t"), ("b", "é 日本 😀", None)
    ]  # fmt: skip


def test_access_cells(tmp_path: Path) -> None:
    text = (
        "document_id,text,tenants,acl_users,acl_groups,valid_from\n"
        "a,x,acme|globex,ann|bo,,2026-01-01\nb,x,,*,,\nc,x,[],[],,\nd,x,*,,editors,\n"
    )
    found = read(sheet(tmp_path, text), default_tenants=["t"])
    assert [one.tenants for one in found] == [("acme", "globex"), ("t",), (), ("*",)]
    assert [one.acl and (one.acl.users, one.acl.groups) for one in found] == [
        (("ann", "bo"), ()), None, ((), ()), ((), ("editors",))
    ]  # fmt: skip
    assert found[0].valid_from == "2026-01-01T00:00:00Z"
    assert read(sheet(tmp_path, "document_id,text,tenants\na,x,\n"))[0].tenants is None


@pytest.mark.parametrize(
    "text, line, message, hint",
    [
        ("document_id,text,acl_users\na,x,\n", 2, "everybody or nobody", "[] for nobody"),
        ("document_id,text,tenant\na,x,y\n", 1, "is it 'tenants'?", "ignored"),
        ("document_id,text,colour\na,x,y\n", 1, "'colour' is no field", "columns ="),
        ("document_id,body\na,x,y\n", 2, "3 cells in a table of 2 columns", "quote"),
        ("document_id,text\na,x\na,y\n", 3, "on line 2 and on line 3", "version"),
        ('document_id,text\na,"x\nb,"y"\n', 2, "broken quotes", '""'),
        ("document_id,text\n,x\n", 2, "nothing is not an id", "whole number"),
        ("name,text\na,x\n", 1, "no column is the document_id", "name, text"),
        ("id,doc_id,text\na,b,x\n", 1, "doc_id and id could both be", "declare"),
        ("document_id,text,text\na,b,x\n", 1, "two columns are named 'text'", "rename"),
        ("document_id,text,\na,b,c\n", 2, "3 cells", "quote"),
        ("document_id,,text\na,b,c\n", 2, "column 2, which has no name", "name it"),
        ("document_id\0,text\na,b\n", 1, "NUL character", "utf-16"),
        ("document_id,text,valid_from\na,b,1.2.2026\n", 2, "not a date", "2026-08-01"),
        ("document_id\ttext\rfoo\tbar\rfoo\tx", 3, "on line 2 and on line 3", "version"),
        ("", None, "empty file", "first row"),
        ("document_id,text\n", None, "no document", "first row"),
    ],
)
def test_what_is_wrong_with_a_sheet(tmp_path: Path, text: str, line: int | None, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read(sheet(tmp_path, text))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.line == line
    assert caught.value.file.endswith("d.csv")


def test_a_sheet_whose_delimiter_is_doubtful_or_wrong(tmp_path: Path) -> None:
    path = sheet(tmp_path, "document_id;text\na;x,y\n")
    assert read(path)[0].text == "x,y"
    with pytest.raises(InputError, match="no column is the document_id"):
        read(path, delimiter=",")
    with pytest.raises(UsageError, match="takes no delimiter"):
        read(path, format="jsonl", delimiter=";")


def test_skipping_names_every_line_and_the_corpus_keeps_them(tmp_path: Path) -> None:
    text = 'document_id,text\na,1\nb\nc,"3\nd,"4"\ne,5\na,6\nf,7\n'
    found = read(sheet(tmp_path, text), on_error="skip")
    assert [one.document_id for one in found] == ["a", "d", "e", "f"]
    assert [(one.file, one.line) for one in found.skipped] == [("d.csv", 3), ("d.csv", 4), ("d.csv", 7)]
    store = Store.open(tmp_path / "store", create=True)
    corpus, _ = build(store, found, name="c")
    assert corpus.skipped_lines == len(found.skipped)
    assert load_skipped(store, corpus) == found.skipped
    checked = store.check()
    assert (checked.damaged, checked.missing, checked.foreign) == ((), (), ())
    clean, _ = build(store, read(sheet(tmp_path, "document_id,text\na,1\n", "e.csv")), name="d")
    assert (clean.skipped_lines, clean.skipped) == (None, None)


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("damage", ["cut", "checksum"])
def test_a_damaged_gzip_ends_the_reading_of_a_sheet(
    tmp_path: Path, damage: str, on_error: Literal["stop", "skip"]
) -> None:
    """It is an error of the file: no row of it, and what stood behind is not left out silently."""
    rows = "".join(f'{at},"text\n{at}"\n' for at in range(200))
    data = gzip.compress(f"document_id,text\n{rows}".encode(), mtime=0)
    path = tmp_path / "sheet.csv.gz"
    path.write_bytes(data[: len(data) // 2] if damage == "cut" else data[:-8] + bytes(4) + data[-4:])
    with pytest.raises(InputError, match="damaged gzip") as error:
        read(path, format="csv", on_error=on_error, default_tenants=["*"])
    assert error.value.file == str(path)


def test_bytes_that_are_not_utf8_are_lossy_and_a_declared_encoding_is_not(tmp_path: Path) -> None:
    path = sheet(tmp_path, "document_id,text\na,café\n".encode("latin-1"))
    (lossy,) = found = read(path)
    assert (lossy.text, lossy.lossy) == ("caf\ufffd", True)
    assert lossy.raw is not None
    assert found.raws[lossy.raw] == b"a,caf\xe9\n"
    (declared,) = read(path, encoding="latin-1")
    assert (declared.text, declared.lossy) == ("café", False)
    with pytest.raises(UsageError, match="encoding is"):
        read(path, encoding="utf-7")


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=5), st.text(max_size=20)),
        min_size=1,
        max_size=5,
        unique_by=lambda one: one[0],
    )
)
@settings(deadline=None, max_examples=100)
def test_rows_that_the_csv_module_writes_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerows([("document_id", "text"), *rows])
    path = tmp_path_factory.mktemp("f") / "d.csv"
    path.write_bytes(out.getvalue().encode())
    assert [(one.document_id, one.text) for one in read(path)] == rows


@given(st.binary(max_size=80), st.sampled_from(["stop", "skip"]))
@settings(deadline=None, max_examples=150)
def test_no_bytes_of_a_sheet_raise_anything_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, on_error: str
) -> None:
    path = tmp_path_factory.mktemp("f") / "d.csv"
    path.write_bytes(b"document_id;text\na;b\n" + data)
    try:
        found = read(path, on_error=on_error)  # type: ignore[arg-type]
    except RagassayError:
        return
    assert found[0].document_id == "a"


def test_parquet_types(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 2, 3, tzinfo=UTC)
    table = pa.table(
        {
            "document_id": [1, 2],
            "text": pa.array(["x", "é"]).dictionary_encode(),
            "tenants": [["a"], None],
            "acl": [{"users": ["u"], "roles": None}, None],
            "valid_from": [moment, None],
            "metadata": [{"n": 1, "deep": {"k": [1]}}, None],
        }
    )
    path = tmp_path / "d.parquet"
    pq.write_table(table, path)
    first, second = found = read(path)
    assert found.format == "parquet"
    assert (first.document_id, first.text, first.tenants) == ("1", "x", ("a",))
    assert first.acl is not None
    assert (first.acl.users, first.acl.roles) == (("u",), ())
    assert (second.text, second.tenants, second.acl) == ("é", None, None)
    assert first.valid_from == "2026-01-02T03:00:00Z"
    assert first.metadata == {"n": 1, "deep": '{"k":[1]}'}


def test_parquet_of_pandas_and_of_several_files(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for name, ids in (("b", ["3"]), ("a", ["1", "2"])):
        frame = pandas.DataFrame({"pk": ids, "head": "H", "body": [f"text {one}" for one in ids], "tenants": None})
        frame.to_parquet(tmp_path / f"{name}.parquet")
    found = read(tmp_path, columns={"document_id": "pk", "text": ["head", "body"]})
    assert [(one.document_id, one.text) for one in found] == [
        ("1", "H\n\ntext 1"), ("2", "H\n\ntext 2"), ("3", "H\n\ntext 3")
    ]  # fmt: skip


def test_parquet_text_that_is_not_utf8_is_lossy(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    bad = pa.array([b"caf\xe9", b"ok"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"document_id": ["a", "b"], "text": bad}), path)
    found = read(path)
    assert [(one.text, one.lossy) for one in found] == [("caf\ufffd", True), ("ok", False)]
    assert list(found.raws.values()) == [b"caf\xe9"]


def test_parquet_that_is_damaged_or_wrong(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"document_id": ["a", "a", None], "text": ["x", "y", "z"]}), path)
    with pytest.raises(InputError, match="on line 1 and on line 2"):
        read(path)
    assert [one.line for one in read(path, on_error="skip").skipped] == [2, 3]
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(path)
    pq.write_table(pa.table({"document_id": ["a"], "text": [{"x": 1}]}), path)
    with pytest.raises(InputError, match="is not text"):
        read(path)
