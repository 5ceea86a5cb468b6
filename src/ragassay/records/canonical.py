"""Records to canonical bytes (RFC 8785) and back, strictly. Does no I/O and repairs nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
import rfc8785

from ragassay.errors import RecordError
from ragassay.records.base import Digest, Record
from ragassay.records.plain_json import NotPlain, encode_plain
from ragassay.records.shape import SAFE_INTEGER, fields_of, reader_of, snake
from ragassay.records.strict_json import MAX_BYTES, MAX_DEPTH, load_json
from ragassay.records.text import is_digest, shown

__all__ = [
    "MAX_BYTES", "MAX_DEPTH", "SAFE_INTEGER", "canonical_bytes", "digest_bytes", "digest_of", "digest_set",
    "digest_text", "fields_of", "is_digest", "load_json", "parse", "parse_value", "snake",
]  # fmt: skip

T = TypeVar("T", bound=Record)


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a record or of plain JSON values; the same for every equal record.

    Raises RecordError for NaN, infinities, integers of 2^53 or more and lone surrogates.
    """
    try:
        builtins = msgspec.to_builtins(value, order="deterministic")
        try:
            return encode_plain(builtins)
        except NotPlain:
            return rfc8785.dumps(builtins)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError, TypeError) as cause:
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
    """The digest of a text's UTF-8 bytes. Raises RecordError for a lone surrogate (see `records.text.clean`)."""
    try:
        return digest_bytes(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise RecordError("a lone surrogate is not text", hint="replace it by U+FFFD and set lossy") from None


def digest_set(digests: Iterable[str]) -> Digest:
    """The digest of a set of digests: SHA-256 over the sorted lines, each ended by a newline."""
    return digest_bytes("".join(f"{one}\n" for one in sorted(digests)).encode())


def parse(kind: type[T], data: bytes | str, *, file: str = "", line: int | None = None) -> T:
    """One record from JSON bytes, in snake_case or camelCase; `parse(kind, canonical_bytes(record)) == record`.

    Besides camelCase, two spellings are read and stored in one form: an instant may be a date or have an offset, and
    `3.0` is the integer `3`. Raises RecordError (with file, line and field) on anything but exactly one record of this
    kind: a key twice or in two spellings, an unknown field, null, NaN, an integer of 2^53 or more, a lone surrogate,
    a digest that is none, nesting deeper than MAX_DEPTH, more than MAX_BYTES, trailing text.
    """
    try:
        return parse_value(kind, load_json(data))
    except RecordError as error:
        raise error.at(file=file, line=line)  # noqa: B904  the same error, with its place


def parse_value(kind: type[T], value: Any) -> T:
    """One record from JSON values already loaded by `load_json` or built in memory; same rules as `parse`."""
    checked = reader_of(kind)(value)
    try:
        return msgspec.convert(checked, kind, strict=True)
    except msgspec.ValidationError as cause:
        head, mark, path = str(cause).rpartition(" - at `$")
        message = (head if mark else path).replace(" | null`", "`", 1)
        raise RecordError(
            shown(message[:1].lower() + message[1:], limit=400),
            field=path.rstrip("`").lstrip(".") if mark else "",
            hint=f"`ragassay schema {kind.__name__.lower()}` prints what this record may hold",
        ) from None
