"""Every way in which an HTTP service can misbehave ends its own question, with the cause that it should have."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.run.faulty import KINDS, MB, Service
from tests.unit.run.small import AS_OF

from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.http import HttpSystem

TIMEOUT_S = 0.4
CAP = 1 * MB


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The faulty service in a loop of its own."""
    service, loop = Service(seed=1), asyncio.new_event_loop()

    async def start() -> asyncio.Server:
        server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
        service.port = server.sockets[0].getsockname()[1]
        return server

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)

    async def stop() -> None:
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.1)

    yield service.port
    asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()


def ask(port: int, *kinds: str, **more: Any) -> list[Reply]:
    """One question of each kind, one after another, over one client."""
    first = HttpSystem(f"http://127.0.0.1:{port}/ask/{kinds[0]}", max_bytes=CAP, **more)

    async def go() -> list[Reply]:
        first.attach(Conditions(timeout_s=TIMEOUT_S, pace=Pace(4)))
        replies = []
        try:
            for number, kind in enumerate(kinds):
                first.url = f"http://127.0.0.1:{port}/ask/{kind}"
                question = Request(query_id=f"{kind}-{number}", query="Why?", as_of=AS_OF, top_k=3)
                replies.append(await first.ask(question))
        finally:
            await first.aclose()
        return replies

    return asyncio.run(go())


def cause_of(reply: Reply) -> str:
    from ragassay.run.reading import InvalidResponseError, read_response

    if reply.failure is not None:
        code = reply.failure.code or ""
        return f"{reply.failure.cause} {code}".strip()
    try:
        read_response(reply.value)
    except InvalidResponseError as wrong:
        return f"invalid_response {wrong.field}"
    return ""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_fault_is_a_cause_and_the_next_question_is_answered(port: int, kind: str) -> None:
    faulty, after = ask(port, kind, "fine")
    wanted = KINDS[kind][1]
    assert cause_of(faulty).startswith(wanted) if wanted else cause_of(faulty) == ""
    assert bool(cause_of(faulty)) is bool(wanted)
    assert after.value == {"answer": "answer to fine-1", "contexts": ["rain"]}, "an answer that belongs to no question"


def test_what_is_said_about_a_fault_helps_a_person(port: int) -> None:
    said = {kind: ask(port, kind)[0].detail or "" for kind in ("away", "loop", "html", "nothing", "broken", "gigabyte")}
    assert "to another host" in said["away"]
    assert "localhost" in said["away"]
    assert "too many" in said["loop"]
    assert "HTML" in said["html"]
    assert "empty" in said["nothing"]
    assert "database is gone" in said["broken"]
    assert str(CAP) in said["gigabyte"]


@pytest.mark.parametrize("kind", ["gigabyte", "gigabyte_said", "bomb"])
def test_a_gigabyte_takes_a_few_megabytes(port: int, kind: str) -> None:
    ask(port, "fine")
    tracemalloc.start()
    try:
        ask(port, kind)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 24 * MB, f"{peak / MB:.1f} MB"
