"""The effects of a comparison as a table, a row an effect. Computes no number."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.records.comparison import Effect
from ragassay.report.tables import Column, Table, Value

_TEXTS = ("baseline_name", "candidate_name", "measure", "class", "slice", "step", "aggregation", "direction", "status",
          "reason")  # fmt: skip
_NUMBERS = ("baseline", "candidate", "effect", "interval_low", "interval_high", "interval_level")
_COUNTS = ("attempted", "pairs", "undefined", "missing", "error", "clusters", "wins", "ties", "losses")
COLUMNS: tuple[Column, ...] = (
    *(Column(name, "text") for name in _TEXTS),
    *(Column(name, "number") for name in _NUMBERS),
    Column("interval_method", "text"),
    Column("doubt", "text"),
    Column("low", "number"),
    Column("high", "number"),
    Column("p", "number"),
    Column("p_floor", "number"),
    Column("p_adjusted", "number"),
    Column("correction", "text"),
    Column("family", "integer"),
    Column("detectable", "number"),
    *(Column(name, "integer") for name in _COUNTS),
    *(Column(f"difference_{name}", "number") for name in ("least", "5", "25", "50", "75", "95", "greatest")),
    Column("unit", "text"),
)


def effect_rows(effects: Iterable[tuple[str, str, Effect]]) -> Table:
    """Names of baseline and candidate, and each effect; `low` and `high` are the bounds."""
    return Table(COLUMNS, (_row(*one) for one in effects))


def _row(baseline: str, candidate: str, one: Effect) -> tuple[Value, ...]:
    inside, test = one.interval, one.test
    quantiles: list[float | None] = [*one.quantiles, *[None] * (7 - len(one.quantiles))]
    return (
        baseline, candidate, one.measure, one.population.class_, one.population.slice, one.step, one.aggregation,
        one.direction, one.status, one.reason, one.baseline, one.candidate, one.effect,
        *((inside.low, inside.high, inside.level, inside.method) if inside else (None,) * 4),
        one.doubt,
        *((one.bounds.low, one.bounds.high) if one.bounds else (None, None)),
        *((test.p, test.floor, test.adjusted, test.correction, test.family) if test else (None,) * 5),
        one.detectable, one.attempted, one.pairs, one.undefined, one.missing, one.error, one.clusters, one.wins,
        one.ties, one.losses, *quantiles, one.unit,
    )  # fmt: skip
