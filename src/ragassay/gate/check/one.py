"""Findings on one rule by itself: its measure, its questions, its demand, and whether so few can ever pass."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from ragassay.gate.bounds import TOLERANCE, Ends, best_passes_from, clears, ends_of, least_n
from ragassay.gate.check.model import Finding, Given
from ragassay.gate.figures import FIGURES, best_case
from ragassay.gate.grouped import OF_MANY, OF_REPEATS, repeats_of
from ragassay.gate.idle import idle
from ragassay.gate.judges import is_judged
from ragassay.gate.quantiles import QUANTILES
from ragassay.gate.reading import CLASSES, OVER_ALL, Part, classes_of, range_of, two_valued
from ragassay.measures import Measure
from ragassay.records.case import Case
from ragassay.records.policy import Budget, MustHold, Need, Policy, Rule, Verdicts
from ragassay.records.text import many
from ragassay.score.estimates import COUNTED

Read = Literal["mean", "question", "figure"]
LAST = frozenset({None, "context", "assemble"})
"""Places that stand for what generation receives."""
MOST_SEARCHED = 20_000


def measure_of(spelled: str, given: Given, field: str, *, read: Read, step: str | None = None) -> Iterator[Finding]:
    """Whether a measure is scored, by a calibrated judge if by one, where the rule says, and can be read so."""
    measure = given.spelled(spelled)
    declared = measure.declared
    if not given.has(measure):
        close = difflib.get_close_matches(str(measure), sorted(given.measured), n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}? Or add " if close else "add "
        yield Finding("refused", f"{field}.measure", f"the scoring lacks {measure}",
                      f'{hint}"{measure}" to [scoring] measures')  # fmt: skip
    if measure.name in COUNTED:
        yield Finding("refused", f"{field}.measure", f"{measure} is a table of counts, no score",
                      "demand abstention_rate, false_refusal, unsupported_answer or error_rate")  # fmt: skip
    if is_judged(measure):
        yield from _judge(measure, given, field)
    of_many = declared.aggregation == "set" or measure.name in OF_MANY
    if of_many and (read == "question" or (read == "mean" and measure.name not in FIGURES | OF_MANY)):
        told = "a figure of repeats" if measure.name in OF_REPEATS else "one figure of several questions"
        yield Finding("refused", f"{field}.measure", f"{measure} is {told}, which no answer has by itself",
                      "demand it in [[policy.rules]], or a measure that each answer has")  # fmt: skip
    elif read == "mean" and not declared.bounded:
        yield Finding("refused", f"{field}.measure", f"{measure} has no greatest value, so there is no bound",
                      "set a budget: [[policy.budgets]]")  # fmt: skip
    yield from _cutoff(measure, given, field, step)
    places = given.places.get(str(measure))
    if places and step is not None and step.partition("#")[0] not in places:
        close = difflib.get_close_matches(step, [one for one in places if one], n=1, cutoff=0.5)
        named = ", ".join(one or "the whole question" for one in places)
        hint = f"did you mean {close[0]!r}?" if close else f"it was taken at {named}"
        yield Finding("refused", f"{field}.step", f"{measure} is not taken at {step}", hint)
    if places and step is None and len(places) > 1:
        named = ", ".join(one or "the whole question" for one in places)
        yield Finding("refused", f"{field}.step", f"{measure} is taken at several steps", f"name one of: {named}")


def _judge(measure: Measure, given: Given, field: str) -> Iterator[Finding]:
    judge = dict(measure.params).get("by")
    if judge is None:
        yield Finding("refused", f"{field}.measure", f"{measure} does not say by which judge",
                      f"as in {measure.name}(by=NAME)")  # fmt: skip
    elif judge not in given.calibrated:
        yield Finding(
            "refused",
            f"{field}.measure",
            f"judge {judge} has no calibration record, so what it says satisfies no rule",
            "hold it against labels of people first, or demand a measure that needs no judge",
        )


def _cutoff(measure: Measure, given: Given, field: str, step: str | None) -> Iterator[Finding]:
    cut = measure.cutoff
    if cut is None:
        return
    if cut > given.top_k:
        yield Finding("refused", f"{field}.measure", f"@{cut} is above the {given.top_k} that the system is asked for",
                      "lower the cut-off, or raise [run] top_k")  # fmt: skip
    elif given.received is not None and step in LAST and cut > given.received:
        yield Finding("refused", f"{field}.measure", f"@{cut} is above the {given.received} that generation receives",
                      "lower the cut-off, or name the step before as the list of candidates")  # fmt: skip


def population(given: Given, row: Any, field: str) -> Iterator[Finding]:
    """Whether the benchmark has questions of a rule's class, slice and risk."""
    part = Part(row.class_, getattr(row, "slice", None), getattr(row, "risk", None))
    if any(part.has(one) for one in given.cases):
        return
    slices = sorted({one for case in given.cases for one in case.slice})
    if part.slice is not None and part.slice not in slices:
        close = difflib.get_close_matches(part.slice, slices, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"slices: {', '.join(slices[:10]) or 'none'}"
        yield Finding("refused", f"{field}.slice", f"no question is in slice {part.slice!r}", hint)
        return
    words = [one for one in (part.class_, part.slice, f"risk={part.risk}" if part.risk else None) if one]
    key = "risk" if part.risk else "slice" if part.slice else "class"
    yield Finding("refused", f"{field}.{key}", f"the benchmark has no question that is {', '.join(words)}",
                  "`ragassay benchmark check` counts them")  # fmt: skip


def demand(
    row: Any, within: tuple[float, float] | None, field: str, direction: str = "none", name: str = ""
) -> Iterator[Finding]:
    """Whether a threshold can be broken and can be fulfilled, and is on the side that is worse."""
    if (told := idle(row, within)) is not None:
        yield Finding("refused", f"{field}.{told.partition(' ')[0]}", f"nothing could break {told}")
        return
    for key, worse in (("at_least", "lower"), ("at_most", "higher")):
        if getattr(row, key, None) is not None and direction == worse:
            other = "at_most" if key == "at_least" else "at_least"
            yield Finding("refused", f"{field}.{key}", f"of {name} the {worse} is the better: the worse a system is, "
                          "the surer it would hold", f"{other}, or another measure")  # fmt: skip
    least, greatest = within or (0.0, float("inf"))
    for key, floor in (("at_least", True), ("at_most", False)):
        value = getattr(row, key, None)
        if value is not None and ((value > greatest + TOLERANCE) if floor else (value < least - TOLERANCE)):
            yield Finding("refused", f"{field}.{key}", f"nothing could fulfil {key} = {value:g}: values lie in "
                          f"[{least:g}, {greatest:g}]")  # fmt: skip


def check_rule(policy: Policy, rule: Rule, given: Given, field: str, *, fixed: bool = False) -> Iterator[Finding]:
    """Everything about one rule; `fixed`: its place is the key itself."""
    found = [*measure_of(rule.measure, given, field, read="mean", step=rule.step), *population(given, rule, field)]
    measure = given.spelled(rule.measure)
    within = range_of(measure.declared)
    found += demand(rule, within, field, measure.declared.direction, measure.name)
    if measure.name in OVER_ALL and rule.class_ is not None:
        found.append(
            Finding("refused", f"{field}.class", f"{measure} compares both kinds of questions: no class has it")
        )
    if measure.name in FIGURES and rule.zero:
        told = f"{measure} is one figure of many decisions"
        found.append(Finding("refused", field, told, "give at_least, at_most or margin"))
    if measure.name in OF_REPEATS and given.repeats is not None and given.repeats < repeats_of(measure):
        told = f"{measure} needs {many(repeats_of(measure), 'repeat')} of each question, and there is {given.repeats}"
        found.append(Finding("refused", f"{field}.measure", told, f"[run] repeats = {repeats_of(measure)}"))
    if (rule.zero or rule.margin is not None) and measure.declared.direction == "none":
        found.append(Finding("refused", f"{field}.measure", f"neither more nor less of {measure.name} is better"))
    if rule.margin is not None and measure.declared.stage == "retrieval" and given.completeness != "complete":
        found += _judged(measure, given, field)
    if not any(one.level == "refused" for one in found) and within is not None:
        found += _too_small(policy, rule, measure, within, given, field)
    for one in found:
        yield Finding(one.level, field, one.message, one.hint) if fixed else one


def _judged(measure: Measure, given: Given, field: str) -> Iterator[Finding]:
    cuts = [int(one.rpartition("@")[2]) for one in given.measured if one.startswith("judged") and "@" in one]
    wanted = measure.cutoff or 0
    if cuts and 2 * max(cuts) < wanted:
        told = f"judged@{max(cuts)} says nothing of most of the {wanted} places that it reads"
        yield Finding("refused", f"{field}.margin", told, f'add "judged@{wanted}" to [scoring] measures')  # fmt: skip
    elif cuts and max(cuts) < wanted:
        yield Finding("warning", f"{field}.margin", f"judged@{max(cuts)} says nothing of the places behind it",
                      f'add "judged@{wanted}" to [scoring] measures')  # fmt: skip
    if not cuts:
        yield Finding(
            "refused", f"{field}.margin", "two arms of which nobody knows how much was judged are never told apart",
            f'add "judged@{wanted or 10}" to [scoring] measures, or label every document (completeness = "complete")',
        )  # fmt: skip


def _too_small(
    policy: Policy, rule: Rule, measure: Measure, within: tuple[float, float], given: Given, field: str
) -> Iterator[Finding]:
    some = False
    for class_ in classes_of(measure, rule.class_):
        part = Part(class_, rule.slice, rule.risk)
        own = given.members(measure, [one for one in given.cases if part.has(one)])
        if not own:
            continue
        some = True
        if measure.name in FIGURES:
            yield from _figure(policy, rule, measure, own, str(class_), field)
        elif rule.margin is not None:
            yield from _margin(policy, rule.margin, within, own, str(class_), field)
        elif not rule.zero:
            floor = rule.at_least is not None
            threshold = rule.at_least if rule.at_least is not None else rule.at_most or 0.0
            two = two_valued(measure, own, given.repeats)
            yield from ever_passes(policy.alpha, threshold, within, own, str(class_), field, floor=floor, two=two)
    if not some:
        yield Finding("refused", f"{field}.measure", f"no question of the benchmark can have a value of {measure}")


def _figure(
    policy: Policy, rule: Rule, measure: Measure, own: Sequence[Case], what: str, field: str
) -> Iterator[Finding]:
    """Whether decisions that are all right, and all sure, would pass."""
    alpha, size = policy.alpha, many(len(own), "question")
    if rule.margin is not None:
        ours, theirs = (best_case(measure, own, alpha / 2) for _ in range(2))
        reach = ours.high - ours.low if ours and theirs else 0.0
        if reach >= rule.margin:
            told = f"{size} of {what} cannot show within {rule.margin:g} that two equal systems are equal"
            yield Finding("warning", f"{field}.margin", told, "add questions, or widen the margin")
        return
    floor = rule.at_least is not None
    if floor == (measure.declared.direction == "lower"):
        return
    best = best_case(measure, own, alpha)
    if best is None:
        told = f"{measure} needs questions that may be answered and others that may not"
        yield Finding("refused", f"{field}.measure", told, "`ragassay benchmark check` counts them")
    elif not (clears(best.low, rule.at_least or 0.0) if floor else clears(rule.at_most or 0.0, best.high)):
        end = f"at least {best.low:.4f}" if floor else f"at most {best.high:.4f}"
        told = f"{size} of {what} can never pass: with every decision right it would be {end}"
        yield Finding("refused", field, told, "add questions, or lower the demand")


def ever_passes(
    alpha: float, threshold: float, within: tuple[float, float], own: Sequence[Case], what: str, field: str, *,
    floor: bool, two: bool = True,
) -> Iterator[Finding]:  # fmt: skip
    """Whether a bound clears the threshold if every question has the best value; `two`: of two values only."""

    def ends(clusters: Sequence[str | int]) -> Ends:
        best = np.full(len(clusters), within[1] if floor else within[0])
        return ends_of(best, best, within, alpha, clusters, two_valued=two)

    def passes(found: Ends) -> bool:
        return clears(found.low, threshold) if floor else clears(threshold, found.high)

    found = ends([one.cluster for one in own])
    if passes(found):
        return
    needed = best_passes_from(threshold, within, alpha, floor=floor)
    if needed is not None and not two:
        needed = least_n(lambda n: passes(ends(range(n))), MOST_SEARCHED)
    more = f"at least {needed:,} are needed, all with the best value" if needed else "no number would be enough"
    yield Finding(
        "refused", field,
        f"{many(len(own), 'question')} of {what} ({found.clusters:,} independent) can never pass: {more}",
        "add questions, lower the demand, or name questions under [[policy.must_hold]]",
    )  # fmt: skip


def _margin(
    policy: Policy, margin: float, within: tuple[float, float], own: Sequence[Case], what: str, field: str
) -> Iterator[Finding]:
    reach = within[1] - within[0]

    def passes(n: int, value: float) -> bool:
        lows = np.full(n, value)
        ends = ends_of(lows, lows, (-reach, reach), policy.alpha, range(n), two_valued=False)
        return ends.low > -margin + TOLERANCE

    groups = len({one.cluster for one in own})
    if not passes(groups, reach):
        yield Finding("refused", f"{field}.margin", f"{many(groups, 'independent question')} of {what} can never pass",
                      "add questions, or widen the margin")  # fmt: skip
    elif not passes(groups, 0.0):
        needed = least_n(lambda n: passes(n, 0.0), MOST_SEARCHED)
        size = f"{needed:,} are" if needed else f"more than {MOST_SEARCHED:,} are"
        told = f"{many(groups, 'independent question')} of {what} cannot show that two equal systems are equal"
        hint = "add questions, or widen the margin"
        yield Finding("warning", f"{field}.margin", f"{told}: {size} needed", hint)


def check_must_hold(rule: MustHold, given: Given, field: str) -> Iterator[Finding]:
    """Everything about questions that must hold."""
    yield from measure_of(rule.measure, given, field, read="question", step=rule.step)
    declared = given.spelled(rule.measure).declared
    yield from demand(rule, range_of(declared), field, declared.direction, declared.name)
    known = {str(one.query_id) for one in given.cases}
    for number, name in enumerate(rule.cases):
        if name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
            yield Finding("refused", f"{field}.cases", f"there is no question {name!r} (place {number})",
                          f"did you mean {close[0]!r}?" if close else "")  # fmt: skip
    if not rule.cases and not any(one.must_hold for one in given.cases):
        yield Finding("refused", f"{field}.cases", "no question is marked must_hold, and none is named",
                      'name them: cases = ["..."], or mark them in the questions\' file')  # fmt: skip


def check_need(need: Need, given: Given, field: str) -> Iterator[Finding]:
    """Everything about what one question needs."""
    yield from measure_of(need.measure, given, field, read="question", step=need.step)
    yield from population(given, need, field)
    declared = given.spelled(need.measure).declared
    yield from demand(need, range_of(declared), field, declared.direction, declared.name)


def check_verdicts(policy: Policy, floor: Verdicts, given: Given, field: str) -> Iterator[Finding]:
    """Everything about a floor on the share of good questions."""
    found = [*population(given, floor, field), *demand(floor, (0.0, 1.0), field)]
    yield from found
    for class_ in [floor.class_] if floor.class_ else CLASSES:
        own = [one for one in given.cases if Part(class_, floor.slice, floor.risk).has(one)]
        if own and not found:
            yield from ever_passes(policy.alpha, floor.at_least, (0.0, 1.0), own, str(class_), field, floor=True)


def check_budget(policy: Policy, budget: Budget, given: Given, field: str) -> Iterator[Finding]:
    """Everything about one budget."""
    found = [*measure_of(budget.measure, given, field, read="figure"), *population(given, budget, field)]
    measure = given.spelled(budget.measure)
    within = range_of(measure.declared)
    if budget.statistic == "share" and within != (0.0, 1.0):
        found.append(Finding("refused", f"{field}.statistic", f"{measure} is no share", 'as of error_rate; or "p95"'))
    if within is not None or budget.at_most is not None:
        found += demand(budget, within, field, measure.declared.direction, measure.name)
    elif measure.declared.direction == "higher":
        found.append(Finding("refused", f"{field}.measure", f"of {measure.name} the higher is the better: no budget"))
    yield from found
    if any(one.level == "refused" for one in found) or budget.sample:
        return
    own = [one for one in given.cases if Part(budget.class_).has(one)]
    allowed = budget.at_most or 0.0 if budget.statistic == "share" else float(1 - QUANTILES[budget.statistic])
    alpha = policy.alpha if budget.margin is None else policy.alpha / 2
    once = given.repeats in (None, 1)
    for one in ever_passes(alpha, allowed, (0.0, 1.0), own, "this budget", field, floor=False, two=once):
        yield Finding(one.level, one.field, one.message, "add questions, or sample = true: about these questions only")
