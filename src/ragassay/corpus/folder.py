"""Documents from a folder of text and Markdown files. Follows no link out of the folder, guesses no encoding."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragassay.corpus.jsonl import read_jsonl
from ragassay.corpus.reading import Reading
from ragassay.errors import InputError
from ragassay.records.base import Digest, DocumentId
from ragassay.records.canonical import MAX_BYTES, digest_bytes
from ragassay.records.document import Document
from ragassay.records.text import clean

PARSERS = {".txt": "text/1", ".md": "markdown/1"}
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read(path: str | Path, *, default_tenants: Sequence[str] | None = None) -> Reading:
    """The documents of a folder (`read_folder`) or of a file of JSON lines (`read_jsonl`), whichever stands there."""
    if os.path.isdir(path):  # noqa: PTH112  says no, where Path.is_dir raises for a path that cannot be
        return read_folder(path, default_tenants=default_tenants)
    return read_jsonl(path, default_tenants=default_tenants)


def read_folder(path: str | Path, *, default_tenants: Sequence[str] | None = None) -> Reading:
    """Every .txt and .md file below a folder as one document, in the order of their ids.

    The id is the path below the folder with `/`; the version is `"1"`; the title of a Markdown file is its first
    heading; a byte order mark is dropped (normaliser `bom/1`), line ends stay. Files whose name begins with a dot,
    and other kinds of files, are not read. Bytes that are not UTF-8 become U+FFFD with `lossy`, see `Reading.raws`.

    Raises InputError for a folder without such files, a file that holds NUL (binary), a link that leads out of the
    folder or nowhere, a pipe or the like, a file of more than 64 MiB.
    """
    root = Path(path)
    tenants = tuple(default_tenants) if default_tenants is not None else None
    found = Reading(default_tenants=tenants)
    if not root.is_dir():
        raise InputError("not a folder", file=str(root), hint="name a folder that holds .txt or .md files")
    for name, file in sorted(_files(root)):
        found.append(_document(name, file, tenants, found.raws))
    if not found:
        raise InputError("no .txt or .md file in this folder", file=str(root), hint="other kinds are not read yet")
    return found


def _files(root: Path) -> Iterator[tuple[str, Path]]:
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
            if not name.startswith(".") and one.suffix.lower() in PARSERS:
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


def _document(name: str, file: Path, tenants: tuple[str, ...] | None, raws: dict[Digest, bytes]) -> Document:
    if clean(name).lossy:
        raise InputError("the name of this file is not valid Unicode", file=clean(str(file)).text, hint="rename it")
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # to open a pipe would wait for a writer
            raise InputError("not a regular file", file=str(file), hint="move it out of the folder")
        with file.open("rb") as opened:
            raw = opened.read(MAX_BYTES + 1)
    except OSError as cause:
        raise InputError(
            f"cannot be read: {cause.strerror or cause}", file=str(file), hint="check its permissions"
        ) from cause
    if len(raw) > MAX_BYTES:
        raise InputError(f"more than {MAX_BYTES} bytes", file=str(file), hint="split it")
    if b"\0" in raw:
        raise InputError("holds a NUL byte, so it is not text", file=str(file), hint="save it as UTF-8, or remove it")
    text, lossy = clean(raw)
    marked = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    if lossy:
        raws[digest_bytes(raw)] = raw
    return Document(
        document_id=DocumentId(name),
        version="1",
        text=text,
        parser=PARSERS[file.suffix.lower()],
        normaliser="bom/1" if marked else "none/1",
        title=first_heading(text) if file.suffix.lower() == ".md" else None,
        tenants=tenants,
        lossy=lossy,
        raw=digest_bytes(raw) if lossy else None,
    )


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
