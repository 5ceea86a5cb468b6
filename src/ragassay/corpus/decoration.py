"""Lines and names that a system put around a slice: which stand in its document, and which are none of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from ragassay.corpus.chains import Segment
from ragassay.corpus.fold import fold

MOST = 200
"""Dense characters of decoration around a text, and never more than what is left of it."""
_MOST_LINES = 16
_SHORTEST_LINE = 3
_STORED = 0.9
_FOREIGN = 0.5
_KEYED = re.compile(r"\s*[^\s:][^:\n]{0,39}:\s")


class Line(NamedTuple):
    """A line of the text as it came, and its dense characters `start` to `end`."""

    text: str
    start: int
    end: int


class Stripped(NamedTuple):
    """The segments of what is left, how many characters are decoration, and whether there is any."""

    taken: list[Segment]
    foreign: int
    decorated: bool


def lines(wanted: str) -> list[Line]:
    """The lines that have any dense character."""
    made, at = [], 0
    for one in wanted.splitlines():
        length = len(fold(one))
        if length:
            made.append(Line(one, at, at + length))
        at += length
    return made


def strip(
    dense: str, of: list[Line], taken: list[Segment], find: Callable[[int, str], int | None], names: set[str]
) -> Stripped:
    """What is left of a text without the lines before and behind it that are not from its document.

    A line in front that stands once in the document of the longest segment (`find`) is a source. A line is foreign if
    less than half of it stands anywhere, or if it names the document or is of the form `key: value`; a name in front of
    the first line is foreign too. With more than MOST foreign characters, or more than are left, nothing is stripped.
    """
    home = max(taken, key=lambda one: one.length).text
    kept, headings, front = list(taken), [], 0
    for line in of:
        if _covered(line, kept) >= _STORED * (line.end - line.start):
            break
        at = find(home, dense[line.start : line.end]) if line.end - line.start >= _SHORTEST_LINE else None
        if at is not None:
            headings.append(Segment(line.start, line.end, home, at))
        elif not _foreign(line, kept, names):
            break
        front = line.end
    else:
        front = 0
        headings = []
    first = _cut(kept, front, len(dense))[:1]
    if first and first[0].start > front and dense[front : first[0].start].rstrip(":|->.,;/") in names:
        front = first[0].start
    back = len(dense)
    for line in reversed(of):
        if line.start < front or _covered(line, kept) >= _STORED * (line.end - line.start):
            break
        if not _foreign(line, kept, names):
            break
        back = line.start
    left = _cut(kept, front, back)
    foreign = front - sum(one.length for one in headings) + len(dense) - back
    if not front and back == len(dense):
        return Stripped(taken, 0, False)
    if foreign > min(MOST, sum(one.length for one in left)):
        return Stripped(taken, 0, False)
    return Stripped([*headings, *left], foreign, True)


def headed(wanted: str, stands: Callable[[str], bool], names: Container[str]) -> Iterator[tuple[list[str], str]]:
    """A text without its first line, its first two, and so on: the names in what is left out, and what is left.

    Only lines that the system put there are left out: names of documents (`names`), alone or as a value of a
    `key: value`, other lines of that form, and lines that stand nowhere (`stands`); at most MOST dense characters, and
    never more than are left.
    """
    rows, front, named = wanted.splitlines(keepends=True), 0, []
    total = len(fold(wanted))
    for number, row in enumerate(rows[:_MOST_LINES], 1):
        dense = fold(row)
        front += len(dense)
        if front > min(MOST, total - front):
            return
        keyed = _KEYED.match(row)
        told = [one for one in (dense, fold(row[keyed.end() :]) if keyed else "") if one and one in names]
        if dense and not told and keyed is None and stands(dense):
            return
        named += told
        if dense:
            yield named, "".join(rows[number:]).strip()


def _foreign(line: Line, taken: list[Segment], names: set[str]) -> bool:
    if _covered(line, taken) < _FOREIGN * (line.end - line.start):
        return True
    return _KEYED.match(line.text) is not None or any(name in fold(line.text) for name in names)


def _covered(line: Line, taken: list[Segment]) -> int:
    return sum(max(0, min(one.end, line.end) - max(one.start, line.start)) for one in taken)


def _cut(taken: list[Segment], low: int, high: int) -> list[Segment]:
    made = []
    for one in taken:
        start, end = max(one.start, low), min(one.end, high)
        if start < end:
            made.append(Segment(start, end, one.text, one.at + start - one.start))
    return made
