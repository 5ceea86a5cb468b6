"""JSON values to the stored form of a record: keys, numbers and instants. Leaves all other types to msgspec.

A reader is made once for each type. It reports what a type alone does not say (null, a lone surrogate, a key in two
spellings, an integer that JSON readers disagree on), and gives the name that was probably meant.
"""

from __future__ import annotations

import difflib
import math
import re
import types
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import msgspec
import rfc8785

from ragassay.errors import RecordError
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.text import instant, is_digest, shown

SAFE_INTEGER = 2**53

Reader = Callable[[Any], Any]
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def snake(key: str) -> str:
    """`queryId` as `query_id`; snake_case stays."""
    return _HUMP.sub(lambda hump: "_" + hump.group(1).lower(), key)


@cache
def fields_of(kind: type[Record]) -> dict[str, Any]:
    """Stored key -> declared type of a record."""
    hints = get_type_hints(kind)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}


@cache
def reader_of(kind: Any) -> Reader:
    """The function that turns JSON values into the stored form of this type (RecordError, placed by field)."""
    if kind is Digest:
        return _read_digest
    if kind is Instant:
        return _read_instant
    if hasattr(kind, "__supertype__"):
        return reader_of(kind.__supertype__)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _union(tuple(one for one in arguments if one is not type(None)))
    if origin is Literal:
        return _literal(arguments)
    if origin is dict:
        return _mapping(reader_of(arguments[0]), reader_of(arguments[1]))
    if origin in (tuple, list):
        return _sequence(reader_of(arguments[0]))
    if _is_record(kind):
        return _record(kind)
    known: dict[Any, Reader] = {
        str: _read_text, int: _read_integer, float: _read_float, bool: _read_bool,
        Any: _read_anything, dict: _read_anything, list: _read_anything,
    }  # fmt: skip
    return known[kind]


def close_to(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, if one is close."""
    if len(word) > 64:
        return None
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def _null() -> NoReturn:
    raise RecordError("null is not a value", hint="leave the key out")


def _placed(error: RecordError, key: str) -> RecordError:
    """The same error, one level further up: `key` is put before its field."""
    inner = error.field
    error.field = f"{key}{inner}" if not inner or inner[0] == "[" else f"{key}.{inner}"
    return error


def _record(kind: type[Record]) -> Reader:
    readers = {key: reader_of(declared) for key, declared in fields_of(kind).items()}

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return _null() if value is None else value
        stored: dict[str, Any] = {}
        for key, item in value.items():
            reader = readers.get(key)
            if reader is None:
                key = _stored_key(key, readers)
                reader = readers[key]
            if key in stored:
                raise RecordError("one key in two spellings", field=key, hint="keep one of them")
            try:
                stored[key] = reader(item)
            except RecordError as error:
                raise _placed(error, key)  # noqa: B904  the same error, with its place
        return stored

    return read


def _stored_key(key: Any, readers: dict[str, Reader]) -> str:
    if not isinstance(key, str):
        raise RecordError("a key that is not text", hint="keys are text in double quotes")
    name = snake(key)
    if name in readers:
        return name
    close = close_to(name, readers)
    hint = f"did you mean {close!r}?" if close else f"known fields: {', '.join(sorted(readers))}"
    raise RecordError(f"unknown field '{shown(key)}'", hint=hint)


def _mapping(name: Reader, inner: Reader) -> Reader:
    """A mapping of names that belong to the user: they stay as they are, whatever their spelling."""

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return _null() if value is None else value
        stored = {}
        for key, item in value.items():
            try:
                stored[name(key)] = inner(item)
            except RecordError as error:
                raise _placed(error, shown(str(key)))  # noqa: B904  the same error, with its place
        return stored

    return read


def _sequence(inner: Reader) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return _null() if value is None else value
        stored = []
        for number, item in enumerate(value):
            try:
                stored.append(inner(item))
            except RecordError as error:
                raise _placed(error, f"[{number}]")  # noqa: B904  the same error, with its place
        return stored

    return read


def _union(members: tuple[Any, ...]) -> Reader:
    """Of a union, the member that a value of this shape (object, list, scalar) can be."""
    if len(members) == 1:
        return reader_of(members[0])
    objects = [reader_of(one) for one in members if get_origin(one) is dict or _is_record(one)]
    lists = [reader_of(one) for one in members if get_origin(one) in (list, tuple)]
    rest = [one for one in members if not (get_origin(one) in (dict, list, tuple) or _is_record(one))]
    scalar = reader_of(rest[0]) if len(rest) == 1 else _read_scalar

    def read(value: Any) -> Any:
        if objects and isinstance(value, dict):
            return objects[0](value)
        if lists and isinstance(value, list | tuple):
            return lists[0](value)
        return scalar(value)

    return read


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record)


def _literal(allowed: tuple[Any, ...]) -> Reader:
    def read(value: Any) -> Any:
        if isinstance(value, str) and value not in allowed:
            close = close_to(snake(value.replace("-", "_")), allowed)
            hint = f"did you mean {close!r}?" if close else f"allowed: {', '.join(allowed)}"
            raise RecordError(f"'{shown(value)}' is not one of the allowed values", hint=hint)
        return _null() if value is None else value

    return read


def _read_text(value: Any) -> Any:
    if isinstance(value, str):
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise RecordError("a lone surrogate is not text", hint="replace it by U+FFFD and set lossy") from None
        return value
    return _null() if value is None else value


def _read_digest(value: Any) -> Any:
    if isinstance(value, str) and not is_digest(value):
        raise RecordError(f"'{shown(value)}' is not a digest", hint="sha256: and 64 lower-case hexadecimal digits")
    return _null() if value is None else value


def _read_instant(value: Any) -> Any:
    if isinstance(value, str):
        return instant(value)
    return _null() if value is None else value


def _read_bool(value: Any) -> Any:
    return _null() if value is None else value


def _read_integer(value: Any) -> Any:
    """An integer; `3.0` is the same JSON number as `3`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _read_scalar(value) if not isinstance(value, str) else value


def _read_float(value: Any) -> Any:
    """A float; `1` is `1.0`, and a whole number beyond 2^53 only as a double spells it."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < SAFE_INTEGER:
            return float(value)
        if abs(value) < 10**21 and rfc8785.dumps(float(value)) == str(value).encode():
            return float(value)
        return _too_large()
    return _finite(value) if isinstance(value, float) else _read_bool(value)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise RecordError("not a finite number", hint="leave the key out if there is no value")
    return value + 0.0


def _too_large() -> NoReturn:
    raise RecordError("an integer of 2^53 or more", hint="write it as text")


def _read_scalar(value: Any) -> Any:
    """Text, truth value or number where the type leaves open which."""
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < SAFE_INTEGER else _too_large()
    if isinstance(value, float):
        value = _finite(value)
        return value if abs(value) < SAFE_INTEGER or not value.is_integer() else _too_large()
    return _null() if value is None else value


def _read_anything(value: Any) -> Any:
    """Values of no declared type: the same rules for text and numbers, keys as they are."""
    if isinstance(value, dict):
        return _mapping(_read_text, _read_anything)(value)
    if isinstance(value, list | tuple):
        return _sequence(_read_anything)(value)
    return _read_scalar(value)
