"""Sentences by a plain rule (`sentence/1`), and windows of them. Knows no grammar and no language.

Libraries that do this are large, unmaintained, or of one language; a window needs no more than stable edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.corpus import tokens
from ragassay.corpus.words import words

VERSION = "1"
RULE = "sentence/1"
"""A sentence ends after a run of . ! ? or another script's mark of the kind, with the closing quotes and brackets
behind it, if white space or the end follows (after 。！？ always), but not after a single full stop that follows an
abbreviation or an initial, or that precedes a lower-case letter. It also ends at a blank line and before and after
a line that is a heading, list item, table row or quotation in Markdown."""
_WIDE = "。！？｡"
_MARKS = ".!?…‥؟۔।॥։።፧။។༎" + _WIDE
_CLOSERS = "\"'”’»›)\\]}」』】）〉》"
_STOP = re.compile(f"[{_MARKS}]++[{_CLOSERS}]*+")
_LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n|\Z)")
_OWN_LINE = re.compile(r"[ \t]*+(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\||>|```|~~~)")
_HEADING = re.compile(r"[ \t]*+(?:#{1,6}[ \t]|\||```|~~~)")
_WORD_BEFORE = re.compile(r"[\w.]+\Z")
_ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "rev", "hon", "gen", "col", "lt", "sgt", "capt", "gov"),
        *("vs", "etc", "e.g", "i.e", "cf", "al", "ca", "approx", "no", "nr", "vol", "pp", "fig", "figs", "eq", "sec"),
        *("inc", "ltd", "co", "corp", "u.s", "u.k", "u.n", "p.m", "a.m", "z.b", "d.h", "bzw", "usw", "ph.d"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    )
)


def split(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence without the white space around it; all other characters are in exactly one.

    >>> [("Dr. No left. So did we."[a:b]) for a, b in split("Dr. No left. So did we.")]
    ['Dr. No left.', 'So did we.']
    """
    found = []
    for start, end in blocks(text):
        at = start
        for stop in _STOP.finditer(text, start, end):
            if _ends(text, stop, end):
                found.append((at, stop.end()))
                at = stop.end()
        found.append((at, end))
    return [span for one in found if (span := without_space(text, *one))]


def windows(text: str, *, window: int, stride: int, longest: int) -> list[tuple[int, int]]:
    """Spans of `window` sentences, each beginning `stride` sentences after the one before.

    A sentence of more than `longest` word tokens counts as several, cut between words (scripts without sentence marks
    are cut like this). Two neighbours share `window - stride` sentences. The last span ends at the last sentence, and
    none lies wholly inside the one before.
    """
    units = [
        (start + first, start + last)
        for start, end in split(text)
        for first, last in tokens.split(text[start:end], size=longest, overlap=0)
    ]
    spans: list[tuple[int, int]] = []
    first = 0
    while first < len(units):
        last = min(first + window, len(units))
        spans.append((units[first][0], units[last - 1][1]))
        if last == len(units):
            break
        first += stride
    return spans


def count(text: str, longest: int) -> int:
    """How many sentences `windows` counts in a text."""
    return sum(-(-len(words(text[start:end])) // longest) for start, end in split(text))


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """What blank lines and the lines of Markdown part; every character is in exactly one."""
    start = 0
    alone = False
    for line in _LINE.finditer(text):
        body = line[0]
        blank = not body.strip()
        if line.start() > start and (blank or alone or _OWN_LINE.match(body)):
            yield start, line.start()
            start = line.start()
        alone = bool(_HEADING.match(body))
    yield start, len(text)


def _ends(text: str, stop: re.Match[str], end: int) -> bool:
    run, after = stop[0], stop.end()
    if any(mark in _WIDE for mark in run):
        return True
    if after < end and not text[after].isspace():
        return False
    if run != ".":
        return True
    following = next((letter for letter in text[after : after + 80] if not letter.isspace()), "")
    if following.islower():
        return False
    before = _WORD_BEFORE.search(text, max(0, stop.start() - 12), stop.start())
    word = before[0].lower() if before else ""
    return not (word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and text[stop.start() - 1].isupper()))


def without_space(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The stretch `start:end` of a text without the white space at its ends; None if nothing else is in it."""
    body = text[start:end]
    kept = body.strip()
    if not kept:
        return None
    first = start + len(body) - len(body.lstrip())
    return first, first + len(kept)
