"""One batch to a model: calls, re-asks, and the checks by which a verdict is taken back. Reads no settings file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ragassay.records.canonical import canonical_bytes, digest_of
from ragassay.records.document import Span
from ragassay.records.judgement import SCALES
from ragassay.records.trace import Failure
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.llm.call import Came, Heard, Meter, log_odds
from ragassay.run.judges.llm.fence import nonce_of, tag_of
from ragassay.run.judges.llm.form import BadReplyError, Said, read, schema_of
from ragassay.run.judges.llm.numbers import absent
from ragassay.run.judges.llm.prompt import Call, body_of, calls_for, messages, names_of, size_of, yes_no
from ragassay.run.judges.llm.quotes import find, spans_of

if TYPE_CHECKING:
    from ragassay.run.judges.llm.judge import LlmJudge

TOKENS_A_CALL, TOKENS_AN_ITEM = 200, 450
"""How many tokens a reply may have, where `options` do not say it."""
ENDED = frozenset({"stop", "eos", "eos_token"})
"""Finish reasons of a reply that is whole."""
_CUT = {"length": "truncated", "max_tokens": "truncated", "content_filter": "content_filter"}
Kind = Literal["verdict", "swapped", "opposite", "score"]
YES, NO = ("yes", "true", "supported"), ("no", "false", "unsupported")


class Asking:
    """The verdicts of one batch, one repeat."""

    def __init__(self, judge: LlmJudge, judge_repeat: int) -> None:
        self._judge, self._settings, self._repeat = judge, judge.settings, judge_repeat
        self._meter = Meter()
        self._first = True
        self._several = False

    async def verdicts(self, items: Sequence[Item]) -> list[Verdict]:
        """A verdict for each item; what the batch took stands with the first one that was asked."""
        found: dict[int, Verdict] = {}
        calls: list[tuple[Call, tuple[int, ...]]] = []
        for call, places in calls_for(items, self._settings.together):
            told = self._without_asking(call)
            if told is not None:
                found.update(dict.fromkeys(places, told))
            else:
                calls.append((call, places))
        more = self._settings.order_swap or self._settings.counterfactual or self._settings.score != "none"
        self._several = len(calls) > 1 or more
        for call, places in calls:
            verdicts = await self._ruled(call)
            for place, verdict in zip(places, await self._checked(call, verdicts), strict=True):
                found[place] = verdict
        made = [found[place] for place in range(len(items))]
        asked = sorted(place for _, places in calls for place in places)
        return self._with_work(made, asked)

    def _with_work(self, made: list[Verdict], asked: Sequence[int]) -> list[Verdict]:
        meter, took = self._meter, bool(self._meter.calls)
        for number, place in enumerate(asked):
            first = number == 0 and took
            made[place] = made[place]._replace(
                cached=not took,
                attempts=meter.calls if first else 0,
                unreported=meter.unreported if first else 0,
                usage=meter.usage if first else None,
            )
        return made

    def _without_asking(self, call: Call) -> Verdict | None:
        """What needs no model: nothing supports a claim where there is no evidence."""
        if call.topic in ("claim", "citation") and not any(one.text.strip() for one in call.evidence):
            return Verdict("value", label=SCALES[call.scale][1], rationale="There is no evidence.")
        if size_of(call) > self._settings.evidence_characters:
            return _error("evidence_too_long", f"{size_of(call)} characters of material", cause="guard")
        return None

    async def _ruled(self, call: Call) -> list[Verdict]:
        """The verdicts of one call; what got no usable reply is asked again a declared number of times."""
        found: dict[int, Verdict] = {}
        pending = list(range(len(call.statements)))
        for ask in range(1 + self._settings.reasks):
            part = call._replace(statements=tuple(call.statements[place] for place in pending))
            for place, verdict in zip(list(pending), await self._once(part, "verdict", ask), strict=True):
                found[place] = verdict
            pending = [place for place in pending if _may_mend(found[place])]
            if not pending:
                break
        return [found[place] for place in range(len(call.statements))]

    async def _once(self, call: Call, kind: Kind, ask: int) -> list[Verdict]:
        """The verdicts of one request."""
        key = self._key(call, kind, ask)
        tag = tag_of(self._judge.secret, key)
        names = names_of(call, tag)
        came = await self._call(call, kind, key)
        if came.heard is None:
            failure = came.failure or Failure(cause="invalid_response", code="nothing")
            return [Verdict("error", reason=failure.cause, failure=failure, rationale=came.detail) for _ in names]
        try:
            check_end(came.heard, self._settings.version)
            said = read(came.heard.text, names, call.scale, quotes=call.quoted)
        except BadReplyError as bad:
            return [_error(bad.code, bad.detail)._replace(version=came.heard.version) for _ in names]
        made = [
            self._verdict(call, said[name], statement, kind)._replace(version=came.heard.version)
            for name, statement in zip(names, call.statements, strict=True)
        ]
        if self._several or any(one.status == "error" for one in made):
            await self._keep(key, came.heard)
        return made

    def _verdict(self, call: Call, said: Said, statement: str, kind: Kind) -> Verdict:
        """What is said of one item, if its quotes are what they should be and its numbers are there."""
        if not call.quoted or said.verdict == SCALES[call.scale][1] or kind == "opposite":
            return Verdict("value", label=said.verdict, rationale=said.reason)
        if said.verdict == SCALES[call.scale][0] and self._settings.numbers != "none":
            number = absent(statement, call.sources)
            if number is not None:
                return self._overruled(call, said, number)
        found = [place for quote in said.quotes if (place := find(quote, call.sources)) is not None]
        if found:
            spans: tuple[Span, ...] = tuple(
                span for number, start, end in found for span in self._spans(call, number, start, end)
            )
            return Verdict("value", label=said.verdict, rationale=said.reason, spans=tuple(dict.fromkeys(spans))[:12])
        code = "invented_quote" if said.quotes else "no_quote"
        if self._settings.unquoted == "unsupported":
            told = f"{code}: called {said.verdict}, and no quote of it stands in the evidence. {said.reason}"
            return Verdict("value", label=SCALES[call.scale][1], rationale=told)
        return _error(code, f"called {said.verdict}; quoted {list(said.quotes)!r:.300}")

    def _overruled(self, call: Call, said: Said, number: str) -> Verdict:
        """In place of a verdict that cannot be right: a number of the statement stands nowhere."""
        told = f"called {said.verdict}, and {number!r} stands nowhere in the evidence"
        if self._settings.numbers == "unsupported":
            return Verdict("value", label=SCALES[call.scale][1], rationale=f"{told}. {said.reason}")
        return _error("number_not_there", told)

    @staticmethod
    def _spans(call: Call, number: int, start: int, end: int) -> tuple[Span, ...]:
        if call.topic == "fact":
            return ()
        if number >= len(call.evidence):
            return call.evidence[number - len(call.evidence)].sources[:4]
        return spans_of(call.evidence[number], start, end)

    async def _checked(self, call: Call, verdicts: list[Verdict]) -> list[Verdict]:
        """The verdicts that stand when they are asked for in another way, and their scores, where that is declared."""
        good = SCALES[call.scale][0]
        if self._settings.order_swap:
            verdicts = await self._again(call, verdicts, "swapped", lambda one: one.status == "value")
        if self._settings.counterfactual:
            verdicts = await self._again(call, verdicts, "opposite", lambda one: one.label == good)
        if self._settings.score == "logprobs":
            verdicts = [
                one if one.status != "value" else await self._scored(call, place, one)
                for place, one in enumerate(verdicts)
            ]
        return verdicts

    async def _again(self, call: Call, verdicts: list[Verdict], kind: Kind, wanted: Any) -> list[Verdict]:
        """Verdicts against those of the same items in the other order, or of their opposites."""
        places = [place for place, one in enumerate(verdicts) if wanted(one)]
        if not places:
            return verdicts
        good = SCALES[call.scale][0]
        part = call._replace(statements=tuple(call.statements[place] for place in places))
        part = part.reversed() if kind == "swapped" else part.opposite()
        second: list[Verdict] = []
        for ask in range(1 + self._settings.reasks):
            second = await self._once(part, kind, ask)
            if not any(_may_mend(one) for one in second):
                break
        second = second[::-1] if kind == "swapped" else second
        made = list(verdicts)
        for place, other in zip(places, second, strict=True):
            one = verdicts[place]
            if other.status != "value":
                made[place] = other
            elif other.version != one.version:
                made[place] = _error("model_changed", f"{one.version}, then {other.version}")
            elif kind == "swapped" and (one.label == good) != (other.label == good):
                made[place] = _error("order", f"{one.label}, and {other.label} in the other order. {one.rationale}")
            elif kind == "opposite" and other.label == good:
                made[place] = _error("counterfactual", f"its opposite is called {good} too. {one.rationale}")
        return made

    async def _scored(self, call: Call, place: int, verdict: Verdict) -> Verdict:
        """The verdict with the log-odds of yes over no; without a score where the endpoint gives none."""
        part = call._replace(statements=(call.statements[place],))
        key = self._key(part, "score", 0)
        came = await self._call(part, "score", key)
        if came.heard is None:
            return verdict
        if came.heard.version != verdict.version:
            return _error("model_changed", f"{verdict.version}, then {came.heard.version}")
        await self._keep(key, came.heard)
        return verdict._replace(score=log_odds(came.heard.first, YES, NO))

    async def _call(self, call: Call, kind: Kind, key: str) -> Came:
        """What was kept of this very call, else what comes when it is sent."""
        kept = self._judge.replies.get(key) if self._judge.replies is not None else None
        if kept is not None:
            try:
                return Came(msgspec.json.decode(kept, type=Heard))
            except msgspec.MsgspecError:
                kept = None
        nonce, tag = nonce_of(self._judge.secret, key), tag_of(self._judge.secret, key)
        rubric = self._judge.rubrics[call.topic]
        first, self._first = self._first, False
        if kind == "score":
            options = {"max_tokens": 1, "logprobs": True, "top_logprobs": self._settings.top_logprobs}
            sampled = {key: value for key, value in self._settings.options.items() if key not in options}
            body = body_of(self._settings.model, yes_no(call, rubric, nonce, tag), {**sampled, **options})
        else:
            tokens = {"max_tokens": TOKENS_A_CALL + TOKENS_AN_ITEM * len(call.statements)}
            body = body_of(
                self._settings.model, messages(call, rubric, nonce, tag), {**tokens, **self._settings.options}
            )
            body |= self._form(call, tag)
        if self._settings.seed is not None:
            body["seed"] = self._settings.seed + self._repeat
        return await self._judge.chat.call(body, self._meter, first=first)

    def _form(self, call: Call, tag: str) -> dict[str, Any]:
        if self._settings.form == "text":
            return {}
        if self._settings.form == "json_object":
            return {"response_format": {"type": "json_object"}}
        schema = schema_of(names_of(call, tag), call.scale, quotes=call.quoted)
        named = {"name": "verdicts", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _key(self, call: Call, kind: Kind, ask: int) -> str:
        """By what a reply is known: everything that can change it; the nonce, which follows from it, aside."""
        return digest_of(["reply", self._judge.digest, call.identity(), kind, str(ask), str(self._repeat)])

    async def _keep(self, key: str, heard: Heard) -> None:
        if self._judge.replies is not None:
            await self._judge.replies.put(key, msgspec.json.encode(heard))


def check_end(heard: Heard, version: str | None) -> None:
    """BadReplyError for a reply that is not whole, or of another model than was declared."""
    if version is not None and heard.version != version:
        raise BadReplyError("other_model", f"the endpoint reports {heard.version}; declared is {version}")
    if heard.refusal:
        raise BadReplyError("refusal", heard.text[:300])
    if heard.finish not in ENDED:
        code = _CUT.get(heard.finish or "", "finish_reason")
        raise BadReplyError(code, f"finish_reason is {heard.finish!r}: raise max_tokens, or ask for less")


def spelled(value: Any) -> str:
    """An option as an identity names it."""
    return value if isinstance(value, str) else canonical_bytes(value).decode()


def _may_mend(verdict: Verdict) -> bool:
    """Whether asking again may help: the reply was not usable. What never arrived was tried again already."""
    failure = verdict.failure
    never = ("other_model", "evidence_too_long", "number_not_there")
    return failure is not None and failure.cause == "invalid_response" and failure.code not in never


def _error(code: str, detail: str, *, cause: Any = "invalid_response") -> Verdict:
    return Verdict("error", reason=code, failure=Failure(cause=cause, code=code), rationale=detail)
