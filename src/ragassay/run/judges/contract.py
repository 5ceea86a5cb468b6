"""What an evaluator is given and what it says: items of one answer in, a verdict each out. Judges nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ragassay.records.document import Span
from ragassay.records.judgement import About, Claim, JudgeIdentity
from ragassay.records.score import Status
from ragassay.records.trace import Cost, Failure, Usage

EVALUATORS = "ragassay.evaluators"
"""Entry point group of evaluators of other packages."""


class Shown(NamedTuple):
    """A text that a judge is shown as evidence; untrusted, whoever wrote it."""

    item_id: str
    text: str
    sources: tuple[Span, ...] = ()
    title: str | None = None
    url: str | None = None


class Item(NamedTuple):
    """One thing to rule on. `statement` is judged; everything else is what it is judged by."""

    query_id: str
    repeat: int
    about: About
    target: str
    """claim: claim id; citation: CLAIM:PLACE; fact: fact id; item: item id; answer: relevance or correctness;
    similarity: semantic_similarity or bertscore; decomposition: answer."""
    scale: str
    statement: str
    """claim, citation: the claim's text; fact: the fact's text; item: the item's text; answer, similarity: the
    whole answer."""
    question: str
    answer: str
    evidence: tuple[Shown, ...] = ()
    """claim: the context; citation: what is cited; fact: nothing (the answer must state it); else nothing."""
    references: tuple[str, ...] = ()
    """Of correctness and similarity: reference answers."""
    language: str | None = None


class Cut(NamedTuple):
    """An answer in claims, as a model cut it."""

    claims: tuple[Claim, ...]
    """In the order of the answer, apart from each other; each without citations."""
    no_claims: int = 0
    """Parts that claim nothing, by the model's word."""


class Verdict(NamedTuple):
    """What an evaluator says of one item: a label of its scale, or why there is none; and what that took."""

    status: Status
    label: str | None = None
    reason: str | None = None
    score: float | None = None
    """What the label was decided on, higher is better."""
    spans: tuple[Span, ...] = ()
    rationale: str | None = None
    failure: Failure | None = None
    cost: Cost | None = None
    usage: Usage | None = None
    latency_ms: float | None = None
    attempts: int | None = None
    """Requests sent for it, retries included; of several items in one request the first one has them."""
    unreported: int | None = None
    """Of these, requests that may have cost something and of which no usage is known; absent: all, without usage."""
    cached: bool = False
    version: str | None = None
    """Of the model, as its endpoint reported it; verdicts of two versions do not stand in one set."""
    cut: Cut | None = None
    """Of a decomposition."""


class Evaluator(Protocol):
    """Rules on items of one answer (one query_id, repeat and about at a time) without a network.

    `judge` returns exactly one Verdict an item, in order; the same items give the same verdicts; nothing is raised.
    """

    @property
    def identity(self) -> JudgeIdentity:
        """Everything that can change a verdict."""
        ...

    @property
    def about(self) -> frozenset[About]:
        """What it can rule on; other items are not put to it."""
        ...

    def judge(self, items: Sequence[Item]) -> Sequence[Verdict]:
        """A verdict for each item."""
        ...


class AskingEvaluator(Protocol):
    """The same for a judge behind an endpoint: `judge` is a coroutine, and failures are verdicts with a cause."""

    @property
    def identity(self) -> JudgeIdentity:
        """Everything that can change a verdict."""
        ...

    @property
    def about(self) -> frozenset[About]:
        """What it can rule on; other items are not put to it."""
        ...

    async def judge(self, items: Sequence[Item], *, judge_repeat: int = 0) -> Sequence[Verdict]:
        """A verdict for each item."""
        ...
