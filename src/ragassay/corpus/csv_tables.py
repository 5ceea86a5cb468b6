"""Documents from CSV as spreadsheets write it. Guesses no encoding and no meaning of a column; evaluates no formula."""

from __future__ import annotations

from pathlib import Path

from ragassay.corpus.csv_rows import open_csv
from ragassay.corpus.jsonl import document_from
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.corpus.rows import LAYOUTS, map_columns
from ragassay.errors import InputError
from ragassay.records.text import shown

_HINT = "a first row with the names of the columns, among them document_id and text, then one document a row"


def read_csv(path: Path, options: Options) -> Reading:
    """One document a row; the first row names the columns (`csv_rows.open_csv` says how files may be written).

    `columns` says which column is which field (text may be made of several, with a blank line between); without it
    columns are named as the fields are, and any other is an error. Several tenants stand in one cell as `a|b`.
    """
    intake = Intake(path, options, "csv")
    sheet = open_csv(
        path, lambda names: _fits(names, options), intake.broken,
        delimiter=options.delimiter, encoding=options.encoding,
    )  # fmt: skip
    try:
        if "" in sheet.names and any(isinstance(one, int) for one in options.columns.values()):
            raise InputError("a column without a name", hint="name it, or name the columns in the mapping")
        mapped = map_columns(LAYOUTS["csv"], [name for name in sheet.names if name], options.columns)
    except InputError as error:
        raise error.at(file=str(path), line=sheet.line)  # noqa: B904  the same error, with its place
    intake.found.unread += [shown(name) for name in mapped.unread]
    for row in sheet.rows:
        with intake.at(path, row.line):
            value, normaliser = mapped.value(row.values, cells=True)
            document = document_from(
                value, options.tenants, parser=mapped.layout.parser, normaliser=normaliser,
                raw=row.raw if row.lossy else None,
            )  # fmt: skip
            intake.keep(document, file=path, line=row.line, raw=row.raw)
    return intake.settle(_HINT)


def _fits(names: list[str], options: Options) -> int:
    try:
        map_columns(LAYOUTS["csv"], names, options.columns)
    except InputError:
        return 0
    return 1
