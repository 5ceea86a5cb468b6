"""JSON text to values, strictly: what two readers could understand differently is refused. Knows no record."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from ragassay.errors import RecordError
from ragassay.records.text import shown

MAX_DEPTH = 64
MAX_BYTES = 64 * 1024 * 1024
MAX_DIGITS = 400

# All that is not a bracket outside of text. Possessive: linear in the length, however the text is built.
_BETWEEN = re.compile(r'(?:"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]++)++', re.DOTALL)


def load_json(data: bytes | str) -> Any:
    """JSON values from UTF-8 bytes or text; a byte order mark at the start is passed over.

    Raises RecordError for a key that stands twice in one object (at any level), NaN and infinities (also `1e999`),
    a number of more than MAX_DIGITS characters, nesting deeper than MAX_DEPTH, more than MAX_BYTES, trailing text.
    """
    if len(data) > MAX_BYTES:
        raise RecordError(
            f"a record of {len(data)} bytes; the most is {MAX_BYTES}", hint="split it, or store the text as a blob"
        )
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8")
        except UnicodeDecodeError as cause:
            raise RecordError(
                f"not UTF-8: {cause.reason} at byte {cause.start}", hint="save the file as UTF-8"
            ) from None
    data = data.removeprefix("\ufeff")
    _check_depth(data)
    try:
        return _DECODER.decode(data)
    except json.JSONDecodeError as cause:
        raise RecordError(
            f"not JSON: {cause.msg} at line {cause.lineno} column {cause.colno}",
            hint="one JSON object a line, keys and text in double quotes",
        ) from None


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for mark in _BETWEEN.sub("", text):
        depth += 1 if mark in "[{" else -1
        if depth > MAX_DEPTH:
            raise RecordError(f"nested deeper than {MAX_DEPTH}", hint="records are flat; look for a repeated bracket")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RecordError("this key stands twice in one object", field=shown(key), hint="keep one of them")
            seen.add(key)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise RecordError(f"{name} is not a number", hint="leave the key out if there is no value")


def _short(digits: str) -> str:
    if len(digits) > MAX_DIGITS:
        raise RecordError(f"a number of more than {MAX_DIGITS} digits", hint="write it as text")
    return digits


def _parse_int(digits: str) -> int:
    return int(_short(digits))


def _parse_float(digits: str) -> float:
    number = float(_short(digits))
    if not math.isfinite(number):
        raise RecordError(f"{digits} is not a finite number", hint="leave the key out if there is no value")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_refuse_constant, parse_int=_parse_int, parse_float=_parse_float
)
