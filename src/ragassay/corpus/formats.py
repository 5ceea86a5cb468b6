"""Which reader reads a source: named, or found by layout and never by guess. Reads no document itself."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay.corpus.csv_tables import read_csv
from ragassay.corpus.folder import PAGES, PARSERS, files_below, read_files, read_pages
from ragassay.corpus.foreign import read_with
from ragassay.corpus.jsonl import HINT, object_from, read_jsonl
from ragassay.corpus.layouts import layout_files, read_layout, take_objects
from ragassay.corpus.lines import opened
from ragassay.corpus.parquet_tables import read_parquet
from ragassay.corpus.reading import Intake, OnError, Options, Reading
from ragassay.corpus.rows import LAYOUTS, check_columns
from ragassay.corpus.told import told_by
from ragassay.corpus.trec_text import read_trec
from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.extensions import PARSERS as PARSER_GROUP
from ragassay.extensions import extension_names, load_extension, unknown_name


class Format(NamedTuple):
    """One way in which documents are written."""

    read: Callable[[Path, Options], Reading]
    takes: frozenset[str]
    """Which of columns, encoding and delimiter mean something here."""
    about: str


def _jsonl(path: Path, options: Options) -> Reading:
    if not options.columns:
        return read_jsonl(path, default_tenants=options.default_tenants, on_error=options.on_error)
    intake = Intake(path, options, "jsonl")
    take_objects(intake, path, LAYOUTS["jsonl"])
    return intake.settle(HINT)


def _folder(path: Path, options: Options) -> Reading:
    return read_files(path, options, "folder", (*PARSERS, *PAGES))


def _layout(name: str) -> Callable[[Path, Options], Reading]:
    return lambda path, options: read_layout(path, options, name)


_ROWS = frozenset({"columns"})
_TEXT = frozenset({"encoding"})
FORMATS: dict[str, Format] = {
    "jsonl": Format(_jsonl, _ROWS, "a file with one JSON object a line"),
    "folder": Format(_folder, _TEXT, "a folder of .txt, .md and .html files"),
    "html": Format(read_pages, _TEXT, "HTML files"),
    "csv": Format(read_csv, frozenset({"columns", "encoding", "delimiter"}), "a spreadsheet saved as CSV"),
    "parquet": Format(read_parquet, _ROWS, "Parquet files"),
    "beir": Format(_layout("beir"), _ROWS, "a BEIR folder: corpus.jsonl"),
    "mteb": Format(_layout("mteb"), _ROWS, "an MTEB folder: corpus as JSON lines or Parquet"),
    "ir_datasets": Format(_layout("ir_datasets"), _ROWS | _TEXT, "docs.jsonl or docs.tsv, as ir_datasets exports them"),
    "trec": Format(read_trec, _ROWS | _TEXT, "TREC text: <DOC> blocks"),
}
"""Name -> format. Installed packages add more by the entry point group `ragassay.parsers`."""
_SNIFFED = 64 * 1024
_MOST_SNIFFED = 20
_TREC = re.compile(rb"<doc\s*+>[^<]{0,200}+<doc(no|id)\s*+>", re.IGNORECASE)
_PAGE = re.compile(rb"\s*+(<!--.{0,1000}?-->\s*+)?<(!doctype\s++html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL)
_ABOUT = ("readme", "license", "licence", "notice", "changelog", "attribution", "citation")
"""Beginnings of the names of files that tell about a data set and are none of its documents."""


def read(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  as the setting is called
    default_tenants: Sequence[str] | None = None,
    on_error: OnError = "stop",
    columns: Mapping[str, str | int | Sequence[str]] | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Reading:
    """The documents of a file or folder.

    Parameters
    ----------
    path
        A file or a folder.
    format
        A key of `FORMATS`, or the name of an installed parser. Left out: what the layout of the source says
        (`detect`); a folder that could be read in several ways is an error that lists them.
    default_tenants
        What a document that names no tenants gets; without it such documents are closed to everybody.
    on_error
        stop: the first thing that is wrong ends the reading. skip: a line, row, block or file of a folder that is
        wrong is left out and listed in `Reading.skipped`. A source that cannot be read at all is an error either way.
    columns
        Field of a document -> column or key of the source, by name (or by number where there are no names); `text`,
        `metadata` and `ignored` may have several.
    encoding
        Of text formats other than JSON; declared, never guessed.
    delimiter
        Of CSV.

    Raises InputError with file, line and field, UsageError for an unknown format or an option that it does not take.
    """
    options = Options(
        default_tenants=default_tenants,
        on_error=on_error,
        columns=columns or {},
        encoding=encoding,
        delimiter=delimiter,
    )
    path = Path(path)
    if format is not None and format not in FORMATS:
        extension = load_extension(PARSER_GROUP, format)
        if extension is None:
            raise unknown_name("format", format, [*FORMATS, *extension_names(PARSER_GROUP)], PARSER_GROUP)
        _refuse_unused(format, frozenset(), options)
        return _with_told(read_with(extension, path, options), path)
    name = format or detect(path, columns=options.columns)
    chosen = FORMATS[name]
    _refuse_unused(name, chosen.takes, options)
    check_columns(options.columns)
    if not os.path.isdir(path):  # noqa: PTH112  says no, where Path.is_dir raises for a path that cannot be
        with opened(path, packed=False):  # InputError if it is not there, or no regular file
            pass
    return _with_told(chosen.read(path, options), path)


def _with_told(found: Reading, path: Path) -> Reading:
    found.provenance = told_by(path)
    return found


def _refuse_unused(name: str, takes: frozenset[str], options: Options) -> None:
    """UsageError for an option that would silently mean nothing."""
    plain = Options()
    for option in ("columns", "encoding", "delimiter"):
        if option not in takes and getattr(options, option) != getattr(plain, option):
            raise UsageError(
                f"format {name!r} takes no {option}", field=option, hint="leave it out, or name another format"
            )


def detect(path: Path, *, columns: Mapping[str, object] | None = None) -> str:
    """The format of a source by its layout: names and endings of files, first bytes. InputError if it is doubtful."""
    if os.path.isdir(path):  # noqa: PTH112  says no, where Path.is_dir raises for a path that cannot be
        return _detect_folder(path)
    return _detect_file(path, bool(columns))


def _detect_folder(path: Path) -> str:
    found: list[str] = []
    for name in ("beir", "mteb", "ir_datasets"):
        try:
            layout_files(path, name)
        except InputError as error:
            if "more than once" in error.message:
                raise
            continue
        if not (name == "mteb" and "beir" in found and not _parquet_in(path)):
            found.append(name)
    files = list(files_below(path))
    # A layout has Parquet files of its own; pages and texts beside it are no part of it, and would be left out unseen.
    found += [one for one in _kinds_of(files) if not found or one != "parquet"]
    if not found and any(file.suffix.lower() in PARSERS for _, file in files):
        found = ["folder"]  # of nothing but files that else are about a data set
    if len(found) == 1:
        return found[0]
    choices = "; ".join(f"{name}: {FORMATS[name].about}" for name in found or FORMATS)
    raise InputError(
        f"this folder could be read as {' or as '.join(found)}" if found else "no documents that can be recognised",
        file=str(path),
        hint=f'say which: format = "…" ({choices})',
    )


def _parquet_in(path: Path) -> bool:
    return any(file.suffix == ".parquet" for file in layout_files(path, "mteb"))


def _kinds_of(files: list[tuple[str, Path]]) -> list[str]:
    """The formats that the files of a folder are in."""
    kinds: dict[str, None] = {}
    sniffed = 0
    for relative, file in sorted(files):
        ending = file.suffix.lower()
        about = "/" not in relative and file.name.lower().startswith(_ABOUT)
        if ending == ".parquet" and "/" not in relative:
            kinds["parquet"] = None
        elif about:
            continue
        elif ending in (".md", *PAGES):
            kinds["folder"] = None
        elif ending in (".txt", ".xml", ".sgml", ".sgm", ".trec", ".gz", "") and sniffed < _MOST_SNIFFED:
            sniffed += 1
            if _TREC.search(_first_bytes(file)):
                kinds["trec"] = None
            elif ending == ".txt":
                kinds["folder"] = None
        elif ending == ".txt" and "trec" not in kinds:
            kinds["folder"] = None
    return list(kinds)


def _detect_file(path: Path, mapped: bool) -> str:
    data = _first_bytes(path)
    name = path.name.lower().removesuffix(".gz")
    if data.startswith(b"PAR1"):
        return "parquet"
    if _TREC.search(data):
        return "trec"
    if name.endswith(".csv"):
        return "csv"
    if name.endswith(".tsv"):
        header = data.partition(b"\n")[0].decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r").split("\t")
        by_name = {*LAYOUTS["csv"].ids} & {*header} and {*LAYOUTS["csv"].texts} & {*header}
        return "csv" if by_name else "ir_datasets"
    if name.endswith(PAGES) or _PAGE.match(data):
        return "html"
    return "jsonl" if mapped else _by_keys(data)


def _by_keys(data: bytes) -> str:
    """The layout of JSON lines by the keys of the first one; what is no object is left to the strict reader."""
    line = next((one for one in data.splitlines() if one.strip()), b"")
    try:
        keys = set(object_from(line)[0])
    except RagassayError:
        keys = set(re.findall(r'[{,]\s*"([A-Za-z_]{1,40})"\s*:', line[:2000].decode("utf-8", "replace")))
    if not keys & {"document_id", "documentId"}:
        if "_id" in keys:
            return "beir"
        if "doc_id" in keys:
            return "ir_datasets"
    return "jsonl"


def _first_bytes(path: Path) -> bytes:
    """The beginning of a file, unpacked; nothing if it cannot be read (the reader says why)."""
    try:
        with opened(path) as file:
            return file.read(_SNIFFED)
    except InputError:
        return b""
