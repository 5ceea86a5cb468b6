"""Bytes by digest in `blobs/sha256/aa/<hex>`, hashed again on every read. Never overwrites and never deletes.

Anyone can check a blob without this code: `sha256sum` of the file is the file's name.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ragassay.errors import IntegrityError, StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_bytes, is_digest
from ragassay.records.text import many
from ragassay.store import durable, lines

BLOBS = Path("blobs", "sha256")
TEMPORARY = "tmp"
_CHUNK = 1024 * 1024
_AT_ONCE = 1000
"""Blobs between two pushes of the folders."""
WHOLE = 1024 * 1024
"""Bytes up to which a blob of lines is read into memory at once."""


class Blobs:
    """The blobs of one store folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._shards: set[str] = set()

    def path(self, digest: str) -> Path:
        """Where a blob is or would be (StoreError if this is no digest)."""
        if not is_digest(digest):
            raise StoreError(
                f"{digest!r} is not a digest", hint="a digest is `sha256:` and 64 lower-case hexadecimal digits"
            )
        hexadecimal = digest.removeprefix("sha256:")
        return self.root / BLOBS / hexadecimal[:2] / hexadecimal

    def __contains__(self, digest: str) -> bool:
        return self.path(digest).is_file()

    def put(self, data: bytes) -> Digest:
        """Store bytes durably and return their digest; storing them again is a re-hash of what is there."""
        digest = digest_bytes(data)
        final = self.path(digest)
        try:
            if final.exists():
                self._shard(final.parent)
                self._match(digest, final, len(data))
                durable.sync_folder(final.parent)
                return digest
        except OSError as cause:
            raise durable.failed("store a blob", final, cause) from cause
        return self.put_stream([data])

    def put_all(self, several: Iterable[bytes]) -> None:
        """Store many short blobs durably: each file is pushed, and each folder once for a thousand of them."""
        waiting = iter(several)
        while some := list(itertools.islice(waiting, _AT_ONCE)):
            folders: set[Path] = set()
            for data in some:
                final = self.path(digest_bytes(data))
                try:
                    folders.add(self._linked(data, final))
                except OSError as cause:
                    raise durable.failed("store a blob", final, cause) from cause
            for folder in folders:
                durable.sync_folder(folder)

    def _linked(self, data: bytes, final: Path) -> Path:
        """Give bytes their name; the folder that is to be pushed."""
        digest = Digest(f"sha256:{final.name}")
        self._shard(final.parent)
        if final.exists():
            self._match(digest, final, len(data))
            return final.parent
        with durable.Temporary(self.root / TEMPORARY) as temporary:
            temporary.write(data)
            temporary.finish(0o444)
            if not temporary.link(final, push=False):
                self._match(digest, final, len(data))
        return final.parent

    def put_stream(self, chunks: Iterable[bytes]) -> Digest:
        """Store a stream of bytes durably without holding it in memory."""
        place = self.root / TEMPORARY
        temporary = durable.Temporary(place)
        try:
            with temporary:
                for chunk in chunks:
                    temporary.write(chunk)
                temporary.finish(0o444)
                digest = Digest(f"sha256:{temporary.hex}")
                place = self.path(digest)
                self._shard(place.parent)
                if not temporary.link(place):
                    self._match(digest, place, temporary.size)
        except OSError as cause:
            raise durable.failed("store a blob", place, cause) from cause
        return digest

    def _shard(self, folder: Path) -> None:
        """The shard is there and its own entry is on the disk (pushed once per process and shard)."""
        if folder.name not in self._shards:
            durable.make_folder(folder)
            self._shards.add(folder.name)

    @staticmethod
    def _match(digest: Digest, path: Path, size: int) -> None:
        """What already has this name is what it should be: size first, then the hash."""
        if path.stat().st_size != size or hash_file(path) != digest:
            raise damaged(digest, path, f"it has {many(path.stat().st_size, 'byte')}, {size} were expected, or others")

    def get(self, digest: str) -> bytes:
        """The bytes of a blob, hashed again (IntegrityError if missing or damaged)."""
        path = self.path(digest)
        try:
            data = durable.read_file(path)
        except FileNotFoundError:
            raise missing(digest, path) from None
        except durable.NoFileError as cause:
            raise damaged(digest, path, str(cause.strerror)) from None
        except OSError as cause:
            raise durable.failed("read a blob", path, cause) from cause
        if digest_bytes(data) != digest:
            raise damaged(digest, path, f"{many(len(data), 'byte')} hash to {digest_bytes(data)}")
        return data

    def get_raw_lines(self, digest: str) -> Iterator[bytes]:
        """The lines of a blob; it is hashed before this returns (IntegrityError as `get`).

        A large one is read piece by piece and hashed a second time as it is: IntegrityError, before its last line,
        where somebody writes into it in between.
        """
        path = self.path(digest)
        try:
            if path.stat().st_size > WHOLE:
                if (found := hash_file(path)) != digest:
                    raise damaged(digest, path, f"{many(path.stat().st_size, 'byte')} hash to {found}")
                return self._pieces(digest, path)
        except FileNotFoundError:
            raise missing(digest, path) from None
        except OSError as cause:
            raise durable.failed("read a blob", path, cause) from cause
        return lines.unpack(self.get(digest), name=digest)

    @staticmethod
    def _pieces(digest: str, path: Path) -> Iterator[bytes]:
        before = None
        try:
            with durable.open_file(path) as file:
                hashed = _Hashed(file)
                for line in lines.unpack(hashed, name=digest):
                    if before is not None:
                        yield before
                    before = line
                if (found := hashed.rest()) != digest:
                    raise damaged(digest, path, f"it changed while it was read, and hashes to {found}")
        except FileNotFoundError:
            raise missing(digest, path) from None
        except OSError as cause:
            raise durable.failed("read a blob", path, cause) from cause
        if before is not None:
            yield before

    def beginning_with(self, text: str) -> list[Digest]:
        """Digests of blobs that begin with `text` (hexadecimal, at least two digits; with or without `sha256:`)."""
        start = text.removeprefix("sha256:")
        if not re.fullmatch("[0-9a-f]{2,64}", start):
            return []
        found = (self.root / BLOBS / start[:2]).glob(f"{start}*")
        return sorted(Digest(f"sha256:{one.name}") for one in found if len(one.name) == 64)


class _Hashed(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._running = hashlib.sha256()

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """The next bytes."""
        count = self._file.readinto(buffer) or 0
        self._running.update(memoryview(buffer)[:count])
        return count

    def rest(self) -> Digest:
        """The digest of the whole file."""
        while data := self._file.read(_CHUNK):
            self._running.update(data)
        return Digest(f"sha256:{self._running.hexdigest()}")


def hash_file(path: Path) -> Digest:
    """The digest of a file, read in pieces."""
    running = hashlib.sha256()
    with durable.open_file(path) as stream:
        while chunk := stream.read(_CHUNK):
            running.update(chunk)
    return Digest(f"sha256:{running.hexdigest()}")


def missing(digest: str, path: Path) -> IntegrityError:
    """A blob that is named but not there."""
    return IntegrityError(
        f"blob {digest} is missing from the store",
        file=str(path),
        hint="restore the file from a copy of the store, or build again what it belongs to",
    )


def damaged(digest: str, path: Path, what: str) -> IntegrityError:
    """A blob whose bytes are not what its name says."""
    return IntegrityError(
        f"blob {digest} is damaged: {what}",
        file=str(path),
        hint="keep the file aside, restore it from a copy or build it again; `ragassay store check` finds all others",
    )
