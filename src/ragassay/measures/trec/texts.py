"""Many short texts as slices of one buffer of bytes: hashed, compared and ordered by bytes without Python strings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ragassay.measures.lists import Bools, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

PAD = 64
"""Bytes that must be readable before the first and after the last text of a buffer."""
_KEPT = 24 << 20
_KEEP_FIRST = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
_ODD = tuple(np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD))
_ONE, _THREE, _LAST_BIT = np.uint64(1), np.uint64(3), np.uint64(63)
_WINDOW = PAD // 8
_ODDS: Words = np.cumprod(np.full(_WINDOW, _ODD[3]), dtype=np.uint64)


def keep_freed_memory() -> None:
    """Let the C library keep what one piece frees for the next, for glibc would give it back and fault it in again.

    Freeing a block that was mapped on its own raises the size up to which blocks are kept; it is never touched.
    Half of the time of a large file went there. Elsewhere than on glibc this does nothing.
    """
    np.empty(_KEPT, np.uint8)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts buffer[start:end]; `buffer` has PAD readable bytes on both sides of every text."""

    buffer: Bytes
    start: Ints
    end: Ints
    stride: int = 0
    """Where not 0: text i begins at start[0] + i * stride, and zeros follow it up to the next."""

    def __len__(self) -> int:
        return len(self.start)

    @property
    def words(self) -> Words:
        """The 8 bytes from every offset of the buffer on, as little-endian numbers."""
        return np.ndarray((len(self.buffer) - 7,), np.dtype("<u8"), self.buffer, strides=(1,))

    def take(self, rows: Ints | Bools) -> Texts:
        """The chosen texts."""
        return Texts(self.buffer, self.start[rows], self.end[rows])

    def text(self, row: int) -> bytes:
        """One text."""
        return bytes(self.buffer[self.start[row] : self.end[row]])

    def listed(self, rows: Ints) -> list[bytes]:
        """The chosen texts one by one."""
        view = self.buffer.data
        return [bytes(view[a:b]) for a, b in zip(self.start[rows].tolist(), self.end[rows].tolist(), strict=True)]

    def part(self, low: int, high: int) -> Texts:
        """The texts of the rows low to high."""
        return Texts(self.buffer, self.start[low:high], self.end[low:high], self.stride)

    @classmethod
    def pack(cls, texts: Iterable[bytes]) -> Texts:
        """The same texts in one new buffer."""
        parts = list(texts)
        length = np.fromiter(map(len, parts), np.int64, len(parts))
        end = PAD + np.cumsum(length)
        pad = b"\0" * PAD
        return cls(np.frombuffer(b"".join((pad, *parts, pad)), np.uint8), end - length, end)


def word(texts: Texts, rows: Ints, nth: int) -> Words:
    """Bytes 8 * nth to 8 * nth + 8 of the chosen texts as a number, zeros past the end."""
    start, end = texts.start[rows] + 8 * nth, texts.end[rows]
    left = np.minimum(np.maximum(end - start, 0), 8)
    found: Words = texts.words[np.minimum(start, end)] & _KEEP_FIRST[left]
    return found


def heads(texts: Texts) -> Words:
    """The first 8 bytes of each text as a number, zeros past the end; exact for texts of up to 8 bytes."""
    if texts.stride:
        found: Words = _masked(texts, 1)[:, 0]
        return found
    found = words_at(texts.buffer, texts.start)
    missing = texts.start - texts.end
    missing += 8
    most = int(missing.max(initial=0))
    if most > 0:
        if most == int(missing.min(initial=most)):
            missing = missing[:1]
        np.maximum(missing, 0, out=missing)
        missing <<= 3
        found &= np.right_shift(_KEEP_FIRST[8], missing.view(np.uint64))
    return found


def words_at(buffer: Bytes, at: Ints) -> Words:
    """The 8 bytes from each offset on: two aligned words put together, in three quarters of the time of `windows`.

    16 bytes from each offset on must be readable.
    """
    aligned = buffer[: len(buffer) & -8].view(np.dtype("<u8"))
    of, by = at >> 3, (at & 7).view(np.uint64)
    by <<= _THREE
    found: Words = aligned.take(of)
    found >>= by
    behind = aligned[1:].take(of)
    behind <<= _ONE
    by ^= _LAST_BIT  # 63 - by
    behind <<= by
    found |= behind
    return found


def hashes(texts: Texts) -> Words:
    """A 64-bit hash of each text: of all its bytes and its length. Equal texts have equal hashes."""
    length = texts.end - texts.start
    longest = int(length.max(initial=0))
    count = min(max(1, (longest + 7) // 8), _WINDOW)
    words = _masked(texts, count) if count > 1 else heads(texts)
    words ^= words >> np.uint64(32)
    mixed: Words = np.matmul(words, _ODDS[:count]) if count > 1 else words * _ODDS[0]
    for nth in range(_WINDOW, (longest + 7) // 8):
        rows = np.flatnonzero(length > 8 * nth)
        part = word(texts, rows, nth)
        mixed[rows] = (mixed[rows] ^ (mixed[rows] >> np.uint64(29))) * _ODD[1] + (part ^ (part >> np.uint64(32)))
    mixed ^= length.view(np.uint64) << np.uint64(56)
    return mix(mixed)


def _masked(texts: Texts, count: int) -> Words:
    """The first 8 * count bytes of each text as numbers, zeros past the end; shape (texts, count)."""
    if texts.stride and len(texts):
        shape, strides = (len(texts), count), (texts.stride, 8)
        found = np.ndarray(shape, np.dtype("<u8"), texts.buffer, int(texts.start[0]), strides).copy()
        if texts.stride < 8 * count:
            found &= _keeps(count)[[texts.stride]].view(np.uint64)
        return found
    found = windows(texts.buffer, texts.start, count)
    length = np.minimum(texts.end - texts.start, 8 * count)
    if len(length) and length.min() == length.max():
        length = length[:1]
    found &= _keeps(count)[length].view(np.uint64).reshape(-1, count)
    return found


@cache
def _keeps(count: int) -> NDArray[np.void]:
    """For each length up to 8 * count: a mask of that many bytes."""
    nth = 8 * np.arange(count)
    masks = _KEEP_FIRST[np.clip(np.arange(8 * count + 1)[:, None] - nth, 0, 8)]
    return np.ascontiguousarray(masks).view(f"V{8 * count}")[:, 0]


def windows(buffer: Bytes, at: Ints, count: int) -> Words:
    """The 8 * count bytes (PAD or fewer) from each offset on, as little-endian numbers; shape (offsets, count)."""
    every = np.ndarray((len(buffer) - 8 * count + 1,), f"V{8 * count}", buffer, strides=(1,))
    found: Words = every[at].view(np.dtype("<u8")).reshape(-1, count)
    return found


def mix(numbers: Words) -> Words:
    """The numbers scattered over all 64 bits, one to one."""
    numbers = numbers * _ODD[0]
    numbers ^= numbers >> np.uint64(32)
    numbers *= _ODD[2]
    return numbers


def equal(left: Texts, left_rows: Ints, right: Texts, right_rows: Ints) -> Bools:
    """Whether left[i] == right[j], pair by pair, to the last byte."""
    length = left.end[left_rows] - left.start[left_rows]
    same: Bools = length == right.end[right_rows] - right.start[right_rows]
    for nth in range((int(length.max(initial=0)) + 7) // 8):
        same &= word(left, left_rows, nth) == word(right, right_rows, nth)
    return same


def greater(texts: Texts, left: Ints, right: Ints) -> Bools:
    """Whether texts[left] > texts[right] by bytes, pair by pair."""
    result = np.zeros(len(left), bool)
    longest = np.maximum(texts.end[left] - texts.start[left], texts.end[right] - texts.start[right])
    pairs = np.arange(len(left))
    nth = 0
    while len(pairs):
        a, b = word(texts, left, nth).byteswap(), word(texts, right, nth).byteswap()
        result[pairs] = a > b
        nth += 1
        equal_so_far = np.flatnonzero((a == b) & (longest > 8 * nth))
        pairs, longest = pairs[equal_so_far], longest[equal_so_far]
        left, right = left[equal_so_far], right[equal_so_far]
    return result


def descending(texts: Texts, rows: Ints, group: Ints) -> Ints:
    """Order of the chosen rows by group ascending, then text descending by bytes."""
    length = texts.end[rows] - texts.start[rows]
    keys = [~word(texts, rows, nth).byteswap() for nth in range((int(length.max(initial=0)) + 7) // 8)]
    order: Ints = np.lexsort((*keys[::-1], group))
    return order


def changes(texts: Texts) -> Ints:
    """The rows at which a text differs from the one before it; the first row always does."""
    if not len(texts):
        return np.zeros(0, np.int64)
    length = texts.end - texts.start
    first = heads(texts)
    differs = np.ones(len(texts), bool)
    np.not_equal(first[1:], first[:-1], out=differs[1:])
    differs[1:] |= length[1:] != length[:-1]
    if int(length.max()) > 8:
        same = np.flatnonzero(~differs & (length > 8))
        differs[same] = ~equal(texts, same, texts, same - 1)
    return np.flatnonzero(differs)


def joined(parts: list[Texts]) -> Texts:
    """The texts of several buffers over one new buffer."""
    if len(parts) == 1:
        return parts[0]
    lengths = [0, *(len(part.buffer) for part in parts[:-1])] if parts else []
    shift = np.cumsum(np.array(lengths, np.int64))
    buffer = np.concatenate([part.buffer for part in parts]) if parts else np.zeros(2 * PAD, np.uint8)
    none = [np.zeros(0, np.int64)]
    start = np.concatenate([part.start + by for part, by in zip(parts, shift, strict=True)] or none)
    end = np.concatenate([part.end + by for part, by in zip(parts, shift, strict=True)] or none)
    return Texts(buffer, start, end)
