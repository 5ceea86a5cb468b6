"""`ragassay store`: re-hash everything, list names, print one object."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Literal

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import ExitCode


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
        talk.data(f"{found.blobs} objects, {found.bytes} bytes, {found.refs} names, checked {found.level}")
        for what, findings in {"damaged": found.damaged, "missing": found.missing, "foreign": found.foreign}.items():
            for one in findings:
                named = f" (named by {', '.join(one.named_by)})" if one.named_by else ""
                talk.data(talk.plain(f"{what}: {one.object}: {one.detail}{named}"))
        talk.data("all as it was stored" if found.ok else "NOT as it was stored")
    talk.then(
        "ragassay store refs" if found.ok else "restore the objects named above from a copy, then ragassay store check"
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
    talk.then("ragassay store show NAME")


def show(name: str, *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Print one object of the store: a record as JSON, anything else as its bytes.

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
    data = opened.get(opened.resolve(name, kind_prefix=name.split("/", maxsplit=1)[0]))
    try:
        talk.data_json(json_module.loads(data))
    except ValueError:
        if json:
            raise
        sys.stdout.buffer.write(data)
