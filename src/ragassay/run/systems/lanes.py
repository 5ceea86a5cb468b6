"""Connections to one endpoint, each for one request at a time. Reads no reply and follows no redirect.

A pool of the library looks at all of its connections before and after each request, which costs more the more of them
there are; here an idle one is taken from a list.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from ragassay.version import VERSION

if TYPE_CHECKING:
    import ssl

    import httpx2

MOST_IDLE = 64
"""Connections that are kept open while nobody uses them."""
OWN_HEADERS = {
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
    "user-agent": f"ragassay/{VERSION}",
}


class Lanes:
    """The connections of one event loop. `proxies`: the proxy settings of the environment hold for them."""

    def __init__(self, *, secure: bool, proxies: bool) -> None:
        import httpx2

        self._proxies = proxies
        self._trust: ssl.SSLContext | bool = httpx2.create_ssl_context(trust_env=proxies) if secure else False
        self._idle: list[httpx2.AsyncClient | httpx2.AsyncHTTPTransport] = []

    def _lane(self) -> httpx2.AsyncClient | httpx2.AsyncHTTPTransport:
        import httpx2

        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=1)
        if self._proxies:  # only a client knows which proxy is for which host
            return httpx2.AsyncClient(timeout=None, follow_redirects=False, verify=self._trust, limits=limits)
        from ragassay.run.systems.wire import send_together

        transport = httpx2.AsyncHTTPTransport(verify=self._trust, trust_env=False, limits=limits)
        send_together(transport)
        return transport

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, *, params: Any, content: bytes | None, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx2.Response]:
        """A reply whose body has not been read yet; whatever happens, it is closed in the end."""
        import httpx2

        sent = httpx2.Headers(OWN_HEADERS)
        sent.update(headers)
        request = httpx2.Request(method, url, params=params, content=content, headers=sent)
        lane = self._idle.pop() if self._idle else self._lane()
        reply = None
        try:
            if isinstance(lane, httpx2.AsyncClient):
                reply = await lane.send(request, stream=True)
            else:
                reply = await lane.handle_async_request(request)
                reply.request = request
            yield reply
        finally:
            try:
                if reply is not None:
                    await reply.aclose()
            finally:
                await self._done(lane)

    async def _done(self, lane: httpx2.AsyncClient | httpx2.AsyncHTTPTransport) -> None:
        if len(self._idle) < MOST_IDLE:
            self._idle.append(lane)
        else:
            await lane.aclose()

    async def aclose(self) -> None:
        """Close what is idle."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(one.aclose() for one in idle), return_exceptions=True)
