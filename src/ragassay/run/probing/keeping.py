"""A suite and its assessment in the store: made of the settings, frozen, judged, kept by name. Asks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragassay.probe.again import Asked, judged
from ragassay.probe.canary import checked_key, key_id
from ragassay.probe.plan import plan
from ragassay.probe.settings import ProbeSettings
from ragassay.records.base import Digest, Instant
from ragassay.records.document import Document
from ragassay.records.probe import Assessment, ProbeReply, ProbeSuite, Standing
from ragassay.run.probing.executing import Ran
from ragassay.store import Store

SUITE, ASSESSMENT = "probesuite", "assessment"
"""First parts of the names under which they are kept."""


class Frozen(NamedTuple):
    """A suite in the store."""

    suite: ProbeSuite
    digest: Digest


def freeze_suite(
    store: Store, key: bytes, settings: ProbeSettings, documents: Sequence[Document], standing: Standing
) -> Frozen:
    """The suite of these settings, frozen under its name. The same key, settings and corpus give the same digest."""
    planned = plan(checked_key(key), settings, documents)
    suite = ProbeSuite(
        name=settings.name, key_id=key_id(key), principals=settings.people(),
        documents=store.put_lines(planned.documents), probes=store.put_lines(planned.probes),
        probe_count=len(planned.probes), request_count=planned.requests, repeats=settings.repeats, standing=standing,
        wanted_bound=settings.wanted_bound, endpoints=dict(settings.endpoints),
    )  # fmt: skip
    digest = store.put_record(suite)
    store.set_ref(f"{SUITE}/{settings.name}", digest, kind=SUITE)
    return Frozen(suite, digest)


def keep_assessment(
    store: Store, frozen: Frozen, ran: Ran, documents: Sequence[Document], *, left: int
) -> tuple[Assessment, Digest]:
    """The assessment of what came back, in the store under the suite's name."""
    asked = Asked(ran.started_at, ran.finished_at, ran.requests, left)
    assessment = judged(store, frozen.digest, ran.replies, documents, asked)
    digest = store.put_record(assessment)
    store.set_ref(f"{ASSESSMENT}/{frozen.suite.name}", digest, kind=ASSESSMENT)
    return assessment, digest


def stored_suite(store: Store, name: str) -> Frozen:
    """The suite of this name; StoreError with what to do if there is none."""
    digest = store.ref(f"{SUITE}/{name}")
    return Frozen(store.get_record(ProbeSuite, digest), digest)


def stored_assessment(store: Store, name: str) -> tuple[Assessment, Digest]:
    """The newest assessment of this name."""
    digest = store.ref(f"{ASSESSMENT}/{name}")
    return store.get_record(Assessment, digest), digest


def judged_run(store: Store, frozen: Frozen) -> Instant | None:
    """When the whole run began that the newest assessment judges; None if it judges another suite or a part."""
    name = f"{ASSESSMENT}/{frozen.suite.name}"
    if name not in store.ref_names(name):
        return None
    known = store.get_record(Assessment, store.ref(name))
    return known.started_at if known.complete and known.suite == frozen.digest else None


def replies_of(store: Store, assessment: Assessment) -> list[ProbeReply]:
    """What came back, redacted."""
    return list(store.get_lines(ProbeReply, assessment.replies))
