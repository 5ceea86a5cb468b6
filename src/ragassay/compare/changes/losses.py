"""Facts that the baseline's context holds and the candidate's does not: where they went, and what is to blame.

What holds a fact and where one was lost is the score room's word; nothing here reads a label by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from ragassay import benchmark as benchmark_room
from ragassay.compare.changes.artefacts import Sides
from ragassay.compare.changes.blame import artefacts_of_all, artefacts_of_labels
from ragassay.compare.changes.likeness import Likeness
from ragassay.compare.changes.moves import Pair
from ragassay.compare.changes.stream import Asked, Key, content_of, side_by_side
from ragassay.records.base import FactId, QueryId
from ragassay.records.case import Benchmark, Case, Fact
from ragassay.records.comparison import Artefact, Change, NewLoss
from ragassay.records.protocol import Run, Scoring
from ragassay.records.score import FactFate, ScoreTable
from ragassay.records.trace import TraceContent
from ragassay.score import World, fates_of, load_world
from ragassay.store import Store

Fates = Mapping[str, FactFate]


class _Lost(NamedTuple):
    """Where a walk of the candidate ended."""

    fact_id: str
    fate: FactFate


def losses(
    store: Store,
    baseline: ScoreTable,
    candidate: ScoreTable,
    changes: Sequence[Change],
    *,
    sides: Sides | None = None,
) -> Iterator[NewLoss]:
    """Every required fact that the baseline's context holds and the candidate's does not, by key and fact.

    Facts of a case are as scored. A case with evidence and no facts counts each piece of evidence at or above the
    benchmark's `rel` as one fact, by the id of the evidence. Keys that only one run answered have none.

    `steps` is where the fact was lost now (it was lost nowhere before); `moved` the steps among these and those that
    they stood on at which the change begins; of a fact that is never found now, among all before generation. Blamed
    are the changed artefacts that these steps stand on. Where no step moved, it is what can move a fate alone: labels,
    the threshold of holding. *Silent*: some step moved and no artefact is to blame.
    """
    runs = [store.get_record(Run, one.run_record) for one in (baseline, candidate)]
    known = sides or Sides(store, *runs)
    return _Losses(store, (baseline, candidate), runs, known, tuple(changes)).all()


class _Losses:
    """One reading of two score tables and their traces."""

    def __init__(
        self, store: Store, tables: tuple[ScoreTable, ScoreTable], runs: list[Run], sides: Sides,
        changes: tuple[Change, ...],
    ) -> None:  # fmt: skip
        self.store, self.runs, self.sides, self.changes = store, runs, sides, changes
        self.likeness, self.asked = Likeness(sides), Asked(sides)
        self._stored = [self._fates_of(one) for one in tables]
        self._hold = [store.get_record(Scoring, one.scoring).hold for one in tables]

    def all(self) -> Iterator[NewLoss]:
        for lines in side_by_side(self.store, *self.runs):
            if lines.ours is None or lines.theirs is None:
                continue
            stored = self._stored_losses(lines.key)
            bare = self._bare(lines.key)
            if not stored and (not bare or (lines.ours == lines.theirs and self._nothing_moved)):
                continue
            ours, theirs = content_of(lines.ours), content_of(lines.theirs)
            found = [*stored, *(self._walked(ours, theirs) if bare else ())]
            if found:
                pair = Pair(ours, theirs, self.likeness, asked_same=self.asked.same(lines.key))
                for one in found:
                    yield self._loss(lines.key, one, pair, theirs)

    @cached_property
    def _nothing_moved(self) -> bool:
        """Equal traces have equal fates."""
        same = self.sides.subjects[0].benchmark == self.sides.subjects[1].benchmark
        return self.likeness.exact and same and self._hold[0] == self._hold[1]

    @cached_property
    def _cases(self) -> list[dict[str, Case]]:
        """Cases with evidence and no facts, by side, each with its evidence as facts."""
        return [self._bare_cases(one) for one in (0, 1)]

    @cached_property
    def _worlds(self) -> list[World]:
        """What each side is read against; one for both where it is the same."""
        objects = [{**one.objects} for one in self.sides.protocols]
        texts = self.runs[0].texts == self.runs[1].texts
        first = self._world(0)
        return [first, first if objects[0] == objects[1] and texts else self._world(1)]

    def _bare(self, key: Key) -> bool:
        return all(key[0] in one for one in self._cases)

    def _bare_cases(self, side: int) -> dict[str, Case]:
        benchmark = self.store.get_record(Benchmark, self.sides.protocols[side].objects["benchmark"])
        made = {}
        for case in benchmark_room.load(self.store, benchmark):
            facts = tuple(
                Fact(id=FactId(one.id), any_of=((one.id,),))
                for one in case.evidence or ()
                if one.grade >= benchmark.rel
            )
            if facts and not case.facts:
                made[str(case.query_id)] = replace(case, facts=facts)
        return made

    def _world(self, side: int) -> World:
        protocol, subject = self.sides.protocols[side], self.sides.subjects[side]
        benchmark = self.store.get_record(Benchmark, protocol.objects["benchmark"])
        return load_world(self.store, self.runs[side], protocol, subject, benchmark)

    def _fates_of(self, table: ScoreTable) -> dict[Key, dict[str, FactFate]]:
        found: dict[Key, dict[str, FactFate]] = {}
        for one in self.store.get_lines(FactFate, table.fates):
            if one.required:
                found.setdefault((one.query_id, one.repeat), {})[one.fact_id] = one
        return found

    def _stored_losses(self, key: Key) -> list[_Lost]:
        ours, theirs = (one.get(key, {}) for one in self._stored)
        return _lost(ours, theirs)

    def _walked(self, ours: TraceContent, theirs: TraceContent) -> list[_Lost]:
        both = [
            {one.fact_id: one for one in fates_of(self._cases[side][content.query_id], content, self._worlds[side],
                                                  self._hold[side])}
            for side, content in enumerate((ours, theirs))
        ]  # fmt: skip
        return _lost(*both)

    def _loss(self, key: Key, lost: _Lost, pair: Pair, content: TraceContent) -> NewLoss:
        fate = lost.fate
        steps = fate.steps if fate.fate in ("lost_whole", "lost_in_parts", "between") else ()
        moved = pair.origins(steps)
        if content.failure is not None:
            moved = tuple(one.name for one in pair.moves if one.first)
        kinds = {one.name: one.kind for one in pair.moves}
        named = [(name, kinds[name]) for name in dict.fromkeys((*moved, *steps)) if name in kinds]
        blamed: tuple[Artefact, ...] = artefacts_of_all(self.changes, named)
        if not moved:
            blamed = tuple(dict.fromkeys((*blamed, *artefacts_of_labels(self.changes))))
        assert fate.fate != "held"
        return NewLoss(
            query_id=QueryId(key[0]),
            repeat=key[1],
            fact_id=FactId(lost.fact_id),
            steps=steps,
            fate=fate.fate,
            upstream_same=pair.came_same(steps),
            moved=moved,
            blamed=blamed,
            silent=bool(moved) and not blamed,
            failure=None if content.failure is None else content.failure.cause,
            failed_at=failed_at(content),
        )


def failed_at(content: TraceContent) -> str | None:
    """The name of the step that failed, as the failure says or as the first step with an error; None: nobody knows,
    or nothing failed."""
    if content.failure is None:
        return None
    by_id = {one.step_id: one.name for one in content.steps}
    if content.failure.step is not None:
        return by_id.get(content.failure.step, content.failure.step)
    return next((one.name for one in content.steps if one.error is not None), None)


def _lost(ours: Fates, theirs: Fates) -> list[_Lost]:
    """Held before, not held now; a fact that the candidate's case does not have is not lost."""
    return [
        _Lost(name, theirs[name])
        for name, one in sorted(ours.items())
        if one.fate == "held" and name in theirs and theirs[name].fate != "held"
    ]
