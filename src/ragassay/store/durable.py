"""Files that are whole and on the disk when a call returns: temp, fsync, link or rename, fsync of the folder.

Knows nothing of digests, refs or records, deletes nothing but its own temporary files, and hides no failure:
a failed fsync is a failed write. POSIX only (hard links, fsync of folders).
"""
# ruff: noqa: PTH102, PTH105, PTH108
# Plain `os` calls, because their order is the point and the tests record it.

from __future__ import annotations

import errno
import hashlib
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ragassay.errors import StoreError

_HINTS = {
    errno.ENOSPC: "the disk is full: free some space and repeat; nothing that was stored before is lost",
    errno.EDQUOT: "the disk quota is used up: free some space and repeat; nothing that was stored before is lost",
    errno.EFBIG: "a limit on file sizes is in force (ulimit -f): raise it and repeat; nothing stored before is lost",
    errno.EROFS: "the file system is read-only: reading works; to write, use a store elsewhere",
    errno.EACCES: "this user may not read or write there: change the permissions, or use a store elsewhere",
    errno.EPERM: "not permitted: the file system may have no hard links, or the files belong to another user",
    errno.EOPNOTSUPP: "the file system has no hard links: put the store on another one",
    errno.EIO: "the disk reported an error: look at the system log before trusting it; run `ragassay store check`",
    errno.EMFILE: "too many open files: raise the limit (ulimit -n) and repeat",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a file, or a link, stands where a folder should be: take it away, or choose another name",
    errno.ELOOP: "a link stands where a file should be: put the file itself there",
    errno.EISDIR: "a folder stands where a file should be: choose another name",
    errno.ENXIO: "take it away, and restore the file from a copy of the store",
    errno.ENOTEMPTY: "a folder stands where a file should be: choose another name",
}


def failed(doing: str, path: Path | str, cause: OSError) -> StoreError:
    """The StoreError for an operating system error: what was being done, where, and what to do next."""
    hint = _HINTS.get(cause.errno or 0, "nothing that was stored before is lost; repeat when the cause is gone")
    return StoreError(f"cannot {doing}: {cause.strerror or cause}", file=str(path), hint=hint)


class NoFileError(OSError):
    """A pipe, a socket or a device stands where a file should be."""


def open_file(path: Path) -> io.FileIO:
    """A file, open for reading. NoFileError for what is none, such as a pipe, on which a reader would wait for ever;
    IsADirectoryError for a folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return io.FileIO(descriptor)
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise NoFileError(errno.ENXIO, "a pipe or a device stands where a file should be", str(path))


def read_file(path: Path) -> bytes:
    """All bytes of a file; raises what `open_file` does."""
    with open_file(path) as file:
        return file.readall()


def sync_file(descriptor: int) -> None:
    """Push a file's bytes to the disk itself (F_FULLFSYNC where fsync alone does not)."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Push a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> bool:
    """Make one folder if it is not there, and push its parent's entries; says whether it was made here.

    NotADirectoryError for a link that leads elsewhere: what is written below it would not be in the store.
    """
    try:
        os.mkdir(folder, 0o755)
        made = True
    except FileExistsError:
        made = False
        if os.path.islink(folder):  # noqa: PTH114
            raise NotADirectoryError(errno.ENOTDIR, "a link to another folder", str(folder)) from None
    sync_folder(folder.parent)
    return made


def make_folders(top: Path, folder: Path) -> None:
    """Make every folder from below `top` down to `folder`."""
    for part in [*reversed(folder.relative_to(top).parents), folder.relative_to(top)][1:]:
        make_folder(top / part)


def remove(path: Path) -> None:
    """Take a file's name away, if it is there; whoever calls pushes the folder."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def entries_below(folder: Path) -> Iterator[Path]:
    """Every path below a folder; a folder that cannot be read is a StoreError and never just empty."""

    def refuse(cause: OSError) -> None:
        if not isinstance(cause, FileNotFoundError):
            raise failed("read a folder of the store", cause.filename or folder, cause) from cause

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders.sort()
        for name in sorted([*folders, *files]):
            yield Path(place, name)


class Temporary:
    """One new file in `folder`, hashed while it is written, that is then linked or renamed to its name.

    Leaving the block without `link` or `replace`, or with an error, removes the file. A killed process leaves it
    behind; it never has a final name, so it is never read as stored.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.getpid()}-{secrets.token_hex(8)}"
        self.size = 0
        self._hash = hashlib.sha256()
        self._descriptor = -1
        self._gone = False

    def __enter__(self) -> Temporary:
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        return self

    @property
    def hex(self) -> str:
        """SHA-256 of what was written so far."""
        return self._hash.hexdigest()

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; a short write is continued."""
        self._hash.update(data)
        self.size += len(data)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def finish(self, mode: int) -> None:
        """Push the bytes to the disk and set the permissions; nothing can be written afterwards."""
        sync_file(self._descriptor)
        os.fchmod(self._descriptor, mode)
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)

    def link(self, final: Path, *, push: bool = True) -> bool:
        """Give the file its final name unless that name is taken (False); push the folder either way.

        The folder is pushed on False too: the one who took the name may not have done it yet.
        """
        try:
            os.link(self.path, final)
            new = True
        except FileExistsError:
            new = False
        if push:
            sync_folder(final.parent)
        return new

    def replace(self, final: Path) -> None:
        """Give the file its final name in place of what had it, and push the folder."""
        os.replace(self.path, final)
        self._gone = True
        sync_folder(final.parent)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
        if not self._gone:
            with suppress(OSError):
                os.unlink(self.path)
