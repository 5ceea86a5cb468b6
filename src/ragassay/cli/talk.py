"""Standard output is data, standard error is talk; model text loses its terminal escapes. Decides nothing."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
quiet = False


def plain(text: str) -> str:
    """`text` without control characters and direction overrides, fit for a terminal."""
    return _CONTROL.sub("\ufffd", text)


def say(text: str = "") -> None:
    """One line of talk, after the data that were printed before it."""
    if not quiet:
        sys.stdout.flush()
        print(plain(text), file=sys.stderr)  # noqa: T201


def data(text: str) -> None:
    """Lines of data."""
    print(text)  # noqa: T201


def data_json(value: Any) -> None:
    """One JSON document."""
    data(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def then(command: str, config: Path | None = None, store: Path | None = None) -> None:
    """The last line: what to run next, with the settings file and the store that this command was given."""
    from ragassay.cli.settings import FILE_NAME

    given = [f"--config {quote(str(config))}"] if config is not None and str(config) != FILE_NAME else []
    given += [f"--store {quote(str(store))}"] if store is not None else []
    say(f"next: {' '.join([command, *given])}")


def colour() -> bool:
    """Whether talk may be coloured: a terminal, and NO_COLOR is not set."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say_error(text: str) -> None:
    """An error, also when talk is quiet."""
    with suppress(BrokenPipeError):
        sys.stdout.flush()
    print("error: " + "\n".join(plain(line) for line in text.splitlines()), file=sys.stderr)  # noqa: T201
