"""Documents from Parquet files, with the extra `parquet` (pyarrow). Reads only the columns that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.corpus.jsonl import clean_strings, document_from
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.corpus.rows import LAYOUTS, MOST_FIELDS, Layout, map_columns
from ragassay.errors import InputError, MissingExtraError
from ragassay.records.canonical import MAX_BYTES, MAX_DEPTH
from ragassay.records.text import clean, shown

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_BATCH = 256
_MOST_UNPACKED = 4 * 1024**3
_MOST_RATIO = 1_000
_HINT = "columns document_id and text, or columns = {…} that says which they are"


def read_parquet(path: Path, options: Options) -> Reading:
    """One document a row, of a file or of all `.parquet` files of a folder in order of their names.

    Columns are as for CSV (`read_csv`), with types: null is *not given*, lists are lists, an `acl` may be a struct.
    Text that is not valid UTF-8 becomes U+FFFD with `lossy`; its raw bytes are those of the text. The line in errors
    is the row, from 1.

    Raises MissingExtraError without pyarrow, InputError for a damaged file, a column of a wrong type, a row group that
    unpacks to too much.
    """
    intake = Intake(path, options, "parquet")
    files = [path]
    if path.is_dir():
        files = sorted(one for one in path.iterdir() if one.suffix == ".parquet" and not one.name.startswith("."))
        if not files:
            raise InputError("no .parquet file in this folder", file=str(path), hint="name the file")
    for file in files:
        take_table(intake, file, LAYOUTS["parquet"])
    return intake.settle(_HINT)


def take_table(intake: Intake, path: Path, layout: Layout) -> None:
    """Give the intake the documents of one Parquet file."""
    pyarrow, parquet = _load()
    try:
        with path.open("rb") as file:
            source = parquet.ParquetFile(file, page_checksum_verification=True)
            _check(source, path)
            mapped = map_columns(layout, list(source.schema_arrow.names), intake.options.columns)
            intake.found.unread += [shown(name) for name in mapped.unread if name not in intake.found.unread]
            wanted = [name for columns in mapped.names.values() for name in columns]
            for number, row in _rows(source, list(dict.fromkeys(wanted)), pyarrow):
                with intake.at(path, number):
                    whole, lost = _clean_row(row, mapped.names["text"])
                    value, normaliser = mapped.value(whole, cells=False)
                    document = document_from(
                        value, intake.options.tenants, parser=layout.parser, normaliser=normaliser, raw=lost
                    )
                    intake.keep(document, file=path, line=number, raw=lost)
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


def _load() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed", hint="pip install 'ragassay[parquet]'"
        ) from None
    return pa, pq


def _check(source: pq.ParquetFile, path: Path) -> None:
    """InputError for a file that says of itself that it is larger than anything that is read here."""
    about = source.metadata
    if about.num_columns > MOST_FIELDS:
        raise InputError(f"{about.num_columns} columns; the most is {MOST_FIELDS}", hint="write fewer columns")
    unpacked = sum(max(0, about.row_group(number).total_byte_size) for number in range(about.num_row_groups))
    if unpacked > _MOST_UNPACKED or unpacked > max(MAX_BYTES, path.stat().st_size * _MOST_RATIO):
        raise InputError(f"says that it unpacks to {unpacked} bytes", hint="is it damaged? Write it again, or split it")
    for name in source.schema_arrow.names:
        if source.schema_arrow.names.count(name) > 1:
            raise InputError(f"two columns are named {shown(name)!r}", hint="rename one of them")
    for field in source.schema_arrow:
        if _depth(field.type) > MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH}", field=shown(field.name), hint="write it flatter")


def _depth(kind: pa.DataType) -> int:
    """How deeply lists and structs are nested in a type."""
    deepest, waiting = 0, [(kind, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        if depth <= MAX_DEPTH:
            waiting += [(one.field(number).type, depth + 1) for number in range(one.num_fields)]
    return deepest


def _rows(source: pq.ParquetFile, columns: list[str], pyarrow: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows as mappings, numbered from 1; texts come as bytes, since nobody has checked that they are UTF-8."""
    number = 0
    for batch in source.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False):
        found = {name: _values(batch.column(name), pyarrow) for name in batch.schema.names}
        for at in range(batch.num_rows):
            number += 1
            yield number, {name: values[at] for name, values in found.items()}


def _values(column: Any, pyarrow: Any) -> list[Any]:
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if pyarrow.types.is_string(kind):
        column = column.view(pyarrow.binary())
    elif pyarrow.types.is_large_string(kind):
        column = column.view(pyarrow.large_binary())
    if column.nbytes > MAX_BYTES * 4:
        raise InputError(f"more than {MAX_BYTES * 4} bytes in {_BATCH} rows", hint="split documents of this size")
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        raise InputError("text inside a list or struct is not UTF-8", hint="write it again as UTF-8") from None
    return values


def _clean_row(row: dict[str, Any], texts: list[str]) -> tuple[dict[str, Any], bytes | None]:
    """A row of JSON values, and the bytes of its texts if something in it was not valid UTF-8."""
    whole: dict[str, Any] = {}
    lossy = False
    for name, value in row.items():
        whole[clean(name).text], lost = _plain(value)
        lossy = lossy or lost
    raw = b"\n\n".join(one for one in (row.get(name) for name in texts) if isinstance(one, bytes))
    return whole, raw if lossy else None


def _plain(value: Any) -> tuple[Any, bool]:
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
