"""Several runs side by side, for a terminal and as Markdown. What a run has not measured says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.compare.configurations import Configurations, Figure
from ragassay.records.score import Estimate
from ragassay.report.compared.markdown import MARKER
from ragassay.report.dimensions import shown_unit
from ragassay.report.text import table
from ragassay.report.words import NOT_MEASURED, class_name, code, literal, plain, value_text

NOT_SET = "not set"
_QUANTILES = frozenset({"median", "p99", "sum"})
"""Left to the JSON: a table of runs is to be read at once."""


def several_lines(found: Configurations) -> Iterator[str]:
    """A table of what differs in the settings, then one a class."""
    names = [plain(one, 40) for one in found.names]
    yield from _aligned(
        [("setting", *names), *((plain(one.name, 60), *map(_setting, one.values)) for one in found.settings)]
    )
    for class_, rows in _by_class(found.figures):
        yield ""
        yield class_name(class_)
        yield from _aligned([("measure", "at", *names), *(_row(one) for one in rows)])


def several_markdown(found: Configurations) -> str:
    """The same as the comment on a change."""
    names = [literal(one, 40) for one in found.names]
    parts = [MARKER, f"## Compare {', '.join(names)}"]
    parts.append(table(("Setting", *names), [[literal(one.name, 60), *(literal(_setting(each)) for each in one.values)]
                                             for one in found.settings]))  # fmt: skip
    for class_, rows in _by_class(found.figures):
        made = [(code(one.measure), literal(one.step or ""), *map(_cell, one.estimates)) for one in rows]
        parts.append(f"### {class_name(class_).capitalize()}\n\n{table(('Measure', 'At', *names), made)}")
    return "\n\n".join(parts) + "\n"


def _by_class(figures: Sequence[Figure]) -> Iterator[tuple[str, list[Figure]]]:
    means = {(one.measure, one.step, one.population) for one in figures if one.aggregation == "macro"}
    kept = [
        one
        for one in figures
        if one.aggregation not in _QUANTILES
        and not (one.aggregation == "micro" and (one.measure, one.step, one.population) in means)
    ]
    for class_ in dict.fromkeys(one.population.class_ for one in kept):
        yield class_, [one for one in kept if one.population.class_ == class_]


def _row(one: Figure) -> tuple[str, ...]:
    name = plain(one.measure, 60) + ("" if one.aggregation == "macro" else f" ({one.aggregation})")
    return name, plain(one.step or "", 40), *map(_cell, one.estimates)


def _cell(one: Estimate | None) -> str:
    if one is None:
        return NOT_MEASURED
    if one.value is None:
        return f"{one.status}: {plain(one.reason or '', 40)}"
    unit = shown_unit(one)
    told = value_text(one.value, unit)
    if one.interval is not None:
        told += f" ({value_text(one.interval.low, unit)} to {value_text(one.interval.high, unit)})"
    if one.scored < one.attempted:
        told += f" of {one.scored:,}/{one.attempted:,}"
    return told


def _setting(value: str | None) -> str:
    return NOT_SET if value is None else plain(value, 40)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if len(rows) < 2:
        return
    wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        yield f"  {'  '.join(f'{cell:{width}}' for cell, width in zip(row, wide, strict=True))}".rstrip()
