"""Several runs side by side: how they were set up, and each one's own figures. Pools nothing and invents nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ragassay.compare.changes.shown import shown, text_of
from ragassay.compare.pairs import LAST_LIST
from ragassay.compare.side import Side, order_of
from ragassay.records.protocol import Stated
from ragassay.records.score import Estimate, Population

CONTEXT = "context"


class Setting(NamedTuple):
    """One setting in which the runs differ; None: this run has none of that name."""

    name: str
    values: tuple[str | None, ...]


class Figure(NamedTuple):
    """One measure over one class in every run; None: not measured there."""

    measure: str
    step: str | None
    """`context`, `last list` (each run's own), or absent for what concerns the whole question."""
    population: Population
    aggregation: str
    estimates: tuple[Estimate | None, ...]


class Configurations(NamedTuple):
    """Runs, in the order given."""

    names: tuple[str, ...]
    settings: tuple[Setting, ...]
    figures: tuple[Figure, ...]


def configurations(sides: Sequence[Side]) -> Configurations:
    """What differs in how the runs were asked, and every figure over a whole class at the context, at the last list
    before it, and of the whole question.
    """
    return Configurations(tuple(one.name for one in sides), tuple(_settings(sides)), tuple(_figures(sides)))


def _settings(sides: Sequence[Side]) -> Iterator[Setting]:
    found = [dict(_flat(one)) for one in sides]
    for name in dict.fromkeys(name for one in found for name in one):
        values = tuple(one.get(name) for one in found)
        if len(set(values)) > 1:
            yield Setting(name, values)


def _flat(side: Side) -> Iterator[tuple[str, str]]:
    system, subject = side.subject.system, side.subject
    yield "system", f"{system.name} ({system.adapter})"
    stated: dict[str, Stated] = {
        "retriever": system.retriever, "generator": system.generator, "prompt": system.prompt,
        "segmentation": subject.segmentation,
    }  # fmt: skip
    for name, one in stated.items():
        yield name, shown(one.value or f"none: {one.absent}")
    yield from _settings_of("", system.settings)
    for field in ("top_k", "history", "repeats", "seed", "as_of", "timeout_s", "resolution"):
        value = getattr(subject, field)
        if value is not None:
            yield field, str(value)


def _settings_of(before: str, value: Any) -> Iterator[tuple[str, str]]:
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict) and plain:
        for name, one in sorted(plain.items()):
            yield from _settings_of(f"{before}.{name}" if before else str(name), one)
    elif before:
        yield before, shown(text_of(plain) or "")


def _figures(sides: Sequence[Side]) -> Iterator[Figure]:
    tables = [dict(_by_place(one)) for one in sides]
    keys = {key for one in tables for key in one}
    for key in sorted(keys, key=lambda one: (order_of(one[2]), one[0], one[1] or "", one[3])):
        yield Figure(*key, estimates=tuple(one.get(key) for one in tables))


def _by_place(side: Side) -> Iterator[tuple[tuple[str, str | None, Population, str], Estimate]]:
    for one in side.estimates:
        if one.population.slice is not None:
            continue
        if one.step in (None, CONTEXT):
            yield (one.measure, one.step, one.population, one.aggregation), one
        elif one.step == side.last_list:
            yield (one.measure, LAST_LIST, one.population, one.aggregation), one
