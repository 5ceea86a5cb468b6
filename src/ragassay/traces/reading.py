"""What a reader of traces hands on: the traces, and what it left out. Reads no file itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragassay.benchmark.intake import Problem, listed
from ragassay.records.base import Digest
from ragassay.records.trace import Trace


class TraceReading(list[Trace]):
    """A list of traces; `skipped` names each line that was left out because that was asked for.

    `texts` holds, by digest, texts of items that the file printed; a trace itself holds only their digests.
    """

    def __init__(
        self,
        traces: Iterable[Trace] = (),
        *,
        skipped: Iterable[Problem] = (),
        texts: Mapping[Digest, str] | None = None,
    ) -> None:
        super().__init__(traces)
        self.skipped = tuple(skipped)
        self.texts = dict(texts or {})

    @property
    def notes(self) -> list[str]:
        """What must be said beside every score of these traces; empty if nothing was left out."""
        return listed(self.skipped)
