"""Overload of a real service: what the run does, what its envelope says, and that nothing of it is lost when killed."""

from __future__ import annotations

import asyncio
import email.utils
import itertools
import threading
import time
from typing import Any

import pytest
from tests.unit.run.small import Small

from ragassay.errors import ErrorBudgetError
from ragassay.records.protocol import Envelope, Run
from ragassay.records.trace import Measurements
from ragassay.report.identity import _pace
from ragassay.run import execute
from ragassay.run.pace import endpoint_of
from ragassay.run.systems.http import HttpSystem


def go(small: Small, system: Any, **more: Any) -> Run:
    return asyncio.run(execute(small.store, small.seal(system.identity), system, **more))[0]


def envelope_of(small: Small, run: Run) -> Envelope:
    return small.store.get_record(Envelope, run.envelope)


def test_one_bad_question_holds_the_endpoint_and_the_envelope_says_it(small: Small, serve: Any) -> None:
    sent: list[float] = []

    def answer(body: Any, before: int, handler: Any) -> Any:
        sent.append(time.monotonic())
        if body["query_id"] == "q000" and before == 0:
            return handler.reply(429, {}, retry_after=email.utils.formatdate(time.time() + 2.5, usegmt=True))
        return {"answer": "x"}

    server = serve(answer)
    run = go(small, HttpSystem(server.url), concurrency=2)
    assert run.failures == 0
    gaps = sorted(later - earlier for earlier, later in itertools.pairwise(sent))
    assert gaps[-1] > 1.0, "nothing is sent while the date lies ahead"
    events = envelope_of(small, run).pace
    assert [(one.kind, one.cause, one.limit) for one in events][:2] == [("cut", "429", 1), ("held", "429", 1)]
    assert ("recovered", "answers", 2) in [(one.kind, one.cause, one.limit) for one in events]
    assert {one.endpoint for one in events} == {endpoint_of(server.url)}
    said = _pace(envelope_of(small, run))
    assert said.startswith("2 at once; cut 1 time (429), to 1 at the lowest, back 1 time; held for ")


def test_a_hold_is_no_longer_than_a_question_may_wait(small: Small, serve: Any) -> None:
    server = serve(
        lambda body, before, handler: (
            handler.reply(429, {}, retry_after="86400") if body["query_id"] == "q000" else {"answer": "x"}
        )
    )
    start = time.monotonic()
    run = go(small, HttpSystem(server.url, max_wait_s=0.5), concurrency=1)
    assert time.monotonic() - start < 5
    assert run.failures == 1
    held = [one for one in envelope_of(small, run).pace if one.kind == "held"]
    assert [one.seconds for one in held] == [pytest.approx(0.5, abs=0.05)]


def test_retries_stay_within_the_limit_that_was_cut(small: Small, serve: Any) -> None:
    inside, peak, lock = 0, [], threading.Lock()
    cut = threading.Event()

    def answer(body: Any, before: int, handler: Any) -> Any:
        nonlocal inside
        with lock:
            inside += 1
            if cut.is_set() and before:
                peak.append(inside)
        time.sleep(0.05)
        with lock:
            inside -= 1
        if before == 0 and body["query_id"] in ("q000", "q001", "q002", "q003"):
            cut.set()
            return handler.reply(503, {}, retry_after="0.2")
        return {"answer": "x"}

    server = serve(answer)
    run = go(small, HttpSystem(server.url), concurrency=4)
    assert run.failures == 0
    assert [one.limit for one in envelope_of(small, run).pace if one.kind == "cut"] == [2]
    assert max(peak[:2]) <= 2, "after the cut no more than half come back at once"
    attempts = [len(one.attempts) for one in small.store.get_lines(Measurements, run.measurements)]
    assert sorted(attempts) == [1, 1, 2, 2, 2, 2]


def test_events_of_a_process_that_stopped_are_kept(small: Small, serve: Any) -> None:
    broken = {"now": True}

    def answer(body: Any, before: int, handler: Any) -> Any:
        if body["query_id"] == "q000" and before == 0:
            return handler.reply(503, {}, retry_after="0")
        return handler.reply(500, {}) if broken["now"] and body["query_id"] > "q002" else {"answer": "x"}

    system = HttpSystem(serve(answer).url)
    with pytest.raises(ErrorBudgetError):
        go(small, system, concurrency=2, error_budget=0)
    broken["now"] = False
    run = go(small, system, concurrency=2, error_budget=6)
    assert [one.kind for one in envelope_of(small, run).pace].count("cut") == 1


def test_a_burst_of_refused_connections_cuts_and_a_dead_service_does_not(small: Small, serve: Any) -> None:
    run = go(small, HttpSystem("http://127.0.0.1:9/"), concurrency=4, error_budget=6)
    assert run.failures == 6
    assert envelope_of(small, run).pace == ()
    seen: set[str] = set()
    one_answered = threading.Event()

    def answer(body: Any, _before: int, handler: Any) -> Any:
        """The first connections are reset after q000 was answered: a fifth question is asked only then."""
        seen.add(body["query_id"])
        if len(seen) > 4:
            one_answered.set()
        if body["query_id"] == "q000":
            return {"answer": "x"}
        one_answered.wait(10)
        return handler.reset()

    server = serve(answer)
    run = go(small, HttpSystem(server.url), concurrency=4, error_budget=6, name="resets")
    assert [(one.kind, one.cause) for one in envelope_of(small, run).pace] == [("cut", "connection")]
