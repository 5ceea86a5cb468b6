"""One batch that was judged, as a line of the job's log. Judges and stores nothing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import AnswerClaims, Control, Judgement, JudgeWork
from ragassay.records.protocol import PaceEvent
from ragassay.run.ceiling import Facts
from ragassay.run.log import Log
from ragassay.run.log_lines import Body, Key

FORMAT = "ragassay-judging/1"


class Spending(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a batch took: requests sent, those that may have cost something, and what was reported."""

    calls: int = 0
    billed: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    amount: float | None = None
    currency: str = ""

    def facts(self) -> Facts:
        """As a ceiling counts it."""
        return Facts(self.calls, self.billed, self.input_tokens, self.output_tokens, self.amount, self.currency)


class NoRoomError(Exception):
    """The ceiling has no room for another request of a batch; what was sent for it is `spent`."""

    def __init__(self, spent: Spending) -> None:
        super().__init__("no room under the ceiling")
        self.spent = spent


class Judged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A finished batch: its verdicts, or what a judge said of a control."""

    name: str
    """Of the batch."""
    judge_repeat: int
    digest: Digest
    judgements: tuple[Judgement, ...] = ()
    work: tuple[JudgeWork, ...] = ()
    controls: tuple[Control, ...] = ()
    claims: tuple[AnswerClaims, ...] = ()
    """Of a decomposition."""
    spent: Spending = Spending()
    versions: dict[str, str] = {}
    texts: dict[str, str] = {}
    pace: tuple[PaceEvent, ...] = ()
    changed: bool = False
    """The model reported another version than before, and its verdicts do not count."""
    failed: bool = False
    """An item of it is in error."""

    @property
    def key(self) -> Key:
        """(batch, judge_repeat)."""
        return (self.name, self.judge_repeat)

    @property
    def facts(self) -> Facts:
        """What it cost."""
        return self.spent.facts()

    def placed(self, _order: int, texts: dict[str, str], pace: tuple[PaceEvent, ...]) -> Judged:
        """The same batch with what the pace did."""
        return msgspec.structs.replace(self, texts=texts, pace=pace)

    def computed(self) -> Digest:
        """The digest of what it says, worked out again."""
        return said(self.judgements, self.controls, self.claims)


def said(judgements: Sequence[Judgement], controls: Sequence[Control], claims: Sequence[AnswerClaims] = ()) -> Digest:
    """The digest of verdicts, controls and claims, without what they took."""
    parts: list[Sequence[Record]] = [judgements, controls, *([claims] if claims else [])]
    return digest_of([[msgspec.to_builtins(one) for one in part] for part in parts])


class JudgingLog(Log[Judged]):
    """An open log of a judging job under a lease; none of its batches is judged again."""

    body = msgspec.json.Decoder(Body[Judged])
