"""A request in one send: its head waits for its body. Knows nothing of HTTP, reads nothing, and drops no byte.

The library sends head and body apart: two calls of the system, two packets, and on a busy machine two moments in which
somebody else is let in.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore2

MOST_HELD = 64 * 1024
"""Bytes that wait at most; what is longer goes out at once."""


class OneSend(httpcore2.AsyncNetworkStream):
    """A stream whose short writes go out together before the next read."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner
        self._held = b""
        self._timeout_s: float | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Send what waits, then read; that it could not be sent is no reason not to read, as everywhere in HTTP/1.1."""
        if self._held:
            with suppress(httpcore2.WriteError):
                await self._send()
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Keep it for the next read, or send it with what waits if it is much."""
        self._held, self._timeout_s = self._held + buffer, timeout
        if len(self._held) > MOST_HELD:
            await self._send()

    async def _send(self) -> None:
        held, self._held = self._held, b""
        await self._inner.write(held, self._timeout_s)

    async def aclose(self) -> None:
        """Close the connection; a request that nobody waited for is not sent."""
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """The same over TLS."""
        return OneSend(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What the connection says of itself."""
        return self._inner.get_extra_info(info)


class OneSendBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections as another backend does, each with one send a request."""

    def __init__(self, inner: httpcore2.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to a host."""
        return OneSend(await self._inner.connect_tcp(host, port, timeout, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        """As the other backend does."""
        await self._inner.sleep(seconds)


def send_together(transport: object) -> None:
    """Let a transport of the library send each request at once; the library has no public word for it.

    Where its parts are not to be found, it sends as it always does.
    """
    pool: Any = getattr(transport, "_pool", None)
    inner = getattr(pool, "_network_backend", None)
    if isinstance(inner, httpcore2.AsyncNetworkBackend):
        pool._network_backend = OneSendBackend(inner)
