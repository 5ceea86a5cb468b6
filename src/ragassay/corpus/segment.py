"""A corpus to passages, recorded as a segmentation. Reads no file and ranks nothing."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ragassay.corpus import markdown, tokens
from ragassay.corpus.words import TOKENIZER
from ragassay.errors import IntegrityError, UsageError
from ragassay.records.base import Digest, Metadata, PassageId, Scalar
from ragassay.records.canonical import digest_of, digest_set, digest_text
from ragassay.records.document import Corpus, Document, Passage, Segmentation, Span, Transform

if TYPE_CHECKING:
    from ragassay.store import Store

_LONGEST_ID = 300


class Chunker(NamedTuple):
    """One way to cut a document, with all that its parameters may be."""

    version: str
    cut: Callable[[Document, int, int], Iterator[Passage]]
    defaults: dict[str, Scalar]
    """Parameter -> default; `size` and `overlap` are whole numbers of word tokens, the rest is fixed and recorded."""


def _by_tokens(document: Document, size: int, overlap: int) -> Iterator[Passage]:
    for start, end in tokens.split(document.text, size=size, overlap=overlap):
        yield _passage(document, start, end, ())


def _by_markdown(document: Document, size: int, overlap: int) -> Iterator[Passage]:
    for piece in markdown.split(document.text, size=size, overlap=overlap):
        yield _passage(document, piece.start, piece.end, piece.headings)


CHUNKERS: dict[str, Chunker] = {
    "tokens": Chunker(tokens.VERSION, _by_tokens, {"size": 120, "overlap": 20}),
    "markdown": Chunker(markdown.VERSION, _by_markdown, {"size": 160, "overlap": 0}),
}
"""Name -> chunker. `tokens` is of fixed size; `markdown` follows headings, tables and code."""
_FIXED: dict[str, dict[str, Scalar]] = {
    "tokens": {"tokenizer": TOKENIZER},
    "markdown": {"tokenizer": TOKENIZER, "headings": "inherited", "tables": "whole", "code": "whole"},
}


def chunk(documents: Iterable[Document], *, chunker: str = "tokens", **parameters: Scalar) -> list[Passage]:
    """The passages of documents, in document order, without storing anything; arguments as `segment`."""
    chosen = _chosen(chunker)
    size, overlap = _sizes(chunker, parameters)
    return [passage for document in documents for passage in chosen.cut(document, size, overlap)]


def segment(
    store: Store,
    corpus: Corpus,
    documents: Iterable[Document],
    *,
    chunker: str = "tokens",
    name: str,
    **parameters: Scalar,
) -> tuple[Segmentation, Digest]:
    """Cut documents and store the result under the ref `segmentation/NAME`; the digest is that of the record.

    Parameters are `size` and `overlap`, in word tokens (`word/1`), with `overlap < size`. Every passage's sources are
    exact code point spans of stored text. UsageError for an unknown chunker or parameter.
    """
    passages = chunk(documents, chunker=chunker, **parameters)
    size, overlap = _sizes(chunker, parameters)
    recorded: Metadata = {"size": size, "overlap": overlap, **_FIXED[chunker]}
    segmentation = Segmentation(
        corpus=corpus.digest,
        chunker=chunker,
        chunker_version=_chosen(chunker).version,
        parameters=recorded,
        passages=len(passages),
        passages_digest=digest_set(digest_of(one) for one in passages),
        blob=store.put_lines(passages),
    )
    digest = store.put_record(segmentation)
    store.set_ref(f"segmentation/{name}", digest, kind="segmentation")
    return segmentation, digest


def load_passages(store: Store, segmentation: Segmentation) -> list[Passage]:
    """The passages of a segmentation in document order, checked against its digest (IntegrityError)."""
    passages = list(store.get_lines(Passage, segmentation.blob))
    if digest_set(digest_of(one) for one in passages) != segmentation.passages_digest:
        raise IntegrityError(
            "the stored passages are not those that the segmentation names",
            hint="`ragassay store check` names damaged objects; segment the corpus again",
        )
    return passages


def _chosen(chunker: str) -> Chunker:
    if chunker not in CHUNKERS:
        close = difflib.get_close_matches(chunker, CHUNKERS, n=1)
        raise UsageError(
            f"unknown chunker {chunker!r}",
            field="chunker",
            hint=f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(CHUNKERS)}",
        )
    return CHUNKERS[chunker]


def _sizes(chunker: str, parameters: dict[str, Scalar]) -> tuple[int, int]:
    known = _chosen(chunker).defaults
    for name in parameters:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise UsageError(
                f"chunker {chunker!r} has no parameter {name!r}",
                field=name,
                hint=f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(known)}",
            )
    values: dict[str, int] = {}
    for name, default in known.items():
        value = parameters.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(f"{value!r} is not a whole number", field=name, hint="a number of word tokens")
        values[name] = value
    size = values["size"]
    if size < 1:
        raise UsageError(f"size is {size}; a passage has at least one token", field="size", hint="for example 120")
    if "overlap" not in parameters:
        values["overlap"] = min(values["overlap"], size - 1)
    if not 0 <= values["overlap"] < size:
        raise UsageError(
            f"overlap is {values['overlap']}; it must be from 0 to less than size ({size})",
            field="overlap",
            hint="for example a sixth of size",
        )
    return size, values["overlap"]


def _passage(document: Document, start: int, end: int, headings: tuple[tuple[int, int], ...]) -> Passage:
    text = document.text
    spans = tuple(
        Span(document_id=document.document_id, version=document.version, start=first, end=last)
        for first, last in (*headings, (start, end))
    )
    above = "".join(f"{text[first:last]}\n" for first, last in headings)
    transform: Transform = "decorated" if headings else "slice"
    return Passage(
        passage_id=_passage_id(document, start, end),
        text=f"{above}\n{text[start:end]}" if headings else text[start:end],
        sources=spans,
        transform=transform,
    )


def _passage_id(document: Document, start: int, end: int) -> PassageId:
    """`document@version:start-end`, shortened by a digest where that would be too long for an item's id."""
    whole = f"{document.document_id}@{document.version}"
    if len(whole) > _LONGEST_ID:
        whole = f"{whole[:64]}~{digest_text(whole).removeprefix('sha256:')}"
    return PassageId(f"{whole}:{start}-{end}")
