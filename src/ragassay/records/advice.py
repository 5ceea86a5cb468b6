"""What a model said of replies that no rule called a leak: for a person to look at, counted nowhere. Asks nothing."""

from __future__ import annotations

from typing import Literal

from ragassay.records.base import Digest, DocumentId, Instant, Record, require
from ragassay.records.document import Count, Name
from ragassay.records.judgement import Control
from ragassay.records.probe import Channel

ADVICE = "advice"
"""First part of the name under which the newest of a suite is kept."""
AdviceSaid = Literal["look", "nothing", "error", "not_asked"]
"""look: a person must look; nothing: it gives none of the facts away; error: nothing that can be read was said;
not_asked: a ceiling or too many errors came first."""


class ReadText(Record, frozen=True, kw_only=True):
    """One text of attackers' replies, held against the invented facts of one planted document."""

    text: Digest
    """Of its words; they stand in the replies of the assessment."""
    channel: Channel
    path: str
    """Where it stood first."""
    document_id: DocumentId
    owner: Name
    probes: tuple[Name, ...]
    """The first probes whose reply holds it."""
    replies: Count
    """How many replies hold it."""
    said: AdviceSaid
    quotes: tuple[str, ...] = ()
    """Words of the text, as they stand there."""
    reason: str | None = None
    """The model's own words; untrusted."""
    cause: str | None = None
    """Of an error."""

    def __post_init__(self) -> None:
        require((self.said == "look") == bool(self.quotes), "quotes stand exactly where a person must look")
        require((self.said == "error") == (self.cause is not None), "a cause stands exactly where there is an error")


class Advice(Record, frozen=True, kw_only=True):
    """What one model said of all replies of an assessment that no rule called a leak. It changes no other record."""

    assessment: Digest
    judge: Digest
    """Record of the JudgeIdentity: the author."""
    model: str | None = None
    """As the endpoint reported it."""
    texts: Digest
    """Blob: JSON lines of ReadText."""
    at: Instant
    attempted: Count
    """Texts times the documents that they are held against: look + nothing + error + not_asked."""
    look: Count
    nothing: Count
    error: Count
    not_asked: Count
    controls: tuple[Control, ...] = ()
    """Texts of known truth that were put to it among the others."""
    disbelieved: str | None = None
    """Why it is not to be believed: what it got wrong of the controls."""
    stopped: str | None = None
    """Why not all was asked: cost_ceiling, error_budget."""
    calls: Count = 0

    def __post_init__(self) -> None:
        total = self.look + self.nothing + self.error + self.not_asked
        require(self.attempted == total, f"attempted is {self.attempted}, the four counts add up to {total}")
