"""bpref(rel): preference of relevant over judged non-relevant items (Buckley and Voorhees 2004)."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists, running, summed
from ragassay.measures.spelling import Measure


def bpref(lists: Lists, measure: Measure) -> Parts:
    """Mean over R of 1 - min(c, R) / min(N, R), c = judged non-relevant items above; unjudged ones are skipped.

    Range [0, 1]; R = 0 is undefined. The min(N, R) form of trec_eval; the often printed one with R alone is
    another for N < R.
    """
    rel = least_grade(measure)
    known = lists.rows(lists.judged)
    good = known.grade >= rel
    above = running(~good, known.query, lists.queries)[good]
    query = known.query[good]
    total, other = lists.relevant_labels(rel), lists.other_labels(rel)
    capped = np.minimum(above, total[query])
    least = np.maximum(np.minimum(other, total), 1)[query]
    terms = np.where(above > 0, 1.0 - capped / least, 1.0)
    credit = summed(query, terms, lists.queries)
    return Parts(credit, floats(total), total == 0)
