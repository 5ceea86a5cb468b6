"""One change as a record, its texts short enough to be carried. Cleans nothing for terminals or pages."""

from __future__ import annotations

from typing import Any

import msgspec

from ragassay.records.canonical import canonical_bytes, digest_text
from ragassay.records.comparison import Artefact, Change
from ragassay.records.text import many

LONGEST = 400
_LONGEST_NAME = 512


def shown(text: str) -> str:
    """The text; a long one by its beginning and the digest of all of it, so that two long ones stay apart."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({many(len(text), 'character')}, {digest_text(text)})"


def change(artefact: Artefact, name: str, before: str | None, after: str | None) -> Change:
    """A change; an empty name or one that is too long is made to fit."""
    fits = name if 0 < len(name) <= _LONGEST_NAME else f"{name[:400]} {digest_text(name)}"
    return Change(
        artefact=artefact,
        name=fits,
        before=None if before is None else shown(before),
        after=None if after is None else shown(after),
    )


def text_of(value: Any) -> str | None:
    """A value as a change shows it: texts as they are, anything else as canonical JSON, nothing as nothing."""
    if value is None or isinstance(value, str):
        return value
    return canonical_bytes(msgspec.to_builtins(value)).decode()
