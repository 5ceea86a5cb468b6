"""Files of reports on the disk: each written whole or not at all. Makes no text of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import ragassay.report
from ragassay.cli import talk
from ragassay.errors import UsageError
from ragassay.report import Scorecard
from ragassay.report.pages import Layout, folder_of


def write_pages(card: Scorecard, out: Path, layout: Layout, name: str) -> Path:
    """All pages are written beside the old ones before the first of those is replaced."""
    folder = out / folder_of(name)
    ready: dict[Path, Path] = {}
    try:
        for file in ragassay.report.files(card, name=name, layout=layout):
            path = out / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.{os.getpid()}")
            ready[path] = part
            part.write_text(file.text, "utf-8")
            if warning := ragassay.report.weight_warning(file.text):
                talk.say(f"{path}: {warning}")
        for path, part in ready.items():
            part.replace(path)
    finally:
        for part in ready.values():
            part.unlink(missing_ok=True)
    for old in folder.glob("[0-9][0-9][0-9][0-9]*.html"):
        if old not in ready:
            old.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return path


@contextmanager
def writing(where: Path) -> Iterator[None]:
    """What the operating system refuses while files are written is a UsageError that names the place."""
    try:
        yield
    except OSError as cause:
        raise UsageError(
            f"cannot write into {where}: {cause.strerror}", hint="name a folder that is there and that you may write to"
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside a file, of this process alone, to write under; what is whole takes the file's place at the end."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def replace_file(path: Path, parts: Iterable[bytes]) -> None:
    """A file written whole or not at all: a full disk leaves the earlier one as it was."""
    with replacing(path) as part, part.open("wb") as file:
        file.writelines(parts)
