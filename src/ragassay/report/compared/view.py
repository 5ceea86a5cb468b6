"""A stored comparison, read: the rows nearest to the answer, the slices, the largest moves. Computes no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from ragassay.records.base import Digest
from ragassay.records.comparison import Comparison, Effect, Move, NewLoss
from ragassay.records.score import CLASS_ORDER, PopulationClass
from ragassay.report.dimensions import headline, is_runtime, leading
from ragassay.report.lists import CONTEXT
from ragassay.report.versus.say import apart

if TYPE_CHECKING:
    from ragassay.store import Store

LARGEST = 20
"""Gains and losses that are kept of each measure and step."""
Place = tuple[str, str | None]
_QUALITY = ("fact_coverage", "recall", "correctness", "ndcg", "token_f1")
"""Whose largest moves are named where a class has several: the first of these."""


class Largest(NamedTuple):
    """The largest moves of one measure at one step, the largest first; of equal ones by id."""

    gains: tuple[Move, ...]
    losses: tuple[Move, ...]
    appeared: int
    disappeared: int


class Compared(NamedTuple):
    """Everything that words about a comparison need."""

    digest: Digest
    record: Comparison
    effects: tuple[Effect, ...]
    headline: tuple[Effect, ...]
    """One row a measure and class, at the place nearest to the answer."""
    losses: tuple[NewLoss, ...]
    largest: dict[Place, Largest]
    classes: dict[str, str]
    """Question -> class, of those that are named."""

    def of_class(self, class_: str) -> tuple[Effect, ...]:
        """The headline rows of a class."""
        return tuple(one for one in self.headline if one.population.class_ == class_)

    @property
    def slices(self) -> list[Effect]:
        """Effects of slices at the places of the headline, but for slices that hold their whole class."""
        at = {(one.measure, one.step, one.population.class_, one.aggregation) for one in self.headline}
        return [
            one
            for one in self.effects
            if one.population.slice is not None
            and (one.test is None or one.test.family is not None)
            and (one.measure, one.step, one.population.class_, one.aggregation) in at
        ]


def read(store: Store, digest: Digest, classes: dict[str, str]) -> Compared:
    """The comparison behind a digest. `classes`: question -> class, of the candidate's benchmark."""
    record = store.get_record(Comparison, digest)
    effects = tuple(store.get_lines(Effect, record.effects))
    return Compared(
        digest,
        record,
        effects,
        tuple(nearest(record, effects)),
        tuple(store.get_lines(NewLoss, record.losses)),
        dict(_largest(store.get_lines(Move, record.moves))),
        classes,
    )


def nearest(record: Comparison, effects: Sequence[Effect]) -> list[Effect]:
    """Effects over whole classes, of each measure the one nearest to the answer; of times also the 95th percentile."""
    steps = [one.step for one in sorted(record.steps, key=lambda one: one.order)]
    steps += sorted({one.step for one in effects if one.step} - {*steps, CONTEXT})
    found = headline([one for one in effects if one.population.slice is None], [*steps, CONTEXT])
    first = {id(one) for one in leading(found)}
    rows = [one for one in found if id(one) in first or one.aggregation == "p95"]
    return sorted(rows, key=lambda one: (CLASS_ORDER.index(one.population.class_), is_runtime(one.measure)))


def classes_of(rows: Iterable[Effect]) -> list[PopulationClass]:
    """The classes of some effects, in order."""
    found = {one.population.class_ for one in rows}
    return [one for one in CLASS_ORDER if one in found]


def _largest(moves: Iterable[Move]) -> Iterator[tuple[Place, Largest]]:
    by: dict[Place, list[Move]] = {}
    for one in moves:
        by.setdefault((one.measure, one.step), []).append(one)
    for place, own in by.items():
        yield (
            place,
            Largest(
                tuple(nsmallest(LARGEST, (one for one in own if one.kind == "improved"), key=_size)),
                tuple(nsmallest(LARGEST, (one for one in own if one.kind == "regressed"), key=_size)),
                sum(one.kind == "appeared" for one in own),
                sum(one.kind == "disappeared" for one in own),
            ),
        )


def _size(one: Move) -> tuple[float, str]:
    return -abs(one.difference or 0.0), one.query_id


def standing_out(rows: Iterable[Effect]) -> list[Effect]:
    """Effects that their corrected test tells from nothing, the surest first."""
    found = [one for one in rows if apart(one)]
    return sorted(found, key=lambda one: (_p(one), -abs(one.effect or 0.0), str(one.population), one.measure))


def _p(one: Effect) -> float:
    if one.test is None:
        return 1.0
    return one.test.p if one.test.adjusted is None else one.test.adjusted
