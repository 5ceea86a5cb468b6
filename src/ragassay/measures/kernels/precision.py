"""precision(rel)@k: relevant items among the first k, divided by k."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure


def precision(lists: Lists, measure: Measure) -> Parts:
    """Relevant items in the first k / k, also for a shorter list. Range [0, 1]; R = 0 is undefined. trec_eval P_k."""
    rel, k = least_grade(measure), measure.cutoff or 1
    top = lists.cut(k)
    hits = top.count(top.holds(rel) > 0)
    return Parts(floats(hits), np.full(lists.queries, float(k)), lists.relevant_labels(rel) == 0)
