"""Observations to estimates by class, by slice and by step, each with its five counts. Pools no classes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.measures import Declaration, declaration, parse
from ragassay.records.case import Case, CaseClass
from ragassay.records.protocol import Scoring
from ragassay.records.score import Bounds, Estimate, Interval, Observation, Population, Status
from ragassay.score.answer import BEYOND_ALL
from ragassay.score.fill import LIMITED
from ragassay.score.quantiles import quantile
from ragassay.score.summary import Summary, summarise
from ragassay.stats import mean_interval, ratio_interval

BOTH = frozenset(
    {"recall", "precision", "judged", "fact_coverage", "survival", "dedup_coverage", "context_precision",
     "context_recall", "evidence_density", "overlap_ratio", "duplicate_rate"}
)  # fmt: skip
"""Measures of which the mean over questions and the sum over items are both given."""
QUANTILES = {"median": 0.5, "p95": 0.95, "p99": 0.99}
TIMES = frozenset({"latency", "first_token"})
SUMS = frozenset({"tokens", "cost", "calls", "cache_hits"})
COUNTED = frozenset({"outcome", "errors"})
"""Measures whose target names a cell, not a part of the question: their rows are all counted."""
CLASSES: tuple[CaseClass, ...] = ("answerable", "multi_hop", "unanswerable", "adversarial", "cross_tenant")


class Told(NamedTuple):
    """A measure as an aggregate needs to know it."""

    spelled: str
    declared: Declaration | None
    step: str | None
    level: float
    unit: str

    @property
    def name(self) -> str:
        """Without parameters."""
        return self.declared.name if self.declared else self.spelled

    @property
    def within(self) -> tuple[float, float] | None:
        """Least and greatest value, where there is a greatest."""
        if self.declared is None or self.declared.high is None:
            return None
        return self.declared.low, self.declared.high


def estimate(observations: Iterable[Observation], cases: Sequence[Case], scoring: Scoring) -> list[Estimate]:
    """All aggregates over `observations`: by class, and by class and slice, at each step; classes are never pooled.

    Repeats are averaged inside the case first; a case counts as scored if any repeat has a value. Attempted are all
    cases of the population, also those without a row. `reasons` counts rows. Bounds, given where anything is not
    known, are of the mean if each unknown repeat were at its least or greatest. The order of the rows does not matter.
    """
    rows: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)
    for row in observations:
        name = row.measure.partition("(")[0].partition("@")[0]
        if row.target is None or name in COUNTED:
            rows[row.measure, row.step or ""].append(row)
        if name in LIMITED:
            members[row.measure].add(row.query_id)
    populations = _populations(cases)
    made: list[Estimate] = []
    for (measure, step), own_rows in rows.items():
        by_case: dict[str, list[Observation]] = defaultdict(list)
        for row in own_rows:
            by_case[row.query_id].append(row)
        told = _told(measure, step or None, scoring)
        low, high = told.within or (0.0, None)
        summaries = {
            case.query_id: summarise(sorted(by_case.get(case.query_id, ()), key=lambda row: row.repeat), low, high)
            for case in cases
            if measure not in members or case.query_id in members[measure]
        }
        for population, own in populations.items():
            group = [(case, summaries[case.query_id]) for case in own if case.query_id in summaries]
            if group:
                made.extend(_aggregates(told, population, group))
    made.sort(key=_order)
    return made


def _told(measure: str, step: str | None, scoring: Scoring) -> Told:
    try:
        declared = declaration(parse(measure).name)
    except UsageError:
        declared = None
    unit = declared.unit if declared else "ratio"
    if declared and declared.name == "context_tokens":
        unit = f"tokens ({scoring.tokenizer})"
    if declared and declared.name == "cost":
        unit = str(parse(measure).get("kind") or unit)
    return Told(measure, declared, step, scoring.level, unit)


def _populations(cases: Sequence[Case]) -> dict[Population, list[Case]]:
    found: dict[Population, list[Case]] = {}
    for case in sorted(cases, key=lambda one: one.query_id):
        for name in (None, *case.slice):
            found.setdefault(Population(class_=case.class_ or "answerable", slice=name), []).append(case)
    return found


def _order(one: Estimate) -> tuple[int, str, str, str, str]:
    population = one.population
    return (CLASSES.index(population.class_), population.slice or "", one.measure, one.step or "", one.aggregation)


Group = list[tuple[Case, Summary]]


def _aggregates(told: Told, population: Population, group: Group) -> list[Estimate]:
    base = _Base(told, population, group)
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


class _Base:
    """One measure over one population: the counts that all its aggregates share."""

    def __init__(self, told: Told, population: Population, group: Group) -> None:
        self.told, self.population, self.group = told, population, group
        self.counts: Counter[Status] = Counter(one.status for _, one in group)
        self.reasons: Counter[str] = Counter()
        for _, one in group:
            self.reasons.update(one.reasons)
        self.scored = [(case, one) for case, one in group if one.status == "value"]
        self.clusters = [case.cluster for case, _ in self.scored]
        self.coarse = sum(one.coarse for _, one in self.scored)

    def make(
        self,
        aggregation: str,
        number: float | None,
        *,
        reason: str = "nothing_scored",
        numerator: float | None = None,
        denominator: float | None = None,
        interval: Interval | None = None,
        bounds: Bounds | None = None,
    ) -> Estimate:
        return Estimate(
            measure=self.told.spelled,
            population=self.population,
            aggregation=aggregation,  # type: ignore[arg-type]
            status="undefined" if number is None else "value",
            attempted=len(self.group),
            scored=self.counts["value"],
            undefined=self.counts["undefined"],
            missing=self.counts["missing"],
            error=self.counts["error"],
            step=self.told.step,
            value=number,
            reason=reason if number is None else None,
            numerator=numerator,
            denominator=denominator,
            interval=interval,
            bounds=bounds,
            reasons=dict(sorted(self.reasons.items())),
            coarse=self.coarse or None,
            unit=self.told.unit,
        )

    def macro(self) -> Estimate:
        """Mean over questions."""
        if not self.scored:
            return self.make("macro", None, bounds=self._mean_bounds())
        values = [one.value for _, one in self.scored]
        found = mean_interval(values, self.clusters, self.told.level, self.told.within)
        mean = math.fsum(values) / len(values)
        return self.make(
            "macro",
            mean,
            numerator=math.fsum(values),
            denominator=float(len(values)),
            interval=_interval(found),
            bounds=self._mean_bounds(mean),
        )

    def _mean_bounds(self, *mean: float) -> Bounds | None:
        """What the mean could be; with nothing scored it is not known at all, and these are all that there is."""
        ends = [(one.low, one.high) for _, one in self.group if one.low is not None and one.high is not None]
        if not ends or not any(one.unsure for _, one in self.group):
            return None
        low = math.fsum(low for low, _ in ends) / len(ends)
        high = math.fsum(high for _, high in ends) / len(ends)
        return Bounds(low=min(low, *mean), high=max(high, *mean)) if mean else Bounds(low=low, high=high)

    def micro(self) -> Estimate:
        """Sum of numerators over sum of denominators."""
        tops = [one.numerator for _, one in self.scored]
        bottoms = [one.denominator for _, one in self.scored]
        top, bottom = math.fsum(tops), math.fsum(bottoms)
        if not self.scored or bottom == 0:
            return self.make("micro", None, bounds=None if self.scored else self._ratio_bounds())
        found = ratio_interval(tops, bottoms, self.clusters, self.told.level, self.told.within)
        return self.make(
            "micro",
            top / bottom,
            numerator=top,
            denominator=bottom,
            interval=_interval(found),
            bounds=self._ratio_bounds(top / bottom),
        )

    def _ratio_bounds(self, *ratio: float) -> Bounds | None:
        """With every denominator known they are of the ratio; with one unknown, nothing narrower than the range is."""
        known = [one for _, one in self.group if one.low is not None]
        if self.told.within is None or not any(one.unsure for one in known):
            return None
        bottom = math.fsum(one.bottom or 0.0 for one in known)
        if bottom == 0 or any(one.bottom is None for one in known):
            return Bounds(low=self.told.within[0], high=self.told.within[1])
        low = math.fsum(one.low_part for one in known) / bottom
        high = math.fsum(one.high_part for one in known) / bottom
        return Bounds(low=min(low, *ratio), high=max(high, *ratio)) if ratio else Bounds(low=low, high=high)

    def total(self) -> Estimate:
        """Sum over all repeats that have a value."""
        values = [value for _, one in self.scored for value in one.values]
        return self.make("sum", math.fsum(values) if values else None, denominator=float(len(values)) or None)

    @property
    def _given_up(self) -> list[float]:
        return [time for _, one in self.group for time in one.censored]

    def time_mean(self) -> Estimate:
        """Mean over questions; with a timeout only its least is known: undefined(right_censored) with that bound."""
        given_up = self._given_up
        if not given_up:
            return self.macro()
        least = _mean([_mean((*one.values, *one.censored)) for _, one in self.group if one.values or one.censored])
        return self.make("macro", None, reason="right_censored", bounds=Bounds(low=least, high=BEYOND_ALL))

    def time_quantile(self, name: str, share: float) -> Estimate:
        """Kaplan-Meier quantile over all repeats; undefined(right_censored) where timeouts hide it."""
        values = [value for _, one in self.scored for value in one.values]
        given_up = self._given_up
        found = quantile(values, given_up, share)
        if found is None and given_up:
            least = max((*values, min(given_up)))
            return self.make(name, None, reason="right_censored", bounds=Bounds(low=least, high=BEYOND_ALL))
        return self.make(name, found)

    def flips(self) -> list[Estimate]:
        """Share of questions whose repeats disagree, where there are repeats."""
        if not any(len(one.values) + sum(one.reasons.values()) > 1 for _, one in self.group):
            return []
        told = self.told._replace(spelled=_flip_of(self.told.spelled), declared=declaration("flip_rate"), unit="ratio")
        return [_Base(told, self.population, [(case, _flip(one)) for case, one in self.group]).macro()]


def _flip(one: Summary) -> Summary:
    """1 if two repeats of a question disagree, 0 if all that are known agree; one known repeat says nothing."""
    made = Summary(one.status, unknown=one.unknown, reasons=Counter(one.reasons))
    if len(one.values) > 1:
        made.value = made.numerator = float(len(set(one.values)) > 1)
        made.denominator, made.values = 1.0, (made.value,)
        made.low, made.high = made.value, 1.0 if one.unknown else made.value
        made.unsure = made.low != made.high
        return made
    if one.status == "value":
        made.status = one.unknown or "undefined"
        made.reasons["fewer_than_2_repeats"] += 1
    if made.status != "undefined":
        made.low, made.high, made.unsure = 0.0, 1.0, True
    return made


def _flip_of(measure: str) -> str:
    """`hit(rel=2)@5` as the parameter of flip_rate: `flip_rate(of=hit/rel:2/at:5)`."""
    head, _, cut = measure.partition("@")
    name, _, inner = head.rstrip(")").partition("(")
    parts = [name, *(one.replace("=", ":") for one in inner.split(",") if one), *([f"at:{cut}"] if cut else [])]
    return f"flip_rate(of={'/'.join(parts)})"


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _interval(found: object) -> Interval | None:
    low, high = getattr(found, "low", None), getattr(found, "high", None)
    if low is None or high is None:
        return None
    return Interval(low=low, high=high, level=found.level, method=found.method, clusters=found.clusters)  # type: ignore[attr-defined]
