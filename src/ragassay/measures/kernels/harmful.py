"""harmful@k: share of the first k items that hold contradicting, stale or superseded evidence."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure


def harmful(lists: Lists, measure: Measure) -> Parts:
    """Rows with a positive grade, which here marks a harmful item, in the first k / items retrieved there.

    Range [0, 1], lower is better; an empty list is undefined(empty_list).
    """
    top = lists.cut(measure.cutoff)
    bad = top.count(top.grade > 0)
    read = lists.retrieved if measure.cutoff is None else np.minimum(lists.retrieved, measure.cutoff)
    return Parts(floats(bad), floats(read), read == 0, "empty_list")
