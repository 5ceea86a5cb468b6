"""Floors, ceilings, zero tolerance and margins over populations. Reads columns, and nothing else decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragassay.gate.bounds import TOLERANCE, best_passes_from, clears, ends_of, scaled_n
from ragassay.gate.evidence import Evidence
from ragassay.gate.figures import FIGURES, read_figures
from ragassay.gate.idle import REASON, idle
from ragassay.gate.judged_gap import judged_gap
from ragassay.gate.judges import uncalibrated
from ragassay.gate.policy_file import kind_of, label_of
from ragassay.gate.reading import (
    OVER_ALL,
    Column,
    Line,
    NoColumn,
    Part,
    asked_of_either,
    classes_of,
    column,
    mean_of,
    paired,
    silenced,
)
from ragassay.gate.results import number, of_counts, result, unread
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Policy, Rule
from ragassay.records.score import Status
from ragassay.records.text import many
from ragassay.store import Store

UNKNOWN: dict[Status, str] = {"error": "questions_in_error", "missing": "questions_missing"}


class Arms(NamedTuple):
    """What a policy is read over."""

    store: Store
    policy: Policy
    candidate: Evidence
    baseline: Evidence | None = None

    @property
    def sides(self) -> list[tuple[str, Evidence]]:
        """Each side that there is, with its name."""
        both = [("candidate", self.candidate), ("baseline", self.baseline)]
        return [(name, one) for name, one in both if one is not None]


def read_rules(arms: Arms, rules: Sequence[Rule]) -> Iterator[RuleResult]:
    """One result for each rule and each class that it is about."""
    for rule in rules:
        yield from read_rule(arms, rule)


def read_rule(arms: Arms, rule: Rule) -> Iterator[RuleResult]:
    """The results of one rule: of its class, or of every class in which its measure can have a value."""
    measure = arms.candidate.spelled(rule.measure)
    if measure.name in OVER_ALL and rule.class_ is not None:
        why = NoColumn("across_classes", f"{measure} compares both kinds of questions: no class has it by itself")
        yield unread(rule, Part(rule.class_, rule.slice, rule.risk), why)
        return
    if measure.name in FIGURES:
        yield from read_figures(arms.store, arms.policy.alpha, arms.candidate, arms.baseline, rule, measure)
        return
    found = False
    for class_ in classes_of(measure, rule.class_):
        part = Part(class_, rule.slice, rule.risk)
        read = column(arms.candidate, rule.measure, rule.step, part)
        if isinstance(read, Column) and not read.lines and rule.class_ is None and not _lost(arms, rule, part, read):
            continue
        if isinstance(read, NoColumn):
            yield unread(rule, part, read)
            return
        found = True
        yield _read(arms, rule, part, read)
    if not found:
        said = f"no question of this benchmark is in {_where(rule) or 'it'} and can have a value of {rule.measure}"
        yield unread(rule, Part(rule.class_, rule.slice, rule.risk), NoColumn("empty_population", said))


def _lost(arms: Arms, rule: Rule, part: Part, read: Column) -> bool:
    """Whether a class has no values for what the system did, or where the baseline has some: then it is not outside."""
    if silenced(arms.candidate, read.measure, read.step, part):
        return True
    if arms.baseline is None or rule.margin is None:
        return False
    other = column(arms.baseline, rule.measure, rule.step, part)
    return isinstance(other, Column) and bool(other.lines)


def _where(rule: Rule) -> str:
    words = [one for one in (rule.class_, rule.slice, f"risk={rule.risk}" if rule.risk else None) if one]
    return ", ".join(words)


def _read(arms: Arms, rule: Rule, part: Part, read: Column) -> RuleResult:
    own = [one for one in arms.candidate.cases if part.has(one)]
    why = uncalibrated(arms.store, arms.candidate, read.measure, own)
    if why is not None:
        return unread(rule, part, NoColumn("uncalibrated_judge", why))
    if (told := idle(rule, read.within)) is not None:
        return unread(rule, part, NoColumn(REASON, f"nothing could break {told}"))
    if rule.margin is not None:
        return read_margin(arms, rule, part, read)
    if rule.zero and read.measure.declared.direction == "none":
        return unread(rule, part, NoColumn("no_direction", f"no value of {read.measure.name} is the best one"))
    if not read.lines:
        said = f"no question in {_where(rule) or 'any class'} can have a value ({of_counts(read.counts, read.noun)})"
        return unread(rule, part, NoColumn("empty_population", said))
    return (
        read_zero(arms.policy.alpha, rule, part, read)
        if rule.zero
        else read_threshold(arms.policy.alpha, rule, part, read)
    )


class _Held(NamedTuple):
    """A floor or ceiling against its bounds."""

    floor: bool
    threshold: float
    bound: float
    optimistic: float
    worst: float
    """The mean with what is not known at its worst."""

    @property
    def held(self) -> bool | None:
        """True, False, or None where neither end decides."""
        if self.floor:
            return (
                True
                if clears(self.bound, self.threshold)
                else None
                if clears(self.optimistic, self.threshold)
                else False
            )
        return (
            True if clears(self.threshold, self.bound) else None if clears(self.threshold, self.optimistic) else False
        )

    @property
    def reach(self) -> float:
        """How far the bound lies from the mean."""
        return abs(self.worst - self.bound)

    @property
    def distance(self) -> float:
        """How far the mean is on the right side; negative on the wrong one."""
        return self.worst - self.threshold if self.floor else self.threshold - self.worst


def read_threshold(alpha: float, rule: Rule, part: Part, read: Column) -> RuleResult:
    """A floor or a ceiling: pass if the pessimistic bound clears it, fail if the optimistic one misses it."""
    floor = rule.at_least is not None
    threshold = rule.at_least if rule.at_least is not None else rule.at_most or 0.0
    ends = ends_of(read.lows, read.highs, read.within, alpha, read.clusters, two_valued=read.two_valued)
    bound, optimistic = (ends.low, ends.high) if floor else (ends.high, ends.low)
    one = _Held(floor, threshold, bound, optimistic, float((read.lows if floor else read.highs).mean()))
    needed = None
    if one.held is None and one.distance > TOLERANCE:
        least = best_passes_from(threshold, read.within, alpha, floor=floor) or 0
        spread = abs(one.worst - (read.within[1] if floor else read.within[0])) > TOLERANCE
        needed = max(least, scaled_n(ends.clusters, one.reach, one.distance) or 0 if spread else 0) or None
    return result(
        label_of(rule), kind_of(rule), rule.on_fail, one.held, _tell(read, one, needed), _why(read, one),
        counts=read.counts, questions=_against(read, floor), measure=str(read.measure), population=part.population,
        step=read.step, value=read.value, bound=bound, optimistic=optimistic, threshold=threshold, method=ends.method,
        clusters=ends.clusters, needed=needed, detectable=None if one.held is not None else one.reach,
    )  # fmt: skip


def _why(read: Column, one: _Held) -> list[str]:
    if one.held is False:
        return ["threshold"]
    reasons = ["questions_in_error"] if read.counts.get("error") else []
    reasons += ["questions_missing"] if read.counts.get("missing") else []
    return ["not_enough_questions", *reasons] if one.distance > TOLERANCE or not reasons else reasons


def _tell(read: Column, one: _Held, needed: int | None) -> str:
    side, other = ("at least", "at most") if one.floor else ("at most", "at least")
    value = "no value" if read.value is None else number(read.value)
    demand = f"and {side} {number(one.threshold)} is demanded"
    seen = f"{value} over {of_counts(read.counts, read.noun)}"
    if one.held is False:
        return f"{seen}; it is {other} {number(one.optimistic)} at best, {demand}."
    head = f"{seen}; it is {side} {number(one.bound)} at worst, {demand}"
    if one.held:
        return f"{head}."
    way = one.threshold + one.reach if one.floor else one.threshold - one.reach
    could = " These questions could not have shown it at any value."
    if read.within[0] <= way <= read.within[1]:
        could = f" These questions could have shown it {'from about' if one.floor else 'up to about'} {number(way)}."
    more = f" About {needed:,} independent questions like them would." if needed else ""
    return f"{head}: cannot tell.{could}{more}"


def _against(read: Column, floor: bool) -> list[str]:
    """Questions without the best value, the worst first."""
    best = read.within[1] if floor else read.within[0]
    worst = sorted(
        (one for one in read.lines if (one.low < best if floor else one.high > best)),
        key=lambda one: (one.low if floor else -one.high, one.query_id),
    )
    return [one.query_id for one in worst]


def read_zero(alpha: float, rule: Rule, part: Part, read: Column) -> RuleResult:
    """Zero tolerance: every question must be known to have the best value. One that has not fails it."""
    lower = read.measure.declared.direction == "lower"
    best = read.within[0] if lower else read.within[1]
    at_best: list[str] = []
    at_worst: list[str] = []
    for one in read.lines:
        far, near = (one.high, one.low) if lower else (one.low, one.high)
        if abs(far - best) > TOLERANCE:
            (at_worst if abs(near - best) > TOLERANCE else at_best).append(one.query_id)
    broken, unknown = at_worst, at_best
    held = False if broken else None if unknown else True
    total = len(read.lines)
    groups = len(set(read.clusters))
    limit = 1 - alpha ** (1 / groups)
    told = f"{len(broken):,} of {many(total, read.noun)} break it"
    if unknown:
        told += f", of {len(unknown):,} it is not known"
    if held:
        told += f"; with {number(limit)} of all questions like these against it, {number(alpha)} of such sets show none"
    reasons = ["threshold"] if broken else ["questions_missing" if read.counts.get("missing") else "questions_in_error"]
    return result(
        label_of(rule), "zero", rule.on_fail, held, f"{told}.", reasons, counts=read.counts,
        questions=[*broken, *unknown], measure=str(read.measure), population=part.population, step=read.step,
        value=read.value, threshold=best, method="count", clusters=groups,
        bound=None if not held else best + (limit if lower else -limit) * (read.within[1] - read.within[0]),
    )  # fmt: skip


def read_margin(arms: Arms, rule: Rule, part: Part, read: Column) -> RuleResult:
    """Not worse by the margin: pass if the difference's lower bound is above -margin, fail if its upper is below."""
    margin = rule.margin or 0.0
    if arms.baseline is None:
        return unread(rule, part, NoColumn("baseline_absent", "there is no baseline to hold it against"))
    base = column(arms.baseline, rule.measure, rule.step or read.step, part)
    if isinstance(base, NoColumn):
        return unread(rule, part, base._replace(told=f"in the baseline, {base.told}"))
    why = uncalibrated(arms.store, arms.baseline, base.measure, [one for one in arms.baseline.cases if part.has(one)])
    if why is None and str(base.measure) != str(read.measure):
        why = f"the arms were measured by {read.measure} and {base.measure}"
    if why is not None:
        return unread(rule, part, NoColumn("uncalibrated_judge", why))
    if read.measure.declared.direction == "none":
        return unread(rule, part, NoColumn("no_direction", f"neither more nor less of {read.measure.name} is better"))
    lines, counts = paired(read, base, asked_of_either(arms.candidate, arms.baseline))
    if not lines:
        return unread(
            rule, part, NoColumn("empty_population", f"no pair of questions ({of_counts(counts, read.noun)})")
        )
    return _margin(arms, rule, part, read, base, lines, counts, margin)


def _margin(
    arms: Arms, rule: Rule, part: Part, read: Column, base: Column, lines: Sequence[Line],
    counts: Mapping[Status, int], margin: float,
) -> RuleResult:  # fmt: skip
    reach = read.within[1] - read.within[0]
    lows, highs = np.array([one.low for one in lines]), np.array([one.high for one in lines])
    ends = ends_of(lows, highs, (-reach, reach), arms.policy.alpha, [one.cluster for one in lines], two_valued=False)
    held = True if ends.low > -margin + TOLERANCE else False if ends.high < -margin - TOLERANCE else None
    seen = float(lows.mean()) - ends.low
    needed = scaled_n(ends.clusters, seen, float(lows.mean()) + margin) if held is None else None
    reasons = ["threshold"] if held is False else ["not_enough_questions"] if held is None else []
    if held is None:
        reasons += [code for status, code in UNKNOWN.items() if counts.get(status)]
    value = mean_of(one.value for one in lines)
    shown = "no pair has values" if value is None else number(value)
    told = (
        f"{shown} against the baseline over {of_counts(counts, read.noun)}; "
        f"it is at least {number(ends.low)} and at most {number(ends.high)}, and above {number(-margin)} is demanded"
    )
    if held is None:
        told += f": cannot tell. A change of about {number(seen)} could have been seen"
        told += f"; about {needed:,} independent questions like them would decide" if needed else ""
    gap = judged_gap(arms.candidate, arms.baseline, read, part, arms.policy.judged_gap)
    if gap is not None:
        held, reasons, told = None, [gap.reason, *reasons], f"{gap.told}; so it is not decided. {told}"
    losses = sorted((one for one in lines if one.low < 0), key=lambda one: (one.low, one.query_id))
    return result(
        label_of(rule), "margin", rule.on_fail, held, f"{told}.", reasons, counts=counts,
        questions=[one.query_id for one in losses], measure=str(read.measure), population=part.population,
        step=read.step, value=read.value, baseline=base.value, bound=ends.low, optimistic=ends.high,
        threshold=-margin, method=ends.method, clusters=ends.clusters, needed=needed,
        detectable=seen if held is None else None,
    )  # fmt: skip
