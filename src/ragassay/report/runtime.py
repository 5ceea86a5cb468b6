"""Runtime and distributions: quantiles as the score table has them, histograms of what single questions scored."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from ragassay.records.score import CLASS_ORDER, Estimate, Observation
from ragassay.records.trace import StepTiming, Usage
from ragassay.report.dimensions import base_name, is_runtime, unit_of
from ragassay.report.model import Bar, Distribution, RuntimeRow

FIGURES = {"macro": "mean", "micro": "mean", "median": "p50", "p95": "p95", "p99": "p99", "sum": "sum"}
CENSORED = "right_censored"
TENTHS = 10
WIDE = 50.0
"""From this ratio of greatest to least on, bars are of equal ratio."""
FEWEST = 2
"""Values below which there is no distribution to draw."""


def runtime_rows(
    estimates: Iterable[Estimate],
    censored: Mapping[tuple[str, str], int],
    used: Mapping[tuple[str, str, str], Spread] | None = None,
) -> list[RuntimeRow]:
    """One row a runtime measure, step and class; `censored` counts cut-short rows by (measure, class).

    `used`: what single steps reported of their own calls, by measure, step and class.
    """
    groups: dict[tuple[str, str, str], list[Estimate]] = {}
    for one in estimates:
        if is_runtime(one.measure) and one.population.slice is None:
            groups.setdefault((_spelling(one.measure), one.step or "", one.population.class_), []).append(one)
    rows = []
    for (measure, step, class_), own in groups.items():
        first = own[0]
        figures = {_figure(one): one.value for one in own if one.status == "value" and one.value is not None}
        rows.append(
            RuntimeRow(
                measure=measure,
                class_=class_,
                step=step or None,
                unit=first.unit or unit_of(first.measure),
                figures={name: figures[name] for name in _ORDER if name in figures},
                at_least={
                    _figure(one): one.bounds.low
                    for one in own
                    if one.value is None and one.reason == CENSORED and one.bounds is not None
                },
                attempted=first.attempted,
                scored=first.scored,
                missing=first.missing,
                undefined=first.undefined,
                error=first.error,
                censored=censored.get((first.measure, class_), 0),
            )
        )
    rows += [_step_row(*key, spread) for key, spread in (used or {}).items() if any(spread.values)]
    rows.sort(
        key=lambda row: (
            CLASS_ORDER.index(row.class_),
            _MEASURES.index(base_name(row.measure)),
            row.measure,
            row.step or "",
        )
    )
    return rows


def used_of(timing: StepTiming) -> dict[str, float | None]:
    """What a step says of its own calls, by the measure that says it of a whole question; no calls are no tokens."""
    usage = timing.usage or (Usage(input_tokens=0, output_tokens=0) if timing.calls == 0 else Usage())
    return {
        "tokens(kind=input)": usage.input_tokens,
        "tokens(kind=output)": usage.output_tokens,
        "calls": timing.calls,
        "cache_hits": timing.cache_hits,
    }


def _step_row(measure: str, step: str, class_: str, spread: Spread) -> RuntimeRow:
    total, scored = sum(spread.values), len(spread.values)
    figures = {"mean": total / scored, "sum": total}
    return RuntimeRow(
        measure=measure, class_=class_, step=step, unit=unit_of(measure), figures=figures, at_least={},
        attempted=scored + spread.without, scored=scored, missing=spread.without, undefined=0, error=0, censored=0,
    )  # fmt: skip


_ORDER = ("p50", "p95", "p99", "mean", "sum")
_MEASURES = ("latency", "first_token", "tokens", "cost", "calls", "cache_hits", "errors", "error_rate")


def _spelling(measure: str) -> str:
    """The measure without its quantile: p50, p95 and p99 of one thing stand in one row."""
    head, _, rest = measure.partition("(")
    kept = [part for part in rest.rstrip(")").split(",") if part and not part.strip().startswith("q=")]
    return f"{head}({','.join(kept)})" if kept else head


def _figure(one: Estimate) -> str:
    for quantile, name in (("q=0.5", "p50"), ("q=0.95", "p95"), ("q=0.99", "p99")):
        if quantile in one.measure.rstrip(")").replace("(", ",").split(","):
            return name
    return FIGURES[one.aggregation]


class Spread:
    """The values of one measure at one step over the questions of one class, eight bytes each."""

    def __init__(self) -> None:
        self.values = array("d")
        self.without = 0
        """Rows without a value, whatever the reason."""

    def add(self, one: Observation) -> None:
        """Count one row."""
        self.count(one.value if one.status == "value" else None)

    def count(self, value: float | None) -> None:
        """Count one value, or that there is none."""
        if value is None:
            self.without += 1
        else:
            self.values.append(value)


def distributions(
    spreads: Mapping[tuple[str, str | None, str], Spread], wanted: Iterable[tuple[str, str | None]]
) -> list[Distribution]:
    """A histogram of each wanted (measure, step) for each class with FEWEST values; `spreads` by measure, step, class.

    Each repeat is an entry of its own.
    """
    made = []
    for measure, step in wanted:
        for class_ in CLASS_ORDER:
            own = spreads.get((measure, step, class_))
            if own is None or len(own.values) < FEWEST:
                continue
            values = sorted(own.values)
            unit = unit_of(measure)
            ratio = unit in ("ratio", "0 or 1") and values[0] >= 0 and values[-1] <= 1
            made.append(
                Distribution(
                    measure=measure,
                    class_=class_,
                    step=step,
                    unit=unit,
                    bars=ratio_bars(values) if ratio else even_bars(values),
                    scored=len(values),
                    without=own.without,
                    median=_median(values),
                )
            )
    return made


def ratio_bars(values: Sequence[float]) -> tuple[Bar, ...]:
    """Exactly 0, ten parts between, exactly 1: total losses and full marks stand by themselves."""
    inner = [0] * TENTHS
    none = full = 0
    for value in values:
        if value <= 0:
            none += 1
        elif value >= 1:
            full += 1
        else:
            inner[min(TENTHS - 1, int(value * TENTHS))] += 1
    middle = [Bar(low=at / TENTHS, high=(at + 1) / TENTHS, count=count) for at, count in enumerate(inner)]
    return (Bar(low=0.0, high=0.0, count=none), *middle, Bar(low=1.0, high=1.0, count=full))


def even_bars(values: Sequence[float], parts: int = 20) -> tuple[Bar, ...]:
    """Bars from the least to the greatest value, of equal width, or of equal ratio where these are far apart.

    One bar where all are equal. Values must be finite.
    """
    low, high = min(values), max(values)
    if low == high:
        return (Bar(low=low, high=high, count=len(values)),)
    if low > 0 and high / low > WIDE:
        edges = [low * (high / low) ** (at / parts) for at in range(parts)] + [high]
    else:
        edges = [low + (high - low) * at / parts for at in range(parts)] + [high]
    counts = [0] * parts
    for value in values:
        counts[min(parts - 1, bisect_right(edges, value) - 1)] += 1
    return tuple(Bar(low=edges[at], high=edges[at + 1], count=count) for at, count in enumerate(counts))


def _median(values: Sequence[float]) -> float:
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
