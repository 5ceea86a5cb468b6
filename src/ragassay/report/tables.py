"""The tables of a score table as CSV and Parquet, and CSV back to the same values. Computes no number.

A cell of text that a spreadsheet could run begins with an apostrophe; characters that hide or steer are written as
`\\u{202E}`. Both are undone by `read_csv`, so nothing is lost.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ragassay.errors import MissingExtraError, UsageError
from ragassay.records.score import Bounds, Estimate, FactFate, Observation
from ragassay.report.words import HIDDEN

Name = Literal["observations", "estimates", "fates"]
Value = str | int | float | bool | None


class Column(NamedTuple):
    """A column: its name and the kind of its values; any of them may be absent."""

    name: str
    kind: Literal["text", "integer", "number", "truth"]


class Table(NamedTuple):
    """Columns and rows; a row has a value a column, None where there is none."""

    columns: tuple[Column, ...]
    rows: Iterable[tuple[Value, ...]]


def _columns(text: str) -> tuple[Column, ...]:
    pairs = (one.split(":") for one in text.split())
    return tuple(Column(name, kind) for name, kind in pairs)  # type: ignore[arg-type]


OBSERVATIONS = _columns(
    "query_id:text repeat:integer measure:text step:text target:text status:text value:number numerator:number "
    "denominator:number reason:text low:number high:number coarse:truth inferred:truth principal:text turn:integer "
    "unjudged_low:number unjudged_high:number"
)
ESTIMATES = _columns(
    "measure:text class:text slice:text step:text aggregation:text status:text value:number unit:text numerator:number "
    "denominator:number reason:text low:number high:number interval_low:number interval_high:number "
    "interval_level:number interval_method:text clusters:integer attempted:integer scored:integer undefined:integer "
    "missing:integer error:integer coarse:integer unjudged_low:number unjudged_high:number"
)
FATES = _columns(
    "query_id:text repeat:integer fact_id:text required:truth fate:text steps:text found_at:text inferred:truth"
)


def observations(rows: Iterable[Observation]) -> Table:
    """A row a question, repeat, measure, step and target; `low` and `high` are the bounds.

    `unjudged_low` and `unjudged_high`: what the value could be if the items that nobody judged had grades.
    """
    return Table(OBSERVATIONS, (_observation(one) for one in rows))


def _observation(one: Observation) -> tuple[Value, ...]:
    low, high = _ends(one.bounds)
    return (
        one.query_id, one.repeat, one.measure, one.step, one.target, one.status, one.value, one.numerator,
        one.denominator, one.reason, low, high, one.coarse, one.inferred, one.principal, one.turn,
        *_ends(one.unjudged),
    )  # fmt: skip


def estimates(rows: Iterable[Estimate]) -> Table:
    """A row a measure, class, slice, step and aggregation, with all counts that it rests on."""
    return Table(ESTIMATES, (_estimate(one) for one in rows))


def _estimate(one: Estimate) -> tuple[Value, ...]:
    low, high = _ends(one.bounds)
    inside = one.interval
    return (
        one.measure, one.population.class_, one.population.slice, one.step, one.aggregation, one.status, one.value,
        one.unit, one.numerator, one.denominator, one.reason, low, high,
        inside.low if inside else None, inside.high if inside else None, inside.level if inside else None,
        inside.method if inside else None, inside.clusters if inside else None,
        one.attempted, one.scored, one.undefined, one.missing, one.error, one.coarse, *_ends(one.unjudged),
    )  # fmt: skip


def _ends(bounds: Bounds | None) -> tuple[float | None, float | None]:
    return (bounds.low, bounds.high) if bounds else (None, None)


def fates(rows: Iterable[FactFate]) -> Table:
    """A row a fact of a question and repeat; `steps` and `found_at` are JSON lists."""
    return Table(FATES, (_fate(one) for one in rows))


def _fate(one: FactFate) -> tuple[Value, ...]:
    steps, found_at = (msgspec.json.encode(part).decode() for part in (one.steps, one.found_at))
    return (one.query_id, one.repeat, one.fact_id, one.required, one.fate, steps, found_at, one.inferred)


def csv_parts(table: Table) -> Iterator[bytes]:
    """The table as CSV (RFC 4180, UTF-8, lines end with LF): an empty cell is no value, `'` alone an empty text."""
    yield (",".join(column.name for column in table.columns) + "\n").encode()
    kinds = [column.kind for column in table.columns]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in table.rows:
        writer.writerow([_cell(value, kind) for value, kind in zip(row, kinds, strict=True)])
        if buffer.tell() > 1 << 18:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _cell(value: Value, kind: str) -> str:
    if value is None:
        return ""
    if kind == "truth":
        return "true" if value else "false"
    if kind == "number":
        return repr(float(value))
    return str(value) if kind == "integer" else safe_text(str(value))


_STEERS = re.compile(f"[\t\n]|{HIDDEN.pattern}|\\\\(?=u\\{{)")
_WRITTEN = re.compile(r"\\u\{([0-9A-F]{1,6})\}")


def safe_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula and no terminal for a command; `plain_text` is the way back."""
    shown = _STEERS.sub(lambda found: f"\\u{{{ord(found[0]):X}}}", text)
    first = unicodedata.normalize("NFKC", shown.lstrip()[:1])
    return f"'{shown}" if not shown or first[:1] in ("=", "+", "-", "@", "|", "%", "'", "\u2212") else shown


def plain_text(cell: str) -> str:
    """The text that `safe_text` wrote as this cell."""
    return _WRITTEN.sub(lambda found: chr(int(found[1], 16)), cell.removeprefix("'"))


def read_csv(path: Path, columns: tuple[Column, ...]) -> list[tuple[Value, ...]]:
    """The rows of a file that `csv_parts` wrote, equal to those written. UsageError for any other file."""
    rows: list[tuple[Value, ...]] = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if next(reader, None) != [column.name for column in columns]:
            raise UsageError(
                "another header than this table has", file=str(path), line=1, hint="ragassay export wrote it?"
            )
        for row in reader:
            try:
                rows.append(tuple(_value(cell, column.kind) for cell, column in zip(row, columns, strict=True)))
            except ValueError as cause:
                raise UsageError(f"not a row of this table: {cause}", file=str(path), line=reader.line_num) from None
    return rows


def _value(cell: str, kind: str) -> Value:
    if cell == "":
        return None
    if kind == "truth":
        if cell not in ("true", "false"):
            raise ValueError(f"{cell!r} is neither true nor false")
        return cell == "true"
    return float(cell) if kind == "number" else int(cell) if kind == "integer" else plain_text(cell)


def write_parquet(table: Table, path: Path) -> None:
    """The table as one Parquet file, its texts as they are. MissingExtraError without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed", hint="pip install 'ragassay[parquet]', or export CSV"
        ) from None
    types = {
        "text": pyarrow.string(), "integer": pyarrow.int64(), "number": pyarrow.float64(), "truth": pyarrow.bool_(),
    }  # fmt: skip
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in table.columns])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for part in _in_parts(table.rows):
            data: list[Any] = [list(values) for values in zip(*part, strict=True)]
            arrays = [pyarrow.array(values, field.type) for values, field in zip(data, schema, strict=True)]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _in_parts(rows: Iterable[tuple[Value, ...]], most: int = 50_000) -> Iterator[list[tuple[Value, ...]]]:
    part: list[tuple[Value, ...]] = []
    for row in rows:
        part.append(row)
        if len(part) == most:
            yield part
            part = []
    if part:
        yield part
