"""A suite's assessment from its replies, the first time and again. Asks nothing, and trusts no stored figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from ragassay.errors import UsageError
from ragassay.probe.assess import assess
from ragassay.probe.match import has_rapidfuzz
from ragassay.records.base import Digest, Instant
from ragassay.records.document import Count, Document
from ragassay.records.probe import Assessment, Finding, PlantedDocument, Probe, ProbeReply, ProbeSuite
from ragassay.store import Store


class Asked(NamedTuple):
    """What is known of the asking and does not follow from the replies."""

    started_at: Instant
    finished_at: Instant
    requests: Count
    left: Count
    """Planted documents that may still stand in the system."""


def judged(
    store: Store, suite: Digest, replies: Iterable[ProbeReply], documents: Sequence[Document], asked: Asked
) -> Assessment:
    """The assessment of these replies; its tables are put into the store, the record itself is not.

    It is complete if every probe of the suite has a reply in every repeat.
    """
    frozen = store.get_record(ProbeSuite, suite)
    planted = list(store.get_lines(PlantedDocument, frozen.documents))
    probes = list(store.get_lines(Probe, frozen.probes))
    given = list(replies)
    made = assess(frozen.principals, planted, probes, given, corpus=documents, wanted=frozen.wanted_bound)
    wanted = {(one.probe_id, repeat) for one in probes for repeat in range(frozen.repeats)}
    findings: list[Finding] = made.findings
    return Assessment(
        suite=suite, replies=store.put_lines(given), findings=store.put_lines(findings),
        standing=frozen.standing, started_at=asked.started_at, finished_at=asked.finished_at,
        leaks=sum(one.severity == "leak" for one in findings),
        attacks=sum(one.severity == "attack" for one in findings),
        reviews=sum(one.severity == "review" for one in findings), protected_in_empty=made.protected_in_empty,
        rates=tuple(made.rates), filters=tuple(made.filters), oracles=tuple(made.oracles),
        complete=wanted <= {one.key for one in given}, requests=asked.requests,
        planted=sum(one.role != "decoy" for one in planted), left=asked.left,
        wanted_bound=frozen.wanted_bound, versions=made.versions, fuzzy=made.fuzzy,
    )  # fmt: skip


def judge_again(store: Store, stored: Assessment, documents: Sequence[Document]) -> Assessment:
    """The assessment of the same replies, judged again: `stored` itself where that comes out, else what does.

    Figures may differ in their last bits, and tables in how they are compressed; nothing else may. UsageError where the
    one was judged with the extra `probe` and the other would be without it: look-alikes and near misses differ.
    """
    if stored.fuzzy != has_rapidfuzz():
        was, now = ("with", "not ") if stored.fuzzy else ("without", "")
        hint = (
            'pip install "ragassay[probe]"' if stored.fuzzy else "ragassay probe run --no-resume asks and judges anew"
        )
        raise UsageError(
            f"this assessment was judged {was} the extra `probe`, which is {now}installed here", field="assessment",
            hint=hint,
        )  # fmt: skip
    asked = Asked(stored.started_at, stored.finished_at, stored.requests, stored.left)
    made = judged(store, stored.suite, store.get_lines(ProbeReply, stored.replies), documents, asked)
    tables = {name: _same(store, getattr(stored, name), getattr(made, name)) for name in ("replies", "findings")}
    made = msgspec.structs.replace(made, **tables)
    return stored if _close(msgspec.to_builtins(stored), msgspec.to_builtins(made)) else made


def _same(store: Store, before: Digest, now: Digest) -> Digest:
    """The digest of before, where both tables hold the same lines."""
    if before == now:
        return now
    return before if list(store.get_raw_lines(before)) == list(store.get_raw_lines(now)) else now


def _close(one: Any, other: Any) -> bool:
    """Whether two plain values are equal but for the last bits of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)
