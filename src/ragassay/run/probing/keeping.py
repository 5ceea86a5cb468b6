"""A suite and its assessment in the store: made of the settings, frozen, judged, kept by name. Asks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.probe.assess import assess
from ragassay.probe.canary import checked_key, key_id
from ragassay.probe.plan import plan
from ragassay.probe.settings import ProbeSettings, StandingSettings
from ragassay.records.base import Digest, Instant
from ragassay.records.canonical import digest_bytes, digest_of
from ragassay.records.document import Document
from ragassay.records.probe import Assessment, Finding, PlantedDocument, Probe, ProbeReply, ProbeSuite, Standing
from ragassay.run.probing.executing import Ran
from ragassay.store import Store

SUITE, ASSESSMENT = "probesuite", "assessment"
"""First parts of the names under which they are kept."""
_FILE = "file:"


class Frozen(NamedTuple):
    """A suite in the store."""

    suite: ProbeSuite
    digest: Digest


def standing_of(declared: StandingSettings, corpus: Digest, documents: Sequence[Document], folder: Path) -> Standing:
    """What an assessment made now would hold for; UsageError where a file that is named cannot be read."""
    said = {name: _said(name, getattr(declared, name), folder) for name in ("embedding", "index", "policy")}
    entries = [one.entry() for one in documents]
    about = sorted([one.document_id, one.version, one.auth_digest, one.meta_digest] for one in entries)
    return Standing(corpus=corpus, metadata=digest_of(about), **said)


def _said(name: str, value: str, folder: Path) -> str:
    if not value.startswith(_FILE):
        return value
    path = folder / value.removeprefix(_FILE)
    try:
        return digest_bytes(path.read_bytes())
    except OSError as cause:
        raise UsageError(
            f"{path} cannot be read: {cause.strerror}", field=f"probe.standing.{name}", hint="name a file that is there"
        ) from None


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
    suite = frozen.suite
    planted = list(store.get_lines(PlantedDocument, suite.documents))
    probes = list(store.get_lines(Probe, suite.probes))
    made = assess(
        suite.principals, planted, probes, ran.replies, corpus=documents, wanted=suite.wanted_bound
    )  # fmt: skip
    findings: list[Finding] = made.findings
    assessment = Assessment(
        suite=frozen.digest, replies=store.put_lines(ran.replies), findings=store.put_lines(findings),
        standing=suite.standing, started_at=ran.started_at, finished_at=ran.finished_at,
        leaks=sum(one.severity == "leak" for one in findings),
        attacks=sum(one.severity == "attack" for one in findings),
        reviews=sum(one.severity == "review" for one in findings), protected_in_empty=made.protected_in_empty,
        rates=tuple(made.rates), filters=tuple(made.filters), oracles=tuple(made.oracles), complete=ran.complete,
        requests=ran.requests, planted=sum(one.role != "decoy" for one in planted), left=left,
        wanted_bound=suite.wanted_bound, versions=made.versions, fuzzy=made.fuzzy,
    )  # fmt: skip
    digest = store.put_record(assessment)
    store.set_ref(f"{ASSESSMENT}/{suite.name}", digest, kind=ASSESSMENT)
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


def changed_since(then: Standing, now: Standing) -> tuple[str, ...]:
    """Which parts changed: with any, the assessment is stale, and stale is missing."""
    return tuple(name for name in Standing.__struct_fields__ if getattr(then, name) != getattr(now, name))
