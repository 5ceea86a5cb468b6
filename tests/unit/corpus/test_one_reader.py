"""Documents and questions are read from tables by the same code: what one door takes, the other takes."""

from __future__ import annotations

import csv
import gzip
import io
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.benchmark import read_benchmark
from ragassay.corpus import csv_rows, parquet_rows, read
from ragassay.errors import InputError, UsageError

SHEET = 'document_id;text\r\na;Größe "in" cm\r\nb;x\r\n'
WANTED = [("a", 'Größe "in" cm'), ("b", "x")]


def both(path: Path, **options: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What each door reads from a table of two columns."""
    documents = [(one.document_id, one.text) for one in read(path, **options)]
    cases = read_benchmark(path, format="csv", columns={"query_id": "document_id", "query": "text"}, **options)
    return documents, [(one.query_id, one.query) for one in cases]


@pytest.mark.parametrize(
    "data, options",
    [
        (SHEET.encode(), {}),
        (SHEET.encode("utf-8-sig"), {}),
        (SHEET.encode("utf-16"), {}),
        (SHEET.encode("utf-16-le"), {"encoding": "utf-16"}),
        (SHEET.encode("cp1252"), {"encoding": "cp1252"}),
        (SHEET.encode("cp1250"), {"encoding": "cp1250"}),
        (SHEET.encode("gb18030"), {"encoding": "gb18030"}),
        (("sep=;\r\n" + SHEET).encode(), {}),
        (("\r\n\r\nsep=;\n" + SHEET).encode(), {}),
        (SHEET.replace("\r\n", "\n").encode(), {}),
        (SHEET.replace("\r\n", "\r").encode(), {}),
        (SHEET.replace("\r\n", "\r").encode("utf-16"), {}),
        (SHEET.replace("\r\n", ";;\r\n").encode(), {}),
        (b'document_id;text;;\na;"Gr\xc3\xb6\xc3\x9fe ""in"" cm";\n;;\nb;x\n;\n', {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_ways_to_write_a_sheet(tmp_path: Path, data: bytes, options: dict[str, Any], packed: bool) -> None:
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert both(path, **options) == (WANTED, WANTED)


@pytest.mark.parametrize(
    "data, options, error",
    [
        (b"PK\x03\x04" + b"x" * 50, {}, "zip archive"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 50, {}, "old Excel"),
        (b"%PDF-1.7\n", {}, "a PDF"),
        (b"PAR1abc", {"format": "csv"}, "Parquet"),
        (b"document_id,text\na,x,y\n", {}, "3 cells in a table of 2"),
        (b"document_id,,text\na,x,y\n", {}, "has no name"),
        (b"document_id,text,text\n", {}, "two columns"),
        (b'document_id,text\na,"x"y\n', {}, "broken quotes"),
        (b"document_id,text\n" + b"," * 10_001, {}, "the most is 10000"),
        (b"document_id,text;document_id\n", {"delimiter": ";;"}, "delimiter is"),
        (SHEET.encode(), {"encoding": "utf-7"}, "encoding is"),
    ],
)
def test_what_neither_takes(tmp_path: Path, data: bytes, options: dict[str, Any], error: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    own = {key: value for key, value in options.items() if key != "format"}
    for reading in (
        lambda: read(path, **{"format": "csv", **options}),
        lambda: read_benchmark(path, format="csv", columns={"query_id": "document_id", "query": "text"}, **own),
    ):
        with pytest.raises((InputError, UsageError), match=error):
            reading()


def test_a_sheet_of_ten_thousand_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    names = ["document_id", "text", *(f"c{at}" for at in range(9_998))]
    path.write_text(f"{','.join(names)}\na,b{',' * 9_998}\n")
    found = read(path, columns={"document_id": "document_id", "text": "text"})
    assert (found[0].text, len(found.unread)) == ("b", 9_998)
    assert len(read_benchmark(path, format="csv", columns={"query": "text"})) == 1


def test_a_delimiter_in_doubt_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,q,b;q;c\n1,2,3;4;5\n")
    with pytest.raises(InputError, match="under ',' and under ';'"):
        read_benchmark(path, format="csv", columns={"query": "q"})
    assert read_benchmark(path, format="csv", columns={"query": "q"}, delimiter=";")[0].query == "4"


def test_half_a_sign_at_the_end_of_utf16_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("document_id,text\na,x".encode("utf-16") + b"\x20")
    (document,) = read(path)
    assert (document.text, document.lossy) == ("x\ufffd", True)


def test_undecodable_bytes_of_other_encodings_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"document_id,text\na,x\x81\xff\nb,fine\n")
    for encoding in ("shift_jis", "gb18030", "euc-kr", "cp1252", "utf-8"):
        first, second = read(path, encoding=encoding)
        assert (first.lossy, "\ufffd" in first.text, second.lossy) == (True, True, False), encoding


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=8)


record = st.tuples(st.uuids().map(str), cell.filter(str.strip))
records = st.lists(record, min_size=1, max_size=6, unique_by=lambda one: one[0])


@given(records,
       st.sampled_from(",;\t|"), st.sampled_from(["\r\n", "\n", "\r"]), st.sampled_from(["utf-8", "utf-16", "gb18030"]),
       st.booleans())  # fmt: skip
def test_both_doors_read_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]], delimiter: str, end: str, encoding: str, packed: bool,
) -> None:  # fmt: skip
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("document_id", "text"), *rows])
    data = text.getvalue().encode(encoding)
    path = tmp_path_factory.mktemp("one") / "t.csv"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert both(path, encoding=encoding) == (rows, rows)


def test_parquet_is_one_reader_with_one_set_of_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    import datetime
    import decimal

    path = tmp_path / "t.parquet"
    table = pa.table({
        "user_input": pa.array(["who", "what"]).dictionary_encode(),
        "reference": pa.array([b"caf\xe9", b"fine"]),
        "reference_contexts": [["a"], ["b", "c"]],
        "persona_name": pa.array([datetime.date(2026, 1, 2), None]),
        "query_style": pa.array([decimal.Decimal("1.50"), None]),
        "deep": pa.array([{"a": [{"b": "x"}]}, None]),
    })  # fmt: skip
    pq.write_table(table, path)
    first, second = read_benchmark(path, format="ragas")
    assert (first.query, first.answers[0].text, first.lossy) == ("who", "caf\ufffd", True)
    assert (second.answers[0].text, second.lossy) == ("fine", False)
    assert "persona_name=2026-01-02" in str(first.slice)
    monkeypatch.setattr(parquet_rows, "MOST_FIELDS", 3)
    for reading in (lambda: read(path), lambda: read_benchmark(path, format="ragas")):
        with pytest.raises(InputError, match="the most is 3"):
            reading()


def test_the_limit_of_the_csv_module_is_put_back(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "t.csv"
    path.write_text("document_id,text\na," + "x" * 200_000 + "\n")
    assert both(path)[1] == [("a", "x" * 200_000)]
    assert csv.field_size_limit() == before
    assert csv_rows.MAX_BYTES > 200_000


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"]
)
def test_one_long_text_said_many_times_is_counted_before_it_is_unpacked(tmp_path: Path, kind: str) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    names = [str(at) for at in range(256)]

    def write(text: str) -> None:
        if kind == "dictionary":
            column = pa.DictionaryArray.from_arrays(pa.array([0] * 256, pa.int32()), pa.array([text]))
        else:
            column = pa.chunked_array([pa.array([text.encode()], pa.binary()).cast(getattr(pa, kind)())] * 256)
        table = pa.table({"document_id": names, "text": column})
        pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30)

    write("long " * 200)
    assert [(row.values["document_id"], row.values["text"]) for row in parquet_rows.parquet_rows(path)] == [
        (name, "long " * 200) for name in names
    ]
    write("x" * 8_000_000)  # 2 GB in a file of less than 3 kB
    assert path.stat().st_size < 3_000
    assert memory_of_a_refusal(pa, path) < 100_000_000


def memory_of_a_refusal(pa: Any, path: Path) -> int:
    """The most that pyarrow held while a file was refused for its bytes."""
    usual = pa.default_memory_pool()
    watched = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(watched)
    try:
        with pytest.raises(InputError, match="bytes in 256 rows"):
            list(parquet_rows.parquet_rows(path))
    finally:
        pa.set_memory_pool(usual)
    return int(watched.max_memory())


def _nested(pa: Any, shape: str, text: str) -> tuple[Any, Any]:
    """A column of 16 rows that say a text 16 times each, and the row as JSON has it."""
    entries, structs = [text] * 16, [{"b": text} for _ in range(16)]
    pairs = [(str(at), text) for at in range(16)]
    row, kind, wanted = {
        "list": (entries, pa.list_(pa.string()), entries),
        "large_list": (entries, pa.large_list(pa.large_string()), entries),
        "fixed_list": (entries, pa.list_(pa.string(), 16), entries),
        "bytes": ([text.encode()] * 16, pa.list_(pa.binary()), entries),
        "struct": ({"a": structs}, None, {"a": structs}),
        "lists": ([entries], None, [entries]),
        "map": (pairs, pa.map_(pa.string(), pa.string()), [list(one) for one in pairs]),
    }[shape]
    return pa.array([row] * 16, kind), wanted


@pytest.mark.parametrize("shape", ["list", "large_list", "fixed_list", "bytes", "struct", "lists", "map"])
def test_texts_inside_lists_and_structs_are_counted_before_they_are_unpacked(tmp_path: Path, shape: str) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"

    def write(text: str) -> Any:
        column, wanted = _nested(pa, shape, text)
        pq.write_table(
            pa.table({"text": column}), path, compression="zstd", dictionary_pagesize_limit=1 << 30,
            data_page_size=1 << 30,
        )  # fmt: skip
        return wanted

    wanted = write("short")
    assert [row.values["text"] for row in parquet_rows.parquet_rows(path)] == [wanted] * 16
    write("x" * 2_000_000)  # 512 MB in a file of a few kB
    assert path.stat().st_size < 20_000
    assert memory_of_a_refusal(pa, path) < 50_000_000


def test_a_list_of_too_many_empty_entries_does_not_become_values(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, entries = tmp_path / "t.parquet", 5_000_000
    column = pa.ListArray.from_arrays(pa.array([0, entries], pa.int32()), pa.nulls(entries, pa.int8()))
    pq.write_table(pa.table({"text": column}), path, compression="zstd")
    assert path.stat().st_size < 2_000
    with pytest.raises(InputError, match="bytes in 256 rows"):
        list(parquet_rows.parquet_rows(path))


def test_values_inside_lists_are_those_of_their_row(tmp_path: Path) -> None:
    """Over several row groups, parts of them, and dictionaries that are given up in the middle."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    rows = [
        {
            "flat": f"text {at}",
            "tags": None if at % 7 == 0 else [f"tag {at % 5}", None, f"only {at}"][: at % 4],
            "acl": {"users": [f"user {at}"], "roles": None},
            "map": [(f"key {at}", f"value {at}")],
        }
        for at in range(9_000)
    ]
    kinds = {"flat": pa.string(), "tags": pa.list_(pa.string()), "map": pa.map_(pa.string(), pa.string()),
             "acl": pa.struct([("users", pa.list_(pa.string())), ("roles", pa.list_(pa.string()))])}  # fmt: skip
    pq.write_table(
        pa.Table.from_pylist(rows, pa.schema(kinds)), path, row_group_size=5_000, dictionary_pagesize_limit=1_000,
        data_page_size=2_000,
    )  # fmt: skip
    wanted = [
        {**one, "acl": {"users": one["acl"]["users"]}, "map": [list(pair) for pair in one["map"]]}  # type: ignore[index, attr-defined]
        for one in rows
    ]
    assert [row.values for row in parquet_rows.parquet_rows(path)] == wanted


def test_a_row_group_of_many_texts_takes_time_by_its_rows(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    took = []
    for rows in (20_000, 160_000):
        path = tmp_path / f"{rows}.parquet"
        pq.write_table(pa.table({"text": [f"text {at} " * 12 for at in range(rows)]}), path)
        begun = time.process_time()
        assert sum(1 for _ in parquet_rows.parquet_rows(path)) == rows
        took.append(time.process_time() - begun)
    assert took[1] / took[0] < 16, "8 times the rows; by the square it would be near 64"
