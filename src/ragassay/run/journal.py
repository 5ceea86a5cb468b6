"""The journal of a run: a log whose units are finished questions with their traces. Asks and seals nothing."""

from __future__ import annotations

import msgspec

from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.protocol import PaceEvent
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run.ceiling import Facts, facts_of
from ragassay.run.log import MOST_EVENTS, Entry, Log, no_point, set_aside
from ragassay.run.log_lines import Body, Header, Key

__all__ = ["FORMAT", "MOST_EVENTS", "Entry", "Finished", "Header", "Journal", "Key", "no_point", "set_aside"]
FORMAT = "ragassay-journal/1"


class Finished(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One finished question: its trace, and the texts that this line is the first to need."""

    content: TraceContent
    measurements: Measurements
    digest: Digest
    """Of the content."""
    texts: dict[str, str] = {}
    pace: tuple[PaceEvent, ...] = ()
    """What happened to the pace since the line before."""
    raw: bytes | None = None
    """The raw response where it is short; it becomes a blob when the run is sealed."""

    @property
    def key(self) -> Key:
        """(query_id, repeat)."""
        return (self.content.query_id, self.content.repeat)

    @property
    def failed(self) -> bool:
        """Whether the question ended in a failure."""
        return self.content.failure is not None

    @property
    def facts(self) -> Facts:
        """What it cost."""
        return facts_of(self.measurements)

    @property
    def versions(self) -> dict[str, str]:
        """What the system reported of its versions."""
        return self.content.versions

    def placed(self, order: int, texts: dict[str, str], pace: tuple[PaceEvent, ...]) -> Finished:
        """The same question with its order of completion, the texts that are new, and what the pace did."""
        measurements = msgspec.structs.replace(self.measurements, completed=order)
        return msgspec.structs.replace(self, measurements=measurements, texts=texts, pace=pace)

    def computed(self) -> Digest:
        """The digest of the content, worked out again."""
        return digest_of(self.content)


class Journal(Log[Finished]):
    """An open journal under a lease. `entries` are the finished questions; none of them is asked again."""

    body = msgspec.json.Decoder(Body[Finished])

    def answer(self, key: Key) -> str | None:
        """The text that was answered to a finished question, if there is one."""
        found = self.read(key, check=False).content.answer
        return None if found is None else found.text
