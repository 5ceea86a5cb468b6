"""Observations, estimates, survival and the score table that holds them. Computes nothing."""

from __future__ import annotations

from typing import Literal

import msgspec

from ragassay.records.base import Digest, QueryId, Record, require
from ragassay.records.document import Count, Name

Status = Literal["value", "undefined", "missing", "error"]
FIGURES = frozenset({"macro", "micro", "set"})
"""Aggregations that are one figure of a population, not a place in its distribution."""


class Bounds(Record, frozen=True, kw_only=True):
    """What a number could be at the least and at the most, given what is not known."""

    low: float
    high: float

    def __post_init__(self) -> None:
        require(self.low <= self.high, "low must not be above high")


def _check_status(status: Status, value: float | None, reason: str | None) -> None:
    require((status == "value") == (value is not None), "a value stands exactly where status is value")
    require((status == "value") == (reason is None), "a reason stands exactly where there is no value")


class Observation(Record, frozen=True, kw_only=True):
    """One measure of one question at one step: value, undefined(reason), missing(reason) or error(cause)."""

    query_id: QueryId
    repeat: Count
    measure: Name
    status: Status
    step: Name | None = None
    """The step's name, `context`, or absent for what concerns the whole question."""
    target: Name | None = None
    """Fact, claim or citation id."""
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    whole: float | None = None
    """What the denominator would be if no part of it were missing; absent: it is the denominator."""
    reason: str | None = None
    bounds: Bounds | None = None
    unjudged: Bounds | None = None
    """What the value could be if every unjudged item that the measure reads had a grade; absent: none is unjudged."""
    evidence_ref: Digest | None = None
    coarse: bool = False
    """A document-level label took part."""
    inferred: bool = False
    """The step's parents were inferred."""
    principal: str | None = None
    turn: Count | None = None

    def __post_init__(self) -> None:
        _check_status(self.status, self.value, self.reason)


PopulationClass = Literal[
    "answerable", "unanswerable", "multi_hop", "adversarial", "cross_tenant", "answerability"
]  # fmt: skip
"""A class of cases; or *answerability*: questions that may be answered against those that may not, of whatever class,
for what tells the two apart. It is a comparison of two groups, never a mean over both."""
CLASS_ORDER: tuple[PopulationClass, ...] = (
    "answerable", "multi_hop", "unanswerable", "adversarial", "cross_tenant", "answerability"
)  # fmt: skip
"""In which populations are listed."""


class Population(Record, frozen=True, kw_only=True):
    """Which questions a number is about. Different populations are never pooled."""

    class_: PopulationClass = msgspec.field(name="class")
    slice: Name | None = None

    def __str__(self) -> str:
        return self.class_ if self.slice is None else f"{self.class_}, {self.slice}"


class Interval(Record, frozen=True, kw_only=True):
    """A confidence interval and how it was made."""

    low: float
    high: float
    level: float
    method: Name
    clusters: Count


class Estimate(Record, frozen=True, kw_only=True):
    """One aggregate over one population, with all that it rests on."""

    measure: Name
    population: Population
    aggregation: Literal["macro", "micro", "median", "p95", "p99", "sum", "set"]
    """*set*: a figure of all questions of the population together, such as an area under a curve; no mean over them."""
    status: Status
    attempted: Count
    scored: Count
    undefined: Count
    missing: Count
    error: Count
    step: Name | None = None
    value: float | None = None
    reason: str | None = None
    numerator: float | None = None
    denominator: float | None = None
    interval: Interval | None = None
    bounds: Bounds | None = None
    unjudged: Bounds | None = None
    """Of the mean over the scored questions, if every unjudged item that the measure reads had a grade, from 0 to the
    rubric's greatest; absent: none is unjudged."""
    reasons: dict[str, int] = {}
    """How many questions had which reason for no value."""
    coarse: Count | None = None
    """How many of the scored rest on document-level labels."""
    unit: str | None = None

    def __post_init__(self) -> None:
        _check_status(self.status, self.value, self.reason)
        total = self.scored + self.undefined + self.missing + self.error
        require(self.attempted == total, f"attempted is {self.attempted}, the four counts add up to {total}")
        require(self.status != "value" or self.scored > 0, "a value needs at least one scored question")


Fate = Literal["held", "lost_whole", "lost_in_parts", "never_found", "between", "unknown"]


class FactFate(Record, frozen=True, kw_only=True):
    """What became of one fact on its way to the context."""

    query_id: QueryId
    repeat: Count
    fact_id: Name
    required: bool
    fate: Fate
    steps: tuple[str, ...] = ()
    """Where it was lost: one step, several at once (joint), or the two ends of *between*."""
    found_at: tuple[str, ...] = ()
    """Source steps that had it whole."""
    inferred: bool = False


FailureKind = Literal[
    "not_authorised", "contradicted", "stale_authority", "lost_before_context", "not_retrieved", "not_in_context",
    "in_context_not_used", "cited_outside_context", "cited_not_entailing", "uncited", "untold",
]  # fmt: skip
"""What is wrong with a claim, worst first. not_in_context: nothing in the context supports it, and no label says where
its evidence is; untold: nothing tells."""


class ClaimFailure(Record, frozen=True, kw_only=True):
    """A claim that is not as it should be, by one judge: what is wrong, and how that was told."""

    query_id: QueryId
    repeat: Count
    judge: Name
    """As measures say it: `by=NAME`."""
    claim_id: Name
    failure: FailureKind
    told_by: Literal["labels", "judge", "citations", "documents"]
    """labels: the case's facts or evidence; judge: its verdict and spans; citations: what the answer cites; documents:
    their dates and access."""
    also: tuple[FailureKind, ...] = ()
    """What else is wrong with it."""
    label: Name | None = None
    """Fact or evidence id that the claim was taken to be about."""
    steps: tuple[str, ...] = ()
    """Where that was lost."""
    citations: tuple[Count, ...] = ()
    """Places of the citations that are wrong."""


class SurvivalRow(Record, frozen=True, kw_only=True):
    """Facts of one population at one step: how many its output holds, and how many were lost there."""

    population: Population
    step: Name
    kind: Name
    order: Count
    facts: Count
    held: Count
    not_held: Count
    unknown: Count
    absent: Count
    """Facts of traces that do not have this step."""
    lost_whole: Count
    lost_in_parts: Count
    joint: dict[str, int] = {}
    """Other step -> how many facts were lost at both at once."""
    inferred: Count | None = None


class ScoreTable(Record, frozen=True, kw_only=True):
    """A run under a scoring layer. `content` covers all but the runtime observations."""

    run: Digest
    """`Run.identity()`: the same for an identical rerun."""
    run_record: Digest
    """The record of the very run whose measurements `runtime` holds."""
    scoring: Digest
    content: Digest
    observations: Digest
    """Blob: JSON lines of Observation (zstd), all but runtime."""
    runtime: Digest
    """Blob: JSON lines of Observation (zstd), runtime only."""
    estimates: Digest
    """Blob: JSON lines of Estimate (zstd)."""
    fates: Digest
    """Blob: JSON lines of FactFate (zstd)."""
    survival: Digest
    """Blob: JSON lines of SurvivalRow (zstd)."""
    questions: Count
    failures: Digest | None = None
    """Blob: JSON lines of ClaimFailure (zstd); absent where no judge was read."""
    judged: dict[str, Digest] = {}
    """Judge, as `by=NAME` says it -> record of the JudgementSet that was read."""
    calibrations: dict[str, Digest] = {}
    """Judge -> Calibration of that very identity, where there was one; no other judge satisfies a rule."""
