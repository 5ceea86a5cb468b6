"""An index of vectors that a run searched: what it is, and how it came about. Builds none."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, Instant, Record
from ragassay.records.document import Count, Name


class IndexContent(Record, frozen=True, kw_only=True):
    """What an index is: equal contents give equal rankings."""

    index: Digest
    """Over the passages' ids and texts in their order, the embedder and the metric."""
    embedder: str
    query_embedder: str
    metric: Literal["cosine"]
    dimensions: Annotated[int, Meta(ge=1)]
    passages: Count
    blank: Count
    """Passages without a vector, since their text is empty: they are never found."""


class IndexEnvelope(Record, frozen=True, kw_only=True):
    """How it came about, which changes no ranking."""

    built_at: Instant
    duration_ms: float
    computed: Count
    """Vectors that were computed for it; the others were in the cache."""
    cache_hits: Count
    calls: Count
    server: str | None = None
    """Of a database: its version and that of its vector type."""
    reused: bool = False
    """It was there already."""
    cut: Count | None = None
    """Passages that are longer than what the embedder reads: their ends are in no vector. Absent: it does not say."""


class IndexArtefact(Record, frozen=True, kw_only=True):
    """An index that was built."""

    content: IndexContent
    envelope: IndexEnvelope
    step: Name | None = None
    """The step that searches it."""
