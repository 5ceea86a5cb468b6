"""What an assessment holds for, and what has changed since. Reads the files that are named, and no system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ragassay.errors import UsageError
from ragassay.probe.settings import StandingSettings
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_bytes, digest_of
from ragassay.records.document import CorpusEntry, Document
from ragassay.records.probe import Standing

_FILE = "file:"


def standing_of(declared: StandingSettings, corpus: Digest, documents: Sequence[Document], folder: Path) -> Standing:
    """What an assessment made now would hold for; UsageError where a file that is named cannot be read."""
    said = declared_now(declared, folder)
    return Standing(
        corpus=corpus, metadata=metadata_of(one.entry() for one in documents),
        embedding=said.embedding, index=said.index, policy=said.policy,
    )  # fmt: skip


def declared_now(declared: StandingSettings, folder: Path) -> StandingSettings:
    """What is declared, with the digest of each file in place of its name; UsageError where one cannot be read."""
    said = {name: _said(name, getattr(declared, name), folder) for name in StandingSettings.__struct_fields__}
    return StandingSettings(**said)


def metadata_of(entries: Iterable[CorpusEntry]) -> Digest:
    """The digest of tenants, permissions and metadata of all documents, in any order."""
    return digest_of(sorted([one.document_id, one.version, one.auth_digest, one.meta_digest] for one in entries))


def _said(name: str, value: str, folder: Path) -> str:
    if not value.startswith(_FILE):
        return value
    path = folder / value.removeprefix(_FILE)
    try:
        return digest_bytes(path.read_bytes())
    except OSError as cause:
        raise UsageError(
            f"{path} cannot be read: {cause.strerror}", field=f"probe.standing.{name}", hint="name a file that is there"
        ) from None


def changed_since(then: Standing, now: Standing) -> tuple[str, ...]:
    """Which parts changed: with any, the assessment is stale, and stale is missing."""
    return tuple(name for name in Standing.__struct_fields__ if getattr(then, name) != getattr(now, name))
