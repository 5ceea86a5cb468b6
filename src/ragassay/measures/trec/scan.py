"""Lines of white-space separated fields as offsets into a buffer of bytes; it reads no file and parses no number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.lists import Bools, Ints
from ragassay.measures.trec.texts import PAD, Bytes, Texts, Words, changes

_TAB, _NEWLINE, _RETURN, _HASH, _LAST_SPACE = 9, 10, 13, 35, 32
_ONE, _BITS = np.uint64(1), 64
_INNER = np.uint64((1 << _BITS) - 2)
_STRIDE, _REACH = 2048, 256
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

    Fields are parted by any white space (space, tab, FF, VT); lines end with LF or CRLF; what follows the first
    `width` fields is ignored.

    Raises:
        InputError: a line has fewer fields, or holds control characters or a CR before its end; `line` is the offset
            of that line in the buffer, which the caller turns into a number.
    """
    quick = _regular(buffer, width, wanted)
    if quick is not None:
        return quick
    body = buffer[PAD - 1 : -PAD]
    separators = np.flatnonzero(body <= _LAST_SPACE)
    kinds = body[separators]
    _refuse_control_characters(buffer, separators, kinds)
    gaps = separators[1:] - separators[:-1]
    return _any(buffer, separators, kinds == _NEWLINE, gaps, width, wanted)


def first_fields(buffer: Bytes) -> tuple[Texts, Ints]:
    """The first field of every line of a padded buffer, empty for blank lines, and where each line begins.

    Comments are lines like any other here. A few words a line are read, not all of it.
    """
    newline = np.flatnonzero(buffer[PAD - 1 : -PAD] == _NEWLINE) + (PAD - 1)
    line, last = newline[:-1] + 1, newline[1:]
    end = _first_ends(buffer, line)
    empty = end == line
    if np.any(empty) and np.any(empty & (buffer[line] != _NEWLINE) & (buffer[line] != _RETURN)):
        start = line.copy()
        indented = np.flatnonzero(empty & (line < last))
        for row in indented.tolist():
            text = bytes(buffer[line[row] : last[row]])
            bare = text.lstrip()
            start[row] += len(text) - len(bare)
            end[row] = start[row] + len(bare.split(None, 1)[0] if bare else b"")
        return Texts(buffer, start, end), line
    return Texts(buffer, line, end), line


def sampled_fields(buffer: Bytes) -> tuple[Texts, Ints] | None:
    """As `first_fields`, but only of a line every 2 KiB, and of all lines wherever two of these differ.

    Another field between two sampled lines that are equal is not seen: whoever reads the lines has to check.
    None where a line is blank, indented or long, or where most would have to be looked at anyway.
    """
    body = buffer[PAD:-PAD]
    rows = len(body) // _STRIDE
    table = body[: rows * _STRIDE].reshape(rows, _STRIDE)
    newline = table[:, :_REACH] == _NEWLINE
    column = newline.argmax(axis=1)
    if not rows or not newline[np.arange(rows), column].all():
        return None
    sample = np.append(PAD, np.arange(rows) * _STRIDE + column + (PAD + 1))
    other = changes(Texts(buffer, sample, _first_ends(buffer, sample)))[1:]
    near = np.zeros(rows, bool)
    near[-1] = True
    near[other - 1] = near[np.maximum(other - 2, 0)] = True
    if 2 * np.count_nonzero(near) > rows:
        return None
    looked_at = np.flatnonzero(near)
    nth, place = np.divmod(np.flatnonzero(table[looked_at] == _NEWLINE), _STRIDE)
    behind = np.flatnonzero(body[rows * _STRIDE : -1] == _NEWLINE) + rows * _STRIDE
    found = np.concatenate((looked_at[nth] * _STRIDE + place, behind)) + (PAD + 1)
    line = np.sort(np.concatenate((sample[:1], sample[1:][~near], found[found < len(buffer) - PAD])))
    end = _first_ends(buffer, line)
    return None if np.any(end == line) else (Texts(buffer, line, end), line)


def _first_ends(buffer: Bytes, line: Ints) -> Ints:
    """Where the first field of each line ends; at the line's beginning if it begins with white space."""
    words = Texts(buffer, line, line).words
    length, found = _to_white_space(words[line])
    end: Ints = line + length
    open_rows = np.flatnonzero(~found)
    while len(open_rows):
        length, found = _to_white_space(words[end[open_rows]])
        end[open_rows] += length
        open_rows = open_rows[~found]
    return end


def _to_white_space(words: Words) -> tuple[Ints, Bools]:
    """How many bytes of each word stand before its first white space, 8 if it has none; and whether it has one."""
    marks = words - _EVERY_33
    marks &= ~words
    marks &= _EVERY_128
    length: Ints = np.bitwise_count((marks - _ONE) & ~marks).astype(np.int64) >> 3
    return length, np.not_equal(marks, 0)


def _refuse_control_characters(buffer: Bytes, separators: Ints, kinds: Bytes) -> None:
    odd = (kinds != _LAST_SPACE) & ((kinds - np.uint8(9)) > 4)
    if odd.any():
        at = PAD - 1 + int(separators[np.flatnonzero(odd)[0]])
        raise InputError(
            f"a control character (byte {int(buffer[at])}) in the line",
            hint="the file must be plain UTF-8 text; is it binary, or UTF-16?",
            line=at,
        )
    returns = separators[kinds == _RETURN] + (PAD - 1)
    alone = (buffer[returns + 1] != _NEWLINE) & (buffer[returns + 1] != _RETURN)
    if alone.any():  # lines that end so would be one line to us, of which all but the first fields are not read
        raise InputError(
            "a carriage return in the line",
            hint="end lines with LF or CRLF: tr '\\r' '\\n' < IN > OUT",
            line=int(returns[np.flatnonzero(alone)[0]]),
        )


def _regular(buffer: Bytes, width: int, wanted: tuple[int, ...]) -> Fields | None:
    """The quick way: `width` fields in every line, spaces and tabs only; no comment, no blank line, else None."""
    newline = np.flatnonzero(buffer[PAD - 1 : -PAD] == _NEWLINE) + (PAD - 1)
    line, last = newline[:-1] + 1, newline[1:]
    first = buffer[line]
    if not len(line) or int(first.min()) <= _LAST_SPACE or np.any(first == _HASH):
        return None
    if int(buffer.min()) < _TAB or int((buffer - np.uint8(_NEWLINE + 1)).min()) < _LAST_SPACE - (_NEWLINE + 1):
        return None  # the bytes from 11 to 31 are now the least
    walk = _Walk(buffer, line, last)
    if walk.edges != 2 * width * len(line):
        return None
    start, ends = [line], []
    for field in range(width - 1):
        ends.append(walk.end(field in wanted))
        start.append(walk.start(field + 1 in wanted or field + 2 == width))
    # All lines have as many edges as they must in sum: none has fewer if the last field of each begins within it.
    if walk.lost or not np.all(start[-1] < last):
        return None
    if width - 1 in wanted:
        ends.append(walk.end(wanted=True))
    return Fields(tuple(Texts(buffer, start[one], ends[one]) for one in wanted), line)


class _Walk:
    """From edge to edge of the white space in each line, all lines at once, over one bit a byte."""

    def __init__(self, buffer: Bytes, line: Ints, last: Ints) -> None:
        blank = np.empty((len(buffer) // _BITS + 2) * _BITS, bool)
        blank[len(buffer) :] = True
        np.less_equal(buffer, _LAST_SPACE, out=blank[: len(buffer)])
        self._words: Words = np.packbits(blank, bitorder="little").view(np.dtype("<u8"))
        change = self._words ^ (self._words << _ONE)
        change[1:] ^= self._words[:-1] >> np.uint64(_BITS - 1)
        self.edges = int(np.bitwise_count(change).sum(dtype=np.int64)) - 1
        """How many there are, but for the one before the buffer's first byte."""
        self.lost = False
        """A line had no further edge: nothing that was found holds."""
        around = 2 * PAD + len(blank) - len(buffer)
        spaces = int(np.bitwise_count(self._words).sum(dtype=np.int64)) - around
        self._single = 2 * spaces == self.edges  # no two white spaces meet: a field begins one byte behind the last
        self._last = last
        self._ahead, self._before, self._safe = self._take(line)
        self._was, self._lower = np.ones(1, np.uint64), np.zeros(1, np.uint64)

    def end(self, wanted: bool) -> Ints:
        """Where the field of each line ends; if not wanted, the place is passed, but not told."""
        if not self._safe:
            self._look_further()
        self._safe -= 1
        self._was, self._lower = self._ahead, self._ahead - _ONE
        self._ahead = self._was & self._lower
        return self._place() if wanted else self._last

    def start(self, wanted: bool) -> Ints:
        """Where the next field of each line begins."""
        if self._single:
            return self._place() + 1 if wanted else self._last
        return self.end(wanted)

    def _place(self) -> Ints:
        """The edge that was passed last."""
        place: Ints = self._before + np.bitwise_count(self._was ^ self._lower)
        return place

    def _take(self, at: Ints) -> tuple[Words, Ints, int]:
        """The edges in the 63 bytes behind each offset, what to add to their places, and how many each line has.

        That of the offset itself was passed.
        """
        of, by = at >> 6, (at & (_BITS - 1)).view(np.uint64)
        found: Words = self._words.take(of)
        found >>= by
        behind = self._words[1:].take(of)
        behind <<= _ONE
        by ^= np.uint64(_BITS - 1)  # 63 - by
        behind <<= by
        found |= behind
        if not self._single:
            found ^= found << _ONE
        found &= _INNER
        return found, at - 1, int(np.bitwise_count(found).min())

    def _look_further(self) -> None:
        """Take the next bits, as often as a line has no edge in those it has."""
        at = self._place()
        self._ahead, self._before, self._safe = self._take(at)
        while not self._safe:
            if np.any(at > self._last):
                self.lost = True
                self._ahead |= _ONE
                self._safe = 1
                break
            at = at + np.where(self._ahead == 0, _BITS - 1, 0)
            self._ahead, self._before, self._safe = self._take(at)


def _any(buffer: Bytes, separators: Ints, newline: Bools, gaps: Ints, width: int, wanted: tuple[int, ...]) -> Fields:
    """The general way: runs of separators, CRLF, blank lines, comments, more than `width` fields.

    A field lies between two separators that are not neighbours; the first separator is the newline before the text.
    """
    before = np.flatnonzero(gaps > 1)
    breaks = separators[newline] + PAD
    line, last = breaks[:-1], breaks[1:] - 1
    count = np.bincount(np.searchsorted(last, separators[before] + PAD), minlength=len(line))
    used = (count > 0) & (buffer[line] != _HASH)
    short = np.flatnonzero(used & (count < width))
    if len(short):
        low, high = int(line[short[0]]), int(last[short[0]])
        raise _too_few(bytes(buffer[low:high]), int(count[short[0]]), width, low)
    first = (np.cumsum(count) - count)[used]
    return Fields(tuple(_between(buffer, separators, before[first + column]) for column in wanted), line[used])


def _between(buffer: Bytes, separators: Ints, before: Ints) -> Texts:
    return Texts(buffer, separators[before] + PAD, separators[before + 1] + (PAD - 1))


def _too_few(text: bytes, count: int, width: int, at: int) -> InputError:
    names = {6: "query Q0 document rank score tag", 4: "query 0 document grade"}[width]
    shown = text[:60].decode("utf-8", "replace").strip()
    hint = f"each line is: {names}"
    if (width, count) == (6, 4):
        hint += "; this looks like judgements (qrels): the order is QRELS RUN..."
    return InputError(f"{count} fields where {width} are expected: {shown!r}", hint=hint, line=at)
