"""Two benchmarks, question by question: what is asked, what is labelled, and the header. Scores nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from ragassay import benchmark as benchmark_room
from ragassay.compare.changes.shown import change, text_of
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark, Case, Evidence
from ragassay.records.comparison import Change
from ragassay.store import Store

ASKED = ("query", "principal", "conversation")
"""What of a case a system is asked with; everything else is a label."""
_HEADER = ("name", "version", "relevance_unit", "rubric", "completeness", "rel", "corpus_version", "notes")
_FOLLOWS = ("corpus_version",)
"""What of a header may move with the corpus."""


class Questions(NamedTuple):
    """The questions of two benchmarks, set against each other."""

    changes: tuple[Change, ...]
    asked_otherwise: frozenset[str]
    """Ids of questions that are put in other words, by somebody else, or after another history."""


SAME = Questions((), frozenset())


def question_changes(
    store: Store, a: Digest, b: Digest, *, corpus_same: bool, edited: Collection[str] = ()
) -> Questions:
    """What differs between two benchmarks (records by digest).

    `edited`: documents whose text moved. Where evidence in one of them only stands elsewhere, that follows from the
    document and is no change of the label.
    """
    before, after = store.get_record(Benchmark, a), store.get_record(Benchmark, b)
    if before.identity() == after.identity():
        return SAME
    changes = []
    for name in _HEADER:
        one, other = getattr(before, name), getattr(after, name)
        if one != other and not (name in _FOLLOWS and not corpus_same):
            changes.append(change("benchmark", name, text_of(one), text_of(other)))
    asked: set[str] = set()
    if before.cases_digest != after.cases_digest:
        ours = {one.query_id: one for one in benchmark_room.load(store, before)}
        theirs = {one.query_id: one for one in benchmark_room.load(store, after)}
        for query_id in sorted({*ours, *theirs}):
            one, other = ours.get(query_id), theirs.get(query_id)
            if one is None or other is None:
                pair = (None, other.query) if other is not None else (one.query if one is not None else None, None)
                changes.append(change("benchmark", f"question {query_id}", *pair))
                continue
            found = _between(one, other, edited)
            changes += [change("benchmark", f"question {query_id}: {name}", *found[name]) for name in found]
            asked.update([query_id] if any(name in ASKED for name in found) else [])
    return Questions(tuple(changes), frozenset(asked))


def _between(one: Case, other: Case, edited: Collection[str]) -> Mapping[str, tuple[str | None, str | None]]:
    if one == other:
        return {}
    one, other = _placeless(one, other, edited)
    return {
        name.rstrip("_"): (text_of(getattr(one, name)), text_of(getattr(other, name)))
        for name in one.__struct_fields__
        if getattr(one, name) != getattr(other, name)
    }


def _placeless(one: Case, other: Case, edited: Collection[str]) -> tuple[Case, Case]:
    """Both cases without the places of evidence that stand in an edited document and are otherwise the same."""
    if one.evidence is None or other.evidence is None or len(one.evidence) != len(other.evidence):
        return one, other
    pairs = [
        (_without_place(a), _without_place(b))
        if a.document_id in edited and _without_place(a) == _without_place(b)
        else (a, b)
        for a, b in zip(one.evidence, other.evidence, strict=True)
    ]
    return replace(one, evidence=tuple(a for a, _ in pairs)), replace(other, evidence=tuple(b for _, b in pairs))


def _without_place(one: Evidence) -> Evidence:
    return replace(one, start=None, end=None, version=None)
