"""Budgets for time, tokens, money and failures over all questions that were asked. Leaves no timeout out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ragassay.gate.bounds import TOLERANCE, best_passes_from, ends_of
from ragassay.gate.evidence import Evidence
from ragassay.gate.must_hold import exactly
from ragassay.gate.policy_file import label_of
from ragassay.gate.reading import NoColumn, Part, place_of
from ragassay.gate.results import number, result
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Budget
from ragassay.records.score import Observation, Status
from ragassay.records.text import many
from ragassay.score.quantiles import quantile

QUANTILES = {"p50": Fraction(1, 2), "p90": Fraction(9, 10), "p95": Fraction(19, 20), "p99": Fraction(99, 100)}


class _Figure(NamedTuple):
    """One repeat of one question: a figure, or the least that it must be, or nothing."""

    status: Status
    value: float | None
    least: float | None = None


class _Asked(NamedTuple):
    query_id: str
    cluster: str
    figures: tuple[_Figure, ...]

    @property
    def status(self) -> Status:
        found = {one.status for one in self.figures}
        return next(one for one in ("error", "missing", "value", "undefined") if one in found)


def read_budgets(evidence: Evidence, budgets: Sequence[Budget], alpha: float) -> Iterator[RuleResult]:
    """One result for each budget."""
    for one in budgets:
        yield _read(evidence, one, alpha)


def _read(evidence: Evidence, budget: Budget, alpha: float) -> RuleResult:
    measure = evidence.spelled(budget.measure)
    part = Part(budget.class_)
    place = place_of(evidence, measure, budget.step)
    if not isinstance(place, NoColumn):
        asked = _asked(evidence, str(measure), place, part)
        if asked:
            return _judge(budget, str(measure), place, part, asked, alpha)
        place = NoColumn("empty_population", "no question was asked")
    return result(label_of(budget), "budget", budget.on_fail, None, f"Nothing was read: {place.told}.", [place.reason],
                  measure=str(measure), step=budget.step, population=part.population)  # fmt: skip


def _asked(evidence: Evidence, measure: str, place: str | None, part: Part) -> list[_Asked]:
    rows = evidence.observed.at(measure, place)
    made = []
    for case in evidence.cases:
        if part.has(case):
            own = [_figure(one) for one in rows.get(case.query_id, ())]
            own += [_Figure("missing", None)] * (evidence.subject.repeats - len(own))
            if any(one.status != "undefined" for one in own):
                made.append(_Asked(case.query_id, case.cluster, tuple(own)))
    return made


def _figure(row: Observation) -> _Figure:
    if row.status == "value":
        return _Figure("value", row.value)
    return _Figure(row.status, None, row.bounds.low if row.bounds else None)


def _judge(
    budget: Budget, measure: str, place: str | None, part: Part, asked: Sequence[_Asked], alpha: float
) -> RuleResult:
    counts: Counter[Status] = Counter(one.status for one in asked)
    if budget.statistic in ("mean", "total"):
        numbers = _amount(budget, asked)
    else:
        numbers = _share(budget, asked, alpha)
    unknown = [f"questions_{'in_error' if one == 'error' else one}" for one in ("error", "missing") if counts[one]]
    reasons = ["threshold"] if numbers.held is False else [*(["not_enough_questions"] if numbers.few else []), *unknown]
    return result(
        label_of(budget), "budget", budget.on_fail, numbers.held, numbers.told, reasons, counts=counts,
        questions=numbers.over, measure=measure, population=part.population, step=place, value=numbers.value,
        bound=numbers.bound, threshold=numbers.threshold, method=numbers.method,
        clusters=len({one.cluster for one in asked}), needed=numbers.needed,
    )  # fmt: skip


class _Numbers(NamedTuple):
    held: bool | None
    told: str
    value: float | None
    threshold: float
    method: str
    bound: float | None = None
    needed: int | None = None
    few: bool = False
    over: tuple[str, ...] = ()


def _share(budget: Budget, asked: Sequence[_Asked], alpha: float) -> _Numbers:
    """A quantile is at most the limit where the share above the limit is at most what the quantile leaves."""
    share = budget.statistic == "share"
    limit = 0.0 if share else budget.at_most
    allowed = exactly(budget.at_most) if share else 1 - QUANTILES[budget.statistic]
    above, unknown = [_above(one, limit) for one in asked], [_unknown(one, limit) for one in asked]
    surely = sum(above, Fraction(0)) / len(asked)
    at_worst = surely + sum(unknown, Fraction(0)) / len(asked)
    value, shown = float(surely), f"{number(float(surely))} of them failed"
    if not share:
        found = _quantile(budget, asked)
        value = found if found is not None else None  # type: ignore[assignment]
        above_text = f"{number(float(surely))} of them are above {number(limit)}"
        shown = above_text if found is None else f"{budget.statistic} is {number(found)}; {above_text}"
    over = tuple(one.query_id for one, much in zip(asked, above, strict=True) if much)
    over += tuple(one.query_id for one, much in zip(asked, unknown, strict=True) if much)
    open_ = f", of {number(float(at_worst - surely))} it is not known" if at_worst > surely else ""
    if budget.sample:
        held = True if at_worst <= allowed else False if surely > allowed else None
        told = f"{shown}{open_}; at most {number(float(allowed))} of these questions may be."
        return _Numbers(held, told, value, budget.at_most, "count", over=over)
    lows = np.array([float(one) for one in above])
    highs = np.array([float(one + two) for one, two in zip(above, unknown, strict=True)])
    ends = ends_of(lows, highs, (0.0, 1.0), alpha, [one.cluster for one in asked], two_valued=True)
    most = float(allowed)
    held = True if ends.high <= most + TOLERANCE else False if ends.low > most + TOLERANCE else None
    few = held is None and at_worst <= allowed
    needed = best_passes_from(most, (0.0, 1.0), alpha, floor=False) if few and not surely else None
    told = f"{shown}{open_}; with {many(len(asked), 'question')} at most {number(ends.high)} are"
    told += f", and at most {number(most)} may be"
    told += (
        "."
        if held is not None
        else ": cannot tell."
        + (
            f" {needed:,} independent questions, all within the budget, would do."
            if needed and needed > len(asked)
            else ""
        )
    )
    return _Numbers(held, told, value, budget.at_most, ends.method, ends.high, needed, few, over)


def _above(one: _Asked, limit: float) -> Fraction:
    """The share of a question's repeats that are surely above the limit."""
    found = [f for f in one.figures if f.status != "undefined"]
    much = sum((f.value if f.value is not None else f.least or 0.0) > limit + TOLERANCE for f in found)
    return Fraction(much, len(found))


def _unknown(one: _Asked, limit: float) -> Fraction:
    found = [f for f in one.figures if f.status != "undefined"]
    much = sum(f.value is None and not (f.least or 0.0) > limit + TOLERANCE for f in found)
    return Fraction(much, len(found))


def _quantile(budget: Budget, asked: Sequence[_Asked]) -> float | None:
    """Over all repeats, times that were given up as censored ones (Kaplan and Meier); None where they hide it."""
    values = [f.value for one in asked for f in one.figures if f.value is not None]
    given_up = [f.least for one in asked for f in one.figures if f.least is not None]
    return quantile(values, given_up, float(QUANTILES[budget.statistic])) if values else None


def _amount(budget: Budget, asked: Sequence[_Asked]) -> _Numbers:
    """Mean or sum over all repeats of these questions. One that is not known leaves it open, if not over already."""
    figures = [f for one in asked for f in one.figures if f.status != "undefined"]
    known = [f.value for f in figures if f.value is not None]
    least = math.fsum([*known, *(f.least for f in figures if f.least is not None)])
    limit = budget.at_most
    if budget.statistic == "mean":
        least /= len(figures)
    value = (math.fsum(known) / (len(known) if budget.statistic == "mean" else 1)) if known else None
    unknown = len(figures) - len(known)
    held = False if least > limit + TOLERANCE else None if unknown else True
    told = "no figure" if value is None else f"{budget.statistic} {number(value)} over {len(known):,} figures"
    told += f", {unknown:,} not known" if unknown else ""
    return _Numbers(held, f"{told}; at most {number(limit)} is allowed.", value, limit, "sample")
