"""The scorecard as plain data: every number that a report shows, once. Renders nothing and computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragassay.records.base import Digest
from ragassay.records.score import Bounds, Estimate
from ragassay.report.data.model import CitationView, DataCard, IdentityView
from ragassay.report.grounding.model import Among, ClaimView, JudgeView
from ragassay.report.probed import Probed
from ragassay.report.refusal.model import Refusal
from ragassay.report.tied import Tied

Flag = Literal["lost", "never_found", "failed", "error", "undefined", "missing", "unjudged", "denied"]
Access = Literal["allowed", "denied", "unknown"]


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all parts: frozen, every key always written."""


class Cut(Sheet, frozen=True, kw_only=True):
    """A text, or its beginning. `digest` is of the whole text and stands exactly where something was left out."""

    text: str
    total: int
    """Code points of the whole text."""
    digest: Digest | None = None


class Verdict(Sheet, frozen=True, kw_only=True):
    """What the evidence says in words: the decision (or that there is none) and why."""

    lead: str
    reasons: tuple[str, ...]
    outcome: Literal["pass", "fail", "review", "inconclusive"] | None = None
    """Of the decision; absent: no gate has decided."""

    @property
    def sentence(self) -> str:
        """All of it as one paragraph."""
        return " ".join((self.lead, *self.reasons))


class Stated(Sheet, frozen=True, kw_only=True):
    """One line of identity. Exactly one of value and `absent` (why there is none) is given."""

    label: str
    value: str | None = None
    absent: str | None = None


class Identity(Sheet, frozen=True, kw_only=True):
    """What this scorecard is about, by digest, and under which circumstances it was made."""

    sealed: tuple[Stated, ...]
    settings: tuple[Stated, ...]
    circumstances: tuple[Stated, ...]


class NotMeasured(Sheet, frozen=True, kw_only=True):
    """A measure without a sealed measurement, and what would give one."""

    measure: str
    would_need: str


class Dimension(Sheet, frozen=True, kw_only=True):
    """One of the five questions that a reader asks first, mapped to its stage of the pipeline."""

    key: str
    name: str
    asks: str
    stage: str
    measured: bool
    """Whether any measure that speaks to it has a value; overlap with a reference text says nothing on correctness."""
    headline: tuple[Estimate, ...]
    """One row a measure and class, at the last place where it was taken."""
    not_measured: tuple[NotMeasured, ...]


class FunnelStep(Sheet, frozen=True, kw_only=True):
    """Facts at one step of the way to the context."""

    step: str
    kind: str
    held: int
    not_held: int
    unknown: int
    absent: int
    lost_whole: int
    lost_in_parts: int
    joint: dict[str, int]
    inferred: int | None


class Funnel(Sheet, frozen=True, kw_only=True):
    """What became of the required facts of one class, step by step. `fates` add up to `facts`."""

    class_: str
    facts: int
    questions: int
    fates: dict[str, int]
    steps: tuple[FunnelStep, ...]


class OutcomeRow(Sheet, frozen=True, kw_only=True):
    """Questions of one class with the same expected outcomes: what the system did."""

    class_: str
    expected: tuple[str, ...]
    """Empty: the question does not say."""
    did: dict[str, int]
    total: int


class RuntimeRow(Sheet, frozen=True, kw_only=True):
    """One runtime measure of one class."""

    measure: str
    class_: str
    step: str | None
    unit: str
    figures: dict[str, float]
    """Aggregation (mean, p50, p95, p99, sum) -> value."""
    at_least: dict[str, float]
    """The same for what timeouts hide: only its least is known."""
    attempted: int
    scored: int
    missing: int
    undefined: int
    error: int
    censored: int
    """Observations that are a time limit, not an end."""


class Bar(Sheet, frozen=True, kw_only=True):
    """A class of a histogram; low equals high for a bar of one exact value."""

    low: float
    high: float
    count: int


class Distribution(Sheet, frozen=True, kw_only=True):
    """The values of one measure over the questions of one class, at one step."""

    measure: str
    class_: str
    step: str | None
    unit: str
    bars: tuple[Bar, ...]
    scored: int
    without: int
    """Questions without a value, whatever the reason."""
    median: float


class Population(Sheet, frozen=True, kw_only=True):
    """A class, or a slice of it, with its own headline numbers. Rows are never added up."""

    class_: str
    slice: str | None
    questions: int
    cells: tuple[Estimate | None, ...]
    """In the order of `Scorecard.population_measures`; absent: not measured."""


class EvidenceView(Sheet, frozen=True, kw_only=True):
    """One labelled place of a question."""

    id: str
    document_id: str
    version: str | None
    start: int | None
    end: int | None
    grade: int
    role: str | None
    quote: Cut | None
    provenance: str | None
    visible: bool | None
    """To the case's principal; absent where there is none or the document is unknown."""
    dangling: bool
    """The document is not in the corpus."""


class FactView(Sheet, frozen=True, kw_only=True):
    """A fact of a question and the sets of evidence that carry it."""

    id: str
    text: Cut | None
    required: bool
    any_of: tuple[tuple[str, ...], ...]


class Place(Sheet, frozen=True, kw_only=True):
    """Where an item stands in one step's output."""

    rank: int
    score: float | None


class ItemView(Sheet, frozen=True, kw_only=True):
    """One item, equal by sources over all steps of a trace."""

    label: str
    passage_id: str | None
    places: tuple[Place | None, ...]
    """One a step of `RepeatView.steps`; absent: the step does not give it out."""
    holds: tuple[str, ...]
    """Evidence that it holds by itself."""
    parts: tuple[str, ...]
    """Evidence of which it holds a part."""
    text: Cut | None
    resolution: str
    transform: str
    access: Access | None
    """Ours, by the document's tenants and acl, for a case with a principal."""
    reported_access: str | None
    """The system's word."""
    tenant: str | None


class StepView(Sheet, frozen=True, kw_only=True):
    """One step of a trace; the context stands last as a step of its own, of kind `context`."""

    step_id: str
    name: str
    kind: str
    iteration: int | None
    items: int | None
    """Absent: the step did not say what it gave out."""
    parents: tuple[str, ...]
    """Step ids that it says it read; empty where it does not say."""
    inferred: bool
    duration_ms: float | None
    query_text: Cut | None
    failure: str | None
    decisions: tuple[str, ...]


class EvidencePlace(Sheet, frozen=True, kw_only=True):
    """Which lists of one trace hold one piece of evidence, all their items taken together."""

    evidence_id: str
    held: tuple[str, ...]
    """Step ids, and `context`."""
    parts: tuple[str, ...]


class FateView(Sheet, frozen=True, kw_only=True):
    """What became of one fact on its way."""

    fact_id: str
    required: bool
    fate: str
    steps: tuple[str, ...]
    found_at: tuple[str, ...]
    inferred: bool


class ScoreView(Sheet, frozen=True, kw_only=True):
    """Why one score is what it is."""

    measure: str
    step: str | None
    target: str | None
    status: str
    value: float | None
    numerator: float | None
    denominator: float | None
    reason: str | None
    bounds: Bounds | None
    unjudged: Bounds | None
    coarse: bool
    inferred: bool


class RepeatView(Sheet, frozen=True, kw_only=True):
    """What the system did with one question, once."""

    repeat: int
    outcome: str | None
    outcome_source: str | None
    failure: str | None
    failure_detail: Cut | None
    latency_ms: float | None
    answer: Cut | None
    """Absent: the system gave none."""
    citations: tuple[CitationView, ...] | None
    """Absent: the system does not report citations."""
    claims: tuple[ClaimView, ...]
    """Each claim of the answer with what judges say of it; empty where no judge cut it."""
    steps: tuple[StepView, ...]
    context: int | None
    """Items in the context; absent: not reported."""
    items: tuple[ItemView, ...]
    items_total: int
    """Different items over all steps; the table may show fewer."""
    evidence: tuple[EvidencePlace, ...]
    fates: tuple[FateView, ...]
    scores: tuple[ScoreView, ...]


class Question(Sheet, frozen=True, kw_only=True):
    """One question, all that is known about it, and what became of it."""

    query_id: str
    query: Cut
    class_: str
    language: str
    """BCP 47 tag from a slice `language=..`, else empty (unknown)."""
    slices: tuple[str, ...]
    answerable: str | None
    scope: str | None
    expect: tuple[str, ...]
    threats: tuple[str, ...]
    risk: str | None
    principal: str | None
    notes: Cut | None
    history: tuple[tuple[str, Cut], ...]
    references: tuple[Cut, ...]
    evidence: tuple[EvidenceView, ...] | None
    """Absent: unlabelled. Empty: the truth needs zero documents."""
    facts: tuple[FactView, ...]
    flags: tuple[Flag, ...]
    repeats: tuple[RepeatView, ...]


class AccessReview(Sheet, frozen=True, kw_only=True):
    """Items in contexts, held against the documents' own tenants and acl; a count, not a measure and not a verdict."""

    questions: int
    """Traces of cases with a principal that reported a context."""
    items: int
    allowed: int
    denied: int
    unknown: int
    denied_questions: tuple[str, ...]


class Scorecard(Sheet, frozen=True, kw_only=True):
    """Everything that a report says about one score table."""

    title: str
    benchmark: str
    as_of: str
    scores: Digest
    verdict: Verdict
    caveats: tuple[str, ...]
    identity: Identity
    five: tuple[IdentityView, ...]
    """The five identities of the run, part by part."""
    data: DataCard
    asked: int
    """Keys (question, repeat) that were to be asked."""
    traces: int
    failures: dict[str, int]
    """Cause -> traces that ended so."""
    hold: float
    rel: int
    steps: tuple[str, ...]
    """Names of all steps at which something was measured, in order."""
    funnels: tuple[Funnel, ...]
    tied: tuple[Tied, ...]
    """How items were tied to documents: all lists, then by step."""
    dimensions: tuple[Dimension, ...]
    beside: Dimension
    """Counts around the five: context size, duplicates, and whatever no dimension claims."""
    outcomes: tuple[OutcomeRow, ...]
    refusal: Refusal
    other: tuple[Dimension, ...]
    """Citations, correctness, authorization."""
    judges: tuple[JudgeView, ...]
    """Whose verdicts the grounding numbers are, and how far they are to be believed."""
    among: tuple[Among, ...]
    """How far these judges agree with each other."""
    access: AccessReview
    probed: tuple[Probed, ...]
    """Cross-tenant probes of the system, with denominators of their own; empty: it was not probed."""
    runtime: tuple[RuntimeRow, ...]
    distributions: tuple[Distribution, ...]
    population_measures: tuple[tuple[str, str | None], ...]
    """(measure, step) of the columns of `populations`."""
    populations: tuple[Population, ...]
    estimates: tuple[Estimate, ...]
    """All of them, by class and slice, at every step."""
    questions: Sequence[Question]
    """A tuple, or `packed.Questions`, which unpacks each when it is read."""
