"""A TOML file to its text and values, with a cap, and the line on which a field stands. Knows no key."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from ragassay.errors import UsageError

MOST_BYTES = 1024 * 1024
"""A larger file is something else."""
MOST_DEEP = 64
"""Tables and arrays within each other; a file that is nested deeper is something else."""


def read_toml(path: Path, *, what: str, absent: str) -> tuple[str, dict[str, Any]]:
    """The text of a file and the values in it, unchecked; a byte order mark is not part of it.

    UsageError if it cannot be read, is larger than MOST_BYTES, is nested deeper than MOST_DEEP or is no TOML; `what`
    names the file that is expected, `absent` is the hint if there is none.
    """
    text = _read_text(path, what, absent)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as cause:  # ValueError: TOMLDecodeError, and a number of too many digits
        line = re.search(r"line (\d+)", str(cause))
        why = "nested too deeply" if isinstance(cause, RecursionError) else cause
        raise UsageError(
            f"not TOML: {why}", file=str(path), line=int(line[1]) if line else None, hint="see toml.io for the syntax"
        ) from None
    if _too_deep(values):
        raise UsageError("not TOML: nested too deeply", file=str(path), hint=f"at most {MOST_DEEP} within each other")
    return text, values


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


def _too_deep(values: dict[str, Any]) -> bool:
    """Whether a value stands below more than MOST_DEEP others; tomllib reads dotted keys of any depth."""
    level: list[Any] = [values]
    for _ in range(MOST_DEEP):
        level = [one for box in level for one in (box.values() if isinstance(box, dict) else box)
                 if isinstance(one, dict | list)]  # fmt: skip
        if not level:
            return False
    return True


def without_dates(value: Any) -> Any:
    """TOML's own dates as text, which is how records hold them."""
    if isinstance(value, dict):
        return {key: without_dates(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_dates(one) for one in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def line_of(text: str, field: str, message: str = "") -> int | None:
    """The line on which a field such as `policy.rules[1].at_least` is set, or the unknown key that a message quotes.

    Where there is none, the heading of the nearest table above it.
    """
    unknown = re.search(r"unknown field '([^']+)'", message)
    wanted = [*_parts(field), *([(unknown[1], None)] if unknown else [])]
    seen: Counter[str] = Counter()
    section: list[tuple[str, int | None]] = []
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*(\[\[?)\s*([\w.\-\"]+)\s*\]\]?", line)
        if header:
            name = header[2]
            place = seen[name] if header[1] == "[[" else None
            seen[name] += 1
            section = [(part, None) for part in name.split(".")]
            section[-1] = (section[-1][0], place)
            if _same(section, wanted[: len(section)]) and (best is None or best[0] <= len(section)):
                best = (len(section), number)
            continue
        key = re.match(r"\s*[\"']?([\w\-.]+)[\"']?\s*=", line)
        if key:
            full = [*section, *((part, None) for part in key[1].split("."))]
            if _same(full, wanted):
                return number
            if _same(full, wanted[: len(full)]) and (best is None or best[0] < len(full)):
                best = (len(full), number)
    return best[1] if best else None


def _parts(field: str) -> list[tuple[str, int | None]]:
    found = re.findall(r"([^.\[\]]+)(?:\[(\d+)\])?", field)
    return [(name, int(number) if number else None) for name, number in found]


def _same(section: list[tuple[str, int | None]], wanted: list[tuple[str, int | None]]) -> bool:
    """Equal names; a place counts where both say one."""
    return len(section) == len(wanted) and all(
        name == other and (place is None or at is None or place == at)
        for (name, place), (other, at) in zip(section, wanted, strict=True)
    )
