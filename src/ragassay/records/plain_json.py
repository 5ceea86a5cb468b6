"""The quick way to RFC 8785 bytes, for values on which the standard library and RFC 8785 agree. Refuses the rest.

They agree on text, on keys in ASCII (whose order is the same by code point and by UTF-16 unit), on integers below
2^53, and on floats that need no exponent. `rfc8785` stays the definition: what is refused here goes to it, and a
property test compares both on everything else.
"""

from __future__ import annotations

import json
from typing import Any

SAFE = 2**53
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


class NotPlain(Exception):
    """This value needs the full algorithm."""


def encode_plain(value: Any) -> bytes:
    """Canonical bytes of JSON values, or NotPlain."""
    return _encode(_plain(value)).encode("utf-8")


def _plain(value: Any) -> Any:
    """The value with whole floats as integers, which is how RFC 8785 writes them."""
    kind = type(value)
    if kind is str or kind is bool:
        return value
    if kind is dict:
        if not "".join(value).isascii():
            raise NotPlain
        return {key: item if type(item) is str else _plain(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [item if type(item) is str else _plain(item) for item in value]
    if kind is int and -SAFE < value < SAFE:
        return value
    if kind is float and -1e15 < value < 1e15:
        if value.is_integer():
            return int(value)
        if abs(value) >= 1e-4:
            return value
    raise NotPlain
