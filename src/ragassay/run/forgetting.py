"""What jobs leave beside the objects of a store, taken away when something is erased. Erases no object itself.

Journals hold answers, texts and raw responses; caches hold replies of judges, vectors and outputs of steps. A finished
job needs neither: only what was asked before would be asked, and paid for, again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragassay.errors import UsageError
from ragassay.run.lease import Lease
from ragassay.store import Store, durable
from ragassay.store.folder import JOURNALS

CACHES = "cache"
_TAIL = 4096
"""The line that says that a job is sealed is much shorter."""


class Forgotten(NamedTuple):
    """What went, and what could not."""

    journals: int
    caches: int
    unfinished: tuple[str, ...]
    """Journals of jobs that are not sealed: they go on with what they hold."""


def forget(store: Store) -> Forgotten:
    """Take away journals of sealed jobs, journals that were set aside, and caches; all other journals are named.

    StoreError where a file cannot be taken away.
    """
    journals, unfinished = 0, []
    folder = store.path / JOURNALS
    for path in sorted(folder.glob("*.journal*")):
        if path.suffix == ".journal" and not _forget_sealed(path):
            unfinished.append(path.name)
            continue
        if path.suffix != ".journal":
            _remove(path)
        journals += 1
    caches = sorted((store.path / CACHES).glob("*.sqlite*"))
    for path in caches:
        _remove(path)
    return Forgotten(journals, sum(one.suffix == ".sqlite" for one in caches), tuple(unfinished))


def _forget_sealed(path: Path) -> bool:
    """Remove a journal if its job is sealed and nobody works on it."""
    try:
        lease = Lease(path.with_suffix(".lock"))
    except UsageError:  # a living process holds it
        return False
    try:
        if not _is_sealed(path):
            return False
        _remove(path)
    finally:
        lease.release()
    return True


def _is_sealed(path: Path) -> bool:
    """Whether the last line says so; a journal with a torn or damaged end is of no finished job."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL))
            last = stream.read().rstrip(b"\n").rpartition(b"\n")[2]
        return bool(msgspec.json.decode(last)["body"]["move"]["state"] == "sealed")
    except OSError as cause:
        raise durable.failed("read the journal", path, cause) from cause
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return False


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        durable.sync_folder(path.parent)
    except OSError as cause:
        raise durable.failed("take away what a job left", path, cause) from cause
