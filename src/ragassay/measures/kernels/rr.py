"""rr(rel)@k: reciprocal rank of the first relevant item."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, least_grade
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure


def rr(lists: Lists, measure: Measure) -> Parts:
    """1 / rank of the first relevant item, 0 if none is in the first k. Range [0, 1]; R = 0 is undefined."""
    rel = least_grade(measure)
    top = lists.cut(measure.cutoff)
    found = top.rows(top.holds(rel) > 0)
    queries, first = np.unique(found.query, return_index=True)
    rank, hit = np.ones(lists.queries), np.zeros(lists.queries)
    rank[queries], hit[queries] = found.rank[first], 1.0
    return Parts(hit, rank, lists.relevant_labels(rel) == 0)
