"""hit(rel)@k: does any of the first k items hold relevant evidence."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure


def hit(lists: Lists, measure: Measure) -> Parts:
    """1 if any relevant item is among the first k, else 0; R = 0 is undefined. trec_eval success_k."""
    rel = least_grade(measure)
    top = lists.cut(measure.cutoff)
    found = top.count(top.holds(rel) > 0)
    return Parts(floats(found > 0), np.ones(lists.queries), lists.relevant_labels(rel) == 0)
