"""rbp(p)@k and its residual: rank-biased precision (Moffat and Zobel 2008)."""

from __future__ import annotations

import numpy as np

from ragassay.errors import InputError, UsageError
from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Floats, Lists, summed
from ragassay.measures.spelling import Measure


def persistence(measure: Measure) -> float:
    """p of a measure; an error when its spelling does not say it."""
    p = measure.get("p")
    if p is None:
        raise UsageError(f"{measure} does not say its persistence", hint=f"as in {measure.name}(p=0.8)")
    return float(p)


def share_of_greatest(lists: Lists, greatest: int) -> Floats:
    """grade / greatest of each row, 0 for negative ones; an error when a grade is above it."""
    top = max(lists.label_grade.max(initial=1), lists.grade.max(initial=1))
    if top > greatest:
        raise InputError(f"grade {top} is above max={greatest}", hint="give the greatest grade of the rubric")
    return np.maximum(lists.grade, 0) / greatest


def rbp(lists: Lists, measure: Measure) -> Parts:
    """(1 - p) * sum over the first k of relevance * p^(rank - 1); with `max`, relevance is grade / max.

    Range [0, 1]; R = 0 is undefined. Read it with rbp_residual: value + residual is its upper end.
    """
    p, greatest = persistence(measure), measure.get("max")
    top = lists.cut(measure.cutoff)
    if greatest is None:
        rel = least_grade(measure)
        worth, total = floats(top.holds(rel) > 0), lists.relevant_labels(rel)
    else:
        worth, total = share_of_greatest(top, int(greatest)), lists.relevant_labels(1)
    terms = worth * p ** (top.rank - 1.0)
    credit = summed(top.query, terms, lists.queries)
    return Parts((1.0 - p) * credit, np.ones(lists.queries), total == 0)


def rbp_residual(lists: Lists, measure: Measure) -> Parts:
    """p^n + (1 - p) * sum over unjudged ranks of p^(rank - 1), n = ranks read; in [0, 1], never undefined.

    The sum over unjudged ranks is the geometric sum over all ranks less that over the judged ones.
    """
    p = persistence(measure)
    top = lists.cut(measure.cutoff)
    known = top.rows(top.judged)
    weights = p ** (known.rank - 1.0)
    credit = summed(known.query, weights, lists.queries)
    unknown = np.maximum(1.0 - (1.0 - p) * credit, 0.0)
    return Parts(unknown, np.ones(lists.queries), np.zeros(lists.queries, bool))
