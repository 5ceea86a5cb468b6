"""Vectors that were computed once, by embedder, processor and text. A cache: it may be deleted, and is then made again.

Safe for threads and processes at once. What is in it was committed whole; a kill loses at most the texts in hand.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.errors import IntegrityError, RagassayError, StoreError
from ragassay.records.text import clean
from ragassay.run.systems.pipeline.embedders import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FORMAT = 1
_AT_ONCE = 64
"""So many texts are embedded between two commits."""
_SHARDS = 64
_WAIT_S = 120.0
_LOOKED_UP_AT_ONCE = 500
_CHECK_BYTES = 8


class Embedded(NamedTuple):
    """Vectors in the order of their texts, and what they cost."""

    vectors: NDArray[np.float32]
    hits: int
    """Texts whose vector was there already (or is zero since they are blank)."""
    computed: int
    """Texts that an embedder was asked for, here and now; equal texts in one list count once, the others are hits."""
    calls: int
    """Requests sent to an endpoint."""
    kept: int | None = None
    """Place of a text whose vector was there already, if there is one."""


class VectorCache:
    """Vectors in one SQLite file (`open`), or in memory only (`memory`)."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._threads = [threading.Lock() for _ in range(_SHARDS)]
        try:
            with self._all_alone():
                self._database = self._connect()
        except sqlite3.Error as cause:
            raise self._failed("open", cause) from cause

    @classmethod
    def open(cls, path: Path | str) -> VectorCache:
        """The cache in this file, made with its folder if it is not there; StoreError if that cannot be."""
        file = Path(path).absolute()
        try:
            (file.parent / f"{file.name}.locks").mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            raise StoreError(
                f"cannot make the vector cache: {cause.strerror}", file=str(file), hint="name a folder that is writable"
            ) from cause
        return cls(file)

    @classmethod
    def of_store(cls, store: Path) -> VectorCache:
        """The cache of a store, `cache/vectors.sqlite` in its folder."""
        return cls.open(store / "cache" / "vectors.sqlite")

    @classmethod
    def memory(cls) -> VectorCache:
        """A cache that ends with the process."""
        return cls(None)

    def __bool__(self) -> bool:
        return True  # an empty cache is one

    def __len__(self) -> int:
        with self._lock:
            return int(self._database.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Embedded:
        """The vectors of texts; what is not there yet is computed once, by whichever thread or process comes first.

        Raises what the embedder raises; IntegrityError for a damaged row, StoreError if the file cannot be used.
        """
        import numpy as np

        made = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
        who = " ".join(filter(None, (embedder.identity, getattr(embedder, "computed_by", ""))))
        places: dict[bytes, list[int]] = {}
        wanted: dict[bytes, str] = {}
        for number, raw in enumerate(texts):
            if raw.strip():
                text = clean(raw).text
                key = _key(who, text)
                places.setdefault(key, []).append(number)
                wanted[key] = text
        found = self._look_up(list(wanted), embedder.dimensions)
        kept = next((places[key][0] for key in wanted if key in found), None)
        computed = calls = 0
        missing = [key for key in wanted if key not in found]
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            with self._claimed(part):
                there = self._look_up(part, embedder.dimensions)
                left = [key for key in part if key not in there]
                if left:
                    there, sent = self._compute(embedder, left, wanted, there)
                    computed, calls = computed + len(left), calls + sent
            found |= there
        for key, numbers in places.items():
            made[numbers] = found[key]
        return Embedded(made, len(texts) - computed, computed, calls, kept)

    def counted(self, what: str, count: Callable[[], int | None]) -> int | None:
        """A number that `count` finds and that is kept under `what`; None is not kept."""
        key = hashlib.sha256(what.encode("utf-8")).digest()
        try:
            with self._lock:
                found = self._database.execute("SELECT value FROM counts WHERE key = ?", (key,)).fetchone()
            if found is not None:
                return int(found[0])
            made = count()
            if made is not None:
                with self._lock, self._database:
                    self._database.execute("INSERT OR REPLACE INTO counts VALUES (?, ?)", (key, made))
        except sqlite3.Error as cause:
            raise self._failed("use", cause) from cause
        return made

    def _compute(
        self, embedder: Embedder, keys: list[bytes], texts: dict[bytes, str], there: dict[bytes, Any]
    ) -> tuple[dict[bytes, Any], int]:
        counted: Any = getattr(embedder, "embed_counted", None)
        asked = [texts[key] for key in keys]
        vectors, calls = counted(asked) if counted is not None else (embedder.embed(asked), 0)
        rows = [(key, _check(key, data), data) for key, data in zip(keys, map(_bytes, vectors), strict=True)]
        try:
            with self._lock, self._database:
                self._database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
        except sqlite3.Error as cause:
            raise self._failed("write", cause) from cause
        return there | dict(zip(keys, vectors, strict=True)), calls

    def _look_up(self, keys: list[bytes], dimensions: int) -> dict[bytes, Any]:
        import numpy as np

        found: dict[bytes, Any] = {}
        try:
            with self._lock:
                for start in range(0, len(keys), _LOOKED_UP_AT_ONCE):
                    part = keys[start : start + _LOOKED_UP_AT_ONCE]
                    marks = ",".join("?" * len(part))
                    query = f"SELECT key, sum, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608  marks only
                    for key, check, data in self._database.execute(query, part):
                        if check != _check(key, data) or len(data) != 4 * dimensions:
                            raise self._damaged("a vector is not what was stored")
                        found[key] = np.frombuffer(data, dtype="<f4")
        except sqlite3.Error as cause:
            raise self._failed("read", cause) from cause
        return found

    def _connect(self) -> sqlite3.Connection:
        made = sqlite3.connect(self.path or ":memory:", timeout=_WAIT_S, check_same_thread=False)
        try:
            self._prepare(made)
        except BaseException:
            made.close()
            raise
        return made

    def _prepare(self, made: sqlite3.Connection) -> None:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("PRAGMA synchronous = NORMAL")
        found = int(made.execute("PRAGMA user_version").fetchone()[0])
        if found not in (0, _FORMAT):
            raise self._damaged(f"its format is {found}, not {_FORMAT}")
        with made:
            made.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, sum BLOB NOT NULL, vector BLOB NOT NULL)"
            )
            made.execute("CREATE TABLE IF NOT EXISTS counts (key BLOB PRIMARY KEY, value INTEGER NOT NULL)")
            made.execute(f"PRAGMA user_version = {_FORMAT}")

    @contextmanager
    def _all_alone(self) -> Iterator[None]:
        with ExitStack() as stack:
            if self.path is not None:
                stack.enter_context(_locked(self._lock_file("open")))
            yield

    @contextmanager
    def _claimed(self, keys: list[bytes]) -> Iterator[None]:
        """Nobody else, in this process or another, computes one of these meanwhile. Always in the same order."""
        with ExitStack() as stack:
            for shard in sorted({key[0] % _SHARDS for key in keys}):
                there = self.path is not None
                stack.enter_context(_locked(self._lock_file(f"{shard:02d}")) if there else self._threads[shard])
            yield

    def _lock_file(self, name: str) -> Path:
        assert self.path is not None
        return self.path.parent / f"{self.path.name}.locks" / name

    def _failed(self, doing: str, cause: sqlite3.Error) -> RagassayError:
        if "not a database" in str(cause) or "malformed" in str(cause):
            return self._damaged(str(cause))
        return StoreError(
            f"cannot {doing} the vector cache: {cause}", file=str(self.path), hint="free the disk or name another file"
        )

    def _damaged(self, what: str) -> IntegrityError:
        return IntegrityError(
            f"the vector cache is damaged: {what}",
            file=str(self.path),
            hint="delete the file: it is a cache, and what it held is computed again",
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """An exclusive lock that ends with the block or with the process."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as cause:
        raise StoreError(
            f"cannot lock the vector cache: {cause.strerror}", file=str(path), hint="name a folder that is writable"
        ) from cause
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _key(identity: str, text: str) -> bytes:
    who = hashlib.sha256(identity.encode("utf-8")).digest()
    return hashlib.sha256(who + hashlib.sha256(text.encode("utf-8")).digest()).digest()


def _check(key: bytes, data: bytes) -> bytes:
    return hashlib.sha256(key + data).digest()[:_CHECK_BYTES]


def _bytes(vector: Any) -> bytes:
    data: bytes = vector.astype("<f4").tobytes()
    return data
