"""A text that stands nowhere letter for letter to the places it was made from, with a score. Prefers no document.

Two ways. *Whole*: the dense form of the text (`fold`) stands somewhere as one piece. *Pieces*: its longest stretches
that stand somewhere, joined to a chain where they stand in order, one chain for each slice that was put together. Of
several places that fit equally none is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.corpus import chains, decoration
from ragassay.corpus.chains import Segment
from ragassay.corpus.fold import Map, fold, joins
from ragassay.corpus.fold import places as places_of
from ragassay.corpus.places import GRAM, LEAST, Places, most_places
from ragassay.errors import UsageError

RULE = "align/2"
FLOOR = 0.9
"""Least share of a text's dense characters, recognised decoration aside, that must stand in its places."""
LOWEST = 0.8
"""What a floor may be at least."""
_MOST_PIECED = 100_000
_MOST_PIECES = 8
_MOST_SPANS = 32
_SHORTEST = 12
"""Dense characters from which a text may differ by more than the length of its white space."""
_SHORTEST_NEAR, _SHORTEST_FAR = 24, 48
"""A further slice, of the same document or of whole lines, and of another one: a name that stands in both is none."""
_ELLIPSES = ("[...]", "[…]", "(...)", "(…)", "...", "…")
Shape = Literal["slice", "decorated"]
Reason = Literal["not_found", "ambiguous", "too_long"]


def rule(floor: float | None) -> str | None:
    """How a subject names this rule; None: letter for letter only. UsageError for a floor that would be a guess."""
    if not floor:
        return None
    if not LOWEST <= floor <= 1:
        raise UsageError(
            f"alignment is {floor:g}; it must be 0 or from {LOWEST:g} to 1",
            field="alignment",
            hint=f"{FLOOR:g} is the default; 0 ties texts to documents letter for letter only",
        )
    return f"{RULE} floor={floor!r}"


def floor_of(named: str | None) -> float | None:
    """The floor of a rule that a subject names. UsageError for a rule of another version, which may find otherwise."""
    if named is None:
        return None
    version, _, floor = named.partition(" floor=")
    try:
        if version != RULE or rule(float(floor)) != named:
            raise ValueError
    except (ValueError, UsageError):
        raise UsageError(
            f"the run was sealed for resolution {named!r}, which this version of ragassay does not have",
            field="resolution",
            hint=f"it has {RULE!r}: seal the protocol again, or run it with the version that sealed it",
        ) from None
    return float(floor)


class Found(NamedTuple):
    """Code points `start` to `end` of a text of the corpus."""

    text: int
    start: int
    end: int


class Aligned(NamedTuple):
    """Where the parts of a text stand, in its order, and the share of it that does."""

    sources: tuple[Found, ...]
    score: float
    shape: Shape


class Texts:
    """The distinct texts of a corpus with their dense forms and the index over these; built once."""

    def __init__(self, raw: Sequence[str]) -> None:
        self.raw = raw
        self.places = Places([fold(one) for one in raw])
        self.map: Callable[[int], Map] = lru_cache(maxsize=64)(lambda number: places_of(raw[number]))

    def dense(self, wanted: str, only: Sequence[int] | None = None) -> tuple[list[tuple[int, int]], bool]:
        """(text, start) of every place of a dense text, in these texts if any are named; whether that is all."""
        if not wanted:
            return [], True
        found, most = self.places.find(wanted), most_places(wanted)
        complete = len(found) < most
        if only is None:
            return found, complete
        if complete:
            inside = set(only)
            return [one for one in found if one[0] in inside], True
        found = []
        for number in only:
            document = self.places.text(number)
            at = document.find(wanted)
            while at >= 0 and len(found) < most:
                found.append((number, at))
                at = document.find(wanted, at + 1)
        return found, len(found) < most

    def exact(self, wanted: str, only: Sequence[int] | None = None) -> list[Found]:
        """Every place of a text letter for letter, in order, overlapping ones too; of very many the first ones."""
        most = most_places(wanted)
        near, complete = self.dense(fold(wanted), only)
        found: list[Found] = []
        every = range(len(self.raw)) if only is None else only
        for number in dict.fromkeys(one for one, _ in near) if complete else every:
            at = self.raw[number].find(wanted)
            while at >= 0 and len(found) < most:
                found.append(Found(number, at, at + len(wanted)))
                at = self.raw[number].find(wanted, at + 1)
        return found

    def span(self, number: int, at: int, length: int) -> Found:
        """The code points of `length` dense characters from `at` on."""
        source = self.map(number)
        return Found(number, int(source[at]), int(source[at + length - 1]) + 1)

    def parts(self, number: int, at: int, length: int) -> tuple[int, int]:
        """How many characters to leave out at both ends, so that no letter is parted from its accent or its half."""
        source, end = self.map(number), at + length

        def inside(place: int) -> bool:
            """Whether what begins here belongs to the character before it."""
            if not 0 < place < len(source):
                return False
            return joins(self.places.char(number, place)) or bool(source[place] == source[place - 1])

        start = at
        while start < end and inside(start):
            start += 1
        while start < end and inside(end):
            end -= 1
        return start - at, at + length - end


def readings(wanted: str) -> list[str]:
    """A text, and the same without what a cut leaves at its ends: an ellipsis, or halves of a character cut in two."""
    text = wanted.strip().strip("\ufffd").strip()
    for mark in _ELLIPSES:
        text = text.removeprefix(mark).removesuffix(mark)
    text = text.strip().strip("\ufffd").strip()
    return [wanted] if text == wanted or len(fold(text)) < _SHORTEST else [wanted, text]


def whole(wanted: str, texts: Texts, only: Sequence[int] | None = None) -> tuple[list[Found], bool]:
    """The places of a text in its dense form, and whether these are all; if there are some at which only the amount of
    white space differs, these.

    A text of fewer than 12 dense characters has only such places: *notable* is not *no table*. `only`: in these texts.
    """
    dense = fold(wanted)
    near, complete = texts.dense(dense, only)
    found = [texts.span(number, at, len(dense)) for number, at in near if texts.parts(number, at, len(dense)) == (0, 0)]
    words = wanted.split()
    same = [one for one in found if texts.raw[one.text][one.start : one.end].split() == words]
    return same or (found if len(dense) >= _SHORTEST else []), complete


def pieces(
    wanted: str, texts: Texts, floor: float, choices: Callable[[int], int], names: Callable[[int], set[str]]
) -> Aligned | Reason:
    """The places of a text that is not whole in any document, or why there are none.

    `choices`: how many documents that are told apart have this text; 0: it is not looked at. `names`: dense forms of
    what a system may put before a text (its title, its id). Nothing is taken from a place that another one equals.
    """
    dense = fold(wanted)
    if len(dense) < LEAST:
        return "not_found"
    if len(dense) > _MOST_PIECED:
        return "too_long"
    of = decoration.lines(wanted)
    taken, doubtful = _take(dense, texts, choices, {edge for one in of for edge in (one.start, one.end)})
    if not taken:
        return "ambiguous" if doubtful else "not_found"

    def find(number: int, line: str) -> int | None:
        document = texts.places.text(number)
        at = document.find(line)
        alone = at >= 0 and document.find(line, at + 1) < 0 and texts.parts(number, at, len(line)) == (0, 0)
        return at if alone else None

    home = max(taken, key=lambda one: one.length).text
    left = decoration.strip(dense, of, taken, find, names(home))
    matched = sum(one.length for one in left.taken)
    total = len(dense) - left.foreign
    if matched < floor * total:
        return "ambiguous" if doubtful else "not_found"
    sources = _sources(left.taken, texts)
    if not sources or len(sources) > _MOST_SPANS:
        return "not_found"
    return Aligned(sources, int(10_000 * matched / total) / 10_000, "decorated" if left.decorated else "slice")


def _take(
    dense: str, texts: Texts, choices: Callable[[int], int], edges_of_lines: set[int]
) -> tuple[list[Segment], bool]:
    """Segments in the order of the text, none over another; and whether places that fit equally were left out."""
    blocks = [one for one in texts.places.blocks(dense) if choices(one.text)]
    taken: list[Segment] = []
    waiting: list[tuple[int, int]] = []
    open_parts = [(0, len(dense))]
    for _ in range(4 * _MOST_PIECES):
        open_parts = [one for one in open_parts if one[1] - one[0] >= GRAM]
        if not open_parts:
            break
        low, high = part = max(open_parts, key=lambda one: (one[1] - one[0], -one[0]))
        open_parts.remove(part)
        home = {one.text for one in taken}
        chain, rival = chains.best(dense, blocks, part, texts.places.text, choices, home)
        size = sum(one.length for one in chain)
        lines = bool(chain) and {chain[0].start, chain[-1].end} <= edges_of_lines
        least = _SHORTEST_NEAR if lines or (chain and chain[0].text in home) else _SHORTEST_FAR
        if rival:
            waiting.append(part)
        elif chain and (not taken or size >= least):
            chain = [kept for one in chain if (kept := _trim(one, texts))]
            taken = sorted([*taken, *chain])
            edges = [low, *(edge for one in chain for edge in (one.start, one.end)), high]
            open_parts += zip(edges[::2], edges[1::2], strict=True)
            open_parts += waiting
            waiting = []
    return taken, bool(waiting)


def _trim(one: Segment, texts: Texts) -> Segment | None:
    front, back = texts.parts(one.text, one.at, one.length)
    length = one.length - front - back
    return Segment(one.start + front, one.end - back, one.text, one.at + front) if length > 0 else None


def _sources(taken: list[Segment], texts: Texts) -> tuple[Found, ...]:
    """Spans of the segments; those that follow one another in a document without a gap are one."""
    joined: list[Segment] = []
    for one in taken:
        last = joined[-1] if joined else None
        if last and last.text == one.text and last.at + last.length == one.at:
            joined[-1] = Segment(last.start, last.start + last.length + one.length, last.text, last.at)
        else:
            joined.append(one)
    return tuple(dict.fromkeys(texts.span(one.text, one.at, one.length) for one in joined))
