"""An experiment: which settings were tried on which questions, and which one was chosen by what. Chooses nothing."""

from __future__ import annotations

from typing import Literal

import msgspec

from ragassay.records.base import Digest, Record, require
from ragassay.records.case import CaseClass
from ragassay.records.document import Count, Name

TRIED = "tried/"
"""Names of all experiments of a store, also of those whose own name another one took."""


class Tried(Record, frozen=True, kw_only=True):
    """One setting of a grid, and what came of it."""

    label: Name
    changes: str
    """Key -> value that it changes in the settings, as canonical JSON."""
    subject: Digest
    run: Digest
    """Record of the Run."""
    scores: Digest
    """Record of the ScoreTable."""
    cached: Count
    """Questions of which a step came from a cache: their time was not measured."""


class Choice(Record, frozen=True, kw_only=True):
    """The rule by which one setting is chosen; declared before anything is asked."""

    measure: Name
    class_: CaseClass = msgspec.field(name="class")
    step: Name | None = None
    """The list that is measured; absent: the last one before the context, or the measure's own place."""
    direction: Literal["higher", "lower"]


class Experiment(Record, frozen=True, kw_only=True):
    """What a reader of a chosen number must know: of how many it is the best, and on which questions."""

    name: Name
    benchmark: Digest
    """`Benchmark.identity()` of the questions that were asked."""
    split: Literal["dev"]
    split_by: Name
    """Who says so: slices of the questions, the name of the benchmark, the settings or the experiment's file."""
    before: Count = 0
    """Other settings that earlier experiments of this store tried on the same questions."""
    choice: Choice
    tried: tuple[Tried, ...]
    """All settings, in the order of the grid."""
    chosen: Count | None = None
    """Place in `tried`; absent where no setting has a value."""
    tied: tuple[Count, ...] = ()
    """Places of others with exactly the same value; the first declared is chosen."""
    not_told_apart: tuple[Count, ...] = ()
    """Places of those that the paired test does not tell from the chosen one, ties among them."""

    def __post_init__(self) -> None:
        require(bool(self.tried), "tried is empty: nothing was tried")
        places = [*self.tied, *self.not_told_apart, *(() if self.chosen is None else (self.chosen,))]
        require(all(one < len(self.tried) for one in places), "a place is not in tried")
