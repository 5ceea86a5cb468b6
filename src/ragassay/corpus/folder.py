"""Documents from a folder of text, Markdown and HTML files. Follows no link out of it, guesses no encoding."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragassay.corpus.html_pages import declared_encoding, read_page
from ragassay.corpus.lines import decoded, read_whole
from ragassay.corpus.reading import Intake, OnError, Options, Reading
from ragassay.errors import InputError
from ragassay.records.base import DocumentId
from ragassay.records.canonical import digest_bytes
from ragassay.records.document import Document
from ragassay.records.text import clean

PARSERS = {".txt": "text/1", ".md": "markdown/1"}
PAGES = (".html", ".htm", ".xhtml")
_NOT_UTF8 = (b"\xff\xfe", b"\xfe\xff")
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read_folder(
    path: str | Path, *, default_tenants: Sequence[str] | None = None, on_error: OnError = "stop"
) -> Reading:
    """Every .txt, .md, .html, .htm and .xhtml file below a folder as one document, in the order of their ids.

    The id is the path below the folder with `/`; the version is `"1"`; the title of a Markdown file is its first
    heading, that of a page its `<title>`; a byte order mark is dropped (normaliser `bom/1`), line ends stay. Pages
    become text with their headings kept (`read_page`). Files whose name begins with a dot are not read; other kinds of
    files are not read and named in `Reading.unread`. Bytes that are not UTF-8 become U+FFFD with `lossy`, see
    `Reading.raws`.

    Raises InputError for a folder without such files, a file that holds NUL (binary), a link that leads out of the
    folder or nowhere, a pipe or the like, a file of more than 64 MiB. With `on_error="skip"` a file that cannot be
    read is left out and listed; links that lead out are errors either way.
    """
    options = Options(default_tenants=default_tenants, on_error=on_error)
    return read_files(Path(path), options, "folder", (*PARSERS, *PAGES))


def read_pages(path: Path, options: Options) -> Reading:
    """One HTML file, whose id is its name, or all HTML files below a folder; other files are not read."""
    if path.is_dir():
        return read_files(path, options, "html", PAGES)
    intake = Intake(path, options, "html")
    with intake.at(path):
        document, raw = _document(path.name, path, options)
        intake.keep(document, file=path, raw=raw)
    return intake.settle("an HTML file")


def read_files(root: Path, options: Options, name: str, endings: Sequence[str]) -> Reading:
    """All files below a folder whose names have one of these endings."""
    intake = Intake(root, options, name)
    if not root.is_dir():
        raise InputError("not a folder", file=str(root), hint="name a folder that holds .txt, .md or .html files")
    for relative, file in sorted(files_below(root)):
        if file.suffix.lower() not in endings:
            intake.found.unread.append(clean(relative).text)
            continue
        with intake.at(file):
            document, raw = _document(relative, file, options)
            intake.keep(document, file=file, raw=raw)
    if not intake.found and not intake.found.skipped:
        raise InputError(
            f"no {' or '.join(endings)} file in this folder",
            file=str(root),
            hint="`documents` may also name a file of JSON lines, CSV, Parquet or TREC text, or a BEIR or MTEB folder",
        )
    return intake.settle("text files in UTF-8")


def files_below(root: Path) -> Iterator[tuple[str, Path]]:
    """Path below the folder (with `/`) and file of everything whose name does not begin with a dot.

    InputError for a link that leads out of the folder or nowhere, and for a folder that cannot be read.
    """
    inside = root.resolve()

    def refuse(cause: OSError) -> None:
        raise InputError(
            f"cannot be read: {cause.strerror}", file=str(cause.filename), hint="check its permissions"
        ) from cause

    for folder, subfolders, files in os.walk(root, onerror=refuse):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in [*subfolders, *files]:
            one = Path(folder, name)
            if one.is_symlink():
                _check_link(one, inside)
        for name in files:
            one = Path(folder, name)
            if not name.startswith("."):
                yield one.relative_to(root).as_posix(), one


def _check_link(link: Path, inside: Path) -> None:
    """InputError unless a link leads to something inside of the folder."""
    try:
        leads_out = not link.resolve().is_relative_to(inside)
    except (OSError, RuntimeError) as cause:  # RuntimeError: a loop of links, before Python 3.13
        why = getattr(cause, "strerror", None) or "the links form a loop"
        raise InputError(f"a link that leads nowhere: {why}", file=str(link), hint="remove it") from cause
    if leads_out:
        raise InputError(
            "a link that leads out of the folder", file=str(link), hint="copy what it points to into the folder"
        )


def _document(name: str, file: Path, options: Options) -> tuple[Document, bytes]:
    if clean(name).lossy:
        raise InputError("the name of this file is not valid Unicode", file=clean(str(file)).text, hint="rename it")
    ending = file.suffix.lower()
    raw = read_whole(file)
    if raw.startswith(_NOT_UTF8):
        raise InputError("not UTF-8 but UTF-16", file=str(file), hint="save it as UTF-8")
    if b"\0" in raw:
        raise InputError("holds a NUL byte, so it is not text", file=str(file), hint="save it as UTF-8, or remove it")
    encoding = options.encoding
    if ending in PAGES and encoding == "utf-8" and clean(raw).lossy:
        encoding = declared_encoding(raw) or encoding
    text, lossy = decoded(raw, encoding)
    marked = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    provenance = None
    if ending in PARSERS:
        parser, title = PARSERS[ending], first_heading(text) if ending == ".md" else None
    else:
        parser, title, text, provenance = read_page(text)
    document = Document(
        document_id=DocumentId(name),
        version="1",
        text=text,
        parser=parser,
        normaliser="bom/1" if marked else "none/1",
        title=title,
        tenants=options.tenants,
        lossy=lossy,
        raw=digest_bytes(raw) if lossy else None,
        provenance=provenance,
    )
    return document, raw


def first_heading(text: str) -> str | None:
    """The text of the first Markdown heading outside fenced code; None if there is none or it is empty."""
    fence, before = "", ""
    for line in re.split(r"\r\n?|\n", text):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark.group(1).startswith(fence) and not line.strip(" `~") else fence
            continue
        if mark:
            fence, before = mark.group(1), ""
            continue
        if heading := _ATX.fullmatch(line):
            return heading.group(1) or None
        if before and _SETEXT.fullmatch(line):
            return before
        before = "" if re.match(r" {4}|\t| {0,3}[>|*+-]", line) else line.strip()
    return None
