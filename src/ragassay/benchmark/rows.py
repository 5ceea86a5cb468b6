"""Tables that others wrote (JSON lines, JSON, CSV, TSV, Parquet) to rows of named values. Knows no noun of ours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.benchmark.intake import Problems, lines_in, whole_file
from ragassay.corpus.csv_rows import CsvRow, open_csv
from ragassay.corpus.jsonl import clean_strings
from ragassay.corpus.parquet_rows import parquet_rows
from ragassay.corpus.reading import check_writing
from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import load_json
from ragassay.records.text import clean

TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


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
    """How a CSV file is written (`corpus.csv_rows.open_csv`)."""

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
        ".csv": lambda: _csv(path, problems, wanted, dialect, None),
        ".tsv": lambda: _csv(path, problems, wanted, dialect, "\t"),
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


def _csv(path: Path, problems: Problems, wanted: Collection[str], dialect: Dialect, usual: str | None) -> Iterator[Row]:
    check_writing(dialect.encoding, dialect.delimiter)
    named = set(wanted)
    sheet = open_csv(
        path, lambda names: len(named & set(names)), lambda error: problems.add(error, path),
        delimiter=dialect.delimiter, usual=usual, encoding=dialect.encoding,
    )  # fmt: skip
    for row in sheet.rows:
        if any(cell.strip() for cell in row.values.values()):
            with problems.at(path, row.line):
                yield _csv_row(row)


def _csv_row(row: CsvRow) -> Row:
    nul = next((name for name, cell in row.values.items() if "\0" in cell), None)
    if nul is not None:
        raise InputError("a NUL character", field=nul, hint='is this UTF-16? then say encoding = "utf-16"')
    return Row(row.line, "", {name: cell if cell.strip() else None for name, cell in row.values.items()}, row.lossy)


def _parquet(path: Path) -> Iterator[Row]:
    for row in parquet_rows(path):
        yield Row(None, f"[{row.number - 1}]", row.values, row.lossy)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
