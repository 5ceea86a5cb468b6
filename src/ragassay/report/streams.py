"""Traces and scores question by question, out of stored lines that are never all in memory. Counts nothing."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from ragassay.records.score import FactFate, Observation
from ragassay.records.trace import Measurements, TraceContent
from ragassay.report.material import Material

Key = tuple[str, int]


class Together(NamedTuple):
    """What is recorded under one key (question, repeat); `wanted`: the benchmark and the subject ask for it."""

    key: Key
    contents: list[TraceContent]
    measurements: list[Measurements]
    observations: list[Observation]
    runtime: list[Observation]
    fates: list[FactFate]
    wanted: bool


class NotInOrder(Exception):
    """Lines are not in the order of their keys, so that they cannot be read side by side."""


def together(material: Material) -> Iterator[Together]:
    """Every key that is wanted or has a record, in ascending order. Raises NotInOrder: then `in_memory` first."""
    wanted = sorted((case.query_id, number) for case in material.cases for number in range(material.subject.repeats))
    recorded: tuple[Iterable[Any], ...] = (
        material.contents, material.measurements, material.observations, material.runtime, material.fates,
    )  # fmt: skip
    streams = [_groups(rows, at, _key) for at, rows in enumerate(recorded)]
    streams.append(_groups(wanted, len(recorded), lambda key: key))
    for key, parts in groupby(heapq.merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
        rows: list[list[Any]] = [[] for _ in streams]
        for _, at, found in parts:
            rows[at] = found
        contents, measurements, observations, runtime, fates, asked = rows
        yield Together(key, contents, measurements, observations, runtime, fates, wanted=bool(asked))


def in_memory(material: Material) -> Material:
    """The same records, each kind of them sorted by key: for lines that stand in another order."""
    return replace(
        material,
        contents=sorted(material.contents, key=_key),
        measurements=sorted(material.measurements, key=_key),
        observations=sorted(material.observations, key=_key),
        runtime=sorted(material.runtime, key=_key),
        fates=sorted(material.fates, key=_key),
    )


def _key(row: Any) -> Key:
    return (row.query_id, row.repeat)


def _groups(rows: Iterable[Any], at: int, key_of: Callable[[Any], Key]) -> Iterator[tuple[Key, int, list[Any]]]:
    last: Key | None = None
    for key, found in groupby(rows, key=key_of):
        if last is not None and key < last:
            raise NotInOrder
        last = key
        yield key, at, list(found)
