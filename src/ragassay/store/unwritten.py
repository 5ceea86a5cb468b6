"""A store that is read and never written: what would be stored is kept in memory. For asking what a run would do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragassay.errors import StoreError
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.canonical import digest_bytes
from ragassay.records.ledger import Act, Entry
from ragassay.store import lines
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
        again: bool = False,  # noqa: ARG002  as in a ledger
    ) -> Entry:
        """The entry as it would be written next."""
        found = self.lines(torn=True)
        before = found[-1].digest if found else digest_bytes(b"")
        return Entry(
            number=len(found) or 1, act=act, at=at, previous=before, objects=dict(objects), by=by, reason=reason
        )


class Unwritten(Store):
    """Behaves as the store in a folder, which need not be there; nothing on the disk changes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.ledger = Unkept(path)
        self._made: dict[str, bytes] = {}
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
        """Keep lines in memory, packed as they would be stored."""
        return self.put(b"".join(lines.pack(records)))

    def get(self, digest: str) -> bytes:
        """What was put here, else what the folder holds."""
        return self._made[digest] if digest in self._made else super().get(digest)

    def __contains__(self, digest: str) -> bool:
        return digest in self._made or super().__contains__(digest)

    def set_ref(self, name: str, digest: str, kind: str | type[Record] | None = None) -> None:  # noqa: ARG002
        """Name what was put here, in memory."""
        if digest not in self:
            raise StoreError(f"cannot point {name} at {digest}: it is not stored", hint="store the blob first")
        self._names[name] = Digest(digest)

    def ref(self, name: str) -> Digest:
        """What was named here, else what the folder names."""
        return self._names[name] if name in self._names else super().ref(name)
