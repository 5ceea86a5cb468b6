"""Decimal numbers from bytes to doubles, correctly rounded as C's strtod, eight digits at a time.

A number: optional sign, digits with at most one point, optional exponent. Nothing else: no nan, inf or hexadecimal.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.measures.lists import Bools, Floats, Ints
from ragassay.measures.trec.layout import alike, eight_digits
from ragassay.measures.trec.texts import Texts, Words, windows

_NUMBER = re.compile(rb"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ALL = (1 << 64) - 1


def _every(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


_KEEP_LAST = np.array([_ALL ^ ((1 << (8 * (8 - n))) - 1) for n in range(9)], np.uint64)


def _end_masks(count: int) -> NDArray[np.void]:
    """For each length up to 8 * count: a mask of the last bytes of that many in a window of 8 * count bytes."""
    length, before = np.arange(8 * count + 1)[:, None], 8 * np.arange(count)[::-1]
    masks: NDArray[np.void] = _KEEP_LAST[np.clip(length - before, 0, 8)].view(f"V{8 * count}")[:, 0]
    return masks


_KEEP_END = {count: _end_masks(count) for count in (1, 2, 3)}
# Where the point lies in a word: at byte 0..7; 8: in a later word; 9: in an earlier one, or nowhere.
_AFTER = np.array([_ALL ^ ((1 << (8 * (p + 1))) - 1) if p < 8 else (0, _ALL)[p - 8] for p in range(10)], np.uint64)
_BEFORE = np.array([(1 << (8 * p)) - 1 if p < 8 else (_ALL, 0)[p - 8] for p in range(10)], np.uint64)
_CARRY = np.array([_ALL] * 9 + [0], np.uint64)
_POWERS = np.array([float(10**n) for n in range(23)])
_GREATEST_TOP = 1843
_EIGHT = np.uint64(8)
_SIGNS = np.frombuffer(b"-+", np.uint8)


class Digits(NamedTuple):
    """Whole numbers, how many of their digits stand after the point, and whether they could be read so."""

    number: Words
    decimals: Ints
    """One for each number, or a single one for all."""
    good: Bools


def parse_decimals(texts: Texts) -> tuple[Floats, Ints]:
    """The value of each text, and the rows that are not finite decimal numbers (their value is 0).

    Correctly rounded for any length; the common forms (up to 19 digits, exponents of up to 3) without Python floats.
    """
    values, left = _as_first(texts)
    if not len(left):
        return values, left
    signed = np.isin(texts.buffer[texts.start], _SIGNS)
    negative = texts.buffer[texts.start] == _SIGNS[0]
    bare = Texts(texts.buffer, texts.start + signed, texts.end)
    if signed[0]:
        values, left = _as_first(bare)
    exponents_first = len(left) and b"e" in bare.text(int(left[0])).lower()
    for step in (_with_exponents, _plain) if exponents_first else (_plain, _with_exponents):
        left = step(bare, left, values) if len(left) else left
    bad = [row for row in left.tolist() if not _one(bare, row, values)]
    np.negative(values, out=values, where=negative)
    return values, np.array(bad, np.int64)


def _as_first(texts: Texts) -> tuple[Floats, Ints]:
    """The values of the texts that are written as the first is, 0 for the others, and which others there are."""
    found = alike(texts)
    if found is None:
        return np.zeros(len(texts)), np.arange(len(texts))
    values, sure = _scaled(found.digits, found.power)
    good = found.good & sure
    if good.all():
        return values, np.zeros(0, np.int64)
    values[~good] = 0
    return values, np.flatnonzero(~good)


def _digits(texts: Texts) -> Digits:
    """Digits with at most one point, up to 24 bytes."""
    length = texts.end - texts.start
    shortest, longest = (int(length.min()), int(length.max())) if len(length) else (0, 0)
    count = min(3, max(1, (longest + 7) // 8))
    window = windows(texts.buffer, texts.end - 8 * count, count)
    window ^= _every(0x30)
    kept = length[:1] if shortest == longest else length
    masks = _KEEP_END[count][np.minimum(kept, 8 * count)].view(np.uint64).reshape(-1, count)
    words = [window[:, nth] & masks[:, nth] for nth in reversed(range(count))]
    places, decimals = _points(texts, words)
    number = np.zeros(0, np.uint64)
    good = np.ones(len(length), bool)
    if shortest < 2 or longest > 8 * count:
        good = (length <= 8 * count) & (length > (decimals >= 0))
    used = count
    if count == 2 and longest == 9 and (decimals.min() >= 0 or np.all(decimals[length > 8] >= 0)):
        used = 1  # without their points all numbers have up to eight digits
    for nth in reversed(range(used)):
        place, part = places[nth], words[nth]
        joined = part & _BEFORE[place]
        joined <<= _EIGHT
        joined |= part & _AFTER[place]
        if nth + 1 < count:
            joined |= (words[nth + 1] >> np.uint64(56)) & _CARRY[place]
        good &= ((joined + _every(0x76)) | joined) & _every(0x80) == 0
        if nth == 1 and count == 3:
            good &= number <= _GREATEST_TOP
        value = eight_digits(joined)
        number = value if nth + 1 == used else number * np.uint64(100_000_000) + value
    return Digits(number, np.maximum(decimals, 0), good)


def _points(texts: Texts, words: list[Words]) -> tuple[list[Ints], Ints]:
    """Place of the point in each word (see _AFTER), and digits after the point, -1 where there is none."""
    found = texts.text(0).rfind(b".") if len(texts) else -1
    if found >= 0:
        after = int(texts.end[0] - texts.start[0]) - 1 - found
        if after < 8 * len(words) and bool(np.all(texts.buffer[texts.end - 1 - after] == 46)):
            one = np.array([after])
            return [_settle(one, nth) for nth in range(len(words))], one
    decimals = np.full(len(texts), -1)
    for nth, part in enumerate(words):
        point = part ^ _every(0x2E ^ 0x30)
        marks = (point - _every(1)) & ~point & _every(0x80)
        byte = np.bitwise_count((marks & (~marks + np.uint64(1))) - np.uint64(1)) >> 3
        decimals = np.where((marks != 0) & (decimals < 0), 8 * nth + 7 - byte.astype(np.int64), decimals)
    return [_settle(decimals, nth) for nth in range(len(words))], decimals


def _settle(decimals: Ints, nth: int) -> Ints:
    """The place of the point in word nth for each row."""
    within = decimals - 8 * nth
    return np.where(decimals < 0, 9, np.where(within < 0, 8, np.where(within > 7, 9, 7 - within)))


def _scaled(number: Words, power: Ints) -> tuple[Floats, Bools]:
    """number * 10^power, and where that is certainly correctly rounded.

    Exact operands (number < 2^53, power of up to 22) need one rounding. Larger numbers are divided in double-double;
    results too close to the middle of two doubles are left to the slow way.
    """
    value = number.astype(np.float64)
    least, most = int(power.min(initial=0)), int(power.max(initial=0))
    sure = np.abs(power) <= 22 if least < -22 or most > 22 else np.ones(1, bool)
    below = _POWERS[np.clip(-power, 0, 22) if least < -22 or most > 0 else -power]
    quotient = value / below
    if most > 0:
        quotient = np.where(power > 0, value * _POWERS[np.minimum(np.maximum(power, 0), 22)], quotient)
    if number.max(initial=0) >= 1 << 53:
        large = np.flatnonzero(number >= np.uint64(1 << 53))
        quotient[large], exact = _long_division(number[large], np.broadcast_to(below, number.shape)[large])
        sure = np.broadcast_to(sure, number.shape).copy()
        sure[large] &= exact & np.broadcast_to(power <= 0, number.shape)[large]
    return quotient, sure


def _long_division(number: Words, below: Floats) -> tuple[Floats, Bools]:
    """number / below in double-double, and where its rounding is beyond doubt."""
    high = number.astype(np.float64)
    low = (number - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    first = high / below
    product, error = _exact_product(first, below)
    second = (((high - product) - error) + low) / below
    total = first + second
    rest = second - (total - first)
    ulp = np.spacing(total)
    fraction, _ = np.frexp(total)
    doubtful = (np.abs(np.abs(rest) - ulp / 2) <= ulp * 2.0**-30) | (fraction == 0.5)
    return total, ~doubtful


def _exact_product(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """left * right as a rounded product and its error (Dekker)."""
    product = left * right
    halves = []
    for factor in (left, right):
        wide = factor * 134217729.0
        upper = wide - (wide - factor)
        halves.append((upper, factor - upper))
    (a, b), (c, d) = halves
    return product, ((a * c - product) + a * d + b * c) + b * d


def _plain(texts: Texts, rows: Ints, values: Floats) -> Ints:
    """Fill in the rows without an exponent; the rows that are still open."""
    digits = _digits(texts if len(rows) == len(texts) else texts.take(rows))
    return _filled(rows, values, digits.good, *_scaled(digits.number, -digits.decimals))


def _filled(rows: Ints, values: Floats, good: Bools, numbers: Floats, sure: Bools) -> Ints:
    """Write the numbers of the rows that are good and sure; the others."""
    good = good & sure
    if good.all():
        values[rows if len(rows) < len(values) else slice(None)] = numbers
        return rows[:0]
    values[rows[good]] = numbers[good]
    return rows[~good]


def _with_exponents(texts: Texts, rows: Ints, values: Floats) -> Ints:
    """Fill in the rows whose last bytes are an exponent; the rows that are still open."""
    mark = _marks(texts if len(rows) == len(texts) else texts.take(rows))
    if not np.all(mark >= 0):
        found = np.flatnonzero(mark >= 0)
        if not len(found):
            return rows
        without, rows, mark = rows[mark < 0], rows[found], mark[found]
        return np.sort(np.append(without, _of_marked(texts.take(rows), rows, mark, values)))
    return _of_marked(texts if len(rows) == len(texts) else texts.take(rows), rows, mark, values)


def _of_marked(chosen: Texts, rows: Ints, mark: Ints, values: Floats) -> Ints:
    """Fill in the rows, all of which have an exponent behind `mark`; those that are still open."""
    power, readable = _exponents(chosen, mark + 1, chosen.end)
    digits = _digits(Texts(chosen.buffer, chosen.start, mark))
    return _filled(rows, values, digits.good & readable, *_scaled(digits.number, power - digits.decimals))


def _marks(texts: Texts) -> Ints:
    """Where the `e` of each text stands, among its last five bytes; -1 where there is none."""
    first = texts.text(0).lower().rfind(b"e")
    back = int(texts.end[0] - texts.start[0]) - first
    if first > 0 and back <= 5:
        at = texts.end - back
        if np.all((texts.buffer[at] | 32) == 101) and np.all(at > texts.start):
            return at
    mark = np.full(len(texts), -1)
    for back in (5, 4, 3, 2):
        at = texts.end - back
        here = (at > texts.start) & ((texts.buffer[at] | 32) == 101)
        mark = np.where(here, at, mark)
    return mark


def _exponents(texts: Texts, start: Ints, end: Ints) -> tuple[Ints, Bools]:
    """Whole numbers of one to four bytes with an optional sign, and whether they are such."""
    first = texts.buffer[start]
    negative = first == 45
    start = start + (negative | (first == 43))
    length = end - start
    longest, shortest = int(length.max(initial=0)), int(length.min(initial=0))
    power = np.zeros(len(start), np.int16)
    good = length > 0
    for back in range(longest, 0, -1):
        digit = texts.buffer[end - back] - np.uint8(48)
        if back > shortest:
            digit[length < back] = 0
        good &= digit <= 9
        power *= np.int16(10)
        power += digit
    return np.where(negative, -power, power).astype(np.int64), good


def _one(texts: Texts, row: int, values: Floats) -> bool:
    """Fill in one row the slow way; False if it is not a finite number."""
    text = texts.text(row)
    if not _NUMBER.fullmatch(text):
        return False
    value = float(text)
    if not math.isfinite(value):
        return False
    values[row] = value
    return True
