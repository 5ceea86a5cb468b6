"""Two runs question by question: effects, moves, what changed, and where facts were lost anew. Compares nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, FactId, QueryId, Record, require
from ragassay.records.document import Count, Name
from ragassay.records.score import Bounds, Interval, Population, Status

Share = Annotated[float, Meta(ge=0, le=1)]
Side = Literal["baseline", "candidate", "both"]
Artefact = Literal[
    "document_text", "document_added", "document_removed", "document_acl", "document_metadata", "parser",
    "segmentation", "benchmark", "embedder", "index", "retriever", "filter", "fusion", "reranker", "dedup", "rewrite",
    "prompt", "assembly", "generator", "system", "versions", "history", "seed", "as_of", "top_k", "repeats", "timeout",
    "redaction", "resolution", "measure", "threshold", "judge", "policy",
]  # fmt: skip
"""What can change between two runs; each kind is told from every other."""


class Arm(Record, frozen=True, kw_only=True):
    """One side of a comparison."""

    name: Name
    """As the user called it; no part of the identity of the run."""
    run: Digest
    """`Run.identity()`."""
    run_record: Digest
    scores: Digest
    """Record of the ScoreTable."""
    subject: Digest
    protocol: Digest
    mixed: tuple[str, ...] = ()
    """Reported version keys with more than one value in the run."""


class PairedTest(Record, frozen=True, kw_only=True):
    """A paired randomisation test of the null hypothesis that the two arms are exchangeable."""

    p: Share
    floor: Share
    """The least p that this number of clusters and flips can give."""
    method: Literal["exact", "random"]
    flips: Count
    adjusted: Share | None = None
    """After Holm or Benjamini-Hochberg over `family` hypotheses."""
    correction: Literal["none", "holm", "bh"] = "none"
    family: Count | None = None


class Effect(Record, frozen=True, kw_only=True):
    """Candidate less baseline of one measure over the questions of one population that both answered with a value.

    attempted = pairs + undefined + missing + error: questions of the population that either arm was asked. A
    question is in error if it is on either side, else missing if it is on either, else undefined.
    """

    measure: Name
    population: Population
    aggregation: Literal["macro", "micro", "median", "p95", "p99", "sum", "set"]
    """*set*: a figure of all questions together; `pairs` is then the lesser count of scored questions of the two."""
    direction: Literal["higher", "lower", "none"]
    status: Status
    attempted: Count
    pairs: Count
    undefined: Count
    missing: Count
    error: Count
    clusters: Count
    """Independent groups among the pairs (paraphrase group, conversation, else the question)."""
    step: Name | None = None
    """The step's name, `context`, or `last list`: the last list before the context of each arm, where names differ."""
    reason: str | None = None
    baseline: float | None = None
    """Over the pairs, as is `candidate`."""
    candidate: float | None = None
    effect: float | None = None
    interval: Interval | None = None
    doubt: Literal["no_range", "few_clusters", "no_variance", "few_carry_it", "skewed", "rare_could_hide"] | None = None
    """Why the interval may cover less than its level says (`ragassay.stats.region`); absent: nothing speaks for it."""
    bounds: Bounds | None = None
    """What the effect could be, whatever the questions in error and missing could have scored."""
    test: PairedTest | None = None
    detectable: float | None = None
    """Minimum detectable effect: what a two-sided test at 1 - level would have found in 80 of 100 repetitions."""
    wins: Count = 0
    """Pairs in which the candidate is better in the measure's direction."""
    ties: Count = 0
    losses: Count = 0
    quantiles: tuple[float, ...] = ()
    """Of the differences: least, 5th, 25th, 50th, 75th, 95th percentile, greatest."""
    unit: str | None = None

    def __post_init__(self) -> None:
        require(
            (self.status == "value") == (self.effect is not None), "an effect stands exactly where there is a value"
        )
        require((self.status == "value") == (self.reason is None), "a reason stands exactly where there is no effect")
        total = self.pairs + self.undefined + self.missing + self.error
        require(self.attempted == total, f"attempted is {self.attempted}, the four counts add up to {total}")
        require(self.status != "value" or self.pairs > 0, "an effect needs at least one pair")


class Move(Record, frozen=True, kw_only=True):
    """One question whose value or status differs between the arms; repeats are averaged inside it first."""

    query_id: QueryId
    measure: Name
    baseline_status: Status
    candidate_status: Status
    step: Name | None = None
    baseline: float | None = None
    candidate: float | None = None
    difference: float | None = None
    """Candidate less baseline; absent where either has no value."""
    kind: Literal["improved", "regressed", "changed", "appeared", "disappeared"]
    """changed: the measure has no better direction; appeared, disappeared: a value on one side only."""


class Change(Record, frozen=True, kw_only=True):
    """One artefact that differs between the two sides."""

    artefact: Artefact
    name: Name
    """Which one: a document id, a settings key, a measure, a version key."""
    before: str | None = None
    """Absent: it was not there."""
    after: str | None = None
    declared: bool = False
    """It is the variation under study, so a comparison across it was asked for."""


class StepChange(Record, frozen=True, kw_only=True):
    """In how many questions the output of a step differs, and whether its input did."""

    step: Name
    kind: Name
    order: Count
    questions: Count
    """Keys in which both arms have the step."""
    same: Count
    first: Count
    """Its output differs though what came in is the same: the change begins here."""
    downstream: Count
    """Its output differs, and something upstream differs as well."""
    only_baseline: Count = 0
    only_candidate: Count = 0
    blamed: Artefact | None = None
    """The changed artefact that this step stands on."""
    silent: bool = False
    """The change begins here and every recorded identity of this step is equal."""


class NewLoss(Record, frozen=True, kw_only=True):
    """A fact that the baseline's context holds and the candidate's does not: where it went, and what to blame."""

    query_id: QueryId
    repeat: Count
    fact_id: FactId
    steps: tuple[str, ...] = ()
    """The first steps that lost it now and not before; empty: never found now."""
    fate: Literal["lost_whole", "lost_in_parts", "never_found", "between", "unknown"]
    upstream_same: bool = False
    """What came into the steps that lost it is the same in both arms (of one never found: the question)."""
    moved: tuple[str, ...] = ()
    """Steps on the way to the context whose output differs though what came in is the same: there the change begins."""
    blamed: tuple[Artefact, ...] = ()
    silent: bool = False
    failure: Name | None = None
    """Cause of the failure in which the candidate's answer ended; absent: it did not fail."""
    failed_at: Name | None = None
    """The step that failed, where it is known."""


class Unpaired(Record, frozen=True, kw_only=True):
    """A question of one arm that the other was never asked."""

    query_id: QueryId
    side: Literal["baseline", "candidate"]


class Comparison(Record, frozen=True, kw_only=True):
    """Two score tables of one benchmark, question by question."""

    baseline: Arm
    candidate: Arm
    variation: tuple[Artefact, ...] = ()
    """Artefacts that were declared to differ; any other difference of corpus, benchmark or measures is refused."""
    level: Annotated[float, Meta(gt=0, lt=1)]
    seed: Count
    flips: Count
    slices: Literal["must-pass", "regressed", "explore"] = "explore"
    """What the slices are looked at for: their p-values are not corrected, by Holm, by Benjamini and Hochberg."""
    paired: Count
    """Questions that both arms were asked."""
    unpaired: tuple[Unpaired, ...] = ()
    changes: tuple[Change, ...] = ()
    """The first 1,000; `changes_left_out` counts the rest."""
    changes_left_out: Count = 0
    steps: tuple[StepChange, ...] = ()
    effects: Digest
    """Blob: JSON lines of Effect (zstd)."""
    moves: Digest
    """Blob: JSON lines of Move (zstd)."""
    losses: Digest
    """Blob: JSON lines of NewLoss (zstd)."""
    judged: dict[str, tuple[float, float]] = {}
    """Step -> Judged@k of baseline and candidate, where both have one."""
    weak_baseline: tuple[str, ...] = ()
    """Why the baseline is weak; filled only where a reference was given."""
    reference: Digest | None = None
    """ScoreTable of the built-in BM25 that the baseline was held against."""
    margin: Share | None = None
    """By how much of a measure's range the baseline might be worse than it."""
    uncalibrated: tuple[Name, ...] = ()
    """Judges of either arm that nobody has held against people as they are read: effects by them satisfy no rule."""
    stored_configuration: bool = True
    """The baseline's exact configuration is stored."""
