"""What a scorecard says about refusal, as plain data. Renders nothing and computes nothing."""

from __future__ import annotations

import msgspec

from ragassay.records.score import Estimate


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One threshold of a risk-coverage curve: what answering from this confidence on would have given."""

    threshold: float
    taken: int
    """Decisions with this confidence or more."""
    wrong: int
    coverage: float
    """Taken, of all that the class was asked."""
    risk: float
    """Wrong, of the taken."""


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions of nearly equal confidence; a row of the reliability table."""

    low: float
    high: float
    n: int
    confidence: float
    """Mean."""
    right: int


class Confident(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions of one class that carry a confidence, held against one meaning of right."""

    class_: str
    right: str
    """The spelling of answered_right that says what right is."""
    asked: int
    """Questions, times repeats."""
    declined: int
    """Not answered, so that there was no decision to hold a confidence against."""
    unknown: int
    """Answered, and something is not known: whether it is right, its confidence, or what was done at all."""
    decisions: int
    """asked = declined + unknown + decisions."""
    outside: int
    """Decisions whose confidence is outside of [0, 1]: in the curve, and in no bin."""
    points: tuple[Point, ...]
    """Thinned to at most MOST_POINTS of collect; the last one always stays."""
    bins: tuple[Bin, ...]
    aurc: Estimate | None
    calibration_error: Estimate | None
    brier: Estimate | None
    risks: tuple[Estimate, ...]
    """selective_risk at each declared coverage."""


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """What the retriever said against what the system then did, of one class with equal expected outcomes."""

    class_: str
    expected: tuple[str, ...]
    counts: dict[str, dict[str, int]]
    """`enough`, `not enough` or `not said` -> `answered`, `declined` or `neither` -> questions, times repeats."""


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """One paraphrase of a group: what it did, or its value, in a few words."""

    query_id: str
    query: str
    told: str


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Paraphrases of one question, and how far they agree."""

    measure: str
    step: str | None
    class_: str
    value: float | None
    low: float
    high: float
    worst: str | None
    """The wording that is worst, or agrees least with the others; absent where none is."""
    wordings: tuple[Wording, ...]


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a scorecard says about refusal beside its headline figures."""

    declining: tuple[Estimate, ...]
    """The measures of declining over whole classes, in the order of DECLINING of build."""
    sources: dict[str, int]
    """Who said the outcome -> answers, times repeats; `nobody` with its reason behind a colon."""
    confident: tuple[Confident, ...]
    verdicts: tuple[Verdicts, ...]
    """Empty: no retriever said anything."""
    retrieval: tuple[Estimate, ...]
    """retrieval_sufficient by class, retrieval_auroc."""
    paraphrases: tuple[Estimate, ...]
    """Of the measures of paraphrases, over whole classes."""
    groups: tuple[Group, ...]
    """The least agreeing first, MOST_GROUPS of collect at most for each measure and step."""
