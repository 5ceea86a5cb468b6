"""Documents from JSON lines, strictly: an unknown field is an error, nothing but text encoding is repaired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragassay.corpus.reading import Reading
from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import MAX_BYTES, SAFE_INTEGER, digest_bytes, load_json, parse_value, snake
from ragassay.records.document import Document
from ragassay.records.text import clean, instant

PARSER = "jsonl/1"
NORMALISER = "none/1"
_AS_UTF8 = "save it as UTF-8"
_OTHER_KINDS = (
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: unzstd"),
    (b"PK\x03\x04", "a zip archive", "unpack it first, and name a file of it"),
    (b"\xff\xfe", "not UTF-8 but UTF-16 or UTF-32", _AS_UTF8),
    (b"\xfe\xff", "not UTF-8 but UTF-16", _AS_UTF8),
)
"""What the first bytes of a file say, and what to do about it."""


def read_jsonl(path: str | Path, *, default_tenants: Sequence[str] | None = None) -> Reading:
    """Documents of a file with one JSON object a line, in snake_case or camelCase; blank lines are skipped.

    Needed are `document_id` and `text` (which may be empty); `version` is `"1"` unless given; dates become instants;
    metadata loses its nulls and turns integers of 2^53 or more into text. A document that names no `tenants` gets
    `default_tenants`, and without those stays closed to everybody. Text that is not valid Unicode is kept with U+FFFD,
    `lossy` is set and the raw line stands in `Reading.raws`.

    Raises InputError or RecordError with file, line and field at the first line that is wrong: one (document_id,
    version) twice, an unknown field, a value of another type, no document at all.
    """
    path = Path(path)
    tenants = tuple(default_tenants) if default_tenants is not None else None
    found = Reading(default_tenants=tenants)
    seen: dict[tuple[str, str], int] = {}
    for number, raw in lines_of(path):
        try:
            document, lossy = _document(raw, tenants)
        except RecordError as error:
            raise error.at(file=str(path), line=number)  # noqa: B904  the same error, with its place
        key = (document.document_id, document.version)
        if key in seen:
            raise InputError(
                f"document {key[0]!r} version {key[1]!r} stands on line {seen[key]} and on line {number}",
                file=str(path),
                line=number,
                field="document_id",
                hint="give each version of a document its own `version`, or remove one of the two lines",
            )
        seen[key] = number
        if lossy:
            found.raws[digest_bytes(raw)] = raw
        found.append(document)
    if not found:
        raise InputError("no document in this file", file=str(path), hint='one line: {"document_id": "a", "text": "…"}')
    return found


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line number and bytes (without the line end) of each line that is not blank; InputError if it cannot be read."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_BYTES + 1):
                number += 1
                if number == 1:
                    _check_beginning(line, path)
                if len(line) > MAX_BYTES:
                    raise InputError(
                        f"a line of more than {MAX_BYTES} bytes",
                        file=str(path),
                        line=number,
                        hint="one JSON object a line; split a document of this size into several",
                    )
                if line.strip():
                    yield number, line.rstrip(b"\r\n")
    except (OSError, ValueError) as cause:  # ValueError: a NUL in the path
        why = getattr(cause, "strerror", None) or cause
        raise InputError(f"cannot be read: {why}", file=str(path), hint="check the path and its permissions") from cause


def _check_beginning(line: bytes, path: Path) -> None:
    """InputError for a file whose first bytes say that it holds no lines of JSON in UTF-8."""
    for mark, what, hint in _OTHER_KINDS:
        if line.startswith(mark):
            raise InputError(what, file=str(path), line=1, hint=hint)


def clean_strings(value: Any) -> tuple[Any, bool]:
    """JSON values with every text made valid Unicode, and whether something was lost on the way."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        pairs = [clean_strings(item) for item in value]
        return [item for item, _ in pairs], any(lossy for _, lossy in pairs)
    if isinstance(value, dict):
        whole: dict[str, Any] = {}
        any_lossy = False
        for key, item in value.items():
            (stored_key, key_lossy), (stored, lossy) = clean(key), clean_strings(item)
            if stored_key in whole:
                raise RecordError("two keys become one when made valid Unicode", field=stored_key, hint="rename one")
            whole[stored_key] = stored
            any_lossy = any_lossy or lossy or key_lossy
        return whole, any_lossy
    return value, False


def _document(raw: bytes, default_tenants: tuple[str, ...] | None) -> tuple[Document, bool]:
    text, undecodable = clean(raw)
    value, unpaired = clean_strings(load_json(text))
    if not isinstance(value, dict):
        raise RecordError("not a JSON object", hint='one document a line: {"document_id": "a", "text": "…"}')
    lossy = undecodable or unpaired
    given = {snake(key): key for key in value}
    for name in ("valid_from", "valid_until"):
        key = given.get(name)
        if key is not None and isinstance(value[key], str):
            try:
                value[key] = instant(value[key])
            except RecordError as error:
                raise error.at(field=name)  # noqa: B904  the same error, with its place
    if isinstance(value.get("metadata"), dict):
        value["metadata"] = _metadata(value["metadata"])
    defaults: dict[str, Any] = {"version": "1", "parser": PARSER, "normaliser": NORMALISER}
    if default_tenants is not None:
        defaults["tenants"] = list(default_tenants)
    value.update({name: default for name, default in defaults.items() if name not in given})
    if lossy:
        for name in ("lossy", "raw"):
            value.pop(given.get(name, name), None)
        value.update(lossy=True, raw=digest_bytes(raw))
    return parse_value(Document, value), lossy


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    return {key: _safe(item) for key, item in value.items() if item is not None}


def _safe(value: Any) -> Any:
    if isinstance(value, list):
        return [_safe(item) for item in value if item is not None]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= SAFE_INTEGER:
        return str(value)
    return value
