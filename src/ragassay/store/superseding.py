"""What a person or a judge said anew: records that supersede, with author and reason. Changes and removes nothing.

What stood there before stays in the store. The order is the ledger's: a record that it does not name counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragassay.errors import IntegrityError, LedgerError, RecordError, UsageError
from ragassay.records.base import Digest, Instant
from ragassay.records.ledger import Supersession
from ragassay.records.text import instant

if TYPE_CHECKING:
    from ragassay.store.folder import Store

SUPERSEDED = "superseded/"


def supersede(store: Store, kind: str, old: Digest, new: Digest, *, by: str, reason: str, at: Instant) -> Digest:
    """Write down that one stored object takes the place of another; the digest of that record.

    The caller moves the name afterwards: a crash between leaves the older in force, and the ledger says what was meant.
    UsageError without an author or a reason, or where nothing changed.
    """
    if not by.strip() or not reason.strip():
        raise UsageError("what is said anew has an author and a reason", hint="say who, and why")
    if old == new:
        raise UsageError(f"{old} cannot supersede itself", hint="nothing changed")
    made = Supersession(kind=kind, old=old, new=new, by=by, reason=reason, at=instant(at))
    digest = store.put_record(made)
    store.set_ref(f"{SUPERSEDED}{digest.removeprefix('sha256:')}", digest, kind="supersession")
    objects = {"old": old, "new": new, "record": digest}
    store.ledger.record("superseded", objects, at, by=by, reason=reason, again=True)
    return digest


def supersessions(store: Store) -> list[Supersession]:
    """Every one that the ledger names, oldest first; LedgerError for a broken ledger.

    One whose record is not here (a file of evidence brings only what its run stands on), or says something else than
    the ledger's line, is left out.
    """
    found = []
    for line in store.ledger.lines(torn=True):
        named = line.entry.objects
        if line.entry.act != "superseded" or "record" not in named:
            continue
        try:
            made = store.get_record(Supersession, named["record"]) if named["record"] in store else None
        except (IntegrityError, RecordError):
            continue
        if made is not None and (made.old, made.new) == (named.get("old"), named.get("new")):
            found.append(made)
    return found


def history(store: Store, digest: Digest) -> list[Supersession]:
    """How an object came to stand where it stands: the newest change first, back to the first one. Each once."""
    return list(_back(supersessions(store), digest))


def _back(known: list[Supersession], digest: Digest) -> Iterator[Supersession]:
    """From the end of the ledger backwards, so that an object that came back is followed by its own earlier past."""
    place, wanted = len(known), digest
    while (place := _last(known, wanted, place)) >= 0:
        yield known[place]
        wanted = known[place].old


def _last(known: list[Supersession], new: Digest, before: int) -> int:
    return next((number for number in range(before - 1, -1, -1) if known[number].new == new), -1)


def check_told(store: Store, kind: str, new: Digest, old: Digest) -> None:
    """LedgerError unless the ledger knows that one took the place of the other."""
    if not any((one.kind, one.new, one.old) == (kind, new, old) for one in supersessions(store)):
        raise LedgerError(
            f"{new} took the place of {old}, and the ledger does not know who did that and why",
            hint="verdicts are replaced by `ragassay judge` and `ragassay judge import`, which write it down",
        )
