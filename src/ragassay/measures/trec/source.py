"""A run or judgement file as pieces of whole lines, cut where the query changes; it understands no field but the first.

Reads by position, never maps: memory stays that of the pieces in work. Gzip and pipes are spooled to a temporary
file first.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.trec.texts import PAD, Bytes

PIECE = 6 << 20
LONGEST_LINE = 1 << 16
_COPY = 1 << 20
_TOGETHER = 512
_NEWLINE = 10
_TOKEN = re.compile(rb"[^\s]+")


class SupportsRead(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, none at the end."""
        ...


class Range(NamedTuple):
    """Bytes start to end of the file."""

    start: int
    end: int


class Source:
    """An open file of lines. Use as a context manager, or call `close`."""

    def __init__(self, path: str | Path) -> None:
        self.name = str(path)
        self._stream = _opened(self.name)
        try:
            self.size = os.fstat(self._stream.fileno()).st_size
            self.start = self._first_byte()
            self.unended = self.read(Range(self.size - 1, self.size)) != b"\n"
            """The last line has no newline; one is added where it is read."""
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._stream.close()

    def read(self, where: Range) -> bytes:
        """The bytes of a range."""
        parts, at = [], where.start
        while at < where.end:
            part = os.pread(self._stream.fileno(), where.end - at, at)
            if not part:
                raise InputError("the file became shorter while it was read", file=self.name)
            parts.append(part)
            at += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def text(self, ranges: Sequence[Range]) -> Bytes:
        """The ranges one after another as a buffer to scan (see `scan.padded`), each ended by a newline.

        Ranges that are neighbours in the file are read by one call, wherever they come to stand.
        """
        size = sum(one.end - one.start for one in ranges)
        buffer = np.empty(size + 2 * PAD + 1, np.uint8)
        buffer[:PAD] = _NEWLINE
        view, at = buffer.data, PAD
        places: list[tuple[int, int, memoryview]] = []
        for low, high in ranges:
            stop = at + high - low
            places.append((low, high, view[at:stop]))
            at = stop
            if high == self.size and self.unended:
                buffer[at] = _NEWLINE
                at += 1
        buffer[at : at + PAD] = _NEWLINE
        if len(places) > 1:
            places.sort(key=itemgetter(0))
        targets: list[memoryview] = []
        begin = reached = places[0][0] if places else 0
        for low, high, target in places:
            if low != reached or len(targets) == _TOGETHER:
                self._read_into(targets, begin)
                targets, begin = [], low
            targets.append(target)
            reached = high
        self._read_into(targets, begin)
        return buffer[: at + PAD]

    def _read_into(self, targets: list[memoryview], at: int) -> None:
        """Fill the targets one after another from the bytes of the file from `at` on."""
        while targets:
            got = os.preadv(self._stream.fileno(), targets, at)
            if not got:
                raise InputError("the file became shorter while it was read", file=self.name)
            at += got
            while targets and got >= len(targets[0]):
                got -= len(targets.pop(0))
            if got:
                targets[0] = targets[0][got:]

    def line_number(self, offset: int) -> int:
        """The number, from 1, of the line that holds a byte of the file."""
        number, at = 1, 0
        while at < offset:
            stop = min(at + _COPY, offset)
            number += self.read(Range(at, stop)).count(b"\n")
            at = stop
        return number

    def pieces(self, size: int = PIECE) -> Iterator[Range]:
        """Ranges of whole lines, of about `size` bytes, cut only where the next line has another first field."""
        at = self.start
        while at < self.size:
            end = self.size if at + size >= self.size else self._cut(at + size)
            yield Range(at, end)
            at = end

    def _cut(self, after: int) -> int:
        """The first convenient start of a line after `after` whose query differs from the line before."""
        line = self._next_line(after)
        reach = LONGEST_LINE
        while line < self.size:
            window = self.read(Range(line, min(line + reach, self.size)))
            whole = len(window) if line + len(window) == self.size else window.rfind(b"\n") + 1
            token = _TOKEN.search(window, 0, whole)
            if token is None or token.start() > 0:
                return line  # a blank or indented line: a query that goes on behind it is found to have two blocks
            marks = [window.rfind(b"\n" + token[0] + space, 0, whole) for space in (b" ", b"\t")]
            last = max(0, *(mark + 1 for mark in marks))
            stop = window.find(b"\n", last, whole) + 1
            if 0 < stop < whole:
                return line + stop
            if line + len(window) == self.size:
                return self.size
            line, reach = (line + last, reach * 2) if last else (line, reach * 2)
        return self.size

    def _next_line(self, after: int) -> int:
        """The start of the first line that begins after `after`."""
        at = after
        while at < self.size:
            found = self.read(Range(at, min(at + LONGEST_LINE, self.size))).find(b"\n")
            if found >= 0:
                return at + found + 1
            at += LONGEST_LINE
            if at - after > LONGEST_LINE and at < self.size:
                raise self.too_long(after)
        return self.size

    def too_long(self, offset: int) -> InputError:
        """The refusal of a line without an end."""
        return InputError(
            f"a line of more than {LONGEST_LINE} bytes",
            hint="the file must be lines of text, one item a line; is it the right file?",
            file=self.name,
            line=self.line_number(offset),
        )

    def _first_byte(self) -> int:
        """Where the text begins; refuses what is no text."""
        head = self.read(Range(0, min(self.size, LONGEST_LINE + 1)))
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(
                "the file is UTF-16",
                hint="write it as UTF-8: iconv -f UTF-16 -t UTF-8 IN > OUT",
                file=self.name,
                line=1,
            )
        if b"\0" in head:
            line = head[: head.index(b"\0")].count(b"\n") + 1
            raise InputError(
                "the file is binary, not text",
                hint="a run or qrels file is plain UTF-8 text",
                file=self.name,
                line=line,
            )
        if not head.strip():
            raise InputError("the file is empty", hint="one line an item is expected", file=self.name, line=1)
        if b"\n" not in head and self.size > LONGEST_LINE:
            raise self.too_long(0)
        return 3 if head.startswith(b"\xef\xbb\xbf") else 0


def _opened(name: str) -> BinaryIO:
    """A seekable stream of the plain bytes; an InputError says why there is none."""
    try:
        if name == "-":
            return _spooled(sys.stdin.buffer)
        stream = Path(name).open("rb")  # noqa: SIM115 - the caller closes it
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            with stream:
                return _spooled(stream)
        if stream.read(2) != b"\x1f\x8b":
            return stream
        with stream:
            stream.seek(0)
            return _unpacked(stream, name)
    except FileNotFoundError as error:
        raise InputError("there is no such file", hint="check the path", file=name) from error
    except IsADirectoryError as error:
        raise InputError("this is a directory", hint="name the file in it", file=name) from error
    except PermissionError as error:
        raise InputError("the file may not be read", hint="check its permissions (chmod +r)", file=name) from error
    except OSError as error:
        raise InputError(
            f"the file cannot be read: {error.strerror or error}", hint="check the path and the disk", file=name
        ) from error


def _unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    """What is in a gzip stream, spooled."""
    import gzip  # a few milliseconds that plain files do without
    import zlib

    try:
        with gzip.open(stream) as unpacked:
            return _spooled(unpacked)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"the gzip data is damaged: {error}", hint="test it with gzip -t", file=name) from error


def _spooled(stream: SupportsRead) -> BinaryIO:
    """All bytes of a stream in a temporary file without a name, block by block."""
    import tempfile  # a few milliseconds that plain files do without

    target = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        while block := stream.read(_COPY):
            target.write(block)
        target.flush()
    except BaseException:
        target.close()
        raise
    return target
