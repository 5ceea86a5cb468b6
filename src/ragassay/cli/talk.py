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

_HIDDEN = r"\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(rf"[\x00-\x08\x0b-\x1f{_HIDDEN}]")
_NOT_IN_JSON = re.compile(rf"[{_HIDDEN}\ud800-\udfff]")
quiet = False


def prepare() -> None:
    """Streams that are closed go nowhere; a character that a stream cannot encode is escaped and ends no command."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  open to the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Nothing more is written to standard output: what it still holds would fail again when the process ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def plain(text: str) -> str:
    """`text` without control characters and direction overrides, fit for a terminal."""
    return _CONTROL.sub("\ufffd", text)


def say(text: str = "") -> None:
    """One line of talk, after the data that were printed before it."""
    if not quiet:
        sys.stdout.flush()
        _write(plain(text))


def _write(text: str) -> None:
    """A line to standard error; that nobody listens, or that it is full, stops no work."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def data(text: str) -> None:
    """Lines of data."""
    print(text)  # noqa: T201


def data_json(value: Any) -> None:
    """One JSON document."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    data(json_text(json.dumps(value, ensure_ascii=ascii_only, indent=2, allow_nan=False)))


def json_text(text: str) -> str:
    """JSON with the control characters that JSON allows, and direction overrides, as escapes: the same value."""
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
    with suppress(OSError):
        sys.stdout.flush()
    _write("error: " + "\n".join(plain(line) for line in text.splitlines()))
