"""Ceilings on calls, tokens and cost: counted by hand, passed by no more than was declared, always resumable."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import Small

from ragassay import score
from ragassay.errors import CeilingError, ErrorBudgetError, UsageError
from ragassay.records.protocol import Envelope, Protocol, Run
from ragassay.records.score import Estimate, Observation
from ragassay.records.trace import Attempt, Cost, Failure, Measurements, Usage
from ragassay.run import Request, execute
from ragassay.run.ceiling import Ceiling, Facts, Prices, Spent, facts_of
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.python import PythonSystem
from ragassay.seal import verify_run

PRICES = Prices(input=2.0, output=10.0, call=0.001, most_input_tokens=1000, most_output_tokens=500)


def measured(*causes: str | None, **more: Any) -> Measurements:
    """Measurements of a question with these attempts: None went well, else `cause` or `cause code`."""
    attempts = []
    for one in causes:
        cause, _, code = (one or "").partition(" ")
        failure: Any = Failure(cause=cause, code=code or None) if one else None  # type: ignore[arg-type]
        attempts.append(Attempt(duration_ms=1.0, failure=failure))
    return Measurements(query_id="q", repeat=0, attempts=tuple(attempts), **more)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (measured(None, usage=Usage(input_tokens=500, output_tokens=100)), Spent(1, 600, 0.001 + 0.001 + 0.001, 0)),
        (measured(None), Spent(1, 1500, 0.002 + 0.005 + 0.001, 1)),
        (measured(None, usage=Usage(input_tokens=500)), Spent(1, 1000, 0.001 + 0.005 + 0.001, 1)),
        (measured("rate_limited 429", None, usage=Usage(input_tokens=0, output_tokens=0)), Spent(2, 0, 0.001, 0)),
        (measured("rate_limited 429", "http_status 503"), Spent(2, 0, 0.0, 0)),
        (measured("connection ConnectError"), Spent(1, 0, 0.0, 0)),
        (measured("connection ReadError"), Spent(1, 1500, 0.008, 1)),
        (measured("timeout", None, usage=Usage(input_tokens=500, output_tokens=100)), Spent(2, 2100, 0.011, 1)),
        (measured(None, cost=Cost(amount=0.25, currency="USD")), Spent(1, 1500, 0.25, 0)),
        (measured(None, cost=Cost(amount=0.25, currency="EUR")), Spent(1, 1500, 0.008, 1)),
        (measured(), Spent(1, 1500, 0.008, 1)),
    ],
)
def test_what_a_question_counts_as(given_: Measurements, expected: Spent) -> None:
    found = Ceiling(max_cost=1.0, prices=PRICES).cost_of(facts_of(given_))
    assert found == pytest.approx(expected)


def test_ceilings_that_cannot_be_kept_are_refused() -> None:
    for arguments, what in (
        ({"max_cost": 1.0}, "needs prices"),
        ({"max_cost": 1.0, "prices": Prices(input=1.0)}, "needs most_input_tokens"),
        ({"max_cost": 1.0, "prices": Prices(output=1.0, most_input_tokens=9)}, "needs most_output_tokens"),
        ({"max_tokens": 5}, "needs most_input_tokens"),
        ({"max_calls": -1}, "no ceiling"),
        ({"max_cost": float("nan"), "prices": Prices(call=1.0)}, "no ceiling"),
    ):
        with pytest.raises(UsageError, match=what):
            Ceiling(**arguments)  # type: ignore[arg-type]
    assert Ceiling(max_cost=1.0, prices=Prices(call=0.5)).worst == Spent(1, 0, 0.5, 1)
    assert not Ceiling()
    assert Ceiling(max_calls=0)


@given(
    st.integers(0, 40), st.integers(0, 20_000), st.floats(0, 0.5),
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 500)), max_size=60), st.integers(1, 8),
)  # fmt: skip
def test_no_ceiling_is_passed_while_calls_stay_within_their_worst(
    calls: int, tokens: int, cost: float, usages: list[tuple[int, int]], at_once: int
) -> None:
    ceiling = Ceiling(max_calls=calls, max_tokens=tokens, max_cost=cost, prices=PRICES)
    waiting, out = list(usages), []
    while waiting:
        while waiting and len(out) < at_once and ceiling.reserve():
            out.append(waiting.pop())
        if not out:
            break
        used = out.pop(0)
        ceiling.settle(1, Facts(1, 1, used[0], used[1], None, ""))
        assert ceiling.spent.calls <= calls
        assert ceiling.spent.tokens <= tokens
        assert ceiling.spent.cost <= cost + 1e-6
    assert ceiling.reserved == len(out) == 0 or not waiting
    if waiting:
        assert not ceiling.has_room(), "it stopped although another call would have fitted"


class Counted:
    def __init__(self, usage: dict[str, int] | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self.usage, self.lock = usage, threading.Lock()

    def __call__(self, request: Request) -> Any:
        with self.lock:
            self.asked[request.query_id] += 1
        return {"contexts": ["rain"], **({"usage": self.usage} if self.usage else {})}


def go(small: Small, system: Any, ceiling: Ceiling | None, **more: Any) -> tuple[Run, str]:
    return asyncio.run(execute(small.store, small.seal(system.identity), system, ceiling=ceiling, **more))


def test_a_ceiling_ends_the_run_keeps_it_and_a_higher_one_goes_on(small: Small) -> None:
    counted = Counted()
    system = PythonSystem(counted)
    with pytest.raises(CeilingError, match=r"4 of 4 calls; 4 of 6 questions are asked") as caught:
        go(small, system, Ceiling(max_calls=4), concurrency=3)
    assert caught.value.exit_code == 3
    assert sum(counted.asked.values()) == 4
    digest = small.store.ref("run/latest")
    partial = verify_run(small.store, digest)
    assert (partial.state, partial.stopped, partial.answered, partial.questions) == ("partial", "cost_ceiling", 4, 6)
    envelope = small.store.get_record(Envelope, partial.envelope)
    assert envelope.spent["calls"] == envelope.spent["max_calls"] == 4
    with pytest.raises(CeilingError):
        go(small, system, Ceiling(max_calls=4))
    assert sum(counted.asked.values()) == 4, "what an earlier process spent counts"
    run, last = go(small, system, Ceiling(max_calls=6))
    assert (run.state, run.stopped, run.answered) == ("complete", None, 6)
    assert set(counted.asked.values()) == {1}
    assert small.store.ref("run/latest") == last
    whole = go(small, PythonSystem(Counted()), None, name="whole")[0]
    assert run.content == whole.content


def test_questions_that_were_not_asked_are_missing_for_that_reason(small: Small) -> None:
    system = PythonSystem(Counted())
    with pytest.raises(CeilingError):
        go(small, system, Ceiling(max_calls=2))
    digest = small.store.ref("run/latest")
    run = small.store.get_record(Run, digest)
    table, _ = score.table(small.store, digest, small.store.get_record(Protocol, run.protocol).scoring)
    rows = [one for one in small.store.get_lines(Observation, table.observations) if one.measure == "recall(rel=2)@5"]
    assert Counter((one.status, one.reason) for one in rows) == {("value", None): 2, ("missing", "cost_ceiling"): 4}
    estimates = small.store.get_lines(Estimate, table.estimates)
    one = next(one for one in estimates if one.measure == "recall(rel=2)@5" and one.aggregation == "macro")
    assert (one.attempted, one.scored, one.missing, one.error) == (6, 2, 4, 0)
    assert one.reasons == {"cost_ceiling": 4}
    assert one.value is not None
    assert one.bounds is not None
    assert (one.bounds.low, one.bounds.high) == pytest.approx((one.value * 2 / 6, (one.value * 2 + 4) / 6))


def test_reported_usage_is_counted_and_the_worst_case_is_reserved(small: Small) -> None:
    counted = Counted({"input_tokens": 100, "output_tokens": 50})
    ceiling = Ceiling(max_tokens=2000, prices=PRICES)
    with pytest.raises(CeilingError, match="600 of 2,000 tokens"):
        go(small, PythonSystem(counted), ceiling, concurrency=8)
    assert sum(counted.asked.values()) == 4, "600 are spent, and 600 + 1,500 is more than 2,000"
    assert ceiling.spent == Spent(4, 600, pytest.approx(4 * (0.0002 + 0.0005 + 0.001)), 0)


def test_a_system_that_uses_more_than_it_declared_stops_the_run_after_what_was_in_flight(small: Small) -> None:
    counted, both_are_out = Counted({"input_tokens": 50_000, "output_tokens": 0}), threading.Barrier(2, timeout=10)

    def ask(request: Request) -> Any:
        both_are_out.wait()
        return counted(request)

    with pytest.raises(CeilingError, match="100,000 of 3,000 tokens"):
        go(small, PythonSystem(ask), Ceiling(max_tokens=3000, prices=PRICES), concurrency=2)
    assert sum(counted.asked.values()) == 2, "at most as many as may be out at once"


def test_retries_reserve_too_and_the_server_never_sees_more(small: Small, serve: Any) -> None:
    server = serve(lambda body, before, handler: handler.reply(503, {}, retry_after="0"))
    system = HttpSystem(server.url, retries=3)
    with pytest.raises(CeilingError, match="10 of 10 calls"):
        go(small, system, Ceiling(max_calls=10), error_budget=6)
    assert sum(server.asked.values()) == 10


def test_without_a_ceiling_nothing_is_counted(small: Small) -> None:
    run, _ = go(small, PythonSystem(Counted()), None)
    assert small.store.get_record(Envelope, run.envelope).spent == {}


def test_too_many_failures_are_in_a_table_with_their_causes(small: Small) -> None:
    def down(request: Request) -> Any:
        if request.query_id in ("q000", "q001", "q002"):
            raise OSError("no route")
        return ["rain"]

    with pytest.raises(ErrorBudgetError):
        go(small, PythonSystem(down), None, error_budget=1, concurrency=1)
    digest = small.store.ref("run/latest")
    run = small.store.get_record(Run, digest)
    table, _ = score.table(small.store, digest, small.store.get_record(Protocol, run.protocol).scoring)
    rows = [one for one in small.store.get_lines(Observation, table.observations) if one.measure == "recall(rel=2)@5"]
    assert (run.answered, run.failures) == (2, 2)
    assert Counter((one.status, one.reason) for one in rows) == {
        ("error", "exception"): 2, ("missing", "error_budget"): 4,
    }  # fmt: skip
    with pytest.raises(ErrorBudgetError):
        go(small, PythonSystem(down), None, error_budget=2, concurrency=1)
    whole, _ = go(small, PythonSystem(down), None, error_budget=3, concurrency=1)
    assert (whole.state, whole.stopped, whole.answered, whole.failures) == ("complete", None, 6, 3)
