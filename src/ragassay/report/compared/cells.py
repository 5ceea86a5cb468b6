"""The cells of a row of a comparison, as text. Escapes nothing: who writes Markdown or lines does."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records.comparison import Effect, Move
from ragassay.report.compared.view import Largest
from ragassay.report.versus.say import signed, unit_for
from ragassay.report.words import number, value_text

BEYOND = 1e300
DOUBTS = {
    "no_range": "the measure has no greatest value",
    "few_clusters": "fewer than 20 independent questions or groups",
    "no_variance": "all groups show the same",
    "few_carry_it": "fewer than 10 groups carry the difference",
    "skewed": "few large differences to one side",
    "rare_could_hide": "one more rare question would move the mean",
}
"""Why an interval may cover less than its level says: docs/statistics.md."""
CORRECTED = {
    "must-pass": "each slice must pass by itself, so p is not corrected",
    "regressed": "has any slice regressed: p is corrected by Holm",
    "explore": "slices are explored: p is corrected by Benjamini and Hochberg",
}


def side(value: float | None, one: Effect) -> str:
    """A mean of one arm."""
    return "" if value is None else value_text(value, unit_for(one))


def difference(one: Effect) -> str:
    """The effect, or why there is none."""
    return f"{one.status}: {one.reason}" if one.effect is None else signed(one.effect, unit_for(one))


def interval(one: Effect) -> str:
    """The interval's ends, with a question mark where it may cover less than it says; nothing where there is none."""
    if one.interval is None:
        return ""
    ends = f"{signed(one.interval.low, unit_for(one))} to {signed(one.interval.high, unit_for(one))}"
    return f"{ends} ?" if one.doubt else ends


def doubts(rows: Sequence[Effect]) -> str:
    """What the question marks of these rows mean; nothing where there is none."""
    found = {one.doubt: DOUBTS[one.doubt] for one in rows if one.doubt and one.interval}
    return "; ".join(found.values())


def p_value(one: Effect) -> str:
    """p after the correction; one that no data of this size could go below is shown as `at most`."""
    if one.test is None:
        return ""
    p = one.test.p if one.test.adjusted is None else one.test.adjusted
    least = "≤ " if one.test.adjusted is None and p <= one.test.floor * (1 + 1e-9) < 1 else ""
    return f"{least}{p:.4f}" if p < 0.001 else f"{least}{p:.3f}"


def detectable(one: Effect) -> str:
    """What could have been seen."""
    return "" if one.detectable is None else value_text(one.detectable, unit_for(one))


def won(one: Effect) -> str:
    """Better, the same, worse; of a measure without a better direction, only how many differ."""
    if one.status != "value" or one.aggregation in ("median", "p95", "p99", "set") or not one.quantiles:
        return ""
    if one.direction == "none":
        return f"{one.pairs - one.ties:,} differ"
    return f"{one.wins:,} / {one.ties:,} / {one.losses:,}"


def not_compared(one: Effect) -> str:
    """Questions without a value on a side, and what they could do."""
    told = ", ".join(
        f"{count:,} {word}"
        for count, word in ((one.error, "error"), (one.missing, "missing"), (one.undefined, "undefined"))
        if count
    )
    if one.bounds is None:
        return told
    low, high = (_end(end, one) for end in (one.bounds.low, one.bounds.high))
    return f"{told + ': ' if told else ''}could be {low} to {high}"


def _end(value: float, one: Effect) -> str:
    if abs(value) >= BEYOND:
        return "any more" if value > 0 else "any less"
    return signed(value, unit_for(one))


def spread(one: Effect) -> str:
    """The quantiles of the differences."""
    names = ("least", "5 %", "25 %", "median", "75 %", "95 %", "greatest")
    return ", ".join(f"{name} {_plain(value)}" for name, value in zip(names, one.quantiles, strict=False))


def _plain(value: float) -> str:
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


def moved(found: Largest, most: int) -> tuple[str, str]:
    """The largest gains and losses by id."""
    return _ids(found.gains, most), _ids(found.losses, most)


def _ids(moves: tuple[Move, ...], most: int) -> str:
    return ", ".join(f"{one.query_id} {_plain(one.difference or 0.0)}" for one in moves[:most])
