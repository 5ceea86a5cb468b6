"""One request at a time to the addresses that the settings name, no faster than they allow. Follows no redirect."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from ragassay.errors import CeilingError, SystemUnderTestError, UsageError
from ragassay.probe.settings import ProbeSettings
from ragassay.records.probe import Call, CallReply, PlantedDocument, Probe
from ragassay.redact import Redaction
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.probing.bodies import MOST_BYTES, Deadline, Line, text_of
from ragassay.run.probing.credentials import Credentials, Headers, NotAvailableError, without
from ragassay.run.systems.declared import checked_headers, checked_url

KEPT_HEADERS = ("content-type", "cache-control", "x-cache", "server-timing", "x-total-count", "x-debug", "x-trace")


class Sender:
    """The only way from a probe to the network. `sent` counts every request, credentials and planting included."""

    def __init__(
        self,
        settings: ProbeSettings,
        redaction: Redaction | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings, self._redaction = settings, redaction or Redaction()
        self._clock, self._sleep = clock, sleep
        self.addresses = frozenset(addresses_of(settings))
        checked_headers(settings.headers)
        self.endpoints = frozenset(settings.endpoints)
        self._last_s = float("-inf")
        self._took_ms = 0.0
        self.sent = 0
        self.credentials = Credentials(settings, self._post)
        self._client = httpx2.Client(
            timeout=settings.timeout_s, follow_redirects=False, trust_env=False,
            headers={"accept": "application/json", "accept-encoding": "identity"},
        )  # fmt: skip
        self._line = Line()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def reply(self, call: Call, probe: Probe) -> CallReply:
        """What came back for one call, without any credential in it. A failure of the network is a reply too."""
        try:
            if call.credential == "revoked" and "revoke" in self._settings.endpoints:
                return self._revoked(call, probe)
            if call.credential == "revoked":
                raise NotAvailableError("revoked")
            return self._reply(call, probe)
        except NotAvailableError:
            return CallReply(latency_ms=0.0, failure="not_available")

    def _revoked(self, call: Call, probe: Probe) -> CallReply:
        self.operate("revoke", {"principal": call.principal, "revoked": True})
        try:
            return self._reply(call, probe)
        finally:
            self.operate("revoke", {"principal": call.principal, "revoked": False})

    def _reply(self, call: Call, probe: Probe) -> CallReply:
        headers = self.credentials.headers(call, probe)
        headers += list(self._settings.headers.items())
        if call.debug:
            headers += list((self._settings.debug_headers or {"X-Debug": "1", "X-Trace": "1"}).items())
        method = "POST"
        body: dict[str, Any] | None = self._body(call, probe)
        url = self._settings.endpoints[call.endpoint]
        if call.endpoint == "document":
            method, body = "GET", None
            url = url.replace("{id}", quote(call.document_id or "", safe=""))
        start = self._clock.steady_s()
        try:
            status, text, given = self._send(method, url, headers, body)
        except httpx2.TimeoutException:
            return CallReply(latency_ms=self._clock.since_ms(start), failure="timeout")
        except (httpx2.HTTPError, httpx2.StreamError, OSError):
            return CallReply(latency_ms=self._clock.since_ms(start), failure="connection")
        took = self._took_ms
        kept = {name: self._clean(given[name]) for name in KEPT_HEADERS if name in given}
        return CallReply(latency_ms=took, status=status, body=self._clean(text) or None, headers=kept)

    def _body(self, call: Call, probe: Probe) -> dict[str, Any]:
        one: dict[str, Any] = {"query": call.query or ""}
        named = {"conversation": call.conversation, "top_k": call.top_k or self._settings.top_k, "filter": call.filter}
        one |= {key: value for key, value in named.items() if value is not None}
        if call.credential == "tenant_body" and probe.owner is not None:
            one[self._settings.tenant_field] = probe.owner
        if call.endpoint != "batch":
            return one
        others = [said.partition(": ") for said in call.beside]
        return {"requests": [one, *({"query": query, "principal": who} for who, _, query in others)]}

    def operate(self, endpoint: str, body: dict[str, Any]) -> None:
        """A request of the operator, which must go through (SystemUnderTestError otherwise)."""
        try:
            status, text, _ = self._send("POST", self._settings.endpoints[endpoint], self.credentials.operator(), body)
        except (httpx2.HTTPError, OSError) as cause:
            raise SystemUnderTestError(
                f"{endpoint}: no reply ({type(cause).__name__})", field=f"probe.endpoints.{endpoint}",
                hint="is the service running there?",
            ) from None  # fmt: skip
        if status >= 300:
            raise SystemUnderTestError(
                f"{endpoint} was refused with status {status}: {self._clean(text)[:200]}",
                field=f"probe.endpoints.{endpoint}", hint="does the operator's credential allow it?",
            )  # fmt: skip

    def _post(self, url: str, headers: Headers, body: dict[str, Any]) -> tuple[int, str]:
        try:
            status, text, _ = self._send("POST", url, headers, body)
        except (httpx2.HTTPError, OSError) as cause:
            told = f"no credential came from {urlsplit(url).netloc}: {type(cause).__name__}"
            raise SystemUnderTestError(told, field="probe.issuer", hint="is it running there?") from None
        return status, text

    def _send(
        self, method: str, url: str, headers: Headers, body: dict[str, Any] | None
    ) -> tuple[int, str, Mapping[str, str]]:
        """One request to a named address, after waiting for its turn."""
        if not self._is_named(url):
            raise UsageError(f"{url} is not an address of the settings", field="probe.endpoints", hint="name it there")
        if self.sent >= self._settings.most_requests:
            raise CeilingError(
                f"{self.sent:,} requests were sent, and no more may be", field="probe.most_requests",
                hint="raise it and run again: what was answered is kept",
            )  # fmt: skip
        wait_s = self._last_s + 1 / self._settings.per_second - self._clock.steady_s()
        if wait_s > 0:
            self._sleep(wait_s)
        self._last_s = start = self._clock.steady_s()
        self.sent += 1
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        typed = [] if body is None else [("content-type", "application/json")]
        try:
            sent = [(name.encode("ascii"), value.encode("latin-1")) for name, value in (*headers, *typed)]
        except UnicodeEncodeError:
            told = "a header's name or a credential has letters that no header can carry"
            raise UsageError(told, field="probe", hint="look at headers, operator, credential, *_header") from None
        with (
            Deadline(self._settings.timeout_s, self._line) as ends,
            self._client.stream(method, url, headers=sent, content=content, extensions={"trace": self._line}) as reply,
        ):
            data = bytearray()
            for piece in reply.iter_raw(64 * 1024):
                data += piece
                if len(data) > MOST_BYTES:
                    break
            ends.check()
            self._took_ms = self._clock.since_ms(start)
            return reply.status_code, text_of(reply.headers, bytes(data[:MOST_BYTES])), dict(reply.headers)

    def _is_named(self, url: str) -> bool:
        document = self._settings.endpoints.get("document", "")
        head, _, tail = document.partition("{id}")
        key = url.removeprefix(head).removesuffix(tail)
        fits = bool(document) and url == f"{head}{key}{tail}" and not set(key) & set("/?#")
        return fits or (url in self.addresses and url != document)

    def _clean(self, text: str) -> str:
        """Without what was sent in secret, and without what the redaction finds."""
        plain = without(text, self.credentials.secrets)
        try:
            value = json.loads(plain)
        except (ValueError, RecursionError):
            return self._redaction.text(plain)[0]
        return json.dumps(self._redaction.value(value)[0], ensure_ascii=False)


def addresses_of(settings: ProbeSettings) -> list[str]:
    """Every address that the settings name, each checked; UsageError with its field."""
    found = []
    for name, url in settings.endpoints.items():
        if name == "document" and "{id}" not in url:
            raise UsageError("{id} does not stand in it", field="probe.endpoints.document", hint=".../documents/{id}")
        try:
            found.append(checked_url(url.replace("{id}", "id") if name == "document" else url))
        except UsageError as error:
            error.field = f"probe.endpoints.{name}"
            raise
        found[-1] = url
    sources = [settings.operator, settings.issuer, *(one.credential for one in settings.principals.values())]
    return found + [checked_url(one.url) for one in sources if one is not None and one.url is not None]


def as_planted(one: PlantedDocument, tenant: str | None = None) -> dict[str, Any]:
    """A document as the service is given it."""
    acl = one.acl
    made: dict[str, Any] = {
        "document_id": one.document_id, "version": "1", "title": one.title, "text": one.text,
        "tenants": [tenant or one.tenant],
    }  # fmt: skip
    if acl is not None:
        named = {"groups": acl.groups, "roles": acl.roles, "users": acl.users}
        made["acl"] = {key: list(value) for key, value in named.items() if value}
    return made
