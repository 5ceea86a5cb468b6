"""A score table opened once: its questions, and each measure at each step as arrays. Compares nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

import ragassay.benchmark
from ragassay.compare.cells import Cells, Flags, Ints, Key, Rows, collapse, read_rows
from ragassay.measures import parse
from ragassay.records import canonical
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark, Case
from ragassay.records.protocol import Protocol, Run, Scoring, Subject
from ragassay.records.score import CLASS_ORDER, Estimate, Observation, Population, ScoreTable
from ragassay.records.trace import TraceContent
from ragassay.score.aggregate import Told, told_of
from ragassay.score.answer import RUNTIME_MEASURES
from ragassay.score.confidence import DECISIONS, OF_GROUPS, with_implied
from ragassay.score.derived import GROUPED, Made, made_of
from ragassay.score.estimates import ACROSS, COUNTED
from ragassay.score.fill import LIMITED
from ragassay.store import Store

SETS = DECISIONS | OF_GROUPS | GROUPED | {"retrieval_auroc"}
"""Measures that are made of rows of others, or of many questions at once."""
_NO_LISTS = frozenset({"assemble", "guard", "cite"})


class Side:
    """One arm: the records under a score table, and its observations, read when they are first asked for.

    Questions are in the order of their ids; arrays have one place a question.
    """

    def __init__(self, store: Store, scores: Digest, name: str) -> None:
        self.store, self.digest, self.name = store, scores, name
        self.table = store.get_record(ScoreTable, scores)
        self.run = store.get_record(Run, self.table.run_record)
        self.protocol = store.get_record(Protocol, self.run.protocol)
        self.subject = store.get_record(Subject, self.run.subject)
        self.scoring = store.get_record(Scoring, self.table.scoring)
        self.benchmark = store.get_record(Benchmark, self.protocol.objects["benchmark"])
        self.joins: dict[int, object] = {}
        """Other side -> the questions of both, by `ragassay.compare.pairs`."""
        self._cells: dict[Key, Cells] = {}

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All questions of the benchmark."""
        return tuple(sorted(ragassay.benchmark.load(self.store, self.benchmark), key=lambda one: one.query_id))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Question -> its place."""
        return {case.query_id: place for place, case in enumerate(self.cases)}

    @cached_property
    def clusters(self) -> Ints:
        """A number for the conversation, paraphrase group or question that each question belongs to."""
        seen: dict[str, int] = {}
        return np.array([seen.setdefault(case.cluster, len(seen)) for case in self.cases], np.int64)

    @cached_property
    def members(self) -> Mapping[Population, Flags]:
        """Population -> which questions are of it: each class, and each of its slices, `risk=BAND` among them.

        The class `answerability`, all questions at once, is there for measures that compare both kinds.
        """
        found: dict[Population, list[int]] = {}
        for place, case in enumerate(self.cases):
            risk = () if case.risk is None else (f"risk={case.risk}",)
            for name in dict.fromkeys((None, *case.slice, *risk)):
                for class_ in (case.class_ or "answerable", "answerability"):
                    found.setdefault(Population(class_=class_, slice=name), []).append(place)
        flags = {}
        for population in sorted(found, key=order_of):
            flags[population] = np.zeros(len(self.cases), np.bool_)
            flags[population][found[population]] = True
        return flags

    def populations(self, measure: str) -> tuple[Population, ...]:
        """The populations over which a measure is reported: classes are never pooled, but for what compares them."""
        across = told_of(measure, None, self.scoring).name in ACROSS
        return tuple(one for one in self.members if (one.class_ == "answerability") == across)

    @cached_property
    def _content(self) -> Mapping[Key, Rows]:
        return read_rows(self.store.get_raw_lines(self.table.observations), self.places, COUNTED)

    @cached_property
    def _runtime(self) -> Mapping[Key, Rows]:
        return read_rows(self.store.get_raw_lines(self.table.runtime), self.places, COUNTED)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every (measure, step) that the table has rows of whole questions for, in order."""
        found = [key for key in {**self._content, **self._runtime} if not self._of_many(key[0])]
        return tuple(sorted(found, key=lambda key: (key[0], key[1] or "")))

    def _of_many(self, measure: str) -> bool:
        """Whether a row is only a part of a figure, such as on which side of an AUROC a question is."""
        told = self.told(measure, None)
        return told.name in GROUPED or (told.declared is not None and told.declared.aggregation == "set")

    def cells(self, measure: str, step: str | None) -> Cells | None:
        """A measure at a step, repeats averaged; None if the table has no row of it."""
        key = (measure, step)
        if key not in self._cells:
            rows = (self._runtime if measure.partition("(")[0] in RUNTIME_MEASURES else self._content).get(key)
            if rows is None:
                return None
            told = self.told(measure, step)
            self._cells[key] = collapse(rows, len(self.cases), told.within, limited=told.name in LIMITED)
        return self._cells[key]

    def told(self, measure: str, step: str | None) -> Told:
        """What an aggregate needs to know of a measure."""
        return told_of(measure, step, self.scoring)

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates of the table."""
        return tuple(self.store.get_lines(Estimate, self.table.estimates))

    @cached_property
    def derived(self) -> Mapping[tuple[str, str | None, Population], Made]:
        """What the estimates without rows of their own are made of: decisions, groups of paraphrases, repeats."""
        sealed = with_implied(parse(one) for one in self.scoring.measures)
        if not any(one.name in SETS for one in sealed):
            return {}
        needed = {f'"measure":"{one.name}'.encode() for one in sealed if one.name not in SETS - {"retrieval_auroc"}}
        needed |= {b'"measure":"' + name.encode() for name in GROUPED}
        rows: dict[tuple[str, str], list[Observation]] = defaultdict(list)
        for line in self.store.get_raw_lines(self.table.observations):
            if any(one in line for one in needed):
                row = canonical.parse(Observation, line)
                rows[row.measure, row.step or ""].append(row)
        over = {name: [case for case, own in zip(self.cases, flags, strict=True) if own]
                for name, flags in self.members.items()}  # fmt: skip
        classes = {name: own for name, own in over.items() if name.class_ != "answerability"}
        across = {name: own for name, own in over.items() if name.class_ == "answerability"}
        return {
            (one.told.spelled, one.told.step, one.population): one
            for one in made_of(rows, classes, across, self.scoring)
        }

    def traces(self) -> Iterable[TraceContent]:
        """What the system did, one key at a time."""
        return self.store.get_lines(TraceContent, self.run.contents)

    @cached_property
    def last_list(self) -> str | None:
        """The step that hands on the last list before the context, in the first trace that has one and did not fail."""
        for content in self.traces():
            lists = [one.name for one in content.steps if one.items_out is not None and one.kind not in _NO_LISTS]
            if lists and content.failure is None:
                return lists[-1]
        return None


def open_side(store: Store, scores: str, name: str) -> Side:
    """The arm behind a score table; IntegrityError if a record of it is missing or damaged."""
    return Side(store, Digest(scores), name)


def order_of(population: Population) -> tuple[int, str]:
    """Classes in the order of the scorecard, each before its slices."""
    return CLASS_ORDER.index(population.class_), population.slice or ""
