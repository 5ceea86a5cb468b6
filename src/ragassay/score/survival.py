"""The survival table: how many facts each step still held, and how many were lost there. Walks no graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ragassay.records.case import Case
from ragassay.records.score import CLASS_ORDER, FactFate, Population, SurvivalRow
from ragassay.score.rows import Holding
from ragassay.traces import CONTEXT

Fact = tuple[str, int, str]


@dataclass(slots=True)
class _Count:
    states: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    joint: Counter[str] = field(default_factory=Counter)
    inferred: int = 0


def survival(
    fates: Iterable[FactFate],
    holdings: Iterable[Holding],
    cases: Sequence[Case],
    failed: Iterable[tuple[str, int]] = (),
) -> list[SurvivalRow]:
    """One row a population (class, and class and slice) and step name, over the required facts of all repeats.

    `facts` = held + not_held + unknown + absent at every step. Facts of `failed` traces are unknown everywhere. A fact
    lost at several steps at once counts at each, and `joint` says with which others.
    """
    needed = [one for one in fates if one.required]
    held: dict[tuple[Fact, str], str] = {}
    kinds: dict[str, str] = {}
    order: dict[str, int] = {}
    for one in holdings:
        held[(one.query_id, one.repeat, one.fact_id), one.step] = one.state
        kinds[one.step] = min(kinds.get(one.step, one.kind), one.kind)
        order[one.step] = max(order.get(one.step, 0), one.order)
    steps = sorted(order, key=lambda name: (name == CONTEXT, order[name], name))
    lost_to = set(failed)
    populations = {case.query_id: _populations(case) for case in cases}
    counts: dict[Population, dict[str, _Count]] = {}
    for fate in needed:
        key = (fate.query_id, fate.repeat, fate.fact_id)
        for population in populations.get(fate.query_id, ()):
            table = counts.setdefault(population, {step: _Count() for step in steps})
            for step, count in table.items():
                state = "unknown" if key[:2] in lost_to else held.get((key, step), "absent")
                _add(count, state, fate, step)
    return [
        _row(population, step, kinds[step], place, count)
        for population, table in sorted(
            counts.items(), key=lambda one: (CLASS_ORDER.index(one[0].class_), one[0].slice or "")
        )
        for place, (step, count) in enumerate(table.items())
    ]


def _populations(case: Case) -> list[Population]:
    return [Population(class_=case.class_ or "answerable", slice=name) for name in (None, *case.slice)]


def _add(count: _Count, state: str, fate: FactFate, step: str) -> None:
    count.states[state] += 1
    count.inferred += fate.inferred
    if step in fate.steps and fate.fate in ("lost_whole", "lost_in_parts"):
        count.lost[fate.fate] += 1
        count.joint.update(other for other in fate.steps if other != step)


def _row(population: Population, step: str, kind: str, order: int, count: _Count) -> SurvivalRow:
    return SurvivalRow(
        population=population,
        step=step,
        kind=kind,
        order=order,
        facts=count.states.total(),
        held=count.states["held"],
        not_held=count.states["not_held"],
        unknown=count.states["unknown"],
        absent=count.states["absent"],
        lost_whole=count.lost["lost_whole"],
        lost_in_parts=count.lost["lost_in_parts"],
        joint=dict(sorted(count.joint.items())),
        inferred=count.inferred or None,
    )
