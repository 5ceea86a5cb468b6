"""p-values corrected for a family of hypotheses: Holm, and Benjamini and Hochberg. Decides nothing; flips no sign.

Which one a family needs follows from the question. *All of these must pass*: none, each is held at its own level (an
intersection-union test, Berger 1982). *Has any of these regressed?*: Holm. *Which of these are worth a look?*: BH.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def holm(p: ArrayLike) -> Floats:
    """Adjusted p-values of Holm's step-down test (1979): keeps the chance of any false rejection, under any dependence.

    The i-th smallest of m becomes max over j <= i of (m - j + 1) p_(j), at most 1. Rejecting where the adjusted value
    is at most alpha is Holm's test at alpha.

    Args:
        p: shape (m,), each in [0, 1]; m = 0 gives an empty array.

    Returns:
        Shape (m,), in the order given; equal p-values stay equal; never below what was given.

    Raises:
        ValueError: not one row, or a value outside of [0, 1].
    """
    given = _checked(p)
    m = len(given)
    order = np.argsort(given, kind="stable")
    stepped = np.minimum(np.maximum.accumulate((m - np.arange(m)) * given[order]), 1.0)
    return _back(order, stepped)


def bh(p: ArrayLike) -> Floats:
    """Adjusted p-values of Benjamini and Hochberg's step-up test (1995): keeps the expected share of false rejections.

    The i-th smallest of m becomes min over j >= i of m p_(j) / j. Holds for independent tests and for positive
    dependence, as that of slices which share questions.

    Args, returns and errors are those of `holm`.
    """
    given = _checked(p)
    m = len(given)
    order = np.argsort(given, kind="stable")
    scaled = given[order] * m / np.arange(1, m + 1)
    return _back(order, np.minimum.accumulate(scaled[::-1])[::-1])


def _checked(p: ArrayLike) -> Floats:
    given = np.asarray(p, np.float64)
    if given.ndim != 1:
        raise ValueError(f"p-values must have shape (m,), got {given.shape}")
    if not np.all((given >= 0) & (given <= 1)):
        raise ValueError("p-values must lie between 0 and 1: leave out tests that were not made")
    return given


def _back(order: NDArray[np.intp], values: Floats) -> Floats:
    made = np.empty_like(values)
    made[order] = values
    return made
