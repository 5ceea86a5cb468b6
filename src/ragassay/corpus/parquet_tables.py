"""Documents from Parquet files, with the extra `parquet` (pyarrow). Reads only the columns that it needs."""

from __future__ import annotations

from pathlib import Path

from ragassay.corpus.jsonl import document_from
from ragassay.corpus.parquet_rows import parquet_rows
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.corpus.rows import LAYOUTS, Layout, Mapped, map_columns
from ragassay.errors import InputError
from ragassay.records.text import shown

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
    found: list[Mapped] = []

    def choose(names: list[str]) -> list[str]:
        mapped = map_columns(layout, names, intake.options.columns)
        intake.found.unread += [shown(name) for name in mapped.unread if name not in intake.found.unread]
        found.append(mapped)
        return [name for columns in mapped.names.values() for name in columns]

    for row in parquet_rows(path, choose):
        mapped = found[0]
        with intake.at(path, row.number):
            texts = [row.given.get(name) for name in mapped.names["text"]]
            raw = b"\n\n".join(one for one in texts if isinstance(one, bytes)) if row.lossy else None
            value, normaliser = mapped.value(row.values, cells=False)
            document = document_from(
                value, intake.options.tenants, parser=layout.parser, normaliser=normaliser, raw=raw
            )
            intake.keep(document, file=path, line=row.number, raw=raw, whole=False)
