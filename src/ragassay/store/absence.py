"""What is gone from a store on purpose: erased with a tombstone, or never part of a public file. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragassay.errors import AbsentError, IntegrityError, LedgerError, RecordError, StoreError
from ragassay.records.base import Digest, Instant
from ragassay.records.ledger import Absence
from ragassay.records.text import instant
from ragassay.store import durable

if TYPE_CHECKING:
    from ragassay.store.folder import Store

ERASED, LEFT_OUT = "erased/", "left_out/"


def erase(store: Store, digests: Iterable[Digest], *, by: str, reason: str, at: Instant) -> Digest:
    """Take objects away for good and leave one tombstone for all of them; the digest of that record.

    The tombstone and the ledger are written first, so that a crash leaves objects that are still there and never one
    that is gone without a word. Storing the same bytes again brings them back. StoreError for an object that is not
    there, or without an author or a reason.
    """
    objects = tuple(sorted(set(digests)))
    for one in objects:
        if one not in store:
            raise StoreError(f"{one} is not in this store", hint="`ragassay store refs` lists its names")
    if not by.strip() or not reason.strip():
        raise StoreError("an erasure has an author and a reason", hint="--by NAME --reason TEXT")
    tombstone = store.put_record(Absence(why="erased", objects=objects, at=instant(at), by=by, reason=reason))
    alone = {"object": objects[0]} if len(objects) == 1 else {}
    name = objects[0] if alone else tombstone
    store.set_ref(ERASED + name.removeprefix("sha256:"), tombstone, kind="absence")
    store.ledger.record("erased", {**alone, "absence": tombstone}, at, by=by, reason=reason, again=True)
    for one in objects:
        path = store.blob_path(one)
        try:
            durable.remove(path)
        except OSError as cause:
            raise durable.failed("erase an object", path, cause) from cause
    for folder in sorted({store.blob_path(one).parent for one in objects}):
        try:
            durable.sync_folder(folder)
        except OSError as cause:
            raise durable.failed("erase an object", folder, cause) from cause
    return tombstone


class Absences:
    """What is gone from one store on purpose, as its ledger says now; read again when the ledger has grown.

    A tombstone is believed only where a line *erased* of the ledger names it: a file under refs/ can be put there by
    hand. What was left out of a public file stands in no ledger; whoever reads such a store says that it may be so.
    """

    def __init__(self) -> None:
        self._seen: object = None
        self._erased: dict[str, Absence] = {}
        self._left_out: dict[str, Absence] = {}

    def get(self, store: Store, digest: str) -> Absence | None:
        """Why an object is not there, if the ledger or a public file says so."""
        names = tuple(store.ref_names(LEFT_OUT))
        now = (store.ledger.stamp(), names)
        if now != self._seen:
            self._erased = {str(one): found for _, found in tombstones(store) for one in found.objects}
            left = [found for one in names if (found := _named(store, one)) is not None and found.why == "left_out"]
            self._left_out = {str(one): found for found in left for one in found.objects}
            self._seen = now
        return self._erased.get(digest) or self._left_out.get(digest)


def tombstones(store: Store) -> list[tuple[Digest, Absence]]:
    """Every tombstone that the ledger names, oldest first; none of a ledger that is broken: it vouches for nothing."""
    try:
        entries = [one.entry for one in store.ledger.lines(torn=True)]
    except LedgerError:
        return []
    named = [one.objects["absence"] for one in entries if one.act == "erased" and "absence" in one.objects]
    found = [(one, _read(store, one)) for one in dict.fromkeys(named)]
    return [(digest, one) for digest, one in found if one is not None and one.why == "erased"]


def _named(store: Store, name: str) -> Absence | None:
    try:
        return _read(store, store.ref(name))
    except StoreError:
        return None


def _read(store: Store, digest: Digest) -> Absence | None:
    """The record; what is not there, damaged or another record vouches for nothing."""
    try:
        return store.get_record(Absence, digest) if digest in store else None
    except (IntegrityError, RecordError):
        return None


def absence_of(store: Store, digest: str) -> Absence | None:
    """Why an object is not there, if somebody said so and the ledger knows."""
    return store.absences.get(store, digest)


def forged(store: Store, digest: str) -> bool:
    """Whether a name calls an object erased of whose erasure the ledger knows nothing."""
    return ERASED + digest.removeprefix("sha256:") in store.ref_names() and absence_of(store, digest) is None


def absent(digest: str, found: Absence) -> AbsentError:
    """The error for an object that is gone on purpose."""
    if found.why == "left_out":
        error = AbsentError(
            f"{digest} was left out of the public file that this store was made of",
            hint="ask who exported it for a whole one; `ragassay verify --public` checks all that is here",
        )
    else:
        error = AbsentError(
            f"{digest} was erased at {found.at} by {found.by}: {found.reason}",
            hint="it is not broken: it was taken away on purpose, and what stands on it cannot be made again",
        )
    error.digest = digest
    return error
