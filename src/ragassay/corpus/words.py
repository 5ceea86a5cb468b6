"""Word tokens with their exact places; the one unit of size that every chunker shares. Counts no model's tokens."""

from __future__ import annotations

import re

TOKENIZER = "word/1"
"""A run of letters, digits and `_`; one Chinese, Japanese, Thai, Lao, Khmer or Burmese character; or one other mark."""

_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(f"[{_SINGLE}]|[^\\W{_SINGLE}]+|[^\\w\\s]")


def words(text: str) -> list[tuple[int, int]]:
    """Start and end (code points, end exclusive) of each word token; every character that is not white space is in one.

    >>> words("one, two")
    [(0, 3), (3, 4), (5, 8)]
    """
    return [match.span() for match in _WORD.finditer(text)]
