"""Lines of white-space separated fields as offsets into a buffer of bytes; it reads no file and parses no number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.lists import Bools, Ints
from ragassay.measures.trec.texts import PAD, Bytes, Texts

_NEWLINE, _RETURN, _HASH, _LAST_SPACE = 10, 13, 35, 32
_EVERY_33, _EVERY_128 = np.uint64(0x2121212121212121), np.uint64(0x8080808080808080)


class Fields(NamedTuple):
    """The wanted fields of each line as texts, and where in the buffer each line begins."""

    texts: tuple[Texts, ...]
    line: Ints


def padded(text: bytes | bytearray) -> Bytes:
    """The text as a buffer to scan: a newline at its end if there was none, PAD newlines around it."""
    pad = b"\n" * PAD
    end = b"" if text.endswith(b"\n") or not text else b"\n"
    return np.frombuffer(b"".join((pad, text, end, pad)), np.uint8)


def scan(buffer: Bytes, width: int, wanted: tuple[int, ...]) -> Fields:
    """The wanted fields of every line of a padded buffer that is neither blank nor begins with `#`.

    Fields are parted by any white space (space, tab, CR, FF, VT); what follows the first `width` is ignored.

    Raises:
        InputError: a line has fewer fields, or holds control characters; `line` is the offset of that line in the
            buffer, which the caller turns into a number.
    """
    body = buffer[PAD:-PAD]
    separators = np.flatnonzero(body <= _LAST_SPACE)
    if not len(separators):
        none = np.zeros(0, np.int64)
        return Fields(tuple(Texts(buffer, none, none) for _ in wanted), none)
    kinds = body[separators]
    _refuse_control_characters(buffer, separators, kinds)
    newline = kinds == _NEWLINE
    gaps = separators[1:] - separators[:-1]
    lines = int(np.count_nonzero(newline))
    if len(separators) == width * lines and separators[0] > 0 and int(gaps.min(initial=2)) > 1:
        fields = _single(buffer, separators, newline, lines, width, wanted)
        if fields is not None:
            return fields
    return _any(buffer, separators, newline, gaps, width, wanted)


def first_fields(buffer: Bytes) -> tuple[Texts, Ints]:
    """The first field of every line of a padded buffer, empty for blank lines, and where each line begins.

    Comments are lines like any other here. A few words a line are read, not all of it.
    """
    newline = np.flatnonzero(buffer[PAD:-PAD] == _NEWLINE) + PAD
    line = np.concatenate((np.array([PAD]), newline[:-1] + 1))[: len(newline)]
    words = Texts(buffer, line, line).words
    end = line.copy()
    open_rows = np.arange(len(line))
    while len(open_rows):
        part = words[end[open_rows]]
        marks = (part - _EVERY_33) & ~part & _EVERY_128
        length = np.bitwise_count((marks & (~marks + np.uint64(1))) - np.uint64(1)) >> 3
        end[open_rows] += np.where(marks == 0, 8, length)
        open_rows = open_rows[marks == 0]
    if np.any((end == line) & (buffer[line] != _NEWLINE) & (buffer[line] != _RETURN)):
        start = line.copy()
        indented = np.flatnonzero((end == line) & (line < newline))
        for row in indented.tolist():
            text = bytes(buffer[line[row] : newline[row]])
            bare = text.lstrip()
            start[row] += len(text) - len(bare)
            end[row] = start[row] + len(bare.split(None, 1)[0] if bare else b"")
        return Texts(buffer, start, end), line
    return Texts(buffer, line, end), line


def _refuse_control_characters(buffer: Bytes, separators: Ints, kinds: Bytes) -> None:
    odd = (kinds != _LAST_SPACE) & ((kinds - np.uint8(9)) > 4)
    if odd.any():
        at = PAD + int(separators[np.flatnonzero(odd)[0]])
        raise InputError(
            f"a control character (byte {int(buffer[at])}) in the line",
            hint="the file must be plain UTF-8 text; is it binary, or UTF-16?",
            line=at,
        )


def _single(
    buffer: Bytes, separators: Ints, newline: Bools, lines: int, width: int, wanted: tuple[int, ...]
) -> Fields | None:
    """The quick way: exactly one separator between fields and after them, no comment, no blank line."""
    if not newline[width - 1 :: width].all():
        return None
    table = separators.reshape(lines, width)
    line = np.empty(lines, np.int64)
    line[0] = PAD
    np.add(table[:-1, -1], PAD + 1, out=line[1:])
    if np.any(buffer[line] == _HASH):
        return None
    texts = []
    for column in wanted:
        start = line if column == 0 else table[:, column - 1] + (PAD + 1)
        texts.append(Texts(buffer, start, table[:, column] + PAD))
    return Fields(tuple(texts), line)


def _any(buffer: Bytes, separators: Ints, newline: Bools, gaps: Ints, width: int, wanted: tuple[int, ...]) -> Fields:
    """The general way: runs of separators, CRLF, blank lines, comments, more than `width` fields."""
    apart = gaps > 1
    first_is_text = separators[0] > 0
    end = separators[np.append(first_is_text, apart)] + PAD
    start = separators[:-1][apart] + (PAD + 1)
    if first_is_text:
        start = np.append(PAD, start)
    ends_of_line = separators[newline] + PAD
    line = np.append(PAD, ends_of_line[:-1] + 1)
    if len(start) == width * len(line):
        regular = np.all(start[::width] >= line) and np.all(end[width - 1 :: width] <= ends_of_line)
        if regular and not np.any(buffer[line] == _HASH):
            texts = tuple(Texts(buffer, start[column::width].copy(), end[column::width].copy()) for column in wanted)
            return Fields(texts, line)
    number = np.searchsorted(ends_of_line, start)
    count = np.bincount(number, minlength=len(line))
    used = (count > 0) & (buffer[line] != _HASH)
    short = np.flatnonzero(used & (count < width))
    if len(short):
        low, high = int(line[short[0]]), int(ends_of_line[short[0]])
        raise _too_few(bytes(buffer[low:high]), int(count[short[0]]), width, low)
    first = (np.cumsum(count) - count)[used]
    texts = tuple(Texts(buffer, start[first + column], end[first + column]) for column in wanted)
    return Fields(texts, line[used])


def _too_few(text: bytes, count: int, width: int, at: int) -> InputError:
    names = {6: "query Q0 document rank score tag", 4: "query 0 document grade"}[width]
    shown = text[:60].decode("utf-8", "replace").strip()
    hint = f"each line is: {names}"
    if (width, count) == (6, 4):
        hint += "; this looks like judgements (qrels): the order is QRELS RUN..."
    return InputError(f"{count} fields where {width} are expected: {shown!r}", hint=hint, line=at)
