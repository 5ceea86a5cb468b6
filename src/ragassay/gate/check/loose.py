"""Settings of a policy that let more through than a reader of its rules would think. Refuses nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.gate.check.model import Finding, Given
from ragassay.gate.judges import is_judged
from ragassay.gate.reading import range_of
from ragassay.records.policy import Policy
from ragassay.records.text import many

USUAL_ALPHA = 0.05
MOST_ALPHA = 0.1
"""Above it a demand that does not hold passes more often than once in ten."""
MOST_ERRORS = 0.5
MOST_GAP = 0.2
WIDE = 0.5
"""Part of a measure's range: a margin as wide lets half of all that there is be lost."""
MOST_DAYS = 366


def loose(policy: Policy, given: Given) -> Iterator[Finding]:
    """Warnings: a chance, a share or a margin so wide that a pass says little."""
    if policy.alpha > MOST_ALPHA:
        told = f"alpha = {policy.alpha:g}: a rule whose demand does not hold passes with a chance of up to 1 in "
        yield _warning(
            "alpha", f"{told}{1 / policy.alpha:.2g}", f"alpha = {USUAL_ALPHA:g} is usual, {MOST_ALPHA:g} is bold"
        )
    if policy.max_errors > MOST_ERRORS:
        told = f"max_errors = {policy.max_errors:g}: a run of which more than half failed can still be decided"
        yield _warning("max_errors", told, "0.2 is the default")
    if policy.judged_gap > MOST_GAP and any(one.margin is not None for one in policy.rules):
        told = f"judged_gap = {policy.judged_gap:g}: labels may favour one arm by as much and margins are decided"
        yield _warning("judged_gap", told, "0.05 is the default")
    if policy.max_age_days is not None and policy.max_age_days > MOST_DAYS:
        old = many(policy.max_age_days // 365, "year")
        told = f"max_age_days = {policy.max_age_days:,}: evidence that is older than {old} decides"
        yield _warning("max_age_days", told, "14 is what the docs show")
    yield from _judges(policy, given)
    yield from _margins(policy, given)


def _judges(policy: Policy, given: Given) -> Iterator[Finding]:
    spelled = [one.measure for one in policy.rules]
    spelled += [one.measure for one in policy.needs] + [one.measure for one in policy.must_hold]
    if not any(is_judged(given.spelled(one)) for one in spelled):
        return
    if policy.judges.kappa < 0:
        told = f"kappa = {policy.judges.kappa:g}: a judge need not be shown to be better than chance"
        yield _warning("judges.kappa", told, "0 asks for that")
    if policy.judges.high_risk == "one" and any(one.risk == "high" for one in given.cases):
        told = 'high_risk = "one": one judge alone rules on questions of high risk'
        yield _warning("judges.high_risk", told, '"two" heterogeneous judges, or a "person"')


def _margins(policy: Policy, given: Given) -> Iterator[Finding]:
    for number, rule in enumerate(policy.rules):
        within = range_of(given.spelled(rule.measure).declared)
        if rule.margin is None or within is None:
            continue
        reach = within[1] - within[0]
        if WIDE * reach <= rule.margin < reach:
            lost = f"{100 * rule.margin / reach:.0f} %"
            told = f"margin = {rule.margin:g}: the candidate may lose {lost} of the measure's range"
            yield _warning(f"rules[{number}].margin", told, "a margin is what a reader would not notice")


def _warning(field: str, told: str, hint: str) -> Finding:
    return Finding("warning", f"policy.{field}", told, hint)
