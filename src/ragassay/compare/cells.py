"""Observations of a score table as arrays: a question a place, its repeats averaged. Aggregates no questions."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.records.score import Status

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Key = tuple[str, str | None]
"""Measure as it is spelled, and step."""
STATUSES: tuple[Status, ...] = ("value", "error", "missing", "undefined")
"""Of a question with several repeats, the first of these that any repeat has."""
VALUE, ERROR, MISSING, UNDEFINED = range(4)
_CODES: dict[str, int] = {name: code for code, name in enumerate(STATUSES)}
_NONE = float("nan")


class _Ends(msgspec.Struct):
    low: float
    high: float


class _Row(msgspec.Struct):
    """The fields of an observation that an aggregate reads."""

    query_id: str
    measure: str
    status: str
    step: str | None = None
    target: str | None = None
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    reason: str | None = None
    bounds: _Ends | None = None


@dataclass(slots=True)
class Rows:
    """Rows of one measure at one step, a row a place. Where there is no number stands NaN; `status` says so."""

    case: array[int] = field(default_factory=lambda: array("q"))
    status: array[int] = field(default_factory=lambda: array("b"))
    numbers: array[float] = field(default_factory=lambda: array("d"))
    """value, numerator, denominator, low, high of each row."""
    reasons: dict[tuple[int, int], str] = field(default_factory=dict)
    """(question, status) -> the first reason."""

    def add(self, case: int, row: _Row) -> None:
        """Append one row of a question."""
        status = _CODES[row.status]
        self.case.append(case)
        self.status.append(status)
        low, high = (_NONE, _NONE) if row.bounds is None else (row.bounds.low, row.bounds.high)
        top = 0.0 if row.numerator is None else row.numerator
        bottom = _NONE if row.denominator is None else row.denominator
        self.numbers.extend((0.0 if row.value is None else row.value, top, bottom, low, high))
        if status != VALUE:
            self.reasons.setdefault((case, status), row.reason or row.status)


class Cells(NamedTuple):
    """One measure at one step over all questions of a benchmark; arrays of shape (questions,).

    `low` and `high`, the least and greatest that the mean over repeats could be, are NaN where the measure has no
    range or every repeat is undefined.
    """

    member: Flags
    """The question belongs to the measure's population."""
    status: NDArray[np.int8]
    value: Floats
    """Mean over the repeats that have one; 0 where none has."""
    total: Floats
    """Sum over the repeats that have a value."""
    numerator: Floats
    denominator: Floats
    low: Floats
    high: Floats
    unsure: Flags
    """Some repeat is not known for certain."""
    bottom: Floats
    """Denominator under the two parts; NaN where that of an unknown repeat is not known."""
    low_part: Floats
    high_part: Floats
    reasons: Mapping[tuple[int, int], str]
    values: tuple[Ints, Floats]
    """Every repeat that has a value: its question and the value."""
    censored: tuple[Ints, Floats]
    """Every repeat that was given up: its question and the time until then."""

    def at(self, places: Ints) -> Cells:
        """The questions at these places, in this order; what is by repeat stays as it is."""
        return Cells(
            member=self.member[places],
            status=self.status[places],
            value=self.value[places],
            total=self.total[places],
            numerator=self.numerator[places],
            denominator=self.denominator[places],
            low=self.low[places],
            high=self.high[places],
            unsure=self.unsure[places],
            bottom=self.bottom[places],
            low_part=self.low_part[places],
            high_part=self.high_part[places],
            reasons=self.reasons,
            values=self.values,
            censored=self.censored,
        )


def read_rows(lines: Iterator[bytes], places: Mapping[str, int], counted: frozenset[str]) -> dict[Key, Rows]:
    """The rows of whole questions by measure and step; measures of `counted` are left out."""
    decode = msgspec.json.Decoder(_Row).decode
    found: dict[Key, Rows] = {}
    for line in lines:
        row = decode(line)
        if row.target is not None or row.measure.partition("(")[0] in counted:
            continue
        key = row.measure, row.step
        own = found.get(key)
        if own is None:
            own = found[key] = Rows()
        own.add(places[row.query_id], row)
    return found


def collapse(rows: Rows, size: int, within: tuple[float, float] | None, *, limited: bool) -> Cells:
    """Repeats averaged inside each of `size` questions, by the rules of `ragassay.score.summary`.

    `within`: least and greatest value, where there is a greatest. `limited`: only questions with a row belong to the
    measure; of the others one without a row is missing(no_observation).
    """
    case = np.frombuffer(rows.case, np.int64) if rows.case else np.zeros(0, np.int64)
    status = np.frombuffer(rows.status, np.int8) if rows.status else np.zeros(0, np.int8)
    numbers = np.frombuffer(rows.numbers, np.float64).reshape(-1, 5) if rows.numbers else np.zeros((0, 5))
    value, top, bottom, low, high = numbers.T
    scored, live = status == VALUE, status != UNDEFINED
    counts = np.stack([_sum(case, (status == code).astype(float), size) for code in range(len(STATUSES))])
    any_row = counts.sum(axis=0) > 0
    own = np.where(any_row, (counts > 0).argmax(axis=0), MISSING).astype(np.int8)
    n, m = np.maximum(counts[VALUE], 1), np.maximum(counts[:UNDEFINED].sum(axis=0), 1)
    bounded = ~np.isnan(low)
    made = Cells(
        member=any_row if limited else np.ones(size, np.bool_),
        status=own,
        value=_sum(case[scored], value[scored], size) / n,
        total=_sum(case[scored], value[scored], size),
        numerator=_sum(case[scored], top[scored], size) / n,
        denominator=_sum(case[scored], np.nan_to_num(bottom[scored]), size) / n,
        low=np.full(size, _NONE),
        high=np.full(size, _NONE),
        unsure=_sum(case, (live & (~scored | bounded)).astype(float), size) > 0,
        bottom=_sum(case[live], bottom[live], size) / m,
        low_part=np.zeros(size),
        high_part=np.zeros(size),
        reasons=rows.reasons,
        values=(case[scored], value[scored]),
        censored=(case[(status == ERROR) & bounded], low[(status == ERROR) & bounded]),
    )
    if within is None:
        return made
    return _bound(
        made, any_row, [case[live], value[live], low[live], high[live], bottom[live]], scored[live], within, m
    )


def _bound(
    made: Cells, any_row: Flags, rows: Sequence[NDArray[np.generic]], scored: Flags, within: tuple[float, float],
    repeats: Floats,
) -> Cells:  # fmt: skip
    """With the least and greatest mean of each question, whatever its unknown repeats are."""
    case, value, low, high, bottom = rows
    size = len(made.status)
    ends = []
    for end, limit in ((low, within[0]), (high, within[1])):
        each = np.where(~np.isnan(end), end, np.where(scored, value, limit))
        mean = _sum(case, each, size) / repeats
        mean[made.status == UNDEFINED] = _NONE
        mean[~any_row] = limit
        ends.append((mean, _sum(case, each * bottom, size) / repeats))
    (least, low_part), (greatest, high_part) = ends
    bare = ~any_row
    return made._replace(
        low=least,
        high=greatest,
        unsure=made.unsure | bare,
        bottom=np.where(bare, _NONE, made.bottom),
        low_part=low_part,
        high_part=high_part,
        censored=(np.zeros(0, np.int64), np.zeros(0)),
    )


def _sum(case: NDArray[np.generic], weights: NDArray[np.generic], size: int) -> Floats:
    return np.bincount(case.astype(np.int64), weights.astype(np.float64), minlength=size).astype(np.float64)
