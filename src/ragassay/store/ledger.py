"""The hash-chained ledger of a store, and its witness outside of it. Knows no act and reads no clock.

One file of canonical JSON lines, appended under a lock and pushed to the disk before a call returns. A line that a
crash cut short has no end and was never acknowledged; the next append takes it away. The witness is a small file in
another folder with the number and digest of the last line: a ledger that is shorter than its witness, or that holds
another line there, was rolled back. If both are rolled back together nobody can tell.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ragassay.errors import LedgerError, RecordError
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.canonical import canonical_bytes, digest_bytes, parse
from ragassay.records.ledger import Act, Entry
from ragassay.records.text import instant, many
from ragassay.store import durable

LEDGER = "ledger.jsonl"
MOST_BYTES = 64 * 1024 * 1024
_HINT = "restore the ledger from a copy of the store; the objects themselves are checked by `ragassay store check`"


class Head(Record, frozen=True, kw_only=True):
    """The last line that somebody has seen."""

    number: int
    digest: Digest


class Line(NamedTuple):
    """An entry with the digest of its line."""

    entry: Entry
    digest: Digest


def read_chain(data: bytes, *, file: str = LEDGER) -> list[Line]:
    """The entries of a ledger's bytes, each checked against the one before.

    Raises LedgerError for a line that is not canonical, is no entry, has another number than its place, does not name
    the line before, or has no end; and for more than MOST_BYTES. No bytes are no entries.
    """
    if len(data) > MOST_BYTES:
        raise LedgerError(f"more than {MOST_BYTES} bytes", file=file, hint=_HINT)
    if data and not data.endswith(b"\n"):
        raise LedgerError("the last line has no end", file=file, line=data.count(b"\n") + 1, hint=_HINT)
    found: list[Line] = []
    for number, line in enumerate(data.split(b"\n")[:-1]):
        try:
            entry = parse(Entry, line, file=file, line=number + 1)
            canonical = canonical_bytes(entry)
        except RecordError as cause:
            raise LedgerError(cause.message, file=file, line=number + 1, field=cause.field, hint=_HINT) from cause
        if canonical != line:
            raise LedgerError("not in canonical form", file=file, line=number + 1, hint=_HINT)
        before = found[-1].digest if found else None
        if entry.number != number or entry.previous != before:
            what = f"entry {entry.number} after {before}" if entry.number == number else f"entry {entry.number}"
            raise LedgerError(f"{what} stands at place {number}: lines were changed, moved, taken out or put in",
                              file=file, line=number + 1, hint=_HINT)  # fmt: skip
        found.append(Line(entry, digest_bytes(line)))
    return found


def check_head(lines: list[Line], head: Head, *, file: str = LEDGER) -> None:
    """LedgerError unless the ledger holds the line that a witness has seen."""
    if head.number >= len(lines) or lines[head.number].digest != head.digest:
        have = many(len(lines), "line") if head.number >= len(lines) else f"line {head.number} is another one"
        raise LedgerError(
            f"rolled back: its witness has seen line {head.number} ({head.digest}), here {have}",
            file=file,
            hint=f"{_HINT}; a copy or an imported file from before, whose store went on, has another XDG_STATE_HOME",
        )


def _known(found: list[Line], act: Act, objects: Mapping[str, Digest], name: str | None) -> Entry | None:
    """Where an act stands already; of one with a name, only the last line of that name counts."""
    same = [one.entry for one in found if one.entry.act == act and (name is None or one.entry.name == name)]
    looked = same if name is None else same[-1:]
    return next((one for one in looked if one.objects == dict(objects)), None)


class Ledger:
    """The ledger of one store folder; `witness` is a folder outside of it, or None for no witness."""

    def __init__(self, root: Path, witness: Path | None = None) -> None:
        self.path = root / LEDGER
        self.witness = witness

    def lines(self, *, torn: bool = False) -> list[Line]:
        """Every entry, checked as a chain and against the witness; `torn` passes over a last line without end."""
        data = self.bytes()
        if torn:
            data = data[: data.rfind(b"\n") + 1]
        found = read_chain(data, file=str(self.path))
        self.check_witness(found)
        return found

    def check_witness(self, found: list[Line]) -> None:
        """LedgerError if a witness has seen more than is here; without a founding line there is no name to ask by."""
        head = self.witnessed(found)
        if head is not None:
            check_head(found, head, file=str(self.path))

    def witnessed(self, found: list[Line]) -> Head | None:
        """What the witness has seen of this ledger; None without a witness."""
        path = None if not found else self._witness_path(found[0].digest)
        if path is None:
            return None
        try:
            return parse(Head, durable.read_file(path), file=str(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as cause:
            raise durable.failed("read the witness", path, cause) from cause
        except RecordError as cause:
            raise LedgerError(
                f"the witness is damaged: {cause.message}", file=str(path), hint="compare it with a copy of the store"
            ) from cause

    def record(
        self,
        act: Act,
        objects: Mapping[str, Digest],
        at: Instant,
        *,
        by: str | None = None,
        reason: str | None = None,
        name: str | None = None,
        again: bool = False,
    ) -> Entry:
        """Append an act, durably, and tell the witness. One that already stands here is not repeated but for `again`.

        With `name`, it is repeated where that name stood for something else since: the last line of a name says what it
        stands for. Raises LedgerError if the ledger is broken or rolled back, StoreError if it cannot be written.
        """
        try:
            with self._locked() as descriptor:
                found = self.lines(torn=True)
                known = _known(found, act, objects, name)
                if known is not None and not again:
                    return known
                at = instant(at)
                new: list[bytes] = []
                if not found:
                    founding = Entry(number=0, act="founded", at=at, nonce=secrets.token_hex(16))
                    new.append(canonical_bytes(founding))
                before = digest_bytes(new[-1]) if new else found[-1].digest
                entry = Entry(
                    number=len(found) + len(new), act=act, at=at, previous=before, objects=dict(objects), by=by,
                    name=name, reason=reason,
                )  # fmt: skip
                new.append(canonical_bytes(entry))
                self._append(descriptor, b"".join(line + b"\n" for line in new))
                founded = found[0].digest if found else digest_bytes(new[0])
                self._tell(founded, Head(number=entry.number, digest=digest_bytes(new[-1])))
                return entry
        except OSError as cause:
            raise durable.failed("write the ledger", self.path, cause) from cause

    def adopt(self, data: bytes) -> None:
        """Take over the ledger of another store, where there is none yet; LedgerError otherwise, or if it is broken.

        Then `introduce` it.
        """
        read_chain(data, file=str(self.path))
        try:
            with self._locked() as descriptor:
                if self.bytes():
                    raise LedgerError("there is a ledger already", file=str(self.path), hint="name a new folder")
                self._append(descriptor, data)
        except OSError as cause:
            raise durable.failed("write the ledger", self.path, cause) from cause

    def introduce(self) -> None:
        """Tell the witness of a ledger that was taken over.

        One that has seen it already keeps what it has seen: whoever wrote the copy could have added lines, and the
        store that it was made of would seem to be rolled back.
        """
        found = read_chain(self.bytes(), file=str(self.path))
        if found and self.witnessed(found) is None:
            self._tell(found[0].digest, Head(number=found[-1].entry.number, digest=found[-1].digest))

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The open file, with nobody else appending."""
        new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if new:
                durable.sync_folder(self.path.parent)
            yield descriptor
        finally:
            os.close(descriptor)

    def _append(self, descriptor: int, data: bytes) -> None:
        """Whole lines behind the last whole line."""
        end = self.bytes().rfind(b"\n") + 1
        os.ftruncate(descriptor, end)
        os.lseek(descriptor, end, os.SEEK_SET)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        durable.sync_file(descriptor)

    def bytes(self) -> bytes:
        """The file as it is; nothing is checked."""
        try:
            if self.path.stat().st_size > MOST_BYTES:
                raise LedgerError(f"more than {MOST_BYTES} bytes", file=str(self.path), hint=_HINT)
            return durable.read_file(self.path)
        except FileNotFoundError:
            return b""
        except IsADirectoryError:
            raise LedgerError("a folder stands in its place", file=str(self.path), hint=_HINT) from None
        except OSError as cause:
            raise durable.failed("read the ledger", self.path, cause) from cause

    def stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever the file does; None if there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (found.st_ino, found.st_size, found.st_mtime_ns)

    def _witness_path(self, founded: Digest) -> Path | None:
        return None if self.witness is None else self.witness / f"{founded.removeprefix('sha256:')}.json"

    def _tell(self, founded: Digest, head: Head) -> None:
        """The witness's file, replaced as a whole; where its folder cannot be written, no act fails for that."""
        path = self._witness_path(founded)
        if path is None:
            return
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with durable.Temporary(path.parent) as temporary:
                temporary.write(canonical_bytes(head) + b"\n")
                temporary.finish(0o600)
                temporary.replace(path)
