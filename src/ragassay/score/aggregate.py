"""One measure over one population: its counts, and every figure that they allow. Chooses no population."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.measures import Declaration, declaration, parse
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.score import Bounds, Estimate, Interval, Population, Status
from ragassay.score.answer import BEYOND_ALL
from ragassay.score.quantiles import quantile
from ragassay.score.summary import Summary
from ragassay.stats import mean_interval, ratio_interval

Group = list[tuple[Case, Summary]]
QUANTILES = {"median": 0.5, "p95": 0.95, "p99": 0.99}


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


def told_of(measure: str, step: str | None, scoring: Scoring) -> Told:
    """What an aggregate needs to know of a measure of this spelling."""
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


class Base:
    """One measure over one population: the counts that all its aggregates share."""

    def __init__(self, told: Told, population: Population, group: Group) -> None:
        """`group`: each case with what is known of it, in the order of the cases."""
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
        unjudged: Bounds | None = None,
    ) -> Estimate:
        """An estimate of this measure and population with all its counts; `number` None: undefined(reason)."""
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
            unjudged=unjudged,
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
            interval=interval_of(found),
            bounds=self._mean_bounds(mean),
            unjudged=self._over_unjudged(),
        )

    def _over_unjudged(self) -> Bounds | None:
        """What the mean over the scored questions could be if their unjudged items had grades."""
        if not any(one.over_unjudged for _, one in self.scored):
            return None
        ends = [one.over_unjudged or (one.value, one.value) for _, one in self.scored]
        low, high = (math.fsum(part) / len(ends) for part in zip(*ends, strict=True))
        return Bounds(low=low, high=high)

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
            interval=interval_of(found),
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
        spelled = f"flip_rate(of={parse(self.told.spelled).nested})"
        told = self.told._replace(spelled=spelled, declared=declaration("flip_rate"), unit="ratio")
        return [Base(told, self.population, [(case, flip(one)) for case, one in self.group]).macro()]


def flip(one: Summary) -> Summary:
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


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def interval_of(found: object) -> Interval | None:
    """An interval of the room of statistics as a record; None where it has no ends."""
    low, high = getattr(found, "low", None), getattr(found, "high", None)
    if low is None or high is None:
        return None
    return Interval(low=low, high=high, level=found.level, method=found.method, clusters=found.clusters)  # type: ignore[attr-defined]
