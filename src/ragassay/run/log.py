"""The log of a job: append-only JSON lines, each with a checksum chained to the one before, durable one by one.

A torn last line is what a kill leaves and is cut off; any other damage is an IntegrityError. What a finished unit is
(a question, a batch of verdicts), its reader says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self

import msgspec

from ragassay.errors import IntegrityError, MixedRunError, StoreError
from ragassay.records.base import Digest
from ragassay.records.protocol import Envelope, PaceEvent
from ragassay.run.ceiling import Facts
from ragassay.run.lease import Lease
from ragassay.run.log_lines import Body, Header, Key, Line, Move, U
from ragassay.run.states import State, advance
from ragassay.store import durable

MOST_EVENTS = 1000
"""Events of the pace that are kept by themselves; further ones are counted."""
_FIRST_SUM = "0" * 32


def no_point(name: str) -> None:
    """The hook that a run has outside of trials: does nothing."""


_NOBODY = Header(format="", name="", subject=Digest(""), protocol=Digest(""), questions=0, started_at="")


class Entry(NamedTuple):
    """Where a finished question stands in the journal, and what the run needs of it without reading it again."""

    offset: int
    length: int
    digest: Digest
    failed: bool
    facts: Facts
    """What it cost."""


class Log(Generic[U]):
    """An open log under a lease. `entries` are the finished units; none of them is done again."""

    body: ClassVar[Any]
    """A decoder of `Body[...]` of the units that this log holds."""
    _lease: Lease | None

    def __init__(self, path: Path, header: Header, *, on_point: Callable[[str], None] = no_point) -> None:
        """Take the lease, read and repair what is there, or begin anew.

        Raises UsageError if another process has the lease, MixedRunError if the journal is of another job,
        IntegrityError if a line other than a torn last one is damaged, StoreError if the disk says no.
        """
        self._begin(path, header, on_point)
        self._lease = Lease(path.with_suffix(".lock"))
        try:
            self._open(header)
        except OSError as cause:
            self.close()
            raise durable.failed("open the journal", path, cause) from cause
        except BaseException:
            self.close()
            raise

    def _begin(self, path: Path, header: Header, on_point: Callable[[str], None]) -> None:
        self.path = path
        self.header = header
        self.state: State = "created"
        self.entries: dict[Key, Entry] = {}
        self.versions: dict[str, set[str]] = {}
        self.texts: set[str] = set()
        self.resumed = 0
        self.repaired = False
        self.envelope: Envelope | None = None
        self.pace: list[PaceEvent] = []
        """Of all processes that worked on this job, in order; the first MOST_EVENTS."""
        self.pace_left_out = 0
        self.run: Digest | None = None
        self._on_point = on_point
        self._sum = _FIRST_SUM
        self._end = 0
        self._broken = False
        self._lease = None
        self._descriptor = -1

    @classmethod
    def peek(cls, path: Path) -> Self:
        """What a journal says now, read without the lease; nothing is repaired or changed, and it is closed again.

        Raises IntegrityError if a line other than a torn last one is damaged, StoreError if it cannot be read.
        """
        made = cls.__new__(cls)
        made._begin(path, _NOBODY, no_point)
        try:
            made._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            known = False
            for offset, line in made._lines():
                known = made._replay(offset, line, known)
        except OSError as cause:
            raise durable.failed("read the journal", path, cause) from cause
        finally:
            made.close()
        return made

    def _open(self, header: Header) -> None:
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        known = False
        for offset, line in self._lines():
            known = self._replay(offset, line, known)
        if self._end != os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, self._end)
            self.repaired = True
        durable.sync_file(self._descriptor)  # what was read may still be only in memory
        durable.sync_folder(self.path.parent)
        if known:
            self._check_same(header)
            if self.state == "running":
                self.state = "interrupted"  # whoever had the lease is dead
        else:
            self._append(Body(open=header))

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Offset and bytes of every whole line; stops before a torn last one."""
        with os.fdopen(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            offset = 0
            for line in stream:
                if not line.endswith(b"\n"):
                    return
                if b"\0" in line and not stream.peek(1):
                    return  # a length that reached the disk before its bytes
                yield offset, line
                offset += len(line)

    def _replay(self, offset: int, line: bytes, known: bool) -> bool:
        body = self._check_line(line, offset)
        if (body.open is None) == (not known):
            raise self._damaged(offset, "the first line must open the job, and no other")
        if body.open is not None:
            self.header = body.open
        elif body.question is not None:
            self._note(body.question, offset, len(line))
        elif body.move is not None:
            self._note_move(body.move)
        self._end = offset + len(line)
        return True

    def _check_line(self, line: bytes, offset: int) -> Body[U]:
        try:
            found = msgspec.json.decode(line, type=Line)
            body = bytes(found.body)
            if found.sum != _chain(self._sum, body):
                raise self._damaged(offset, "its checksum does not hold")
            decoded: Body[U] = self.body.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as cause:
            raise self._damaged(offset, str(cause)) from None
        self._sum = found.sum
        return decoded

    def _damaged(self, offset: int, why: str) -> IntegrityError:
        return IntegrityError(
            f"the journal is damaged at byte {offset}: {why}",
            file=str(self.path),
            hint="restore the file, or begin anew (nothing of it is in a sealed run)",
        )

    def _check_same(self, header: Header) -> None:
        for field in ("format", "name", "subject", "protocol", "questions"):
            had, has = getattr(self.header, field), getattr(header, field)
            if had != has:
                raise MixedRunError(
                    f"this job began with {field} {had}, now it is {has}",
                    file=str(self.path),
                    hint="resume it with what it began with, give the run another name, or begin anew",
                )

    def append(self, finished: U) -> None:
        """Write one finished question; it is on the disk when this returns, StoreError otherwise."""
        self.append_all([finished])

    def append_all(self, several: Sequence[U]) -> None:
        """Write finished questions with one push to the disk: all are there when this returns, else StoreError."""
        keys = [one.key for one in several]
        for number, key in enumerate(keys):
            if key in self.entries or key in keys[:number]:
                raise IntegrityError(f"question {key[0]} (repeat {key[1]}) is already in the journal")
        offset = self._end
        lengths = self._append(*(Body(question=one) for one in several))
        for one, length in zip(several, lengths, strict=True):
            self._note(one, offset, length)
            offset += length

    def move(
        self,
        state: State,
        at: str,
        *,
        envelope: Envelope | None = None,
        run: Digest | None = None,
        pace: tuple[PaceEvent, ...] = (),
    ) -> None:
        """Change the state, by the table of `states`; durable when this returns."""
        advance(self.state, state)
        move = Move(state=state, at=at, envelope=envelope, run=run, pace=pace)
        self._append(Body(move=move))
        self._note_move(move)

    def read(self, key: Key, *, check: bool = True) -> U:
        """One finished question again, from the disk; with `check`, its content is hashed again."""
        entry = self.entries[key]
        line = os.pread(self._descriptor, entry.length, entry.offset)
        body: Body[U] = self.body.decode(msgspec.json.decode(line, type=Line).body)
        if body.question is None or (check and body.question.computed() != entry.digest):
            raise self._damaged(entry.offset, "it changed while the job was running")
        return body.question

    def _append(self, *bodies: Body[U]) -> list[int]:
        """Write lines and push them to the disk; their lengths."""
        if self._broken:
            raise StoreError("the journal could not be written before", file=str(self.path), hint="run again to resume")
        total, end, lengths = self._sum, self._end, []
        try:
            for body in bodies:
                data = msgspec.json.encode(body)
                total = _chain(total, data)
                line = b'{"body":' + data + b',"sum":"' + total.encode() + b'"}\n'
                self._write(line, end)
                end += len(line)
                lengths.append(len(line))
            self._on_point("before_fsync")
            durable.sync_file(self._descriptor)
        except OSError as cause:
            self._broken = True
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise durable.failed("write the journal", self.path, cause) from cause
        self._on_point("after_fsync")
        self._sum, self._end = total, end
        return lengths

    def _write(self, line: bytes, start: int) -> None:
        rest = memoryview(line)
        at = start
        half = len(line) // 2 if self._on_point is not no_point else 0
        if half:
            at += os.pwrite(self._descriptor, rest[:half], at)
            self._on_point("mid_append")
        while at < start + len(line):
            at += os.pwrite(self._descriptor, rest[at - start :], at)

    def _note(self, finished: U, offset: int, length: int) -> None:
        self.entries[finished.key] = Entry(offset, length, finished.digest, finished.failed, finished.facts)
        self._note_pace(finished.pace)
        self.texts.update(finished.texts)
        for name, value in finished.versions.items():
            self.versions.setdefault(name, set()).add(value)

    def _note_move(self, move: Move) -> None:
        if move.state == "running" and self.state == "running":
            self.state = "interrupted"  # whoever held the lease was killed
        if move.state == "running" and self.state != "created":
            self.resumed += 1
        self.state = advance(self.state, move.state)
        self.envelope = move.envelope or self.envelope
        self.run = move.run or self.run
        self._note_pace(move.pace)

    def _note_pace(self, events: tuple[PaceEvent, ...]) -> None:
        kept = events[: max(0, MOST_EVENTS - len(self.pace))]
        self.pace.extend(kept)
        self.pace_left_out += len(events) - len(kept)

    @property
    def failures(self) -> int:
        """Finished questions that ended in a failure."""
        return sum(entry.failed for entry in self.entries.values())

    def close(self) -> None:
        """Close the file and give the lease back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._lease is not None:
            self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _chain(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()[:32]


def set_aside(path: Path) -> Path | None:
    """Give a journal another name, so that a job begins anew; nothing is deleted. None if there is no journal."""
    if not path.exists():
        return None
    lease = Lease(path.with_suffix(".lock"))
    try:
        number = 1
        while (kept := path.with_name(f"{path.name}.{number}")).exists():
            number += 1
        os.rename(path, kept)  # noqa: PTH104
        durable.sync_folder(path.parent)
    except OSError as cause:
        raise durable.failed("set the old journal aside", path, cause) from cause
    finally:
        lease.release()
    return kept
