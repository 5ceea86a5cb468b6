"""The verdict sentence: what a gate decided, else what was found, computed from counts. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay.records.decision import Decision, Result
from ragassay.records.protocol import Policy
from ragassay.records.score import Estimate
from ragassay.report.decided import CALLS, WORST_FIRST, in_order, sentence
from ragassay.report.dimensions import base_name
from ragassay.report.funnel import tell
from ragassay.report.model import Dimension, Funnel, Verdict
from ragassay.report.words import class_name, many, of

MOST_NOTES = 2
MOST_AGAINST = 5


def verdict(
    *,
    policy: Policy,
    asked: int,
    traces: int,
    failures: Mapping[str, int],
    funnels: Sequence[Funnel],
    estimates: Sequence[Estimate],
    dimensions: Sequence[Dimension],
    steps: Sequence[str] = (),
    decisions: Sequence[tuple[Decision, str]] = (),
) -> Verdict:
    """What was decided and what was found, in sentences; with nothing measured it says so and gives no other number.

    Of several decisions the worst one leads.
    """
    lead, outcome = _lead(policy, decisions)
    against = _against(decisions)
    if not any(one.measured for one in dimensions):
        why = "no question has a trace" if not traces else "no measure has a value for any question"
        nothing = (*against, f"Nothing was measured: {why}.", *_shortfall(asked, traces, failures))
        return Verdict(lead=lead, reasons=nothing, outcome=outcome)
    reasons = against + [told for funnel in funnels if (told := tell(funnel))]
    if reasons == against:
        reasons += _recall(dimensions, estimates, steps)
    reasons += _refusals(estimates)
    reasons += _shortfall(asked, traces, failures)
    silent = [one.name.lower() for one in dimensions if not one.measured]
    if silent:
        reasons.append(f"Not measured: {_list(silent)}.")
    return Verdict(lead=lead, reasons=tuple(reasons), outcome=outcome)


def _lead(policy: Policy, decisions: Sequence[tuple[Decision, str]]) -> tuple[str, Result | None]:
    if decisions:
        worst, name = min(decisions, key=lambda one: WORST_FIRST.index(one[0].outcome))
        others = f" It is the worst of {len(decisions):,} decisions." if len(decisions) > 1 else ""
        return f"{sentence(worst, name)}{others}", worst.outcome
    if policy.demands:
        return f"Not decided: policy {policy.name} has rules, and no gate has read them.", None
    return "Not decided: no policy was declared.", None


def _against(decisions: Sequence[tuple[Decision, str]]) -> list[str]:
    """The first results that are not pass, of every decision, each with its numbers."""
    found = []
    for decision, name in decisions:
        against = [one for one in in_order(decision.results) if one.result != "pass"]
        found += [f"{CALLS[decision.outcome]} by {name}: {one.rule}: {one.told}" for one in against[:MOST_AGAINST]]
        if len(against) > MOST_AGAINST:
            found.append(f"{len(against) - MOST_AGAINST:,} more results of {name} are not pass: `ragassay gate`.")
        found += [f"Beside {name}: {one}" for one in decision.notes[:MOST_NOTES]]
    return found


def _recall(dimensions: Iterable[Dimension], estimates: Sequence[Estimate], steps: Sequence[str]) -> list[str]:
    """Without facts, the first recall of each class says how much evidence was there, and at which step before."""
    told = []
    seen: set[str] = set()
    for dimension in dimensions:
        for row in dimension.headline:
            if dimension.key == "recall" and row.status == "value" and row.population.class_ not in seen:
                seen.add(row.population.class_)
                where = "in the context" if row.step == "context" else f"after {row.step}" if row.step else "in all"
                before = [one for one in along(row, estimates, steps) if one.step != row.step]
                way = ", ".join(f"{one.value:.3f} after {one.step}" for one in before)
                over = many(row.scored, f"{class_name(row.population.class_)} question")
                told.append(f"{row.measure} {where} is {row.value:.3f} over {over}{f'; it was {way}' if way else ''}.")
    return told


def along(row: Estimate, estimates: Iterable[Estimate], steps: Sequence[str]) -> list[Estimate]:
    """The values of a row's measure over its population at each step on the way, in the order of `steps`."""
    same = {
        one.step: one
        for one in estimates
        if (one.measure, one.population, one.aggregation) == (row.measure, row.population, row.aggregation)
        and one.step
        and one.status == "value"
    }
    return [same[step] for step in steps if step in same]


def _refusals(estimates: Iterable[Estimate]) -> list[str]:
    """Two sentences, each with its own population by class: refused without need, answered without ground."""
    told = {
        "false_refusal": "Refused although it should answer",
        "unsupported_answer": "Answered although it should decline",
    }
    found: dict[str, list[str]] = {name: [] for name in told}
    for one in estimates:
        name = base_name(one.measure)
        known = one.status == "value" and one.numerator is not None and one.denominator is not None
        if name in found and one.population.slice is None and known:
            found[name].append(f"{of(one.numerator, one.denominator)} {class_name(one.population.class_)}")
    return [f"{told[name]}: {_list(parts)} questions." for name, parts in found.items() if parts]


def _shortfall(asked: int, traces: int, failures: Mapping[str, int]) -> list[str]:
    told = []
    if traces < asked:
        have = "has" if asked - traces == 1 else "have"
        told.append(f"{asked - traces:,} of {many(asked, 'question')} {have} no trace.")
    if failed := sum(failures.values()):
        stay = "it stays" if failed == 1 else "they stay"
        causes = ", ".join(f"{count:,} {cause.replace('_', ' ')}" for cause, count in sorted(failures.items()))
        told.append(f"{failed:,} of {many(asked, 'question')} ended in a failure ({causes}); {stay} in every count.")
    return told


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
