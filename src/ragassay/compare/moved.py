"""Questions whose value or status differs between two arms, by measure and step. Counts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from ragassay.compare.cells import STATUSES, VALUE, Flags, Floats, Ints
from ragassay.compare.effect import apart
from ragassay.compare.effects import common_keys
from ragassay.compare.pairs import LAST_LIST, Joined, Placed, aggregation_of, joined, placed
from ragassay.compare.side import Side
from ragassay.records.comparison import Move
from ragassay.records.score import Population
from ragassay.score.answer import RUNTIME_MEASURES

MOST_OF_RUNTIME = 100
"""Of what is measured while a system runs nearly every question differs: so many of the largest each way are kept."""
Kind = Literal["improved", "regressed", "changed", "appeared", "disappeared"]


def moves(a: Side, b: Side) -> Iterator[Move]:
    """Every question that both arms were asked and that moved, by measure and step, then by id.

    A measure or step that only one arm has moves no question. Times, tokens, cost and calls: the largest
    `MOST_OF_RUNTIME` gains and losses, and every change of status.
    """
    join = joined(a, b)
    asked = (join.baseline >= 0) & (join.candidate >= 0)
    both = {*a.keys} & {*b.keys}
    for measure, step in common_keys(a, b):
        if step == LAST_LIST or (measure, step) in both:
            yield from _of_measure(a, b, join, asked, measure, step)


def _of_measure(a: Side, b: Side, join: Joined, asked: Flags, measure: str, step: str | None) -> Iterator[Move]:
    told = b.told(measure, step)
    left, right = (_everywhere(side, join, number, measure, step) for number, side in enumerate((a, b)))
    in_either = asked & (left.member | right.member)
    how = aggregation_of(b, measure, step)[0]
    ours, theirs = (_values(one, how) for one in (left, right))
    valued = in_either & (left.status == VALUE) & (right.status == VALUE)
    difference = np.zeros(len(asked))
    difference[valued] = apart(ours[valued], theirs[valued])
    moved = (difference != 0) | (in_either & (left.status != right.status))
    if measure.partition("(")[0] in RUNTIME_MEASURES:
        moved &= _largest(difference) | ~valued
    better = {"higher": 1.0, "lower": -1.0}.get(told.declared.direction if told.declared else "none", 0.0)
    for place in np.flatnonzero(moved).tolist():
        one, other = int(left.status[place]), int(right.status[place])
        change = float(difference[place]) if valued[place] else None
        yield Move(
            query_id=join.ids[place],  # type: ignore[arg-type]
            measure=measure,
            baseline_status=STATUSES[one],
            candidate_status=STATUSES[other],
            step=step,
            baseline=float(ours[place]) if one == VALUE else None,
            candidate=float(theirs[place]) if other == VALUE else None,
            difference=change,
            kind=_kind(one, other, None if change is None else change * better),
        )


def _kind(one: int, other: int, gain: float | None) -> Kind:
    if gain is None:
        return "disappeared" if one == VALUE else "appeared" if other == VALUE else "changed"
    return "improved" if gain > 0 else "regressed" if gain < 0 else "changed"


def _largest(difference: Floats) -> Flags:
    """The largest differences each way; of equal ones the first ids."""
    kept = np.zeros(len(difference), np.bool_)
    for sign in (1.0, -1.0):
        order: Ints = np.argsort(-sign * difference, kind="stable")[:MOST_OF_RUNTIME]
        kept[order[sign * difference[order] > 0]] = True
    return kept


def _everywhere(side: Side, join: Joined, number: int, measure: str, step: str | None) -> Placed:
    """The arm over all classes in which the measure is reported."""
    at = join.candidate if number else join.baseline
    cells = join.cells(bool(number), measure, step)
    every = [one for one in side.populations(measure) if one.slice is None]
    found = [placed(side, at, cells, one) for one in every]
    first = found[0] if found else placed(side, at, cells, Population(class_="answerable"))
    for one in found[1:]:
        status = np.where(one.member, one.status, first.status)
        first = Placed(cells, first.member | one.member, status)
    return first


def _values(own: Placed, how: str) -> Floats:
    """A value a question: of a ratio its own ratio."""
    cells = own.cells
    if cells is None:
        return np.zeros(len(own.status))
    if how != "micro":
        return cells.total if how == "sum" else cells.value
    bottom = cells.denominator
    return np.divide(cells.numerator, bottom, out=np.zeros(len(bottom)), where=bottom != 0)
