"""One step of the way from a verdict to its documents, and how lines of tables are found for it. Explains none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_bytes
from ragassay.store import Store
from ragassay.store.lines import read_record

T = TypeVar("T", bound=Record)


class Hop(NamedTuple):
    """One record on the way: what it is, where its bytes are, who made it, and what it says."""

    what: str
    digest: Digest
    """Of the record: of the blob itself, or of the bytes of line `line` of it (without the line's end)."""
    blob: Digest
    line: int | None
    made_by: str
    told: str


class Line(NamedTuple):
    """A line of a table by its number, from 1."""

    number: int
    data: bytes


def hop(what: str, blob: str, line: Line | None, made_by: str, told: str) -> Hop:
    """A hop to a whole blob, or to one line of it."""
    digest = Digest(blob) if line is None else digest_bytes(line.data)
    return Hop(what, digest, Digest(blob), None if line is None else line.number, made_by, told)


def rows(store: Store, blob: str, kind: type[T], wanted: Callable[[T], bool]) -> Iterator[tuple[Line, T]]:
    """The records of a table that are wanted, each with its line."""
    for number, data in enumerate(store.get_raw_lines(blob), 1):
        record = read_record(kind, data, name=blob, number=number)
        if wanted(record):
            yield Line(number, data), record


def first(store: Store, blob: str, kind: type[T], wanted: Callable[[T], bool]) -> tuple[Line | None, T | None]:
    """The first of them, if there is one."""
    return next(rows(store, blob, kind, wanted), (None, None))
