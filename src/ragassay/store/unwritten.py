"""A store that is read and never written: what would be stored is kept aside. For asking what a run would do."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ragassay.errors import StoreError
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.canonical import digest_bytes
from ragassay.records.ledger import Act, Entry
from ragassay.store import lines
from ragassay.store.blobs import WHOLE
from ragassay.store.folder import HEADER, Store
from ragassay.store.ledger import Ledger


class Unkept(Ledger):
    """A ledger in which nothing is written."""

    def record(
        self,
        act: Act,
        objects: Mapping[str, Digest],
        at: Instant,
        *,
        by: str | None = None,
        reason: str | None = None,
        name: str | None = None,
        again: bool = False,  # noqa: ARG002  as in a ledger
    ) -> Entry:
        """The entry as it would be written next."""
        found = self.lines(torn=True)
        before = found[-1].digest if found else digest_bytes(b"")
        return Entry(
            number=len(found) or 1, act=act, at=at, previous=before, objects=dict(objects), by=by, name=name,
            reason=reason,
        )  # fmt: skip


class _Reader(io.RawIOBase):
    """One reader of a file that others read too."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._at = file, 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """The next bytes."""
        self._file.seek(self._at)
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class Unwritten(Store):
    """Behaves as the store in a folder, which need not be there; nothing on the disk changes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.ledger = Unkept(path)
        self._made: dict[str, bytes] = {}
        self._aside: dict[str, IO[bytes]] = {}
        """Lines; large ones in temporary files without a name."""
        self._names: dict[str, Digest] = {}

    @classmethod
    def over(cls, path: Path | str) -> Unwritten:
        """Over the store in a folder, or over nothing if there is none. StoreError for a store of another version."""
        if os.path.exists(Path(path) / HEADER):  # noqa: PTH110  says no, where Path.exists raises
            Store.open(path)
        return cls(Path(path))

    def put(self, data: bytes) -> Digest:
        """Keep bytes in memory."""
        digest = digest_bytes(data)
        self._made[digest] = data
        return digest

    def put_lines(self, records: Iterable[Record | dict[str, Any] | bytes]) -> Digest:
        """Keep lines aside, packed as they would be stored; those that the folder holds already are not kept twice."""
        file = tempfile.SpooledTemporaryFile(max_size=WHOLE)  # noqa: SIM115  closed when this store is let go
        close = weakref.finalize(self, file.close)
        running = hashlib.sha256()
        for piece in lines.pack(records):
            running.update(piece)
            file.write(piece)
        digest = Digest(f"sha256:{running.hexdigest()}")
        if digest in self:
            close()
        else:
            self._aside[digest] = file
        return digest

    def get(self, digest: str) -> bytes:
        """What was put here, else what the folder holds."""
        if digest in self._aside:
            file = self._aside[digest]
            file.seek(0)
            return file.read()
        return self._made[digest] if digest in self._made else super().get(digest)

    def get_raw_lines(self, digest: str) -> Iterator[bytes]:
        """The lines of what was put here, else of what the folder holds."""
        if digest in self._aside:
            return lines.unpack(_Reader(self._aside[digest]), name=digest)
        return lines.unpack(self._made[digest], name=digest) if digest in self._made else super().get_raw_lines(digest)

    def __contains__(self, digest: str) -> bool:
        return digest in self._made or digest in self._aside or super().__contains__(digest)

    def set_ref(self, name: str, digest: str, kind: str | type[Record] | None = None) -> None:  # noqa: ARG002
        """Name what was put here, in memory."""
        if digest not in self:
            raise StoreError(f"cannot point {name} at {digest}: it is not stored", hint="store the blob first")
        self._names[name] = Digest(digest)

    def ref(self, name: str) -> Digest:
        """What was named here, else what the folder names."""
        return self._names[name] if name in self._names else super().ref(name)
