"""What was done with a store, line by line, and what is gone from it on purpose. Orders and removes nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, Instant, Record, require
from ragassay.records.document import Count, Name

Act = Literal["founded", "sealed", "signed", "began", "ran", "scored", "looked", "decided", "superseded", "erased"]
"""founded: the ledger was begun. began: the first question of a protocol was about to be asked. looked: the release
split was about to be scored. The others say what is in the store since."""


class Entry(Record, frozen=True, kw_only=True):
    """One act. The first has a nonce, by which two ledgers are told apart; every other names the one before."""

    number: Count
    act: Act
    at: Instant
    """As the clock of that machine said; nobody else vouches for it."""
    previous: Digest | None = None
    """Of the canonical bytes of the line before."""
    objects: dict[str, Digest] = {}
    """Role -> what the act was about."""
    by: Name | None = None
    """Who did it, where the act has an author."""
    name: Name | None = None
    """Which name in the store stands for it from now on."""
    reason: Annotated[str, Meta(max_length=10_000)] | None = None
    nonce: Name | None = None

    def __post_init__(self) -> None:
        require((self.number == 0) == (self.act == "founded"), "the first entry, and only that one, is founded")
        require((self.number == 0) == (self.previous is None), "every entry but the first names the one before")
        require((self.number == 0) == (self.nonce is not None), "the first entry, and only that one, has a nonce")
        require(self.number == 0 or bool(self.objects), "an act is about something: objects is empty")


class Supersession(Record, frozen=True, kw_only=True):
    """One object took the place of another: verdicts given anew, labels edited, a word of a review taken back."""

    kind: Name
    """Kind of both: judgementset, calibration, review, benchmark."""
    old: Digest
    """It stays in the store."""
    new: Digest
    by: Name
    reason: Annotated[str, Meta(min_length=1, max_length=10_000)]
    at: Instant

    def __post_init__(self) -> None:
        require(self.old != self.new, "old and new are the same")
        require(bool(self.by.strip()), "by is blank: a change has an author")
        require(bool(self.reason.strip()), "reason is blank: say why")


class Absence(Record, frozen=True, kw_only=True):
    """Objects that are named and not stored, on purpose: a tombstone."""

    why: Literal["erased", "left_out"]
    """left_out: of a public file of evidence, from which this store was made."""
    objects: tuple[Digest, ...]
    at: Instant | None = None
    by: Name | None = None
    reason: Annotated[str, Meta(min_length=1, max_length=10_000)] | None = None

    def __post_init__(self) -> None:
        require(bool(self.objects), "objects is empty: nothing is gone")
        told = (self.at, self.by, self.reason)
        require(
            (self.why == "erased") == all(one is not None for one in told), "erased, and only that, says who and why"
        )
        require(self.by is None or bool(self.by.strip()), "by is blank: an erasure has an author")
