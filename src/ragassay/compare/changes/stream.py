"""The traces of two runs side by side, one question at a time. Holds no more than one pair of traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ragassay import benchmark as benchmark_room
from ragassay.compare.changes.artefacts import Sides
from ragassay.errors import IntegrityError
from ragassay.records.case import Benchmark, Case
from ragassay.records.protocol import Run
from ragassay.records.trace import TraceContent
from ragassay.store import Store

Key = tuple[str, int]


class Lines(NamedTuple):
    """One key and its stored line on each side; None where a run has no trace of it."""

    key: Key
    ours: bytes | None
    theirs: bytes | None


class _Key(msgspec.Struct):
    query_id: str
    repeat: int


class _Said(_Key):
    answer: msgspec.Raw = msgspec.Raw(b"null")


def side_by_side(store: Store, a: Run, b: Run) -> Iterator[Lines]:
    """Both runs in the order of their keys. IntegrityError if the lines of a run do not stand in that order."""
    ours, theirs = _keyed(store, a), _keyed(store, b)
    one, other = next(ours, None), next(theirs, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            yield Lines(one[0], one[1], None)
            one = next(ours, None)
        elif one is None or other[0] < one[0]:
            yield Lines(other[0], None, other[1])
            other = next(theirs, None)
        else:
            yield Lines(one[0], one[1], other[1])
            one, other = next(ours, None), next(theirs, None)


def content_of(line: bytes) -> TraceContent:
    """The trace of a stored line."""
    return msgspec.json.decode(line, type=TraceContent)


def _keyed(store: Store, run: Run) -> Iterator[tuple[Key, bytes]]:
    last: Key | None = None
    for line in store.get_raw_lines(run.contents):
        found = msgspec.json.decode(line, type=_Key)
        key = (found.query_id, found.repeat)
        if last is not None and key <= last:
            raise IntegrityError(
                f"the traces of a run are not in order: question {found.query_id!r} comes after {last[0]!r}",
                hint="this blob was not written by ragassay; run `ragassay store check`",
            )
        last = key
        yield key, line


class Asked:
    """Which questions both systems were asked in the same way: same words, same asker, same history."""

    def __init__(self, sides: Sides) -> None:
        self._otherwise = sides.questions.asked_otherwise
        self._earlier: dict[str, tuple[str, ...]] = {}
        self._answered_otherwise: frozenset[Key] = frozenset()
        kinds = {one.history for one in sides.subjects}
        if len(kinds) > 1:
            self._otherwise |= {case.query_id for case in _cases(sides) if case.conversation is not None}
        elif kinds == {"live"}:
            self._earlier = _earlier(sides)
            self._answered_otherwise = _answered_otherwise(sides)

    def same(self, key: Key) -> bool:
        """Whether it was asked in the same way; with live history that hangs on the answers to the turns before it."""
        query_id, repeat = key
        if query_id in self._otherwise:
            return False
        return not any((one, repeat) in self._answered_otherwise for one in self._earlier.get(query_id, ()))


def _cases(sides: Sides) -> list[Case]:
    """The questions of the candidate's benchmark."""
    return benchmark_room.load(sides.store, sides.store.get_record(Benchmark, sides.protocols[1].objects["benchmark"]))


def _earlier(sides: Sides) -> dict[str, tuple[str, ...]]:
    """Question -> questions of earlier turns of its conversation, asked by the same principal."""
    turns: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for case in _cases(sides):
        if case.conversation is not None:
            who = case.principal.id if case.principal is not None else ""
            turns.setdefault((case.conversation.id, who), []).append((case.conversation.turn, case.query_id))
    return {
        query_id: tuple(other for earlier, other in members if earlier < turn)
        for members in turns.values()
        for turn, query_id in members
    }


def _answered_otherwise(sides: Sides) -> frozenset[Key]:
    found = set()
    for one in side_by_side(sides.store, *sides.runs):
        if one.ours is None or one.theirs is None:
            found.add(one.key)
        elif one.ours != one.theirs:
            a, b = (bytes(msgspec.json.decode(line, type=_Said).answer) for line in (one.ours, one.theirs))
            found.update([one.key] if a != b else [])
    return frozenset(found)
