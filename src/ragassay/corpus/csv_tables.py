"""Documents from CSV as spreadsheets write it. Guesses no encoding and no meaning of a column; evaluates no formula."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragassay.corpus.jsonl import document_from
from ragassay.corpus.lines import UTF16, raw_lines, read_whole
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.corpus.rows import LAYOUTS, MOST_FIELDS, Mapped, map_columns
from ragassay.errors import InputError
from ragassay.records.canonical import MAX_BYTES
from ragassay.records.text import clean, shown

DELIMITERS = (",", ";", "\t", "|")
_HINT = "a first row with the names of the columns, among them document_id and text, then one document a row"
_MOST_AGAIN = 256 * 1024 * 1024
"""Bytes that are read a second time after broken quotes; more means that the quotes mean something else."""
_UTF16_MARKS = tuple(mark for mark, _, _ in UTF16)


class Line(NamedTuple):
    """A line of the file as text; what could not be decoded is held as lone surrogates."""

    number: int
    text: str
    raw: bytes


class Row(NamedTuple):
    """The cells of one row, the line on which it begins, and its bytes."""

    cells: list[str]
    line: int
    raw: bytes


def read_csv(path: Path, options: Options) -> Reading:
    """One document a row; the first row names the columns, and a line `sep=;` before it is passed over.

    The delimiter is the declared one, or that one of , ; tab | under which the needed columns are found. A byte order
    mark says UTF-8 or UTF-16; else the text is in `encoding`, and what cannot be decoded becomes U+FFFD with `lossy`.
    Quoted cells may hold line ends. Empty rows are passed over; a row of more or fewer cells than the first is an
    error. `columns` says which column is which field (text may be made of several, with a blank line between); without
    it columns are named as the fields are, and any other is an error. Several tenants stand in one cell as `a|b`.

    A broken quote takes part of the file with it: with `on_error="skip"` reading goes on with the next line.
    """
    intake = Intake(path, options, "csv")
    rows = _rows(path, intake)
    header, mapped = _header(rows, path, intake)
    intake.found.unread += [shown(name) for name in mapped.unread]
    for row in rows:
        if not any(row.cells):
            continue
        with intake.at(path, row.line):
            if len(row.cells) != len(header):
                raise InputError(
                    f"{len(row.cells)} cells; the first row has {len(header)}",
                    hint="quote a cell that holds the delimiter, a quote or a line end",
                )
            pairs = [_clean_cell(cell, options.encoding) for cell in row.cells]
            lossy = any(lost for _, lost in pairs)
            cells = {name: text for name, (text, _) in zip(header, pairs, strict=True)}
            value, normaliser = mapped.value(cells, cells=True)
            document = document_from(
                value, options.tenants, parser=mapped.layout.parser, normaliser=normaliser,
                raw=row.raw if lossy else None,
            )  # fmt: skip
            intake.keep(document, file=path, line=row.line, raw=row.raw)
    return intake.settle(_HINT)


def _clean_cell(cell: str, encoding: str) -> tuple[str, bool]:
    """A cell in valid Unicode; what was held as lone surrogates becomes U+FFFD."""
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        try:
            if encoding == "utf-8":
                return clean(cell.encode("utf-8", "surrogateescape"))[0], True
        except UnicodeEncodeError:  # of a file in UTF-16
            pass
        return clean(cell)[0], True
    return cell, False


def _lines(path: Path, intake: Intake) -> Iterator[Line]:
    """The lines of the file, decoded without loss: undecodable bytes are lone surrogates."""
    if _beginning(path) in _UTF16_MARKS or intake.options.encoding == "utf-16":
        data = read_whole(path)
        text = data.decode("utf-16", errors="surrogatepass" if len(data) % 2 == 0 else "replace")
        for number, line in enumerate(_cut(text), 1):
            yield Line(number, line, line.encode("utf-16-le", "surrogatepass"))
        return
    encoding = intake.options.encoding
    for number, raw in raw_lines(path, intake.broken):
        data = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        try:
            text = data.decode(encoding, errors="surrogateescape")
        except UnicodeDecodeError:
            text = data.decode(encoding, errors="replace")
        yield Line(number, text, raw)


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(2)
    except (OSError, ValueError):
        return b""  # the reading proper says what is wrong


def _cut(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


@contextmanager
def _long_cells() -> Iterator[None]:
    """The `csv` module refuses cells of 128 KiB; texts are longer. The limit is put back."""
    before = csv.field_size_limit(MAX_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _rows(path: Path, intake: Intake) -> Iterator[Row]:
    """Rows of the file, the header among them. What is broken is given to the intake, and the next line is next."""
    source = _lines(path, intake)
    first = next((line for line in source if line.text.strip()), None)
    if first is None:
        raise InputError("an empty file", file=str(path), hint=_HINT)
    declared = intake.options.delimiter
    if first.text[:4].lower() == "sep=" and len(first.text.rstrip("\r\n")) == 5:
        declared = declared or first.text[4]
        first = next(source, None)
        if first is None:
            raise InputError("no row in this file", file=str(path), hint=_HINT)
    delimiter = declared or _find_delimiter(first, path, intake)
    waiting = deque([first])
    again, begun = 0, False
    while True:
        taken: list[Line] = []
        try:
            cells = _one_row(_fed(waiting, source, taken), delimiter)
        except InputError as error:
            again += sum(len(line.raw) for line in taken[1:])
            error.at(file=str(path), line=taken[0].number)
            if again > _MOST_AGAIN or not begun:
                raise
            intake.broken(error)
            waiting.extendleft(reversed(taken[1:]))
            continue
        if cells is None:
            return
        begun = True
        yield Row(cells, taken[0].number, b"".join(line.raw for line in taken))


def _fed(waiting: deque[Line], source: Iterator[Line], taken: list[Line]) -> Generator[str, None, None]:
    """Lines for one row, first those that wait; each one is noted in `taken`."""
    size = 0
    while line := (waiting.popleft() if waiting else next(source, None)):
        taken.append(line)
        size += len(line.raw)
        if size > MAX_BYTES:
            raise InputError(f"a row of more than {MAX_BYTES} bytes", hint="is a quote never closed?")
        yield line.text


def _one_row(lines: Generator[str, None, None], delimiter: str) -> list[str] | None:
    """The next row; None at the end. InputError for broken quotes or too many cells."""
    try:
        with _long_cells():
            cells = next(csv.reader(lines, delimiter=delimiter, strict=True), None)
    except csv.Error as cause:
        if "new-line" in str(cause):
            raise InputError("a carriage return alone inside a row", hint="end lines with LF or CR LF") from None
        raise InputError(f"broken quotes: {cause}", hint='a quote inside a quoted cell is written twice: ""') from None
    finally:
        lines.close()
    if cells is not None and len(cells) > MOST_FIELDS:
        raise InputError(f"{len(cells)} cells; the most is {MOST_FIELDS}", hint="is this the right delimiter?")
    return cells


def _find_delimiter(first: Line, path: Path, intake: Intake) -> str:
    """The delimiter under which the header has the needed columns; the most frequent one if none has them."""
    fitting = []
    for one in DELIMITERS:
        try:
            cells = [clean(name)[0].strip() for name in _one_row(_alone(first.text), one) or []]
            map_columns(LAYOUTS["csv"], cells, intake.options.columns)
        except InputError:
            continue
        fitting.append(one)
    if len(fitting) > 1:
        raise InputError(
            f"the columns are found under {' and under '.join(map(repr, fitting))}",
            file=str(path), line=first.number, hint='declare it: delimiter = ";"',
        )  # fmt: skip
    return fitting[0] if fitting else max(DELIMITERS, key=first.text.count)


def _alone(text: str) -> Generator[str, None, None]:
    """One line as a generator, which can be closed."""
    yield text


def _header(rows: Iterator[Row], path: Path, intake: Intake) -> tuple[list[str], Mapped]:
    row = next(rows, None)
    if row is None:
        raise InputError("no row in this file", file=str(path), hint=_HINT)
    names = [_clean_cell(name, intake.options.encoding)[0].strip() for name in row.cells]
    if not all(names):
        raise InputError(
            "a column without a name", file=str(path), line=row.line, hint="name it, or remove the empty column"
        )
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(
            f"two columns are named {shown(twice)!r}", file=str(path), line=row.line, hint="rename one of them"
        )
    try:
        return names, map_columns(LAYOUTS["csv"], names, intake.options.columns)
    except InputError as error:
        raise error.at(file=str(path), line=row.line)  # noqa: B904  the same error, with its place
