"""What the three examples share: ids from digests, files of JSON lines, and a settings file beside them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

SETTINGS = """# Written by examples/{example}. Next: `ragassay run --config {folder}/ragassay.toml`.
[store]
path = ".ragassay"

[corpus]
documents = "documents.jsonl"
name = "{name}"

[segmentation]
chunker = "tokens"
size = {size}
overlap = {overlap}

[benchmark]
{benchmark}
name = "{name}"
version = "1"
completeness = "{completeness}"

[system]
kind = "reference"

[run]
as_of = "2026-06-01"
name = "{name}"
seed = 0
repeats = 1
top_k = {top_k}

[scoring]
measures = [{measures}]
"""


def document_id(source: str, text: str) -> str:
    """An id from the text: equal texts are one document, and no title can clash."""
    return f"{source}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def document(source: str, title: str, body: str) -> dict[str, Any]:
    """A public document of Wikipedia; its title is part of its text, since a title can carry evidence."""
    text = f"{title}\n\n{body}"
    return {
        "document_id": document_id(source, text),
        "title": title,
        "url": "https://en.wikipedia.org/wiki/" + quote(title.replace(" ", "_"), safe="/,:()'"),
        "text": text,
        "tenants": ["*"],
        "metadata": {"source": source},
    }


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> int:
    """JSON lines with sorted keys: the same input gives the same bytes."""
    written = [json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines]
    path.write_text("".join(written), encoding="utf-8")
    return len(written)


def write_settings(folder: Path, example: str, *, measures: Iterable[str], benchmark: str, **values: Any) -> None:
    """`ragassay.toml` in `folder`."""
    spelled = ", ".join(f'"{one}"' for one in measures)
    text = SETTINGS.format(example=example, folder=folder, benchmark=benchmark, measures=spelled, **values)
    (folder / "ragassay.toml").write_text(text, encoding="utf-8")


def unique(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first document of each id."""
    return list({one["document_id"]: one for one in reversed(list(documents))}.values())[::-1]
