"""Marks by which answers cite though nobody declared a form: [1], footnotes, links. Judges no citation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from ragassay.claims.forms import Mark
from ragassay.records.trace import Citation

_UPPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_DIGIT = {ord(one): str(number) for number, one in enumerate(_UPPER)}
_NUMBERS = r"\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*"
_MARK = re.compile(
    rf"\[\^(?P<note>[\w-]{{1,64}})\](?!:)"
    rf"|\[\s*(?P<square>{_NUMBERS})\s*\](?![:(])"
    rf"|【\s*(?P<wide>{_NUMBERS})[^】\n]{{0,64}}】"
    rf"|(?<=[\w.!?\"')\]])(?P<upper>[{_UPPER}]{{1,3}}(?:[,⁻][{_UPPER}]{{1,3}})*)"
    r"|\[(?P<shown>[^\]\[\n]{0,256})\]\((?P<link><?[^\s)<>]{1,500}>?)(?:\s+\"[^\"\n]{0,256}\")?\)"
    r"|(?P<bare>https?://[^\s<>\"'）)\]}】]{1,500})"
)
_ID = re.compile(r"[\[(](?P<id>[^\[\]()\n]{1,256})[\])]")
_NOTE = re.compile(
    r"^[ \t]*(?:\[\^(?P<note>[\w-]{1,64})\]:|\[(?P<named>\d{1,4})\]:|[-*]?[ \t]*\[(?P<number>\d{1,4})\]|"
    r"(?P<upper>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))[ \t]+(?P<what>\S[^\n]{0,2000})$",
    re.MULTILINE,
)
_LIST = re.compile(
    r"^[ \t#*_]{0,8}(?:sources?|references?|citations?|footnotes?|quellen|belege|fuentes|referencias|来源"
    r"|参考[^\n:：]{0,8}|出典|参照|المصادر|المراجع)[*_ \t]{0,4}[:：]?[*_ \t]{0,4}$",
    re.MULTILINE | re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>\"'）)\]}】]{1,2000}")


class Definition(NamedTuple):
    """A line that says what a number or a footnote stands for; it claims and cites nothing itself."""

    start: int
    end: int
    number: str
    what: str


class Source(NamedTuple):
    """Something that an answer may cite: its id as citations name it, and its other names (URL, title, document)."""

    item_id: str
    names: tuple[str, ...] = ()


def definitions(text: str) -> list[Definition]:
    """Footnotes of an answer: `[^1]: ...`, `[1]: ...`, and `[1] ...` that is a URL or stands below *Sources*."""
    listed = max((one.end() for one in _LIST.finditer(text)), default=len(text))
    made = []
    for found in _NOTE.finditer(text):
        number = found["note"] or found["named"] or found["number"] or found["upper"].translate(_DIGIT)
        surely = (
            found["note"] or found["named"] or found.start() >= listed or _URL.fullmatch(found["what"].strip(" <>."))
        )
        if surely:
            made.append(Definition(*found.span(), number, found["what"].strip()))
    return made


def marks_of(text: str, sources: Sequence[Source]) -> list[Mark]:
    """What an answer cites by marks in its text, in order: an `item_id`, or the mark itself if it names none.

    A number is a place in `sources` (from 1), or the footnote of that number; a link is the source with that URL.
    An id in brackets counts only where a source has that id. Definitions of footnotes cite nothing themselves.

    >>> marks_of("It rains [2]. See [here](https://a.b/c).", [Source("p1", ("https://a.b/c",)), Source("p2")])
    [Mark(start=9, end=12, name='p2'), Mark(start=18, end=39, name='p1')]
    """
    book = _Book(text, sources)
    made: dict[Mark, None] = {}
    for found in _MARK.finditer(text):
        for name in () if book.defines(found.start()) else book.names(found):
            made[Mark(found.start(), found.end(), name)] = None
    for found in _ID.finditer(blank(text)):
        for part in () if book.defines(found.start()) else found["id"].split(","):
            if (called := book.called(part)) is not None:
                made[Mark(found.start(), found.end(), called)] = None
    return sorted(made, key=lambda one: (one.start, one.end))


def citations_of(text: str, sources: Sequence[Source]) -> tuple[Citation, ...]:
    """`marks_of` as a trace holds citations."""
    return tuple(
        Citation(answer_start=one.start, answer_end=one.end, item_id=one.name) for one in marks_of(text, sources)
    )


def blank(text: str) -> str:
    """A text of equal length with spaces where marks of citation stand; the words of a link stay."""
    return _MARK.sub(_blanked, text)


def bare(text: str) -> str:
    """A text without marks of citation, as a judge reads a claim.

    >>> bare("It rains [2], see [the log](https://a.b/c)¹.")
    'It rains, see the log.'
    """
    return re.sub(r"\s+([.,;:!?。，、])", r"\1", " ".join(blank(text).split()))


def _blanked(found: re.Match[str]) -> str:
    if found["shown"] is None:
        return " " * len(found[0])
    left = found.start("shown") - found.start()
    return " " * left + found["shown"] + " " * (len(found[0]) - left - len(found["shown"]))


class _Book:
    """What numbers, footnotes and addresses of one answer stand for."""

    def __init__(self, text: str, sources: Sequence[Source]) -> None:
        self._order = [one.item_id for one in sources]
        self._named = {_plain(name): one.item_id for one in reversed(sources) for name in (*one.names, one.item_id)}
        self._definitions = definitions(text)
        self._starts = [one.start for one in self._definitions]
        self._notes: dict[str, str] = {}
        for one in self._definitions:
            self._notes.setdefault(one.number, self._lookup(one.what) or self._numbered(one.number) or one.what[:512])

    def defines(self, place: int) -> bool:
        """Whether a definition stands at this place."""
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._definitions[at].end

    def called(self, word: str) -> str | None:
        """The source that a word in brackets names; words of two letters and numbers name none."""
        word = word.strip()
        return self._named.get(_plain(word)) if len(word) > 2 and not word.isdigit() else None

    def names(self, found: re.Match[str]) -> list[str]:
        if found["link"] or found["bare"]:
            url = (found["link"] or found["bare"]).strip("<>").rstrip(".,;:!?")
            return [self._named.get(_plain(url), url[:512])]
        if found["note"]:
            return [self._number(found["note"], found[0])]
        inner = found["square"] or found["wide"] or found["upper"].translate(_DIGIT).replace("⁻", "-")
        return [self._number(one, f"[{one}]") for one in _spelled_out(inner, len(self._order))]

    def _number(self, number: str, mark: str) -> str:
        if number in self._notes:
            return self._notes[number]
        return self._numbered(number) or mark

    def _numbered(self, number: str) -> str | None:
        place = int(number) if number.isdigit() else 0
        return self._order[place - 1] if 1 <= place <= len(self._order) else None

    def _lookup(self, what: str) -> str | None:
        """The source that a footnote's words name: its whole text, a URL in it, or its link."""
        for one in (what, *(url.rstrip(".,;:!?") for url in _URL.findall(what))):
            if _plain(one) in self._named:
                return self._named[_plain(one)]
        return None


def _spelled_out(inner: str, most: int) -> list[str]:
    """`1, 3-5` as 1, 3, 4, 5; a range that is longer than the list of sources names its two ends only."""
    made: list[int] = []
    for part in re.split(r"[,;]", inner):
        ends = [int(one) for one in re.split(r"[–-]", part)]
        span = range(ends[0], ends[-1] + 1)
        made += span if len(ends) == 2 and 0 < len(span) <= most else ends
    return [str(one) for one in dict.fromkeys(made)]


def _plain(name: str) -> str:
    """A name as it is compared: without case, scheme, `www.`, fragment and a slash at the end."""
    name = name.strip().strip("<>").casefold()
    name = re.sub(r"^https?://(www\.)?", "", name)
    return name.partition("#")[0].rstrip("/ .")
