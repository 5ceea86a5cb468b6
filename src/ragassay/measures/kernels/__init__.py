"""One small file a measure: pure functions from `Lists` to numerators and denominators, question by question.

No kernel decides what an undefined value means; `measures.ranking` does that by the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragassay.measures.kernels.ap import ap
from ragassay.measures.kernels.bpref import bpref
from ragassay.measures.kernels.err import err
from ragassay.measures.kernels.harmful import harmful
from ragassay.measures.kernels.hit import hit
from ragassay.measures.kernels.infap import infap
from ragassay.measures.kernels.judged import judged
from ragassay.measures.kernels.ndcg import ndcg
from ragassay.measures.kernels.parts import Parts
from ragassay.measures.kernels.precision import precision
from ragassay.measures.kernels.r_precision import r_precision
from ragassay.measures.kernels.rbp import rbp, rbp_residual
from ragassay.measures.kernels.recall import recall
from ragassay.measures.kernels.rr import rr
from ragassay.measures.kernels.sets import set_ap, set_f1, set_precision
from ragassay.measures.lists import Lists
from ragassay.measures.spelling import Measure

KERNELS: Mapping[str, Callable[[Lists, Measure], Parts]] = {
    "ap": ap,
    "bpref": bpref,
    "err": err,
    "harmful": harmful,
    "hit": hit,
    "infap": infap,
    "judged": judged,
    "ndcg": ndcg,
    "precision": precision,
    "r_precision": r_precision,
    "rbp": rbp,
    "rbp_residual": rbp_residual,
    "recall": recall,
    "rr": rr,
    "set_ap": set_ap,
    "set_f1": set_f1,
    "set_precision": set_precision,
}

__all__ = ["KERNELS", "Parts"]
