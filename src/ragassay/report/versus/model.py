"""A comparison as plain data: everything that its page shows, once. Renders nothing and computes nothing."""

from __future__ import annotations

from typing import Literal

from ragassay.records.base import Digest
from ragassay.records.comparison import Arm, Change, Effect, Move, NewLoss, StepChange, Unpaired
from ragassay.report.model import Cut, RepeatView, Sheet, Verdict

Moved = Literal["changed", "regressed", "improved", "error", "undefined", "unjudged"]
Fate = Literal["same", "moved", "new", "gone"]


class Piece(Sheet, frozen=True, kw_only=True):
    """A stretch of two texts: in both, only in the baseline's, or only in the candidate's."""

    kind: Literal["same", "gone", "new"]
    text: str


class Row(Sheet, frozen=True, kw_only=True):
    """One item of a step's list on either side, by rank."""

    fate: Fate
    label: str
    before: int | None
    after: int | None
    holds: bool


class StepPair(Sheet, frozen=True, kw_only=True):
    """One step of both traces: what became of its items."""

    name: str
    kind: str
    before: int | None
    """Items; absent: the step did not say, or is not in this trace."""
    after: int | None
    same: bool
    rows: tuple[Row, ...]
    rows_total: int


class Pair(Sheet, frozen=True, kw_only=True):
    """One repeat of a question on both sides; a side without a trace is absent."""

    repeat: int
    before: RepeatView | None
    after: RepeatView | None
    pieces: tuple[Piece, ...]
    """Of the shown answers; empty where a side has none, or where they are too long to be compared word by word."""
    steps: tuple[StepPair, ...]


class QuestionPair(Sheet, frozen=True, kw_only=True):
    """One question on both sides."""

    query_id: str
    query: Cut
    class_: str
    language: str
    slices: tuple[str, ...]
    risk: str | None
    flags: tuple[Moved, ...]
    moves: tuple[Move, ...]
    losses: tuple[NewLoss, ...]
    pairs: tuple[Pair, ...] | None
    """Absent: this question is only a row; see `Versus.bodies`."""


class Versus(Sheet, frozen=True, kw_only=True):
    """Everything that a page of a comparison says."""

    title: str
    comparison: Digest
    baseline: Arm
    candidate: Arm
    benchmark: str
    verdict: Verdict
    variation: tuple[str, ...]
    level: float
    flips: int
    paired: int
    unpaired: tuple[Unpaired, ...]
    changes: tuple[Change, ...]
    changes_left_out: int
    steps: tuple[StepChange, ...]
    judged: dict[str, tuple[float, float]]
    weak_baseline: tuple[str, ...]
    headline: tuple[Effect, ...]
    """One row a measure and class, at the place nearest to the answer."""
    effects: tuple[Effect, ...]
    """All others: every step and slice."""
    questions: tuple[QuestionPair, ...]
    """The changed ones first: new losses, then by the largest difference; the others as in the benchmark."""
    bodies: int
    """Questions that show both answers and lists."""
    flags: dict[Moved, int]
