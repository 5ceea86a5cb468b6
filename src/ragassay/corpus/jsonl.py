"""Documents from JSON lines, strictly: an unknown field is an error, nothing but text encoding is repaired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragassay.corpus.lines import lines_of, raw_lines
from ragassay.corpus.reading import Intake, OnError, Options, Reading
from ragassay.errors import RecordError
from ragassay.records.canonical import SAFE_INTEGER, digest_bytes, load_json, parse_value, snake
from ragassay.records.document import Document
from ragassay.records.text import clean, instant

__all__ = ["clean_strings", "document_from", "lines_of", "object_from", "read_jsonl"]

PARSER = "jsonl/1"
NORMALISER = "none/1"
HINT = 'one line: {"document_id": "a", "text": "…"}'


def read_jsonl(
    path: str | Path, *, default_tenants: Sequence[str] | None = None, on_error: OnError = "stop"
) -> Reading:
    """Documents of a file with one JSON object a line, in snake_case or camelCase; blank lines are skipped.

    Needed are `document_id` and `text` (which may be empty); `version` is `"1"` unless given; dates become instants;
    metadata loses its nulls and turns integers of 2^53 or more into text. A document that names no `tenants` gets
    `default_tenants`, and without those stays closed to everybody. Text that is not valid Unicode is kept with U+FFFD,
    `lossy` is set and the raw line stands in `Reading.raws`. A file packed with gzip is unpacked.

    Raises InputError or RecordError with file, line and field at the first line that is wrong: one (document_id,
    version) twice, an unknown field, a value of another type, no document at all. With `on_error="skip"` such lines
    are left out and listed in `Reading.skipped`.
    """
    intake = Intake(Path(path), Options(default_tenants=default_tenants, on_error=on_error), "jsonl")
    take_lines(intake, Path(path), _document)
    return intake.settle(HINT)


def take_lines(
    intake: Intake, path: Path, make: Callable[[bytes, tuple[str, ...] | None], Document], *, packed: bool = True
) -> None:
    """Give each line of a file that is not blank to `make`, and what it makes to the intake."""
    for number, line in raw_lines(path, intake.broken, packed=packed):
        raw = line.rstrip(b"\r\n")
        if raw.strip():
            with intake.at(path, number):
                intake.keep(make(raw, intake.options.tenants), file=path, line=number, raw=raw)


def object_from(raw: bytes) -> tuple[dict[str, Any], bool]:
    """The JSON object of a line in valid Unicode, and whether something was lost on the way."""
    text, undecodable = clean(raw)
    value, unpaired = clean_strings(load_json(text))
    if not isinstance(value, dict):
        raise RecordError("not a JSON object", hint=f"one document a line: {HINT.removeprefix('one line: ')}")
    return value, undecodable or unpaired


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


def document_from(
    value: dict[str, Any],
    tenants: tuple[str, ...] | None,
    *,
    parser: str,
    normaliser: str = NORMALISER,
    raw: bytes | None = None,
) -> Document:
    """A document from its fields; those that are left out get their defaults. `raw` says that text was lost, of what.

    Dates become instants, metadata loses its nulls and turns integers of 2^53 or more into text.
    """
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
    defaults: dict[str, Any] = {"version": "1", "parser": parser, "normaliser": normaliser}
    if tenants is not None:
        defaults["tenants"] = list(tenants)
    value.update({name: default for name, default in defaults.items() if name not in given})
    if raw is not None:
        for name in ("lossy", "raw"):
            value.pop(given.get(name, name), None)
        value.update(lossy=True, raw=digest_bytes(raw))
    return parse_value(Document, value)


def _document(raw: bytes, tenants: tuple[str, ...] | None) -> Document:
    value, lossy = object_from(raw)
    return document_from(value, tenants, parser=PARSER, raw=raw if lossy else None)


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    return {key: _safe(item) for key, item in value.items() if item is not None}


def _safe(value: Any) -> Any:
    if isinstance(value, list):
        return [_safe(item) for item in value if item is not None]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= SAFE_INTEGER:
        return str(value)
    return value
