"""Estimates that are no mean over rows of their own: sets of decisions, paraphrases, repeats. Makes no rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.measures import Measure, parse
from ragassay.measures.selective import pass_all
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.score import Estimate, Observation, Population
from ragassay.score import sets
from ragassay.score.aggregate import Base, Group, Told, told_of
from ragassay.score.confidence import CONFIDENCE, DECISIONS, right_of
from ragassay.score.judged import by_judges
from ragassay.score.paraphrases import groups, summary_of, variants
from ragassay.score.paraphrases import told_of as group_told
from ragassay.score.summary import Summary, summarise

Rows = Mapping[tuple[str, str], Sequence[Observation]]
Populations = Mapping[Population, Sequence[Case]]
Joined = Callable[[Measure, Observation, Observation | None], sets.Marked]
OVERLAP = "paraphrase_overlap"
NO_GROUP = "no_paraphrases"
GROUPED = frozenset({"paraphrase_consistency", OVERLAP})


class Place(NamedTuple):
    """Rows that a derived measure is made of, and the step at which they were taken."""

    measure: Measure
    """The derived one, with all that its rows say."""
    step: str | None
    rows: Mapping[str, Sequence[Observation]]
    """By query_id."""


class Made(NamedTuple):
    """What one derived estimate is made of."""

    told: Told
    population: Population
    group: Group
    """Each question, or each group of paraphrases by its first, with what is known of it."""
    own: sets.Own | None = None
    """The decisions, where it is a figure of all of them at once."""


def derived(rows: Rows, classes: Populations, across: Populations, scoring: Scoring) -> Iterator[Estimate]:
    """The estimates of every sealed measure of this kind, over `classes`, or over `across` where two groups of
    questions are held against each other.
    """
    for one in made_of(rows, classes, across, scoring):
        base = Base(one.told, one.population, one.group)
        if one.own is not None:
            measure = parse(one.told.spelled)
            ranked = measure.name == "retrieval_auroc"
            yield (
                sets.of_ranked(base, one.own, scoring.level)
                if ranked
                else sets.of_decisions(measure, base, one.own, scoring.level)
            )
        elif one.group:
            yield base.macro()
        else:
            yield base.make("macro", None, reason=NO_GROUP)


def made_of(rows: Rows, classes: Populations, across: Populations, scoring: Scoring) -> Iterator[Made]:
    """What every sealed measure of this kind is made of, population by population."""
    for sealed in by_judges(map(parse, scoring.measures), scoring):
        if sealed.name in DECISIONS:
            for place in _at(sealed, right_of(sealed), rows):
                yield from _decisions(place, rows.get((str(CONFIDENCE), ""), ()), classes, scoring, sets.decision)
        elif sealed.name == "retrieval_auroc":
            score = rows.get((f"retrieval_{sealed.get('score')}", ""), ())
            for place in _at(sealed, sealed, rows):
                yield from _decisions(place, score, across, scoring, sets.ranked)
        elif sealed.name in GROUPED:
            for place in _at(sealed, sealed.inner or sealed, rows):
                yield from _paraphrases(place, classes, scoring)
        elif sealed.name == "pass_k" and sealed.inner is not None:
            for place in _at(sealed, sealed.inner, rows):
                yield from _repeats(place, classes, scoring)


def _at(sealed: Measure, base: Measure, rows: Rows) -> Iterator[Place]:
    """Every step at which the base was measured; `rel` may have been filled in by the benchmark."""
    for spelled, step in sorted(rows):
        if spelled.partition("(")[0].partition("@")[0] != base.name:
            continue
        found = parse(spelled)
        rel = (found.inner or found).get("rel")
        if found != base and (rel is None or base.with_rel(int(rel)) != found):
            continue
        by_case: dict[str, list[Observation]] = defaultdict(list)
        for row in rows[spelled, step]:
            by_case[row.query_id].append(row)
        yield Place(sealed if rel is None else sealed.with_rel(int(rel)), step or None, by_case)


def _decisions(
    place: Place, scores: Sequence[Observation], populations: Populations, scoring: Scoring, joined: Joined
) -> Iterator[Made]:
    sure = {(one.query_id, one.repeat): one for one in scores}
    told = told_of(str(place.measure), place.step, scoring)
    for population, cases in populations.items():
        made = [
            (case, [joined(place.measure, row, sure.get((row.query_id, row.repeat))) for row in own])
            for case in cases
            if (own := place.rows.get(case.query_id, ()))
        ]
        if made:
            group = [(case, summarise([one.row for one in own], 0.0, 1.0)) for case, own in made]
            yield Made(told, population, group, made)


def _paraphrases(place: Place, classes: Populations, scoring: Scoring) -> Iterator[Made]:
    """Populations with a group; where there is no group at all, each class without one."""
    told = told_of(str(place.measure), place.step, scoring)
    any_group = False
    for population, cases in classes.items():
        made = [
            (own[0], summary_of(group_told(place.measure, variants(place.measure, own, place.rows))))
            for _, own in sorted(groups(cases).items())
        ]
        if made:
            any_group = True
            yield Made(told, population, made)
    if not any_group:
        for population in classes:
            if population.slice is None:
                yield Made(told, population, [])


def _repeats(place: Place, classes: Populations, scoring: Scoring) -> Iterator[Made]:
    told = told_of(str(place.measure), place.step, scoring)
    for population, cases in classes.items():
        made = [
            (case, passed(place.measure, place.rows[case.query_id])) for case in cases if case.query_id in place.rows
        ]
        if made:
            yield Made(told, population, made)


def passed(measure: Measure, rows: Sequence[Observation]) -> Summary:
    """pass^k of one case; bounds where a repeat has no value."""
    k = int(measure.get("k") or 1)
    known = [one.value for one in rows if one.value is not None]
    lost = [one for one in rows if one.status in ("missing", "error")]
    passed, tried, unknown = sum(_passes(measure, one) for one in known), len(known), len(lost)
    made = Summary("undefined", reasons=Counter(one.reason or one.status for one in rows if one.status != "value"))
    if tried + unknown < k:
        made.reasons["fewer_than_k_repeats"] += 1
        return made
    made.low = pass_all(passed, tried + unknown, k)
    made.high = pass_all(passed + unknown, tried + unknown, k)
    made.unsure = unknown > 0
    if tried < k:
        made.status = "error" if any(one.status == "error" for one in lost) else "missing"
        return made
    made.status, made.value = "value", pass_all(passed, tried, k)
    made.numerator, made.denominator, made.values = made.value, 1.0, (made.value,)
    made.low, made.high = min(made.low, made.value), max(made.high, made.value)
    return made


def _passes(measure: Measure, value: float) -> bool:
    inner, least = measure.inner, measure.get("least")
    if inner is not None and inner.declared.direction == "lower":
        return value <= inner.declared.low if least is None else value <= float(least) + 1e-12
    return value >= (1.0 if least is None else float(least) - 1e-12) and not math.isnan(value)
