"""ndcg(gain)@k: normalised discounted cumulative gain."""

from __future__ import annotations

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.kernels.parts import Parts
from ragassay.measures.lists import Floats, Ints, Lists, places, summed
from ragassay.measures.spelling import Measure

GREATEST_EXPONENT = 1000


def gains(grade: Ints, kind: str) -> Floats:
    """Gain of each grade: lin is the grade, exp is 2^grade - 1; 0 for negative grades."""
    positive = np.maximum(grade, 0).astype(np.float64)
    if kind == "lin":
        return positive
    if len(positive) and positive.max() > GREATEST_EXPONENT:
        raise InputError(
            f"grade {int(positive.max())} is too large for gain=exp",
            hint=f"2^grade - 1 needs grades up to {GREATEST_EXPONENT}; use gain=lin or smaller grades",
        )
    return np.exp2(positive) - 1.0


def ndcg(lists: Lists, measure: Measure) -> Parts:
    """DCG of the first k / DCG of the question's own labels in descending order cut at k; discount log2(rank + 1).

    Range [0, 1]; no positive label is undefined. Added in rank order and divided once, as trec_eval does.
    """
    kind, k = str(measure.get("gain")), measure.cutoff
    top = lists.cut(k)
    found = top.rows(top.grade > 0)
    terms = gains(found.grade, kind) / np.log2(found.rank + 1.0)
    dcg = summed(found.query, terms, lists.queries)
    place = places(lists.label_query, lists.queries)
    kept = lists.label_grade > 0
    if k is not None:
        kept &= place <= k
    terms = gains(lists.label_grade[kept], kind) / np.log2(place[kept] + 1.0)
    ideal = summed(lists.label_query[kept], terms, lists.queries)
    return Parts(dcg, ideal, ideal == 0)
