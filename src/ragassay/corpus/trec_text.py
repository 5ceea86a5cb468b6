"""Documents from TREC text: `<DOC>` blocks one after another, SGML by custom rather than by grammar. Judges nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay.corpus.folder import files_below
from ragassay.corpus.jsonl import document_from
from ragassay.corpus.lines import OTHER_KINDS, PARQUET, decoded, raw_lines
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.corpus.rows import with_title
from ragassay.errors import InputError, UsageError
from ragassay.records.canonical import MAX_BYTES

PARSER = "trec/1"
TITLES = ("title", "headline", "hl", "head", "ttl", "ti")
TEXTS = ("text", "body", "lp", "leadpara", "abstract", "abst")
_NUMBERS = ("docno", "docid")
_HINT = "<DOC> <DOCNO>id</DOCNO> <TEXT>…</TEXT> </DOC>, one after another"
_MARK = re.compile(rb"<(/?)doc\s*+>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*+)(?:\s++[\w.-]++\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s<>\"']++))*+\s*+/?>")
_MOST_TAGS = 200_000


class Block(NamedTuple):
    """One `<DOC>` to `</DOC>`, without these; the line on which it begins."""

    line: int
    raw: bytes


def read_trec(path: Path, options: Options) -> Reading:
    """Every `<DOC>` block of a file, or of all files below a folder, as one document, in the order of their places.

    No root element is needed and none disturbs; what stands between blocks is not read, but a block that is not closed
    is an error. The id is `<DOCNO>` (or `<DOCID>`); the title the first of title, headline, hl, head, ttl, ti; the
    text is all of text, body, lp, leadpara, abstract, abst, in order, or if there is none of these, all that is left.
    `columns` names other tags (`columns = {text = ["text", "summary"], title = "h3"}`). Tags inside the text are
    dropped, `<P>` parts paragraphs, entities that HTML knows are resolved, others stay; a `<` or `&` that begins
    nothing stays; CDATA is taken as it is. The stored text is title, blank line, text, unless it begins with the title.
    Text is in `encoding`; what cannot be decoded becomes U+FFFD with `lossy`. Files packed with gzip are unpacked.
    """
    titles, texts = _wanted(options)
    intake = Intake(path, options, "trec")
    files = [one for _, one in sorted(files_below(path))] if path.is_dir() else [path]
    for file in files:
        for block in _blocks(file, intake):
            with intake.at(file, block.line):
                body, lossy = decoded(block.raw, options.encoding)
                value, normaliser = _fields(body, titles, texts)
                document = document_from(
                    value, options.tenants, parser=PARSER, normaliser=normaliser, raw=block.raw if lossy else None
                )
                intake.keep(document, file=file, line=block.line, raw=block.raw)
    return intake.settle(_HINT)


def _wanted(options: Options) -> tuple[Sequence[str], Sequence[str]]:
    names = {}
    for field, default in (("title", TITLES), ("text", TEXTS)):
        given = options.columns.get(field, default)
        names[field] = [str(one).lower() for one in ([given] if isinstance(given, str | int) else given)]
    strange = set(options.columns) - set(names)
    if strange:
        raise UsageError(
            f"TREC text has no column for {min(strange)}",
            field=f"columns.{min(strange)}",
            hint="title and text name tags",
        )
    return names["title"], names["text"]


def _blocks(path: Path, intake: Intake) -> Iterator[Block]:
    """Blocks of a file; one that is not closed, or too long, is given to the intake."""
    held: list[bytes] | None = None
    begun = size = 0
    for number, line in raw_lines(path, intake.broken, kinds=(*OTHER_KINDS, *PARQUET)):
        at = 0
        for mark in _MARK.finditer(line):
            opens = not mark[1]
            if held is not None and opens:
                intake.broken(_unclosed(path, begun, f"a new <DOC> on line {number}"))
            elif held is not None:
                held.append(line[at : mark.start()])
                yield Block(begun, b"".join(held))
            held, at = ([], mark.end()) if opens else (None, mark.end())
            begun, size = number, 0
        if held is not None:
            held.append(line[at:])
            size += len(line) - at
        if held is not None and size > MAX_BYTES:
            intake.broken(
                InputError(f"a document of more than {MAX_BYTES} bytes", file=str(path), line=begun, hint="split it")
            )
            held, size = None, 0
    if held is not None:
        intake.broken(_unclosed(path, begun, "the end of the file"))


def _unclosed(path: Path, line: int, what: str) -> InputError:
    return InputError(
        f"this <DOC> is not closed: there is {what} before </DOC>", file=str(path), line=line, hint="is the file cut?"
    )


def _fields(body: str, titles: Sequence[str], texts: Sequence[str]) -> tuple[dict[str, str], str]:
    body, literal = _without_cdata(_without_comments(body.replace("\r\n", "\n")))
    parts = _parts(body, {*titles, *texts, *_NUMBERS})
    numbers = [_plain(one, literal) for name in _NUMBERS for one in parts.get(name, ())]
    if not numbers or not numbers[0]:
        raise InputError("a <DOC> without <DOCNO>", field="docno", hint=_HINT)
    title = next((found for name in titles for one in parts.get(name, ()) if (found := _plain(one, literal))), "")
    title = " ".join(title.split())
    pieces = [(at, one) for name in texts for at, one in parts.get_places(name)]
    text = "\n\n".join(filter(None, (_plain(one, literal) for _, one in sorted(pieces))))
    if not pieces:
        text = _plain(parts.rest, literal)
    made = {"document_id": numbers[0], "text": with_title(title, text) if title else text}
    return made | ({"title": title} if title else {}), "title-first/1" if title else "none/1"


class _Parts:
    """What stands in each wanted element, with its place, and what stands in none."""

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[int, str]]] = {}
        self.rest = ""

    def get(self, name: str, default: Iterable[str] = ()) -> list[str]:
        return [text for _, text in self.found.get(name, ())] or list(default)

    def get_places(self, name: str) -> list[tuple[int, str]]:
        return self.found.get(name, [])


def _parts(body: str, wanted: set[str]) -> _Parts:
    """The outermost wanted elements; InputError for one that is not closed."""
    made = _Parts()
    rest: list[str] = []
    open_name, start, at, tags = "", 0, 0, 0
    for tag in _TAG.finditer(body):
        name, closes = tag[2].lower(), bool(tag[1])
        if name not in wanted:
            continue
        tags += 1
        if tags > _MOST_TAGS:
            raise InputError(f"more than {_MOST_TAGS} tags in one <DOC>", hint="is a </DOC> missing?")
        if open_name and closes and name == open_name:
            made.found.setdefault(open_name, []).append((start, body[start : tag.start()]))
            open_name, at = "", tag.end()
        elif not open_name and not closes:
            rest.append(body[at : tag.start()])
            open_name, start = name, tag.end()
    if open_name:
        raise InputError(f"<{open_name}> is not closed", field=open_name, hint=f"</{open_name}> ends it")
    rest.append(body[at:])
    made.rest = "\n".join(rest)
    return made


def _without_cdata(body: str) -> tuple[str, list[str]]:
    """The body with each CDATA section as one private sign, and what they hold: nothing in it is markup."""
    literal: list[str] = []

    def keep(held: str) -> str:
        literal.append(held)
        return f"<cdata n={len(literal) - 1}>"

    return _replaced(body, "<![CDATA[", "]]>", keep), literal


def _without_comments(body: str) -> str:
    return _replaced(body, "<!--", "-->", lambda _: " ")


def _replaced(body: str, begin: str, end: str, make: Callable[[str], str]) -> str:
    """What stands between two marks, marks included, replaced; a mark that nothing closes stays. One pass."""
    parts, at = [], 0
    while (start := body.find(begin, at)) >= 0 and (stop := body.find(end, start + len(begin))) >= 0:
        parts += [body[at:start], make(body[start + len(begin) : stop])]
        at = stop + len(end)
    return "".join([*parts, body[at:]])


def _plain(markup: str, literal: list[str]) -> str:
    """Text of an element: tags dropped, paragraphs parted, entities resolved."""

    def drop(tag: re.Match[str]) -> str:
        name = tag[2].lower()
        if name == "cdata" and (number := re.search(r"n=(\d+)", tag[0])) and int(number[1]) < len(literal):
            return html.escape(literal[int(number[1])])
        return "\n\n" if name in ("p", "lp", "br") and not tag[1] else ""

    text = html.unescape(_TAG.sub(drop, markup))
    return re.sub(r"\n{3,}", "\n\n", text).strip()
