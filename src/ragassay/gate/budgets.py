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
from ragassay.gate.idle import REASON, idle
from ragassay.gate.must_hold import exactly
from ragassay.gate.policy_file import label_of
from ragassay.gate.quantiles import QUANTILES, Asked, Repeat, apart, seen_quantile
from ragassay.gate.reading import NoColumn, Part, place_of, range_of
from ragassay.gate.results import number, result
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Budget
from ragassay.records.score import Observation, Status
from ragassay.records.text import many


def read_budgets(
    evidence: Evidence, budgets: Sequence[Budget], alpha: float, baseline: Evidence | None = None
) -> Iterator[RuleResult]:
    """One result for each budget."""
    for one in budgets:
        yield _read(evidence, one, alpha) if one.margin is None else _margin(evidence, one, alpha, baseline)


def _read(evidence: Evidence, budget: Budget, alpha: float) -> RuleResult:
    found = _found(evidence, budget)
    if isinstance(found, NoColumn):
        return _unread(evidence, budget, found)
    place, asked = found
    return _judge(budget, str(evidence.spelled(budget.measure)), place, Part(budget.class_), asked, alpha)


def _found(evidence: Evidence, budget: Budget) -> tuple[str | None, list[Asked]] | NoColumn:
    """Where a budget is read, and every question that was asked; NoColumn says why nothing is."""
    measure = evidence.spelled(budget.measure)
    within = (0.0, 1.0) if budget.statistic == "share" else range_of(measure.declared)
    if (told := idle(budget, within)) is not None:
        return NoColumn(REASON, f"nothing could break {told}")
    place = place_of(evidence, measure, budget.step)
    if isinstance(place, NoColumn):
        return place
    asked = _asked(evidence, str(measure), place, Part(budget.class_))
    return (place, asked) if asked else NoColumn("empty_population", "no question was asked")


def _unread(evidence: Evidence, budget: Budget, why: NoColumn) -> RuleResult:
    return result(
        label_of(budget), "budget" if budget.margin is None else "margin", budget.on_fail, None,
        f"Nothing was read: {why.told}.", [why.reason], measure=str(evidence.spelled(budget.measure)),
        step=budget.step, population=Part(budget.class_).population,
    )  # fmt: skip


def _margin(evidence: Evidence, budget: Budget, alpha: float, baseline: Evidence | None) -> RuleResult:
    """A quantile against the baseline's: pass if it is surely greater by less than the margin, fail if by more."""
    if baseline is None:
        return _unread(evidence, budget, NoColumn("baseline_absent", "there is no baseline to hold it against"))
    ours, theirs = _found(evidence, budget), _found(baseline, budget)
    if isinstance(ours, NoColumn):
        return _unread(evidence, budget, ours)
    if isinstance(theirs, NoColumn):
        return _unread(evidence, budget, theirs._replace(told=f"in the baseline, {theirs.told}"))
    made = apart(budget, ours[1], theirs[1], alpha)
    lost = {status for arm in (ours, theirs) for status in (one.status for one in arm[1])}
    reasons = ["threshold"] if made.held is False else ["not_enough_questions"]
    if made.held is None:
        reasons += [code for status, code in UNKNOWN.items() if status in lost]
    return result(
        label_of(budget), "margin", budget.on_fail, made.held, made.told, reasons, counts=made.counts,
        measure=str(evidence.spelled(budget.measure)), population=Part(budget.class_).population, step=ours[0],
        value=made.candidate, baseline=made.baseline, bound=None if made.most is None else -made.most,
        optimistic=None if made.least is None else -made.least, threshold=-(budget.margin or 0.0), method=made.method,
        clusters=made.clusters, needed=made.needed,
    )  # fmt: skip


def _asked(evidence: Evidence, measure: str, place: str | None, part: Part) -> list[Asked]:
    rows = evidence.observed.at(measure, place)
    made = []
    for case in evidence.cases:
        if part.has(case):
            own = [_figure(one) for one in rows.get(case.query_id, ())]
            own += [Repeat("missing", None)] * (evidence.subject.repeats - len(own))
            if any(one.status != "undefined" for one in own):
                made.append(Asked(case.query_id, case.cluster, tuple(own)))
    return made


def _figure(row: Observation) -> Repeat:
    if row.status == "value":
        return Repeat("value", row.value)
    return Repeat(row.status, None, row.bounds.low if row.bounds else None)


def _judge(
    budget: Budget, measure: str, place: str | None, part: Part, asked: Sequence[Asked], alpha: float
) -> RuleResult:
    counts: Counter[Status] = Counter(one.status for one in asked)
    if budget.statistic in ("mean", "total"):
        numbers = _amount(budget, asked)
    else:
        numbers = _share(budget, asked, alpha)
    unknown = [code for status, code in UNKNOWN.items() if counts[status]]
    reasons = ["threshold"] if numbers.held is False else [*(["not_enough_questions"] if numbers.few else []), *unknown]
    return result(
        label_of(budget), "budget", budget.on_fail, numbers.held, numbers.told, reasons, counts=counts,
        questions=numbers.over, measure=measure, population=part.population, step=place, value=numbers.value,
        bound=numbers.bound, threshold=numbers.threshold, method=numbers.method,
        clusters=len({one.cluster for one in asked}), needed=numbers.needed,
    )  # fmt: skip


UNKNOWN: dict[Status, str] = {"error": "questions_in_error", "missing": "questions_missing"}


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


def _share(budget: Budget, asked: Sequence[Asked], alpha: float) -> _Numbers:
    """A quantile is at most the limit where the share above the limit is at most what the quantile leaves."""
    share = budget.statistic == "share"
    demanded = budget.at_most or 0.0
    limit = 0.0 if share else demanded
    allowed = exactly(demanded) if share else 1 - QUANTILES[budget.statistic]
    above, unknown = [_above(one, limit) for one in asked], [_unknown(one, limit) for one in asked]
    surely = sum(above, Fraction(0)) / len(asked)
    at_worst = surely + sum(unknown, Fraction(0)) / len(asked)
    value, shown = float(surely), f"{number(float(surely))} of them failed"
    if not share:
        found = seen_quantile(asked, float(QUANTILES[budget.statistic]))
        value = found if found is not None else None  # type: ignore[assignment]
        above_text = f"{number(float(surely))} of them are above {number(limit)}"
        shown = above_text if found is None else f"{budget.statistic} is {number(found)}; {above_text}"
    over = tuple(one.query_id for one, much in zip(asked, above, strict=True) if much)
    over += tuple(one.query_id for one, much in zip(asked, unknown, strict=True) if much)
    open_ = f", of {number(float(at_worst - surely))} it is not known" if at_worst > surely else ""
    if budget.sample:
        held = True if at_worst <= allowed else False if surely > allowed else None
        told = f"{shown}{open_}; at most {number(float(allowed))} of these questions may be."
        return _Numbers(held, told, value, demanded, "count", over=over)
    once = all(len(one.figures) == 1 for one in asked)
    lows = np.array([float(one) for one in above])
    highs = np.array([float(one + two) for one, two in zip(above, unknown, strict=True)])
    ends = ends_of(lows, highs, (0.0, 1.0), alpha, [one.cluster for one in asked], two_valued=once)
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
    return _Numbers(held, told, value, demanded, ends.method, ends.high, needed, few, over)


def _above(one: Asked, limit: float) -> Fraction:
    """The share of a question's repeats that are surely above the limit."""
    found = [f for f in one.figures if f.status != "undefined"]
    much = sum((f.value if f.value is not None else f.least or 0.0) > limit + TOLERANCE for f in found)
    return Fraction(much, len(found))


def _unknown(one: Asked, limit: float) -> Fraction:
    found = [f for f in one.figures if f.status != "undefined"]
    much = sum(f.value is None and not (f.least or 0.0) > limit + TOLERANCE for f in found)
    return Fraction(much, len(found))


def _amount(budget: Budget, asked: Sequence[Asked]) -> _Numbers:
    """Mean or sum over all repeats of these questions. One that is not known leaves it open, if not over already."""
    figures = [f for one in asked for f in one.figures if f.status != "undefined"]
    known = [f.value for f in figures if f.value is not None]
    least = math.fsum([*known, *(f.least for f in figures if f.least is not None)])
    limit = budget.at_most or 0.0
    if budget.statistic == "mean":
        least /= len(figures)
    value = (math.fsum(known) / (len(known) if budget.statistic == "mean" else 1)) if known else None
    unknown = len(figures) - len(known)
    held = False if least > limit + TOLERANCE else None if unknown else True
    told = "no figure" if value is None else f"{budget.statistic} {number(value)} over {len(known):,} figures"
    told += f", {unknown:,} not known" if unknown else ""
    return _Numbers(held, f"{told}; at most {number(limit)} is allowed.", value, limit, "sample")
