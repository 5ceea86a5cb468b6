"""One call to a model that judges: what is sent, what came, what it took. Rules on nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from ragassay.records.base import Instant, QueryId
from ragassay.records.text import clean
from ragassay.records.trace import Failure, Measurements, Usage
from ragassay.run.account import current
from ragassay.run.ceiling import facts_of
from ragassay.run.contract import Reply, Request
from ragassay.run.judges.unit import NoRoomError, Spending
from ragassay.run.systems.completions import Completions, Read

_REQUEST = Request(query_id=QueryId("judge"), query="", as_of=Instant("1970-01-01T00:00:00Z"), top_k=1)


class Heard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reply as it is kept: its text, and what the endpoint said about it."""

    text: str = ""
    finish: str | None = None
    version: str | None = None
    usage: Usage | None = None
    first: dict[str, float] = {}
    """Candidates of the first token -> log probability, where they were asked for."""
    refusal: bool = False


class Came(NamedTuple):
    """What came of a call: a reply, or why there is none."""

    heard: Heard | None
    failure: Failure | None = None
    detail: str = ""


class Meter:
    """What the calls of one batch took."""

    def __init__(self) -> None:
        self.calls = self.unreported = 0
        self.input_tokens = self.output_tokens = 0
        self.reported = False
        self.latency_ms = 0.0

    def add(self, reply: Reply) -> None:
        """One reply with all its attempts."""
        usage = _usage(reply.value)
        measured = Measurements(query_id=QueryId("judge"), repeat=0, attempts=reply.attempts, usage=usage)
        facts = facts_of(measured)
        self.calls += facts.calls
        known = usage is not None and facts.billed > 0
        self.unreported += facts.billed - known
        self.latency_ms += sum(one.duration_ms for one in reply.attempts)
        if usage is not None:
            self.reported = True
            self.input_tokens += usage.input_tokens or 0
            self.output_tokens += usage.output_tokens or 0

    @property
    def usage(self) -> Usage | None:
        """Tokens of all calls together; None where none were reported."""
        if not self.reported:
            return None
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)

    def spent(self) -> Spending:
        """As a ceiling counts it."""
        known = self.reported
        return Spending(
            calls=self.calls,
            billed=known + self.unreported,
            input_tokens=self.input_tokens if known else None,
            output_tokens=self.output_tokens if known else None,
        )


class Endpoint(Completions):
    """A chat endpoint of which the candidates of the first token are read too."""

    def read(self, body: bytes, first_token_ms: float | None) -> Read:
        """As for a system, with `first` where the endpoint gives log probabilities."""
        value, failure, detail = super().read(body, first_token_ms)
        if failure is None and b'"logprobs"' in body:
            value = {
                **value,
                "first": _first_token(json.loads(body.decode("utf-8", "surrogateescape").lstrip("\ufeff"))),
            }
        return value, failure, detail

    async def call(self, body: Mapping[str, Any], meter: Meter, *, first: bool) -> Came:
        """Send one body; `first` says whether the job has reserved its room already. NoRoomError if there is none."""
        if not first and not current().may_call():
            raise NoRoomError(meter.spent())
        reply = await self.send(_REQUEST, dict(body))
        meter.add(reply)
        if reply.failure is not None:
            return Came(None, reply.failure, _scrubbed(reply.detail or "", reply.secrets))
        value: Mapping[str, Any] = reply.value
        answer = value["answer"]
        return Came(
            Heard(
                text=clean(_scrubbed(answer["text"], reply.secrets)).text,
                finish=answer.get("finish_reason"),
                version=clean(value["versions"]["model"]).text[:256] if "model" in value.get("versions", {}) else None,
                usage=_usage(value),
                first=value.get("first") or {},
                refusal="outcome" in answer,
            )
        )


def log_odds(first: Mapping[str, float], yes: Iterable[str], no: Iterable[str]) -> float | None:
    """Log of p(yes) / p(no) over the candidates of a first token, each word in any case and with marks around it.

    A side that is not among the candidates is less likely than all of them: it counts as the least of them. None where
    neither side is there.
    """
    found = [_sum(first, {one.casefold() for one in words}) for words in (yes, no)]
    if found == [None, None] or not first:
        return None
    least = min(first.values())
    good, bad = (least if one is None else one for one in found)
    return good - bad


def _sum(first: Mapping[str, float], words: set[str]) -> float | None:
    logs = [value for token, value in first.items() if token.strip(" \t\r\n\"'.,:!▁Ġ").casefold() in words]
    if not logs:
        return None
    most = max(logs)
    return most + math.log(math.fsum(math.exp(one - most) for one in logs))


def _first_token(found: Any) -> dict[str, float]:
    """The candidates of the first token that is not blank."""
    try:
        tokens = found["choices"][0]["logprobs"]["content"]
        for token in tokens:
            if str(token["token"]).strip():
                every = [*token.get("top_logprobs", ()), token]
                return {
                    str(one["token"]): float(one["logprob"])
                    for one in every
                    if isinstance(one["logprob"], int | float) and math.isfinite(one["logprob"])
                }
    except (KeyError, IndexError, TypeError, ValueError):
        return {}
    return {}


def _usage(value: Any) -> Usage | None:
    found = value.get("usage") if isinstance(value, Mapping) else None
    kept = {key: one for key, one in (found or {}).items() if isinstance(one, int) and one >= 0}
    return Usage(**kept) if kept else None


def _scrubbed(text: str, secrets: tuple[str, ...]) -> str:
    for one in secrets:
        text = text.replace(one, "[credential]")
    return text
