"""Who judged, what was judged, each verdict, and what people said of the judge. Judges nothing itself."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ragassay.records.base import Digest, QueryId, Record, require
from ragassay.records.canonical import digest_of
from ragassay.records.case import CaseClass
from ragassay.records.document import Count, Name, Span
from ragassay.records.score import Interval, Status
from ragassay.records.trace import Citation, Cost, Failure, Usage

About = Literal["claim", "citation", "fact", "item", "answer", "similarity", "decomposition"]
"""claim: does the context support it; citation: does what it cites; fact: does the answer state it; item: is it
relevant; answer: the whole, for *relevance* or *correctness*, which is the target; similarity: how near it is to its
references, by *semantic_similarity* or *bertscore*, which is the target and rules on nothing; decomposition: the
answer's claims by a model, which rules on nothing either."""
SCALES: dict[str, tuple[str, ...]] = {
    "support/1": ("supported", "unsupported", "contradicted"),
    "relevance/1": ("relevant", "partly", "irrelevant"),
    "correctness/1": ("correct", "partly", "incorrect"),
    "similarity/1": ("measured",),
    "decomposition/1": ("decomposed",),
}
"""Scale -> its labels, the good one first. similarity/1 rules on nothing: its score is all that it says.
decomposition/1 neither: its claims are."""


class JudgeIdentity(Record, frozen=True, kw_only=True):
    """Who judged: everything that can change the verdict."""

    name: Name
    kind: Literal["model", "person", "lexical", "semantic", "panel"]
    model: str | None = None
    prompt: Digest | None = None
    rubric: str | None = None
    settings: dict[str, str] = {}
    sampling: dict[str, str] = {}
    """Temperature, seed, limits of tokens: what is sent beside the prompt."""
    schema: Digest | None = None
    """Of the JSON Schema that a reply is asked in."""
    parser: Name | None = None
    """What reads the reply, with its version."""
    libraries: dict[str, str] = {}
    """Distribution -> version, of those that can change a verdict."""


class Judgement(Record, frozen=True, kw_only=True):
    """A verdict on a claim, a citation, a fact, an item or an answer; without a label it says why."""

    query_id: QueryId
    repeat: Count
    judge: Digest
    """Of the JudgeIdentity."""
    about: About
    target: Name
    scale: Name
    """Which labels there are and what they mean, by name."""
    status: Status
    label: str | None = None
    reason: str | None = None
    score: float | None = None
    """What the label was decided on, higher is better: a recall, log-odds. A threshold may be moved without asking."""
    spans: tuple[Span, ...] = ()
    rationale: str | None = None
    judge_repeat: Count | None = None
    cost: Cost | None = None
    failure: Failure | None = None

    def __post_init__(self) -> None:
        require((self.status == "value") == (self.label is not None), "a label stands exactly where status is value")
        require((self.status == "value") == (self.reason is None), "a reason stands exactly where there is no label")
        known = SCALES.get(self.scale)
        if known is not None and self.label is not None:
            require(self.label in known, f"{self.label!r} is no label of {self.scale}: {', '.join(known)}")

    @property
    def key(self) -> tuple[str, int, str, str, int]:
        """What there is one verdict of, of one judge: question, repeat, what about, target, the judge's own repeat."""
        return (self.query_id, self.repeat, self.about, self.target, self.judge_repeat or 0)


class JudgeWork(Record, frozen=True, kw_only=True):
    """What one verdict took. A measurement: outside of what a set of judgements is compared by."""

    query_id: QueryId
    repeat: Count
    about: About
    target: Name
    judge_repeat: Count | None = None
    latency_ms: Annotated[float, Meta(ge=0)] | None = None
    attempts: Count | None = None
    usage: Usage | None = None
    cached: bool = False
    """It was asked before, and nothing was sent."""


class Claim(Record, frozen=True, kw_only=True):
    """A statement of an answer by its place: code points `start` to `end`."""

    claim_id: Name
    start: Count
    end: Count
    citations: tuple[Count, ...] = ()
    """Places in `AnswerClaims.citations` of those that stand behind it."""
    subject: tuple[Count, Count] | None = None
    """Where the answer names what the claim is about, if its own words do not: they are put before them. By a model."""

    def __post_init__(self) -> None:
        require(self.start < self.end, "start must be before end")
        require(self.subject is None or self.subject[0] < self.subject[1], "subject: its start must be before its end")


class AnswerClaims(Record, frozen=True, kw_only=True):
    """What an answer claims and cites. Kept with the judgements, so that nobody has to cut the answer again."""

    query_id: QueryId
    repeat: Count
    answer: Digest
    """Of the answer's text."""
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    cited_by: Literal["system", "marks"] | None = None
    """Who said what is cited: the system in fields of its own, or marks in the text; absent: nothing is cited."""
    left_out: dict[str, int] = {}
    """Parts of the answer that claim nothing: question, heading, lead, mark -> how many; no_claim: a model's word."""
    provenance: Literal["model"] | None = None
    """A model cut the answer; absent: a rule did."""


class Control(Record, frozen=True, kw_only=True):
    """An item of known truth that was put to a judge among the others."""

    name: Name
    expected: tuple[str, ...]
    """Labels that are right."""
    label: str | None = None
    reason: str | None = None
    """Why there is no label."""

    @property
    def passed(self) -> bool:
        """Whether the judge said what is known to be right."""
        return self.label in self.expected


class JudgementSet(Record, frozen=True, kw_only=True):
    """All verdicts of one judge on one run. A newer set supersedes an older one; none is overwritten."""

    name: Name
    """As measures say it: `by=NAME`."""
    run: Digest
    """`Run.identity()`: it holds for an identical rerun too."""
    judge: Digest
    """Record of the JudgeIdentity."""
    state: Literal["complete", "partial", "disqualified"]
    claims: Digest
    """Blob: JSON lines of AnswerClaims (zstd), by key."""
    judgements: Digest
    """Blob: JSON lines of Judgement (zstd), by key."""
    content: Digest
    """Over claims and judgements, not over their compression: equal sets say the same."""
    splitter: Name
    """What cut the answers into claims, with its version."""
    asked: Count
    valued: Count
    """How many of them have a verdict."""
    work: Digest | None = None
    """Blob: JSON lines of JudgeWork (zstd)."""
    stopped: Name | None = None
    """Why the items without a verdict were not asked, or why the judge is disqualified."""
    controls: tuple[Control, ...] = ()
    supersedes: Digest | None = None
    """The set of this judge and run that was in force before."""
    sample: Digest | None = None
    """Of people: record of the Sample that they were given."""
    cut: Digest | None = None
    """Record of the JudgementSet whose claims were judged, where a model cut the answers."""

    def __post_init__(self) -> None:
        require((self.state == "complete") == (self.stopped is None), "stopped says why a set is not complete")
        require(self.valued <= self.asked, "more verdicts than items")

    @property
    def cuts(self) -> bool:
        """Whether it rules on nothing, and its claims are all that it says."""
        return self.cut is None and self.splitter.startswith("decompose ")


class SampledItem(Record, frozen=True, kw_only=True):
    """One item that people are asked about, and the chance that it had to be drawn."""

    item_id: Name
    """As the file that people fill in names it."""
    query_id: QueryId
    repeat: Count
    about: About
    target: Name
    scale: Name
    stratum: Name
    probability: Annotated[float, Meta(gt=0, le=1)]


class Sample(Record, frozen=True, kw_only=True):
    """Items of one run that were drawn for people, so that what they say can be weighed."""

    run: Digest
    """`Run.identity()`."""
    judged: dict[str, Digest]
    """Judge -> the JudgementSet by which the strata were told."""
    drawn: Literal["random", "stratified"]
    seed: Count
    strata: dict[str, Count]
    """Stratum -> how many items it has."""
    items: Digest
    """Blob: JSON lines of SampledItem (zstd)."""


Share = Annotated[float, Meta(ge=0, le=1)]


class Agreement(Record, frozen=True, kw_only=True):
    """A judge against people on one kind of item: the good label of the scale against all others."""

    about: About
    scale: Name
    items: Count
    """With a verdict of both."""
    unjudged: Count
    """With a verdict of people only: the judge failed or abstained."""
    confusion: dict[str, dict[str, int]]
    """People's label -> the judge's label -> items; the judge's reasons stand in brackets."""
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    """Absent: all classes together."""
    raw: Share | None = None
    """Share of equal labels."""
    kappa: Annotated[float, Meta(ge=-1, le=1)] | None = None
    kappa_interval: Interval | None = None
    sensitivity: Share | None = None
    """Of items that people call good, the share that the judge calls good."""
    sensitivity_interval: Interval | None = None
    specificity: Share | None = None
    """Of items that people do not call good, the share that the judge does not call good."""
    specificity_interval: Interval | None = None


class Bias(Record, frozen=True, kw_only=True):
    """How much more a judge is ahead of people on one half of the items than on the other: 0 is none."""

    name: Literal["length", "position", "own_phrasing"]
    about: About
    items: Count
    value: float | None = None
    """Mean of (judge says good) - (people say good) over the first half named in `halves`, less that over the other."""
    interval: Interval | None = None
    halves: Name | None = None
    absent: Name | None = None
    """Why it cannot be told."""

    def __post_init__(self) -> None:
        require((self.value is None) == (self.absent is not None), "give either the value or why there is none")


class Calibration(Record, frozen=True, kw_only=True):
    """A judge measured against people. Holds for exactly this identity: another prompt is another judge."""

    judge: Digest
    """Record of the JudgeIdentity."""
    people: Digest
    """Blob: JSON lines of Judgement (zstd), by people."""
    judged: Digest
    """Record of the JudgementSet that they were held against."""
    raters: Count
    rubric: str
    agreements: tuple[Agreement, ...]
    drawn: Literal["random", "stratified", "unknown"]
    """How the items came to be chosen; only a random sample corrects an estimate."""
    threshold: float | None = None
    """By which a score became a label; absent: the judge's own labels."""
    fitted: Count | None = None
    """Items on which the threshold was chosen; the agreements are of other questions."""
    biases: tuple[Bias, ...] = ()
    cost: tuple[Cost, ...] = ()
    """What all verdicts of the set cost, one sum a currency."""
    note: str | None = None

    def __post_init__(self) -> None:
        require(bool(self.agreements), "a calibration without agreement says nothing")

    def covers(self, about: str, scale: str) -> bool:
        """Whether people and judge both judged items of this kind."""
        return any(one.about == about and one.scale == scale and one.items > 0 for one in self.agreements)


def judge_digest(identity: JudgeIdentity) -> Digest:
    """The digest under which verdicts and calibrations name a judge."""
    return digest_of(identity)
