"""Measures of ranked lists: many at once, or one list as another room holds it; undefined stays undefined.

It reads no file and knows no document: ranks, grades and labels come as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragassay.errors import UsageError
from ragassay.measures.kernels import KERNELS
from ragassay.measures.lists import Bools, Floats, Lists
from ragassay.measures.outcome import Outcome
from ragassay.measures.spelling import Measure, parse


@dataclass(frozen=True)
class Column:
    """One measure of many questions: arrays of shape (queries,). `value` is meaningless where `undefined`."""

    measure: Measure
    value: Floats
    numerator: Floats
    denominator: Floats
    undefined: Bools
    reason: str

    def outcome(self, question: int) -> Outcome:
        """The outcome of one question."""
        if self.undefined[question]:
            return Outcome("undefined", None, None, None, self.reason)
        return Outcome(
            "value",
            float(self.value[question]),
            float(self.numerator[question]),
            float(self.denominator[question]),
        )


def column(measure: Measure, lists: Lists) -> Column:
    """One ranked-list measure of every question of `lists`.

    In mode=trec and mode=trec10 what is natively undefined is 0, as trec_eval prints it.

    Raises:
        UsageError: the measure is not one of ranked lists, or lacks a parameter.
    """
    kernel = KERNELS.get(measure.name)
    if kernel is None:
        raise UsageError(f"{measure} is not a measure of ranked lists", hint=f"these are: {', '.join(sorted(KERNELS))}")
    if measure.get("list") == "condensed":
        lists = lists.condensed()
    parts = kernel(lists, measure)
    undefined = parts.undefined
    value = np.divide(parts.numerator, parts.denominator, out=np.zeros(lists.queries), where=parts.denominator != 0)
    if measure.get("mode") != "native":
        value = np.where(undefined, 0.0, value)
        undefined = np.zeros(lists.queries, bool)
    return Column(measure, value, parts.numerator, parts.denominator, undefined, parts.reason)


def one_list(
    measure: Measure | str,
    gains: ArrayLike,
    judged: ArrayLike,
    ideal: ArrayLike,
    *,
    held: ArrayLike | None = None,
) -> Outcome:
    """One measure of one ranked list, duplicates already removed.

    Args:
        measure: a measure of ranked lists; its `rel` must be set (`Measure.with_rel`).
        gains: shape (n,), whole numbers: the grade newly held at each rank, 0 where nothing new is held. For
            `harmful`: 1 where the item is harmful. Negative: pooled, not judged.
        judged: shape (n,), booleans: whether the item at each rank has a judgement. A positive gain is judged.
        ideal: all grades of the question's labels, in any order, with those of 0 and below.
        held: shape (n,): how many distinct relevant pieces of evidence each rank is the first to hold, where
            one item may hold several; absent, a gain of `rel` or more holds one.

    Returns:
        value with numerator and denominator, or undefined(nothing_relevant) / undefined(empty_list).

    Example:
        >>> one_list("recall(rel=2)@2", [3, 0, 2], [True, False, True], [3, 2, 2, 1])
        Outcome(status='value', value=0.3333333333333333, numerator=1.0, denominator=3.0, reason='')
    """
    spelled = parse(measure) if isinstance(measure, str) else measure
    return column(spelled, single(gains, judged, ideal, held)).outcome(0)


def single(gains: ArrayLike, judged: ArrayLike, ideal: ArrayLike, held: ArrayLike | None = None) -> Lists:
    """One ranked list as kernels read it, of what `one_list` takes; ValueError where shapes or types do not fit."""
    grade = whole(gains, "gains")
    known = np.asarray(judged, dtype=bool)
    labels = np.sort(whole(ideal, "ideal"))[::-1]
    if known.shape != grade.shape:
        raise ValueError(f"gains has shape {grade.shape}, judged has shape {known.shape}")
    known = known | (grade != 0)
    counts = None if held is None else whole(held, "held")
    if counts is not None:
        if counts.shape != grade.shape:
            raise ValueError(f"gains has shape {grade.shape}, held has shape {counts.shape}")
        known |= counts > 0
    rank = np.flatnonzero(known)
    return Lists(
        queries=1,
        retrieved=np.array([len(grade)]),
        query=np.zeros(len(rank), np.int64),
        rank=rank + 1,
        grade=grade[rank],
        label_query=np.zeros(len(labels), np.int64),
        label_grade=labels,
        held=None if counts is None else counts[rank],
    )


def whole(values: ArrayLike, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """A one-dimensional array of whole numbers; anything else is a ValueError that names the argument."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in {"b", "u", "i"} and not (array.dtype.kind == "f" and np.all(array == np.floor(array))):
        raise ValueError(f"{name} must hold whole numbers, got dtype {array.dtype}")
    return array.astype(np.int64)
