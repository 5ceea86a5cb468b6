"""Results of finished steps, by everything that can change them. A cache: it may be deleted, and is then made again.

In memory and in one SQLite file. What was flushed was committed whole; a kill loses at most what was found since.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import IntegrityError, RagassayError, StoreError
from ragassay.records.canonical import canonical_bytes

_FORMAT = 1
_UNWRITTEN = 2_000
"""So many results are held back before they are committed."""
_WAIT_S = 60.0
_CHECK_BYTES = 8


class StepCache:
    """Bytes by scope and key; a scope is read into memory once. `path` None: in memory only. Safe for threads."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.hits = self.computed = 0
        self._lock = threading.Lock()
        self._known: dict[bytes, dict[bytes, bytes]] = {}
        self._new: list[tuple[bytes, bytes, bytes, bytes]] = []
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path or ":memory:", timeout=_WAIT_S, check_same_thread=False)
            self._prepare()
        except OSError as cause:
            raise StoreError(
                f"cannot make the cache of steps: {cause.strerror}", file=str(path), hint="free the disk, or its folder"
            ) from cause
        except sqlite3.Error as cause:
            raise self._failed("open", cause) from cause

    @classmethod
    def of_store(cls, store: Path) -> StepCache:
        """The cache of a store, `cache/steps.sqlite` in its folder."""
        return cls(store / "cache" / "steps.sqlite")

    def _prepare(self) -> None:
        base = self._database
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = NORMAL")
        found = int(base.execute("PRAGMA user_version").fetchone()[0])
        if found not in (0, _FORMAT):
            raise self._damaged(f"its format is {found}, not {_FORMAT}")
        with base:
            base.execute(
                "CREATE TABLE IF NOT EXISTS steps (scope BLOB, key BLOB, sum BLOB NOT NULL, value BLOB NOT NULL, "
                "PRIMARY KEY (scope, key)) WITHOUT ROWID"
            )
            base.execute(f"PRAGMA user_version = {_FORMAT}")

    def get(self, scope: bytes, keys: Sequence[bytes]) -> list[bytes | None]:
        """The value of each key, None where there is none. IntegrityError for a damaged row."""
        with self._lock:
            known = self._of(scope)
            return [known.get(key) for key in keys]

    def put(self, scope: bytes, found: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep (key, value); a later value of a key replaces an earlier one."""
        with self._lock:
            known = self._of(scope)
            for key, value in found:
                known[key] = value
                self._new.append((scope, key, _check(scope, key, value), value))
            if len(self._new) >= _UNWRITTEN:
                self._flush()

    def counted(self, hits: int, computed: int) -> None:
        """Add to the counts of the whole experiment."""
        with self._lock:
            self.hits += hits
            self.computed += computed

    def flush(self) -> None:
        """Commit what is held back."""
        with self._lock:
            self._flush()

    def close(self) -> None:
        """Commit, and close the file."""
        with self._lock:
            self._flush()
            self._database.close()

    def _flush(self) -> None:
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO steps VALUES (?, ?, ?, ?)", self._new)
        except sqlite3.Error as cause:
            raise self._failed("write", cause) from cause
        self._new.clear()

    def _of(self, scope: bytes) -> dict[bytes, bytes]:
        if scope not in self._known:
            found: dict[bytes, bytes] = {}
            try:
                rows = self._database.execute("SELECT key, sum, value FROM steps WHERE scope = ?", (scope,))
                for key, check, value in rows:
                    if check != _check(scope, key, value):
                        raise self._damaged("a row is not what was stored")
                    found[key] = value
            except sqlite3.Error as cause:
                raise self._failed("read", cause) from cause
            self._known[scope] = found
        return self._known[scope]

    def _failed(self, doing: str, cause: sqlite3.Error) -> RagassayError:
        if "not a database" in str(cause) or "malformed" in str(cause):
            return self._damaged(str(cause))
        return StoreError(
            f"cannot {doing} the cache of steps: {cause}", file=str(self.path), hint="free the disk, or delete the file"
        )

    def _damaged(self, what: str) -> IntegrityError:
        return IntegrityError(
            f"the cache of steps is damaged: {what}",
            file=str(self.path),
            hint="delete the file: it is a cache, and what it held is computed again",
        )


def key_of(*parts: object) -> bytes:
    """32 bytes that stand for these JSON values."""
    return hashlib.sha256(canonical_bytes(list(parts))).digest()


def _check(scope: bytes, key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(b"".join((scope, key, value))).digest()[:_CHECK_BYTES]
