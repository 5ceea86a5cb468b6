"""What of finished runs has been kept for longer than the settings say. Removes nothing, and reads no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragassay.records.base import Digest, Instant
from ragassay.records.decision import Decision
from ragassay.records.ledger import Act
from ragassay.records.protocol import Envelope, Run
from ragassay.records.retention import WHATS, Retention, What
from ragassay.records.text import instant
from ragassay.records.trace import Measurements

if TYPE_CHECKING:
    from ragassay.store.folder import Store


class Due(NamedTuple):
    """What may go now."""

    objects: dict[What, tuple[Digest, ...]]
    """By kind, sorted; only kinds of which anything is due."""
    held: tuple[Digest, ...]
    """Runs that are old enough and stay, since a decision stands on them."""


def due(store: Store, keep: Retention, now: Instant, *, held: bool = False) -> Due:
    """Objects of runs that are older than `keep` says, unless a younger run, or one on hold, has the same object.

    On hold is every run that a decision of the store was made on; with `held` these are due as well. The age of a run
    is counted from the line *ran* of the ledger, else from what its envelope says.
    """
    on_hold = frozenset() if held else decided(store)
    going: dict[What, set[Digest]] = {one: set() for one in WHATS}
    staying: set[Digest] = set()
    waiting: list[Digest] = []
    for digest, ended in ended_at(store):
        run = store.get_record(Run, digest)
        old = [one for one in WHATS if _is_old(keep.of(one), ended, now)]
        if old and digest in on_hold:
            waiting.append(digest)
        for what in WHATS:
            target = going[what] if what in old and digest not in on_hold else staying
            target.update(_objects(store, run, what))
    named = {one.digest for one in store.refs()}
    found = {what: tuple(sorted(one for one in going[what] - staying - named if one in store)) for what in WHATS}
    return Due({what: some for what, some in found.items() if some}, tuple(sorted(waiting)))


def decided(store: Store) -> frozenset[Digest]:
    """Every run that a decision stands on: by name, and by the ledger, which knows those that lost their name."""
    named = {one.digest for one in store.refs("decision/")}
    named |= {one for one, _ in _told(store, "decided", "decision")}
    found: set[Digest] = set()
    for digest in named:
        if digest in store:
            decision = store.get_record(Decision, digest)
            found |= {one.run_record for one in (decision.candidate, decision.baseline) if one is not None}
    return frozenset(found)


def ended_at(store: Store) -> Iterator[tuple[Digest, Instant]]:
    """Each run that is here, by name or by the ledger, and when it ended."""
    told = dict(_told(store, "ran", "run"))
    named: Iterable[Digest] = (one.digest for one in store.refs("run/"))
    for digest in sorted({*told, *named}):
        if digest not in store:
            continue
        if digest in told:
            yield digest, told[digest]
            continue
        around = store.get_record(Envelope, store.get_record(Run, digest).envelope)
        yield digest, around.finished_at or around.started_at


def _objects(store: Store, run: Run, what: What) -> Iterator[Digest]:
    if what == "texts":
        yield run.texts
    elif what == "traces":
        yield run.contents
    elif run.measurements in store:
        for one in store.get_lines(Measurements, run.measurements):
            if one.raw is not None:
                yield one.raw


def _is_old(days: int | None, ended: Instant, now: Instant) -> bool:
    if days is None:
        return False
    return datetime.fromisoformat(instant(now)) - datetime.fromisoformat(instant(ended)) >= timedelta(days=days)


def _told(store: Store, act: Act, role: str) -> Iterator[tuple[Digest, Instant]]:
    for line in store.ledger.lines(torn=True):
        if line.entry.act == act and role in line.entry.objects:
            yield line.entry.objects[role], line.entry.at
