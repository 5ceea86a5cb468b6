"""Mutations of what is inside Parquet: values, types, columns and shape of the table before it is written; the footer,
page headers and pages after that, with lengths that fit. Plain bytes of such files are a row of the other tables.
"""

from __future__ import annotations

import datetime
import decimal
import json
import random
import shutil
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from trials.mutations import TOKENS, Seeded, mutate
from trials.mutations_corpus import JSONL, _read
from trials.mutations_questions import GOLDENS, RAGAS, SHEET, _cases, _paired

CODECS = ("NONE", "SNAPPY", "ZSTD", "GZIP", "BROTLI", "LZ4")
STRANGE: tuple[Any, ...] = (
    None, "", " ", "\0", "\ufffd", "=1+1", "\x1b[31m", "\u202e", "-0", "NaN", "1e999", "x" * 5_000, "[" * 300, "null",
    "['a', 'b']", "{\"a\": 1}", b"", b"\xff\xfe", b"\xed\xa0\x80", 0, -1, 2**53, 2**63 - 1, 1.5, -0.0, float("nan"),
    float("inf"), True, decimal.Decimal("1.10"), decimal.Decimal("1e-9"), datetime.date(1, 1, 1),
    datetime.date(9999, 12, 31), datetime.datetime(2026, 1, 1, 0, 0, 0, 1),
    datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), datetime.time(23, 59, 59, 999999),
    datetime.timedelta(days=-1), [], [None], ["a", None, "b"], [["a"], []], {}, {"a": None}, {"a": {"b": [1]}},
    [{"role": "user", "content": "hi"}],
)  # fmt: skip
"""Values that a cell may hold instead."""
MOST_ROWS = 1_000


def formats() -> dict[str, Seeded]:
    """One row for each format that reads Parquet."""
    rows = [{key: value for key, value in one.items() if key != "metadata"} for one in _same_case(JSONL)]
    texts = [{"_id": f"d{at}", "title": None if at % 2 else "t", "text": f"Text {at}. ü" * 3} for at in range(20)]
    queries = [{"_id": f"q{at}", "text": f"who {at}"} for at in range(9)]
    judged = [{"query-id": f"q{at}", "corpus-id": f"d{at}", "score": at % 3} for at in range(9)]
    sheet = [dict(zip(("Frage", "Antwort", "Quelle"), line.split(";"), strict=True)) for line in
             SHEET.replace('"Was ""kostet""\nes?"', "Was?").splitlines()[1:]]  # fmt: skip
    ragas = [{**one, "retrieved_context_ids": ["1", "2"]} for one in RAGAS[:1]] * 4
    columns = {"query": "Frage", "answers": "Antwort", "documents": "Quelle"}
    return {
        "corpus-parquet+inside": _row({"documents.parquet": rows}, _read("parquet")),
        "corpus-mteb+inside": _row({"corpus/corpus-00000-of-00001.parquet": texts}, _read("mteb")),
        "cases-mteb+inside": _row({"q.parquet": queries, "r.parquet": judged}, _paired("mteb")),
        "cases-csv+inside": _row({"q.parquet": sheet}, _cases("csv", columns=columns, separator="|")),
        "cases-ragas+inside": _row({"q.parquet": ragas}, _cases("ragas")),
        "cases-deepeval+inside": _row({"q.parquet": GOLDENS[:1] * 3}, _cases("deepeval")),
    }


def _same_case(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {"documentId": "document_id", "validFrom": "valid_from"}
    return [{names.get(key, key): value for key, value in one.items()} for one in rows]


def _row(files: dict[str, list[dict[str, Any]]], read: Any) -> Seeded:
    """A source is a folder with these files, beside each its rows as JSON; one file alone is named by itself."""
    alone = len(files) == 1 and "/" not in next(iter(files))

    def write(folder: Path) -> list[Path]:
        own = folder / "source"
        for name, rows in files.items():
            path = own / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_written(rows, random.Random(name)))
        return [own]

    def reading(source: Path, chance: random.Random) -> Any:
        return read(source / next(iter(files)) if alone else source, chance)

    def changed(source: Path, out: Path, chance: random.Random) -> Path:
        target = out / source.name
        shutil.copytree(source, target)
        name = chance.choice(sorted(files))
        (target / name).write_bytes(_mutated(files[name], chance))
        return target

    return Seeded(write, reading, changed)


def _mutated(rows: list[dict[str, Any]], chance: random.Random) -> bytes:
    kind = chance.randrange(10)
    if kind < 5:
        return _table(rows, chance)
    data = _written(rows, chance)
    if kind < 8:
        return _footer(data, chance)
    return _page(data, chance)


def _written(rows: list[dict[str, Any]], chance: random.Random) -> bytes:
    import pyarrow as pa

    return _file(pa.Table.from_pylist(rows), chance)


def _file(table: Any, chance: random.Random) -> bytes:
    """A table as the bytes of a file, written in one of the ways that there are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(
        table, sink, compression=chance.choice(CODECS), row_group_size=chance.choice((1, 7, 1_000)),
        data_page_version=chance.choice(("1.0", "2.0")), use_dictionary=chance.random() < 0.5,
        version=chance.choice(("1.0", "2.4", "2.6")), write_statistics=chance.random() < 0.5,
        store_schema=chance.random() < 0.7, write_page_index=chance.random() < 0.2,
        write_page_checksum=chance.random() < 0.1, data_page_size=chance.choice((1, 1024 * 1024)),
    )  # fmt: skip
    return bytes(sink.getvalue())


def _table(rows: list[dict[str, Any]], chance: random.Random) -> bytes:
    """Other values, types, columns and shapes; what Arrow cannot write comes as the seed with hostile texts."""
    import pyarrow as pa

    table = [dict(one) for one in rows]
    for _ in range(chance.choice((1, 1, 2, 5))):
        _change(table, chance)
    try:
        made = _recast(pa.Table.from_pylist(table or [{}]), chance)
        return _file(made, chance)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _written([{key: _text(value, chance) for key, value in one.items()} for one in rows], chance)


def _change(table: list[dict[str, Any]], chance: random.Random) -> None:
    if not table or not table[0]:
        return
    names = sorted({name for one in table for name in one}, key=str)
    name, kind = chance.choice(names), chance.randrange(8)
    row = chance.choice(table)
    if kind == 0:
        row[name] = chance.choice(STRANGE)
    elif kind == 1:  # the whole column: Arrow then takes its type from it
        value = chance.choice(STRANGE)
        for one in table:
            one[name] = value
    elif kind == 2:
        row[name] = _text(row.get(name), chance)
    elif kind == 3:  # a column goes
        for one in table:
            one.pop(name, None)
    elif kind == 4:  # a column has another name
        other = chance.choice(
            ("", "\0", "id", "text", "TEXT", " text ", "a.b", "x" * 3_000, "acl", "tenants", "metadata")
        )
        for one in table:
            if name in one:
                one[other] = one.pop(name)
    elif kind == 5:  # a column more
        value = chance.choice(STRANGE)
        for one in table:
            one[chance.choice(("more", "title", "metadata", "acl_users"))] = value
    elif kind == 6:
        table[:] = (table * chance.choice((0, 2, 40)))[:MOST_ROWS]
    else:  # one cell inside a list or struct
        for one in table:
            one[name] = {"a": one.get(name)} if chance.random() < 0.5 else [one.get(name)]


def _text(value: Any, chance: random.Random) -> Any:
    try:
        data = value.encode() if isinstance(value, str) else json.dumps(value, default=str).encode()
    except RecursionError:  # a cell that an earlier change wrapped too often
        data = b"[" * 300
    return mutate(data, chance).decode("utf-8", errors="replace")


def _recast(table: Any, chance: random.Random) -> Any:
    """One column in another type of the same values, where there is one."""
    import pyarrow as pa

    if not table.num_columns or chance.random() < 0.4:
        return table
    at = chance.randrange(table.num_columns)
    field, column = table.schema.field(at), table.column(at)
    ways: list[Callable[[], Any]] = [
        lambda: column.cast(chance.choice((pa.large_string(), pa.string_view(), pa.binary_view(), pa.binary()))),
        lambda: column.dictionary_encode(),
        lambda: column.cast(chance.choice((pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_()))),
        lambda: column.cast(chance.choice((pa.timestamp("ns"), pa.timestamp("s", "Nowhere/Town"), pa.date64()))),
        lambda: pa.chunked_array([pa.nulls(table.num_rows)]),
        lambda: pa.chunked_array([_broken_text(table.num_rows, chance)]),
        lambda: pa.chunked_array([pa.array([[("k", "v"), (chance.choice(("k", "")), None)]] * table.num_rows,
                                           pa.map_(pa.string(), pa.string()))]),
        lambda: pa.chunked_array([_deep(table.num_rows, chance)]),
        lambda: pa.chunked_array([pa.array([2**62, -(2**62), None] * table.num_rows,
                                           pa.timestamp(chance.choice(("s", "us", "ns"))))[: table.num_rows]]),
        lambda: pa.chunked_array([pa.array([decimal.Decimal("9" * 38)] * table.num_rows, pa.decimal256(76, 3))]),
        lambda: pa.chunked_array([pa.array([b"0123456789abcdef"] * table.num_rows, pa.binary(16))]),
    ]  # fmt: skip
    made = chance.choice(ways)()
    return table.set_column(at, chance.choice((field.name, field.name, table.schema.names[0])), made)


def _broken_text(rows: int, chance: random.Random) -> Any:
    """A column that says it is text, of bytes that are none."""
    import pyarrow as pa

    kinds = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    kind = chance.choice(list(kinds))
    values = [chance.choice((b"\xff", b"ok", b"\xed\xa0\x80", None, *TOKENS)) for _ in range(rows)]
    return pa.array(values, kinds[kind]).view(kind)


def _deep(rows: int, chance: random.Random) -> Any:
    import pyarrow as pa

    kind: Any = pa.string()
    value: Any = "deep"
    for _ in range(chance.choice((1, 5, 40, 130))):
        if chance.random() < 0.5:
            kind, value = pa.list_(kind), [value]
        else:
            kind, value = pa.struct([("a", kind)]), {"a": value}
    return pa.array([value] * rows, kind)


def _footer(data: bytes, chance: random.Random) -> bytes:
    """The metadata at the end mutated; the length beside it fits, so that it is read."""
    size = struct.unpack("<I", data[-8:-4])[0]
    start = len(data) - 8 - size
    footer = _few_bytes(data[start:-8], chance) if chance.random() < 0.7 else mutate(data[start:-8], chance)
    length = len(footer) if chance.random() < 0.95 else chance.choice((0, 1, size + 1, 2**31, 2**32 - 1))
    return data[:start] + footer + struct.pack("<I", length) + chance.choice((b"PAR1",) * 19 + (b"PARE",))


def _few_bytes(data: bytes, chance: random.Random) -> bytes:
    """One to four bytes changed in place: numbers of Thrift stay numbers, and most of what follows stays readable."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        if made:
            at = chance.randrange(len(made))
            made[at] = chance.choice(
                (made[at] ^ (1 << chance.randrange(8)), 0, 0x7F, 0x80, 0xFF, chance.randrange(256))
            )
    return bytes(made)


def _page(data: bytes, chance: random.Random) -> bytes:
    """The header of one page, or bytes of the page behind it; the file keeps its length and so its offsets."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = pq.ParquetFile(pa.BufferReader(data)).metadata
    if not about.num_row_groups:
        return data
    group = about.row_group(chance.randrange(about.num_row_groups))
    column = group.column(chance.randrange(group.num_columns))
    start = column.dictionary_page_offset if column.has_dictionary_page and chance.random() < 0.5 else 0
    start = start or column.data_page_offset
    end = start + (chance.choice((8, 24)) if chance.random() < 0.6 else max(column.total_compressed_size, 1))
    end = min(end, len(data) - 12)
    return data[:start] + _few_bytes(data[start:end], chance) + data[end:]
