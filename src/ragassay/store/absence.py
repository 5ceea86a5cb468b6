"""What is gone from a store on purpose: erased with a tombstone, or never part of a public file. Decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragassay.errors import AbsentError, StoreError
from ragassay.records.base import Digest, Instant
from ragassay.records.ledger import Absence
from ragassay.records.text import instant
from ragassay.store import durable

if TYPE_CHECKING:
    from ragassay.store.folder import Store

ERASED, LEFT_OUT = "erased/", "left_out/"


def erase(store: Store, digest: Digest, *, by: str, reason: str, at: Instant) -> Digest:
    """Take an object away for good and leave a tombstone; the digest of that record.

    The tombstone and the ledger are written first, so that a crash leaves an object that is still there and never one
    that is gone without a word. Storing the same bytes again brings it back. StoreError for an object that is not
    there, or without an author or a reason.
    """
    if digest not in store:
        raise StoreError(f"{digest} is not in this store", hint="`ragassay store refs` lists its names")
    if not by.strip() or not reason.strip():
        raise StoreError("an erasure has an author and a reason", hint="--by NAME --reason TEXT")
    absence = Absence(why="erased", objects=(digest,), at=instant(at), by=by, reason=reason)
    tombstone = store.put_record(absence)
    store.set_ref(ERASED + digest.removeprefix("sha256:"), tombstone, kind="absence")
    store.ledger.record("erased", {"object": digest, "absence": tombstone}, at, by=by, reason=reason, again=True)
    path = store.blob_path(digest)
    try:
        path.unlink()
        durable.sync_folder(path.parent)
    except OSError as cause:
        raise durable.failed("erase an object", path, cause) from cause
    return tombstone


def absence_of(store: Store, digest: str) -> Absence | None:
    """Why an object is not there, if somebody said so."""
    name = ERASED + digest.removeprefix("sha256:")
    if name in store.ref_names():
        return store.get_record(Absence, store.ref(name))
    for one in store.refs(LEFT_OUT):
        found = store.get_record(Absence, one.digest)
        if digest in found.objects:
            return found
    return None


def absent(digest: str, found: Absence) -> AbsentError:
    """The error for an object that is gone on purpose."""
    if found.why == "left_out":
        return AbsentError(
            f"{digest} was left out of the public file that this store was made of",
            hint="ask who exported it for a whole one; what needs texts cannot be checked here",
        )
    return AbsentError(
        f"{digest} was erased at {found.at} by {found.by}: {found.reason}",
        hint="it is not broken: it was taken away on purpose, and what stands on it cannot be made again",
    )
