"""The pace of an endpoint in virtual time: cut once an episode, additive recovery, holds, and who waits for whom."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.records.base import Instant
from ragassay.run.account import Account, account_of, current
from ragassay.run.clock import Clock
from ragassay.run.pace import BURST, Pace, Paces, endpoint_of


class Jump(selectors.SelectSelector):
    """A selector that does not sleep: it moves the clock of its loop."""

    now_s = 100.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout:
            self.now_s += timeout
        return found


class Loop(asyncio.SelectorEventLoop):
    """An event loop in virtual time."""

    def __init__(self) -> None:
        self.jump = Jump()
        super().__init__(self.jump)

    def time(self) -> float:
        return self.jump.now_s


def run(work: Any) -> Any:
    """`work(clock)` in virtual time."""
    loop = Loop()
    try:
        clock = Clock(now=lambda: Instant("2026-08-01T00:00:00Z"), steady_s=loop.time)
        return loop.run_until_complete(work(clock))
    finally:
        loop.close()


def ticking(start_s: float = 0.0) -> tuple[list[float], Clock]:
    now = [start_s]
    return now, Clock(now=lambda: Instant("2026-08-01T00:00:00Z"), steady_s=lambda: now[0])


def kinds(paces: Paces) -> list[tuple[str, str, int]]:
    return [(one.kind, one.cause, one.limit) for one in paces.take()]


def test_one_cut_an_episode_whatever_the_answers_come_in() -> None:
    now, clock = ticking(1.0)
    paces = Paces(16, clock)
    pace = paces.at("a:1/")
    for sent in (0.1, 0.5, 0.9, 1.0):
        pace.overloaded(sent)
    assert kinds(paces) == [("cut", "429", 8)]
    now[0] = 2.0
    pace.overloaded(1.0, cause="503")
    assert pace.allowed == 8, "sent at the moment of the cut: the same episode"
    pace.overloaded(1.5, cause="503")
    assert kinds(paces) == [("cut", "503", 4)]
    for sent in range(3, 9):
        now[0] = sent + 0.5
        pace.overloaded(float(sent))
    assert kinds(paces) == [("cut", "429", 2), ("cut", "429", 1)]
    assert pace.allowed == 1


def test_recovery_is_one_a_round_of_what_was_sent_after_the_cut() -> None:
    now, clock = ticking(1.0)
    paces = Paces(8, clock)
    pace = paces.at("a:1/")
    pace.overloaded(0.5)
    pace.overloaded(0.6)
    now[0] = 2.0
    for _ in range(100):
        pace.succeeded(0.9)
    assert pace.allowed == 4, "answers to what was out at the cut say nothing about the new limit"
    rounds = []
    for _ in range(4 + 5 + 6 + 7 + 3):
        pace.succeeded(1.5)
        rounds.append(pace.allowed)
    assert rounds[3] == 4
    assert rounds[4] == 5
    assert sorted(rounds) == rounds
    assert rounds[-1] == 8
    assert kinds(paces) == [("cut", "429", 4), ("recovered", "answers", 8)]
    assert pace.cause == ""


@pytest.mark.parametrize("cause", ["timeout", "connection", "gateway"])
def test_silence_in_a_burst_is_an_overload_and_a_single_one_is_not(cause: str) -> None:
    _, clock = ticking(5.0)
    paces = Paces(8, clock)
    pace = paces.at("a:1/")
    pace.answered(4.0)
    for _ in range(BURST - 1):
        pace.silent(4.0, cause)
    assert pace.allowed == 8
    pace.silent(4.0, cause)
    assert kinds(paces) == [("cut", cause, 4)]
    for _ in range(20):
        pace.silent(4.5, cause)
    assert pace.allowed == 4, "the rest of the burst was out at the cut"


def test_silence_that_is_spread_out_is_no_overload() -> None:
    _, clock = ticking(5.0)
    pace = Pace(8, clock)
    for number in range(100):
        (pace.silent if number % 3 == 0 else lambda sent, _: pace.succeeded(sent))(4.0, "timeout")
    assert pace.allowed == 8


def test_a_refused_connection_cuts_only_where_others_were_answered() -> None:
    _, clock = ticking(5.0)
    pace = Pace(8, clock)
    for _ in range(50):
        pace.silent(4.0, "connection")
    assert pace.allowed == 8, "an endpoint that was never there is not overloaded"
    pace.succeeded(4.0)
    for _ in range(BURST):
        pace.silent(4.0, "connection")
    assert pace.allowed == 4


def test_a_hold_is_of_one_endpoint_and_nothing_is_sent_during_it() -> None:
    async def work(clock: Clock) -> None:
        paces = Paces(4, clock)
        held, other = paces.at("a:1/"), paces.at("b:1/")
        start_s = clock.steady_s()
        held.overloaded(start_s - 1, retry_after_s=30)
        held.overloaded(start_s - 1, retry_after_s=7)
        entered: list[float] = []

        async def enter(pace: Pace) -> float:
            async with pace.slot() as waited_s:
                entered.append(clock.steady_s() - start_s)
                await asyncio.sleep(1)
            return waited_s

        waits = await asyncio.gather(*(enter(held) for _ in range(4)), enter(other))
        assert entered == pytest.approx([0, 30, 30, 31, 31])
        assert waits == pytest.approx([30, 30, 31, 31, 0])
        assert kinds(paces) == [("cut", "429", 2), ("held", "429", 2)]

    run(work)


def test_never_more_inside_than_allowed_and_first_come_first_served() -> None:
    async def work(clock: Clock) -> None:
        pace, inside, peak, order = Pace(5, clock), 0, 0, []

        async def enter(number: int) -> None:
            nonlocal inside, peak
            async with pace.slot():
                inside, peak = inside + 1, max(peak, inside + 1)
                order.append(number)
                await asyncio.sleep(1)
                inside -= 1
            if number == 4:
                pace.overloaded(clock.steady_s() + 1)

        await asyncio.gather(*(enter(number) for number in range(30)))
        assert peak == 5
        assert order == list(range(30))
        assert pace.allowed == 2

    run(work)


def test_who_gives_up_while_waiting_leaves_the_place_to_the_next() -> None:
    async def work(clock: Clock) -> None:
        pace = Pace(1, clock)

        async def enter(hold_s: float) -> str:
            async with pace.slot():
                await asyncio.sleep(hold_s)
            return "done"

        first, second, third = (asyncio.ensure_future(enter(one)) for one in (5, 5, 5))
        await asyncio.sleep(1)
        second.cancel()
        assert await asyncio.gather(first, third) == ["done", "done"]
        assert clock.steady_s() == pytest.approx(110)

    run(work)


def test_waiting_for_a_slot_is_not_the_questions_own_time() -> None:
    async def work(clock: Clock) -> None:
        pace = Pace(1, clock)
        account = Account(clock_s=clock.steady_s)

        async def enter(seconds: float) -> None:
            async with pace.slot():
                await asyncio.sleep(seconds)

        first = asyncio.ensure_future(enter(7))
        await asyncio.sleep(0)
        with account_of(account):
            second = asyncio.ensure_future(enter(3))
        await asyncio.sleep(4)
        assert account.waited_s == pytest.approx(4)
        await asyncio.gather(first, second)
        assert account.waited_s == pytest.approx(7)
        assert current().waited_s == 0

    run(work)


@given(st.lists(st.tuples(st.sampled_from(["good", "429", "timeout", "other"]), st.floats(0, 5)), max_size=200))
def test_the_limit_stays_between_one_and_the_declared_one(events: list[tuple[str, float]]) -> None:
    now, clock = ticking()
    paces = Paces(6, clock)
    pace = paces.at("a:1/")
    for kind, ago in events:
        now[0] += 1.0
        sent = now[0] - ago
        before = pace.allowed
        if kind == "good":
            pace.succeeded(sent)
            assert before <= pace.allowed <= before + 1
        elif kind == "429":
            pace.overloaded(sent)
            assert pace.allowed >= before // 2
        elif kind == "timeout":
            pace.silent(sent, "timeout")
        else:
            pace.answered(sent)
            assert pace.allowed == before
        assert 1 <= pace.allowed <= 6
    told = [one.kind for one in paces.take()]
    assert told.count("cut") == pace.cuts
    assert told.count("recovered") <= told.count("cut")


def test_throughput_comes_back_after_an_overload() -> None:
    """16 at once, 1 s each: 120 answers take the limit from 1 to 16, whatever happened before."""

    async def work(clock: Clock) -> list[float]:
        pace, start_s = Pace(16, clock), clock.steady_s()
        for sent in range(6):
            pace.overloaded(start_s - 10 + sent + 1e-3)
        finished: list[float] = []

        async def ask() -> None:
            async with pace.slot():
                sent_s = clock.steady_s()
                await asyncio.sleep(1)
                pace.succeeded(sent_s)
                finished.append(clock.steady_s() - start_s)

        pace._allowed, pace._last_cut_s = 1.0, start_s - 1
        await asyncio.gather(*(ask() for _ in range(120 + 16 * 10)))
        return finished

    finished = run(work)
    assert finished[119] < 20, "1 + 2 + ... + 15 answers in about as many seconds"
    assert finished[-1] - finished[119] == pytest.approx(10, abs=1.5), "then 16 a second"


def test_endpoints_have_no_query_and_always_a_port() -> None:
    assert endpoint_of("http://Example.org/ask?key=secret#x") == "example.org:80/ask"
    assert endpoint_of("https://example.org") == "example.org:443/"
    assert endpoint_of("http://127.0.0.1:8000/a/b") == "127.0.0.1:8000/a/b"


def test_several_endpoints_give_the_job_the_lowest_limit() -> None:
    _, clock = ticking(1.0)
    paces = Paces(8, clock)
    first, second = paces.at("a:1/"), paces.at("b:1/")
    assert first is paces.at("a:1/")
    second.overloaded(0.5, retry_after_s=9)
    assert (first.allowed, second.allowed, paces.allowed, paces.hold_s) == (8, 4, 4, 9.0)
    paces.succeeded()
    assert second.allowed == 4
    second.used = True
    for _ in range(20):
        paces.succeeded()
    assert second.allowed == 4, "an adapter that takes slots says itself what went through"
