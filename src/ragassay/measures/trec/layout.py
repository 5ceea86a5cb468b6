"""Decimal numbers that are all written in one way, as in `%.6f` or `%.7e`: a word or two a number, and no search.

What is not written as the first of them is left to `decimals`; nothing is rounded here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ragassay.measures.lists import Bools, Ints
from ragassay.measures.trec.texts import Texts, Words, windows

_NUMBER = re.compile(rb"[0-9]+(\.[0-9]*)?(?:([eE])[+-]([0-9]{1,3}))?")
_WORD, _MOST = 8, 16
_ALL = (1 << 64) - 1
_EIGHT = np.uint64(8)
_HIGH = np.uint64(0x8080808080808080)


class Alike(NamedTuple):
    """Numbers digits * 10^power, and which rows are written in that one way; the others hold anything."""

    digits: Words
    power: Ints
    """One for each number, or a single one for all."""
    good: Bools


class _Form(NamedTuple):
    """How a number ends: bytes from its point on (0: no point), the mark of its exponent, and that one's bytes."""

    fraction: int
    mark: int
    exponent: int


def alike(texts: Texts) -> Alike | None:
    """The numbers that are written as the first: as many digits behind the point, the same form of exponent.

    None where the first is no plain number without a sign, or one of them is longer than 16 bytes.
    """
    found = _NUMBER.fullmatch(texts.text(0)) if len(texts) else None
    if found is None:
        return None
    fraction, mark, power = (part or b"" for part in found.groups())
    form = _Form(len(fraction), mark[0] if mark else 0, len(power) + 2 if mark else 0)
    length = texts.end - texts.start
    shortest, longest = int(length.min()), int(length.max())
    if longest > _MOST or form.exponent >= _WORD:
        return None
    count = 1 if longest <= _WORD else 2
    window = windows(texts.buffer, texts.end - _WORD * count, count)
    template, most = _template(form)
    words = [window[:, nth] ^ template[nth - count] for nth in range(count)]
    _blank(words, length[:1] if shortest == longest else length, shortest)
    down = _take_sign(words[-1], form)
    good = _in_range(words, most[-count:])
    tail = form.fraction + form.exponent
    if shortest <= tail:
        good &= length > tail
    power_of = _power(words[-1], form, down)
    digits = _digits(words, form, longest - form.exponent - (form.fraction > 0))
    return Alike(digits, power_of - max(0, form.fraction - 1), good)


def _template(form: _Form) -> tuple[Words, Words]:
    """What to take from each byte (two words), and what to add so that what is more than may be there shows."""
    shown, most = bytearray(b"0" * _MOST), bytearray(b"\x76" * _MOST)
    fixed = {}
    if form.fraction:
        fixed[_MOST - form.exponent - form.fraction] = ord(".")
    if form.exponent:
        fixed[_MOST - form.exponent] = form.mark
        fixed[_MOST - form.exponent + 1] = ord("+")
    for at, byte in fixed.items():
        if at >= 0:
            shown[at], most[at] = byte, 0x7F
    return np.frombuffer(shown, "<u8"), np.frombuffer(most, "<u8")


def _blank(words: list[Words], length: Ints, shortest: int) -> None:
    """Make the bytes before each number 0, as its leading digits would be."""
    for nth, part in enumerate(reversed(words), 1):
        if shortest < _WORD * nth:
            missing = (_WORD * nth - length) << 3
            if nth < len(words):
                np.maximum(missing, 0, out=missing)
            part &= np.left_shift(np.uint64(_ALL), missing.view(np.uint64))


def _in_range(words: list[Words], most: Words) -> Bools:
    """Whether every byte is at most what it may be."""
    wrong = words[0] + most[0]
    wrong |= words[0]
    for part, add in zip(words[1:], most[1:], strict=True):
        more = part + add
        more |= part
        wrong |= more
    wrong &= _HIGH
    in_range: Bools = np.equal(wrong, 0)
    return in_range


def _take_sign(last: Words, form: _Form) -> Words | None:
    """Make the exponent's sign 0 if it is + or -, and say where it is -."""
    if not form.exponent:
        return None
    one = np.uint64(2 << 8 * (_WORD - form.exponent + 1))  # + and - differ in this bit and the next
    down = last & one
    last ^= down | (down << np.uint64(1))
    return down


def _power(last: Words, form: _Form, down: Words | None) -> Ints:
    """The exponents."""
    if down is None:
        return np.zeros(1, np.int64)
    power = last >> np.uint64(56)
    for nth, times in zip(range(1, form.exponent - 2), (10, 100), strict=False):
        power += ((last >> np.uint64(56 - 8 * nth)) & np.uint64(255)) * np.uint64(times)
    signed: Ints = power.view(np.int64)
    return np.where(down > 0, -signed, signed)


def _digits(words: list[Words], form: _Form, most: int) -> Words:
    """The number that the digits before the exponent are, without their point; `most`: how many there can be."""
    first, last = words if len(words) == 2 else (None, words[0])
    if form.exponent:
        by = np.uint64(8 * form.exponent)
        last = last << by
        if first is not None:
            last |= first >> (np.uint64(64) - by)
            first = first << by
    if 0 < form.fraction <= _WORD:
        last = _joined(last, form.fraction)
        if first is not None:
            last |= first >> np.uint64(56)
            first = first << _EIGHT
    elif form.fraction and first is not None:
        first = _joined(first, form.fraction - _WORD)
    number = eight_digits(last)
    if first is not None and most > _WORD:
        number += eight_digits(first) * np.uint64(100_000_000)
    return number


def _joined(part: Words, fraction: int) -> Words:
    """The bytes before a point moved over it; `fraction`: bytes from the point on."""
    before = (1 << 8 * (_WORD - fraction)) - 1
    after = _ALL ^ ((1 << 8 * (_WORD - fraction + 1)) - 1)
    moved = part & np.uint64(before)
    moved <<= _EIGHT
    moved |= part & np.uint64(after)
    return moved


def eight_digits(part: Words) -> Words:
    """The number of eight bytes of 0 to 9, the first byte being the most significant digit."""
    part = part * np.uint64(2561)
    part >>= _EIGHT
    part &= np.uint64(0x00FF00FF00FF00FF)
    part *= np.uint64(6553601)
    part >>= np.uint64(16)
    part &= np.uint64(0x0000FFFF0000FFFF)
    part *= np.uint64(42949672960001)
    part >>= np.uint64(32)
    return part
