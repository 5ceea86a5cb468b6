"""One verdict of one judge, a model or a person, on one thing. Judges nothing itself."""

from __future__ import annotations

from typing import Literal

from ragassay.records.base import Digest, QueryId, Record, require
from ragassay.records.document import Count, Name, Span
from ragassay.records.score import Status
from ragassay.records.trace import Cost, Failure


class JudgeIdentity(Record, frozen=True, kw_only=True):
    """Who judged: everything that can change the verdict."""

    name: Name
    kind: Literal["model", "person", "lexical", "semantic"]
    model: str | None = None
    prompt: Digest | None = None
    rubric: str | None = None
    settings: dict[str, str] = {}


class Judgement(Record, frozen=True, kw_only=True):
    """A verdict on a claim, a citation, an item or an answer; without a label it says why."""

    query_id: QueryId
    repeat: Count
    judge: Digest
    """Of the JudgeIdentity."""
    about: Literal["claim", "citation", "item", "answer"]
    target: Name
    scale: Name
    """Which labels there are and what they mean, by name."""
    status: Status
    label: str | None = None
    reason: str | None = None
    spans: tuple[Span, ...] = ()
    rationale: str | None = None
    judge_repeat: Count | None = None
    cost: Cost | None = None
    failure: Failure | None = None

    def __post_init__(self) -> None:
        require((self.status == "value") == (self.label is not None), "a label stands exactly where status is value")
        require((self.status == "value") == (self.reason is None), "a reason stands exactly where there is no label")
