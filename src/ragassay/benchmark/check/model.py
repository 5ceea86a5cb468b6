"""What a check of a benchmark found, as a record fit for JSON. Finds nothing itself."""

from __future__ import annotations

from typing import Literal

from ragassay.records.base import Digest, Record
from ragassay.records.text import shown

Level = Literal["wrong", "weak", "note"]
"""wrong: while it stands, a number of a scorecard is not what it says. weak: numbers hold, but say less or flatter.
note: something to know when they are read."""
LEVELS: tuple[Level, ...] = ("wrong", "weak", "note")


class Place(Record, frozen=True, kw_only=True):
    """Where a finding is: a question, one of its labels or facts, or a question and the one it is compared with."""

    query_id: str | None = None
    name: str | None = None
    """A class or slice, where the finding is about no question."""
    evidence_id: str | None = None
    fact_id: str | None = None
    other: str | None = None
    """The question that this one is compared with."""
    other_side: str | None = None
    """The split or benchmark of `other`, where it is not that of this one."""
    detail: str | None = None

    def __str__(self) -> str:
        text = shown(self.query_id or self.name or "")
        for part in (self.evidence_id, self.fact_id):
            text += f"/{shown(part)}" if part is not None else ""
        if self.other is not None:
            text += f" ~ {shown(self.other)}"
            text += f" [{shown(self.other_side)}]" if self.other_side is not None else ""
        return f"{text} ({shown(self.detail, limit=60)})" if self.detail is not None else text


class Finding(Record, frozen=True, kw_only=True):
    """One kind of thing that was found, every place of it, why it matters and what to do."""

    code: str
    level: Level
    count: int
    noun: str
    """What is counted, in the singular: case, label, pair, group, fact, class, slice."""
    what: str
    why: str
    do: str
    places: tuple[Place, ...]
    questions: tuple[str, ...]
    """The query ids of this benchmark that it touches, sorted: what to leave out to read a score without them."""


class Stratum(Record, frozen=True, kw_only=True):
    """How many cases have one value of one dimension, and how many of them are lexically easy."""

    dimension: str
    """class, answerable, risk, principal, tenant, slice, `slice NAME` (of a slice `NAME=value`), or `derived:NAME`."""
    value: str
    cases: int
    easy: int
    """Of these, cases whose question is copied from a heading or from the text of its own evidence."""

    @property
    def without(self) -> int:
        """Cases that remain without the lexically easy ones."""
        return self.cases - self.easy


class SliceCount(Record, frozen=True, kw_only=True):
    """One slice of the vocabulary: how many cases declare it, and how many a rule recognises."""

    name: str
    declared: int
    recognised: int
    """Cases that the rule recognises; 0 where there is no rule."""
    either: int
    how: str
    """The rule in words, or that only a person can tell."""
    derivable: bool


class Labelling(Record, frozen=True, kw_only=True):
    """What the labels look like, beside what the header declares about them."""

    declared: Literal["complete", "pooled", "partial", "unknown"]
    documents: int
    documents_labelled: int
    """Documents of the corpus with at least one label, of any grade."""
    labelled: int
    """Cases with at least one label."""
    unlabelled: int
    truth_empty: int
    labels: int
    spans: int
    coarse: int
    below_rel: int
    """Labels below the least relevant grade: what was judged and found wanting."""
    with_negatives: int
    """Cases with at least one of those."""
    one_relevant_document: int
    """Cases whose relevant labels all lie on one document."""
    facts: int
    with_facts: int
    with_answers: int


class Check(Record, frozen=True, kw_only=True):
    """Everything that the check of one benchmark found; equal input in any order gives an equal record."""

    name: str
    version: str
    benchmark: Digest
    """Identity of the benchmark."""
    corpus: Digest
    segmentation: Digest | None
    against: str | None
    """Name of the benchmark that it was compared with, such as dev against release."""
    cases: int
    clusters: int
    """Questions that are independent: a conversation is one, a group of paraphrases is one."""
    easy: int
    strata: tuple[Stratum, ...]
    slices: tuple[SliceCount, ...]
    labelling: Labelling
    derived: dict[str, tuple[str, ...]]
    """Query id -> slices that were derived for it, each beginning with `derived:`."""
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that make numbers wrong."""
        return tuple(one for one in self.findings if one.level == "wrong")
