"""Lines of white-space separated fields as offsets into a buffer of bytes; it reads no file and parses no number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.lists import Ints
from ragassay.measures.trec.texts import PAD, Bytes, Texts

_NEWLINE, _HASH, _LAST_SPACE = 10, 35, 32


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
    if not len(body):
        none = np.zeros(0, np.int64)
        return Fields(tuple(Texts(buffer, none, none) for _ in wanted), none)
    lines = int(np.count_nonzero(body == _NEWLINE))
    _refuse_control_characters(buffer, body)
    return _single(buffer, body, lines, width, wanted) or _any(buffer, body, width, wanted)


def _refuse_control_characters(buffer: Bytes, body: Bytes) -> None:
    odd = (body < 9) | ((body - np.uint8(14)) < 18)
    if odd.any():
        at = PAD + int(np.flatnonzero(odd)[0])
        raise InputError(
            f"a control character (byte {int(buffer[at])}) in the line",
            hint="the file must be plain UTF-8 text; is it binary, or UTF-16?",
            line=at,
        )


def _single(buffer: Bytes, body: Bytes, lines: int, width: int, wanted: tuple[int, ...]) -> Fields | None:
    """The quick way: exactly one separator between fields and after them, no comment, no blank line."""
    separators = np.flatnonzero(body <= _LAST_SPACE)
    if len(separators) != width * lines or separators[0] == 0:
        return None
    if int((separators[1:] - separators[:-1]).min(initial=2)) < 2:
        return None
    table = separators.reshape(lines, width)
    ends = table[:, -1]
    if not np.all(body[ends] == _NEWLINE):
        return None
    line = np.empty(lines, np.int64)
    line[0] = PAD
    np.add(ends[:-1], PAD + 1, out=line[1:])
    if np.any(buffer[line] == _HASH):
        return None
    texts = []
    for column in wanted:
        start = line if column == 0 else table[:, column - 1] + (PAD + 1)
        texts.append(Texts(buffer, start, table[:, column] + PAD))
    return Fields(tuple(texts), line)


def _any(buffer: Bytes, body: Bytes, width: int, wanted: tuple[int, ...]) -> Fields:
    """The general way: runs of separators, CRLF, blank lines, comments, more than `width` fields."""
    white = buffer[PAD - 1 : -PAD] <= _LAST_SPACE
    edges = np.flatnonzero(white[1:] != white[:-1]) + PAD
    start, end = edges[0::2], edges[1::2]
    newline = np.flatnonzero(body == _NEWLINE) + PAD
    line = np.concatenate((np.array([PAD]), newline[:-1] + 1))
    if len(start) == width * len(line):
        firsts, lasts = start[::width], end[width - 1 :: width]
        regular = np.all(firsts >= line) and np.all(lasts <= newline)
        if regular and not np.any(buffer[line] == _HASH):
            texts = tuple(Texts(buffer, start[column::width].copy(), end[column::width].copy()) for column in wanted)
            return Fields(texts, line)
    number = np.searchsorted(newline, start)
    count = np.bincount(number, minlength=len(line))
    used = (count > 0) & (buffer[line] != _HASH)
    short = np.flatnonzero(used & (count < width))
    if len(short):
        raise _too_few(
            bytes(buffer[line[short[0]] : newline[short[0]]]), int(count[short[0]]), width, int(line[short[0]])
        )
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
