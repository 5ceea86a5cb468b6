"""What moved for each question of a comparison, and which questions are shown in full. Reads no list and no answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import NamedTuple

import msgspec

from ragassay.compare.changes.losses import failed_at
from ragassay.compare.side import Side
from ragassay.records.case import Case
from ragassay.records.comparison import Effect, Move, NewLoss
from ragassay.records.score import Observation
from ragassay.records.trace import TraceContent
from ragassay.report.dimensions import bounded, is_runtime
from ragassay.report.lists import CONTEXT
from ragassay.report.versus.model import Moved

ORDER: tuple[Moved, ...] = ("changed", "regressed", "improved", "error", "undefined", "missing", "unjudged")
Key = tuple[str, int]
"""Question and repeat."""
NO_TRACE = "no trace"
MOST_CODE = 80
Nearest = Mapping[tuple[str, str], str | None]
"""(measure, class) -> the step nearest to the answer at which it has an effect."""


@dataclass(slots=True)
class Told:
    """What is known of one question before its traces are opened."""

    kinds: set[str] = field(default_factory=set)
    """Of its moves at the place nearest to the answer; `elsewhere` stands for any at another step."""
    worse: Move | None = None
    better: Move | None = None
    """The largest move of a ratio in either direction."""
    lost: int = 0
    answer_differs: bool = False
    failed: tuple[str | None, str | None] = (None, None)
    """Why there is no answer before and now, of the first repeat without one."""
    states: set[str] = field(default_factory=set)

    @property
    def flags(self) -> tuple[Moved, ...]:
        """What a reader filters by."""
        had = {
            "changed": bool(self.kinds or self.lost or self.answer_differs),
            "regressed": "regressed" in self.kinds or self.lost > 0,
            "improved": "improved" in self.kinds,
        }
        return tuple(name for name in ORDER if had.get(name, name in self.states))

    @property
    def top(self) -> Move | None:
        """The move that a row names."""
        return self.worse or self.better if "regressed" in self.kinds or self.lost else self.better or self.worse

    @property
    def rank(self) -> tuple[int, float]:
        """New losses, then worse or without a value now, better, otherwise changed, unchanged; large moves first."""
        flags = self.flags
        worse = "regressed" in flags or "disappeared" in self.kinds
        place = (bool(self.lost), worse, "improved" in flags, "changed" in flags)
        top = self.top
        size = abs(top.difference) if top is not None and top.difference is not None else 0.0
        return (place.index(True) if True in place else len(place), -size)


class _Said(msgspec.Struct):
    """The part of a trace that a reader of the answer sees."""

    query_id: str
    repeat: int
    answer: _Answer | None = None
    failure: _Failure | None = None


class _Answer(msgspec.Struct):
    text: str
    outcome: str | None = None


class _Failure(msgspec.Struct):
    cause: str


def nearest(rows: Iterable[Effect]) -> Nearest:
    """The headline's step for each measure and class."""
    return {(one.measure, one.population.class_): one.step for one in rows}


def told(
    sides: tuple[Side, Side],
    cases: Sequence[Case],
    moves: Iterable[Move],
    losses: Iterable[NewLoss],
    states: Iterable[tuple[str, str]],
    where: Nearest,
) -> dict[str, Told]:
    """Everything about every question that both or one of the sides has.

    A move counts as worse or better at the place nearest to the answer; at other steps it is a change. Times, tokens
    and costs differ in every question and are no change.
    """
    found: dict[str, Told] = {case.query_id: Told() for case in cases}
    classes: dict[str, str] = {case.query_id: case.class_ or "answerable" for case in cases}
    for move in moves:
        own = found.get(move.query_id)
        if own is not None and not is_runtime(move.measure):
            _add(own, move, where.get((move.measure, classes[move.query_id]), move.step))
    for loss in losses:
        if loss.query_id in found:
            found[loss.query_id].lost += 1
    before, after = _said(sides[0]), _said(sides[1])
    for query_id, repeat in before.keys() & after.keys():
        if query_id in found and before[query_id, repeat] != after[query_id, repeat]:
            found[query_id].answer_differs = True
    _failures(sides, found, (before, after))
    for case in cases:
        if case.evidence is None:
            found[case.query_id].states.add("unjudged")
    for query_id, state in states:
        if query_id in found:
            found[query_id].states.add(state)
    return found


def _failures(
    sides: tuple[Side, Side], found: Mapping[str, Told], arms: tuple[dict[Key, _Said], dict[Key, _Said]]
) -> None:
    """Marks questions without an answer on a side, with the failure and its step, or that there is no trace."""
    words: list[dict[str, str]] = [{}, {}]
    for place, (side, said) in enumerate(zip(sides, arms, strict=True)):
        broken = {key for key, one in said.items() if one.failure is not None}
        for content in side.traces() if broken else ():
            if (content.query_id, content.repeat) in broken:
                words[place].setdefault(content.query_id, failure_words(content))
        asked = {one.query_id for one in side.cases}
        for query_id, repeat in sorted(arms[1 - place].keys() - said.keys()):
            if query_id in asked and repeat < side.subject.repeats:
                words[place].setdefault(query_id, NO_TRACE)
    for query_id in words[0].keys() | words[1].keys():
        if query_id in found:
            own = (words[0].get(query_id), words[1].get(query_id))
            found[query_id].failed = own
            found[query_id].states |= {"missing" if one == NO_TRACE else "error" for one in own if one}


def failure_words(content: TraceContent) -> str:
    """`failed: timeout at rerank`, an exception by its code; the step where it is known."""
    failure, at = content.failure, failed_at(content)
    if failure is None:
        return NO_TRACE
    cause = failure.code if failure.code and failure.cause == "exception" else failure.cause.replace("_", " ")
    return f"failed: {cause[:MOST_CODE]}{f' at {at}' if at else ''}"


def _add(own: Told, move: Move, step: str | None) -> None:
    if move.step != step:
        own.kinds.add("elsewhere")
        return
    own.kinds.add(move.kind)
    if bounded(move.measure):
        if move.kind == "regressed":
            own.worse = _larger(own.worse, move)
        elif move.kind == "improved":
            own.better = _larger(own.better, move)


def _larger(held: Move | None, move: Move) -> Move:
    return move if held is None or abs(move.difference or 0.0) > abs(held.difference or 0.0) else held


def _said(side: Side) -> dict[Key, _Said]:
    """Answer text, outcome and failure of every question and repeat that was asked."""
    decode = msgspec.json.Decoder(_Said).decode
    said = map(decode, side.store.get_raw_lines(side.run.contents))
    return {(one.query_id, one.repeat): one for one in said}


class Scored(NamedTuple):
    """The part of a score table's rows that a comparison shows: read once, the many rows with a value unread."""

    states: frozenset[tuple[str, str]]
    """(question, state): some measure of content has no value for it, or nobody judged any item of its last list."""
    ruled: Mapping[tuple[str, int], Observation]
    """Outcomes that scoring gave, by question and repeat."""


class _Row(msgspec.Struct):
    query_id: str
    measure: str
    status: str
    step: str | None = None
    value: float | None = None


_VALUE, _OUTCOME, _JUDGED = b'"status":"value"', b'"measure":"outcome', b'"measure":"judged'


def scored(side: Side) -> Scored:
    """One pass over the observations of an arm."""
    decode = msgspec.json.Decoder(_Row).decode
    states: set[tuple[str, str]] = set()
    ruled: dict[tuple[str, int], Observation] = {}
    judged: dict[str, dict[str, float]] = {}
    for line in side.store.get_raw_lines(side.table.observations):
        if _OUTCOME in line:
            one = msgspec.json.decode(line, type=Observation)
            ruled[one.query_id, one.repeat] = one
        if _VALUE in line:
            if _JUDGED in line:
                row = decode(line)
                own = judged.setdefault(row.step or "", {})
                own[row.query_id] = max(own.get(row.query_id, 0.0), row.value or 0.0)
            continue
        row = decode(line)
        if row.status != "value" and not is_runtime(row.measure):
            states.add((row.query_id, row.status))
    last = judged.get(CONTEXT) or (judged.get(side.last_list or "") if judged else None) or {}
    states |= {(query_id, "unjudged") for query_id, share in last.items() if share == 0}
    return Scored(frozenset(states), ruled)


def in_full(ordered: Sequence[str], told_: Mapping[str, Told], most: int) -> frozenset[str]:
    """The questions to show in full: in turn the worst, the best and the otherwise changed, at most so many."""
    groups: tuple[list[str], list[str], list[str]] = ([], [], [])
    for one in ordered:
        place = told_[one].rank[0]
        if place < 4:
            groups[max(0, place - 1)].append(one)
    turns = chain.from_iterable(zip_longest(*groups))
    return frozenset([one for one in turns if one is not None][:most])


class _Whose(msgspec.Struct):
    query_id: str


def moves_of(
    lines: Iterable[bytes], wanted: frozenset[str], where: Nearest, class_of: Mapping[str, str]
) -> dict[str, list[Move]]:
    """The moves of the wanted questions: those nearest to the answer first, times and costs last, each by its size."""
    found: dict[str, list[Move]] = {}
    whose = msgspec.json.Decoder(_Whose).decode
    for line in lines:
        if whose(line).query_id in wanted:
            move = msgspec.json.decode(line, type=Move)
            found.setdefault(move.query_id, []).append(move)
    for query_id, own in found.items():
        own.sort(key=lambda one: _move_rank(one, where.get((one.measure, class_of[query_id]), one.step)))
    return found


def _move_rank(one: Move, step: str | None) -> tuple[bool, bool, bool, float]:
    size = abs(one.difference) if one.difference is not None and bounded(one.measure) else 0.0
    return is_runtime(one.measure), one.step != step, one.difference is not None, -size
