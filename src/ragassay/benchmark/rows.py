"""Tables that others wrote (JSON lines, JSON, CSV, TSV, Parquet) to rows of named values. Knows no noun of ours."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.benchmark.intake import Problems, lines_in, whole_file
from ragassay.corpus.jsonl import clean_strings
from ragassay.corpus.lines import MOST_UNPACKED, opened
from ragassay.errors import InputError, MissingExtraError, RecordError, UsageError
from ragassay.records.canonical import load_json
from ragassay.records.text import clean, shown

MOST_CELL = 16 * 1024 * 1024
"""Characters in one cell of a CSV file."""
MOST_COLUMNS = 10_000
DELIMITERS = (",", ";", "\t", "|")
ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1")
TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_SEP_LINE = re.compile(r"sep=(.)\r?\n?")


class Row(NamedTuple):
    """One record: where it stands and its values by name."""

    line: int | None
    """None where the kind of file has no lines; `path` says then which record it is."""
    path: str
    values: dict[str, Any]
    lossy: bool = False

    def place(self, name: str) -> str:
        """A field as an error names it."""
        return f"{self.path}.{name}" if self.path else name

    def has(self, *names: str) -> str | None:
        """The first of these names that has a value here; null and an absent key are the same in foreign files."""
        return next((name for name in names if self.values.get(name) is not None), None)

    def text(self, name: str) -> str | None:
        """A text; None if there is none. Raises InputError for anything else."""
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value
        raise self.wrong(name, "text", value)

    def wanted(self, name: str) -> str:
        """A text that must be there and not be blank."""
        value = self.text(name)
        if value is None or not value.strip():
            raise InputError("missing, or empty", field=self.place(name), hint=f"each record needs {name}")
        return value

    def identifier(self, name: str) -> str:
        """An id that must be there: a text, or a whole number as text."""
        value = self.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.wanted(name).strip()

    def wrong(self, name: str, expected: str, value: Any) -> InputError:
        """An error: this value is of another type."""
        return InputError(
            f"expected {expected}, got {_kind(value)}", field=self.place(name), hint=f"write {name} as {expected}"
        )


class Dialect(NamedTuple):
    """How a CSV file is written. Without a delimiter it is the one under which the most wanted columns are there."""

    delimiter: str | None = None
    encoding: str = "utf-8"


def rows_of(
    path: Path, problems: Problems, *, wanted: Collection[str] = (), dialect: Dialect | None = None
) -> Iterator[Row]:
    """The rows of a table, by the ending of its name (`.gz` aside). A row that is wrong goes to `problems`.

    JSON lines: an object a line. JSON: a list of objects. CSV and TSV: the first record names the columns; an empty
    cell is no value. Parquet: needs the extra `parquet`. InputError for a file of another kind or of no rows.
    """
    dialect = dialect or Dialect()
    readers: dict[str, Callable[[], Iterator[Row]]] = {
        ".jsonl": lambda: _json_lines(path, problems),
        ".ndjson": lambda: _json_lines(path, problems),
        ".json": lambda: _json(path, problems),
        ".csv": lambda: _csv(path, problems, wanted, dialect),
        ".tsv": lambda: _csv(path, problems, wanted, dialect._replace(delimiter=dialect.delimiter or "\t")),
        ".parquet": lambda: _parquet(path),
    }
    ending = ending_of(path)
    if ending not in readers:
        raise InputError(
            f"what kind of table this is cannot be told from {path.name!r}",
            file=str(path),
            hint=f"name it with one of {', '.join(TABLES)}",
        )
    return readers[ending]()


def ending_of(path: Path) -> str:
    """The ending of a name in lower case, without `.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _json_lines(path: Path, problems: Problems) -> Iterator[Row]:
    for number, raw in lines_in(path):
        with problems.at(path, number):
            text, undecodable = clean(raw)
            yield _object(load_json(text), number, "", undecodable)


def _json(path: Path, problems: Problems) -> Iterator[Row]:
    text, undecodable = clean(whole_file(path))
    try:
        value = load_json(text)
    except RecordError as error:
        error.hint = error.hint.replace("one JSON object a line", "a list of JSON objects; one a line is .jsonl")
        raise error.at(file=str(path))  # noqa: B904  the same error, with its place
    if not isinstance(value, list):
        raise InputError(
            f"expected a list of objects, got {_kind(value)}", file=str(path), hint='[{"...": "..."}, ...]'
        )
    for number, one in enumerate(value):
        with problems.at(path):
            yield _object(one, None, f"[{number}]", undecodable)


def _object(value: Any, line: int | None, path: str, undecodable: bool) -> Row:
    value, unpaired = clean_strings(value)
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {_kind(value)}", field=path, hint="one JSON object a record")
    return Row(line, path, value, undecodable or unpaired)


def _csv(path: Path, problems: Problems, wanted: Collection[str], dialect: Dialect) -> Iterator[Row]:
    if dialect.encoding not in ENCODINGS:
        raise UsageError(
            f"encoding {dialect.encoding!r} is not read", field="encoding", hint=f"one of {', '.join(ENCODINGS)}"
        )
    csv.field_size_limit(max(csv.field_size_limit(), MOST_CELL))
    delimiter = dialect.delimiter or _delimiter(path, wanted, dialect.encoding)
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise UsageError(f"a delimiter is one character, not {delimiter!r}", field="delimiter", hint="such as ;")
    records = _records(path, delimiter, dialect.encoding, problems)
    line, header = next(records, (1, []))
    names = _columns(header, path, line)
    for line, cells in records:
        if not any(cell.strip() for cell in cells):
            continue
        with problems.at(path, line):
            yield _csv_row(names, cells, line)


def _csv_row(names: list[str], cells: list[str], line: int) -> Row:
    extra = [cell for cell in cells[len(names) :] if cell.strip()]
    if extra or len(cells) < len(names):
        raise InputError(
            f"{len(cells)} cells in a table of {len(names)} columns",
            hint="a cell that holds the delimiter, a quote or a line break stands in double quotes",
        )
    values, lossy = {}, False
    for number, (name, cell) in enumerate(zip(names, cells, strict=False), 1):
        if not name:
            if cell.strip():
                raise InputError(f"a cell in column {number}, which has no name", hint="name it in the first row")
            continue
        if "\0" in cell:
            raise InputError("a NUL character", field=name, hint='is this UTF-16? then say encoding = "utf-16"')
        stored, lost = clean(cell)
        lossy = lossy or lost or "\ufffd" in cell
        values[name] = stored if stored.strip() else None
    return Row(line, "", values, lossy)


def _columns(header: list[str], path: Path, line: int) -> list[str]:
    names = [clean(cell).text.strip() for cell in header]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError("no row that names the columns", file=str(path), hint="the first row names the columns")
    if len(names) > MOST_COLUMNS:
        raise InputError(f"more than {MOST_COLUMNS} columns", file=str(path), line=line, hint="is this a table?")
    twice = [name for name in names if name and names.count(name) > 1] if len(set(names)) < len(names) else []
    if twice:
        raise InputError(
            f"two columns are named {shown(twice[0])!r}", file=str(path), line=line, hint="rename one of them"
        )
    return names


def _records(
    path: Path, delimiter: str, encoding: str, problems: Problems | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Line on which a record begins, and its cells; undecodable bytes stay as lone surrogates."""
    with _decoded(path, encoding) as (text, past, _):
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        while True:
            line = past + reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as cause:
                error = InputError(
                    f"not CSV: {cause}",
                    file=str(path),
                    line=line,
                    hint="a cell with a quote in it stands in double quotes, each quote in it doubled",
                )
                if problems is None:
                    raise error from None
                problems.add(error, path, line)
                continue
            if cells:
                yield line, cells


@contextmanager
def _decoded(path: Path, encoding: str) -> Iterator[tuple[Iterator[str], int, str | None]]:
    """A file as lines of text, how many were passed over before them, and the delimiter that it declares (`sep=;`)."""
    with opened(path) as file:
        head = file.read(4)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif head in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
            raise InputError("an Excel file, not CSV", file=str(path), hint="save the sheet as CSV")
        file.seek(0)
        errors = "surrogateescape" if encoding == "utf-8" else "replace"
        text = io.TextIOWrapper(file, "utf-8-sig" if encoding == "utf-8" else encoding, errors, newline="")
        lines = _bounded(text, path)
        first = next(lines, "")
        declared = _SEP_LINE.fullmatch(first)
        yield (lines, 1, declared[1]) if declared else (_again(first, lines), 0, None)


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _bounded(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    total, size = 0, path.stat().st_size
    while line := text.readline(MOST_CELL + 1):
        total += len(line)
        if len(line) > MOST_CELL or total > max(MOST_UNPACKED, size):
            raise InputError(
                f"more than {MOST_CELL} characters in a line" if len(line) > MOST_CELL else "unpacks to far too much",
                file=str(path),
                hint="is this a table?",
            )
        yield line


def _delimiter(path: Path, wanted: Collection[str], encoding: str) -> str:
    """The delimiter that the file declares (`sep=;`), else the one under which the most wanted columns are there."""
    with _decoded(path, encoding) as (_, _, declared):
        if declared:
            return declared
    best, most = ",", (0, 1)
    for one in DELIMITERS:
        try:
            _, header = next(_records(path, one, encoding), (1, []))
        except InputError:
            continue
        names = [clean(cell).text.strip() for cell in header]
        score = (len(set(wanted) & set(names)), len(names))
        if score > most:
            best, most = one, score
    return best


def _parquet(path: Path) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(
            "reading Parquet needs pyarrow", file=str(path), hint="pip install 'ragassay[parquet]'"
        ) from None
    try:
        with pq.ParquetFile(path) as table:
            size = sum(table.metadata.row_group(one).total_byte_size for one in range(table.num_row_groups))
            if size > MOST_UNPACKED:
                raise InputError(f"unpacks to {size} bytes; the most is {MOST_UNPACKED}", file=str(path), hint="cut it")
            number = 0
            for batch in table.iter_batches(batch_size=1000):
                for one in batch.to_pylist():
                    value, lossy = clean_strings(one)
                    yield Row(None, f"[{number}]", value, lossy)
                    number += 1
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError, OverflowError) as cause:
        why = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
        raise InputError(
            f"cannot be read as Parquet: {shown(why, limit=200)}", file=str(path), hint="is it whole, and Parquet?"
        ) from None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
