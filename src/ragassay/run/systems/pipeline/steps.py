"""The log of one question on its way through a pipeline: steps, times, calls and cache hits. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import msgspec

from ragassay.errors import CeilingError
from ragassay.records.trace import Attempt, Failure
from ragassay.run.account import current
from ragassay.run.clock import Clock
from ragassay.run.contract import Reply
from ragassay.run.threads import name_of, words_of

Entry = dict[str, Any]


class CallFailedError(Exception):
    """A step could not be done: `reply` is the failure of the question."""

    def __init__(self, step: str, reply: Reply, failure: Failure | None = None, detail: str | None = None) -> None:
        found = failure or reply.failure or Failure(cause="exception", code=step)
        said = detail or reply.detail or found.cause
        self.reply = replace(reply, value=None, failure=found, detail=f"{step}: {said}")
        super().__init__(f"{step}: {said}")


def failure_of(cause: Exception) -> Failure:
    """What an exception in a step means for its question."""
    if isinstance(cause, CallFailedError) and cause.reply.failure is not None:
        return cause.reply.failure
    if isinstance(cause, CeilingError):
        return Failure(cause="exception", code="ceiling")
    return Failure(cause="exception", code=name_of(cause))


def _told(failure: Failure) -> str:
    return failure.cause if failure.code is None else f"{failure.cause} {failure.code}"


class StepLog:
    """Steps in their order, each with its time; the attempts of all calls; what was waited for others."""

    def __init__(self, clock: Clock) -> None:
        self.steps: list[Entry] = []
        self.attempts: list[Attempt] = []
        self.secrets: tuple[str, ...] = ()
        self.input_tokens = self.output_tokens = 0
        self.unreported = False
        """Whether a call of a model said nothing about its tokens."""
        self.asked_models = 0
        self.timed = True
        """Whether every step so far took the time that it takes without a cache that others filled."""
        self.last: Reply = Reply()
        self._clock, self.waited_ms = clock, 0.0
        self.began_s = clock.steady_s()
        self._sent = 0

    @contextmanager
    def step(
        self, name: str, kind: str, parents: list[str] | None = None, iteration: int | None = None
    ) -> Iterator[Entry]:
        """One step: what is put into the mapping is reported, with the time that passed in here.

        A step that says `timed` False has no time, since a cache saved some of it; nor has its question.
        """
        started_ms, start_s, waited_ms = self._clock.since_ms(self.began_s), self._clock.steady_s(), self.waited_ms
        made: Entry = {
            "step_id": name if iteration is None else f"{name}-{iteration}", "name": name, "kind": kind,
            "parents": self.leaves() if parents is None else parents, "decisions": [], "calls": 0, "cache_hits": 0,
        }  # fmt: skip
        if iteration is not None:
            made["iteration"] = iteration
        sent = len(self.attempts)
        try:
            yield made
        except Exception as cause:
            made |= {"error": {"code": _told(failure_of(cause))}, "calls": len(self.attempts) - sent}
            raise
        finally:
            took_ms = self._clock.since_ms(start_s) - (self.waited_ms - waited_ms)
            timed = made.pop("timed", True)
            self.timed = self.timed and timed
            duration_ms = round(took_ms, 3) if timed else None
            self.steps.append({**made, "started_ms": started_ms, "duration_ms": duration_ms})

    def leaves(self) -> list[str]:
        """The last step, if there is one."""
        return [self.steps[-1]["step_id"]] if self.steps else []

    def may_call(self, step: str) -> None:
        """Before each request: the first of a question has its place reserved, further ones ask the run's ceiling."""
        self._sent += 1
        if self._sent > 1 and not current().may_call():
            failure = Failure(cause="exception", code="ceiling")
            raise CallFailedError(step, Reply(attempts=tuple(self.attempts)), failure, "no room under the ceiling")

    def called(self, reply: Reply, started_s: float) -> None:
        """Keep what one request came to; waiting for a place at the endpoint is not the question's time."""
        took_ms = self._clock.since_ms(started_s)
        if reply.latency_ms is not None:
            self.waited_ms += max(0.0, took_ms - reply.latency_ms)
        self.attempts += reply.attempts
        self.secrets = (*self.secrets, *reply.secrets)
        self.last = reply

    def sent(self, calls: int, took_ms: float) -> None:
        """Keep requests that a part sent by itself and does not tell apart: equal shares of the time that they took."""
        self.attempts += [Attempt(duration_ms=round(took_ms / calls, 3)) for _ in range(calls)]

    def counted(self, usage: Any) -> Entry:
        """Add the tokens that a model reported for one call, and give them for its step; nothing if it did not."""
        self.asked_models += 1
        found = usage or {}
        if found.get("input_tokens") is None or found.get("output_tokens") is None:
            self.unreported = True
            return {}
        self.input_tokens += found["input_tokens"]
        self.output_tokens += found["output_tokens"]
        return {"usage": {key: found[key] for key in ("input_tokens", "output_tokens")}}

    def usage(self) -> dict[str, int] | None:
        """The tokens of all calls of models, if each reported them."""
        if not self.asked_models or self.unreported:
            return None
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}

    def finish(self, value: Entry) -> Reply:
        """The reply of the question: the value with its steps, and everything measured."""
        calls = sum(one["calls"] for one in self.steps)
        hits = sum(one["cache_hits"] for one in self.steps)
        usage = self.usage()
        made = {**value, "steps": self.steps, "calls": calls, "cache_hits": hits}
        if usage is not None:
            made["usage"] = usage
        return replace(
            self.last,
            value=made,
            failure=None,
            detail=None,
            attempts=tuple(self.attempts),
            latency_ms=round(max(0.0, self._clock.since_ms(self.began_s) - self.waited_ms), 3),
            timed=self.timed,
            secrets=self.secrets,
        )

    def failed(self, cause: Exception) -> Reply:
        """The failure of the question at its step, with all steps so far and the attempts of all its calls."""
        reply = (
            cause.reply if isinstance(cause, CallFailedError) else Reply(detail=f"{name_of(cause)}: {words_of(cause)}")
        )
        at = self.steps[-1]["step_id"] if self.steps and "error" in self.steps[-1] else None
        return replace(
            reply,
            value={"steps": self.steps},
            failure=msgspec.structs.replace(failure_of(cause), step=at),
            attempts=tuple(self.attempts) or reply.attempts,
            secrets=tuple(dict.fromkeys((*self.secrets, *reply.secrets))),
            latency_ms=round(max(0.0, self._clock.since_ms(self.began_s) - self.waited_ms), 3),
            timed=self.timed,
        )
