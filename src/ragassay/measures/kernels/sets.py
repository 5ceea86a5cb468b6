"""set_precision, set_f1, set_ap: order is not read."""

from __future__ import annotations

import numpy as np

from ragassay.measures.kernels.parts import Parts, floats, least_grade
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure


def set_precision(lists: Lists, measure: Measure) -> Parts:
    """Relevant items / items retrieved. Range [0, 1]; an empty list or R = 0 is undefined. trec_eval set_P."""
    rel = least_grade(measure)
    hits, total = lists.count(lists.holds(rel) > 0), lists.relevant_labels(rel)
    reason = "nothing_relevant_or_empty_list"
    return Parts(floats(hits), floats(lists.retrieved), (lists.retrieved == 0) | (total == 0), reason)


def set_f1(lists: Lists, measure: Measure) -> Parts:
    """2 * relevant items / (items retrieved + R). Range [0, 1]; R = 0 is undefined. trec_eval set_F."""
    rel = least_grade(measure)
    hits, total = lists.count(lists.holds(rel) > 0), lists.relevant_labels(rel)
    return Parts(floats(2 * hits), floats(lists.retrieved + total), total == 0)


def set_ap(lists: Lists, measure: Measure) -> Parts:
    """Relevant items squared / (items retrieved * R). Range [0, 1]; R = 0 is undefined. trec_eval set_map."""
    rel = least_grade(measure)
    hits, total = lists.count(lists.holds(rel) > 0), lists.relevant_labels(rel)
    below = np.maximum(lists.retrieved, 1) * total
    return Parts(floats(hits * hits), floats(below), total == 0)
