"""What a measure says of one question: a value, or why there is none. It computes no value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Status = Literal["value", "undefined", "missing", "error"]


class Outcome(NamedTuple):
    """One measure of one question. `value` is None unless status is *value*; then it is numerator / denominator."""

    status: Status
    value: float | None
    numerator: float | None
    denominator: float | None
    reason: str = ""


NO_REFERENCE = Outcome("missing", None, None, None, "no_reference")


def best_of(outcomes: Iterable[Outcome]) -> Outcome:
    """Of an answer's outcomes against its references the greatest, the first of equals; NO_REFERENCE of none."""
    return max(outcomes, key=lambda one: one.value or 0.0, default=NO_REFERENCE)
