"""The contract of a chunker (entry point group `ragassay.chunkers`), for its author to run. Installs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ragassay.contracts.faults import HOSTILE_TEXTS, broken, name_of
from ragassay.corpus.segment import chunk_with
from ragassay.errors import RagassayError
from ragassay.extensions import Extension
from ragassay.records.base import DocumentId
from ragassay.records.document import Document

_KIND = "chunker"


def check_chunker(
    chunker: Callable[..., Iterable[tuple[int, int]]], examples: Iterable[str], *, covers: bool = True
) -> None:
    """Call a chunker as `ragassay corpus add` would, on your texts and on hostile ones.

    A chunker is `split(text, *, parameter=whole number, ...)` and returns the start and end of each passage in code
    points of the text. Promises: spans lie in the text, are not empty, not white space only, not there twice, and in
    the order of their starts; a text without letters may have none; the same text gives the same spans; with `covers`
    (the default) every character that is not white space is in a span, since what is in none can never be retrieved;
    nothing is raised for any text.

    Raises ContractError for the first promise that is broken.
    """
    name = name_of(chunker)
    extension = Extension(name, "contract", "0", chunker)
    given = list(examples)
    if not given or not any(one.strip() for one in given):
        broken(_KIND, name, "was given no text to cut", "give examples: texts as your documents hold them")
    for text in (*given, *HOSTILE_TEXTS):
        first, again = _spans(name, extension, text), _spans(name, extension, text)
        shown = repr(text if len(text) < 60 else text[:57] + "...")
        if first != again:
            broken(
                _KIND, name, f"cuts {shown} differently the second time", "let nothing but text and parameters decide"
            )
        starts = [start for start, _ in first]
        if starts != sorted(starts):
            broken(_KIND, name, f"spans of {shown} are not in the order of their starts", "sort them")
        for start, end in first:
            if not text[start:end].strip():
                broken(_KIND, name, f"span {start}-{end} of {shown} is white space only", "leave such spans out")
        if covers:
            _check_cover(name, text, first, shown)
        if text in given and text.strip() and not first:
            broken(_KIND, name, f"makes nothing of {shown}", "a text with letters has at least one passage")


def _spans(name: str, extension: Extension, text: str) -> list[tuple[int, int]]:
    document = Document(
        document_id=DocumentId("d"), version="1", text=text, parser="contract/1", normaliser="none/1", tenants=("*",)
    )
    try:
        passages = chunk_with(extension, [document])
    except RagassayError as error:
        raise _as_fault(name, error) from error
    return [(one.sources[0].start, one.sources[0].end) for one in passages]


def _as_fault(name: str, error: RagassayError) -> Exception:
    try:
        broken(_KIND, name, error.message, error.hint)
    except RagassayError as fault:
        return fault


def _check_cover(name: str, text: str, spans: list[tuple[int, int]], shown: str) -> None:
    at: Any = 0
    for start, end in [*spans, (len(text), len(text))]:
        lost = text[at:start].strip() if start > at else ""
        if lost:
            broken(
                _KIND, name, f"no span of {shown} holds {lost[:40]!r}",
                "cover all of the text, or call check_chunker with covers=False if it leaves text out on purpose",
            )  # fmt: skip
        at = max(at, end)
