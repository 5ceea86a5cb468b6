"""Two texts as stretches that are the same, gone or new, word by word. Knows no question and no step."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from ragassay.report.versus.model import Piece

MOST_WORDS = 2_000
"""Of either text; the matcher's worst case is quadratic."""
LEAST_SHARED = 0.35
"""Of the characters of both: below, the common words are chance, and a diff of them is hard to read."""
_WORD = re.compile(r"\s+|[^\W\d_]+|\d+|.", re.DOTALL)
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese: compared letter by letter."""


def words(text: str) -> list[str]:
    """The text cut into words, numbers, single signs and white space; joined again they are the text."""
    found: list[str] = []
    for one in _WORD.findall(text):
        found += list(one) if _NO_SPACES.search(one) else [one]
    return found


def pieces(before: str, after: str) -> tuple[Piece, ...]:
    """What both texts share and what only one has, in order.

    Same and gone joined are `before`, same and new joined are `after`. A shared stretch without a letter or digit
    between two changes belongs to the changes; texts that share less than LEAST_SHARED are another text as a whole.
    Empty where either text has more than MOST_WORDS.
    """
    old, new = words(before), words(after)
    if max(len(old), len(new)) > MOST_WORDS:
        return ()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    shared_length = sum(len("".join(old[low:high])) for tag, low, high, _, _ in codes if tag == "equal")
    if 2 * shared_length < LEAST_SHARED * (len(before) + len(after)):
        return tuple(_changed(before, after))
    made: list[Piece] = []
    gone, fresh = "", ""
    for place, (tag, low, high, start, end) in enumerate(codes):
        shared = "".join(old[low:high]) if tag == "equal" else ""
        if shared and (place in (0, len(codes) - 1) or any(map(str.isalnum, shared))):
            made += _changed(gone, fresh)
            gone, fresh = "", ""
            made.append(Piece(kind="same", text=shared))
        else:
            gone += "".join(old[low:high])
            fresh += "".join(new[start:end])
    return (*made, *_changed(gone, fresh))


def _changed(gone: str, fresh: str) -> list[Piece]:
    if gone == fresh:
        return [Piece(kind="same", text=gone)] if gone else []
    found: list[Piece] = []
    if gone:
        found.append(Piece(kind="gone", text=gone))
    if fresh:
        found.append(Piece(kind="new", text=fresh))
    return found
