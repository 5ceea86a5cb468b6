"""Corpora in the layouts that retrieval data sets are shared in, as files: BEIR, MTEB, ir_datasets. Fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ragassay.corpus.jsonl import document_from, object_from, take_lines
from ragassay.corpus.lines import decoded, raw_lines
from ragassay.corpus.parquet_tables import take_table
from ragassay.corpus.reading import Intake, Options, Reading
from ragassay.corpus.rows import LAYOUTS, Layout, Mapped, map_columns
from ragassay.errors import InputError
from ragassay.records.document import Document
from ragassay.records.text import many

_NAMES = {
    "beir": re.compile(r"corpus\.jsonl(\.gz)?"),
    "mteb": re.compile(r"(corpus/.*|(.*/)?corpus[^/]*)\.(jsonl|jsonl\.gz|parquet)"),
    "ir_datasets": re.compile(r"docs\.(jsonl|tsv)(\.gz)?"),
}
"""What a corpus file is called below the folder of a data set."""
_BOM = b"\xef\xbb\xbf"
_MOST_LISTED = 10_000
_MOST_SHAPES = 1_000


def read_layout(path: Path, options: Options, name: str) -> Reading:
    """A BEIR, MTEB or ir_datasets corpus: a folder of the layout, or its corpus file alone.

    Keys are `_id` (MTEB also `id`; ir_datasets `doc_id`), `title`, `text` (ir_datasets also `body`, `abstract`). The
    stored text is title, blank line, text, unless the text begins with the title: these collections are judged by
    both. `tenants`, `acl`, `valid_from` and the like are read if they are there; other keys become metadata (nested
    ones as JSON text). A docs.tsv has no header: two columns are id and text, more need `columns` with their numbers.
    """
    intake = Intake(path, options, name)
    for file in layout_files(path, name):
        if file.suffix == ".parquet":
            take_table(intake, file, LAYOUTS[name])
        elif file.name.removesuffix(".gz").endswith(".tsv"):
            _take_tsv(intake, file, LAYOUTS[name])
        else:
            take_objects(intake, file, LAYOUTS[name])
    return intake.settle(f"a corpus in the layout of {name}: {', '.join(LAYOUTS[name].ids)}, title, text")


def layout_files(path: Path, name: str) -> list[Path]:
    """The corpus files of a layout in a folder, in order of their names, or the file itself; InputError if none."""
    if not path.is_dir():
        return [path]
    found = [file for relative, file in _listed(path) if _NAMES[name].fullmatch(relative)]
    kinds = {file.name.removesuffix(".gz").rpartition(".")[2] for file in found}
    if len(kinds) > 1 or (name != "mteb" and len(found) > 1):
        listed = ", ".join(file.name for file in found[:5])
        raise InputError(
            f"the corpus is there more than once: {listed}", file=str(path), hint="name one of these files"
        )
    if not found:
        raise InputError(f"no corpus in the layout of {name}", file=str(path), hint="name its corpus file")
    return found


def _listed(path: Path) -> list[tuple[str, Path]]:
    """Files of a folder and of the folders in it, sorted."""
    found = []
    for one in sorted(path.iterdir()):
        inner = sorted(one.iterdir()) if one.is_dir() else [one]
        found += [(file.relative_to(path).as_posix(), file) for file in inner if not file.name.startswith(".")]
        if len(found) > _MOST_LISTED:
            raise InputError("too many files", file=str(path), hint="name the corpus file itself")
    return found


def take_objects(intake: Intake, path: Path, layout: Layout) -> None:
    """Give the intake the documents of a file with one JSON object a line, whose keys are as the layout says."""
    shapes: dict[tuple[str, ...], Mapped] = {}

    def make(raw: bytes, tenants: tuple[str, ...] | None) -> Document:
        row, lossy = object_from(raw)
        shape = tuple(row)
        mapped = shapes.get(shape)
        if mapped is None:
            mapped = map_columns(layout, shape, intake.options.columns)
            if len(shapes) < _MOST_SHAPES:
                shapes[shape] = mapped
        for name in mapped.unread:
            if name not in unread:
                unread[name] = None
        value, normaliser = mapped.value(row, cells=False)
        return document_from(value, tenants, parser=layout.parser, normaliser=normaliser, raw=raw if lossy else None)

    unread: dict[str, None] = {}
    take_lines(intake, path, make)
    intake.found.unread += list(unread)


def _take_tsv(intake: Intake, path: Path, layout: Layout) -> None:
    """Lines of cells with tabs between and no quoting, as `ir_datasets export … docs` writes them."""
    mapped: Mapped | None = None
    for number, raw in raw_lines(path, intake.broken):
        line = raw.rstrip(b"\r\n").removeprefix(_BOM if number == 1 else b"")
        if not line.strip():
            continue
        text, lossy = decoded(line, intake.options.encoding)
        cells = text.split("\t")
        if mapped is None:
            mapped = _numbered(layout, len(cells), intake, path)
        with intake.at(path, number):
            value, normaliser = mapped.value(dict(_pairs(cells, mapped)), cells=True)
            document = document_from(
                value, intake.options.tenants, parser=layout.parser, normaliser=normaliser, raw=line if lossy else None
            )
            intake.keep(document, file=path, line=number, raw=line)


def _pairs(cells: list[str], mapped: Mapped) -> Iterator[tuple[str, str]]:
    wanted = len(mapped.unread) + sum(len(found) for found in mapped.names.values())
    if len(cells) != wanted:
        raise InputError(
            f"{many(len(cells), 'cell')}; the first line has {wanted}", hint="cells are parted by one tab and hold none"
        )
    return zip((str(number) for number in range(1, wanted + 1)), cells, strict=True)


def _numbered(layout: Layout, cells: int, intake: Intake, path: Path) -> Mapped:
    header = [str(number) for number in range(1, cells + 1)]
    columns = intake.options.columns
    if not columns and cells == 2:
        columns = {"document_id": 1, "text": 2}
    if not {"document_id", "text"} <= set(columns):
        raise InputError(
            f"{many(cells, 'column')} without names: which one is what?",
            file=str(path),
            line=1,
            hint="declare their numbers: columns = {document_id = 1, title = 2, text = 3}",
        )
    try:
        mapped = map_columns(layout._replace(open=False), header, columns)
    except InputError as error:
        raise error.at(file=str(path), line=1)  # noqa: B904  the same error, with its place
    intake.found.unread += [f"column {name}" for name in mapped.unread]
    return mapped
