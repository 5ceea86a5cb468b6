"""Whether two records, or two tables of them, say the same: exactly, or but for the last bits of a number.

Everything but floating-point numbers must be equal. A number may differ by TOLERANCE (relative above 1), since another
build of numpy may add in another order; counts are integers and have no tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec

TOLERANCE = 1e-12


class Difference(NamedTuple):
    """Where two things differ first."""

    place: str
    """`line 7: value`, or a field."""
    stored: str
    made: str


def difference(stored: Any, made: Any, place: str = "") -> Difference | None:
    """The first place at which two JSON values or records differ by more than the last bits of a number."""
    if isinstance(stored, msgspec.Struct) or isinstance(made, msgspec.Struct):
        stored, made = msgspec.to_builtins(stored), msgspec.to_builtins(made)
    if isinstance(stored, dict) and isinstance(made, dict):
        for key in sorted(stored.keys() | made.keys()):
            if key not in stored or key not in made:
                return Difference(_join(place, key), _shown(stored.get(key)), _shown(made.get(key)))
            if (found := difference(stored[key], made[key], _join(place, key))) is not None:
                return found
        return None
    if isinstance(stored, list | tuple) and isinstance(made, list | tuple):
        for number, (left, right) in enumerate(zip(stored, made, strict=False)):
            if (found := difference(left, right, f"{place}[{number}]")) is not None:
                return found
        if len(stored) != len(made):
            return Difference(place, f"{len(stored)} entries", f"{len(made)} entries")
        return None
    return None if _same(stored, made) else Difference(place, _shown(stored), _shown(made))


def lines_difference(stored: Iterable[bytes], made: Iterable[bytes]) -> Difference | None:
    """The first line at which two tables of JSON lines differ; equal bytes are not looked into."""
    for number, (left, right) in enumerate(zip_longest(stored, made), 1):
        if left == right:
            continue
        if left is None or right is None:
            return Difference(f"line {number}", "no such line" if left is None else "a line",
                              "no such line" if right is None else "a line")  # fmt: skip
        found = difference(msgspec.json.decode(left), msgspec.json.decode(right))
        if found is not None:
            return found._replace(place=f"line {number}: {found.place}")
    return None


def _same(stored: Any, made: Any) -> bool:
    number = (int, float)
    if isinstance(stored, bool) or isinstance(made, bool):
        return stored is made
    if isinstance(stored, number) and isinstance(made, number) and float in (type(stored), type(made)):
        return math.isclose(stored, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(stored) is type(made) and bool(stored == made)


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _shown(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 120 else text[:119] + "…"
