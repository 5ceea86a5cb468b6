"""A corpus to passages, recorded as a segmentation. Reads no file and ranks nothing."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragassay.corpus import markdown, sentences, tokens
from ragassay.corpus.words import TOKENIZER
from ragassay.errors import InputError, IntegrityError, UsageError
from ragassay.extensions import CHUNKERS as CHUNKER_GROUP
from ragassay.extensions import Extension, extension_names, load_extension, unknown_name
from ragassay.records.base import Digest, Metadata, PassageId, Scalar
from ragassay.records.canonical import digest_of, digest_set, digest_text
from ragassay.records.document import Corpus, Document, Passage, Segmentation, Span, Transform
from ragassay.records.text import many

if TYPE_CHECKING:
    from ragassay.store import Store

_LONGEST_ID = 300


class Chunker(NamedTuple):
    """One way to cut a document, with all that its parameters may be."""

    version: str
    cut: Callable[[Document, Mapping[str, int]], Iterator[Passage]]
    defaults: dict[str, int]
    """Parameter -> default; whole numbers."""
    fixed: dict[str, Scalar]
    """What cannot be chosen and is recorded."""
    check: Callable[[dict[str, int], Mapping[str, Scalar]], None] | None = None
    """Raises UsageError for values that contradict each other; `given` are those that were asked for."""


def _by_tokens(document: Document, told: Mapping[str, int]) -> Iterator[Passage]:
    for start, end in tokens.split(document.text, size=told["size"], overlap=told["overlap"]):
        yield _passage(document, start, end, ())


def _by_markdown(document: Document, told: Mapping[str, int]) -> Iterator[Passage]:
    for piece in markdown.split(document.text, size=told["size"], overlap=told["overlap"]):
        yield _passage(document, piece.start, piece.end, piece.headings)


def _by_sentences(document: Document, told: Mapping[str, int]) -> Iterator[Passage]:
    for start, end in sentences.windows(document.text, **told):
        yield _passage(document, start, end, ())


def _check_sizes(values: dict[str, int], given: Mapping[str, Scalar]) -> None:
    size = values["size"]
    if size < 1:
        raise UsageError(f"size is {size}; a passage has at least one token", field="size", hint="for example 120")
    if "overlap" not in given:
        values["overlap"] = min(values["overlap"], size - 1)
    if not 0 <= values["overlap"] < size:
        raise UsageError(
            f"overlap is {values['overlap']}; it must be from 0 to less than size ({size})",
            field="overlap",
            hint="for example a sixth of size",
        )


def _check_windows(values: dict[str, int], given: Mapping[str, Scalar]) -> None:
    for name in ("window", "longest"):
        if values[name] < 1:
            raise UsageError(f"{name} is {values[name]}; at least 1", field=name, hint="for example 5 sentences")
    if "stride" not in given:
        values["stride"] = min(values["stride"], values["window"])
    if not 1 <= values["stride"] <= values["window"]:
        raise UsageError(
            f"stride is {values['stride']}; it must be from 1 to window ({values['window']})",
            field="stride",
            hint="a longer stride would lose sentences; window - stride are shared by neighbours",
        )


CHUNKERS: dict[str, Chunker] = {
    "tokens": Chunker(tokens.VERSION, _by_tokens, {"size": 120, "overlap": 20}, {"tokenizer": TOKENIZER}, _check_sizes),
    "markdown": Chunker(
        markdown.VERSION,
        _by_markdown,
        {"size": 160, "overlap": 0},
        {"tokenizer": TOKENIZER, "headings": "inherited", "tables": "whole", "code": "whole"},
        _check_sizes,
    ),
    "sentences": Chunker(
        sentences.VERSION,
        _by_sentences,
        {"window": 5, "stride": 3, "longest": 80},
        {"tokenizer": TOKENIZER, "sentences": sentences.RULE},
        _check_windows,
    ),
}
"""Name -> chunker: of fixed size; by headings, tables and code; by windows of sentences.

Installed packages add more by the entry point group `ragassay.chunkers`.
"""


def chunker_of(name: str) -> Chunker:
    """A chunker of `CHUNKERS` or of an installed package (UsageError if there is none of this name)."""
    if name in CHUNKERS:
        return CHUNKERS[name]
    extension = load_extension(CHUNKER_GROUP, name)
    if extension is None:
        raise unknown_name("chunker", name, [*CHUNKERS, *extension_names(CHUNKER_GROUP)], CHUNKER_GROUP)
    return extended(extension)


def extended(extension: Extension) -> Chunker:
    """A chunker of another package as one of these.

    It is a callable of one text and of whole numbers by keyword, each with a default: these are its parameters. It
    returns the start and end of each passage, so every passage is an exact slice. Its distribution and version are
    its version in the record.
    """
    told = _parameters(extension)

    def cut(document: Document, values: Mapping[str, int]) -> Iterator[Passage]:
        for start, end in _spans(extension, document.text, values):
            yield _passage(document, start, end, ())

    version = f"{extension.distribution}/{extension.version}"
    return Chunker(version, cut, told, {})


def chunk_with(extension: Extension, documents: Iterable[Document], **parameters: Scalar) -> list[Passage]:
    """The passages that a chunker of another package makes, whether or not it is installed."""
    chosen = extended(extension)
    told = _told(extension.name, chosen, parameters)
    return [passage for document in documents for passage in chosen.cut(document, told)]


def _parameters(extension: Extension) -> dict[str, int]:
    if not callable(extension.value):
        raise UsageError(f"{extension.identity} is not callable", field="chunker", hint="a callable of one text")
    told = {}
    for name, one in list(inspect.signature(extension.value).parameters.items())[1:]:
        if not isinstance(one.default, int) or isinstance(one.default, bool):
            raise UsageError(
                f"parameter {name!r} of {extension.identity} has no whole number as default",
                field="chunker",
                hint="every parameter but the text is a whole number with a default",
            )
        if name in ("store", "corpus", "documents", "chunker", "name", "parameters"):
            raise UsageError(
                f"{extension.identity} may not name a parameter {name!r}", field="chunker", hint="rename it"
            )
        told[name] = one.default
    return told


def _spans(extension: Extension, text: str, values: Mapping[str, int]) -> list[tuple[int, int]]:
    """What an extension returned, checked; InputError if it failed or if a span is not in the text."""
    hint = "report it to its authors; `ragassay.contracts.chunker.check_chunker` finds such faults"
    try:
        spans = [(start, end) for start, end in extension.value(text, **values)]
    except Exception as cause:
        raise InputError(
            f"chunker {extension.identity} failed: {type(cause).__name__}: {cause}", field="chunker", hint=hint
        ) from cause
    for start, end in spans:
        whole = all(isinstance(one, int) and not isinstance(one, bool) for one in (start, end))
        if not whole or not 0 <= start < end <= len(text):
            raise InputError(
                f"chunker {extension.identity} returned ({start!r}, {end!r}) for a text of "
                f"{many(len(text), 'character')}",
                field="chunker",
                hint=hint,
            )
    if len(set(spans)) != len(spans):
        raise InputError(f"chunker {extension.identity} returned a span twice", field="chunker", hint=hint)
    return spans


def chunk(documents: Iterable[Document], *, chunker: str = "tokens", **parameters: Scalar) -> list[Passage]:
    """The passages of documents, in document order, without storing anything; arguments as `segment`."""
    chosen = chunker_of(chunker)
    told = _told(chunker, chosen, parameters)
    return [passage for document in documents for passage in chosen.cut(document, told)]


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

    Parameters of tokens and markdown are `size` and `overlap`, in word tokens (`word/1`), with `overlap < size`; of
    sentences `window`, `stride` (at most the window) and `longest`. Every passage's sources are exact code point spans
    of stored text. UsageError for an unknown chunker or parameter.
    """
    chosen = chunker_of(chunker)
    told = _told(chunker, chosen, parameters)
    passages = chunk(documents, chunker=chunker, **parameters)
    recorded: Metadata = {**told, **chosen.fixed}
    segmentation = Segmentation(
        corpus=corpus.digest,
        chunker=chunker,
        chunker_version=chosen.version,
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


def parameters_of(chunker: str, **parameters: Scalar) -> dict[str, int]:
    """Every parameter of a chunker with its value; UsageError for what it does not take."""
    return _told(chunker, chunker_of(chunker), parameters)


def _told(chunker: str, chosen: Chunker, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    """The value of every parameter."""
    known = chosen.defaults
    for name in parameters:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise UsageError(
                f"chunker {chunker!r} has no parameter {name!r}",
                field=name,
                hint=f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(known) or 'none'}",
            )
    values: dict[str, int] = {}
    for name, default in known.items():
        value = parameters.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(
                f"{value!r} is not a whole number", field=name, hint="a number of word tokens or sentences"
            )
        values[name] = value
    if chosen.check is not None:
        chosen.check(values, parameters)
    return values


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
