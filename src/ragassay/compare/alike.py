"""Whether two runs may be compared at all: the same corpus, questions and way of measuring, or that was declared."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol, get_args

from msgspec.structs import replace

from ragassay.compare.changes import Sides
from ragassay.compare.changes.scorings import policy_changes
from ragassay.errors import UsageError
from ragassay.records.case import Benchmark
from ragassay.records.comparison import Artefact, Change
from ragassay.records.policy import Policy
from ragassay.records.protocol import Subject
from ragassay.records.text import many

CORPUS: tuple[Artefact, ...] = (
    "document_text", "document_added", "document_removed", "document_acl", "document_metadata", "parser"
)  # fmt: skip
"""What `corpus` stands for in a declared variation."""
_KINDS: tuple[Artefact, ...] = get_args(Artefact)
_BY_SCORING = frozenset({"measure", "threshold", "judge"})
_NO_MATTER = frozenset({"level"})
"""Fields of a scoring layer that change no row."""
_CALIBRATION = " calibration"
"""What a judge was calibrated by says how far it is to be trusted, and moves no verdict."""
_SHOWN = 3


class Stands(Protocol):
    """What an arm stands on."""

    @property
    def subject(self) -> Subject:
        """What was asked, over what."""

    @property
    def benchmark(self) -> Benchmark:
        """The questions."""


class Unlike(NamedTuple):
    """What two arms differ in that nobody declared, and the artefacts that would have to be."""

    told: str
    kinds: tuple[Artefact, ...]


def variation_of(declared: Iterable[str]) -> tuple[Artefact, ...]:
    """Declared artefacts in their order, `corpus` spelled out; UsageError for a word that is none of them."""
    found: set[str] = set()
    for word in declared:
        if word == "corpus":
            found.update(CORPUS)
        elif word in _KINDS:
            found.add(word)
        else:
            near = difflib.get_close_matches(word, [*_KINDS, "corpus"], n=2)
            told = f"did you mean {' or '.join(near)}?" if near else f"corpus, or one of {', '.join(_KINDS)}"
            raise UsageError(f"{word!r} is nothing that can vary", field="variation", hint=told)
    return tuple(one for one in _KINDS if one in found)


def declared(changes: Iterable[Change], variation: Collection[str]) -> list[Change]:
    """The changes, each marked whether it was declared."""
    return [replace(one, declared=one.artefact in variation) for one in changes]


def of_measuring(known: Sides, changes: Iterable[Change]) -> list[Change]:
    """Without what differs in the two policies alone: they say how a run is decided, not how it was measured."""
    ours, theirs = (one.policy for one in known.protocols)
    if ours == theirs:
        return list(changes)
    of_policy = set(policy_changes(*(known.store.get_record(Policy, one) for one in (ours, theirs))))
    return [one for one in changes if one not in of_policy]


def check_alike(a: Stands, b: Stands, changes: Sequence[Change], variation: Collection[str]) -> None:
    """UsageError naming what differs and was not declared: corpus, benchmark, or how a measure of both was taken.

    What of the system differs is what a comparison is for and needs no word. A measure that one side alone has is not
    compared; nothing is refused for it. Nor is a benchmark that differs only as the corpus does, by where labels stand.
    `changes`: as `of_measuring` leaves them.
    """
    found = unlike(a, b, changes, variation)
    if found is not None:
        words = ("corpus",) if found.kinds == CORPUS else found.kinds
        kinds = " ".join(f"--variation {one}" for one in words)
        raise UsageError(
            f"{found.told}; a difference in results could be theirs",
            field="variation",
            hint=f"if that is what you study, say so: {kinds}; else run both on the same",
        )


def unlike(a: Stands, b: Stands, changes: Sequence[Change], variation: Collection[str]) -> Unlike | None:
    """What `check_alike` refuses, for who has other words for it; None where the two may be compared."""
    refused = [one for one in changes if one.artefact not in variation and _counts(one)]
    named = {one.artefact for one in changes}
    other_corpus = a.subject.corpus != b.subject.corpus
    if other_corpus and not {*CORPUS} & (named | {*variation}):
        return Unlike(f"the corpora differ: {a.subject.corpus} and {b.subject.corpus}", CORPUS)
    ours, theirs = a.benchmark.identity(), b.benchmark.identity()
    if ours != theirs and not other_corpus and "benchmark" not in (named | {*variation}):
        return Unlike(f"the benchmarks differ: {ours} and {theirs}", ("benchmark",))
    told = []
    for what, kinds in (
        ("corpora", {*CORPUS}), ("benchmarks", {"benchmark"}), ("ways of measuring", {*_BY_SCORING})
    ):  # fmt: skip
        own = [one for one in refused if one.artefact in kinds]
        if own:
            told.append(f"the {what} differ ({_list(own)})")
    kinds_of = tuple(one for one in _KINDS if any(change.artefact == one for change in refused))
    return Unlike("; ".join(told), kinds_of) if told else None


def _counts(one: Change) -> bool:
    if one.artefact in _BY_SCORING:
        matters = one.name not in _NO_MATTER and not one.name.endswith(_CALIBRATION)
        return matters and one.before is not None and one.after is not None
    return one.artefact in CORPUS or one.artefact == "benchmark"


def _list(changes: Sequence[Change]) -> str:
    shown = ", ".join(f"{one.artefact} {one.name}" for one in changes[:_SHOWN])
    more = len(changes) - _SHOWN
    return shown if more <= 0 else f"{shown} and {more} more of {many(len(changes), 'change')}"
