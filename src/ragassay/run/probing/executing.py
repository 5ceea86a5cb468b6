"""A suite against a running system: planted, asked, taken away again; journalled, so that a kill loses nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import msgspec

from ragassay.errors import IntegrityError, UsageError
from ragassay.records.base import Digest, Instant
from ragassay.records.canonical import digest_bytes, digest_of
from ragassay.records.probe import CallReply, PlantedDocument, Probe, ProbeReply, ProbeSuite
from ragassay.records.protocol import PaceEvent
from ragassay.records.text import instant
from ragassay.run.ceiling import Facts
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.log import Log, set_aside
from ragassay.run.log_lines import Body, Header, Key
from ragassay.run.probing.sending import Sender, as_planted
from ragassay.store import Store, durable

FORMAT = "ragassay-probing/1"
BATCH = 50
"""Documents that are planted at once."""
Stage = Literal["planting", "planted", "changed", "removed"]
"""planting: some may stand; planted: all stand; changed: some were removed and moved; removed: none is left."""


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One probe that was asked, as a line of the journal."""

    reply: ProbeReply
    digest: Digest
    pace: tuple[PaceEvent, ...] = ()
    texts: dict[str, str] = {}

    @property
    def key(self) -> Key:
        """(probe_id, repeat)."""
        return (self.reply.probe_id, self.reply.repeat)

    @property
    def failed(self) -> bool:
        """Whether the judged call brought no reply."""
        return self.reply.calls[-1].failure in ("timeout", "connection")

    @property
    def facts(self) -> Facts:
        """Nothing that costs is counted here."""
        return Facts(len(self.reply.calls), 0, None, None, None, "")

    @property
    def versions(self) -> dict[str, str]:
        """Read from the replies when they are judged."""
        return {}

    def computed(self) -> Digest:
        """The digest of the reply, worked out again."""
        return digest_of(self.reply)


class ProbeLog(Log[Asked]):
    """The journal of a suite."""

    body: ClassVar = msgspec.json.Decoder(Body[Asked])


class Planting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known to stand in the system, written before anything is planted."""

    suite: str
    stage: Stage
    document_ids: tuple[str, ...]
    at: str


class Ran(NamedTuple):
    """What came of a suite."""

    replies: list[ProbeReply]
    started_at: Instant
    finished_at: Instant
    complete: bool
    requests: int
    resumed: bool


def planting_path(store: Store, suite: Digest) -> Path:
    """Where it stands what of a suite is planted."""
    return store.journal_path(suite).with_suffix(".planted")


def planting(store: Store, suite: Digest) -> Planting | None:
    """What of a suite is planted; None if nothing ever was."""
    path = planting_path(store, suite)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Planting)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as cause:
        raise IntegrityError(f"cannot be read: {cause}", file=str(path), hint="it is a small JSON file") from None


def run_suite(
    store: Store,
    suite: ProbeSuite,
    digest: Digest,
    sender: Sender,
    *,
    resume: bool = True,
    keep: bool = False,
    clock: Clock = SYSTEM_CLOCK,
    progress: Callable[[int, int], None] | None = None,
    limit: int | None = None,
    judged: Instant | None = None,
) -> Ran:
    """Plant, ask every probe that the journal has not, remove. `keep` leaves what was planted; `limit` stops early.

    A suite that was asked whole is not asked again. `judged` is when the run began that was judged last: where that is
    not this one (the process ended in between), its replies are handed back.

    Raises SystemUnderTestError where planting is refused, CeilingError when no more requests may be sent; what was
    answered is kept, and `resume` goes on from there.
    """
    documents = [one for one in store.get_lines(PlantedDocument, suite.documents) if one.role != "decoy"]
    probes = list(store.get_lines(Probe, suite.probes))
    total = len(probes) * suite.repeats
    with _journal(store, suite, digest, total, resume=resume, clock=clock) as log:
        if log.state == "sealed":
            if judged != instant(log.header.started_at):
                return _ran(log, clock, complete=True, resumed=True)
            raise UsageError(
                "this suite was asked already", field="probe", hint="ragassay probe run --no-resume asks it again"
            )
        before = len(log.entries)
        sender.sent += sum(entry.facts.calls for entry in log.entries.values())
        work = _Work(store, digest, documents, sender, clock, log)
        log.move("running", clock.now())
        try:
            complete = work.all(probes, suite.repeats, progress, limit)
        except BaseException:
            log.move("interrupted", clock.now())
            raise
        if not keep:
            remove(store, digest, documents, sender, clock)
        log.move("complete" if complete else "stopped", clock.now())
        found = _ran(log, clock, complete=complete, resumed=before > 0)
        if complete:
            log.move("sealed", clock.now())
        return found


def _ran(log: ProbeLog, clock: Clock, *, complete: bool, resumed: bool) -> Ran:
    replies = [log.read(key).reply for key in log.entries]
    requests = sum(len(one.calls) for one in replies)
    return Ran(replies, Instant(log.header.started_at), clock.now(), complete, requests, resumed)


@contextmanager
def _journal(
    store: Store, suite: ProbeSuite, digest: Digest, total: int, *, resume: bool, clock: Clock
) -> Iterator[ProbeLog]:
    path = store.journal_path(digest)
    if not resume:
        set_aside(path)
    header = Header(
        format=FORMAT, name=suite.name, subject=digest, protocol=digest_bytes(FORMAT.encode()), questions=total,
        started_at=clock.now(),
    )  # fmt: skip
    with ProbeLog(path, header) as log:
        yield log


class _Work:
    def __init__(
        self, store: Store, suite: Digest, documents: list[PlantedDocument], sender: Sender, clock: Clock, log: ProbeLog
    ) -> None:
        self._store, self._suite, self._documents = store, suite, documents
        self._sender, self._clock, self._log = sender, clock, log

    def all(
        self, probes: list[Probe], repeats: int, progress: Callable[[int, int], None] | None, limit: int | None
    ) -> bool:
        """Every probe of both stages, in their order; whether none is left."""
        total, asked = len(probes) * repeats, 0
        stages: tuple[tuple[Stage, bool], ...] = (("planted", False), ("changed", True))
        for stage, after in stages:
            wanted = [
                (one, repeat)
                for repeat in range(repeats)
                for one in probes
                if (one.after is not None) == after and (one.probe_id, repeat) not in self._log.entries
            ]
            if not wanted:
                continue
            self._prepare(stage)
            for one, repeat in wanted:
                if limit is not None and asked >= limit:
                    return False
                self._ask(one, repeat)
                asked += 1
                if progress is not None:
                    progress(len(self._log.entries), total)
        return len(self._log.entries) == total

    def _prepare(self, stage: Stage) -> None:
        known = planting(self._store, self._suite)
        if known is not None and known.stage == stage:
            return
        if stage == "planted" or known is None or known.stage in ("planting", "removed"):
            plant(self._store, self._suite, self._documents, self._sender, self._clock)
        if stage == "changed":
            self._change()

    def _change(self) -> None:
        gone = [one.document_id for one in self._documents if one.role == "removed"]
        self._sender.operate("remove", {"document_ids": gone})
        for one in self._documents:
            if one.role != "moved":
                continue
            if "permit" in self._sender.endpoints:
                self._sender.operate("permit", {"document_id": one.document_id, "tenants": [one.to_tenant]})
            else:
                self._sender.operate("plant", {"documents": [as_planted(one, one.to_tenant)]})
        _note(self._store, self._suite, "changed", self._documents, self._clock)

    def _ask(self, probe: Probe, repeat: int) -> None:
        calls: list[CallReply] = []
        for call in probe.calls:
            if repeat and call.conversation is not None:  # a repeat does not go on with an earlier conversation
                call = msgspec.structs.replace(call, conversation=f"{call.conversation}/{repeat}"[:512])
            calls.append(self._sender.reply(call, probe))
        reply = ProbeReply(probe_id=probe.probe_id, repeat=repeat, calls=tuple(calls))
        self._log.append(Asked(reply=reply, digest=digest_of(reply)))


def plant(store: Store, suite: Digest, documents: list[PlantedDocument], sender: Sender, clock: Clock) -> None:
    """Plant all. That they may stand there is written down before, and that they do afterwards: what was cut off in
    between is planted again."""
    sender.credentials.operator()  # without it nothing can be planted, and nothing is said to be
    _note(store, suite, "planting", documents, clock)
    for start in range(0, len(documents), BATCH):
        sender.operate("plant", {"documents": [as_planted(one) for one in documents[start : start + BATCH]]})
    _note(store, suite, "planted", documents, clock)


def remove(store: Store, suite: Digest, documents: list[PlantedDocument], sender: Sender, clock: Clock) -> int:
    """Take away all that may stand there; how many there were."""
    known = planting(store, suite)
    if known is None or known.stage == "removed":
        return 0
    for start in range(0, len(known.document_ids), BATCH):
        sender.operate("remove", {"document_ids": list(known.document_ids[start : start + BATCH])})
    _note(store, suite, "removed", documents, clock)
    return len(known.document_ids)


def _note(store: Store, suite: Digest, stage: Stage, documents: list[PlantedDocument], clock: Clock) -> None:
    path = planting_path(store, suite)
    ids = tuple(one.document_id for one in documents)
    data = msgspec.json.encode(Planting(suite=suite, stage=stage, document_ids=ids, at=clock.now()))
    fresh = path.with_suffix(".planting")
    try:
        durable.make_folder(path.parent)
        with fresh.open("wb") as file:
            file.write(data)
            durable.sync_file(file.fileno())
        os.replace(fresh, path)  # noqa: PTH105
        durable.sync_folder(path.parent)
    except OSError as cause:
        raise durable.failed("note what is planted", path, cause) from cause


def listed(store: Store, suite: ProbeSuite, digest: Digest) -> list[dict[str, str]]:
    """Every document of a suite that is or was planted, with whose it is and whether it may still stand there."""
    known = planting(store, digest)
    stage = "never planted" if known is None else known.stage
    found = []
    for one in store.get_lines(PlantedDocument, suite.documents):
        if one.role == "decoy":
            continue
        gone = stage == "changed" and one.role == "removed"
        state = "removed" if gone else {"changed": "planted", "planting": "may be planted"}.get(stage, stage)
        found.append({"document_id": one.document_id, "tenant": one.tenant, "role": one.role, "state": state})
    return found
