"""Traces made again from the raw responses that were kept. Which adapters' bytes can be read again is said here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from ragassay import corpus as corpus_room
from ragassay.audit.alike import Difference, difference
from ragassay.corpus import Resolver
from ragassay.errors import AbsentError, RecordError
from ragassay.records.canonical import digest_of, load_json
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Corpus, Passage, Segmentation
from ragassay.records.protocol import Protocol, Run, Subject, SystemIdentity
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run.contract import Request
from ragassay.run.mapping import ABSENT, apply
from ragassay.run.normalise import normalise
from ragassay.run.reading import InvalidResponseError, plain_value
from ragassay.run.world import resolver_of
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


def read_again(store: Store, run: Run) -> Responses:
    """Each kept response to a trace, by the mapping that was sealed, compared with the trace that was kept.

    Redaction ran before the bytes were stored; what it replaced is replaced in both. UsageError where this version does
    not have the rule of resolution that was sealed.
    """
    reading = _Reading(store, run)
    made, left, first = 0, Counter[str](), None
    for content, measured in _both(store, run):
        reason = reading.reason(content, measured)
        if reason is not None:
            left[reason] += 1
            continue
        try:
            found = reading.difference(content, measured)
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


class _Reading:
    """What a trace is made of besides its response; loaded when the first response is there to be read."""

    def __init__(self, store: Store, run: Run) -> None:
        self._store = store
        self._protocol = store.get_record(Protocol, run.protocol)
        self._subject = store.get_record(Subject, run.subject)
        self._reader = reader_of(self._subject.system)

    @cached_property
    def _queries(self) -> dict[str, str]:
        benchmark = self._store.get_record(Benchmark, self._protocol.objects["benchmark"])
        return {one.query_id: one.query for one in self._store.get_lines(Case, benchmark.blob)}

    @cached_property
    def _resolver(self) -> Resolver:
        objects = self._protocol.objects
        documents = corpus_room.load(self._store, self._store.get_record(Corpus, objects["corpus"]))
        passages: list[Passage] = []
        if "segmentation" in objects:
            cut = self._store.get_record(Segmentation, objects["segmentation"])
            passages = corpus_room.load_passages(self._store, cut)
        return resolver_of(self._subject, documents, passages)

    def reason(self, content: TraceContent, measured: Measurements) -> str | None:
        """Why there is nothing to be read."""
        if content.failure is not None:
            return FAILED
        if measured.raw is None:
            return NO_RAW
        return NOT_READ if self._reader is None else None

    def difference(self, content: TraceContent, measured: Measurements) -> Difference | None:
        """Where a trace says something else than its response; AbsentError for one that was taken away."""
        if self._reader is None or measured.raw is None:
            return None
        request = Request(
            query_id=content.query_id, query=self._queries[content.query_id], as_of=content.as_of,
            top_k=self._subject.top_k, seed=content.seed,
        )  # fmt: skip
        try:
            value = plain_value(self._reader(self._store.get(measured.raw)))
        except (ValueError, RecursionError, RecordError, InvalidResponseError) as cause:
            return Difference("raw", "a response", f"bytes that are none: {cause}")
        again = normalise(value, request, self._resolver, repeat=content.repeat, redaction=content.redaction).content
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
