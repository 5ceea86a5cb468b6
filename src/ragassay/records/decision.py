"""What a gate decided, on which numbers; reviews by people, and the verdict of each question. Decides nothing."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ragassay.records.base import Digest, Instant, QueryId, Record, require
from ragassay.records.case import CaseClass
from ragassay.records.comparison import Arm, Artefact
from ragassay.records.document import Count, Name
from ragassay.records.policy import OnFail, Risk
from ragassay.records.probe import Standing
from ragassay.records.score import Population

Result = Literal["pass", "fail", "review", "inconclusive"]
Kind = Literal[
    "floor", "ceiling", "margin", "zero", "must_hold", "budget", "verdicts", "refusal", "reviewed", "recorded",
    "probe", "evidence",
]  # fmt: skip
"""The first eleven are rules of the policy; evidence is what must be so for any rule to be read at all."""


class RuleResult(Record, frozen=True, kw_only=True):
    """One rule over one population: how it ended, and every number that this rests on.

    attempted = scored + undefined + missing + error, in questions, or in probes where `kind` is probe (undefined:
    without power; missing: not evaluable). A floor passes if `bound` is at least `threshold`,
    and fails if `optimistic` is below it; a ceiling the other way round; a margin passes if `bound`, of candidate less
    baseline in the better direction, is above `threshold`, which is the margin's negative.
    """

    rule: Name
    kind: Kind
    on_fail: OnFail
    result: Result
    told: str
    """The result in a sentence."""
    reasons: tuple[Name, ...] = ()
    """Codes of why it is not pass."""
    measure: Name | None = None
    population: Population | None = None
    """Absent: all questions, or those that the rule names."""
    step: Name | None = None
    value: float | None = None
    baseline: float | None = None
    bound: float | None = None
    """The pessimistic end: a one-sided bound, what is missing or failed at its worst."""
    optimistic: float | None = None
    """The other one-sided bound, what is missing or failed at its best."""
    threshold: float | None = None
    method: Name | None = None
    attempted: Count | None = None
    scored: Count | None = None
    undefined: Count | None = None
    missing: Count | None = None
    error: Count | None = None
    clusters: Count | None = None
    needed: Count | None = None
    """About so many independent questions would decide, if what was seen stays as it is."""
    detectable: float | None = None
    """How far from the threshold a value would have to be in order to be told from it here."""
    questions: tuple[QueryId, ...] = ()
    """The first 20 that are against it."""

    def __post_init__(self) -> None:
        require((self.result == "pass") == (not self.reasons), "reasons stand exactly where the result is not pass")
        if self.attempted is not None:
            total = (self.scored or 0) + (self.undefined or 0) + (self.missing or 0) + (self.error or 0)
            require(self.attempted == total, f"attempted is {self.attempted}, the four counts add up to {total}")


class VerdictShare(Record, frozen=True, kw_only=True):
    """Verdicts of the questions of one class and risk."""

    class_: CaseClass = msgspec.field(name="class")
    risk: Risk | None = None
    questions: Count
    good: Count
    bad: Count
    review: Count
    open: Count

    def __post_init__(self) -> None:
        total = self.good + self.bad + self.review + self.open
        require(self.questions == total, f"questions is {self.questions}, the four verdicts add up to {total}")


class QuestionVerdict(Record, frozen=True, kw_only=True):
    """One question under the policy: the conjunction of all that its class and risk need."""

    query_id: QueryId
    class_: CaseClass = msgspec.field(name="class")
    risk: Risk | None = None
    verdict: Literal["good", "bad", "review", "open"]
    """open: it cannot be told."""
    reasons: tuple[str, ...] = ()


class Review(Record, frozen=True, kw_only=True):
    """A named person opened one moved question of two score tables, and says what it is. Never changed, only added."""

    query_id: QueryId
    candidate: Digest
    """Record of the ScoreTable."""
    baseline: Digest
    by: Name
    at: Instant
    verdict: Literal["acceptable", "not_acceptable"]
    reason: Annotated[str, Meta(min_length=1, max_length=10_000)]

    def __post_init__(self) -> None:
        require(any(map(str.isalnum, self.by)), "by is blank: a review has a name")
        require(any(map(str.isalnum, self.reason)), "reason is blank: say why")


class Decision(Record, frozen=True, kw_only=True):
    """A policy read over one run, or over two. `outcome` is fail if any blocking rule failed, else inconclusive if any
    blocking rule is, else review if any rule calls a person, else pass; without a rule that passed it is inconclusive.
    """

    outcome: Result
    policy: Digest
    candidate: Arm
    as_of: Instant
    results: tuple[RuleResult, ...]
    questions: Digest
    """Blob: JSON lines of QuestionVerdict (zstd)."""
    baseline: Arm | None = None
    reference: Digest | None = None
    """ScoreTable of the built-in system that the baseline was held against."""
    verdicts: tuple[VerdictShare, ...] = ()
    reviews: tuple[Review, ...] = ()
    assessment: Digest | None = None
    """Assessment of the probes that the policy demands; absent: there was none, or none is demanded."""
    standing: Standing | None = None
    """What held at the decision, by which an assessment is stale or not; absent: none is demanded, or nobody said."""
    variation: tuple[Artefact, ...] = ()
    """Layers of the candidate's protocol that are not those that were sealed before it was asked."""
    notes: tuple[str, ...] = ()
    """What a reader must know beside the results, such as that the baseline's strength was not checked."""

    def __post_init__(self) -> None:
        passed = any(one.kind != "evidence" and one.result == "pass" for one in self.results)
        require(self.outcome != "pass" or passed, "a decision passes only by a rule that passed")
        stopped = any(one.result in ("fail", "inconclusive") and one.on_fail == "block" for one in self.results)
        require(self.outcome != "pass" or not stopped, "a decision does not pass against a blocking rule")
