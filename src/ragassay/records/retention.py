"""How long what a run left is kept. Counts no day."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Record

Days = Annotated[int, Meta(ge=0)]
What = Literal["raw", "texts", "traces"]
WHATS: tuple[What, ...] = ("raw", "texts", "traces")


class Retention(Record, frozen=True, kw_only=True):
    """[retention]: days after the end of a run; left out: for ever."""

    raw: Days | None = None
    """Raw responses."""
    texts: Days | None = None
    """Texts of what was retrieved and shown."""
    traces: Days | None = None
    """Traces with the answers."""

    def of(self, what: What) -> int | None:
        """The term of one kind."""
        return {"raw": self.raw, "texts": self.texts, "traces": self.traces}[what]
