"""What an adapter promises, called as a run calls it. Judges no answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ragassay.corpus import Resolver
from ragassay.errors import ContractError, RagassayError
from ragassay.records.base import Instant, QueryId
from ragassay.records.canonical import digest_of
from ragassay.records.case import Principal, Turn
from ragassay.records.document import Document
from ragassay.records.protocol import SystemIdentity
from ragassay.records.trace import Measurements
from ragassay.run.contract import Reply, Request
from ragassay.run.normalise import normalise
from ragassay.run.pace import Conditions, Pace
from ragassay.run.reading import InvalidResponseError, plain_value
from ragassay.run.systems.said import parts_of

CREDENTIAL = "credential-of-the-contract-test"
_BLOCKED_S = 0.5
"""The longest that one call may keep the loop from everything else."""
_CANCELLED_S = 2.0


def check_adapter(
    make: Callable[[], Any],
    *,
    questions: Iterable[str] = ("What is this?", "Wer weiß das? ☂", "Why?"),
    documents: Iterable[Document] = (),
    timeout_s: float = 30.0,
) -> frozenset[str]:
    """Check an adapter; returns which parts of a trace it reported (see `ragassay.run.systems.said.PARTS`).

    `make` makes a system, as the entry point does; it is called three times. ContractError for the first promise that
    is broken: an identity that can be sealed and stays the same, also that of a second system made in the same way,
    and that holds no credential; `ask` returns what the contract allows, for questions asked alone and together, with
    history, principal and credential; it leaves the event loop free; it ends when it is cancelled; `aclose` ends.
    """
    asked = [_request(number, one) for number, one in enumerate(questions)]
    if not asked:
        raise ContractError("there is no question to ask", hint='questions=("What is this?",)')
    _check_identity(make)
    resolver = Resolver(documents)
    parts: set[str] = set()

    async def go() -> None:
        found, blocked_s = await _ask_all(make(), asked, timeout_s)
        if blocked_s > _BLOCKED_S:
            raise ContractError(
                f"ask kept the event loop busy for {blocked_s:.1f} s",
                hint="await what is slow, or run it in a thread: asyncio.to_thread(...)",
            )
        for request, value in zip(asked, found, strict=True):
            parts.update(_check_value(value, request, resolver))
        await _check_cancelled(make(), asked[0])

    asyncio.run(go())
    return frozenset(parts)


def _request(number: int, query: str) -> Request:
    return Request(
        query_id=QueryId(f"contract-{number}"),
        query=query,
        as_of=Instant("2026-01-01T00:00:00Z"),
        top_k=3,
        seed=number,
        history=(Turn(role="user", text="Before?"), Turn(role="assistant", text="Yes.")) if number % 2 else (),
        principal=Principal(id="someone", tenants=("*",)) if number % 3 == 1 else None,
        credential=CREDENTIAL if number % 3 == 1 else None,
    )


def _check_identity(make: Callable[[], Any]) -> None:
    system = make()
    identity = getattr(system, "identity", None)
    if not isinstance(identity, SystemIdentity):
        raise ContractError(
            f"identity is a {type(identity).__name__}", hint="ragassay.records.protocol.SystemIdentity, before any ask"
        )
    if not callable(getattr(system, "ask", None)):
        raise ContractError("there is no ask", hint="async def ask(self, request) -> Any")
    try:
        digest = digest_of(identity)
    except RagassayError as cause:
        raise ContractError(f"the identity cannot be sealed: {cause.message}", hint="plain JSON values only") from None
    if digest_of(system.identity) != digest or digest_of(make().identity) != digest:
        raise ContractError(
            "the identity is another one each time", hint="no times, paths of temporary files or object addresses in it"
        )


async def _ask_all(system: Any, asked: list[Request], timeout_s: float) -> tuple[list[Any], float]:
    """What came of each question, and the longest time for which nothing else could run."""
    identity = digest_of(system.identity)
    attach = getattr(system, "attach", None)
    if callable(attach):
        attach(Conditions(timeout_s=timeout_s, pace=Pace(len(asked))))
    lag = [0.0]
    ticking = asyncio.ensure_future(_tick(lag))
    try:
        async with asyncio.timeout(timeout_s * 2):
            first = await _call(system, asked[0])
            rest = await asyncio.gather(*(_call(system, one) for one in asked[1:]))
    except TimeoutError:
        raise ContractError(f"nothing came in {timeout_s * 2:g} s", hint="keep to the timeout in Conditions") from None
    finally:
        await asyncio.sleep(0.02)
        ticking.cancel()
        await _close(system)
    if digest_of(system.identity) != identity or CREDENTIAL in str(system.identity):
        raise ContractError("asking changed the identity", hint="what belongs to one question is no part of it")
    return [first, *rest], lag[0]


async def _call(system: Any, request: Request) -> Any:
    found = system.ask(request)
    return await found if asyncio.iscoroutine(found) or isinstance(found, asyncio.Future) else found


async def _tick(lag: list[float]) -> None:
    while True:
        before = time.monotonic()
        await asyncio.sleep(0.01)
        lag[0] = max(lag[0], time.monotonic() - before - 0.01)


def _check_value(value: Any, request: Request, resolver: Resolver) -> set[str]:
    """The parts of one reply; ContractError if a run could not make a trace of it."""
    reply = value if isinstance(value, Reply) else Reply(value=value)
    if reply.stored is not None:
        return set().union(*(parts_of(one.content, one.measurements) for one in reply.stored.values()))
    if reply.failure is not None:
        raise ContractError(
            f"{request.query!r} failed: {reply.failure.cause} {reply.failure.code or ''}: {reply.detail or ''}",
            hint="check it with questions that it can answer",
        )
    try:
        made = normalise(plain_value(reply.value), request, resolver)
    except InvalidResponseError as cause:
        raise ContractError(f"what came for {request.query!r} is no response: {cause}", hint=_HINT) from None
    if made.content.failure is not None:
        raise ContractError(f"what came for {request.query!r} is no response: {made.detail}", hint=_HINT)
    measured = Measurements(
        query_id=request.query_id, repeat=0, usage=made.reported.usage, cost=made.reported.cost,
        steps=made.reported.steps, first_token_ms=made.reported.first_token_ms,
    )  # fmt: skip
    return parts_of(made.content, measured)


_HINT = "`ragassay schema system` prints what a response may be"


async def _check_cancelled(system: Any, request: Request) -> None:
    task = asyncio.ensure_future(_call(system, request))
    await asyncio.sleep(0)
    task.cancel()
    _, pending = await asyncio.wait({task}, timeout=_CANCELLED_S)
    if pending:
        raise ContractError("ask goes on after it was cancelled", hint="let CancelledError through")
    with suppress(asyncio.CancelledError, Exception):
        await task
    await _close(system)


async def _close(system: Any) -> None:
    close = getattr(system, "aclose", None)
    if not callable(close):
        return
    try:
        async with asyncio.timeout(5.0):
            await close()
    except TimeoutError:
        raise ContractError("aclose did not end in 5 s", hint="a run waits no longer for it") from None
