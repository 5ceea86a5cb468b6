"""Whether the baseline is worth beating: no class worse than the built-in system beyond the margin. Blames nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragassay.compare.weak import BUILT_IN, stored_configuration
from ragassay.gate.bounds import TOLERANCE
from ragassay.gate.evidence import Again, Evidence, check_alike, gather, score_again
from ragassay.gate.reading import Column, NoColumn, Part, asked_of_either, classes_of, column, mean_of, paired
from ragassay.gate.results import number, result
from ragassay.gate.rules import Arms
from ragassay.gate.standing import faults_of
from ragassay.records.base import Digest
from ragassay.records.decision import RuleResult
from ragassay.records.policy import OnFail, Rule
from ragassay.records.text import many

LABEL = "strength of the baseline"
HOW = 'a run of the built-in BM25 (kind = "reference") on the same questions: --reference RUN'
BY_LISTS = frozenset({"retrieval", "facts", "context"})
"""Stages whose measures every system with a list has, the built-in one too: a rule on one must be compared."""
NOT_STORED = (
    "Its exact configuration is not stored: its system does not say which retriever, generator or prompt it is "
    "([system] retriever, generator, prompt)."
)
MOST_TOLD = 5


class _Difference(NamedTuple):
    told: str
    worse: bool


def read_weak_baseline(
    arms: Arms, reference: Digest | None, as_of: str, again: Again = score_again
) -> Iterator[RuleResult]:
    """Each margin rule of the policy in every class, baseline against the built-in system; a weak one is a review.

    Weak is a baseline whose exact configuration is not known, or that is worse in any class by more than the margin.
    Compared is the measured difference: a baseline is weak on what was seen, not only where that is certain. Where
    nothing can be told, a person is called, and where the policy demands a reference, the decision is inconclusive.
    Without a reference, and without that demand, there is no result.
    """
    wanted = arms.policy.reference
    unsure: OnFail = "block" if wanted else "review"
    if reference is None:
        if wanted:
            yield _unsure("block", f"The policy demands {HOW}.", "reference_absent")
        return
    if arms.baseline is None:
        yield _unsure(unsure, "There is no baseline to hold against it: --baseline RUN.", "baseline_absent")
        return
    built_in = gather(arms.store, reference, "reference", again=again)
    check_alike(arms.store, arms.baseline, built_in, ())
    if built_in.subject.system.adapter != BUILT_IN:
        told = f"The reference is {built_in.subject.system.adapter}, not the built-in system."
        yield _unsure(unsure, told, "not_built_in")
        return
    faults = [*faults_of(arms.policy, "reference", built_in, as_of), *_asked_for_less(arms.baseline, built_in)]
    if faults:
        told, reasons = " ".join(told for told, _ in faults), [reason for _, reason in faults]
        yield result(LABEL, "evidence", unsure, None, f"The reference cannot be held against: {told}", reasons)
        return
    yield from _compared(arms, arms.baseline, built_in, unsure)


def _compared(arms: Arms, baseline: Evidence, built_in: Evidence, unsure: OnFail) -> Iterator[RuleResult]:
    rules = [one for one in arms.policy.rules if one.margin is not None]
    read = {place: list(_differences(baseline, built_in, rule)) for place, rule in enumerate(rules)}
    every = [one for found in read.values() for one in found]
    weak = [one.told for one in every if one.worse]
    bare = [rule for place, rule in enumerate(rules) if not read[place] and _by_lists(baseline, rule)]
    stored = stored_configuration(arms.store, baseline.subject, baseline.protocol)
    if weak or not stored:
        words = [f"{'; '.join(weak[:MOST_TOLD])}."] if weak else []
        words += [] if stored else [NOT_STORED]
        codes = [*(["weak_baseline"] if weak else []), *([] if stored else ["configuration_not_stored"])]
        yield result(LABEL, "evidence", "review", False, " ".join(words), codes)
    if not rules:
        yield _unsure(unsure, "No rule has a margin to hold it by.", "no_margin")
    elif bare or not every:
        named = ", ".join(dict.fromkeys(one.measure for one in bare or rules))
        told = f"{named} of rules with a margin: no class has a value in both, so nobody can tell."
        yield _unsure(unsure, told, "reference_not_compared")
    elif not weak and stored:
        yield result(LABEL, "evidence", "review", True, _strong(every))


def _strong(every: Sequence[_Difference]) -> str:
    more = f"; and {len(every) - MOST_TOLD} more" if len(every) > MOST_TOLD else ""
    return f"It is not worse than the built-in system by more than the margin: {_list(every)}{more}."


def _list(every: Sequence[_Difference]) -> str:
    return "; ".join(one.told for one in every[:MOST_TOLD])


def _by_lists(baseline: Evidence, rule: Rule) -> bool:
    return baseline.spelled(rule.measure).declared.stage in BY_LISTS


def _unsure(on_fail: OnFail, told: str, reason: str) -> RuleResult:
    return result(LABEL, "evidence", on_fail, None, told, [reason])


def _asked_for_less(baseline: Evidence, built_in: Evidence) -> Iterator[tuple[str, str]]:
    ours, theirs = baseline.subject.top_k, built_in.subject.top_k
    if theirs < ours:
        yield f"It was asked for {many(theirs, 'item')}, the baseline for {ours}.", "reference_asked_for_less"


def _differences(baseline: Evidence, built_in: Evidence, rule: Rule) -> Iterator[_Difference]:
    """Every class in which both have a value, whichever the rule names, and whether the baseline is worse by more than
    the margin."""
    for class_ in classes_of(baseline.spelled(rule.measure), None):
        part = Part(class_, rule.slice, rule.risk)
        ours = column(baseline, rule.measure, rule.step, part)
        theirs = _there(built_in, rule, part)
        if isinstance(ours, NoColumn) or isinstance(theirs, NoColumn):
            continue
        lines, _ = paired(ours, theirs, asked_of_either(baseline, built_in))
        value = mean_of(one.value for one in lines)
        if value is not None:
            how = f"{number(-value)} worse than" if value < 0 else f"{number(value)} better than" if value else "as"
            over = many(sum(one.value is not None for one in lines), "question")
            told = f"in {rule.measure} of {class_} the baseline is {how} the built-in system, over {over}"
            yield _Difference(told, value < -(rule.margin or 0.0) - TOLERANCE)


def _there(built_in: Evidence, rule: Rule, part: Part) -> Column | NoColumn:
    """The built-in system names its steps in its own way: where it has not this one, its last list is read."""
    read = column(built_in, rule.measure, rule.step, part)
    if isinstance(read, NoColumn) and read.reason in ("step_missing", "step_not_named"):
        places = [one for one in built_in.observed.places[str(built_in.spelled(rule.measure))] if one is not None]
        last = [one for one in ("assemble", "dedup", "lexical") if one in places]
        return column(built_in, rule.measure, last[0], part) if last else read
    return read
