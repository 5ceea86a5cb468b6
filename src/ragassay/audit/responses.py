"""Traces made again from the raw responses that were kept. Which adapters' bytes can be read again is said here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ragassay.audit.alike import Difference, difference
from ragassay.errors import AbsentError, RecordError
from ragassay.records.canonical import digest_of, load_json
from ragassay.records.protocol import Run, SystemIdentity
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run.contract import Request
from ragassay.run.mapping import ABSENT, apply
from ragassay.run.normalise import normalise
from ragassay.run.reading import InvalidResponseError, plain_value
from ragassay.run.world import World
from ragassay.store import Store

AS_IN_CONTRACT = "as in the contract"
NO_RAW = "the adapter kept no raw response"
FAILED = "the question failed, so there is no answer to read again"
GONE = "the raw response was erased, or left out of a public file"
NOT_READ = "the bytes of this adapter are not read again"


class Responses(NamedTuple):
    """How many traces follow from their raw bytes, which one does not, and why others were not made again."""

    made: int
    first: tuple[str, Difference] | None
    left: dict[str, int]
    """Reason -> how many."""


def read_again(store: Store, run: Run, world: World) -> Responses:
    """Each kept response to a trace, by the mapping that was sealed, compared with the trace that was kept.

    Redaction ran before the bytes were stored; what it replaced is replaced in both.
    """
    reader = reader_of(world.subject.system)
    made, left, first = 0, Counter[str](), None
    for content, measured in _both(store, run):
        reason = _reason(content, measured, reader)
        if reason is not None:
            left[reason] += 1
            continue
        try:
            found = _difference(store, content, measured, world, reader)
        except AbsentError:
            left[GONE] += 1
            continue
        made += 1
        if found is not None and first is None:
            first = (f"{content.query_id} repeat {content.repeat}", found)
    return Responses(made, first, dict(sorted(left.items())))


def _both(store: Store, run: Run) -> Iterator[tuple[TraceContent, Measurements]]:
    contents = store.get_lines(TraceContent, run.contents)
    return zip(contents, store.get_lines(Measurements, run.measurements), strict=True)


def _reason(content: TraceContent, measured: Measurements, reader: Callable[[bytes], Any] | None) -> str | None:
    if content.failure is not None:
        return FAILED
    if measured.raw is None:
        return NO_RAW
    return NOT_READ if reader is None else None


def _difference(
    store: Store, content: TraceContent, measured: Measurements, world: World, reader: Callable[[bytes], Any] | None
) -> Difference | None:
    if reader is None or measured.raw is None:
        return None
    case = world.cases[content.query_id]
    request = Request(
        query_id=case.query_id, query=case.query, as_of=content.as_of, top_k=world.subject.top_k, seed=content.seed
    )
    try:
        value = plain_value(reader(store.get(measured.raw)))
    except (ValueError, RecursionError, RecordError, InvalidResponseError) as cause:
        return Difference("raw", "a response", f"bytes that are none: {cause}")
    again = normalise(value, request, world.resolver, repeat=content.repeat, redaction=content.redaction).content
    return None if digest_of(again) == digest_of(content) else difference(content, again)


def reader_of(system: SystemIdentity) -> Callable[[bytes], Any] | None:
    """From kept bytes to the value that the trace was made of; None for an adapter whose bytes are not read again."""
    if system.adapter not in ("http", "command", "python"):
        return None
    said = system.settings.get("response", AS_IN_CONTRACT)
    rules = None if said == AS_IN_CONTRACT else load_json(str(said))

    def read(data: bytes) -> Any:
        value = json.loads(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
        if system.adapter == "command" and isinstance(value, dict):
            value.pop("query_id", None)
        if not rules:
            return value
        mapped = apply(rules, value)
        if mapped is ABSENT:
            raise ValueError("no path of the sealed mapping leads anywhere")
        return mapped

    return read
