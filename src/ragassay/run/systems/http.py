"""An HTTP endpoint as the system under test, with declared mappings. Follows no redirect to another host."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from ragassay.records.base import Metadata
from ragassay.records.canonical import canonical_bytes
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.records.trace import Attempt, Failure
from ragassay.redact import Redaction
from ragassay.run.account import current
from ragassay.run.contract import Reply, Request, request_value
from ragassay.run.mapping import ABSENT, apply, check_rules, check_template, fill
from ragassay.run.pace import Conditions, Pace, endpoint_of
from ragassay.run.systems.declared import (
    Secret,
    check_number,
    checked_headers,
    checked_method,
    checked_url,
    shown_url,
)
from ragassay.run.systems.exchange import (
    Exchange,
    backoff_s,
    has_more,
    outcome_of,
    parse_retry_after,
    said_length,
    tell,
    words_about,
)
from ragassay.run.systems.lanes import Lanes
from ragassay.run.systems.python import UNSTATED

if TYPE_CHECKING:
    import httpx2

__all__ = ["DEFAULT_RETRY_ON", "HttpSystem", "backoff_s", "parse_retry_after"]
DEFAULT_RETRY_ON = ("rate_limited", "503", "529")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 3


class HttpSystem:
    """One JSON request a question.

    `request` is a template of the body (texts beginning with `$` are paths into the request; default: the request
    itself without its credential). `response` maps fields of the contract to paths in the reply (default: the reply
    is already in that form). `retry_on` names causes (`rate_limited`, `connection`, `timeout`, `invalid_response`)
    and statuses ("503"); nothing else is tried again. Retry-After holds back the whole endpoint, `max_wait_s` at most,
    which is also the most that one question may be told to wait between its attempts: a longer Retry-After ends the
    question. The timeout counts the attempts themselves. `endpoint` names what the limit of requests at once is kept
    for, where several addresses are one service; default: host, port and path.
    """

    accept = "application/json"
    piece_bytes: int | None = 64 * 1024
    """What is read at once; None: as it comes."""

    def __init__(
        self,
        url: str,
        *,
        name: str = "",
        method: str = "POST",
        headers: Mapping[str, str | Mapping[str, str]] | None = None,
        request: Any = None,
        response: Mapping[str, Any] | None = None,
        retries: int = 3,
        retry_on: tuple[str, ...] = DEFAULT_RETRY_ON,
        max_wait_s: float = 120.0,
        max_bytes: int = 16 * 1024 * 1024,
        retriever: str | None = None,
        generator: str | None = None,
        prompt: str | None = None,
        settings: Metadata | None = None,
        use_proxy_settings: bool = False,
        endpoint: str = "",
    ) -> None:
        self.url = checked_url(url)
        self.endpoint = endpoint or endpoint_of(self.url)
        self.method = checked_method(method)
        self.headers = checked_headers(headers or {})
        check_number("retries", retries, least=0)
        check_number("max_wait_s", max_wait_s, least=0)
        check_number("max_bytes", max_bytes, least=1)
        check_template(request)
        check_rules(response or {})
        self.request, self.response = request, response
        self.retries, self.retry_on = retries, frozenset(retry_on)
        self.max_wait_s, self.max_bytes = max_wait_s, max_bytes
        self._proxies = use_proxy_settings
        self._conditions: Conditions | None = None
        self._lanes: dict[asyncio.AbstractEventLoop, Lanes] = {}
        self.identity = SystemIdentity(
            name=name or "http",
            adapter="http",
            retriever=Stated(value=retriever) if retriever else Stated(absent=UNSTATED),
            generator=Stated(value=generator) if generator else Stated(absent=UNSTATED),
            prompt=Stated(value=prompt) if prompt else Stated(absent=UNSTATED),
            settings={**self._settings(), **(settings or {})},
        )

    def _settings(self) -> Metadata:
        shown = Redaction().headers({key: value for key, value in self.headers.items() if isinstance(value, str)})
        return {
            "method": self.method,
            "request": canonical_bytes(self.request).decode() if self.request is not None else "as in the contract",
            "response": canonical_bytes(self.response).decode() if self.response else "as in the contract",
            "retries": self.retries,
            "retry_on": sorted(self.retry_on),
            "max_wait_s": float(self.max_wait_s),
            "max_bytes": self.max_bytes,
            "headers": sorted(f"{key.lower()}: {shown.get(key, '(not recorded)')}" for key in self.headers),
        }

    def attach(self, conditions: Conditions) -> None:
        """Take the run's timeout and pace; secrets that are not set are a UsageError before anything is asked."""
        self._conditions = conditions
        self.check_secrets()

    def check_secrets(self) -> None:
        """UsageError if a secret of the headers is not set; nothing is sent."""
        self._resolve_headers()

    def _resolve_headers(self) -> dict[str, str]:
        return {key: value.resolve() if isinstance(value, Secret) else value for key, value in self.headers.items()}

    async def ask(self, request: Request) -> Reply:
        """The reply to one question, with every attempt kept."""
        return await self.send(request, _body(self.request, request))

    async def send(self, request: Request, body: Any) -> Reply:
        """The reply to a body that stands for this question."""
        from ragassay.run.clock import SYSTEM_CLOCK

        conditions = self._conditions or Conditions(timeout_s=60.0, pace=Pace(1, SYSTEM_CLOCK))
        return await _Question(self, conditions, request, body).ask()

    def is_token(self, body: bytes) -> bool:  # noqa: ARG002  streaming endpoints look at it
        """Whether what has come so far holds the first of the answer; an endpoint that does not stream never says."""
        return False

    def read(
        self,
        body: bytes,
        first_token_ms: float | None,  # noqa: ARG002  streaming endpoints report it
    ) -> tuple[Any, Failure | None, str | None]:
        """The value of a complete body, or the failure that it is and why."""
        try:
            value = json.loads(body.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
        except (ValueError, RecursionError) as cause:
            return None, Failure(cause="invalid_response", code="json"), f"{words_about(body)}: {cause}"
        if self.response:
            value = apply(self.response, value)
            if value is ABSENT:
                return None, Failure(cause="invalid_response", code="response"), "no path of the mapping leads anywhere"
        return value, None, None

    def lanes(self) -> Lanes:
        """The connections of the running loop; they are kept open between questions."""
        loop = asyncio.get_running_loop()
        if loop not in self._lanes:
            self._lanes[loop] = Lanes(secure=self._proxies or self.url.startswith("https:"), proxies=self._proxies)
        return self._lanes[loop]

    async def aclose(self) -> None:
        """Close the connections of this loop."""
        lanes = self._lanes.pop(asyncio.get_running_loop(), None)
        if lanes is not None:
            await lanes.aclose()


class _Question:
    """One question with its attempts."""

    def __init__(self, system: HttpSystem, conditions: Conditions, request: Request, body: Any) -> None:
        self.system = system
        self.clock, self.pace, self.random = conditions.clock, conditions.pace_at(system.endpoint), conditions.random
        self.left_s = conditions.timeout_s
        self.waited_s = 0.0
        self.attempts: list[Attempt] = []
        self.body = body
        self.first_token_ms: float | None = None
        self.began_s = 0.0
        self.headers = system._resolve_headers()
        sent = [value.resolve() for value in system.headers.values() if isinstance(value, Secret)]
        sent += [os.environ[value.env] for value in system.headers.values() if isinstance(value, Secret)]
        self.secrets = (*sent, *((request.credential,) if request.credential else ()))

    async def ask(self) -> Reply:
        wait_s = 0.0
        while True:
            waited_s = 0.0
            if wait_s:
                waited_s = -self.clock.steady_s()
                await asyncio.sleep(wait_s)
                waited_s += self.clock.steady_s()
            async with self.pace.slot() as queued_s:
                found, sent_s = await self._attempt(waited_s + queued_s)
                tell(self.pace, found, sent_s, self.system.max_wait_s)
            again, wait_s = self._next(found)
            if not again or not current().may_call():
                return self._reply(found)

    async def _attempt(self, waited_s: float) -> tuple[Exchange, float]:
        """One request, kept with its time and what was waited before it."""
        sent_s = self.clock.steady_s()
        found = await self._exchange()
        took_s = self.clock.steady_s() - sent_s
        self.left_s -= took_s
        waited_ms = round(waited_s * 1000, 3) or None
        self.attempts.append(Attempt(duration_ms=round(took_s * 1000, 3), failure=found.failure, waited_ms=waited_ms))
        return found, sent_s

    def _next(self, found: Exchange) -> tuple[bool, float]:
        """Whether there is another attempt, and the seconds of back-off before it.

        After an overload with Retry-After the endpoint's hold is the wait, and nothing comes on top.
        """
        number = len(self.attempts)
        if found.failure is None or number > self.system.retries or self.left_s <= 0:
            return False, 0.0
        if not {found.failure.cause, found.failure.code or ""} & self.system.retry_on:
            return False, 0.0
        told_s = found.retry_after_s
        wait_s = backoff_s(number, self.random) if told_s is None else told_s
        if self.waited_s + wait_s > self.system.max_wait_s:
            return False, 0.0
        self.waited_s += wait_s
        held = told_s is not None and found.overload
        return True, 0.0 if held else wait_s

    async def _exchange(self) -> Exchange:
        import httpx2

        self.first_token_ms, self.began_s = None, self.clock.steady_s()
        try:
            async with asyncio.timeout(self.left_s):
                return await self._send(self.system.url, 0)
        except TimeoutError:
            return Exchange(Failure(cause="timeout"), f"no complete reply in {self.left_s:.3g} s")
        except httpx2.TimeoutException as cause:
            return Exchange(Failure(cause="timeout", code=type(cause).__name__), str(cause))
        except httpx2.DecodingError as cause:
            return Exchange(Failure(cause="invalid_response", code="encoding"), str(cause))
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as cause:
            return Exchange(Failure(cause="connection", code=type(cause).__name__), str(cause))

    async def _send(self, url: str, hops: int) -> Exchange:
        query = self.body if self.system.method == "GET" and isinstance(self.body, dict) else None
        async with self.system.lanes().stream(
            self.system.method,
            url,
            params=_flat(query) if query is not None else None,
            content=None if query is not None else _encode(self.body),
            headers={"accept": self.system.accept, **self.headers},
        ) as reply:
            if reply.status_code in _REDIRECTS and "location" in reply.headers:
                return await self._redirect(url, reply, hops)
            streamed = self.system.piece_bytes is None
            body = bytearray()
            if said_length(reply) > self.system.max_bytes:
                return self._too_large(reply)
            async for piece in reply.aiter_bytes(self.system.piece_bytes):
                body += piece
                if streamed and self.first_token_ms is None and self.system.is_token(bytes(body)):
                    self.first_token_ms = self.clock.since_ms(self.began_s)
                if len(body) > self.system.max_bytes:
                    return self._too_large(reply)
            if has_more(reply):
                await reply.extensions["network_stream"].aclose()
            return outcome_of(reply, bytes(body), self.clock.now())

    def _too_large(self, reply: httpx2.Response) -> Exchange:
        failure = Failure(cause="invalid_response", code="too_large")
        return Exchange(failure, f"more than {self.system.max_bytes} bytes", status=reply.status_code)

    async def _redirect(self, url: str, reply: httpx2.Response, hops: int) -> Exchange:
        failure = Failure(cause="http_status", code=str(reply.status_code))
        try:
            target = urljoin(url, reply.headers["location"])
            there = urlsplit(target)
        except ValueError:
            return Exchange(failure, "redirect to no address: not followed", status=reply.status_code)
        same = there[:2] == urlsplit(url)[:2]
        if same and hops < _MOST_REDIRECTS and reply.status_code in (307, 308):
            return await self._send(target, hops + 1)
        why = f"to another host ({there.scheme}://{there.netloc})"
        if same:
            why = f"too many ({hops + 1})" if hops >= _MOST_REDIRECTS else "with a change of method"
        return Exchange(failure, f"redirect {why}: not followed", status=reply.status_code)

    def _reply(self, found: Exchange) -> Reply:
        value, failure, detail = None, found.failure, found.detail
        if failure is None:
            value, failure, detail = self.system.read(found.body or b"", self.first_token_ms)
        return Reply(
            value=value,
            failure=failure,
            detail=detail,
            attempts=tuple(self.attempts),
            raw=found.body,
            endpoint=shown_url(self.system.url),
            host=urlsplit(self.system.url).hostname,
            request_id=found.request_id,
            latency_ms=self.attempts[-1].duration_ms,
            secrets=tuple(one for one in self.secrets if len(one) >= 4),
        )


def _body(template: Any, request: Request) -> Any:
    if template is None:
        return request_value(request)
    return fill(template, request_value(request, with_credential=True))


def _encode(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _flat(body: Mapping[str, Any]) -> dict[str, str]:
    return {key: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for key, one in body.items()}
