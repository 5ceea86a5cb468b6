"""What a long benchmark found so far, in a folder, so that a second call goes on where the first one stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Told = dict[str, Any]


def mark_of(sources: Iterable[Path]) -> str:
    """Short digest of the text of these files: what other code found is not taken for what this one finds."""
    found = hashlib.sha256()
    for one in sorted(sources):
        found.update(one.read_bytes())
    return found.hexdigest()[:16]


def keep(folder: Path | None, name: str, make: Callable[[], Told]) -> Told:
    """What `make` gives, from the folder if it is there; without a folder it is made anew."""
    if folder is None:
        return make()
    path = folder / f"{name.replace(' ', '_').replace('/', '_')}.json"
    if path.exists():
        return json.loads(path.read_text("utf-8"))  # type: ignore[no-any-return]
    made = make()
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(made), "utf-8")
    part.replace(path)
    return made
