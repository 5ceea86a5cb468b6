"""All findings on one policy: each rule by itself, then what they leave out together. Reads no trace."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.gate.check.loose import loose
from ragassay.gate.check.model import Finding, Given
from ragassay.gate.check.one import check_budget, check_must_hold, check_need, check_rule, check_verdicts, measure_of
from ragassay.gate.check.probes import check_probe
from ragassay.gate.reading import CLASSES, Part, may_be_answered
from ragassay.gate.refusals import rules_of
from ragassay.gate.verdicts import needs_any
from ragassay.measures import Measure
from ragassay.records.case import Case
from ragassay.records.policy import Policy, Rule
from ragassay.records.text import many

FEW = frozenset({"rr", "hit"})
"""Measures that one found passage satisfies."""


def check(policy: Policy, given: Given) -> list[Finding]:
    """What is wrong with a policy on these questions and measures; `refused` findings first.

    Refused: nothing is demanded; a measure that is not scored or cannot be read by that rule; questions that the
    benchmark does not have; a demand that nothing could break or fulfil; too few questions to ever pass; a cut-off
    above what generation receives; rr or hit as the only measure of multi_hop; a judge without calibration; a floor on
    what is better the lower it is, or a ceiling on what is better the higher; a floor on good questions of which
    nothing says what a good answer is. A gate passes nothing under a policy of which anything is refused.
    """
    found = [*_rules(policy, given), *_whole(policy, given)]
    return sorted(found, key=lambda one: one.level != "refused")


def _rules(policy: Policy, given: Given) -> Iterator[Finding]:
    for number, rule in enumerate(policy.rules):
        yield from check_rule(policy, rule, given, f"policy.rules[{number}]")
    for rule in rules_of(policy.refusal):
        key = "abstention_at_least" if rule.at_least is not None else "false_refusal_at_most"
        yield from check_rule(policy, rule, given, f"policy.refusal.{key}", fixed=True)
    for number, must in enumerate(policy.must_hold):
        yield from check_must_hold(must, given, f"policy.must_hold[{number}]")
    for number, budget in enumerate(policy.budgets):
        yield from check_budget(policy, budget, given, f"policy.budgets[{number}]")
    for number, need in enumerate(policy.needs):
        yield from check_need(need, given, f"policy.needs[{number}]")
    for number, floor in enumerate(policy.verdicts):
        yield from check_verdicts(policy, floor, given, f"policy.verdicts[{number}]")
    if policy.review is not None:
        yield from measure_of(policy.review.measure, given, "policy.review", read="mean", step=policy.review.step)
    if policy.probe is not None:
        yield from check_probe(policy.probe, given.suites)


def _whole(policy: Policy, given: Given) -> Iterator[Finding]:
    if not policy.demands:
        hint = "add [[policy.rules]] or [[policy.must_hold]]: without rules nothing can pass"
        yield Finding("refused", "policy", "the policy demands nothing", hint)
    if policy.reference and not any(one.margin is not None for one in policy.rules):
        yield Finding("refused", "policy.reference", "no rule has a margin to hold the baseline by",
                      "add a rule with a margin, or take reference out")  # fmt: skip
    yield from _multi_hop(policy, given)
    yield from _outcome(policy, given)
    yield from _bands(policy, given)
    yield from _silence(policy, given)
    yield from _contradictions(policy, given)
    yield from _unread(policy, given)
    yield from _good_at_nothing(policy, given)
    yield from loose(policy, given)


def _multi_hop(policy: Policy, given: Given) -> Iterator[Finding]:
    if not any(one.class_ == "multi_hop" for one in given.cases):
        return
    about = [
        (number, rule)
        for number, rule in enumerate(policy.rules)
        if rule.class_ in (None, "multi_hop") and _stage(rule, given) in ("retrieval", "facts", "context")
    ]
    names = {given.spelled(rule.measure).name for _, rule in about}
    if names and names <= FEW:
        yield Finding(
            "refused",
            f"policy.rules[{about[0][0]}].measure",
            f"{' and '.join(sorted(names))} as the only measure of multi_hop: one passage of several satisfies it",
            "add fact_coverage or recall for multi_hop",
        )


def _stage(rule: Rule, given: Given) -> str:
    return given.spelled(rule.measure).declared.stage


def _outcome(policy: Policy, given: Given) -> Iterator[Finding]:
    wants = {
        "policy.verdicts": bool(policy.verdicts),
        "policy.needs": bool(policy.needs),
        "policy.bands": bool(policy.bands),
        "policy.refusal.text": policy.refusal is not None and policy.refusal.text is not None,
    }
    field = next((name for name, wanted in wants.items() if wanted), None)
    if field is not None and "outcome" not in given.measured:
        yield Finding("refused", field, "the scoring lacks outcome, by which it is told who declined",
                      'add "outcome" to [scoring] measures')  # fmt: skip


def _bands(policy: Policy, given: Given) -> Iterator[Finding]:
    present = {one.risk for one in given.cases}
    for risk in policy.bands:
        field = f"policy.bands.{risk}"
        if risk not in present:
            yield Finding("refused", field, f"no question has risk {risk}", "label questions with it, or take it out")
    needs = [one for one in policy.needs if one.risk in (None, "high")]
    if "high" in policy.bands and not needs:
        yield Finding(
            "refused",
            "policy.bands.high",
            "high risk is strong support or declining, and no need says what support is",
            'add [[policy.needs]] with risk = "high", such as measure = "survival", at_least = 1.0',
        )
    unread = sorted(str(one) for one in present - set(policy.bands) if one is not None)
    if policy.bands and unread:
        yield Finding("warning", "policy.bands", f"questions of risk {', '.join(unread)} have no band")


def _good_at_nothing(policy: Policy, given: Given) -> Iterator[Finding]:
    """Floors on good questions where an answer is allowed and nothing says what it needs: any text would be good."""
    for number, floor in enumerate(policy.verdicts):
        part = Part(floor.class_, floor.slice, floor.risk)
        bare = [one for one in given.cases if part.has(one) and may_be_answered(one) and not needs_any(policy, one)]
        if bare:
            yield Finding(
                "refused", f"policy.verdicts[{number}]",
                f"nothing says what an answer to {many(len(bare), 'question')} needs, such as {bare[0].query_id}: "
                "whatever was answered would be good",
                "add [[policy.needs]] for their class and risk",
            )  # fmt: skip


def _contradictions(policy: Policy, given: Given) -> Iterator[Finding]:
    """A floor above a ceiling on the same measure, place and questions: nothing can keep both."""
    for number, floor in enumerate(policy.rules):
        for other in policy.rules:
            if floor.at_least is None or other.at_most is None or floor.at_least <= other.at_most:
                continue
            same = given.spelled(floor.measure) == given.spelled(other.measure) and floor.step == other.step
            pairs = ((floor.class_, other.class_), (floor.slice, other.slice), (floor.risk, other.risk))
            if same and all(one == two or None in (one, two) for one, two in pairs):
                yield Finding(
                    "refused", f"policy.rules[{number}].at_least",
                    f"at least {floor.at_least:g} here, and another rule says at most {other.at_most:g}",
                    "nothing can keep both: take one out",
                )  # fmt: skip


def _unread(policy: Policy, given: Given) -> Iterator[Finding]:
    """Classes that nothing in the policy is about, and questions of high risk."""
    if not policy.demands:
        return
    for class_ in CLASSES:
        own = [one for one in given.cases if (one.class_ or "answerable") == class_]
        ruled = any(_reads(rule, class_, own, given) for rule in (*policy.rules, *rules_of(policy.refusal)))
        judged = any(one.class_ in (None, class_) for one in policy.verdicts)
        if own and not ruled and not judged and not any(_must(policy, one) for one in own):
            hint = "add [policy.refusal] abstention_at_least" if class_ == "unanswerable" else "add a rule for it"
            yield Finding("warning", "policy.rules", f"no rule reads {many(len(own), 'question')} of {class_}", hint)
    bare = [one for one in given.cases if one.risk == "high" and not _must(policy, one)]
    said = {one.risk for one in policy.rules} | {one.risk for one in policy.verdicts}
    said |= {one.risk for one in policy.needs} | set(policy.bands)
    if bare and "high" not in said:
        told = f"nothing is said of {many(len(bare), 'question')} of high risk"
        yield Finding("warning", "policy.bands.high", told, "add [policy.bands.high], or mark them must_hold")


def _must(policy: Policy, case: Case) -> bool:
    """Whether a case is named, or marked, as one that must hold."""
    return any(case.query_id in one.cases or (not one.cases and case.must_hold) for one in policy.must_hold)


def _reads(rule: Rule, class_: str, own: list[Case], given: Given) -> bool:
    measure = given.spelled(rule.measure)
    return rule.class_ in (None, class_) and bool(given.members(measure, own)) and _stage(rule, given) != "runtime"


def _of_answers(measure: Measure) -> bool:
    """Whether it is about the questions that were answered, and about no others."""
    confidence = measure.declared.stage == "confidence" and not measure.name.startswith("retrieval_")
    return measure.declared.stage in ("answer", "grounding") or (confidence and measure.name != "selective_risk")


def _silence(policy: Policy, given: Given) -> Iterator[Finding]:
    """Measures of answers leave out questions that were declined, and so can be raised by declining."""
    of_answers = [number for number, rule in enumerate(policy.rules) if _of_answers(given.spelled(rule.measure))]
    names = {given.spelled(one.measure).name for one in policy.rules}
    refusal = policy.refusal is not None and policy.refusal.false_refusal_at_most is not None
    if of_answers and "false_refusal" not in names and not refusal:
        yield Finding(
            "warning",
            f"policy.rules[{of_answers[0]}].measure",
            "it is about answers only, so declining hard questions raises it, and nothing limits declining",
            "add [policy.refusal] false_refusal_at_most",
        )
    quality = [one for one in policy.rules if _stage(one, given) not in ("runtime", "refusal")]
    if policy.demands and not (quality or policy.must_hold or policy.verdicts):
        yield Finding("warning", "policy.rules", "no rule reads whether evidence was found or the answer is right")
