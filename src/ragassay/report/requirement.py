"""A requirement on a score table, read on its pessimistic side. No gate: no policy, no baseline, no sealed verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, get_args

from ragassay.errors import UsageError
from ragassay.measures import parse
from ragassay.records.score import FIGURES, Estimate
from ragassay.report.dimensions import base_name, headline, shown_unit
from ragassay.report.model import Scorecard, ScoreView
from ragassay.report.words import class_name, many, plain, value_text

MOST_SHOWN = 10
Side = Literal["bounds", "interval"]


class RequirementNotMet(AssertionError):
    """A value is on the wrong side of its limit, or there is none."""


class Assayed(Protocol):
    """What `ragassay.evaluate` returns, as far as it is needed here."""

    @property
    def scorecard(self) -> Scorecard:
        """The scorecard."""


class Held(NamedTuple):
    """A requirement that holds: the value, and the pessimistic one that was compared."""

    class_: str
    value: float
    pessimistic: float


class Requirements:
    """The fixture `ragassay`: evaluates systems and requires values of their score tables."""

    def __init__(
        self, evaluate: Callable[..., Any], settings: dict[str, Any], properties: list[tuple[str, object]]
    ) -> None:
        self._evaluate = evaluate
        self._settings = settings
        self._properties = properties
        self.required = 0
        """How many requirements were read."""

    def evaluate(self, cases: Any, system: Any, **settings: Any) -> Any:
        """`ragassay.evaluate_sync` with the marker's settings; those given here go before them."""
        return self._evaluate(cases, system, **{**self._settings, **settings})

    def require(self, table: Assayed | Scorecard, measure: str, **limits: Any) -> list[Held]:
        """Require a value of every class that the measure is about; see `require`. What was read becomes a property."""
        card = table if isinstance(table, Scorecard) else table.scorecard
        held = require(card, measure, **limits)
        self.required += 1
        for one in held:
            self._properties.append((f"ragassay {measure} {one.class_}", one.value))
        return held


def require(
    card: Scorecard,
    measure: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    class_: str | None = None,
    step: str | None = None,
    side: Side = "bounds",
) -> list[Held]:
    """Raise RequirementNotMet unless the measure holds in every class (or in `class_`), read pessimistically.

    The value is the one nearest to the answer (or at `step`). Compared is not the value but what questions without one
    could make of it: the end of its bounds; with `side="interval"` the end of the confidence interval if that is
    worse. A measure without bounds holds only if no question is missing or failed. Classes in which it is undefined for
    every question are left out; if no class is left, nothing was measured and that fails. `recall@20` is read at the
    benchmark's own least relevant grade where it was measured so. A value at its limit (within 1e-12) holds.
    """
    if at_least is None and at_most is None:
        raise UsageError("a requirement needs a limit", hint="at_least=0.8, at_most=0.1, or both")
    for name, limit in (("at_least", at_least), ("at_most", at_most)):
        if limit is not None and not math.isfinite(limit):  # nothing is on the wrong side of NaN
            raise UsageError(f"{name} is {limit}, which is no limit", field=name, hint="a finite number")
    if side not in get_args(Side):
        raise UsageError(f"side is {side!r}", field="side", hint=f"one of {', '.join(get_args(Side))}")
    rows = _rows(card, measure, class_, step)
    bad, held = [], []
    for row in rows:
        told, one = _read(row, at_least, at_most, side)
        if told:
            bad.append(f"{class_name(row.population.class_)}: {told}\n{_culprits(card, row, at_most is None)}")
        elif one is not None:
            held.append(one)
    if bad:
        raise RequirementNotMet(f"{rows[0].measure} does not hold\n" + "\n".join(bad))
    return held


def _rows(card: Scorecard, measure: str, class_: str | None, step: str | None) -> list[Estimate]:
    names = [str(parse(measure)), *_at_grade(measure, card.rel)]
    own = [
        one
        for one in card.estimates
        if one.measure in names and one.population.slice is None and one.aggregation in FIGURES
    ]
    exact = [one for one in own if one.measure == names[0]] or own
    if step is not None:
        exact = [one for one in exact if one.step == step]
    if class_ is not None:
        exact = [one for one in exact if one.population.class_ == class_]
    rows = headline(exact, card.steps)
    first: dict[str, Estimate] = {}
    for one in sorted(rows, key=lambda row: row.aggregation):
        first.setdefault(one.population.class_, one)
    measured = [one for one in first.values() if one.status == "value" or _says_something(one)]
    if not measured:
        where = f"{f' at {step}' if step else ''}{f' for {class_name(class_)}' if class_ else ''}"
        there = ", ".join(dict.fromkeys(one.measure for one in card.estimates if one.status == "value"))
        raise RequirementNotMet(
            f"nothing was measured: {measure}{where} has no value for any question.\nmeasured: {there or 'nothing'}"
        )
    return measured


def _says_something(one: Estimate) -> bool:
    """Whether a class without a value was measured all the same: such a class is not left out, and does not hold.

    A figure of a set can have no value though questions were scored: one side alone, or a coverage that too few
    answers reach, be it none.
    """
    return bool(one.missing or one.error or one.scored) or one.reason == "coverage_not_reached"


def _at_grade(measure: str, rel: int) -> list[str]:
    """The spelling with the benchmark's least relevant grade, where the measure knows grades and names none."""
    name, _, cut = str(parse(measure)).partition("@")
    inner = name.partition("(")[2].rstrip(")")
    if "rel=" in inner:
        return []
    try:
        spelled = f"{base_name(name)}(rel={rel}{',' + inner if inner else ''}){'@' + cut if cut else ''}"
        return [str(parse(spelled))]
    except UsageError:
        return []


def _read(row: Estimate, at_least: float | None, at_most: float | None, side: Side) -> tuple[str, Held | None]:
    """(what is wrong, or empty; the requirement if it holds)."""
    unit = shown_unit(row)
    without = row.missing + row.error
    counted = f"{row.scored} of {many(row.attempted, 'question')} scored, {row.missing} missing, {row.error} in error"
    if row.value is None:
        return f"no value ({(row.reason or '').replace('_', ' ')}); {counted}", None
    if without and row.bounds is None:
        return f"{value_text(row.value, unit)}, but {counted}: what those would have scored is not bounded", None
    low = min(row.value, row.bounds.low) if row.bounds else row.value
    high = max(row.value, row.bounds.high) if row.bounds else row.value
    if side == "interval":
        if row.interval is None:
            return f"{value_text(row.value, unit)}, but it has no confidence interval", None
        low, high = min(low, row.interval.low), max(high, row.interval.high)
    for limit, worst, words, wrong in (
        (at_least, low, "at least", at_least is not None and low < at_least - 1e-12),
        (at_most, high, "at most", at_most is not None and high > at_most + 1e-12),
    ):
        if wrong and limit is not None:
            value, end = value_text(row.value, unit), value_text(worst, unit)
            less = f", on the pessimistic side {end}" if worst != row.value else ""
            where = f" at {row.step}" if row.step else ""
            return f"{value}{where}{less}; required {words} {value_text(limit, unit)}. {counted}", None
    return "", Held(class_name(row.population.class_), row.value, low if at_least is not None else high)


def _culprits(card: Scorecard, row: Estimate, low_is_bad: bool) -> str:
    """The questions that pull the value down (or up), worst first."""
    found: list[tuple[float, str]] = []
    for one in card.questions:
        if one.class_ != row.population.class_:
            continue
        for view in one.repeats:
            for score in view.scores:
                if (score.measure, score.step, score.target) == (
                    row.measure,
                    row.step,
                    None,
                ) and score.status != "undefined":
                    worst = _badness(score, low_is_bad)
                    if worst is not None:
                        text = (
                            f"  {plain(one.query_id, 60)}: {_told(score, view.failure)}  {plain(one.query.text, 100)}"
                        )
                        found.append((worst, text))
    found.sort(key=lambda pair: pair[0])
    lines = [text for _, text in found[:MOST_SHOWN]]
    rest = len(found) - len(lines)
    return "\n".join([*lines, f"  and {rest} more"] if rest else lines)


def _badness(score: ScoreView, low_is_bad: bool) -> float | None:
    if score.value is None:
        return float("-inf")
    best = score.value >= 1 if low_is_bad else score.value <= 0
    return None if best else score.value if low_is_bad else -score.value


def _told(score: ScoreView, failure: str | None) -> str:
    if score.value is None:
        return plain(failure or f"{score.status} ({(score.reason or '').replace('_', ' ')})", 80)
    parts: Sequence[float | None] = (score.numerator, score.denominator)
    counted = f" ({parts[0]:g} of {parts[1]:g})" if parts[0] is not None and parts[1] is not None else ""
    return f"{score.value:.3f}{counted}"
