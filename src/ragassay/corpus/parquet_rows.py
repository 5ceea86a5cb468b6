"""Rows of Parquet files, with the extra `parquet` (pyarrow), for documents and for questions. Knows no field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.corpus.jsonl import clean_strings
from ragassay.corpus.rows import MOST_FIELDS
from ragassay.errors import InputError, MissingExtraError
from ragassay.records.canonical import MAX_BYTES, MAX_DEPTH
from ragassay.records.text import clean, shown

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_BATCH = 256
_PARTS = 16
_MOST_UNPACKED = 4 * 1024**3
_MOST_RATIO = 1_000
_ENTRY_BYTES = 64
"""What an entry of a list takes in Python beside its text."""


class ParquetRow(NamedTuple):
    """One row: JSON values by column (null is kept), its number from 1, and its texts as they stand in the file."""

    values: dict[str, Any]
    number: int
    lossy: bool
    """Whether something was not valid UTF-8 and became U+FFFD."""
    given: dict[str, Any]
    """The values before that: texts as bytes."""


def parquet_rows(path: Path, choose: Callable[[list[str]], list[str]] | None = None) -> Iterator[ParquetRow]:
    """The rows of a file; of the columns that `choose` names, given all names (without it: of all columns).

    Dates and times become text, and so do decimals; bytes are taken for UTF-8; a key of a struct that is null is left
    out. Raises MissingExtraError without pyarrow, InputError for a damaged file, two columns of one name, or more than
    MOST_FIELDS columns, MAX_DEPTH levels, or 4 GiB unpacked.
    """
    pyarrow, parquet = _load(path)
    try:
        with path.open("rb") as file:
            source = parquet.ParquetFile(file, page_checksum_verification=True)
            _check(source, path)
            source = parquet.ParquetFile(
                file, metadata=source.metadata, page_checksum_verification=True, read_dictionary=_texts(source)
            )
            columns = list(source.schema_arrow.names)
            wanted = list(dict.fromkeys(choose(columns))) if choose else columns
            yield from _rows(source, wanted, pyarrow)
    except InputError as error:
        raise error.at(file=str(path))  # noqa: B904  the same error, with its place
    except MemoryError as cause:
        raise InputError(
            "needs more memory than there is", file=str(path), hint="write it in smaller row groups, or split it"
        ) from cause
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError, NotImplementedError) as cause:
        why = getattr(cause, "strerror", None) or shown(str(cause).partition("\n")[0], limit=200)
        raise InputError(
            f"cannot be read as Parquet: {why}", file=str(path), hint="fetch or write the file again"
        ) from cause


def _load(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed", file=str(path), hint="pip install 'ragassay[parquet]'"
        ) from None
    return pa, pq


def _check(source: pq.ParquetFile, path: Path) -> None:
    """InputError for a file that says of itself that it is larger than anything that is read here.

    What a row group says of a single column is not looked at: where that contradicts itself, pyarrow 26 ends the
    process instead of raising (`RowGroupMetaData.column`).
    """
    about = source.metadata
    if about.num_columns > MOST_FIELDS:
        raise InputError(f"{about.num_columns} columns; the most is {MOST_FIELDS}", hint="write fewer columns")
    unpacked = sum(max(0, about.row_group(number).total_byte_size) for number in range(about.num_row_groups))
    if unpacked > _MOST_UNPACKED or unpacked > max(MAX_BYTES, path.stat().st_size * _MOST_RATIO):
        raise InputError(f"says that it unpacks to {unpacked} bytes", hint="is it damaged? Write it again, or split it")
    names = list(source.schema_arrow.names)
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"two columns are named {shown(twice)!r}", hint="rename one of them")
    for field in source.schema_arrow:
        if _depth(field.type) > MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH}", field=shown(field.name), hint="write it flatter")


def _texts(source: pq.ParquetFile) -> list[str]:
    """Where texts are, inside lists and structs too. They are read as dictionaries: a few bytes of a file can say one
    long text a thousand times, and so it stands in memory once before it is counted how much all of them are."""
    columns = (source.schema.column(number) for number in range(len(source.schema)))
    return [one.path for one in columns if one.physical_type == "BYTE_ARRAY"]


def _is_text(kind: pa.DataType, pyarrow: Any) -> bool:
    """Whether a column holds texts or bytes of any length, in whichever of Arrow's forms."""
    names = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    return any(getattr(pyarrow.types, f"is_{name}")(kind) for name in names)


def _depth(kind: pa.DataType) -> int:
    """How deeply lists and structs are nested in a type."""
    deepest, waiting = 0, [(kind, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        if depth <= MAX_DEPTH:
            waiting += [(one.field(number).type, depth + 1) for number in range(one.num_fields)]
    return deepest


def _rows(source: pq.ParquetFile, columns: list[str], pyarrow: Any) -> Iterator[ParquetRow]:
    number = 0
    for batch in _batches(source, columns):
        found = {name: _values(batch.column(name), pyarrow) for name in batch.schema.names}
        for at in range(batch.num_rows):
            number += 1
            given = {name: values[at] for name, values in found.items()}
            yield ParquetRow(*_clean_row(given, number))


def _batches(source: pq.ParquetFile, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """At most _BATCH rows at a time.

    A row group is read in _PARTS: with each one pyarrow hands out all texts of the row group so far, so that many
    small ones would take time by the square of its rows. A part never spans two row groups, since it would then hold
    nested texts in several dictionaries, which pyarrow does not join.
    """
    for group in range(source.num_row_groups):
        rows = max(_BATCH, -(-source.metadata.row_group(group).num_rows // _PARTS))
        for part in source.iter_batches(batch_size=rows, row_groups=[group], columns=columns, use_threads=False):
            for start in range(0, part.num_rows, _BATCH):
                yield part.slice(start, _BATCH)


def _values(column: Any, pyarrow: Any) -> list[Any]:
    """The values of a column; texts come as bytes, since nobody has checked that they are UTF-8."""
    kind = column.type
    _check_size(_unpacked(column, pyarrow))
    if pyarrow.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if pyarrow.types.is_string(kind):
        column = column.view(pyarrow.binary())
    elif pyarrow.types.is_large_string(kind):
        column = column.view(pyarrow.large_binary())
    if not kind.num_fields:  # else every list would have the texts of the whole part
        _check_size(column.nbytes)
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        raise InputError("text inside a list or struct is not UTF-8", hint="write it again as UTF-8") from None
    return values


def _unpacked(column: Any, pyarrow: Any) -> int:
    """Bytes of the texts of a column when every row has its own, and of the entries of its lists and structs."""
    from pyarrow import compute

    size, waiting = 0, [column]
    while waiting:
        one = waiting.pop()
        kind = one.type
        if pyarrow.types.is_dictionary(kind):
            if _is_text(kind.value_type, pyarrow):
                counted = compute.value_counts(one.indices.drop_null())
                lengths = compute.binary_length(one.dictionary.take(counted.field("values"))).cast("int64")
                size += int(compute.sum(compute.multiply(lengths, counted.field("counts"))).as_py() or 0)
        elif kind.num_fields:
            inner = _inside(one, pyarrow)
            size += sum(len(each) for each in inner) * _ENTRY_BYTES
            waiting += inner
    return size


def _inside(column: Any, pyarrow: Any) -> list[Any]:
    """The columns that a column of lists, structs or maps is made of, of its own rows only."""
    if pyarrow.types.is_map(column.type):
        first, end = (column.offsets[at].as_py() for at in (0, len(column)))
        return [part.slice(first, end - first) for part in (column.keys, column.items)]
    found = column.flatten()
    return found if isinstance(found, list) else [found]


def _check_size(size: int) -> None:
    if size > MAX_BYTES * 4:
        raise InputError(f"more than {MAX_BYTES * 4} bytes in {_BATCH} rows", hint="split texts of this size")


def _clean_row(given: dict[str, Any], number: int) -> tuple[dict[str, Any], int, bool, dict[str, Any]]:
    whole: dict[str, Any] = {}
    lossy = False
    for name, value in given.items():
        whole[clean(name).text], lost = _plain(value)
        lossy = lossy or lost
    return whole, number, lossy, given


def _plain(value: Any) -> tuple[Any, bool]:
    """A value of JSON, and whether something in it was not valid Unicode."""
    if isinstance(value, bytes):
        return clean(value)
    if isinstance(value, list | tuple):
        pairs = [_plain(one) for one in value]
        return [one for one, _ in pairs], any(lost for _, lost in pairs)
    if isinstance(value, dict):
        inner = {str(key): _plain(one) for key, one in value.items() if one is not None}
        whole, lossy = clean_strings({key: one for key, (one, _) in inner.items()})
        return whole, lossy or any(lost for _, lost in inner.values())
    if value is None or isinstance(value, str | int | float | bool):
        return clean(value) if isinstance(value, str) else (value, False)
    return clean(_moment(value))


def _moment(value: Any) -> str:
    """A date or time as text; midnight without an offset is a date, as data frames write dates."""
    text = str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
    return text.removesuffix("T00:00:00") if getattr(value, "tzinfo", None) is None else text
