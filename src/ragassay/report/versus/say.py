"""The verdict sentences of a comparison, out of its counts and effects. Decides nothing: that is the gate's."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records.comparison import Comparison, Effect
from ragassay.report.model import Verdict
from ragassay.report.versus.model import QuestionPair
from ragassay.report.words import class_name, many, plain, value_text

MOST_EFFECTS = 4


def verdict(record: Comparison, rows: Sequence[Effect], questions: Sequence[QuestionPair]) -> Verdict:
    """Not decided; then what is told from chance, what moved, what changed, and what cannot be told."""
    reasons = []
    if not any(one.status == "value" for one in rows):
        reasons.append("Nothing was compared: no measure has a value on both sides of any question.")
    told = sorted((one for one in rows if apart(one)), key=_strength)
    reasons += [sentence(one) for one in told[:MOST_EFFECTS]]
    if len(told) > MOST_EFFECTS:
        reasons.append(f"{len(told) - MOST_EFFECTS} more effects are told from chance; they are in the table.")
    if rows and not told:
        reasons.append("No effect is told from chance; the table says how large one would have had to be.")
    worse = sum("regressed" in one.flags for one in questions)
    better = sum("improved" in one.flags for one in questions)
    reasons.append(
        f"{many(worse, 'question')} got worse in some measure, {better:,} better, of {record.paired:,} paired."
    )
    lost = sum(len(one.losses) for one in questions)
    if lost:
        reasons.append(f"{many(lost, 'fact')} that reached the context before {'does' if lost == 1 else 'do'} not now.")
    reasons += [plain(f"Weak baseline: {one}") for one in record.weak_baseline]
    if record.unpaired:
        reasons.append(f"{many(len(record.unpaired), 'question')} of one side have no partner and are in no effect.")
    return Verdict(lead="Not decided: no policy was applied to this comparison.", reasons=tuple(reasons))


def apart(one: Effect) -> bool:
    """Whether the paired test tells the effect from nothing at the comparison's level, after its correction."""
    if one.test is None or one.interval is None:
        return False
    p = one.test.p if one.test.adjusted is None else one.test.adjusted
    return p <= 1 - one.interval.level


def sentence(one: Effect) -> str:
    """One effect in words."""
    unit = one.unit or "ratio"
    where = f"{plain(one.measure, 80)}{f' at {plain(one.step, 40)}' if one.step else ''}"
    was, now = value_text(one.baseline or 0.0, unit), value_text(one.candidate or 0.0, unit)
    parts = [f"{where} over {class_name(one.population.class_)} questions: {was} before, {now} now"]
    if one.interval is not None:
        low, high = signed(one.interval.low, unit), signed(one.interval.high, unit)
        parts.append(f"difference {signed(one.effect, unit)} ({low} to {high})")
    parts.append(f"{one.losses:,} worse, {one.wins:,} better, {one.ties:,} the same")
    return "; ".join(parts) + "."


def signed(value: float | None, unit: str | None) -> str:
    """A difference with its sign."""
    if value is None:
        return ""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{value_text(abs(value), unit)}"


def _strength(one: Effect) -> tuple[float, str]:
    half = (one.interval.high - one.interval.low) / 2 if one.interval else 0.0
    return (-abs(one.effect or 0.0) / (half or 1.0), one.measure)
