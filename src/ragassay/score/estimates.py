"""Observations to estimates by class, by slice and by step, each with its five counts. Pools no classes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.score import CLASS_ORDER, Estimate, Observation, Population
from ragassay.score.aggregate import QUANTILES, Base, Group, Told, told_of
from ragassay.score.derived import OVERLAP, derived
from ragassay.score.fill import LIMITED
from ragassay.score.pile import Columns, Pile
from ragassay.score.summary import Summary, summarise

BOTH = frozenset(
    {"recall", "precision", "judged", "fact_coverage", "survival", "dedup_coverage", "context_precision",
     "context_recall", "evidence_density", "overlap_ratio", "duplicate_rate", "faithfulness", "citation_precision",
     "citation_recall", "vital_nuggets", "okay_nuggets", "context_utilisation", "noise_sensitivity"}
)  # fmt: skip
"""Measures of which the mean over questions and the sum over items are both given."""
TIMES = frozenset({"latency", "first_token"})
SUMS = frozenset({"tokens", "cost", "calls", "cache_hits"})
COUNTED = frozenset({"outcome", "errors"})
"""Measures whose target names a cell, not a part of the question: their rows are all counted."""
ACROSS = frozenset({"abstention_precision"})
"""Measures that are taken over questions of every class, those that may be answered beside those that may not."""


def estimate(observations: Iterable[Observation], cases: Sequence[Case], scoring: Scoring) -> list[Estimate]:
    """All aggregates over `observations`: by class, and by class and slice, at each step; classes are never pooled.

    Repeats are averaged inside the case first; a case counts as scored if any repeat has a value. Attempted are all
    cases of the population, also those without a row. `reasons` counts rows. Bounds, given where anything is not
    known, are of the mean if each unknown repeat were at its least or greatest. The order of the rows does not matter.
    """
    with Pile() as pile:
        counted = Counted(pile)
        for row in observations:
            counted.add(row, canonical_bytes(row))
        return counted.estimates(cases, scoring)


class Counted:
    """The rows that estimates are made of, taken one by one and put aside by measure and step."""

    def __init__(self, pile: Pile) -> None:
        self._rows = Columns(pile)

    def add(self, row: Observation, line: bytes) -> None:
        """One row, and its canonical bytes."""
        name = row.measure.partition("(")[0].partition("@")[0]
        if row.target is None or name in COUNTED or name == OVERLAP:
            self._rows.add(row.measure, row.step or "", line)

    def estimates(self, cases: Sequence[Case], scoring: Scoring) -> list[Estimate]:
        """As `estimate` says, of all rows that were added."""
        rows = self._rows
        populations, across = _populations(cases), _across(cases)
        made: list[Estimate] = list(derived(rows, populations, across, scoring))
        for measure, step in rows:
            told = told_of(measure, step or None, scoring)
            if told.name == OVERLAP or (told.declared is not None and told.declared.aggregation == "set"):
                continue
            summaries = _summaries(rows, (measure, step), told)
            nothing = summarise((), *_range(told))
            among = _members(rows, measure) if told.name in LIMITED else None
            for population, own in (across if told.name in ACROSS else populations).items():
                group = [(case, summaries.get(case.query_id, nothing)) for case in own
                         if among is None or case.query_id in among]  # fmt: skip
                if group:
                    made.extend(_aggregates(told, population, group))
        made.sort(key=_order)
        return made


def _range(told: Told) -> tuple[float, float | None]:
    return told.within or (0.0, None)


def _members(rows: Columns, measure: str) -> set[str]:
    """The questions that have a row of a measure, at whichever step: those that it is about."""
    return {row.query_id for key in rows if key[0] == measure for row in rows.each(key)}


def _summaries(rows: Columns, key: tuple[str, str], told: Told) -> dict[str, Summary]:
    """What is known of each question with a row. Rows mostly come question by question: then one is in memory."""
    low, high = _range(told)
    found: dict[str, Summary] = {}
    for name, own in groupby(rows.each(key), key=attrgetter("query_id")):
        if name in found:
            break
        found[name] = summarise(sorted(own, key=attrgetter("repeat")), low, high)
    else:
        return found
    every: dict[str, list[Observation]] = defaultdict(list)
    for row in rows.each(key):
        every[row.query_id].append(row)
    return {name: summarise(sorted(own, key=attrgetter("repeat")), low, high) for name, own in every.items()}


def _populations(cases: Sequence[Case]) -> dict[Population, list[Case]]:
    found: dict[Population, list[Case]] = {}
    for case in sorted(cases, key=lambda one: one.query_id):
        for name in (None, *case.slice):
            found.setdefault(Population(class_=case.class_ or "answerable", slice=name), []).append(case)
    return found


def _across(cases: Sequence[Case]) -> dict[Population, list[Case]]:
    """All questions, and all of each slice, as one population that compares answerable with unanswerable ones."""
    found: dict[Population, list[Case]] = {}
    for case in sorted(cases, key=lambda one: one.query_id):
        for name in (None, *case.slice):
            found.setdefault(Population(class_="answerability", slice=name), []).append(case)
    return found


def _order(one: Estimate) -> tuple[int, str, str, str, str]:
    population = one.population
    place = CLASS_ORDER.index(population.class_)
    return (place, population.slice or "", one.measure, one.step or "", one.aggregation)


def _aggregates(told: Told, population: Population, group: Group) -> list[Estimate]:
    base = Base(told, population, group)
    if told.name in TIMES:
        return [base.time_mean(), *(base.time_quantile(name, share) for name, share in QUANTILES.items())]
    if told.name in SUMS:
        return [base.macro(), base.total()]
    if told.name in COUNTED:
        return [base.total()]
    if told.name in BOTH:
        made = [base.macro(), base.micro()]
    elif told.declared is not None and told.declared.aggregation == "micro":
        made = [base.micro()]
    else:
        made = [base.macro()]
    if told.unit == "0 or 1" or told.name in ("abstention_rate", "false_refusal", "unsupported_answer"):
        made.extend(base.flips())
    return made
