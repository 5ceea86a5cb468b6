"""`ragassay store`: re-hash everything, list names, print one object."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Literal

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import ExitCode, StoreError
from ragassay.records.text import many

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
"""How the bytes of a table of JSON lines begin."""


def check(
    *,
    level: Literal["quick", "full", "deep"] = "deep",
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Name each damaged, missing or foreign object; exit 5 if there is any. Deletes nothing.

    Parameters
    ----------
    level
        quick: presence and size; full: re-hash every object; deep: follow every reference as well.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    found = open_store(config, store).check(level=level)
    if json:
        talk.data_json(found.to_json())
    else:
        talk.data(
            f"{many(found.blobs, 'object')}, {many(found.bytes, 'byte')}, {many(found.refs, 'name')}, "
            f"checked {found.level}"
        )
        for what, findings in {"damaged": found.damaged, "missing": found.missing, "foreign": found.foreign}.items():
            for one in findings:
                named = f" (named by {', '.join(one.named_by)})" if one.named_by else ""
                talk.data(talk.plain(f"{what}: {one.object}: {one.detail}{named}"))
        talk.data("all as it was stored" if found.ok else "NOT as it was stored")
    talk.then(
        "ragassay store refs" if found.ok else "restore the objects named above from a copy, then ragassay store check",
        config,
        store,
    )
    return int(ExitCode.PASS if found.ok else ExitCode.INTEGRITY)


def refs(prefix: str = "", *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """List the names in the store and what they stand for.

    Parameters
    ----------
    prefix
        Only names that begin with this, for example `run/`.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    found = open_store(config, store).refs(prefix)
    if json:
        talk.data_json([{"name": one.name, "kind": one.kind, "digest": one.digest} for one in found])
    else:
        for one in found:
            talk.data(f"{one.name:40} {one.digest}")
    talk.then("ragassay store show NAME", config, store)


def show(name: str, *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Print one object of the store: a record as JSON, a table as JSON lines, anything else as its bytes.

    Parameters
    ----------
    name
        A name such as `run/latest`, a digest, or the beginning of one.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Records are JSON in any case; this makes other bytes an error.
    """
    opened = open_store(config, store)
    digest = opened.resolve(name, kind_prefix=name.split("/", maxsplit=1)[0])
    data = opened.get(digest)
    if data.startswith(ZSTD_MAGIC):
        for line in opened.get_raw_lines(digest):
            talk.data(talk.json_text(line.decode()))
        return
    try:
        talk.data_json(json_module.loads(data))
    except ValueError:
        if json:
            raise StoreError(
                f"{digest} is no record: {many(len(data), 'byte')}", hint="without --json they are written as they are"
            ) from None
        if sys.stdout.isatty():
            talk.data(talk.plain(data.decode("utf-8", "replace")))
        else:
            sys.stdout.buffer.write(data)
