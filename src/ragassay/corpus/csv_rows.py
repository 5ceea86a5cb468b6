"""Rows of CSV as spreadsheets write it, for documents and for questions. Knows no field; evaluates no formula."""

from __future__ import annotations

import codecs
import csv
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragassay.corpus.lines import NO_TEXT, PARQUET, check_beginning, check_total, opened, raw_lines
from ragassay.corpus.rows import MOST_FIELDS
from ragassay.errors import InputError
from ragassay.records.canonical import MAX_BYTES
from ragassay.records.text import clean, many, shown

DELIMITERS = (",", ";", "\t", "|")
_FIRST_ROW = "the first row names the columns, each further one is a record"
_MOST_AGAIN = 256 * 1024 * 1024
"""Bytes that are read a second time after broken quotes; more means that the quotes mean something else."""
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_KINDS = (*NO_TEXT, *PARQUET)
_CHUNK = 1 << 16


class Line(NamedTuple):
    """A line of the file as text; bytes that could not be decoded are lone surrogates in it, or `lost` says so."""

    number: int
    text: str
    raw: bytes
    lost: bool = False


class CsvRow(NamedTuple):
    """One row: its cells by column in valid Unicode, the line on which it begins, its bytes."""

    values: dict[str, str]
    line: int
    raw: bytes
    lossy: bool
    """Whether something could not be decoded and became U+FFFD."""


class Sheet(NamedTuple):
    """A file of rows: the names of its columns (`""` for one without a name), where they stand, and the rows."""

    names: list[str]
    line: int
    rows: Iterator[CsvRow]


class _Cells(NamedTuple):
    cells: list[str]
    line: int
    raw: bytes
    lost: bool


def open_csv(
    path: Path,
    fits: Callable[[list[str]], int],
    broken: Callable[[InputError], None],
    *,
    delimiter: str | None = None,
    usual: str | None = None,
    encoding: str = "utf-8",
) -> Sheet:
    """The columns and rows of a CSV file, packed with gzip or not.

    Parameters
    ----------
    fits
        How many of the wanted columns a header has. The delimiter is the one of , ; tab | under which that is most.
    broken
        Gets each row that cannot be read, and raises, or returns so that it is left out. After broken quotes reading
        goes on with the line after the one that opened them.
    delimiter
        Declared; a line `sep=;` before the header says it too, and is passed over.
    usual
        The delimiter where no wanted column is found under any; else it is the one that makes the most columns.
    encoding
        Of a file without a byte order mark. What cannot be decoded becomes U+FFFD, and the row is `lossy`.

    Lines end with LF, CR LF or CR; quoted cells may hold line ends. Rows of nothing but empty cells are passed over,
    and so are blank cells past the last column or under one without a name; other such cells, and missing ones, are
    errors. InputError for a file of another kind, without a header, with two columns of one name, or if two
    delimiters fit as well.
    """
    source = _lines(path, encoding, broken)
    first = next((line for line in source if line.text.strip()), None)
    if first is None:
        raise InputError("an empty file", file=str(path), hint=_FIRST_ROW)
    if first.text[:4].lower() == "sep=" and len(first.text.rstrip("\r\n")) == 5:
        delimiter = delimiter or first.text[4]
        first = next(source, None)
        if first is None:
            raise InputError("no row in this file", file=str(path), hint=_FIRST_ROW)
    delimiter = delimiter or _find_delimiter(first, path, fits, usual)
    rows = _rows(path, first, source, delimiter, broken)
    header = next(rows, None)
    if header is None:
        raise InputError("no row in this file", file=str(path), hint=_FIRST_ROW)
    try:
        names = _names(header.cells)
    except InputError as error:
        raise error.at(file=str(path), line=header.line)  # noqa: B904  the same error, with its place
    return Sheet(names, header.line, _named(path, rows, names, broken))


def _names(cells: list[str]) -> list[str]:
    names = [clean(cell)[0].strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError("no row that names the columns", hint=_FIRST_ROW)
    seen: set[str] = set()
    for name in names:
        if "\0" in name:
            raise InputError(
                "a NUL character in the name of a column", hint='is this UTF-16? then say encoding = "utf-16"'
            )
        if name and name in seen:
            raise InputError(f"two columns are named {shown(name)!r}", hint="rename one of them")
        seen.add(name)
    return names


def _named(
    path: Path, rows: Iterator[_Cells], names: list[str], broken: Callable[[InputError], None]
) -> Iterator[CsvRow]:
    for row in rows:
        if not any(row.cells):
            continue
        try:
            made = _row(row, names)
        except InputError as error:
            error.at(file=str(path), line=row.line)
            broken(error)
            continue
        yield made


def _row(row: _Cells, names: list[str]) -> CsvRow:
    if len(row.cells) < len(names) or any(cell.strip() for cell in row.cells[len(names) :]):
        raise InputError(
            f"{many(len(row.cells), 'cell')} in a table of {many(len(names), 'column')}",
            hint="a cell that holds the delimiter, a quote or a line end stands in double quotes",
        )
    values, lossy = {}, row.lost
    for number, (name, cell) in enumerate(zip(names, row.cells, strict=False), 1):
        if name:
            values[name], lost = _clean_cell(cell)
            lossy = lossy or lost
        elif cell.strip():
            raise InputError(f"a cell in column {number}, which has no name", hint="name it in the first row")
    return CsvRow(values, row.line, row.raw, lossy)


def _clean_cell(cell: str) -> tuple[str, bool]:
    """A cell in valid Unicode; what was held as lone surrogates becomes U+FFFD."""
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        try:  # bytes that were no UTF-8, each as one surrogate
            return clean(cell.encode("utf-8", "surrogateescape"))[0], True
        except UnicodeEncodeError:  # of a file in UTF-16
            return clean(cell)[0], True
    return cell, False


def _lines(path: Path, encoding: str, broken: Callable[[InputError], None]) -> Iterator[Line]:
    """The lines of the file, decoded; what ends with CR alone is a line too, with the number of the one it is in."""
    with opened(path) as file:
        wide = encoding == "utf-16" or file.read(2) in _UTF16_MARKS
    for line in _wide_lines(path) if wide else _narrow_lines(path, encoding, broken):
        text = line.text
        if "\r" not in text.removesuffix("\r\n"):
            yield line
            continue
        number = line.number
        for part in _cut_at_returns(text):
            try:
                raw = part.encode("utf-16-le" if wide else encoding, "surrogatepass" if wide else "surrogateescape")
            except UnicodeEncodeError:
                raw = line.raw
            yield Line(number, part, raw, line.lost)
            number += not text.endswith("\n")


def _cut_at_returns(text: str) -> Iterator[str]:
    """Parts that end with CR, LF or CR LF, and with no other sign (`splitlines` knows more)."""
    start = 0
    while start < len(text):
        at = text.find("\r", start)
        end = len(text) if at < 0 else at + 1 + (text[at + 1 : at + 2] == "\n")
        yield text[start:end]
        start = end


def _narrow_lines(path: Path, encoding: str, broken: Callable[[InputError], None]) -> Iterator[Line]:
    for number, raw in raw_lines(path, broken, kinds=_KINDS, hint="one record a line; is this CSV?"):
        data = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        try:
            yield Line(number, data.decode(encoding, errors="surrogateescape"), raw)
        except UnicodeDecodeError:
            yield Line(number, data.decode(encoding, errors="replace"), raw, lost=True)


def _wide_lines(path: Path) -> Iterator[Line]:
    """Lines of UTF-16; half a sign at the end of the file becomes U+FFFD."""
    with opened(path) as file:
        big = file.read(2) == codecs.BOM_UTF16_BE
    decoder = codecs.getincrementaldecoder("utf-16-be" if big else "utf-16-le")("surrogatepass")
    with opened(path) as file:
        number = total = 0
        rest, lost = "", False
        while not lost:
            data = file.read(_CHUNK)
            total += len(data)
            check_total(total, path, number)
            if not total:
                return
            if number == 0:
                check_beginning(data, path, _KINDS)
            try:
                more = decoder.decode(data, final=not data)
                rest += more if number or total > len(data) else more.removeprefix("\ufeff")
            except UnicodeDecodeError:
                rest, lost = rest + "\ufffd", True
            start = 0
            while (end := rest.find("\n", start) + 1) > 0:
                number += 1
                yield Line(number, rest[start:end], rest[start:end].encode("utf-16-le", "surrogatepass"))
                start = end
            rest = rest[start:]
            if len(rest) > MAX_BYTES:
                raise InputError(
                    f"a line of more than {MAX_BYTES} signs", file=str(path), line=number + 1, hint="is this CSV?"
                )
            if not data or lost:
                break
        if rest:
            yield Line(number + 1, rest, rest.encode("utf-16-le", "surrogatepass"), lost)


@contextmanager
def _long_cells() -> Iterator[None]:
    """The `csv` module refuses cells of 128 KiB; texts are longer. The limit is put back."""
    before = csv.field_size_limit(MAX_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _rows(
    path: Path, first: Line, source: Iterator[Line], delimiter: str, broken: Callable[[InputError], None]
) -> Iterator[_Cells]:
    """Rows of the file, the header among them. What is broken is given on, and the next line is next."""
    waiting = deque([first])
    again, begun = 0, False
    while True:
        taken: list[Line] = []
        try:
            cells = _one_row(_fed(waiting, source, taken), delimiter)
        except _UnreadableError as ended:  # of the file, not of a row: nothing comes behind it
            raise ended.why from None
        except InputError as error:
            again += sum(len(line.raw) for line in taken[1:])
            error.at(file=str(path), line=taken[0].number)
            if again > _MOST_AGAIN or not begun:
                raise
            broken(error)
            waiting.extendleft(reversed(taken[1:]))
            continue
        if cells is None:
            return
        begun = True
        yield _Cells(cells, taken[0].number, b"".join(line.raw for line in taken), any(line.lost for line in taken))


def _fed(waiting: deque[Line], source: Iterator[Line], taken: list[Line]) -> Generator[str, None, None]:
    """Lines for one row, first those that wait; each one is noted in `taken`."""
    size = 0
    while line := (waiting.popleft() if waiting else _next(source)):
        taken.append(line)
        size += len(line.raw)
        if size > MAX_BYTES:
            raise InputError(f"a row of more than {MAX_BYTES} bytes", hint="is a quote never closed?")
        yield line.text


class _UnreadableError(Exception):
    """The lines of a file ended with an error of the file itself."""

    def __init__(self, why: InputError) -> None:
        super().__init__(why.message)
        self.why = why


def _next(source: Iterator[Line]) -> Line | None:
    try:
        return next(source, None)
    except InputError as error:
        raise _UnreadableError(error) from None


def _one_row(lines: Generator[str, None, None], delimiter: str) -> list[str] | None:
    """The next row; None at the end. InputError for broken quotes or too many cells."""
    try:
        with _long_cells():
            cells = next(csv.reader(lines, delimiter=delimiter, strict=True), None)
    except csv.Error as cause:
        raise InputError(f"broken quotes: {cause}", hint='a quote inside a quoted cell is written twice: ""') from None
    finally:
        lines.close()
    if cells is not None and len(cells) > MOST_FIELDS:
        raise InputError(f"{many(len(cells), 'cell')}; the most is {MOST_FIELDS}", hint="is this the right delimiter?")
    return cells


def _find_delimiter(first: Line, path: Path, fits: Callable[[list[str]], int], usual: str | None) -> str:
    """The delimiter under which the header has the most wanted columns; InputError if two have as many."""
    found: list[tuple[int, str, list[str]]] = []
    for one in DELIMITERS:
        try:
            names = [clean(name)[0].strip() for name in _one_row(_alone(first.text), one) or []]
        except InputError:
            continue
        found.append((fits([name for name in names if name]), one, names))
    most = max((fit for fit, _, _ in found), default=0)
    if not most:
        return usual or max(found, key=lambda one: len(one[2]), default=(0, ",", []))[1]
    best = {tuple(names): one for fit, one, names in reversed(found) if fit == most}
    if len(best) > 1:
        raise InputError(
            f"the columns are found under {' and under '.join(map(repr, reversed(best.values())))}",
            file=str(path), line=first.number, hint='declare it: delimiter = ";"',
        )  # fmt: skip
    return next(iter(best.values()))


def _alone(text: str) -> Generator[str, None, None]:
    """One line as a generator, which can be closed."""
    yield text
