"""The verdict sentences of a comparison, out of its counts and effects. Decides nothing: that is the gate's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragassay.records.comparison import Comparison, Effect
from ragassay.report.dimensions import unit_of
from ragassay.report.model import Verdict
from ragassay.report.words import class_name, many, plain, value_text

MOST_EFFECTS = 3
"""In either direction."""


def verdict(record: Comparison, rows: Sequence[Effect], flags: Mapping[str, int], lost: int) -> Verdict:
    """Not decided; then what is told from chance, the worse first, what moved, and what cannot be told."""
    reasons = []
    if not any(one.status == "value" for one in rows):
        reasons.append("Nothing was compared: no measure has a value on both sides of any question.")
    told = sorted((one for one in rows if apart(one)), key=_strength)
    shown = [one for one in told if better(one) is False][:MOST_EFFECTS]
    shown += [one for one in told if better(one)][:MOST_EFFECTS]
    reasons += [sentence(one) for one in shown]
    if len(told) > len(shown):
        reasons.append(f"{many(len(told) - len(shown), 'more effect')} told from chance in the table.")
    if not told and any(one.test is not None for one in rows):
        reasons.append("No effect is told from chance; the table says how large one would have had to be.")
    if lost:
        reasons.append(f"{many(lost, 'fact')} that reached the context before {'does' if lost == 1 else 'do'} not now.")
    reasons.append(
        f"Of {many(record.paired, 'paired question')} {flags['regressed']:,} got worse in a measure or lost a fact, "
        f"{flags['improved']:,} got better in one."
    )
    if flags["error"]:
        reasons.append(f"{many(flags['error'], 'question')} failed on a side; the bounds say what they could change.")
    return Verdict(lead="Not decided: no policy was applied to this comparison.", reasons=tuple(reasons))


def caveats(record: Comparison) -> Iterator[str]:
    """What a reader must know before any number."""
    if record.baseline.run_record == record.candidate.run_record:
        yield "Both are the same run: nothing was compared."
    for one in record.weak_baseline:
        yield plain(f"Weak baseline: {one}")
    if record.reference is None:
        yield "Whether the baseline is weak was not asked: no run of the built-in BM25 was named to hold it against."
    if not record.stored_configuration:
        yield "Weak baseline: its exact configuration is not stored, so nobody can run it again."
    for name, arm in (("baseline", record.baseline), ("candidate", record.candidate)):
        if arm.mixed:
            yield plain(f"Mixed run: the {name} reports more than one value of {', '.join(arm.mixed)}.")
    if record.uncalibrated:
        names = ", ".join(record.uncalibrated)
        yield plain(f"Uncalibrated: nobody has held {names} against people; effects by={names} satisfy no rule.")
    if record.unpaired:
        count = len(record.unpaired)
        yield (
            f"{many(count, 'question')} of one side {'has' if count == 1 else 'have'} no partner on the other and "
            f"{'is' if count == 1 else 'are'} in no effect."
        )


def apart(one: Effect) -> bool:
    """Whether the paired test tells the effect from nothing at the comparison's level, after its correction."""
    if one.test is None or one.interval is None:
        return False
    p = one.test.p if one.test.adjusted is None else one.test.adjusted
    return p <= 1 - one.interval.level + 1e-12


def better(one: Effect) -> bool | None:
    """Whether the candidate is better in the measure's direction; None: equal, or the measure has no direction."""
    if not one.effect or one.direction == "none":
        return None
    return (one.effect > 0) == (one.direction == "higher")


def sentence(one: Effect) -> str:
    """One effect in words."""
    unit = unit_for(one)
    where = f"{plain(one.measure, 80)}{f' at {plain(one.step, 40)}' if one.step else ''}"
    was, now = value_text(one.baseline or 0.0, unit), value_text(one.candidate or 0.0, unit)
    side = better(one)
    told = "" if side is None else "Better: " if side else "Worse: "
    parts = [f"{told}{where} over {class_name(one.population.class_)} questions was {was}, is {now}"]
    if one.interval is not None:
        low, high = signed(one.interval.low, unit), signed(one.interval.high, unit)
        parts.append(f"difference {signed(one.effect, unit)} ({low} to {high})")
    if one.wins or one.losses:
        parts.append(f"{one.losses:,} worse, {one.wins:,} better, {one.ties:,} the same")
    return "; ".join(parts) + "."


def unit_for(one: Effect) -> str:
    """The unit to print an effect in."""
    return one.unit or unit_of(one.measure)


def signed(value: float | None, unit: str | None) -> str:
    """A difference with its sign."""
    if value is None:
        return ""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{value_text(abs(value), unit)}"


def _strength(one: Effect) -> tuple[float, str]:
    half = (one.interval.high - one.interval.low) / 2 if one.interval else 0.0
    return (-abs(one.effect or 0.0) / (half or 1.0), one.measure)
