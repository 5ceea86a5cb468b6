"""Files to lines of bytes, unpacked and with caps; bytes to text by a declared encoding. Knows no format."""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ragassay.errors import InputError
from ragassay.records.canonical import MAX_BYTES
from ragassay.records.text import clean

MOST_UNPACKED = 2 * 1024**3
"""Bytes that a packed file may unpack to."""
GZIP = b"\x1f\x8b"
_AS_UTF8 = "save it as UTF-8"
NO_TEXT = (
    (GZIP, "compressed with gzip", "unpack it first: gunzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: unzstd"),
    (b"PK\x03\x04", "a zip archive, as Excel files are", "unpack it, and name a file of it; save a spreadsheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file", "save the sheet as CSV"),
    (b"%PDF-", "a PDF file", "write its text into a text file, or name a parser that reads PDF"),
)
"""What the first bytes of a file that is no text in any encoding say, and what to do about it."""
OTHER_KINDS = (
    *NO_TEXT,
    (b"\xff\xfe", "not UTF-8 but UTF-16 or UTF-32", _AS_UTF8),
    (b"\xfe\xff", "not UTF-8 but UTF-16", _AS_UTF8),
)
"""The same for text that must be UTF-8."""
PARQUET = ((b"PAR1", "a Parquet file", 'name its format: "parquet"'),)


@contextmanager
def opened(path: Path, *, packed: bool = True) -> Iterator[IO[bytes]]:
    """A regular file to read, through gzip if its first bytes say so; every way to fail is an InputError."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR):  # to open a pipe would wait for a writer
            raise InputError("not a regular file", file=str(path), hint="name a file")
        with path.open("rb") as file:
            if packed and file.peek(2)[:2] == GZIP:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as cause:
        raise InputError(f"damaged gzip: {cause}", file=str(path), hint="fetch or pack the file again") from None
    except (OSError, ValueError) as cause:  # ValueError: a NUL in the path
        why = getattr(cause, "strerror", None) or cause
        raise InputError(f"cannot be read: {why}", file=str(path), hint="check the path and its permissions") from cause


def raw_lines(
    path: Path,
    too_long: Callable[[InputError], None],
    *,
    packed: bool = True,
    kinds: tuple[tuple[bytes, str, str], ...] = (*OTHER_KINDS, *PARQUET),
    longest: int | None = None,
    hint: str = "one document a line; split a document of this size into several",
) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of every line, blank ones and line ends included.

    A line of more than `longest` bytes (MAX_BYTES) is given to `too_long`, which raises; if it does not, the line is
    passed over without being held. Raises InputError for a file that cannot be read, is of another kind, or unpacks
    to too much.
    """
    longest = MAX_BYTES if longest is None else longest
    with opened(path, packed=packed) as file:
        number = total = 0
        while line := file.readline(longest + 1):
            number += 1
            total += len(line)
            if number == 1:
                check_beginning(line, path, kinds)
            if len(line) > longest:
                too_long(InputError(f"a line of more than {longest} bytes", file=str(path), line=number, hint=hint))
                while line and not line.endswith(b"\n"):
                    line = file.readline(longest + 1)
                    total += len(line)
                    check_total(total, path, number)
                continue
            check_total(total, path, number)
            yield number, line


def check_total(total: int, path: Path, line: int) -> None:
    """InputError once more than MOST_UNPACKED bytes came out of a smaller file."""
    if total > MOST_UNPACKED and total > path.stat().st_size:
        raise InputError(
            f"unpacks to more than {MOST_UNPACKED} bytes", file=str(path), line=line, hint="unpack it and look at it"
        )


def check_beginning(data: bytes, path: Path, kinds: tuple[tuple[bytes, str, str], ...] = OTHER_KINDS) -> None:
    """InputError for a file whose first bytes say that it is something else than text in UTF-8."""
    for mark, what, hint in kinds:
        if data.startswith(mark):
            raise InputError(what, file=str(path), line=1, hint=hint)


def refuse(error: InputError) -> None:
    """Raise it: what `raw_lines` is given where a line too long ends the reading."""
    raise error


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number and bytes (without line end) of each line that is not blank; the file must not be packed."""
    for number, line in raw_lines(path, refuse, packed=False):
        if line.strip():
            yield number, line.rstrip(b"\r\n")


def decoded(raw: bytes, encoding: str) -> tuple[str, bool]:
    """Text of bytes in a declared encoding, and whether something became U+FFFD."""
    if encoding == "utf-8":
        return clean(raw)
    try:
        return clean(raw.decode(encoding))
    except UnicodeDecodeError:
        return clean(raw.decode(encoding, errors="replace")).text, True


def read_whole(path: Path, *, most: int = MAX_BYTES, packed: bool = False, hint: str = "split it") -> bytes:
    """All bytes of a file, unpacked only if `packed`; InputError if there are more than `most`."""
    with opened(path, packed=packed) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"more than {most} bytes", file=str(path), hint=hint)
    return data
