"""From whatever a system returned to a `Response`, leniently where declared. Resolves nothing and stores nothing."""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec

from ragassay.records.base import Metadata, Record
from ragassay.records.canonical import SAFE_INTEGER, fields_of, snake
from ragassay.records.text import clean
from ragassay.run.contract import ContextItem, Response

MAX_ENTRIES = 100_000
"""Entries of one list; more is an invalid response."""


_T = TypeVar("_T")
_MOST_DEPTH = 60
_ID_ENDS = (".id", "_id", ".version", "]")
"""Ids, and entries of lists, may be numbers: they are read as text."""


class InvalidResponseError(Exception):
    """The value is not a response; `field` is the stable name of what was wrong."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


class Reading(NamedTuple):
    """A response, and the paths at which something could not be kept (invalid Unicode, a score that is no number)."""

    response: Response
    lossy: frozenset[str]

    def lost_at(self, path: str) -> bool:
        """Whether something at this path or below it was lost."""
        return any(one == path or one.startswith((path + ".", path + "[")) for one in self.lossy)


def read_response(value: Any) -> Reading:
    """A `Response` from plain values, dataclasses, pydantic-like objects or records; InvalidResponseError otherwise.

    A list is `contexts`, a text is `answer`. Keys may be camelCase; null means absent; undeclared keys are ignored;
    numbers that are not finite are dropped and invalid Unicode becomes U+FFFD, both marked as lossy.
    """
    lossy: set[str] = set()
    try:
        found = _unwrap(value)
        if isinstance(found, str):
            found = {"answer": found}
        elif isinstance(found, list | tuple):
            found = {"contexts": found}
        if not isinstance(found, Mapping):
            raise InvalidResponseError("response", f"expected an object, a list or a text, got {type(value).__name__}")
        plain = _record(Response, found, "", lossy)
        if not plain:
            known = ", ".join(sorted(fields_of(Response)))
            raise InvalidResponseError("response", f"none of the declared fields is there ({known}); map them")
        return Reading(msgspec.convert(plain, Response, strict=True), frozenset(lossy))
    except msgspec.ValidationError as cause:
        message, _, path = str(cause).partition(" - at `$")
        raise InvalidResponseError(path.rstrip("`").lstrip(".") or "response", message) from None
    except InvalidResponseError:
        raise
    except (Exception, SystemExit) as cause:  # noqa: BLE001  the code of a foreign value may raise anything
        raise InvalidResponseError("response", f"reading it raised {type(cause).__name__}") from None


def plain_value(value: Any) -> Any:
    """Mappings, lists and scalars only: objects that carry fields become mappings, arrays become lists.

    What is none of these stays, for `read_response` to refuse by name. InvalidResponseError if nested without end, if
    a part has more than MAX_ENTRIES entries, or if the value's own code fails while it is read.
    """
    try:
        return _plain(value, 0)
    except InvalidResponseError:
        raise
    except (Exception, SystemExit) as cause:  # noqa: BLE001  the code of a foreign value may raise anything
        raise InvalidResponseError("response", f"reading it raised {type(cause).__name__}") from None


def _plain(value: Any, depth: int) -> Any:
    if depth > _MOST_DEPTH:
        raise InvalidResponseError("response", f"nested deeper than {_MOST_DEPTH}")
    found = _unwrap(value)
    if isinstance(found, Mapping):
        return {_key(key): _plain(one, depth + 1) for key, one in _counted(found.items())}
    if isinstance(found, list | tuple):
        return [_plain(one, depth + 1) for one in found]
    return found


def _key(key: Any) -> str:
    return str.__str__(key) if isinstance(key, str) else str(key)


def _counted(entries: Iterable[_T]) -> Iterator[_T]:
    """The entries, or InvalidResponseError when there are too many: what a system returns may have no end."""
    for number, one in enumerate(entries):
        if number >= MAX_ENTRIES:
            raise InvalidResponseError("response", f"more than {MAX_ENTRIES} entries in one part")
        yield one


def _unwrap(value: Any) -> Any:
    """Objects that carry fields, as mappings; arrays, as lists; all else as it is."""
    if isinstance(value, str):
        return str.__str__(value)  # what subclasses add is not read
    if isinstance(value, Mapping | list | tuple | bool) or value is None:
        return value
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, msgspec.Struct):
        return {field.name: getattr(value, field.name) for field in msgspec.structs.fields(type(value))}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for method in ("model_dump", "tolist"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    if isinstance(value, Sequence):
        return list(_counted(value))
    return value


def _record(kind: type[Record], value: Mapping[Any, Any], path: str, lossy: set[str]) -> dict[str, Any]:
    known = fields_of(kind)
    found: dict[str, Any] = {}
    for key, one in value.items():
        if not isinstance(key, str) or one is None:
            continue
        name = key if key in known else snake(key)
        if kind is ContextItem and name == "item_id":
            name = "id"
        if kind is Response and name in ("context", "ids"):
            name = "contexts"
        if name not in known:
            continue
        where = f"{path}.{name}" if path else name
        if name in found:
            raise InvalidResponseError(where, "given twice in two spellings")
        if known[name] is not Any and (read := _walk(known[name], one, where, lossy)) is not None:
            found[name] = read
    return found


def _walk(kind: Any, value: Any, path: str, lossy: set[str]) -> Any:
    kinds = _members(kind)
    if type(value) is not str:
        value = _unwrap(value)
    if kinds == (Metadata,):
        return _metadata(value, path, lossy)
    if isinstance(value, Mapping):
        return _walk_mapping(kinds, value, path, lossy)
    if isinstance(value, list | tuple):
        if len(value) > MAX_ENTRIES:
            raise InvalidResponseError(path, f"{len(value)} entries; the most is {MAX_ENTRIES}")
        inner = next((get_args(one)[0] for one in kinds if get_origin(one) is tuple), None)
        if inner is None:
            raise InvalidResponseError(path, "a list where none is expected")
        entries = (_walk(inner, one, f"{path}[{number}]", lossy) for number, one in enumerate(value))
        return ["" if one is None else one for one in entries]
    return _scalar(kinds, value, path, lossy)


@cache
def _members(kind: Any) -> tuple[Any, ...]:
    """The members of a union, `Annotated` taken off."""
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(one for part in get_args(kind) if part is not type(None) for one in _members(part))
    if hasattr(kind, "__metadata__"):
        return _members(kind.__origin__)
    return (kind,)


def _walk_mapping(kinds: tuple[Any, ...], value: Mapping[Any, Any], path: str, lossy: set[str]) -> Any:
    for one in kinds:
        if isinstance(one, type) and issubclass(one, Record):
            return _record(one, value, path, lossy)
        if get_origin(one) is dict:
            return {
                _text(str(key), path, lossy): _text(str(item), f"{path}.{key}", lossy)
                for key, item in value.items()
                if item is not None
            }
    raise InvalidResponseError(path, "an object where none is expected")


def _scalar(kinds: tuple[Any, ...], value: Any, path: str, lossy: set[str]) -> Any:
    if isinstance(value, str):
        return _text(value, path, lossy)
    if isinstance(value, bool) or value is None:
        return value
    wants_text = str in kinds and path.endswith(_ID_ENDS)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if not wants_text and float not in kinds and abs(whole) >= SAFE_INTEGER:
            raise InvalidResponseError(path, "a whole number of 2^53 or more")
        return str(whole) if wants_text else float(whole) if float in kinds else whole
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            lossy.add(path)
            return None
        return int(number) if int in kinds and number.is_integer() and abs(number) < SAFE_INTEGER else number + 0.0
    raise InvalidResponseError(path, f"a value of type {type(value).__name__}")


def _text(value: str, path: str, lossy: set[str]) -> str:
    found = clean(value)
    if found.lossy:
        lossy.add(path)
    return found.text


def _metadata(value: Any, path: str, lossy: set[str]) -> dict[str, Any]:
    """Flat facts; what is nested is kept as JSON text."""
    if not isinstance(value, Mapping):
        raise InvalidResponseError(path, "expected an object")
    return {
        _text(str(key), path, lossy): _flat(one, f"{path}.{key}", lossy)
        for key, one in value.items()
        if one is not None
    }


def _flat(value: Any, path: str, lossy: set[str]) -> Any:
    if isinstance(value, str):
        return _text(value, path, lossy)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < SAFE_INTEGER else str(value)
    if isinstance(value, float) and math.isfinite(value):
        return value + 0.0
    try:
        return _text(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str), path, lossy)
    except (TypeError, ValueError) as cause:
        raise InvalidResponseError(path, str(cause)) from None
