"""Records to canonical bytes (RFC 8785) and back, strictly. Does no I/O and repairs nothing."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import re
import types
from collections.abc import Iterable
from functools import cache
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import rfc8785

from ragassay.errors import RecordError
from ragassay.records.base import Digest, Record

MAX_DEPTH = 64
MAX_BYTES = 64 * 1024 * 1024
SAFE_INTEGER = 2**53

T = TypeVar("T", bound=Record)
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a record or of plain JSON values; the same for every equal record.

    Raises RecordError for NaN, infinities, integers of 2^53 or more and lone surrogates.
    """
    try:
        return rfc8785.dumps(msgspec.to_builtins(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as cause:
        raise RecordError(
            f"{type(value).__name__} has no canonical form: {cause}",
            hint="numbers must be finite and below 2^53, text must be valid Unicode",
        ) from cause


def digest_bytes(data: bytes) -> Digest:
    """The digest of bytes as `sha256:<hex>`."""
    return Digest("sha256:" + hashlib.sha256(data).hexdigest())


def digest_of(value: Any) -> Digest:
    """The digest of a record's canonical bytes."""
    return digest_bytes(canonical_bytes(value))


def digest_text(text: str) -> Digest:
    """The digest of a text's UTF-8 bytes."""
    return digest_bytes(text.encode("utf-8"))


def digest_set(digests: Iterable[str]) -> Digest:
    """The digest of a set of digests: SHA-256 over the sorted lines, each ended by a newline."""
    return digest_bytes("".join(f"{one}\n" for one in sorted(digests)).encode())


def is_digest(text: str) -> bool:
    """Whether `text` is `sha256:` and 64 lower-case hexadecimal digits."""
    return bool(re.fullmatch(r"sha256:[0-9a-f]{64}", text))


def parse(kind: type[T], data: bytes | str, *, file: str = "", line: int | None = None) -> T:
    """One record from JSON bytes, in snake_case or camelCase.

    Raises RecordError (with file, line and field) on anything but exactly one record of this kind:
    a key twice or in two spellings, an unknown field, null, NaN, an integer of 2^53 or more,
    a lone surrogate, nesting deeper than MAX_DEPTH, more than MAX_BYTES, trailing text.
    """
    try:
        return parse_value(kind, load_json(data))
    except RecordError as error:
        raise error.at(file=file, line=line)  # noqa: B904  the same error, with its place


def parse_value(kind: type[T], value: Any) -> T:
    """One record from JSON values already loaded by `load_json` or built in memory; same rules as `parse`."""
    checked = _walk(kind, value, "")
    try:
        return msgspec.convert(checked, kind, strict=True)
    except msgspec.ValidationError as cause:
        message, _, path = str(cause).partition(" - at `$")
        raise RecordError(
            message[:1].lower() + message[1:],
            field=path.rstrip("`").lstrip("."),
            hint=f"`ragassay schema {kind.__name__.lower()}` prints what this record may hold",
        ) from None


def load_json(data: bytes | str) -> Any:
    """JSON values from bytes with duplicate keys, non-numbers and deep nesting refused (RecordError)."""
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
        return json.loads(data, object_pairs_hook=_pairs, parse_constant=_refuse_constant, parse_int=_parse_int)
    except json.JSONDecodeError as cause:
        raise RecordError(
            f"not JSON: {cause.msg} at line {cause.lineno} column {cause.colno}",
            hint="one JSON object a line, keys and text in double quotes",
        ) from None


def _parse_int(digits: str) -> int:
    if len(digits) > 400:
        raise RecordError("a number of more than 400 digits", hint="write it as text")
    return int(digits)


def _check_depth(text: str) -> None:
    depth = 0
    for bracket in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text, re.DOTALL):
        mark = bracket.group()[0]
        depth += 1 if mark in "[{" else -1 if mark in "]}" else 0
        if depth > MAX_DEPTH:
            raise RecordError(f"nested deeper than {MAX_DEPTH}", hint="records are flat; look for a repeated bracket")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RecordError("this key stands twice in one object", field=twice, hint="keep one of them")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise RecordError(f"{name} is not a number", hint="leave the key out if there is no value")


def snake(key: str) -> str:
    """`queryId` as `query_id`; snake_case stays."""
    return _HUMP.sub(lambda hump: "_" + hump.group(1).lower(), key)


@cache
def fields_of(kind: type[Record]) -> dict[str, Any]:
    """Stored key -> declared type of a record."""
    hints = get_type_hints(kind)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}


def _walk(kind: Any, value: Any, path: str) -> Any:
    """`value` with keys in stored form, checked for all that a type alone does not say."""
    if value is None:
        raise RecordError("null is not a value", field=path, hint="leave the key out")
    kind = _one_kind(kind, value)
    if isinstance(value, dict):
        if isinstance(kind, type) and issubclass(kind, Record):
            return _walk_record(kind, value, path)
        inner = get_args(kind)[1] if get_origin(kind) is dict else Any
        return {_walk(str, key, path): _walk(inner, item, _join(path, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        arguments = get_args(kind)
        inner = arguments[0] if arguments else Any
        return [_walk(inner, item, f"{path}[{number}]") for number, item in enumerate(value)]
    return _walk_scalar(value, path)


def _walk_record(kind: type[Record], value: dict[str, Any], path: str) -> dict[str, Any]:
    known = fields_of(kind)
    stored: dict[str, Any] = {}
    for key, item in value.items():
        name = key if key in known else snake(key)
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            raise RecordError(
                f"unknown field {key!r}",
                field=path,
                hint=f"did you mean {close[0]!r}?" if close else f"known fields: {', '.join(sorted(known))}",
            )
        if name in stored:
            raise RecordError("one key in two spellings", field=_join(path, name), hint="keep one of them")
        stored[name] = _walk(known[name], item, _join(path, name))
    return stored


def _walk_scalar(value: Any, path: str) -> Any:
    if isinstance(value, str):
        if not value.isascii() and re.search("[\ud800-\udfff]", value):
            raise RecordError("a lone surrogate is not text", field=path, hint="replace it by U+FFFD and set lossy")
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if abs(value) >= SAFE_INTEGER:
            raise RecordError("an integer of 2^53 or more", field=path, hint="write it as text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RecordError("not a finite number", field=path, hint="leave the key out if there is no value")
        return value + 0.0
    return value


def _one_kind(kind: Any, value: Any) -> Any:
    """Of a union, the member that a value of this shape can be."""
    if get_origin(kind) not in (Union, types.UnionType):
        return kind
    wanted = dict if isinstance(value, dict) else list if isinstance(value, list | tuple) else None
    for member in get_args(kind):
        origin = get_origin(member) or member
        if wanted is dict and isinstance(origin, type) and issubclass(origin, dict | Record):
            return member
        if wanted is list and origin in (tuple, list):
            return member
    return Any


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
