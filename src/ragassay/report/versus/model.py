"""A comparison as plain data: everything that its page shows, once. Renders nothing and computes nothing."""

from __future__ import annotations

from typing import Literal

from ragassay.records.base import Digest
from ragassay.records.comparison import Arm, Change, Effect, Move, NewLoss, StepChange, Unpaired
from ragassay.report.model import Cut, RepeatView, Sheet, Verdict

Moved = Literal["changed", "regressed", "improved", "error", "undefined", "unjudged", "missing"]
Fate = Literal["same", "moved", "recut", "new", "gone"]
"""recut: other spans of the same document, or another version of it."""


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
    there: tuple[bool, bool]
    """Whether the trace before and the trace now have the step."""
    same: bool
    rows: tuple[Row, ...]
    rows_total: int
    asked: tuple[Cut | None, Cut | None] | None
    """The step's own query text before and now, where both have the step and they differ."""
    failed: tuple[str | None, str | None]


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
    top: Move | None
    """The largest move of a ratio: downwards if the question regressed, else upwards; absent if no ratio moved."""
    answer_differs: bool
    """The text or the outcome of an answer differs, or a failure does."""
    failed: tuple[str | None, str | None]
    """Why the question has no answer before and now: it failed, where that is known, or it has no trace."""
    lost: int
    """Facts that the context held before and does not now, over all repeats."""
    moves: tuple[Move, ...]
    """The first of a question that is shown in full, nearest to the answer before all others."""
    moves_total: int
    losses: tuple[NewLoss, ...]
    """Of a question that is shown in full."""
    pairs: tuple[Pair, ...] | None
    """Absent: this question is only a row; see `Versus.bodies`."""


class LossGroup(Sheet, frozen=True, kw_only=True):
    """Facts lost anew in one way: at the same steps, for the same cause."""

    steps: tuple[str, ...]
    """The first that lost them; empty: never found now."""
    fate: str
    moved: tuple[str, ...]
    blamed: tuple[str, ...]
    silent: bool
    failure: str | None
    """Cause of the failure in which the candidate's answers ended."""
    failed_at: str | None
    upstream_same: int
    """Of how many all that came in was the same."""
    facts: int
    questions: tuple[tuple[int, str], ...]
    """(place in `Versus.questions`, id)."""


class ChangeGroup(Sheet, frozen=True, kw_only=True):
    """How many changes an artefact has, and of how many it was declared that they may differ."""

    artefact: str
    count: int
    declared: int


class Versus(Sheet, frozen=True, kw_only=True):
    """Everything that a page of a comparison says."""

    title: str
    comparison: Digest
    baseline: Arm
    candidate: Arm
    benchmark: str
    verdict: Verdict
    caveats: tuple[str, ...]
    variation: tuple[str, ...]
    level: float
    flips: int
    slices: str
    """What slices are looked at for: must-pass, regressed, explore."""
    paired: int
    unpaired: tuple[Unpaired, ...]
    changes: tuple[Change, ...]
    artefacts: tuple[ChangeGroup, ...]
    changes_left_out: int
    steps: tuple[StepChange, ...]
    losses: tuple[LossGroup, ...]
    """The most facts first."""
    judged: dict[str, tuple[float, float]]
    weak_baseline: tuple[str, ...]
    headline: tuple[Effect, ...]
    """One row a measure and class, at the place nearest to the answer."""
    effects: tuple[Effect, ...]
    """All others: slices at that place first, then every other step."""
    questions: tuple[QuestionPair, ...]
    """Those with new losses, then regressed, improved, otherwise changed, each by size; then as in the benchmark."""
    bodies: int
    """Questions that show both answers and lists."""
    flags: dict[Moved, int]
    facts_lost: int
