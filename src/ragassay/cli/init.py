"""`ragassay init`: settings and a small example that run as they are. Overwrites nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.errors import UsageError


def init(folder: Path = Path(), *, json: bool = False) -> None:
    """Write a commented ragassay.toml, three documents and four questions into a folder.

    Parameters
    ----------
    folder
        Where; it is made if it is not there. Nothing in it is overwritten.
    json
        The files written, as JSON on standard output.
    """
    today = datetime.now(UTC).date().isoformat()
    example = resources.files("ragassay.cli") / "example"
    wanted = {relative: source for relative, source in _walk(example, Path()) if relative.suffix != ".py"}
    there = [folder / relative for relative in wanted if (folder / relative).exists()]
    if there:
        raise UsageError(
            f"{there[0]} is already there",
            hint="choose another folder: `ragassay init NEW_FOLDER`, or move the file away",
        )
    try:
        for relative, source in wanted.items():
            target = folder / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text("utf-8")
            target.write_text(text.replace("{today}", today) if relative.name == FILE_NAME else text, "utf-8")
    except OSError as cause:
        raise UsageError(
            f"cannot write into {folder}: {cause.strerror}", hint="choose a folder you may write to"
        ) from None
    names = [str(folder / relative) for relative in sorted(wanted)]
    talk.data_json(names) if json else talk.data("\n".join(names))
    talk.then("ragassay run" if folder == Path() else f"cd {folder} && ragassay run")


def _walk(folder: Traversable, prefix: Path) -> list[tuple[Path, Traversable]]:
    found: list[tuple[Path, Traversable]] = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            found += _walk(entry, prefix / entry.name)
        elif not entry.name.startswith("__"):
            found.append((prefix / entry.name, entry))
    return found
