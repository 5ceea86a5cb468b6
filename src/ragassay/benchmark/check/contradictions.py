"""Cases that ask the same and are labelled in contradiction. Decides not which of them is right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ragassay.benchmark.check.material import Context, Question, finding
from ragassay.benchmark.check.model import Finding, Place
from ragassay.benchmark.check.repeats import clusters, place_of, same_question

NOTHING_SHARED = "no relevant document in common"
_MOST_SIGNATURES = 100
"""Of one question: each case is compared with so many different labellings of it."""


class Signature(NamedTuple):
    """What the labels of one case say."""

    answerable: bool | None
    relevant: frozenset[tuple[object, ...]]
    below: frozenset[tuple[object, ...]]
    documents: frozenset[str]


def _signature(one: Question) -> Signature:
    truth = {"no": False, "yes": True, "partial": True}.get(one.case.answerable or "")
    places: dict[bool, set[tuple[object, ...]]] = {True: set(), False: set()}
    for label, _ in one.labels:
        places[label.grade >= one.rel].add((label.document_id, label.version or "", label.start, label.end))
    documents = frozenset(str(label.document_id) for label, _ in one.relevant)
    return Signature(truth, frozenset(places[True]), frozenset(places[False] - places[True]), documents)


def disagreement(one: Signature, other: Signature) -> str | None:
    """How the labels of two cases that ask the same contradict each other; None if they do not."""
    if one.answerable is not None and other.answerable is not None and one.answerable != other.answerable:
        return "one is answerable, the other is not"
    if one.relevant & other.below or other.relevant & one.below:
        return "one place is relevant in one and not in the other"
    if one.documents and other.documents and not one.documents & other.documents:
        return NOTHING_SHARED
    return None


def contradictions(asked: Sequence[Question]) -> list[Finding]:
    """Cases that ask the same, by their words or by declaration, and are labelled in contradiction."""
    groups = clusters(asked)
    together: list[list[Question]] = list(same_question(asked))
    families: dict[tuple[bool, str, Context], list[Question]] = defaultdict(list)
    for one in asked:
        if one.case.conversation is None:
            families[one.foreign, groups.of[one.foreign, one.case.query_id], one.context].append(one)
    together += [group for group in families.values() if len(group) > 1]
    places: dict[tuple[str, str], Place] = {}
    for group in together:
        by_signature: dict[Signature, list[Question]] = defaultdict(list)
        for one in group:
            by_signature[_signature(one)].append(one)
        known = list(by_signature)[:_MOST_SIGNATURES] if len(by_signature) > 1 else []
        for mine, members in by_signature.items():
            for theirs in known:
                said = disagreement(mine, theirs)
                if said is not None:
                    _note(places, members, by_signature[theirs], said)
    return finding(
        "contradiction",
        "wrong",
        "case",
        "asking what another case asks, and labelled in contradiction to it",
        why="no system can be right on both; where no relevant document is shared, labels are missing on both",
        do="decide which label holds and give it to both; ask a second person where you cannot",
        places=places.values(),
    )


def _note(places: dict[tuple[str, str], Place], members: list[Question], others: list[Question], said: str) -> None:
    """Each member of the benchmark, once for each kind of disagreement, with the first of the others."""
    for one in members:
        other = next((two for two in others if not (one.foreign and two.foreign)), None)
        if other is not None and not one.foreign:
            places.setdefault((one.case.query_id, said), place_of(one, other, said))
