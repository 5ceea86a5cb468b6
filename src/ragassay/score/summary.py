"""One case under one measure: its repeats averaged, with what its unknown repeats could be. Aggregates no cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragassay.records.score import Observation, Status

_UNKNOWN: tuple[Status, ...] = ("error", "missing")


@dataclass(slots=True)
class Summary:
    """Repeats of one case. `status` is value if any repeat has one, else error before missing before undefined."""

    status: Status
    value: float = 0.0
    numerator: float = 0.0
    denominator: float = 0.0
    values: tuple[float, ...] = ()
    low: float | None = None
    """Mean over the repeats that are not undefined, each at its least; None without such a repeat or a range."""
    high: float | None = None
    low_part: float = 0.0
    high_part: float = 0.0
    bottom: float | None = None
    """Denominator under the two parts; None where that of an unknown repeat is not known."""
    over_unjudged: tuple[float, float] | None = None
    """Mean over the repeats with a value, each at its least and at its greatest if its unjudged items had grades."""
    unsure: bool = False
    """Some repeat is not known for certain."""
    unknown: Status | None = None
    """error or missing, if some repeat is; error goes first."""
    coarse: bool = False
    censored: tuple[float, ...] = ()
    """Times after which a repeat was given up."""
    reasons: Counter[str] = field(default_factory=Counter)


_NONE: Counter[str] = Counter()
"""The reasons of all that have none; never changed, and shared since there are many."""


def summarise(rows: Sequence[Observation], least: float, greatest: float | None) -> Summary:
    """The summary of the rows of one case. No rows: missing(no_observation)."""
    if not rows:
        made = Summary("missing", unsure=True, reasons=Counter({"no_observation": 1}))
        if greatest is not None:
            made.low, made.high = least, greatest
        return made
    scored = [row for row in rows if row.status == "value"]
    made = Summary(_status(rows), reasons=_NONE if len(scored) == len(rows) else Counter())
    made.unknown = next((one for one in _UNKNOWN if any(row.status == one for row in rows)), None)
    if made.reasons is not _NONE:
        made.reasons.update(row.reason or row.status for row in rows if row.status != "value")
    made.values = tuple(row.value for row in scored if row.value is not None)
    if made.values:
        made.value = _mean(made.values)
        made.numerator = _mean([row.numerator or 0.0 for row in scored])
        made.denominator = _mean([row.denominator or 0.0 for row in scored])
        made.coarse = any(row.coarse for row in scored)
        if any(row.unjudged for row in scored):
            ends = [
                (row.unjudged.low, row.unjudged.high) if row.unjudged else (row.value or 0.0,) * 2 for row in scored
            ]
            made.over_unjudged = _mean([low for low, _ in ends]), _mean([high for _, high in ends])
    made.censored = tuple(row.bounds.low for row in rows if row.status == "error" and row.bounds and greatest is None)
    if greatest is not None:
        _bound([row for row in rows if row.status != "undefined"], made, least, greatest)
    return made


def _status(rows: Sequence[Observation]) -> Status:
    found = {row.status for row in rows}
    order: tuple[Status, ...] = ("value", "error", "missing", "undefined")
    return next(one for one in order if one in found)


def _bound(rows: Sequence[Observation], made: Summary, least: float, greatest: float) -> None:
    if not rows:
        return
    ends = [_ends(row, least, greatest) for row in rows]
    made.unsure = any(row.status != "value" or row.bounds is not None for row in rows)
    made.low, made.high = _mean([low for low, _ in ends]), _mean([high for _, high in ends])
    bottoms = [row.denominator if row.whole is None else row.whole for row in rows]
    if all(one is not None for one in bottoms):
        parts = [one or 0.0 for one in bottoms]
        made.bottom = _mean(parts)
        made.low_part = _mean([low * part for (low, _), part in zip(ends, parts, strict=True)])
        made.high_part = _mean([high * part for (_, high), part in zip(ends, parts, strict=True)])


def _ends(row: Observation, least: float, greatest: float) -> tuple[float, float]:
    if row.bounds is not None:
        return row.bounds.low, row.bounds.high
    if row.status == "value" and row.value is not None:
        return row.value, row.value
    return least, greatest


def _mean(values: Sequence[float]) -> float:
    if len(values) == 1:
        return values[0]  # the same object, not an equal one: there are many
    return math.fsum(values) / len(values)
