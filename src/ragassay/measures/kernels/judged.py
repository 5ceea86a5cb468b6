"""judged(over)@k: share of the first k items that have a judgement."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure


def judged(lists: Lists, measure: Measure) -> Parts:
    """Items with grade >= 0 in the first k, over k; or over the items retrieved there (over=retrieved, or no k).

    Range [0, 1]; an empty list is undefined(empty_list) where its length is the divisor.
    """
    top = lists.cut(measure.cutoff)
    known = top.count(top.judged)
    if measure.cutoff is None:
        below = lists.retrieved
    elif measure.get("over") == "retrieved":
        below = np.minimum(lists.retrieved, measure.cutoff)
    else:
        below = np.full(lists.queries, measure.cutoff)
    return Parts(floats(known), floats(below), below == 0, "empty_list")
