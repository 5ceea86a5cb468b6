"""The survival table: how many facts each step still held, and how many were lost there. Walks no graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ragassay.records.case import Case
from ragassay.records.score import CLASS_ORDER, FactFate, Population, SurvivalRow
from ragassay.score.rows import Holding
from ragassay.traces import CONTEXT


@dataclass(slots=True)
class _Count:
    """Of one population."""

    facts: int = 0
    failed: int = 0
    """Facts of questions without a trace to measure; no step tells whether it held them."""
    inferred: int = 0
    states: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Step -> held, not_held, unknown."""
    lost: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    joint: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


class Survival:
    """The table in the making, question by question."""

    def __init__(self, cases: Iterable[Case]) -> None:
        known: dict[tuple[object, ...], list[Population]] = {}
        self._populations = {
            case.query_id: known.setdefault((case.class_, case.slice), _populations(case)) for case in cases
        }
        self._kinds: dict[str, str] = {}
        self._order: dict[str, int] = {}
        self._counts: dict[Population, _Count] = {}

    def add(self, fates: Iterable[FactFate], holdings: Iterable[Holding], *, failed: bool) -> None:
        """The fates and holdings of one question and repeat; `failed`: there is no trace that could be measured."""
        held: dict[str, dict[str, str]] = defaultdict(dict)
        for one in holdings:
            held[one.fact_id][one.step] = one.state
            self._kinds[one.step] = min(self._kinds.get(one.step, one.kind), one.kind)
            self._order[one.step] = max(self._order.get(one.step, 0), one.order)
        for fate in fates:
            if fate.required:
                for population in self._populations.get(fate.query_id, ()):
                    count = self._counts.setdefault(population, _Count())
                    _add(count, fate, {} if failed else held[fate.fact_id], failed)

    def rows(self) -> list[SurvivalRow]:
        """One row a population (class, and class and slice) and step name, over the required facts of all repeats.

        `facts` = held + not_held + unknown + absent at every step. Facts of failed traces are unknown everywhere. A
        fact lost at several steps at once counts at each, and `joint` says with which others.
        """
        steps = sorted(self._order, key=lambda name: (name == CONTEXT, self._order[name], name))
        return [
            _row(population, step, self._kinds[step], place, count)
            for population, count in sorted(
                self._counts.items(), key=lambda one: (CLASS_ORDER.index(one[0].class_), one[0].slice or "")
            )
            for place, step in enumerate(steps)
        ]


def _populations(case: Case) -> list[Population]:
    return [Population(class_=case.class_ or "answerable", slice=name) for name in (None, *case.slice)]


def _add(count: _Count, fate: FactFate, held: dict[str, str], failed: bool) -> None:
    count.facts += 1
    count.failed += failed
    count.inferred += fate.inferred
    for step, state in held.items():
        count.states[step][state] += 1
    if fate.fate in ("lost_whole", "lost_in_parts"):
        for step in fate.steps:
            count.lost[step][fate.fate] += 1
            count.joint[step].update(other for other in fate.steps if other != step)


def _row(population: Population, step: str, kind: str, order: int, count: _Count) -> SurvivalRow:
    states, lost = count.states[step], count.lost[step]
    return SurvivalRow(
        population=population,
        step=step,
        kind=kind,
        order=order,
        facts=count.facts,
        held=states["held"],
        not_held=states["not_held"],
        unknown=states["unknown"] + count.failed,
        absent=count.facts - count.failed - states.total(),
        lost_whole=lost["lost_whole"],
        lost_in_parts=lost["lost_in_parts"],
        joint=dict(sorted(count.joint[step].items())),
        inferred=count.inferred or None,
    )
