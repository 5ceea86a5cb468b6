"""Whether the baseline is worth beating: no class worse than the built-in system beyond the margin. Blames nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ragassay.compare.weak import BUILT_IN
from ragassay.gate.bounds import TOLERANCE
from ragassay.gate.evidence import Again, Evidence, check_alike, gather, score_again
from ragassay.gate.reading import Column, NoColumn, Part, asked_of_either, classes_of, column, mean_of, paired
from ragassay.gate.results import number, result
from ragassay.gate.rules import Arms
from ragassay.records.base import Digest
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Rule


def read_weak_baseline(arms: Arms, reference: Digest | None, again: Again = score_again) -> Iterator[RuleResult]:
    """With a reference: each margin rule of the policy, baseline against reference, by class; a weak one is a review.

    The baseline's exact configuration is stored, or it could not have been opened. Compared is the measured difference:
    a baseline is weak on what was seen, not only where that is certain.
    """
    if reference is None:
        return
    label = "strength of the baseline"
    if arms.baseline is None:
        yield result(label, "evidence", "review", None, "There is no baseline to hold against it.", ["baseline_absent"])
        return
    built_in = gather(arms.store, reference, "reference", again=again)
    check_alike(arms.store, arms.baseline, built_in, arms.policy.variation)
    if built_in.subject.system.adapter != BUILT_IN:
        told = f"The reference is {built_in.subject.system.adapter}, not the built-in system."
        yield result(label, "evidence", "review", None, told, ["not_built_in"])
        return
    rules = [one for one in arms.policy.rules if one.margin is not None]
    read = [one for rule in rules for one in _differences(arms.baseline, built_in, rule)]
    found = [one.told for one in read if one.worse]
    if found:
        yield result(label, "evidence", "review", False, f"{'; '.join(found)}.", ["weak_baseline"])
    elif not rules:
        yield result(label, "evidence", "review", None, "No rule has a margin to hold it by.", ["no_margin"])
    elif not read:
        told = "No measure of a rule with a margin has a value in both, so nobody can tell."
        yield result(label, "evidence", "review", None, told, ["reference_not_compared"])


class _Difference(NamedTuple):
    told: str
    worse: bool


def _differences(baseline: Evidence, built_in: Evidence, rule: Rule) -> Iterator[_Difference]:
    """Every class of a rule in which both have a value, and whether the baseline is worse by more than the margin."""
    for class_ in classes_of(baseline.spelled(rule.measure), rule.class_):
        part = Part(class_, rule.slice, rule.risk)
        ours = column(baseline, rule.measure, rule.step, part)
        theirs = _there(built_in, rule, part)
        if isinstance(ours, NoColumn) or isinstance(theirs, NoColumn):
            continue
        lines, _ = paired(ours, theirs, asked_of_either(baseline, built_in))
        value = mean_of(one.value for one in lines)
        if value is not None:
            told = f"in {rule.measure} of {class_} the baseline is {number(-value)} worse than the built-in system"
            yield _Difference(told, value < -(rule.margin or 0.0) - TOLERANCE)


def _there(built_in: Evidence, rule: Rule, part: Part) -> Column | NoColumn:
    """The built-in system names its steps in its own way: where it has not this one, its last list is read."""
    read = column(built_in, rule.measure, rule.step, part)
    if isinstance(read, NoColumn) and read.reason in ("step_missing", "step_not_named"):
        places = [one for one in built_in.observed.places[str(built_in.spelled(rule.measure))] if one is not None]
        last = [one for one in ("assemble", "dedup", "lexical") if one in places]
        return column(built_in, rule.measure, last[0], part) if last else read
    return read
