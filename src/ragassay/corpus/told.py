"""What a data set says of itself: a Croissant file, or the head of its README. Believes no more of it than that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import load_json
from ragassay.records.provenance import Provenance
from ragassay.records.text import clean, shown

CROISSANT = ("croissant.json", "metadata.json")
README = "README.md"
_MOST_BYTES = 4 * 1024 * 1024
_CONFORMS = "mlcommons.org/croissant"
_HEAD = re.compile(r"---[ \t]*\n(.{0,20000}?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_KEY = re.compile(r"(license|license_name|license_link|source_datasets)[ \t]*:[ \t]*(.*)")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.+)")


def told_by(path: Path) -> Provenance | None:
    """The provenance that the folder of a data set states; None if it states none, or if it is a file.

    Read are `license`, `creator`, `url` (or `sameAs`), `rai:dataCollection` and `rai:dataLimitations` of a Croissant
    file (`croissant.json`, `metadata.json`), and `license` and `source_datasets` of the YAML head of a README as the
    Hugging Face Hub writes it. A file that cannot be read so says nothing.
    """
    if not path.is_dir():
        return None
    for name in CROISSANT:
        if (found := _croissant(path / name)) is not None:
            return found
    return _readme(path / README)


def _text(file: Path) -> str | None:
    try:
        if not file.is_file() or file.is_symlink() or file.stat().st_size > _MOST_BYTES:
            return None
        return clean(file.read_bytes()).text.removeprefix("\ufeff").replace("\r\n", "\n")
    except OSError:
        return None


def _croissant(file: Path) -> Provenance | None:
    text = _text(file)
    if text is None or _CONFORMS not in text:
        return None
    try:
        value = load_json(text)
    except (RecordError, InputError):
        return None
    if not isinstance(value, Mapping) or _CONFORMS not in str(value.get("conformsTo", value.get("dct:conformsTo", ""))):
        return None
    facts = {
        "licence": _said(value.get("license")),
        "owner": _said(value.get("creator", value.get("publisher"))),
        "origin": _said(value.get("url", value.get("sameAs"))),
        "collection": _said(value.get("rai:dataCollection")),
    }
    limits = _said(value.get("rai:dataLimitations"))
    return _made(facts, (limits,) if limits else ())


def _said(value: Any) -> str | None:
    """A text, the name or address of an object, or several of these."""
    if isinstance(value, str):
        return shown(value, limit=1000) or None
    if isinstance(value, Mapping):
        return _said(value.get("name", value.get("url", value.get("@id"))))
    if isinstance(value, list):
        return "; ".join(one for one in map(_said, value[:20]) if one)[:1000] or None
    return None


def _readme(file: Path) -> Provenance | None:
    text = _text(file)
    head = _HEAD.match(text) if text is not None else None
    if head is None:
        return None
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in head[1].split("\n"):
        if key := _KEY.fullmatch(line):
            current = found.setdefault(key[1], [])
            current += [one for one in (_plain(part) for part in key[2].strip(" []").split(",")) if one]
        elif current is not None and (entry := _ENTRY.fullmatch(line)):
            current.append(_plain(entry[1]))
        else:
            current = None
    licence = found.get("license", [])
    if licence in (["other"], []):
        licence = found.get("license_name", []) + found.get("license_link", []) or licence
    return _made({"licence": ", ".join(licence), "origin": ", ".join(found.get("source_datasets", []))}, ())


def _plain(text: str) -> str:
    return shown(text.split(" #", maxsplit=1)[0].strip().strip("\"'"), limit=400)


def _made(facts: Mapping[str, str | None], limits: tuple[str, ...]) -> Provenance | None:
    said: dict[str, Any] = {name: one for name, one in facts.items() if one}
    made = Provenance(**said, limits=limits)
    return None if made.empty else made
