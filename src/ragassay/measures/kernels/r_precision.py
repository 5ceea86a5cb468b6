"""r_precision(rel): precision at rank R, the number of relevant labels."""

from __future__ import annotations

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists, summed
from ragassay.measures.spelling import Measure


def r_precision(lists: Lists, measure: Measure) -> Parts:
    """Relevant evidence held by the first R items / R. Range [0, 1]; R = 0 is undefined. trec_eval Rprec."""
    rel = least_grade(measure)
    total = lists.relevant_labels(rel)
    top = lists.rows(lists.rank <= total[lists.query])
    held = summed(top.query, top.holds(rel), lists.queries)
    return Parts(held, floats(total), total == 0)
