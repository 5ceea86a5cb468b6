"""Whether a quote stands in a text that was shown, and where. Judges nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ragassay.records.document import Span
from ragassay.run.judges.contract import Shown
from ragassay.run.judges.llm.fence import seen

LEAST = 8
"""Letters and digits that a quote needs, where the text that it is from has as many."""
_WIDE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


@lru_cache(maxsize=256)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """Letters and digits alone, in one case and width, and the place in the text of each."""
    signs: list[str] = []
    at: list[int] = []
    for place, sign in enumerate(text):
        if not seen(sign):
            continue
        for one in unicodedata.normalize("NFKC", sign).casefold():
            if one.isalnum():
                signs.append(one)
                at.append(place)
    return "".join(signs), tuple(at)


def find(quote: str, texts: Sequence[str]) -> tuple[int, int, int] | None:
    """The first text in which a quote stands and the code points that it covers; None if it stands in none.

    White space, punctuation and case do not count, since they are what a model changes; a letter more or less does. A
    quote of less than LEAST letters is only one where it is a whole text.
    """
    wanted, _ = _plain(quote)
    if not wanted:
        return None
    for number, text in enumerate(texts):
        there, at = _plain(text)
        if len(wanted) < LEAST and not _dense(wanted) and wanted != there:
            continue
        place = there.find(wanted)
        if place >= 0:
            return number, at[place], at[place + len(wanted) - 1] + 1
    return None


def places(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a quote stands in a text as whole words, in order; it may be as short as a word.

    >>> list(places("it rains", "It rains, as it rains; it rainstorms."))
    [(0, 8), (13, 21)]
    """
    wanted, _ = _plain(quote)
    there, at = _plain(text)
    found = there.find(wanted) if wanted else -1
    while found >= 0:
        start, end = at[found], at[found + len(wanted) - 1] + 1
        if _border(text, start) and _border(text, end):
            yield start, end
        found = there.find(wanted, found + 1)


def _border(text: str, place: int) -> bool:
    """Whether a word may begin or end here: anywhere, in scripts without spaces."""
    sides = text[max(0, place - 1) : place + 1]
    return place in (0, len(text)) or not sides.isalnum() or _wide(sides[0]) or _wide(sides[1])


def _wide(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith(_WIDE)


def _dense(wanted: str) -> bool:
    """Whether few signs say much: scripts without letters."""
    return len(wanted) >= 4 and all(map(_wide, wanted))


def spans_of(shown: Shown, start: int, end: int) -> tuple[Span, ...]:
    """The place of a quote in its document, where the text is exactly one slice of it; else the item's own places."""
    if len(shown.sources) == 1:
        only = shown.sources[0]
        if only.end - only.start == len(shown.text):
            return (Span(document_id=only.document_id, version=only.version, start=only.start + start,
                         end=only.start + end),)  # fmt: skip
    return shown.sources[:4]
