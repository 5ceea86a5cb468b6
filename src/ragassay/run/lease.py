"""One process at a time on one job: a lock that the system drops when the process dies. Waits for nobody."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ragassay.errors import UsageError
from ragassay.store import durable


def held(path: Path) -> bool:
    """Whether a living process has this lock; it is not taken, and not made."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class Lease:
    """An exclusive lock on a file beside the journal; held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        """Take the lock or raise UsageError that names the process which holds it."""
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as cause:
            raise durable.failed("take the lease of the job", path, cause) from cause
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise UsageError(
                f"process {holder} is running this job",
                file=str(path),
                hint="wait for it, or give this run another name; a dead process holds nothing",
            ) from None
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as cause:
            self.release()
            raise durable.failed("take the lease of the job", path, cause) from cause

    def release(self) -> None:
        """Give the lock back; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
