"""Floors and ceilings on the risk at a coverage: one figure of many decisions, by its exact bound. Ranks nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ragassay.gate.bounds import clears
from ragassay.gate.evidence import Evidence
from ragassay.gate.policy_file import kind_of, label_of
from ragassay.gate.reading import CLASSES, NoColumn, Part
from ragassay.gate.results import number, of_counts, result, unread
from ragassay.measures import Measure
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Rule
from ragassay.records.score import Estimate, Status
from ragassay.stats.onesided import lower_bound, upper_bound
from ragassay.store import Store

FIGURES = frozenset({"selective_risk"})
"""Figures of a set that have an exact bound: so many wrong of the decisions from a confidence on."""
EXACT = "clopper_pearson"


def read_figures(store: Store, alpha: float, evidence: Evidence, rule: Rule, measure: Measure) -> Iterator[RuleResult]:
    """One result for each class that a rule is about. Only floors and ceilings: two arms rank other decisions first."""
    part = Part(rule.class_, rule.slice, rule.risk)
    threshold = rule.at_least if rule.at_least is not None else rule.at_most
    if threshold is None:
        why = NoColumn("figure_of_a_set", f"{measure} is one figure of many decisions: give it at_least or at_most")
        yield unread(rule, part, why)
        return
    found = figures_of(store, evidence, measure, part)
    if isinstance(found, NoColumn):
        yield unread(rule, part, found)
        return
    for at, one in found:
        absent = why_not(one)
        yield unread(rule, at, absent) if absent else _result(rule, at, one, threshold, alpha)


def _result(rule: Rule, part: Part, one: Estimate, threshold: float, alpha: float) -> RuleResult:
    read = Held(one, threshold, alpha, floor=rule.at_least is not None)
    reasons = ["threshold"] if read.held is False else ["questions_missing"] if one.missing else []
    reasons += ["questions_in_error"] if one.error and read.held is None else []
    bound, optimistic = (read.low, read.high) if read.floor else (read.high, read.low)
    return result(
        label_of(rule), kind_of(rule), rule.on_fail, read.held, read.told(one), reasons or ["not_enough_questions"],
        counts=counts_of(one), measure=one.measure, population=part.population, step=one.step, value=one.value,
        bound=bound, optimistic=optimistic, threshold=threshold, method="exact", clusters=read.taken,
    )  # fmt: skip


def figures_of(
    store: Store, evidence: Evidence, measure: Measure, part: Part
) -> Sequence[tuple[Part, Estimate]] | NoColumn:
    """The figure of a class, or of each, from the table's estimates; NoColumn says why there is none."""
    if part.risk is not None:
        return NoColumn("no_such_figure", f"{measure} is estimated by class and slice, not by risk")
    estimates = [one for one in store.get_lines(Estimate, evidence.table.estimates) if one.measure == str(measure)]
    if not estimates:
        return NoColumn("measure_missing", f"{measure} was not measured")
    own = [one for one in estimates if one.population.slice == part.slice and one.aggregation == "set"]
    wanted = (part.class_,) if part.class_ else CLASSES
    found = [(Part(class_, part.slice), one) for class_ in wanted for one in own if one.population.class_ == class_]
    # A class of which no decision could ever be right or wrong is outside of the figure; a declared one is empty.
    kept = [(at, one) for at, one in found if part.class_ or one.status == "value" or one.missing or one.error]
    return kept or NoColumn("empty_population", f"no question can have a value of {measure}")


class Held:
    """One figure against a threshold."""

    def __init__(self, one: Estimate, threshold: float, alpha: float, *, floor: bool) -> None:
        taken = round(one.denominator or 0)
        low = one.value if one.bounds is None else one.bounds.low
        high = one.value if one.bounds is None else one.bounds.high
        self.threshold, self.floor, self.taken = threshold, floor, taken
        self.low = lower_bound(
            _marks(math.floor((low or 0.0) * taken + 1e-9), taken), (0.0, 1.0), alpha, method="exact"
        )
        self.high = upper_bound(
            _marks(math.ceil((high or 0.0) * taken - 1e-9), taken), (0.0, 1.0), alpha, method="exact"
        )

    @property
    def held(self) -> bool | None:
        """True, False, or None where neither end decides."""
        if self.floor:
            return True if clears(self.low, self.threshold) else None if clears(self.high, self.threshold) else False
        return True if clears(self.threshold, self.high) else None if clears(self.threshold, self.low) else False

    def told(self, one: Estimate) -> str:
        """The figure with its bound."""
        side, bound = ("at least", self.low) if self.floor else ("at most", self.high)
        other = {"at least": "at most", "at most": "at least"}[side]
        best = self.high if self.floor else self.low
        text = f"{number(one.value or 0.0)} of {self.taken:,} decisions ({of_counts(counts_of(one))})"
        if self.held is False:
            return f"{text}; it is {other} {number(best)} at best, and {side} {number(self.threshold)} is demanded."
        told = f"{text}; it is {side} {number(bound)} at worst, and {side} {number(self.threshold)} is demanded"
        return f"{told}." if self.held else f"{told}: cannot tell."


def _marks(ones: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.repeat([1.0, 0.0], [ones, size - ones])


def counts_of(one: Estimate) -> dict[Status, int]:
    """The four counts of an estimate."""
    return {"value": one.scored, "undefined": one.undefined, "missing": one.missing, "error": one.error}


def why_not(one: Estimate) -> NoColumn | None:
    """Why a figure has no exact bound."""
    if one.status != "value":
        return NoColumn(
            one.reason or "undefined", f"{one.measure} has no value ({(one.reason or '').replace('_', ' ')})"
        )
    if one.interval is None or one.interval.method != EXACT:
        return NoColumn("clustered_decisions", f"decisions of {one.measure} hang together: there is no exact bound")
    return None
