"""What a kernel hands back, and how it reads its parameters; it holds no measure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.errors import UsageError
from ragassay.measures.lists import Bools, Floats
from ragassay.measures.spelling import Measure


class Parts(NamedTuple):
    """Numerator and denominator of each question; the value is their quotient unless the question is undefined."""

    numerator: Floats
    denominator: Floats
    undefined: Bools
    """True where there is nothing to divide by or nothing to find."""
    reason: str = "nothing_relevant"


def floats(values: np.ndarray) -> Floats:
    """The same numbers as doubles."""
    return values.astype(np.float64)


def least_grade(measure: Measure) -> int:
    """`rel` of a measure; an error when neither the spelling nor the benchmark said it."""
    rel = measure.get("rel")
    if rel is None:
        raise UsageError(
            f"{measure} does not say which grades are relevant",
            hint=f"spell it {measure.with_rel(1)} or {measure.with_rel(2)}",
        )
    return int(rel)
