"""ap(rel)@k: average precision."""

from __future__ import annotations

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists, places, summed
from ragassay.measures.spelling import Measure


def ap(lists: Lists, measure: Measure) -> Parts:
    """Sum over relevant items in the first k of (relevant so far / rank), / R; the divisor is R also with a cut-off.

    Range [0, 1]; R = 0 is undefined. Added in rank order, as trec_eval map and map_cut_k do.
    An item that is the first to hold several pieces of evidence counts its precision for each.
    """
    rel = least_grade(measure)
    top = lists.cut(measure.cutoff)
    found = top.rows(top.holds(rel) > 0)
    at_rank = places(found.query, lists.queries) / found.rank
    if found.held is not None:
        at_rank = at_rank * found.held
    total = lists.relevant_labels(rel)
    credit = summed(found.query, at_rank, lists.queries)
    return Parts(credit, floats(total), total == 0)
