"""A request leaves in one send, whatever the library writes; what cannot be sent does not hide the answer."""

from __future__ import annotations

import asyncio
from typing import Any

import httpcore2
import httpx2
import pytest

from ragassay.run.systems.lanes import Lanes
from ragassay.run.systems.wire import MOST_HELD, OneSend, send_together

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Recorded(httpcore2.AsyncNetworkStream):
    """Keeps what is written and hands out one answer after each write."""

    def __init__(self, *, refuse: bool = False) -> None:
        self.sent: list[bytes] = []
        self.refuse = refuse

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.sent.append(buffer)
        if self.refuse:
            raise httpcore2.WriteError("gone")

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return ANSWER

    async def aclose(self) -> None:
        pass

    def get_extra_info(self, info: str) -> Any:
        return False if info == "is_readable" else None


class Backend(httpcore2.AsyncNetworkBackend):
    def __init__(self, stream: Recorded) -> None:
        self.stream = stream

    async def connect_tcp(self, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        return self.stream


def ask(stream: Recorded, content: bytes | None, times: int = 1) -> list[bytes]:
    """So many requests over the product's own transport, whose connections are replaced by a recorded one."""

    async def go() -> list[bytes]:
        lanes = Lanes(secure=False, proxies=False)
        lane: Any = lanes._lane()
        lane._pool._network_backend._inner = Backend(stream)
        lanes._idle.append(lane)
        found = []
        for _ in range(times):
            async with lanes.stream(
                "POST", "http://127.0.0.1:9/ask", params=None, content=content, headers={}
            ) as reply:
                found.append(await reply.aread())
        await lanes.aclose()
        return found

    return asyncio.run(go())


def test_head_and_body_are_one_send() -> None:
    stream = Recorded()
    assert ask(stream, b'{"query": "Why?"}', 3) == [b"ok"] * 3
    assert len(stream.sent) == 3
    for one in stream.sent:
        head, _, body = one.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /ask HTTP/1.1\r\n")
        assert body == b'{"query": "Why?"}'


def test_a_request_without_a_body_is_sent_too() -> None:
    stream = Recorded()
    assert ask(stream, None) == [b"ok"]
    assert len(stream.sent) == 1


def test_a_long_body_does_not_wait() -> None:
    stream = Recorded()
    body = b"x" * (3 * MOST_HELD)
    assert ask(stream, body) == [b"ok"]
    assert b"".join(stream.sent).endswith(body)
    assert len(stream.sent) == 1


def test_a_server_that_answered_and_closed_early_is_still_read() -> None:
    assert ask(Recorded(refuse=True), b"{}") == [b"ok"]


def test_what_is_written_before_a_close_is_not_sent() -> None:
    stream = Recorded()

    async def go() -> None:
        one = OneSend(stream)
        await one.write(b"half")
        await one.aclose()

    asyncio.run(go())
    assert stream.sent == []


def test_another_transport_is_left_as_it_is() -> None:
    send_together(object())
    send_together(httpx2.MockTransport(lambda _: httpx2.Response(200)))


@pytest.mark.parametrize("size", [0, 1, MOST_HELD, MOST_HELD + 1])
def test_no_byte_is_lost_at_the_bound(size: int) -> None:
    stream = Recorded()

    async def go() -> None:
        one = OneSend(stream)
        await one.write(b"head")
        await one.write(b"b" * size)
        await one.read(10)

    asyncio.run(go())
    assert b"".join(stream.sent) == b"head" + b"b" * size
