"""Text to its dense form, in which white space, format marks and typography do not count, and back. Finds nothing."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt

VERSION = "fold/1"
"""Code point by code point: NFKD; white space, controls, format marks and variation selectors drop out; quotes, dashes
and hyphens of every kind are one. Letters, digits, accents and case stay."""

Map = npt.NDArray[np.int64]
_LONGEST = 4
"""A character that stands for more than this stays as it is, so that no text grows more than this many times."""
_QUOTES = dict.fromkeys("`´‘’‚‛′‵＇｀", "'") | dict.fromkeys('"“”„‟″‶＂〝〞', "''")
_DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－⁃", "-")
_IGNORED = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_SURROGATES = range(0xD800, 0xE000)
_UNKNOWN = 255


class _Table(dict[int, str]):
    """Code point -> its dense form, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        made = self[code] = _dense_of(chr(code))
        return made


def _dense_of(char: str) -> str:
    if char in _QUOTES:
        return _QUOTES[char]
    if char in _DASHES:
        return "-"
    if ord(char) in _SURROGATES:
        return "\ufffd"
    if _drops(char):
        return ""
    parts = "".join(_QUOTES.get(one, _DASHES.get(one, one)) for one in unicodedata.normalize("NFKD", char))
    parts = "".join(one for one in parts if not _drops(one))
    return parts if len(parts) <= _LONGEST else char


def _drops(char: str) -> bool:
    if char.isspace() or char in _IGNORED or unicodedata.category(char) in ("Cc", "Cf"):
        return True
    return 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF


_TABLE = _Table()
_ASCII: dict[int, Any] = {code: None for code in range(128) if not _dense_of(chr(code))}
_LENGTHS = np.full(0x110000, _UNKNOWN, np.uint8)


def fold(text: str) -> str:
    """The dense form. Of every text that holds another, the dense form holds the other's dense form.

    >>> fold("a  “b”\\u00ad—c")
    "a''b''-c"
    """
    if text.isascii():
        return text.translate(_ASCII).replace('"', "''").replace("`", "'")
    return text.translate(_TABLE)


def places(text: str) -> Map:
    """For each character of `fold(text)` the code point of `text` that it comes from; ascending."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    lengths = _LENGTHS[codes]
    for code in np.unique(codes[lengths == _UNKNOWN]).tolist():
        _LENGTHS[code] = len(_TABLE[code])
    return np.repeat(np.arange(len(codes), dtype=np.int64), _LENGTHS[codes])


def joins(char: str) -> bool:
    """Whether a character belongs to the one before it: an accent, or a later part of a Hangul syllable."""
    return (
        unicodedata.combining(char) != 0 or unicodedata.category(char) in ("Mn", "Me") or "\u1160" <= char <= "\u11ff"
    )
