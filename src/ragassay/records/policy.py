"""What is demanded of a run, declared before it: the third layer of a protocol. Decides nothing."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ragassay.records.base import QueryId, Record, require
from ragassay.records.case import CaseClass, Outcome
from ragassay.records.comparison import Artefact
from ragassay.records.document import Count, Name
from ragassay.records.probe import Category, Channel

OnFail = Literal["block", "review"]
"""What a rule that does not hold does: block ends in fail, review calls a person."""
Risk = Literal["high", "moderate", "low"]
IdentityName = Literal["benchmark", "retrieval", "generation", "evaluation", "trace"]
"""The five identities of a run."""
Share = Annotated[float, Meta(ge=0, le=1)]
NotNegative = Annotated[float, Meta(ge=0)]
Statistic = Literal["p50", "p90", "p95", "p99", "mean", "total", "share"]


class Rule(Record, frozen=True, kw_only=True):
    """A demand on a measure over a population: a floor, a ceiling, a margin against the baseline, or zero tolerance."""

    measure: Name
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    """Absent: every class in which the measure can have a value, each by itself."""
    slice: Name | None = None
    risk: Risk | None = None
    step: Name | None = None
    """The list that is read; may be absent where the measure is taken at one place only."""
    at_least: float | None = None
    at_most: float | None = None
    margin: NotNegative | None = None
    """Not worse than the baseline by as much as this, in the measure's better direction."""
    zero: bool = False
    """No question at all may have anything but the best value."""
    on_fail: OnFail = "block"
    name: Name | None = None

    def __post_init__(self) -> None:
        given = [one for one in (self.at_least, self.at_most, self.margin) if one is not None]
        require(len(given) + self.zero == 1, "give exactly one of at_least, at_most, margin, zero = true")


class MustHold(Record, frozen=True, kw_only=True):
    """Questions of which each must hold, in every repeat. Needs no statistics."""

    measure: Name
    cases: tuple[QueryId, ...] = ()
    """Empty: the questions that are marked must_hold themselves."""
    step: Name | None = None
    at_least: float | None = None
    at_most: float | None = None
    on_fail: OnFail = "block"
    name: Name | None = None

    def __post_init__(self) -> None:
        require((self.at_least is None) != (self.at_most is None), "give exactly one of at_least and at_most")
        require(len(self.cases) == len(set(self.cases)), "a question is named twice")


class Budget(Record, frozen=True, kw_only=True):
    """The most that time, tokens, money or failures may be, or by how much more a time, over all that was asked."""

    measure: Name
    """latency, latency(kind=rerank), first_token, context_tokens, tokens(kind=input), cost, calls, error_rate."""
    statistic: Statistic
    """A quantile over questions and repeats; their mean or sum; or, of error_rate, the share that failed."""
    at_most: NotNegative | None = None
    margin: NotNegative | None = None
    """Of a quantile, in place of at_most: not greater than the baseline's by as much as this."""
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    """Absent: all questions."""
    step: Name | None = None
    sample: bool = False
    """About these questions only. Otherwise about questions like them, by a bound; there is none for mean and total."""
    on_fail: OnFail = "block"
    name: Name | None = None

    def __post_init__(self) -> None:
        require((self.at_most is None) != (self.margin is None), "give exactly one of at_most and margin")
        require(self.margin is None or self.statistic[0] == "p", "a margin is for a quantile: p50, p90, p95 or p99")
        require(self.sample or self.statistic not in ("mean", "total"), "mean and total need sample = true: no bound")
        require(self.statistic != "share" or (self.at_most or 0) <= 1, "a share is at most 1")


class Need(Record, frozen=True, kw_only=True):
    """What one question needs in order to be good; a question's verdict is the conjunction of its needs."""

    measure: Name
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    risk: Risk | None = None
    step: Name | None = None
    at_least: float | None = None
    at_most: float | None = None
    always: bool = False
    """Also where the system declined; otherwise only of answers, whole or partial."""

    def __post_init__(self) -> None:
        require((self.at_least is None) != (self.at_most is None), "give exactly one of at_least and at_most")


class Band(Record, frozen=True, kw_only=True):
    """What questions of one risk may end in."""

    outcomes: tuple[Outcome, ...] = ()
    """Empty: those that the question itself allows. Declining is allowed wherever it stands here."""
    citations: bool = False
    """An answer, whole or partial, must cite."""
    doubt: Literal["bad", "review", "open"] | None = None
    """What a question is that cannot be told; absent: high bad, moderate review, low open."""


class Verdicts(Record, frozen=True, kw_only=True):
    """A floor on the share of questions whose verdict is good."""

    at_least: Share
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    slice: Name | None = None
    risk: Risk | None = None
    on_fail: OnFail = "block"
    name: Name | None = None


class Refusal(Record, frozen=True, kw_only=True):
    """Declining: how often, in which words, and to whom a question is handed on."""

    text: str | None = None
    """The exact text for insufficient evidence; every refusing answer must be it."""
    route: Name | None = None
    """Where escalated questions go; an escalated answer must name it."""
    abstention_at_least: Share | None = None
    """Of unanswerable questions."""
    false_refusal_at_most: Share | None = None
    """Of questions that should be answered, by class."""
    on_fail: OnFail = "review"

    def __post_init__(self) -> None:
        require(self.text is None or bool(self.text.strip()), "text is blank: say what the system must answer")


class ReviewDemand(Record, frozen=True, kw_only=True):
    """The largest gains and losses against the baseline, each of which a named person must have opened."""

    measure: Name
    largest: Annotated[int, Meta(ge=1)]
    """So many gains and so many losses."""
    step: Name | None = None
    on_fail: OnFail = "block"


class Recorded(Record, frozen=True, kw_only=True):
    """A ceiling on how many parts of the identities of a run nobody recorded."""

    at_most: Count
    """0: every part must be recorded, or be known not to be there."""
    identity: IdentityName | None = None
    """Absent: all five together."""
    on_fail: OnFail = "block"
    name: Name | None = None


class JudgeDemands(Record, frozen=True, kw_only=True):
    """What a judge must have shown before a rule reads it; a calibration of exactly its identity is always asked."""

    kappa: Annotated[float, Meta(ge=-1, lt=1)] = 0.0
    """The lower bound of its Cohen's kappa with people, on what the rule reads, must be above this; 0: it is shown to
    be better than chance. Where people gave one label only there is no kappa, and it is not shown. -1: not asked."""
    high_risk: Literal["two", "person", "one"] = "two"
    """On questions of high risk. two: a panel of two heterogeneous judges, or a person; person: a person only; one:
    any judge that was calibrated."""


CATEGORIES: tuple[Category, ...] = ("authorized", "unauthorized", "shared", "credential", "empty")
"""What a suite of probes must have been able to evaluate, where a policy names no categories."""
Bound = Annotated[float, Meta(gt=0, lt=1)]


class ProbeDemand(Record, frozen=True, kw_only=True):
    """What an assessment of cross-tenant probes must show. Any leak fails, whatever else holds."""

    suite: Name
    """As [probe] names it."""
    at_most: Bound | None = None
    """Ceiling on the exact upper 95 % bound of the share that leaks, over all probes: after no leak, 0.001 takes 2,995.
    Absent: only that none leaked."""
    channels: dict[Channel, Bound] = {}
    """Channel -> the same over the probes of which it shows something."""
    categories: tuple[Category, ...] = ()
    """Those of which some must have been evaluated. Empty: all but poison."""
    attacks: OnFail = "block"
    """What a planted attack that steered an answer does."""
    reviews: Count = 0
    """So many findings may wait for a person; more of them call one."""
    neighbours: Share | None = None
    """Ceiling on the share of probes of what does not exist that brought documents, though nobody else's. Absent: the
    nearest of the asker's own are no fault."""

    def __post_init__(self) -> None:
        require(len(self.categories) == len(set(self.categories)), "a category is named twice")


class Policy(Record, frozen=True, kw_only=True):
    """Third layer: what would be decided. Without rules nothing can pass."""

    name: Name
    rules: tuple[Rule, ...] = ()
    alpha: Annotated[float, Meta(gt=0, lt=0.5)] = 0.05
    """Chance at most of a rule that passes though its demand does not hold, and of one that fails though it does."""
    must_hold: tuple[MustHold, ...] = ()
    budgets: tuple[Budget, ...] = ()
    needs: tuple[Need, ...] = ()
    bands: dict[Risk, Band] = {}
    verdicts: tuple[Verdicts, ...] = ()
    recorded: tuple[Recorded, ...] = ()
    refusal: Refusal | None = None
    review: ReviewDemand | None = None
    max_age_days: Count | None = None
    """Older evidence, of either run, decides nothing."""
    max_errors: Share = 0.2
    """With a greater share of failed questions nothing passes (exit code 4)."""
    judges: JudgeDemands = JudgeDemands()
    probe: ProbeDemand | None = None
    """Absent: no assessment is asked for."""
    reference: bool = False
    """Whether a run of the built-in system must be given, to hold the baseline against; without one it is not known
    whether the baseline is weak, and nothing passes."""
    judged_gap: Share = 0.05
    """With a greater difference of Judged@k between the arms a margin on retrieval is not decided."""
    near: Share = 0.05
    """Within this part of a measure's range a question's need is near its threshold, and goes to the queue."""
    least_authority: int | None = None
    """A document whose metadata say a lower `authority` is weak; so is one that is superseded or no longer valid."""
    variation: tuple[Artefact, ...] = ()
    """What may differ from the baseline; any other difference of corpus, benchmark or measures is refused."""

    @property
    def demands(self) -> bool:
        """Whether anything is demanded at all."""
        refusal = self.refusal is not None and (
            self.refusal.text is not None
            or self.refusal.abstention_at_least is not None
            or self.refusal.false_refusal_at_most is not None
        )
        return bool(self.rules or self.must_hold or self.budgets or self.verdicts or refusal or self.probe)
