"""What two runs stood on, identity by identity: each thing that differs, once, as its cause. Reads no output."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import msgspec

from ragassay.compare.changes.documents import SAME as SAME_DOCUMENTS
from ragassay.compare.changes.documents import Documents, document_changes, passages_same, segmentation_changes
from ragassay.compare.changes.questions import SAME as SAME_QUESTIONS
from ragassay.compare.changes.questions import Questions, question_changes
from ragassay.compare.changes.scorings import judge_changes, policy_changes, scoring_changes
from ragassay.compare.changes.shown import change, text_of
from ragassay.compare.changes.systems import system_changes
from ragassay.records.base import Digest
from ragassay.records.comparison import Artefact, Change
from ragassay.records.policy import Policy
from ragassay.records.protocol import Protocol, Run, Scoring, Subject
from ragassay.records.score import ScoreTable
from ragassay.store import Store

Tables = tuple[ScoreTable, ScoreTable]
_OF_SUBJECT: dict[str, Artefact] = {
    "as_of": "as_of", "seed": "seed", "repeats": "repeats", "top_k": "top_k", "history": "history",
    "timeout_s": "timeout", "redaction": "redaction", "resolution": "resolution",
}  # fmt: skip
_BY_THE_MODEL = frozenset({"model", "system_fingerprint", "generator"})
"""Reported versions that follow from the generator that was asked."""


class _Versions(msgspec.Struct):
    """What is read of a trace here."""

    versions: dict[str, str] = {}


class Sides:
    """Two runs and the records that they stand on, read once."""

    def __init__(self, store: Store, baseline: Run, candidate: Run) -> None:
        self.store = store
        self.runs = (baseline, candidate)
        self.protocols = tuple(store.get_record(Protocol, one.protocol) for one in self.runs)
        self.subjects = tuple(store.get_record(Subject, one.subject) for one in self.runs)

    @cached_property
    def documents(self) -> Documents:
        """The corpora, set against each other."""
        a, b = self._objects("corpus")
        if a is None or b is None or a == b:
            return SAME_DOCUMENTS
        return document_changes(self.store, a, b, (self.subjects[0].as_of, self.subjects[1].as_of))

    @cached_property
    def questions(self) -> Questions:
        """The benchmarks, set against each other."""
        a, b = self._objects("benchmark")
        if a is None or b is None or a == b:
            return SAME_QUESTIONS
        return question_changes(self.store, a, b, corpus_same=self.corpus_same, edited=self.documents.moved)

    @property
    def corpus_same(self) -> bool:
        """Whether both stand on one corpus."""
        return self.subjects[0].corpus == self.subjects[1].corpus

    @cached_property
    def passages_same(self) -> bool:
        """Whether both were cut into the same passages."""
        a, b = self._objects("segmentation")
        return a == b or passages_same(self.store, a, b)

    @property
    def segmentation_changes(self) -> list[Change]:
        """What differs in how the corpora were cut."""
        a, b = self._objects("segmentation")
        return [] if a == b else segmentation_changes(self.store, a, b, corpus_same=self.corpus_same)

    def _objects(self, role: Literal["corpus", "segmentation", "benchmark"]) -> tuple[Digest | None, Digest | None]:
        a, b = (one.objects.get(role) for one in self.protocols)
        return a, b


def artefacts(
    store: Store, baseline: Run, candidate: Run, *, scores: Tables | None = None, sides: Sides | None = None,
    policies: tuple[Digest, Digest] | None = None,
) -> tuple[Change, ...]:  # fmt: skip
    """Everything of two runs that differs, each thing once: in documents, parsers, passages, questions, the system,
    the protocol, the scoring, the policy, and in what the systems reported of their versions.

    What follows from another difference is left out: an index id where passages or embedder moved, passages and
    places of labels where a text moved, a text where its parser moved, a reported model where another one was asked.
    Where a person moved both, only the cause that is known is named. `scores`: the tables of the two runs, whose
    scoring counts in place of the sealed one and whose judges are compared as well. `policies`: those by which the runs
    were decided, in place of the sealed ones. Order: as above.

    Raises IntegrityError if a record of the store is not what its digest says.
    """
    known = sides or Sides(store, baseline, candidate)
    return tuple(_all(store, known, scores, policies))


def _all(store: Store, known: Sides, scores: Tables | None, policies: tuple[Digest, Digest] | None) -> Iterator[Change]:
    ours, theirs = known.subjects
    yield from known.documents.changes
    yield from known.segmentation_changes
    yield from known.questions.changes
    of_system = system_changes(ours.system, theirs.system, passages_same=known.passages_same)
    yield from of_system
    for field, kind in _OF_SUBJECT.items():
        one, other = getattr(ours, field), getattr(theirs, field)
        if one != other:
            yield change(kind, field, text_of(one), text_of(other))
    yield from _measuring(store, known, scores)
    sealed = (known.protocols[0].policy, known.protocols[1].policy)
    before_policy, after_policy = policies or sealed
    if before_policy != after_policy:
        yield from policy_changes(*(store.get_record(Policy, one) for one in (before_policy, after_policy)))
    other_model = any(one.artefact == "generator" for one in of_system)
    for name, before, after in _versions(store, *known.runs):
        if not (other_model and name in _BY_THE_MODEL):
            yield change("versions", name, before, after)


def _measuring(store: Store, known: Sides, scores: Tables | None) -> Iterator[Change]:
    ours, theirs = known.protocols
    wanted = (scores[0].scoring, scores[1].scoring) if scores is not None else (ours.scoring, theirs.scoring)
    if wanted[0] != wanted[1]:
        yield from scoring_changes(*(store.get_record(Scoring, one) for one in wanted))
    if scores is not None:
        yield from judge_changes(store, *scores)


def _versions(store: Store, a: Run, b: Run) -> Iterator[tuple[str, str | None, str | None]]:
    """Reported versions that differ; several values of one run stand side by side."""
    if a.contents == b.contents:
        return
    ours, theirs = (_reported(store, one) for one in (a, b))
    for key in sorted({*ours, *theirs}):
        before, after = (" | ".join(sorted(one.get(key, ()))) or None for one in (ours, theirs))
        if before != after:
            yield key, before, after


def _reported(store: Store, run: Run) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in store.get_raw_lines(run.contents):
        for key, value in msgspec.json.decode(line, type=_Versions).versions.items():
            found.setdefault(key, set()).add(value)
    return found
