"""infap(rel): inferred average precision from sampled judgements (Yilmaz and Aslam 2006)."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists, running, summed
from ragassay.measures.spelling import Measure

EPSILON = 0.00001


def infap(lists: Lists, measure: Measure) -> Parts:
    """Mean over R of 1/i + ((i-1)/i) * (pooled/(i-1)) * ((r+eps) / (r+m+2 eps)) at each relevant rank i; 1 at i = 1.

    r and m are the judged relevant and non-relevant items above, pooled is r + m + the negative grades above.
    Range [0, 1]; R = 0 is undefined. trec_eval infAP.
    """
    rel = least_grade(measure)
    good = lists.grade >= rel
    above = running(good, lists.query, lists.queries)[good] - 1
    poor = running(lists.judged & ~good, lists.query, lists.queries)[good]
    pooled = running(np.ones(len(good), bool), lists.query, lists.queries)[good] - 1
    query, rank = lists.query[good], lists.rank[good].astype(np.float64)
    before = np.maximum(rank - 1.0, 1.0)
    share = (above + EPSILON) / (above + poor + 2 * EPSILON)
    terms = np.where(rank == 1, 1.0, 1.0 / rank + ((rank - 1.0) / rank) * (pooled / before) * share)
    total = lists.relevant_labels(rel)
    credit = summed(query, terms, lists.queries)
    return Parts(credit, floats(total), total == 0)
