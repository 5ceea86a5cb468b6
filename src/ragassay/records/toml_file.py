"""A TOML file to its text and values, with a cap and an error that names the line. Knows no key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from ragassay.errors import UsageError

MOST_BYTES = 1024 * 1024
"""A larger file is something else."""


def read_toml(path: Path, *, what: str, absent: str) -> tuple[str, dict[str, Any]]:
    """The text of a file and the values in it, unchecked; a byte order mark is not part of it.

    UsageError if it cannot be read, is larger than MOST_BYTES or is no TOML; `what` names the file that is expected,
    `absent` is the hint if there is none.
    """
    text = _read_text(path, what, absent)
    try:
        return text, tomllib.loads(text)
    except (ValueError, RecursionError) as cause:  # ValueError: TOMLDecodeError, and a number of too many digits
        line = re.search(r"line (\d+)", str(cause))
        why = "nested too deeply" if isinstance(cause, RecursionError) else cause
        raise UsageError(
            f"not TOML: {why}", file=str(path), line=int(line[1]) if line else None, hint="see toml.io for the syntax"
        ) from None


def _read_text(path: Path, what: str, absent: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"more than {MOST_BYTES} bytes", file=str(path), hint=f"is this {what}?")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"there is no {path}", hint=absent) from None
    except (OSError, UnicodeDecodeError) as cause:
        raise UsageError(f"cannot be read: {cause}", file=str(path), hint="it must be a UTF-8 text file") from None
