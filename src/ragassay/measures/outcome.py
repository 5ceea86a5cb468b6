"""What a measure says of one question: a value, or why there is none. It computes nothing."""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal["value", "undefined", "missing", "error"]


class Outcome(NamedTuple):
    """One measure of one question. `value` is None unless status is *value*; then it is numerator / denominator."""

    status: Status
    value: float | None
    numerator: float | None
    denominator: float | None
    reason: str = ""
