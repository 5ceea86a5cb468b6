"""Results of rules from their numbers, in one form and in words. Reads no evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ragassay.gate.policy_file import kind_of, label_of
from ragassay.gate.reading import NoColumn, Part
from ragassay.records.decision import Kind, Result, RuleResult
from ragassay.records.policy import OnFail, Rule
from ragassay.records.score import Population, Status
from ragassay.records.text import many

MOST_QUESTIONS = 20
MOST_TOLD = 2_000


def result(
    rule: str,
    kind: Kind,
    on_fail: OnFail,
    held: bool | None,
    told: str,
    reasons: Iterable[str] = (),
    *,
    counts: Mapping[Status, int] | None = None,
    questions: Iterable[str] = (),
    population: Population | None = None,
    **numbers: Any,
) -> RuleResult:
    """A result. `held`: True pass, False fail (of a rule that only calls a person: review), None inconclusive."""
    made: Result = "inconclusive" if held is None else "pass" if held else "fail" if on_fail == "block" else "review"
    codes = () if held else tuple(dict.fromkeys(reasons))
    if counts is not None:
        numbers |= {name: counts.get(status, 0) for name, status in _COUNTS.items()}
        numbers["attempted"] = sum(counts.values())
    return RuleResult(
        rule=rule,
        kind=kind,
        on_fail=on_fail,
        result=made,
        told=told[:MOST_TOLD],
        reasons=codes if held or codes else ("threshold",),
        questions=tuple(questions)[:MOST_QUESTIONS],  # type: ignore[arg-type]
        population=population,
        **numbers,
    )


def unread(rule: Rule, part: Part, why: NoColumn) -> RuleResult:
    """A rule that could not be read, and why."""
    return result(
        label_of(rule), kind_of(rule), rule.on_fail, None, f"Nothing was read: {why.told}.", [why.reason],
        measure=rule.measure, population=part.population, step=rule.step,
    )  # fmt: skip


_UNSCORED: dict[Status, str] = {"missing": "missing", "error": "in error", "undefined": "undefined"}
_COUNTS: dict[str, Status] = {"scored": "value", "undefined": "undefined", "missing": "missing", "error": "error"}


def of_counts(counts: Mapping[Status, int], noun: str = "question") -> str:
    """`28 of 30 questions scored, 1 missing, 1 in error`."""
    total = sum(counts.values())
    words = [f"{counts.get('value', 0):,} of {many(total, noun)} scored"]
    words += [f"{counts[status]:,} {said}" for status, said in _UNSCORED.items() if counts.get(status)]
    return ", ".join(words)


def number(value: float) -> str:
    """Four decimals at most, counts as they are."""
    return f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:g}"


def moment(instant: str) -> datetime:
    """An instant, for differences and for order."""
    return datetime.fromisoformat(instant.replace("Z", "+00:00"))
