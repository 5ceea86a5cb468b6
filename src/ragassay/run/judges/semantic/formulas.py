"""Cosine of sentences and BERTScore over token vectors: formulas only. Says nothing of support."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BertScore(NamedTuple):
    """Precision, recall, F1; -1 to 1, higher is nearer."""

    precision: float
    recall: float
    f1: float


def bertscore(candidate: NDArray[np.float32], reference: NDArray[np.float32]) -> BertScore | None:
    """Zhang et al., BERTScore (2020), without idf and rescaling; None where either has no tokens.

    Args:
        candidate: (tokens, dimensions), rows of unit length.
        reference: the same of the other text.

    Recall is the mean over the reference's tokens of the greatest product with a token of the candidate, precision the
    mean over the candidate's; F1 is their harmonic mean, 0 where they sum to 0 or less.
    """
    import numpy as np

    if not len(candidate) or not len(reference):
        return None
    products = candidate.astype(np.float64) @ reference.astype(np.float64).T
    precision, recall = float(products.max(axis=1).mean()), float(products.max(axis=0).mean())
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The product of two unit vectors, -1 to 1; 0 where a text has nothing to embed."""
    import numpy as np

    return float((one.astype(np.float64) * other.astype(np.float64)).sum())
