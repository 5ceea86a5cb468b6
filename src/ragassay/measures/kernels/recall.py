"""recall(rel)@k: share of the relevant evidence that the first k items hold."""

from __future__ import annotations

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists, summed
from ragassay.measures.spelling import Measure


def recall(lists: Lists, measure: Measure) -> Parts:
    """Relevant evidence held by the first k items / R. Range [0, 1]; R = 0 is undefined. trec_eval recall_k."""
    rel = least_grade(measure)
    top = lists.cut(measure.cutoff)
    held = summed(top.query, top.holds(rel), lists.queries)
    total = lists.relevant_labels(rel)
    return Parts(held, floats(total), total == 0)
