"""err(max)@k: expected reciprocal rank (Chapelle et al. 2009)."""

from __future__ import annotations

import numpy as np

from ragassay.errors import InputError, UsageError
from ragassay.measures.kernels.parts import Parts
from ragassay.measures.lists import Lists, places, summed
from ragassay.measures.spelling import Measure


def err(lists: Lists, measure: Measure) -> Parts:
    """Sum over the first k of (1 / rank) * r * product over earlier ranks of (1 - r), r = (2^grade - 1) / 2^max.

    Range [0, 1); no positive label is undefined. `max` is the rubric's greatest grade, the same for all questions.
    """
    greatest = measure.get("max")
    if greatest is None:
        raise UsageError(f"{measure} does not say the greatest grade", hint="as in err(max=3)@10; gdeval has max=4")
    top = lists.cut(measure.cutoff)
    found = top.rows(top.grade > 0)
    seen = max(lists.label_grade.max(initial=1), found.grade.max(initial=1))
    if seen > int(greatest):
        raise InputError(f"grade {seen} is above max={greatest}", hint="give the greatest grade of the rubric")
    stop = (np.exp2(found.grade) - 1.0) * 2.0 ** -float(greatest)
    goes_on = _running_product(1.0 - stop, found.query, lists.queries)
    credit = summed(found.query, stop * goes_on / found.rank, lists.queries)
    return Parts(credit, np.ones(lists.queries), lists.relevant_labels(1) == 0)


def _running_product(factors: np.ndarray, query: np.ndarray, queries: int) -> np.ndarray:
    """Product of the factors of the rows before each one in its question; 1 at the first.

    Works place by place, so that it takes as many passes as the longest list has positive rows.
    """
    place = places(query, queries)
    result = np.ones(len(query))
    order = np.argsort(place)
    ends = np.cumsum(np.bincount(place))
    for nth in range(2, len(ends)):
        rows = order[ends[nth - 1] : ends[nth]]
        result[rows] = result[rows - 1] * factors[rows - 1]
    return result
