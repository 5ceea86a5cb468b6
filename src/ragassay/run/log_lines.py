"""What the lines of a job's log hold. Reads and writes none."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import msgspec

from ragassay.records.base import Digest
from ragassay.records.protocol import Envelope, PaceEvent
from ragassay.run.ceiling import Facts
from ragassay.run.states import State

Key = tuple[str, int]
"""(query_id, repeat)."""


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job is; a resumed one must be the same."""

    format: str
    name: str
    subject: Digest
    protocol: Digest
    questions: int
    started_at: str


class Unit(Protocol):
    """One finished unit of a job as a struct that is a line of its log."""

    @property
    def key(self) -> Key:
        """What there is one of."""
        ...

    @property
    def digest(self) -> Digest:
        """Of what the unit says, measurements aside."""
        ...

    @property
    def texts(self) -> dict[str, str]:
        """Texts by digest that this line is the first to need."""
        ...

    @property
    def pace(self) -> tuple[PaceEvent, ...]:
        """What happened to the pace since the line before."""
        ...

    @property
    def failed(self) -> bool:
        """Whether it counts against the error budget."""
        ...

    @property
    def facts(self) -> Facts:
        """What it cost."""
        ...

    @property
    def versions(self) -> dict[str, str]:
        """What was asked said of its versions."""
        ...

    def computed(self) -> Digest:
        """The digest worked out again."""
        ...


U = TypeVar("U", bound=Unit)


class Move(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change of state; before a run is sealed it carries the envelope, so that sealing again makes the same bytes."""

    state: State
    at: str
    envelope: Envelope | None = None
    run: Digest | None = None
    pace: tuple[PaceEvent, ...] = ()


class Body(msgspec.Struct, Generic[U], frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of three: what the job is, a finished unit, a change of state."""

    open: Header | None = None
    question: U | None = None
    move: Move | None = None


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body with the checksum of it and of all before it."""

    body: msgspec.Raw
    sum: str
