"""A line of a ledger, its first one, a tombstone, and a record that supersedes. Writes nothing itself."""

from __future__ import annotations

from collections.abc import Callable

from ragassay.records.base import Instant, Record
from ragassay.records.ledger import Absence, Entry, Supersession

AT = Instant("2026-08-01T00:00:00Z")


def acts(digest: Callable[[str], str]) -> dict[str, Record]:
    """By name; `digest` makes a digest of a word."""
    founded = Entry(number=0, act="founded", at=AT, nonce="00ff")
    objects = {"bundle": digest("bundle"), "protocol": digest("protocol")}
    signed = Entry(number=1, act="signed", at=AT, previous=digest("line"), objects=objects)  # type: ignore[arg-type]
    gone = (digest("document"),)
    erased = Absence(why="erased", objects=gone, at=AT, by="A. Person", reason="asked for")  # type: ignore[arg-type]
    anew = Supersession(
        kind="judgementset",
        old=digest("old"),
        new=digest("new"),
        by="A. Person",
        reason="misread q7",
        at=AT,  # type: ignore[arg-type]
    )
    return {"entry-founded": founded, "entry": signed, "absence": erased, "supersession": anew}
