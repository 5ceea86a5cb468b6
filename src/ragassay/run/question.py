"""One question from request to finished trace, under a timeout that nothing escapes. Decides nothing about the job."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from ragassay.errors import RagassayError
from ragassay.records.canonical import digest_bytes, digest_of
from ragassay.records.text import clean
from ragassay.records.trace import Attempt, Failure, Measurements, TraceContent
from ragassay.redact import Redaction
from ragassay.run.account import Account, account_of
from ragassay.run.clock import Clock
from ragassay.run.contract import Reply, Request, System
from ragassay.run.journal import Finished, Key
from ragassay.run.normalise import Normalised, failed, normalise
from ragassay.run.reading import InvalidResponseError, plain_value
from ragassay.run.replaying import replayed
from ragassay.run.threads import CallEndedError, name_of, words_of
from ragassay.run.world import World

_LONGEST_DETAIL = 2000
_LONGEST_CODE = 256
SHORT = 64 * 1024
"""Bytes of a raw response that travels in the line of its question; a longer one is a blob at once."""


class Asked(NamedTuple):
    """A finished question, and bytes that must be stored before it is kept, since it names them."""

    finished: Finished
    raw: bytes | None = None


class Questioner:
    """Asks single questions of one system and makes finished traces of what comes back."""

    def __init__(
        self,
        world: World,
        system: System,
        *,
        redaction: Redaction,
        credentials: Mapping[str, str],
        clock: Clock,
        own_answer: Callable[[Key], str | None],
    ) -> None:
        self._world, self._system = world, system
        self._redaction, self._credentials, self._clock = redaction, credentials, clock
        self._own_answer = own_answer
        self._limit_s = world.subject.timeout_s + float(getattr(system, "max_wait_s", 0.0))

    async def ask(self, key: Key, account: Account | None = None) -> Asked:
        """The finished trace of one key: whatever the system does, this returns."""
        request = self._world.request(key, self._credentials, self._own_answer)
        start_s = self._clock.steady_s()
        reply = await self._reply(request, account or Account())
        if reply.stored is not None:
            return Asked(replayed(key, request, reply, self._redaction))
        latency_ms = reply.latency_ms if reply.latency_ms is not None else self._clock.since_ms(start_s)
        return self._finish(key, request, reply, latency_ms)

    async def _reply(self, request: Request, account: Account) -> Reply:
        """What the adapter hands back, or a failure; waits for it no longer than the limit, whatever it does.

        Time in the run's own queue at an endpoint is not the question's.
        """
        with account_of(account):
            task = asyncio.ensure_future(_call(self._system, request))
        loop = asyncio.get_running_loop()
        start_s = loop.time()
        try:
            while not task.done() and (left_s := start_s + self._limit_s + account.waited_s - loop.time()) > 0:
                await asyncio.wait({task}, timeout=left_s)
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(_forget)
        if not task.done():
            return Reply(failure=Failure(cause="timeout"), detail=f"nothing came in {self._limit_s:g} s")
        if task.cancelled():
            return Reply(failure=Failure(cause="exception", code="CancelledError"), detail="the call cancelled itself")
        error = task.exception()
        if error is not None:
            return Reply(
                failure=Failure(cause="exception", code=name_of(error)), detail=f"{name_of(error)}: {words_of(error)}"
            )
        found = task.result()
        return found if isinstance(found, Reply) else Reply(value=found)

    def _finish(self, key: Key, request: Request, reply: Reply, latency_ms: float) -> Asked:
        secrets = (*reply.secrets, *((request.credential,) if request.credential else ()))
        counts: dict[str, int] = {}
        found, value = self._normalise(key, request, reply, secrets, counts)
        raw = None
        if reply.raw is not None or found.lossy:
            raw = self._raw(reply, value, secrets)
        content = found.content
        failure = content.failure
        detail = reply.detail if reply.failure is not None else found.detail
        reported = found.reported
        attempts = reply.attempts or (Attempt(duration_ms=latency_ms, failure=failure),)
        measurements = Measurements(
            query_id=content.query_id,
            repeat=content.repeat,
            latency_ms=latency_ms if reply.timed else None,
            first_token_ms=reported.first_token_ms,
            steps=reported.steps,
            attempts=attempts,
            usage=reported.usage,
            cost=reported.cost,
            calls=reported.calls,
            cache_hits=reported.cache_hits,
            endpoint=reply.endpoint,
            host=reply.host,
            raw=None if raw is None else digest_bytes(raw),
            request_id=_short(self._clean(reply.request_id, secrets, counts)),
            failure_detail=_short(self._clean(detail, secrets, counts)) if failure is not None else None,
            redactions=counts,
        )
        texts = {str(digest): text for digest, text in found.texts.items()}
        short = raw is not None and len(raw) <= SHORT
        finished = Finished(
            content=content,
            measurements=measurements,
            digest=digest_of(content),
            texts=texts,
            raw=raw if short else None,
        )
        return Asked(finished, None if short else raw)

    def _normalise(
        self, key: Key, request: Request, reply: Reply, secrets: tuple[str, ...], counts: dict[str, int]
    ) -> tuple[Normalised, Any]:
        """The trace of a reply, and the value that it was made of; of a failed one, the steps that it finished."""
        if reply.failure is None:
            return self._of_value(key, request, reply.value, secrets, counts)
        content = failed(reply.failure, request, repeat=key[1], redaction=self._redaction.digest)
        finished = reply.value.get("steps") if isinstance(reply.value, Mapping) else None
        if not finished:
            return Normalised(content, {}), None
        made, value = self._of_value(key, request, {"steps": finished}, secrets, counts)
        if made.content.failure is not None:  # they cannot be read: what failed first is what is told
            return Normalised(content, {}), None
        return made._replace(content=msgspec.structs.replace(made.content, failure=reply.failure)), value

    def _of_value(
        self, key: Key, request: Request, given: Any, secrets: tuple[str, ...], counts: dict[str, int]
    ) -> tuple[Normalised, Any]:
        try:
            value = plain_value(given)
        except InvalidResponseError as wrong:
            field = self._redaction.text(str(_scrub(wrong.field, secrets)))[0]
            return Normalised(self._invalid(key, request, field), {}, detail=str(wrong)), None
        value, found = self._redaction.value(value)
        _add(counts, found)
        value = _scrub(value, secrets)
        made = normalise(value, request, self._world.resolver, repeat=key[1], redaction=self._redaction.digest)
        try:
            digest_of(made.content)
        except RagassayError as cause:
            made = Normalised(self._invalid(key, request, "response"), {}, detail=str(cause))
        return made, value

    def _invalid(self, key: Key, request: Request, field: str) -> TraceContent:
        failure = Failure(cause="invalid_response", code=field[:_LONGEST_CODE])
        return failed(failure, request, repeat=key[1], redaction=self._redaction.digest)

    def _raw(self, reply: Reply, value: Any, secrets: tuple[str, ...]) -> bytes:
        """The bytes that came: as they were if nothing in them had to go, else what was left of them."""
        if reply.raw is None:
            return json.dumps(value).encode()
        text = reply.raw.decode("utf-8", "surrogateescape")
        kept, counts = self._redaction.text(text)
        parsed = None
        with suppress(ValueError, RecursionError):
            parsed = json.loads(text)
        whole = self._redaction.value(parsed) if parsed is not None else None
        stream = self._redaction.lines(text) if parsed is None else None
        deep = whole or stream
        credentials = deep[1] if deep is not None else {}
        if not counts and not credentials and not any(form in text for one in secrets for form in _forms(one)):
            return reply.raw
        if whole is not None:
            return json.dumps(_scrub(whole[0], secrets)).encode()
        return str(_scrub(kept if stream is None else stream[0], secrets)).encode("utf-8", "replace")

    def _clean(self, text: str | None, secrets: tuple[str, ...], counts: dict[str, int]) -> str | None:
        if text is None:
            return None
        kept, found = self._redaction.text(str(_scrub(text, secrets)))
        _add(counts, found)
        return clean(kept).text


async def _call(system: System, request: Request) -> Any:
    """The adapter's own call, awaited if it is to be awaited; nothing that it raises may end the loop."""
    try:
        found: Any = system.ask(request)
        return await found if inspect.isawaitable(found) else found
    except SystemExit as cause:
        raise CallEndedError(cause) from None


def _forget(task: asyncio.Task[Any]) -> None:
    """Take the outcome of an abandoned task, so that nobody complains that it was never read."""
    if not task.cancelled():
        task.exception()


def _short(text: str | None) -> str | None:
    return text[:_LONGEST_DETAIL] if text is not None else None


def _add(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        counts[name] = counts.get(name, 0) + number


def _forms(secret: str) -> set[str]:
    """A secret as it is, and as JSON escapes it."""
    return {secret, json.dumps(secret)[1:-1]}


def _scrub(value: Any, secrets: tuple[str, ...]) -> Any:
    """A value without the secrets that were sent, wherever in it they came back."""
    if not secrets:
        return value
    if isinstance(value, str):
        for one in secrets:
            for form in _forms(one):
                value = value.replace(form, "[credential]")
        return value
    if isinstance(value, list | tuple):
        return [_scrub(one, secrets) for one in value]
    if isinstance(value, Mapping):
        return {_scrub(key, secrets): _scrub(one, secrets) for key, one in value.items()}
    return value
