"""Documents from a parser of another package: its values are checked as a file's would be. Trusts none of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragassay.corpus.jsonl import clean_strings, document_from
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.errors import InputError, RagassayError, RecordError
from ragassay.extensions import Extension
from ragassay.records.canonical import snake
from ragassay.records.document import Document
from ragassay.records.text import many

_RESERVED = ("parser", "normaliser", "lossy", "raw")


def read_with(extension: Extension, path: Path, options: Options) -> Reading:
    """The documents that a parser yields for a path.

    A parser is a callable of one path that yields mappings with the fields of a document (`document_id` and `text` at
    least; `ragassay schema document` is what else there may be). What it cannot read it yields as an InputError with
    file and line, so that `on_error` decides; what ends it, it raises. The parser and the version of its distribution
    are recorded in every document, so they are part of the corpus digest.
    """
    intake = Intake(path, options, extension.name)
    number = 0
    try:
        for number, one in enumerate(_started(extension, path), 1):
            with intake.at(path):
                if isinstance(one, InputError):
                    raise one
                document, raw = document_of(one, options.tenants, extension.identity)
                intake.keep(document, file=path, line=number, raw=raw, whole=False)
    except RagassayError as error:
        raise error.at(file=str(path))  # noqa: B904  the same error, with its place
    except Exception as cause:  # code of others: whatever it raises is about its input
        raise InputError(
            f"parser {extension.identity} failed after {many(number, 'document')}: {type(cause).__name__}: {cause}",
            file=str(path),
            hint="report it to its authors; a parser says what is wrong with an InputError",
        ) from cause
    return intake.settle(f"parser {extension.identity} yielded nothing")


def document_of(value: Any, tenants: tuple[str, ...] | None, identity: str) -> tuple[Document, bytes | None]:
    """The document of one mapping, and the bytes of its text if something of it was lost."""
    if not isinstance(value, Mapping):
        raise RecordError(f"a parser yielded {type(value).__name__}", hint="a mapping with document_id and text")
    for key in value:
        if not isinstance(key, str) or snake(key) in _RESERVED:
            raise RecordError(f"a parser may not set {key!r}", hint="ragassay fills it in: it says who made the text")
    whole, lossy = clean_strings(dict(value))
    raw = str(value.get("text", "")).encode("utf-8", "surrogatepass") if lossy else None
    return document_from(whole, tenants, parser=identity, raw=raw), raw


def _started(extension: Extension, path: Path) -> Iterable[Any]:
    if not callable(extension.value):
        raise InputError(f"{extension.identity} is not callable", hint="a parser is a callable of one path")
    yielded: Iterable[Any] = extension.value(path)
    return yielded
