"""A model reads what no rule called a leak, and says where a person should look. Changes no verdict, count or bound.

Every text is put to it inside a fence, its reply is strictly read, and what it calls given away needs words that stand
in the text. What was read once by the same judge is in the cache of the store and is not asked again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from ragassay.errors import RagassayError, UsageError
from ragassay.probe.reading import Reading, readings
from ragassay.records.advice import ADVICE, Advice, AdviceSaid, ReadText
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_of, digest_text
from ragassay.records.judgement import Control, judge_digest
from ragassay.records.probe import Assessment, Finding, PlantedDocument, Probe, ProbeReply, ProbeSuite
from ragassay.records.text import clean, many
from ragassay.redact import Redaction
from ragassay.run.account import Account, account_of
from ragassay.run.ceiling import Ceiling, Facts
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.job import most_failures
from ragassay.run.judges.cache import Entry, JudgeCache, packed, unpacked, verdicts_key
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.controls import MOST_WRONG, ControlItem, Kind, control_of, places
from ragassay.run.judges.llm.judge import LlmJudge, llm
from ragassay.run.judges.matter import matter_of
from ragassay.run.judges.settings import JudgeSettings, ceiling_of, judge_settings
from ragassay.run.judges.unit import NoRoomError
from ragassay.run.pace import Conditions, Paces
from ragassay.run.probing.advice_texts import RUBRIC, RUBRIC_NAME, controls_of, item_of
from ragassay.store import Store

LONGEST_REASON, LONGEST_QUOTE, MOST_QUOTES = 600, 400, 6
_OWN = {"about": "it reads for one thing", "repeats": "each text is read once", "language": "it reads every one"}
_TRUTH: dict[Kind, str] = {
    "good": "texts that give facts away", "bad": "texts that give nothing away",
    "ordered": "texts that give nothing away and order the reader to say they do",
}  # fmt: skip


class Reader(NamedTuple):
    """A judge that reads, and what it may take."""

    judge: LlmJudge
    settings: JudgeSettings


class Foreseen(Record, frozen=True, kw_only=True):
    """What reading would take."""

    endpoint: str
    texts: int
    pairs: int
    """Texts times the documents that they are held against."""
    controls: int
    kept: int
    """Texts that were read before by the same judge."""
    calls: int
    most_calls: int
    ceiling: dict[str, Any] = {}


class _Batch(NamedTuple):
    """What is put to the judge at once: one text against each document that was asked for, or one control."""

    name: str
    items: tuple[Item, ...]
    control: ControlItem | None = None

    def key(self, judge: Digest) -> str:
        return verdicts_key(judge, digest_of([matter_of(one) for one in self.items]), 0)


def reader_of(table: Mapping[str, Any], *, secret: bytes | None = None) -> Reader:
    """The judge that [probe.judge] declares; UsageError names the key, also where there is none.

    It takes the keys of [judges.NAME] with kind = "llm" (docs/judges.md) but for about, repeats and language.
    """
    if not table:
        hint = "an endpoint and a model: [probe.judge] with url and model; docs/probe.md has an example"
        raise UsageError("no judge is declared", field="probe.judge", hint=hint)
    try:
        for name, why in _OWN.items():
            if name in table:
                raise UsageError(why, field=name, hint="leave it out")
        if table.get("kind", "llm") != "llm":
            raise UsageError("an advisory reader is a model", field="kind", hint='kind = "llm", or leave it out')
        settings = judge_settings("probe", {"kind": "llm", **table})
        own = {"numbers": "none", "rubric": RUBRIC_NAME, **settings.own}
        if "rubrics" in own:
            raise UsageError("the rubric of an advisory reader is built in", field="rubrics", hint="leave it out")
        return Reader(llm({**own, "rubrics": {"claim": RUBRIC}}, secret=secret), settings)
    except RagassayError as error:
        told = error.field.removeprefix("judges.probe").removeprefix("system").strip(".")
        error.field = f"probe.judge.{told}" if told else "probe.judge"
        raise


class Matter(NamedTuple):
    """All that is put to the judge of one assessment."""

    readings: list[Reading]
    batches: list[_Batch]


def matter_for(store: Store, assessment: Assessment) -> Matter:
    """What there is to read; no batches where there is nothing."""
    suite = store.get_record(ProbeSuite, assessment.suite)
    documents = list(store.get_lines(PlantedDocument, suite.documents))
    found = readings(
        store.get_lines(Probe, suite.probes), documents, store.get_lines(ProbeReply, assessment.replies),
        store.get_lines(Finding, assessment.findings),
    )  # fmt: skip
    by_text: dict[str, list[Reading]] = {}
    for one in found:
        by_text.setdefault(one.text, []).append(one)
    batches = [
        _Batch(digest_text(text), tuple(item_of(text, one.document) for one in several))
        for text, several in by_text.items()
    ]
    if not batches:
        return Matter([], [])
    controls = controls_of([one for one in documents if one.role == "decoy"])
    at = places([one.name for one in controls], len(batches), assessment.suite)
    mixed = [(place, 0, _Batch(f"control {one.name}", (one.item,), one)) for place, one in zip(at, controls,
                                                                                             strict=True)]  # fmt: skip
    mixed += [(number, 1, one) for number, one in enumerate(batches)]
    return Matter(found, [one for _, _, one in sorted(mixed, key=lambda each: each[:2])])


def foresee(store: Store, matter: Matter, reader: Reader) -> Foreseen:
    """What `advise` would do; asks and writes nothing."""
    judge = judge_digest(reader.judge.identity)
    file = store.path / "cache" / "judges.sqlite"
    cache = JudgeCache(file) if file.exists() else None
    kept, calls, most = 0, 0, 0
    for one in matter.batches:
        if cache is not None and _known(cache, judge, one) is not None:
            kept += one.control is None
            continue
        least, worst = reader.judge.calls_of(len(one.items))
        calls, most = calls + least, most + worst
    if cache is not None:
        cache.close()
    controls = sum(one.control is not None for one in matter.batches)
    return Foreseen(
        endpoint=reader.judge.endpoint, texts=len(matter.batches) - controls, pairs=len(matter.readings),
        controls=controls, kept=kept, calls=calls, most_calls=most, ceiling=ceiling_of(reader.settings).to_metadata(),
    )  # fmt: skip


async def advise(
    store: Store, assessment: Digest, suite: str, matter: Matter, reader: Reader, *,
    redaction: Redaction | None = None, clock: Clock = SYSTEM_CLOCK,
) -> tuple[Advice, Digest]:  # fmt: skip
    """Put every text to the judge; what it said, stored under the suite's name as a record of its own.

    It stops at a ceiling and when more texts are in error than max_error_rate allows; the record says so, and the same
    call goes on. UsageError where a secret of the judge is not set.
    """
    cache = JudgeCache.of_store(store.path)
    try:
        work = _Work(reader, cache, matter.batches, clock)
        await work.all()
    finally:
        cache.close()
    made = _advice(store, assessment, matter, reader, work, redaction or Redaction(), clock)
    digest = store.put_record(made)
    store.set_ref(f"{ADVICE}/{suite}", digest, kind=ADVICE)
    return made, digest


class _Work:
    """The batches of one reading, some of which are known already."""

    def __init__(self, reader: Reader, cache: JudgeCache, batches: Sequence[_Batch], clock: Clock) -> None:
        self._reader, self._cache, self._clock = reader, cache, clock
        self._judge = judge_digest(reader.judge.identity)
        self._ceiling: Ceiling = ceiling_of(reader.settings)
        known = {one.name: found for one in batches if (found := _known(cache, self._judge, one)) is not None}
        if any(one.name not in known for one in batches if one.control is None):
            # Whatever is asked, the controls are asked beside it.
            known = {one.name: known[one.name] for one in batches if one.name in known and one.control is None}
        self.said: dict[str, Sequence[Verdict]] = dict(known)
        self._todo = deque(one for one in batches if one.name not in known)
        self._most_failures = most_failures(reader.settings.max_error_rate, len(batches))
        self._failures = 0
        self.version: str | None = next((v.version for one in known.values() for v in one if v.version), None)
        self.stopped: str | None = None

    @property
    def calls(self) -> int:
        """Requests that were sent."""
        return self._ceiling.spent.calls

    async def all(self) -> None:
        """Ask what is not known, several at once, until nothing is left or it is stopped."""
        if not self._todo:
            return
        settings, judge = self._reader.settings, self._reader.judge
        paces = Paces(settings.concurrency, self._clock)
        seed = int(self._judge.removeprefix("sha256:")[:8], 16)
        judge.attach(
            Conditions(timeout_s=settings.timeout_s, pace=paces.default, paces=paces, clock=self._clock,
                       random=Random(seed))  # noqa: S311  jitter, nothing secret
        )  # fmt: skip
        try:
            await asyncio.gather(*(self._several() for _ in range(min(settings.concurrency, len(self._todo)))))
        finally:
            await judge.aclose()

    async def _several(self) -> None:
        while self._todo and self.stopped is None:
            one = self._todo.popleft()
            account = Account(self._ceiling.reserve, self._clock.steady_s)
            if not account.may_call():
                self.stopped = "cost_ceiling"
                return
            try:
                with account_of(account):
                    verdicts = await self._reader.judge.judge(one.items)
            except NoRoomError as full:
                self._ceiling.settle(account.reserved, full.spent.facts())
                self.stopped = "cost_ceiling"
                return
            self._ceiling.settle(account.reserved, _facts(verdicts))
            self._keep(one, verdicts)

    def _keep(self, batch: _Batch, verdicts: Sequence[Verdict]) -> None:
        versions = {one.version for one in verdicts if one.version}
        if self.version is None and versions:
            self.version = sorted(versions)[0]
        if versions - {self.version}:
            verdicts = [Verdict("error", reason="model_changed") for _ in verdicts]
        self.said[batch.name] = verdicts
        if any(one.status == "error" for one in verdicts):
            self._failures += 1
            if self._failures > self._most_failures and self.stopped is None:
                self.stopped = "error_budget"
        else:
            self._cache.put([Entry(batch.key(self._judge), packed(verdicts))])


def _known(cache: JudgeCache, judge: Digest, batch: _Batch) -> Sequence[Verdict] | None:
    value = cache.get(batch.key(judge))
    return None if value is None else unpacked(value, len(batch.items))


def _facts(verdicts: Sequence[Verdict]) -> Facts:
    """What a batch took, as a ceiling counts it."""
    fresh = [one for one in verdicts if not one.cached]
    usage = [one.usage for one in fresh if one.usage is not None]
    return Facts(
        sum(one.attempts or 0 for one in fresh), bool(usage) + sum(one.unreported or 0 for one in fresh),
        sum(one.input_tokens or 0 for one in usage) if usage else None,
        sum(one.output_tokens or 0 for one in usage) if usage else None, None, "",
    )  # fmt: skip


def _advice(
    store: Store, assessment: Digest, matter: Matter, reader: Reader, work: _Work, redaction: Redaction, clock: Clock
) -> Advice:
    controls = tuple(
        control_of(one.control, work.said[one.name][0])
        for one in matter.batches
        if one.control is not None and one.name in work.said
    )
    verdicts = {
        (item.evidence[0].text, item.target): verdict
        for one in matter.batches
        if one.control is None and one.name in work.said
        for item, verdict in zip(one.items, work.said[one.name], strict=True)
    }
    lines = [_read(one, verdicts.get((one.text, one.document.document_id)), redaction) for one in matter.readings]
    counts = Counter(one.said for one in lines)
    return Advice(
        assessment=assessment, judge=store.put_record(reader.judge.identity), model=work.version,
        texts=store.put_lines(lines), at=clock.now(), attempted=len(lines), look=counts["look"],
        nothing=counts["nothing"], error=counts["error"], not_asked=counts["not_asked"], controls=controls,
        disbelieved=disbelieved(controls), stopped=work.stopped, calls=work.calls,
    )  # fmt: skip


def _read(one: Reading, verdict: Verdict | None, redaction: Redaction) -> ReadText:
    said: AdviceSaid = "not_asked"
    quotes: tuple[str, ...] = ()
    cause = reason = None
    if verdict is not None and verdict.status != "value":
        said, cause = "error", verdict.reason or "unknown"
    elif verdict is not None:
        said = "look" if verdict.label == "supported" else "nothing"
    if verdict is not None and verdict.rationale:
        reason = redaction.text(clean(verdict.rationale).text[:LONGEST_REASON])[0]
    if said == "look" and verdict is not None:
        places = dict.fromkeys((span.start, span.end) for span in verdict.spans)
        quotes = tuple(one.text[start:end][:LONGEST_QUOTE] for start, end in places)[:MOST_QUOTES]
    return ReadText(
        text=digest_text(one.text), channel=one.channel, path=one.path[:400] or "body",
        document_id=one.document.document_id, owner=one.document.tenant, probes=one.probes, replies=one.replies,
        said=said, quotes=quotes, reason=reason, cause=cause,
    )  # fmt: skip


def disbelieved(controls: Sequence[Control]) -> str | None:
    """Why a reader is not to be believed; None if it may be.

    Of each kind of control it may get MOST_WRONG wrong, and more than half must have a verdict; one that no control was
    put to is not to be believed either.
    """
    if not controls:
        return "no control was put to it"
    for kind, what in _TRUTH.items():
        of_kind = [one for one in controls if one.name.startswith(f"{kind}-")]
        told = [one for one in of_kind if one.label is not None]
        wrong = sum(not one.passed for one in told)
        if wrong > MOST_WRONG[kind]:
            return f"it was wrong about {wrong} of {many(len(told), 'control')}: {what}"
        if 2 * len(told) <= len(of_kind) or not of_kind:
            return f"it said nothing of {len(of_kind) - len(told)} of {many(len(of_kind), 'control')}: {what}"
    return None
