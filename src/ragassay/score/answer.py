"""The answer's outcome and its text against references; runtime figures as they were reported. Judges no meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ragassay.measures import Measure, Outcome, exact_match, own_measure, token_f1
from ragassay.measures.ngrams import bleu, chrf
from ragassay.measures.rouge import rouge_1, rouge_2, rouge_l
from ragassay.records.case import REFUSING
from ragassay.records.score import Bounds
from ragassay.records.trace import Measurements, TraceContent
from ragassay.score.labels import Labels
from ragassay.score.rows import Rows, error, missing, undefined, value

NORMALISED = {"exact_match": exact_match, "token_f1": token_f1}
TEXT_KERNELS: dict[str, Callable[..., Outcome]] = {
    "rouge_1": rouge_1, "rouge_2": rouge_2, "rouge_l": rouge_l, "bleu": bleu, "chrf": chrf,
}  # fmt: skip
TEXT_MEASURES = frozenset(NORMALISED) | frozenset(TEXT_KERNELS)
REFUSAL_MEASURES = frozenset(
    {"outcome", "abstention_rate", "false_refusal", "unsupported_answer", "abstention_precision", "abstention_recall",
     "answerability_coverage", "escalation_rate"}
)  # fmt: skip
MUST_BE_ANSWERED = frozenset({"false_refusal"})
MAY_BE_ANSWERED = frozenset({"answerability_coverage"})
MAY_NOT_BE_ANSWERED = frozenset({"unsupported_answer", "abstention_recall"})
NEED_EXPECTATION = MUST_BE_ANSWERED | MAY_BE_ANSWERED | MAY_NOT_BE_ANSWERED | {"abstention_precision"}
RUNTIME_MEASURES = frozenset(
    {"latency", "first_token", "tokens", "cost", "calls", "cache_hits", "errors", "error_rate"}
)
ANSWERING = ("answered", "partial")
BEYOND_ALL = 1.7976931348623157e308
"""High end of a right-censored time: no number is too large."""


@lru_cache(maxsize=64)
def _compiled(rules: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one) for one in rules)


def outcome_of(content: TraceContent, rules: Sequence[str]) -> tuple[str, str]:
    """(outcome, "") or ("", why there is none): the system's word, else the declared rules, else not said.

    An empty answer is never abstained: it counts only where the system itself names an outcome that is no answer.
    Where rules are declared and none matches, the question was answered.
    """
    answer = content.answer
    if answer is None:
        return "", "no_answer"
    said = answer.outcome
    if not answer.text.strip() and (said is None or said in ANSWERING):
        return "", "empty_answer"
    if said is not None:
        return said, ""
    if not rules:
        return "", "no_outcome"
    matched = any(rule.search(answer.text) for rule in _compiled(tuple(rules)))
    return ("abstained" if matched else "answered"), ""


def text_measure(measure: Measure, content: TraceContent, labels: Labels, rules: Sequence[str], norm: str) -> Outcome:
    """A measure of the answer's text, of an answered case with references."""
    answer = content.answer
    if answer is None:
        return missing("no_answer")
    outcome, why = outcome_of(content, rules)
    if why == "empty_answer":
        return missing(why)
    if outcome and outcome not in ANSWERING:
        return undefined("not_answered")
    references = [one.text for one in labels.case.answers]
    if not references:
        return undefined("nothing_to_answer") if labels.case.answerable == "no" else missing("no_reference")
    params: dict[str, Any] = dict(measure.params)
    if measure.name in NORMALISED:
        return NORMALISED[measure.name](answer.text, references, params.get("norm", norm))
    own = own_measure(measure.name)
    return (
        own.of_answer(answer.text, references, params)
        if own
        else TEXT_KERNELS[measure.name](answer.text, references, **params)
    )


def is_text(name: str) -> bool:
    """Whether a measure compares the answer's text with references: one of ours, or of another package."""
    return name in TEXT_MEASURES or _stage(name) == "answer"


@lru_cache(maxsize=1024)
def _stage(name: str) -> str:
    own = own_measure(name)
    return own.declaration.stage if own else ""


def takes_part(measure: str, labels: Labels) -> bool:
    """Whether a case belongs to the population of a refusal measure. One that says nothing is missing, not out."""
    expected = labels.expected
    if not expected:
        return True
    if measure in MUST_BE_ANSWERED:
        return "answered" in expected
    if measure in MAY_BE_ANSWERED:
        return bool(set(ANSWERING) & set(expected))
    if measure in MAY_NOT_BE_ANSWERED:
        return not set(ANSWERING) & set(expected)
    return True


def refusal(measure: str, outcome: str, why: str, labels: Labels) -> Outcome:
    """One of the refusal measures of a case of its population."""
    expected = labels.expected
    if measure in NEED_EXPECTATION and not expected:
        return missing("unlabelled", 1.0)
    if why:
        return missing(why, 1.0)
    if measure == "abstention_precision" and outcome in ANSWERING:
        return undefined("not_declined")
    right = {
        "abstention_rate": outcome in REFUSING,
        "escalation_rate": outcome == "escalated",
        "false_refusal": outcome not in ANSWERING and outcome not in expected,
        "unsupported_answer": outcome in ANSWERING,
        "answerability_coverage": outcome in ANSWERING,
        "abstention_precision": outcome in expected,
        "abstention_recall": outcome not in ANSWERING and outcome in expected,
    }
    return value(float(right.get(measure, True)))


def runtime(rows: Rows, measure: Measure, content: TraceContent, measured: Measurements) -> None:
    """Rows of one runtime measure: as reported, else missing; a failed question is error(cause).

    Missing is from_cache where a cache that other runs filled saved the time, else not_reported.

    A timeout is right-censored: its latency is error(timeout) with the time waited as the low bound.
    """
    failure = content.failure
    name, kind = measure.name, str(measure.get("kind") or "")
    if name in ("errors", "error_rate"):
        target = failure.cause if failure and name == "errors" else None
        rows.add(str(measure), value(float(failure is not None)), target=target)
        return
    for spelled, amount in _figures(measure, name, kind, content, measured):
        if failure is None:
            rows.add(spelled, missing(_unmeasured(name, measured)) if amount is None else value(amount))
            continue
        waited = _waited(measured) if name == "latency" and spelled == str(measure) and not kind else None
        censored = failure.cause == "timeout" and waited is not None
        bounds = Bounds(low=waited, high=BEYOND_ALL) if censored and waited is not None else None
        rows.add(spelled, error(failure.cause), bounds=bounds)


def _figures(
    measure: Measure, name: str, kind: str, content: TraceContent, measured: Measurements
) -> list[tuple[str, float | None]]:
    """(spelling, amount) of every figure that a runtime measure stands for."""
    usage, cost = measured.usage, measured.cost
    if name == "latency":
        times = _by_kind(content, measured)
        if kind:
            return [(str(measure), times.get(kind))]
        parts = [] if measure.params else [(str(measure.with_params(kind=one)), times[one]) for one in sorted(times)]
        return [(str(measure), measured.latency_ms), *parts]
    if name == "tokens":
        both = {
            "input": usage.input_tokens if usage else None,
            "output": usage.output_tokens if usage else None,
        }
        return [(str(measure.with_params(kind=one)), both.get(one)) for one in ([kind] if kind else both)]
    if name == "cost":
        plain = cost is None or bool(kind) or cost.currency == "USD"
        spelled = str(measure if plain or cost is None else measure.with_params(kind=cost.currency))
        return [(spelled, None if cost is None or kind not in ("", cost.currency) else cost.amount)]
    amounts = {"first_token": measured.first_token_ms, "calls": measured.calls, "cache_hits": measured.cache_hits}
    return [(str(measure), amounts[name])]


def _unmeasured(name: str, measured: Measurements) -> str:
    """Why there is no figure."""
    saved = any(one.cache_hits and one.duration_ms is None for one in measured.steps)
    return "from_cache" if saved and name in ("latency", "first_token") else "not_reported"


def _waited(measured: Measurements) -> float | None:
    """How long a question that timed out was waited for."""
    if measured.latency_ms is not None or not measured.attempts:
        return measured.latency_ms
    return measured.attempts[-1].duration_ms


def _by_kind(content: TraceContent, measured: Measurements) -> dict[str, float | None]:
    """Kind of step -> time of all its steps; None where one of them did not say."""
    took = {one.step_id: one.duration_ms for one in measured.steps}
    times: dict[str, float | None] = {}
    for step in content.steps:
        own, before = took.get(step.step_id), times.get(step.kind, 0.0)
        times[step.kind] = None if own is None or before is None else before + own
    return times
