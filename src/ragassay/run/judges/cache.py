"""Verdicts and replies that were paid for once, by everything that could change them. A cache: it may be deleted.

Safe for threads and processes at once; what is in it was committed whole. Fails closed: a damaged entry is not there.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragassay.errors import StoreError
from ragassay.records.canonical import digest_of
from ragassay.run.judges.contract import Verdict
from ragassay.run.threads import Writer

_FORMAT = 1
_CHECK_BYTES = 16


class Entry(NamedTuple):
    """A key and the bytes that stand under it."""

    key: str
    value: bytes


def verdicts_key(judge: str, matter: str, judge_repeat: int) -> str:
    """The key of a batch: who judges, what is judged and by what, and which time it is."""
    return digest_of(["verdicts", judge, matter, str(judge_repeat)])


def packed(verdicts: Sequence[Verdict]) -> bytes:
    """Verdicts as they are kept."""
    return msgspec.json.encode(list(verdicts))


def unpacked(value: bytes, items: int) -> tuple[Verdict, ...] | None:
    """Verdicts again, marked as cached; None if these are not verdicts of so many items."""
    try:
        found = msgspec.json.decode(value, type=tuple[Verdict, ...])
    except (msgspec.MsgspecError, ValueError):
        return None
    return tuple(one._replace(cached=True) for one in found) if len(found) == items else None


class JudgeCache:
    """One SQLite file of a store, or memory alone."""

    def __init__(self, path: Path | None) -> None:
        """StoreError if the file cannot be made or is no cache."""
        self.path = path
        self._lock = threading.Lock()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                path or ":memory:", timeout=120.0, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL, check_ BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
            self._database.execute(f"PRAGMA user_version={_FORMAT}")
        except (sqlite3.Error, OSError) as cause:
            raise self._failed("open", cause) from cause

    @classmethod
    def of_store(cls, store: Path) -> JudgeCache:
        """The cache of a store, `cache/judges.sqlite` in its folder."""
        return cls(store / "cache" / "judges.sqlite")

    def get(self, key: str) -> bytes | None:
        """What stands under a key; None if nothing does, or if it is damaged."""
        try:
            with self._lock:
                row = self._database.execute("SELECT value, check_ FROM entries WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as cause:
            raise self._failed("read", cause) from cause
        return bytes(row[0]) if row is not None and row[1] == _check(key, row[0]) else None

    def put(self, entries: Iterable[Entry]) -> None:
        """Keep entries with one push to the disk; one that is there already stays as it is, unless it is damaged."""
        rows = [(one.key, one.value, _check(one.key, one.value)) for one in entries]
        if not rows:
            return
        kept = "INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, "
        kept += "check_ = excluded.check_"
        try:
            with self._lock:
                self._database.execute("BEGIN IMMEDIATE")
                try:
                    self._database.executemany(kept, rows)
                except BaseException:
                    self._database.execute("ROLLBACK")
                    raise
                self._database.execute("COMMIT")
        except sqlite3.Error as cause:
            raise self._failed("write", cause) from cause

    def __len__(self) -> int:
        with self._lock:
            return int(self._database.execute("SELECT count(*) FROM entries").fetchone()[0])

    def __bool__(self) -> bool:
        return True

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _failed(self, what: str, cause: Exception) -> StoreError:
        return StoreError(
            f"cannot {what} the cache of judges: {cause}",
            file=str(self.path or "memory"),
            hint="free the disk, or move the file away: it is made again, and what was in it is paid for again",
        )


def _check(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + value).digest()[:_CHECK_BYTES]


class Replies:
    """Replies of single calls, durable before their batch goes on; those that come together share a push."""

    def __init__(self, cache: JudgeCache, writer: Writer) -> None:
        self._cache, self._writer = cache, writer
        self._waiting: list[Entry] = []
        self._push: asyncio.Task[None] | None = None

    def get(self, key: str) -> bytes | None:
        """A reply that was kept."""
        return self._cache.get(key)

    async def put(self, key: str, value: bytes) -> None:
        """Keep a reply; it is on the disk when this returns."""
        self._waiting.append(Entry(key, value))
        running = self._push
        if running is not None and not running.done():
            await asyncio.wait({running})
        if any(one.key == key for one in self._waiting):
            if self._push is None or self._push.done():
                self._push = asyncio.ensure_future(self._write())
            await asyncio.shield(self._push)

    async def _write(self) -> None:
        entries, self._waiting = self._waiting, []
        await self._writer.run(self._cache.put, entries)
