"""What a check says of a claim: which one, how strongly, where and why. Checks nothing."""

from __future__ import annotations

from typing import Literal, NamedTuple

CheckName = Literal["number", "date", "name", "negation", "opposite", "role", "scope"]


class Finding(NamedTuple):
    """`contradicts` False: the claim is merely not borne out. Strength 0 to 1; the span is of the text shown."""

    check: CheckName
    contradicts: bool
    strength: float
    why: str
    sentence: int
    start: int
    end: int
