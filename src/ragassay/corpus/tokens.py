"""Chunker of fixed size in word tokens with overlap. Knows no structure."""

from __future__ import annotations

from ragassay.corpus.words import words

VERSION = "1"


def split(text: str, *, size: int, overlap: int) -> list[tuple[int, int]]:
    """Spans of at most `size` word tokens, each beginning `size - overlap` tokens after the one before.

    A span runs from the start of its first token to the end of its last. The last span ends at the last token, and
    none lies wholly inside the one before. A text without tokens has no spans.
    """
    places = words(text)
    spans: list[tuple[int, int]] = []
    first = 0
    while first < len(places):
        last = min(first + size, len(places))
        spans.append((places[first][0], places[last - 1][1]))
        if last == len(places):
            break
        first += size - overlap
    return spans
