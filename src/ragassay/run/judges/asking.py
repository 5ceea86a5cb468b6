"""One batch to one evaluator, and its verdicts as records, whatever the evaluator does. Knows nothing of the job."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from ragassay.errors import RagassayError
from ragassay.records.base import Digest, QueryId
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import (
    SCALES,
    AnswerClaims,
    Claim,
    Control,
    JudgeIdentity,
    Judgement,
    JudgeWork,
    judge_digest,
)
from ragassay.records.score import Status
from ragassay.records.text import clean
from ragassay.records.trace import Cost, Failure
from ragassay.redact import Redaction
from ragassay.run.account import Account, account_of
from ragassay.run.ceiling import Facts
from ragassay.run.clock import Clock
from ragassay.run.judges.cache import Entry, packed, unpacked, verdicts_key
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.controls import ControlItem, control_of
from ragassay.run.judges.matter import Batch
from ragassay.run.judges.unit import Judged, NoRoomError, Spending, said
from ragassay.run.log_lines import Key
from ragassay.run.threads import in_thread, name_of, words_of

LONGEST_RATIONALE = 2000
MOST_SPANS = 20
_STATUSES = get_args(Status)


class Made(NamedTuple):
    """A finished batch, and what of it is to be kept for other runs."""

    finished: Judged | None
    """None: the ceiling had no room for all of it."""
    kept: Entry | None = None
    raw: bytes | None = None
    spent: Facts | None = None
    """Of a batch that is not finished: what was sent for it."""


class Judging:
    """Puts single batches to one evaluator. The first version that its model reports is the one that counts."""

    def __init__(
        self,
        evaluator: Any,
        batches: Mapping[str, Batch],
        controls: Mapping[str, ControlItem],
        *,
        identity: JudgeIdentity,
        timeout_s: float,
        repeats: int,
        redaction: Redaction,
        clock: Clock,
        version: str | None = None,
    ) -> None:
        """`identity`: the evaluator's with what cut the claims; `version`: what the model reported before."""
        self._evaluator, self._batches, self._controls = evaluator, batches, controls
        self._timeout_s, self._repeats, self._redaction, self._clock = timeout_s, repeats, redaction, clock
        self._asks = inspect.iscoroutinefunction(evaluator.judge)
        self.judge: Digest = judge_digest(identity)
        self.version = version

    def items_of(self, name: str) -> tuple[Item, ...]:
        """What is put to the evaluator under this name."""
        return (self._controls[name].item,) if name in self._controls else self._batches[name].items

    def cache_key(self, key: Key) -> str:
        """By what the verdicts of a batch are known in every run."""
        name, repeat = key
        matter = self._batches[name].identity() if name in self._batches else digest_of(self._controls[name].matter())
        return verdicts_key(self.judge, matter, repeat)

    def is_control(self, key: Key) -> bool:
        """Whether this batch is a control."""
        return key[0] in self._controls

    def from_cache(self, key: Key, value: bytes) -> Judged | None:
        """A batch that was judged before; None if what is kept does not fit."""
        found = unpacked(value, len(self.items_of(key[0])))
        return None if found is None else self._finished(key, found, None)

    async def ask(self, key: Key, account: Account | None = None) -> Made:
        """The verdicts of one batch: whatever the evaluator does, this returns."""
        items = self.items_of(key[0])
        start_s = self._clock.steady_s()
        try:
            with account_of(account or Account()):
                found = await self._verdicts(items, key[1]) if items else ()
        except NoRoomError as full:
            return Made(None, spent=full.spent.facts())
        latency_ms = self._clock.since_ms(start_s)
        checked = [self._checked(one, item) for one, item in zip(found, items, strict=True)]
        finished = self._finished(key, checked, None if not items else latency_ms)
        lasting = all(one.status != "error" for one in checked) and not finished.changed and bool(items)
        kept = Entry(self.cache_key(key), packed(checked)) if lasting else None
        return Made(finished, kept)

    async def _verdicts(self, items: tuple[Item, ...], repeat: int) -> Sequence[Verdict]:
        """One verdict an item; a failure of the evaluator is the verdict of each."""
        try:
            if self._asks:
                found = await self._evaluator.judge(items, judge_repeat=repeat)
            else:
                async with asyncio.timeout(self._timeout_s):
                    found = await in_thread(self._evaluator.judge, items)
        except TimeoutError:
            return _all_failed(items, Failure(cause="timeout"), f"nothing came in {self._timeout_s:g} s")
        except (asyncio.CancelledError, NoRoomError):
            raise
        except Exception as cause:  # noqa: BLE001  an evaluator of others may raise anything
            failure = Failure(cause="exception", code=name_of(cause)[:256])
            return _all_failed(items, failure, f"{name_of(cause)}: {words_of(cause)}")
        if (
            not isinstance(found, Sequence)
            or len(found) != len(items)
            or not all(isinstance(one, Verdict) for one in found)
        ):
            failure = Failure(cause="invalid_response", code="verdicts")
            return _all_failed(items, failure, f"an evaluator owes {len(items)} verdicts, one an item, in order")
        return found

    def _checked(self, verdict: Verdict, item: Item) -> Verdict:
        """The verdict itself if it is one of this item; else an error that says what is wrong with it."""
        wrong = _fault(verdict, item)
        if wrong:
            failure = Failure(cause="invalid_response", code="verdict")
            return Verdict("error", reason="invalid_response", failure=failure, rationale=wrong, usage=verdict.usage,
                           attempts=verdict.attempts, latency_ms=verdict.latency_ms)  # fmt: skip
        if verdict.rationale is None:
            return verdict
        kept, _ = self._redaction.text(clean(verdict.rationale).text[:LONGEST_RATIONALE])
        return verdict._replace(rationale=kept)

    def _finished(self, key: Key, verdicts: Sequence[Verdict], latency_ms: float | None) -> Judged:
        name, repeat = key
        versions = list(dict.fromkeys(one.version for one in verdicts if one.version))
        if versions and self.version is None:
            self.version = versions[0]
        changed = any(one != self.version for one in versions)
        if changed:
            failure = Failure(cause="invalid_response", code="model_changed")
            told = f"the endpoint reports {versions[-1]}, and reported {self.version} before"
            verdicts = [
                Verdict("error", reason="model_changed", failure=failure, rationale=told, usage=one.usage,
                        attempts=one.attempts, cached=one.cached)
                for one in verdicts
            ]  # fmt: skip
        judgements: tuple[Judgement, ...] = ()
        controls: tuple[Control, ...] = ()
        work: tuple[JudgeWork, ...] = ()
        claims: tuple[AnswerClaims, ...] = ()
        if name in self._controls:
            controls = (control_of(self._controls[name], verdicts[0]),)
        else:
            batch = self._batches[name]
            judgements, work = self._records(batch, repeat, verdicts, latency_ms)
            claims = tuple(batch.tie(one.cut) for one in verdicts if one.cut is not None and batch.tie is not None)
        return Judged(
            name=name,
            judge_repeat=repeat,
            digest=said(judgements, controls, claims),
            judgements=judgements,
            work=work,
            controls=controls,
            claims=claims,
            spent=_spent(verdicts) if latency_ms is not None and self._asks else Spending(),
            versions={"model": self.version} if versions and self.version else {},
            changed=changed,
            failed=any(one.status == "error" for one in verdicts),
        )

    def _records(
        self, batch: Batch, repeat: int, verdicts: Sequence[Verdict], latency_ms: float | None
    ) -> tuple[tuple[Judgement, ...], tuple[JudgeWork, ...]]:
        judged = [*zip(batch.items, verdicts, strict=True)]
        judged += [(item, Verdict("missing", reason=why)) for item, why in batch.missing]
        number = repeat if self._repeats > 1 else None
        made = tuple(self._judgement(item, one, number) for item, one in judged)
        share_ms = None if latency_ms is None else round(latency_ms / max(1, len(verdicts)), 3)
        work = tuple(
            JudgeWork(
                query_id=QueryId(item.query_id), repeat=item.repeat, about=item.about, target=item.target,
                judge_repeat=number, latency_ms=one.latency_ms if one.latency_ms is not None else share_ms,
                attempts=one.attempts, usage=one.usage, cached=one.cached,
            )
            for item, one in zip(batch.items, verdicts, strict=True)
        )  # fmt: skip
        return made, work

    def _judgement(self, item: Item, verdict: Verdict, number: int | None) -> Judgement:
        return Judgement(
            query_id=QueryId(item.query_id),
            repeat=item.repeat,
            judge=self.judge,
            about=item.about,
            target=item.target,
            scale=item.scale,
            status=verdict.status,
            label=verdict.label,
            reason=verdict.reason,
            score=verdict.score,
            spans=verdict.spans,
            rationale=verdict.rationale,
            judge_repeat=number,
            cost=verdict.cost,
            failure=verdict.failure,
        )


def _all_failed(items: Sequence[Item], failure: Failure, detail: str) -> list[Verdict]:
    return [Verdict("error", reason=failure.cause, failure=failure, rationale=detail) for _ in items]


def _fault(verdict: Verdict, item: Item) -> str:
    """What is wrong with a verdict; empty if nothing is."""
    if verdict.status not in _STATUSES:
        return f"{verdict.status!r} is no status"
    if (verdict.status == "value") != (verdict.label is not None):
        return "a label stands exactly where status is value"
    if (verdict.status == "value") != (verdict.reason is None):
        return "a reason stands exactly where there is no label"
    if verdict.label is not None and verdict.label not in SCALES.get(item.scale, (verdict.label,)):
        return f"{verdict.label!r} is no label of {item.scale}"
    if verdict.score is not None and not math.isfinite(verdict.score):
        return "a score is a finite number"
    if (item.about == "decomposition" and verdict.status == "value") != (verdict.cut is not None):
        return "claims stand exactly where an answer was decomposed"
    if verdict.cut is not None and not _apart(verdict.cut.claims, len(item.answer)):
        return "claims are places of the answer in order, apart from each other, each with an id of its own"
    known = {(one.document_id, one.version) for shown in item.evidence for one in shown.sources}
    if any((one.document_id, one.version) not in known for one in verdict.spans) or len(verdict.spans) > MOST_SPANS:
        return f"spans are places of what was shown, {MOST_SPANS} at most"
    try:
        digest_of([verdict.reason or "", verdict.label or "", verdict.version or ""])
    except RagassayError as cause:
        return cause.message
    return ""


def _apart(claims: Sequence[Claim], length: int) -> bool:
    ends = [0, *(one.end for one in claims)]
    ordered = all(end <= one.start for end, one in zip(ends, claims, strict=False)) and ends[-1] <= length
    return (
        ordered
        and len({one.claim_id for one in claims}) == len(claims)
        and all(one.subject is None or one.subject[1] <= length for one in claims)
    )


def _spent(verdicts: Sequence[Verdict]) -> Spending:
    """What a batch took; a verdict that was cached took nothing."""
    fresh = [one for one in verdicts if not one.cached]
    usage = [one.usage for one in fresh if one.usage is not None]
    cost: list[Cost] = [one.cost for one in fresh if one.cost is not None]
    known = bool(usage)
    unreported = sum(
        one.unreported if one.unreported is not None else 0 if one.usage is not None else one.attempts or 0
        for one in fresh
    )
    return Spending(
        calls=sum(one.attempts or 0 for one in fresh),
        billed=known + unreported,
        input_tokens=sum(one.input_tokens or 0 for one in usage) if known else None,
        output_tokens=sum(one.output_tokens or 0 for one in usage) if known else None,
        amount=math.fsum(one.amount for one in cost) if cost else None,
        currency=cost[0].currency if cost else "",
    )
