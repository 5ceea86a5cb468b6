"""What a setting counts as in a choice: what is not known, or what it spared itself, at its worst. Chooses nothing.

Each setting answers to the same questions. A question that failed, that nobody reported, or that has no value by the
setting's own doing (it did not answer, its context was empty) counts at the worst end of the measure's range. Only what
lies in the labels (nothing relevant, no facts, no reference) leaves a question out, since it does so for every setting.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ragassay.measures import declaration, parse
from ragassay.records.case import Case
from ragassay.records.experiment import Choice
from ragassay.records.protocol import Scoring
from ragassay.records.score import Observation, ScoreTable
from ragassay.score.answer import is_text
from ragassay.score.estimates import estimate
from ragassay.score.population import OUTSIDE
from ragassay.store import Store

_OF_LABELS = OUTSIDE | {"nothing_to_answer", "no_reference"}


class Counted(NamedTuple):
    """A setting in a choice."""

    number: float | None
    """None if nothing has a value, or if the worst of what has none is not bounded."""
    by_question: dict[str, float]
    """Question -> its mean over repeats; one whose worst is not bounded is not there."""
    at_worst: int
    """Questions of which some repeat counts at its worst."""


def rows_of(store: Store, table: ScoreTable, measure: str, step: str | None) -> list[Observation]:
    """The observations of a measure at one place, of whole questions."""
    marker = b'"measure":' + json.dumps(measure, ensure_ascii=False).encode()
    read = (
        msgspec.json.decode(line, type=Observation)
        for line in store.get_raw_lines(table.observations)
        if marker in line
    )
    return [row for row in read if row.measure == measure and row.step == step and row.target is None]


def judged(rows: Iterable[Iterable[Observation]], cases: Sequence[Case], rule: Choice) -> list[Case]:
    """The questions of the rule's class that the labels do not leave out; `rows` are those of every setting."""
    own = {case.query_id: case for case in cases if (case.class_ or "answerable") == rule.class_}
    if is_text(parse(rule.measure).name):
        own = {query: case for query, case in own.items() if case.answers}
    out = {row.query_id for each in rows for row in each if row.reason in _OF_LABELS}
    return [case for query, case in own.items() if query not in out]


def counted_of(rows: Iterable[Observation], cases: Sequence[Case], rule: Choice, scoring: Scoring) -> Counted:
    """The number of a setting over these questions, and what each of them adds to it."""
    own = {case.query_id for case in cases}
    taken: dict[str, list[Observation]] = defaultdict(list)
    for row in rows:
        if row.query_id in own:
            taken[row.query_id].append(_as_counted(row))
    declared = declaration(parse(rule.measure).name)
    worst = declared.low if rule.direction == "higher" else declared.high
    unknown = [query for query, each in taken.items() if any(row.status != "value" for row in each)]
    by_question: dict[str, float] = {}
    for query, each in taken.items():
        ends = [one for row in each if (one := _end(row, worst, rule)) is not None]
        if len(ends) == len(each):
            by_question[query] = sum(ends) / len(ends)
    number = _number(taken, [one for one in cases if one.query_id in taken], rule, scoring, bool(unknown))
    return Counted(number, by_question, len(unknown))


def _as_counted(row: Observation) -> Observation:
    """A row of which only the value, or that there is none, counts: labels that are not known are the same for all."""
    if row.status == "value":
        return msgspec.structs.replace(row, bounds=None)
    return msgspec.structs.replace(row, status="missing") if row.status == "undefined" else row


def _number(
    taken: dict[str, list[Observation]], cases: list[Case], rule: Choice, scoring: Scoring, unknown: bool
) -> float | None:
    every = [row for each in taken.values() for row in each]
    found = [one for one in estimate(every, cases, scoring) if one.population.slice is None]
    found = sorted((one for one in found if one.aggregation in ("macro", "micro")), key=lambda one: one.aggregation)
    if not found or found[0].value is None:
        return None
    if not unknown:
        return found[0].value
    if found[0].bounds is None:
        return None
    return found[0].bounds.low if rule.direction == "higher" else found[0].bounds.high


def _end(row: Observation, worst: float | None, rule: Choice) -> float | None:
    if row.status == "value":
        return row.value
    if row.bounds is not None:
        return row.bounds.low if rule.direction == "higher" else row.bounds.high
    return worst
