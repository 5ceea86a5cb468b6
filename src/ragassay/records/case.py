"""Cases (one question and all that is known about it) and the benchmark that they make. Reads no corpus."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ragassay.records.base import Digest, DocumentId, EvidenceId, FactId, Instant, QueryId, Record, require
from ragassay.records.canonical import digest_of
from ragassay.records.document import Count, Name
from ragassay.records.provenance import Provenance
from ragassay.records.text import in_order, is_instant

CaseClass = Literal["answerable", "unanswerable", "multi_hop", "adversarial", "cross_tenant"]
Answerable = Literal["yes", "no", "partial", "not_applicable"]
Outcome = Literal["answered", "partial", "abstained", "clarified", "escalated", "denied"]
REFUSING: tuple[Outcome, ...] = ("abstained", "clarified", "escalated")
"""Outcomes that count as having declined."""


class LabelProvenance(Record, frozen=True, kw_only=True):
    """Who said so, when, and under which rubric."""

    kind: Literal["human", "model", "imported", "adjudicated"]
    by: str | None = None
    at: Instant | None = None
    rubric: str | None = None


class Evidence(Record, frozen=True, kw_only=True):
    """A labelled place. Without `start` and `end` it is the whole document (`coarse`)."""

    id: Annotated[EvidenceId, Meta(min_length=1, max_length=256)]
    document_id: DocumentId
    grade: int
    version: Name | None = None
    start: Count | None = None
    end: Count | None = None
    quote: str | None = None
    role: Literal["supports", "contradicts", "stale", "distractor"] | None = None
    provenance: LabelProvenance | None = None

    def __post_init__(self) -> None:
        require((self.start is None) == (self.end is None), "start and end go together")
        require(self.start is None or self.end is None or self.start < self.end, "start must be before end")

    @property
    def coarse(self) -> bool:
        """Whether this label is on the document rather than on a span of it."""
        return self.start is None


class Relevant(Record, frozen=True, kw_only=True):
    """Short form of document-level evidence."""

    document_id: DocumentId
    grade: int
    version: Name | None = None


class Fact(Record, frozen=True, kw_only=True):
    """One atomic statement that an answer needs, and the sets of evidence of which any one carries it."""

    id: Annotated[FactId, Meta(min_length=1, max_length=256)]
    any_of: tuple[tuple[EvidenceId, ...], ...]
    text: str | None = None
    required: bool = True

    def __post_init__(self) -> None:
        require(bool(self.any_of), "any_of is empty: a fact needs at least one set of evidence")
        require(all(self.any_of), "a set in any_of is empty: it would always be held")
        require(all(len(one) == len(set(one)) for one in self.any_of), "a set in any_of names one evidence twice")


class ReferenceAnswer(Record, frozen=True, kw_only=True):
    """A right answer, and the evidence set that its annotator used."""

    text: str
    fact_set: tuple[EvidenceId, ...] = ()


class Principal(Record, frozen=True, kw_only=True):
    """Who asks."""

    id: Name
    tenants: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Turn(Record, frozen=True, kw_only=True):
    """One earlier turn of a conversation."""

    role: Literal["user", "assistant"]
    text: str


class Conversation(Record, frozen=True, kw_only=True):
    """Which turn of which conversation a case is; `history` is gold. The conversation is the cluster."""

    id: Name
    turn: Annotated[int, Meta(ge=1)]
    history: tuple[Turn, ...] = ()


class Case(Record, frozen=True, kw_only=True):
    """One turn asked by one principal, and all that is known about it.

    `evidence` absent means unlabelled; `[]` means that the truth needs zero documents.
    """

    query_id: Annotated[QueryId, Meta(min_length=1, max_length=512)]
    query: str
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    answerable: Answerable | None = None
    answerability_scope: Literal["passage", "corpus"] | None = None
    threats: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] | None = None
    facts: tuple[Fact, ...] = ()
    answers: tuple[ReferenceAnswer, ...] = ()
    expect: tuple[Outcome, ...] | None = None
    principal: Principal | None = None
    conversation: Conversation | None = None
    risk: Literal["high", "moderate", "low"] | None = None
    slice: tuple[Name, ...] = ()
    """Words (`long-tail`) or `dimension=value` (`language=de`)."""
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    paraphrase_of: QueryId | None = None
    must_hold: bool = False
    added_in: str | None = None
    notes: str | None = None
    label: LabelProvenance | None = None
    lossy: bool = False
    raw: Digest | None = None
    """The raw bytes as a blob, when `lossy`."""

    def __post_init__(self) -> None:
        require(self.risk != "high" or bool(self.notes), "risk high needs a note that says why")
        for moment in (self.valid_from, self.valid_until):
            require(moment is None or is_instant(moment), f"{moment!r} is not an instant such as 2026-08-01T00:00:00Z")
        require(in_order(self.valid_from, self.valid_until), "valid_until is before valid_from")
        require(self.expect is None or bool(self.expect), "expect is empty: name at least one outcome, or leave it out")
        ids = [one.id for one in self.evidence or ()]
        require(len(ids) == len(set(ids)), "two pieces of evidence have one id")
        require(len(self.slice) == len(set(self.slice)), "one slice stands twice")
        names = [fact.id for fact in self.facts]
        require(len(names) == len(set(names)), "two facts have one id")
        used = {one for fact in self.facts for group in fact.any_of for one in group}
        used |= {one for answer in self.answers for one in answer.fact_set}
        require(used <= set(ids), f"unknown evidence id: {', '.join(sorted(used - set(ids)))}")
        self._check_class()

    def _check_class(self) -> None:
        allowed = {"answerable": ("yes", "partial"), "multi_hop": ("yes", "partial"), "unanswerable": ("no",)}
        if self.class_ in allowed and self.answerable is not None:
            require(
                self.answerable in allowed[self.class_],
                f"class {self.class_} does not allow answerable {self.answerable}",
            )

    @property
    def cluster(self) -> str:
        """What is resampled as one: the conversation, else the paraphrase group, else the question."""
        if self.conversation is not None:
            return f"conversation {self.conversation.id}"
        return f"question {self.paraphrase_of or self.query_id}"


class CaseLine(Case, frozen=True, kw_only=True):
    """A case as people write it, one JSON object a line: `relevant` and `corpus_version` are allowed too."""

    relevant: tuple[Relevant, ...] | None = None
    corpus_version: str | None = None

    def __post_init__(self) -> None:
        require(self.relevant is None or self.evidence is None, "relevant and evidence are both present; keep one")
        self.to_case()

    def to_case(self) -> Case:
        """The stored form: `relevant` expanded to document-level evidence r1..rn, class and truth filled in."""
        known = {name: getattr(self, name) for name in Case.__struct_fields__}
        if self.relevant is not None:
            known["evidence"] = tuple(
                Evidence(id=EvidenceId(f"r{number}"), document_id=one.document_id, grade=one.grade, version=one.version)
                for number, one in enumerate(self.relevant, 1)
            )
        known["answerable"], known["class_"] = _fill(self.class_, self.answerable, known["evidence"])
        return Case(**known)


def _fill(
    class_: CaseClass | None, answerable: Answerable | None, evidence: tuple[Evidence, ...] | None
) -> tuple[Answerable, CaseClass]:
    if answerable is None:
        if class_ == "unanswerable" or (class_ is None and evidence == ()):
            answerable = "no"
        elif class_ in ("adversarial", "cross_tenant"):
            answerable = "not_applicable" if not evidence else "yes"
        else:
            answerable = "yes"
    return answerable, class_ or ("unanswerable" if answerable == "no" else "answerable")


class Rubric(Record, frozen=True, kw_only=True):
    """What the grades mean."""

    name: Name
    grades: dict[str, str]


NATIVE_RUBRIC = Rubric(
    name="ragassay/1",
    grades={
        "3": "directly contains the key fact and its boundary conditions",
        "2": "contains necessary evidence that must be combined with another passage",
        "1": "topically related but insufficient",
        "0": "irrelevant or misleading",
    },
)
EXTERNAL_RUBRIC = Rubric(name="external", grades={})


class Benchmark(Record, frozen=True, kw_only=True):
    """The sealed header of a set of cases."""

    name: Name
    version: Name
    corpus: Digest
    relevance_unit: Literal["span", "passage", "document"]
    rubric: Rubric
    completeness: Literal["complete", "pooled", "partial", "unknown"]
    """What an unjudged place means: `complete` only if every document was judged for every question."""
    rel: Annotated[int, Meta(ge=1)]
    """The least grade that counts as relevant."""
    cases: Count
    cases_digest: Digest
    """`digest_set` over the digests of the cases."""
    blob: Digest
    """JSON lines of Case (zstd), in the order given."""
    corpus_version: str | None = None
    dangling: Count | None = None
    """Pieces of evidence whose document is not in the corpus; they stay in the denominators."""
    notes: str | None = None
    provenance: Provenance | None = None
    """Of questions and labels, as it was declared; no part of the identity."""

    def identity(self) -> Digest:
        """The digest that a Subject names: all but where the bytes are, so that compression moves nothing."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("blob", "provenance")}
        return digest_of({name: value for name, value in fields.items() if value is not None})
