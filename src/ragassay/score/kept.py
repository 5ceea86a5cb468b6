"""What was observed of each question, put aside as the lines that will be stored. Observes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import msgspec

from ragassay.records.base import Record
from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.score import Estimate, Observation, SurvivalRow
from ragassay.score.cases import Cases
from ragassay.score.estimates import Counted
from ragassay.score.fill import Key, Taken, blank, keys
from ragassay.score.labels import Labels
from ragassay.score.pile import Pile, Place
from ragassay.score.rows import Scores
from ragassay.score.survival import Survival
from ragassay.score.world import World

Row = tuple[str, str, str, bytes]
"""Step, measure and target, by which the rows of a question are ordered, and the line."""
Patterns = tuple[frozenset[Key], frozenset[Key]]
_OF_ROWS = msgspec.msgpack.Decoder(list[Row])
_OF_LINES = msgspec.msgpack.Decoder(list[bytes])


class _Put(NamedTuple):
    """One question and repeat."""

    failure: str
    have: Patterns
    """Measures and steps of its rows, of quality and of time."""
    place: Place


class _Parts(NamedTuple):
    """What was put aside of it."""

    observations: bytes
    runtime: bytes
    fates: bytes
    failures: bytes


_OF_PARTS = msgspec.msgpack.Decoder(_Parts)


class Kept:
    """All rows of a score table, of which a few are in memory at a time."""

    def __init__(self, lines: Pile, columns: Pile, cases: Cases, repeats: int) -> None:
        self._pile, self._cases, self._repeats = lines, cases, repeats
        self._counted = Counted(columns)
        self._survival = Survival(cases.brief)
        self._taken = Taken()
        self._put: dict[tuple[str, int], _Put] = {}
        self._patterns: dict[Patterns, Patterns] = {}

    def add(self, one: Scores) -> None:
        """What was observed of one trace. One of a repeat that was not asked for has no rows."""
        self._taken.add(one)
        if one.repeat < self._repeats:
            self._keep(one)

    def _keep(self, one: Scores) -> None:
        self._survival.add(one.fates, one.holdings, failed=bool(one.failure))
        self._put[one.query_id, one.repeat] = _Put(
            one.failure,
            self._pattern(one),
            self._aside(
                _Parts(self._rows(one.observations), self._rows(one.runtime), _lines(one.fates), _lines(one.failures))
            ),
        )

    def _pattern(self, one: Scores) -> Patterns:
        """Measures and steps of the rows; most questions share a few such sets."""
        made = frozenset(keys(one.observations)), frozenset(keys(one.runtime))
        return self._patterns.setdefault(made, made)

    def _aside(self, parts: _Parts) -> Place:
        return self._pile.put(msgspec.msgpack.encode(parts))

    def _parts(self, one: _Put) -> _Parts:
        return _OF_PARTS.decode(self._pile.get(one.place))

    def _rows(self, rows: Iterable[Observation], more: Sequence[Row] = ()) -> bytes:
        made = [*more]
        for row in rows:
            line = canonical_bytes(row)
            self._counted.add(row, line)
            made.append((row.step or "", row.measure, row.target or "", line))
        made.sort(key=itemgetter(0, 1, 2))
        return msgspec.msgpack.encode(made)

    def close(self, world: World, scoring: Scoring, stopped: str | None) -> None:
        """After the last trace: a row for every measure and step of every question, as `Taken` says."""
        self._taken.close(scoring, world)
        for brief in self._cases.brief:
            labels = Labels(self._cases.whole(brief.query_id) or brief, world)
            for repeat in range(self._repeats):
                if (brief.query_id, repeat) not in self._put:
                    self._keep(blank(labels, repeat, stopped))
                self._fill(labels, repeat)

    def _fill(self, labels: Labels, repeat: int) -> None:
        key = labels.case.query_id, repeat
        one = self._put[key]
        seen, timed = self._taken.absent(labels, repeat, one.failure, one.have)
        if not seen and not timed:
            return
        parts = self._parts(one)
        if seen:
            parts = parts._replace(observations=self._rows(seen, _OF_ROWS.decode(parts.observations)))
        if timed:
            parts = parts._replace(runtime=self._rows(timed, _OF_ROWS.decode(parts.runtime)))
        self._put[key] = one._replace(place=self._aside(parts))

    def observations(self) -> Iterator[bytes]:
        """Lines by question, repeat, step, measure and target."""
        return _ordered(one.observations for one in self._by_question())

    def runtime(self) -> Iterator[bytes]:
        """As `observations`, of what was measured of time, tokens and cost."""
        return _ordered(one.runtime for one in self._by_question())

    def fates(self) -> Iterator[bytes]:
        """Lines by question and repeat."""
        return (line for one in self._by_question() for line in _OF_LINES.decode(one.fates))

    def failures(self) -> Iterator[bytes]:
        """Lines by question and repeat."""
        return (line for one in self._by_question() for line in _OF_LINES.decode(one.failures))

    def estimates(self, cases: Sequence[Case], scoring: Scoring) -> list[Estimate]:
        """All aggregates."""
        return self._counted.estimates(cases, scoring)

    def survival(self) -> list[SurvivalRow]:
        """The survival table."""
        return self._survival.rows()

    def _by_question(self) -> Iterator[_Parts]:
        return (self._parts(self._put[key]) for key in sorted(self._put))


def _ordered(several: Iterable[bytes]) -> Iterator[bytes]:
    return (row[3] for one in several for row in _OF_ROWS.decode(one))


def _lines(records: Iterable[Record]) -> bytes:
    return msgspec.msgpack.encode([canonical_bytes(one) for one in records])
