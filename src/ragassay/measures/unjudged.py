"""What the measures of a whole run could be if every unjudged item had a grade; question by question and averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.measures.bounds import CERTAIN, Bounds, bounds, mean_over_unjudged
from ragassay.measures.lists import Bools, Floats, Lists
from ragassay.measures.ranking import Column
from ragassay.measures.spelling import Measure
from ragassay.stats.mean import mean

_ROUNDING = 1e-12
"""Bounds that differ from the value by no more than this are the value: the sums were added in another order."""


class OverUnjudged(NamedTuple):
    """One measure of a run, whatever grades from 0 to `top` its unjudged items have."""

    measure: Measure
    top: int
    low: float | None
    high: float | None
    """Of the mean; both None where no completion gives a question a value."""
    questions: int
    """Questions with unjudged items in their lists."""
    items: int
    """Unjudged items of all lists."""
    each: tuple[Bounds, ...]
    """Of every question, in the order of the questions; both ends None where it is missing or always undefined."""


def over_unjudged(column: Column, lists: Lists, present: Bools, top: int | None = None) -> OverUnjudged:
    """Exact bounds of one measure over all grades of the unjudged items that were retrieved.

    Args:
        column: the measure's values.
        lists: the lists that it was taken of.
        present: questions that are not missing; the others stay out of the mean, as they do of its value.
        top: the rubric's greatest grade; else `max` of the measure, else the greatest grade among the judgements
            (1 at least).

    The labels, and with them R and the ideal order, grow by what the unjudged turn out to be. A question with nothing
    relevant counts in the mean only in the completions that give it something. In mode=trec it counts as 0.
    """
    measure = column.measure
    greatest = top or int(measure.get("max") or max(1, int(lists.label_grade.max(initial=1))))
    open_items = (lists.retrieved - lists.count(lists.judged)) * present
    scored = present & ~column.undefined
    each = []
    for at in range(lists.queries):
        known = float(column.value[at]) if scored[at] else None
        if not present[at]:
            each.append(Bounds(None, None))
        elif open_items[at] == 0 or measure.name in CERTAIN:
            each.append(Bounds(known, known))
        else:
            each.append(_one(measure, lists, at, greatest, known))
    found = mean_over_unjudged(each, scored)
    average = mean(column.value[scored].tolist())
    return OverUnjudged(
        measure,
        greatest,
        _snapped(found.low, average),
        _snapped(found.high, average),
        int(np.count_nonzero(open_items)),
        int(open_items.sum()),
        tuple(each),
    )


def _one(measure: Measure, lists: Lists, question: int, greatest: int, known: float | None) -> Bounds:
    found = bounds(measure, lists, question, greatest)
    if measure.get("mode") != "native" and not np.any(_labels(lists, question) >= int(measure.get("rel") or 1)):
        return Bounds(0.0, found.high or 0.0)  # all that is unjudged may be 0, and then trec_eval says 0
    return Bounds(_snapped(found.low, known), _snapped(found.high, known))


def _labels(lists: Lists, question: int) -> Floats:
    first, end = np.searchsorted(lists.label_query, (question, question + 1))
    return lists.label_grade[first:end].astype(np.float64)


def _snapped(end: float | None, known: float | None) -> float | None:
    return known if end is not None and known is not None and abs(end - known) <= _ROUNDING else end
