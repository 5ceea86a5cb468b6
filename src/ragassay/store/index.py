"""`index.sqlite`: which blobs were seen, and their sizes, so that a quick check notices what has gone. A cache only.

Nothing but `check` reads it. It may be deleted at any time; the next check makes it again from the blobs.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path


def read_index(path: Path) -> dict[str, int] | None:
    """Digest -> size as last seen; None if there is no index or it cannot be read as one."""
    if not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            rows = connection.execute("SELECT digest, size FROM blobs ORDER BY digest").fetchall()
    except sqlite3.Error:
        return None
    return {str(digest): int(size) for digest, size in rows}


def write_index(path: Path, temporary: Path, sizes: Mapping[str, int]) -> bool:
    """Replace the index as a whole; False if the store cannot be written (a check works without)."""
    made = temporary / f"{os.getpid()}-{secrets.token_hex(8)}"
    try:
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("CREATE TABLE blobs (digest TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID")
            connection.executemany("INSERT INTO blobs VALUES (?, ?)", sorted(sizes.items()))
            connection.commit()
        made.replace(path)
    except (sqlite3.Error, OSError):
        with suppress(OSError):
            made.unlink()
        return False
    return True
