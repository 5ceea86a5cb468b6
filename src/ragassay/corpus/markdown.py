"""Chunker by Markdown structure: headings inherited, tables and code whole. Renders nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ragassay.corpus import tokens
from ragassay.corpus.words import words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

VERSION = "1"
_LINE = re.compile(r"\r\n?|\n")
_CONTAINERS = ("bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open")
_WHOLE = ("fence", "code_block", "table_open", "html_block")


class Piece(NamedTuple):
    """One chunk: the span of its body, and the spans of the headings above that are not inside it."""

    start: int
    end: int
    headings: tuple[tuple[int, int], ...]


class Unit(NamedTuple):
    """A span that is not cut, or that is cut only between words; `level` of a heading is 1 to 6, else 0."""

    start: int
    end: int
    level: int
    whole: bool


def split(text: str, *, size: int, overlap: int) -> list[Piece]:
    """Pieces of at most `size` word tokens (inherited headings come on top), never across a heading.

    Blocks are packed while they fit. A list or quotation that is too long is cut between its items, a paragraph that
    is too long between words with `overlap`; a table, fenced or indented code, a heading and raw HTML stay whole,
    whatever their size. A heading with nothing but deeper headings below it has no piece of its own: each of those
    inherits it. Headings inside lists and quotations are text.
    """
    pieces: list[Piece] = []
    above: list[Unit] = []
    section: list[Unit] = []
    for unit in [*_units(text, size), None]:
        if unit is not None and not unit.level:
            section.append(unit)
            continue
        alone = len(section) == 1 and bool(section[0].level)
        if not (alone and unit is not None and unit.level > section[0].level):
            pieces.extend(_pack(text, section, above, size, overlap))
        if unit is not None:
            above = [one for one in (*above, *(one for one in section[:1] if one.level)) if one.level < unit.level]
            section = [unit]
    return pieces


def _pack(text: str, section: list[Unit], above: list[Unit], size: int, overlap: int) -> Iterator[Piece]:
    inherited = tuple((one.start, one.end) for one in above)
    own = tuple((one.start, one.end) for one in section[:1] if one.level)
    parts = [part for unit in section for part in _fit(text, unit, size, overlap)]
    if own and len(parts) > 1:
        parts[:2] = [Unit(parts[0].start, parts[1].end, 0, False)]
    if not parts:
        return
    start, end = parts[0].start, parts[0].end
    first = True
    for part in parts[1:]:
        if part.start >= end and _length(text, start, part.end) <= size:
            end = part.end
            continue
        yield Piece(start, end, inherited if first else inherited + own)
        start, end, first = part.start, part.end, False
    yield Piece(start, end, inherited if first else inherited + own)


def _fit(text: str, unit: Unit, size: int, overlap: int) -> list[Unit]:
    if unit.whole or _length(text, unit.start, unit.end) <= size:
        return [unit]
    cut = tokens.split(text[unit.start : unit.end], size=size, overlap=overlap)
    return [Unit(unit.start + start, unit.start + end, 0, False) for start, end in cut]


def _length(text: str, start: int, end: int) -> int:
    return len(words(text[start:end]))


@cache
def _parser() -> MarkdownIt:
    """Block structure only: what stands inside a line is never looked at."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").disable("inline")


def _units(text: str, size: int) -> list[Unit]:
    """All of the text but white space, as units in order."""
    starts = [0, *(match.end() for match in _LINE.finditer(text)), len(text)]
    found: list[Unit] = []
    _collect(text, _parser().parse(text), (0, len(starts) - 1), starts, size, found)
    return found


def _collect(
    text: str, stream: list[Token], lines: tuple[int, int], starts: list[int], size: int, found: list[Unit]
) -> None:
    """Units of `lines`: those of the blocks in `stream`, and what lies between them (such as link definitions)."""
    at = lines[0]
    for token, inner in _blocks(stream):
        first, last = token.map or (at, at)
        first, last = max(first, at), min(last, lines[1])
        if last <= first:
            continue
        _add(text, (at, first), starts, found)
        at = last
        span = _span(text, starts[first], starts[last])
        if span is None:
            continue
        if token.type in _CONTAINERS and _length(text, *span) > size:
            _collect(text, inner, (first, last), starts, size, found)
        elif token.type == "heading_open":
            found.append(Unit(*span, int(token.tag[1:]) if token.level == 0 else 0, True))
        else:
            found.append(Unit(*span, 0, token.type in _WHOLE))
    _add(text, (at, lines[1]), starts, found)


def _blocks(stream: list[Token]) -> Iterator[tuple[Token, list[Token]]]:
    """Each block of a stream at its outermost level, with the tokens inside it."""
    place = 0
    while place < len(stream):
        token = stream[place]
        end = place
        if token.nesting == 1:
            depth = 1
            while depth and end + 1 < len(stream):
                end += 1
                depth += stream[end].nesting
        yield token, stream[place + 1 : end]
        place = end + 1


def _add(text: str, lines: tuple[int, int], starts: list[int], found: list[Unit]) -> None:
    span = _span(text, starts[lines[0]], starts[lines[1]]) if lines[0] < lines[1] else None
    if span is not None:
        found.append(Unit(*span, 0, False))


def _span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without blank lines before it and white space after it; None if nothing is left."""
    body = text[start:end]
    kept = start + len(body.rstrip())
    for line, following in pairwise([0, *(match.end() for match in _LINE.finditer(body)), len(body)]):
        if body[line:following].strip():
            return start + line, kept
    return None
