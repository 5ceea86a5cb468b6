"""Judges and claims as plain data. Renders and counts nothing."""

from __future__ import annotations

import msgspec

from ragassay.records.judgement import Agreement, Bias
from ragassay.records.score import Interval
from ragassay.records.trace import Cost


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """Base of these parts: frozen, every key always written."""


class Corrected(Sheet, frozen=True, kw_only=True):
    """A judge's share beside what people would have said of all, from a random sample of theirs."""

    measure: str
    class_: str
    raw: float
    """The judge's own share."""
    items: int
    """Items that the judge ruled on."""
    people: int
    """Items of the sample on which both have a verdict."""
    estimate: float
    low: float
    high: float
    method: str
    ppi: tuple[float, float, float] | None
    """Estimate, low and high by PPI++, inside of its safe region only."""


class FailureRow(Sheet, frozen=True, kw_only=True):
    """Claims of one class with one failure, by how that was told."""

    class_: str
    failure: str
    claims: int
    told_by: dict[str, int]
    lost_at: dict[str, int]
    """Step -> claims whose evidence was lost there."""


class JudgeView(Sheet, frozen=True, kw_only=True):
    """One judge of a score table."""

    name: str
    kind: str
    model: str | None
    state: str
    stopped: str | None
    threshold: float | None
    asked: int
    valued: int
    causes: dict[str, int]
    """Why items have no verdict."""
    controls: tuple[int, int] | None
    """Judged rightly, of how many; absent: none were put to it."""
    calibrated: bool
    calibration: str
    """By whom and on what, or why it is uncalibrated, as a sentence."""
    agreements: tuple[Agreement, ...]
    biases: tuple[Bias, ...]
    cost: tuple[Cost, ...]
    corrected: tuple[Corrected, ...]
    not_corrected: str | None
    """Why there is no corrected estimate."""
    failures: tuple[FailureRow, ...]
    claims: int
    """Claims of the answers that it was shown."""
    cannot_see: str
    """What judges of this kind do not see."""


class Among(Sheet, frozen=True, kw_only=True):
    """Two judges, or all of them, held against each other on the items that they have in common."""

    about: str
    judges: tuple[str, ...]
    items: int
    raw: float | None
    """Share of equal labels."""
    kappa: float | None
    kappa_interval: Interval | None
    ac1: float | None
    ac1_interval: Interval | None
    alpha: float | None
    alpha_interval: Interval | None


class ClaimVerdict(Sheet, frozen=True, kw_only=True):
    """What one judge says of one claim."""

    judge: str
    said: str
    """A label, or in brackets why there is none."""
    score: float | None
    spans: tuple[str, ...]
    rationale: str | None
    failure: str | None
    also: tuple[str, ...]
    told_by: str | None
    label: str | None
    steps: tuple[str, ...]


class ClaimView(Sheet, frozen=True, kw_only=True):
    """One claim of an answer."""

    claim_id: str
    text: str
    citations: tuple[int, ...]
    """Numbers of the citations behind it, from 1."""
    verdicts: tuple[ClaimVerdict, ...]
