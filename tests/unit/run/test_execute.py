"""Whole runs: durable, resumable, honest about failures, stopped by nothing that a system does."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.unit.run.small import Small

from ragassay.errors import ErrorBudgetError, IntegrityError, Interrupted, MixedRunError, StoreError, UsageError
from ragassay.records.canonical import digest_set, parse_value
from ragassay.records.case import CaseLine
from ragassay.records.protocol import Envelope, Protocol, Run
from ragassay.records.trace import Measurements, TraceContent
from ragassay.redact import Redaction
from ragassay.run import Request, execute
from ragassay.run.clock import Clock
from ragassay.run.executing import POINTS
from ragassay.run.progress import Lines, Standing, choose
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.python import PythonSystem
from ragassay.run.systems.reference import ReferenceSystem
from ragassay.seal import verify_run
from ragassay.store import durable

ROOT = Path(__file__).resolve().parents[3]


class Counting:
    """A callable that counts what it is asked, and does what it is told for some questions."""

    def __init__(self, special: dict[str, Any] | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.special = special or {}

    def __call__(self, request: Request) -> Any:
        self.asked[request.query_id] += 1
        self.requests.append(request)
        found = self.special.get(request.query_id)
        if callable(found):
            return found(request)
        return {"answer": f"to {request.query_id}", "contexts": ["own text", "rain"], "versions": {"m": "1"}}


def go(small: Small, system: Any, digest: str | None = None, **more: Any) -> tuple[Run, str]:
    protocol = digest or small.seal(system.identity)
    return asyncio.run(execute(small.store, protocol, system, **more))


def contents(small: Small, run: Run) -> list[TraceContent]:
    return list(small.store.get_lines(TraceContent, run.contents))


def test_a_run_is_sealed_verified_and_named(small: Small) -> None:
    counting = Counting()
    run, digest = go(small, PythonSystem(counting), name="first")
    assert small.store.ref("run/first") == digest
    assert verify_run(small.store, digest) == run
    assert (run.state, run.questions, run.answered, run.failures, run.mixed) == ("complete", 6, 6, 0, ())
    found = contents(small, run)
    assert [one.query_id for one in found] == [f"q{number:03d}" for number in range(6)]
    assert {one.seed for one in found} == {7}
    measured = list(small.store.get_lines(Measurements, run.measurements))
    assert sorted(one.completed or 0 for one in measured) == list(range(6))
    assert all(len(one.attempts) == 1 and (one.latency_ms or -1) >= 0 for one in measured)
    texts = list(small.store.get_lines(dict[str, Any], run.texts))
    assert [one["text"] for one in texts] == ["own text"]
    envelope = small.store.get_record(Envelope, run.envelope)
    assert (envelope.resumed, envelope.concurrency) == (0, 4)
    assert small.store.check(level="full").problems == () if hasattr(small.store.check(), "problems") else True


def test_sealed_job_is_returned_and_asked_anew_only_when_told(small: Small) -> None:
    counting = Counting()
    system = PythonSystem(counting)
    first = go(small, system)
    assert go(small, system) == first
    assert max(counting.asked.values()) == 1
    again, digest = go(small, system, resume=False)
    assert set(counting.asked.values()) == {2}
    assert again.content == first[0].content
    assert digest != first[1]


def test_a_sealed_job_gets_its_name_back_when_another_subject_took_it(small: Small) -> None:
    system = PythonSystem(Counting())
    first = go(small, system)
    other = go(small, system, small.seal(system.identity, repeats=2))
    assert small.store.ref("run/latest") == other[1]
    assert go(small, system) == first
    assert small.store.ref("run/latest") == first[1]


def test_reference_rerun_is_identical(small: Small) -> None:
    runs = [go(small, ReferenceSystem(small.documents, small.passages), name=name)[0] for name in ("a", "b")]
    assert runs[0].content == runs[1].content
    assert runs[0].subject == runs[1].subject
    assert runs[0].identity() == runs[1].identity()


@pytest.mark.parametrize("point", POINTS)
def test_an_exception_at_any_point_loses_nothing(small: Small, point: str) -> None:
    class Stop(Exception):
        pass

    def hook(name: str) -> None:
        if name == point:
            raise Stop

    counting = Counting()
    system = PythonSystem(counting)
    expected = go(small, PythonSystem(Counting()), name="whole")[0].content
    with pytest.raises(Stop):
        go(small, system, on_point=hook, concurrency=2)
    run, digest = go(small, system)
    assert run.content == expected
    assert sum(counting.asked.values()) <= 6 + 2
    verify_run(small.store, digest)


def test_failures_of_every_kind_are_traces(small: Small) -> None:
    def leave(request: Request) -> Any:
        raise SystemExit(3)

    def stop(request: Request) -> Any:
        raise StopIteration

    def boom(request: Request) -> Any:
        raise ValueError("secret detail")

    special = {
        "q000": boom, "q001": leave, "q002": stop, "q003": lambda _: object(), "q004": lambda _: time.sleep(30),
    }  # fmt: skip
    system = PythonSystem(Counting(special))
    start = time.monotonic()
    run, _ = go(small, system, small.seal(system.identity, timeout_s=0.5), error_budget=1.0)
    assert time.monotonic() - start < 20
    found = [(one.failure.cause, one.failure.code) if one.failure else None for one in contents(small, run)]
    assert found == [
        ("exception", "ValueError"), ("exception", "SystemExit"), ("exception", "StopIteration"),
        ("invalid_response", "response"), ("timeout", None), None,
    ]  # fmt: skip
    assert run.failures == 5
    details = [one.failure_detail for one in small.store.get_lines(Measurements, run.measurements)]
    assert details[0] == "ValueError: secret detail"
    assert "secret" not in str(contents(small, run))


def test_async_callables_that_hang_raise_or_refuse_to_stop(small: Small) -> None:
    async def answer(request: Request) -> Any:
        if request.query_id == "q000":
            await asyncio.sleep(60)
        if request.query_id == "q001":
            raise asyncio.CancelledError
        if request.query_id == "q002":
            sys.exit(1)
        if request.query_id == "q003":
            time.sleep(1.5)
        if request.query_id == "q004":
            end = time.monotonic() + 1
            while time.monotonic() < end:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.05)
        return ["rain"]

    system = PythonSystem(answer, own_loop=True)
    start = time.monotonic()
    run, _ = go(small, system, small.seal(system.identity, timeout_s=0.8), error_budget=6, concurrency=1)
    took = time.monotonic() - start
    found = [one.failure.cause if one.failure else None for one in contents(small, run)]
    assert found[0] == "timeout"
    assert found[1:3] == ["exception", "exception"]
    assert found[3:] == ["timeout", "timeout", None]
    assert took < 30
    time.sleep(max(0.0, 2.5 - (time.monotonic() - start)))


def test_last_question_cannot_hang_the_process(tmp_path: Path) -> None:
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
import asyncio, time
from pathlib import Path
from tests.unit.run.small import Small
from ragassay.run import execute
from ragassay.run.systems.python import PythonSystem
def answer(request):
    while request.query_id == "q005":
        time.sleep(1)
    return ["rain"]
small = Small(Path({str(tmp_path)!r}))
system = PythonSystem(answer)
run, _ = asyncio.run(execute(small.store, small.seal(system.identity, timeout_s=0.5), system))
print(run.answered, run.failures)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, cwd=ROOT, check=False
    )
    assert done.stdout == "6 1\n", done.stderr


def test_runs_inside_a_running_loop_and_beside_other_work(small: Small) -> None:
    async def outer() -> tuple[Run, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        other = asyncio.ensure_future(tick())
        lock = asyncio.Lock()

        async def answer(request: Request) -> Any:
            async with lock:
                await asyncio.sleep(0.01)
            return ["rain"]

        system = PythonSystem(answer)
        run, _ = await execute(small.store, small.seal(system.identity), system)
        other.cancel()
        return run, ticks

    run, ticks = asyncio.run(outer())
    assert run.failures == 0
    assert ticks > 5


def test_error_budget_stops_and_keeps(small: Small) -> None:
    def boom(request: Request) -> Any:
        raise ValueError

    counting = Counting({f"q{number:03d}": boom for number in range(3)})
    system = PythonSystem(counting)
    said = r"2 of 6 questions failed; 1 may .*The first was 'q000': exception, ValueError"
    with pytest.raises(ErrorBudgetError, match=said) as caught:
        go(small, system, error_budget=0.2, concurrency=1)
    assert caught.value.exit_code == 4
    assert sum(counting.asked.values()) == 2
    kept = verify_run(small.store, small.store.ref("run/latest"))
    assert (kept.state, kept.stopped, kept.answered, kept.failures) == ("partial", "error_budget", 2, 2)
    with pytest.raises(ErrorBudgetError):
        go(small, system, error_budget=1, concurrency=1)
    assert sum(counting.asked.values()) == 2
    run, _ = go(small, system, error_budget=3)
    assert run.failures == 3
    assert max(counting.asked.values()) == 1
    for wrong in (-1, 1.5, True):
        with pytest.raises(UsageError, match="error budget"):
            go(small, system, error_budget=wrong, name="other")


def test_signal_stops_the_run_and_keeps_what_is_finished(small: Small) -> None:
    def interrupt(request: Request) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2)

    counting = Counting({"q003": interrupt})
    system = PythonSystem(counting)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted, match="3 of 6 questions are finished and kept") as caught:
        go(small, system, concurrency=1)
    assert caught.value.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before
    counting.special.clear()
    run, _ = go(small, system)
    assert run.failures == 0
    assert counting.asked == {"q000": 1, "q001": 1, "q002": 1, "q003": 2, "q004": 1, "q005": 1}
    assert small.store.get_record(Envelope, run.envelope).resumed == 1


def test_cancelling_execute_keeps_what_is_finished(small: Small) -> None:
    counting = Counting({"q003": lambda _: time.sleep(1)})
    system = PythonSystem(counting)

    async def cancelled() -> None:
        task = asyncio.ensure_future(execute(small.store, small.seal(system.identity), system, concurrency=1))
        while counting.asked["q003"] == 0:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    counting.special.clear()
    go(small, system)
    assert counting.asked["q000"] == 1
    assert counting.asked["q003"] == 2


def test_repeats_have_their_own_key_and_seed(small: Small) -> None:
    counting = Counting()
    system = PythonSystem(counting)
    run, _ = go(small, system, small.seal(system.identity, repeats=3))
    assert (run.questions, run.answered) == (18, 18)
    assert set(counting.asked.values()) == {3}
    assert {(one.repeat, one.seed) for one in contents(small, run)} == {(0, 7), (1, 8), (2, 9)}


def test_history_is_gold_or_none(small: Small) -> None:
    line = {
        "query_id": "turn2", "query": "And snow?",
        "conversation": {"id": "c", "turn": 2, "history": [{"role": "user", "text": "Rain?"}]},
    }  # fmt: skip
    small.build([parse_value(CaseLine, line)])
    for history, texts in (("gold", ["Rain?"]), ("none", [])):
        counting = Counting()
        system = PythonSystem(counting)
        go(small, system, small.seal(system.identity, history=history))
        assert [turn.text for turn in counting.requests[0].history] == texts


def test_live_history_is_the_systems_own_answers_in_order(small: Small) -> None:
    def line(turn: int, who: str = "") -> CaseLine:
        told = [{"role": "user", "text": f"Q{n}"} for n in range(1, turn)]
        value = {
            "query_id": f"t{turn}{who}",
            "query": f"Q{turn}",
            "conversation": {"id": "c", "turn": turn, "history": told},
        }
        return parse_value(CaseLine, value | ({"principal": {"id": who}} if who else {}))

    small.build([line(4), line(2), line(3), line(3, "other")])

    def fail(request: Request) -> Any:
        raise ValueError

    counting = Counting({"t3": fail})
    system = PythonSystem(counting)
    digest = small.seal(system.identity, history="live", repeats=2)
    run, _ = go(small, system, digest, error_budget=1.0)
    assert run.answered == 8
    seen = {(one.query_id, one.seed): [turn.text for turn in one.history] for one in counting.requests}
    for seed in (7, 8):
        assert seen["t2", seed] == ["Q1"]
        assert seen["t3", seed] == ["Q1", "Q2", "to t2"]
        assert seen["t4", seed] == ["Q1", "Q2", "to t2", "Q3"]
        assert seen["t3other", seed] == ["Q1", "Q2"]

    again = Counting({"t3": lambda _: os.kill(os.getpid(), signal.SIGINT) or time.sleep(1)})
    with pytest.raises(Interrupted):
        go(small, PythonSystem(again), digest, name="again", error_budget=1.0, concurrency=1)
    again.special = {"t3": fail}
    assert go(small, PythonSystem(again), digest, name="again", error_budget=1.0)[0].content == run.content


def test_credentials_are_sent_and_never_stored(small: Small, monkeypatch: pytest.MonkeyPatch, serve: Any) -> None:
    monkeypatch.setenv("RAG_TOKEN", "header-pass-word")
    line = {"query_id": "q", "query": "?", "principal": {"id": "u1", "tenants": ["a"]}}
    small.build([parse_value(CaseLine, line)])
    server = serve(
        lambda body, before, handler: {
            "answer": f"you said {body['auth']} and {handler.headers['authorization']}",
            "password": "x", "versions": {"v": body["auth"]},
        }
    )  # fmt: skip
    system = HttpSystem(
        server.url,
        headers={"Authorization": {"env": "RAG_TOKEN", "prefix": "Bearer "}},
        request={"query_id": "$.query_id", "auth": "$.credential"},
    )
    run, _ = go(small, system, credentials={"u1": "user-pass-word"})
    assert "user-pass-word" in str(server.seen)
    (content,) = contents(small, run)
    assert content.answer is not None
    assert content.answer.text == "you said [credential] and [credential]"
    stored = b"".join(
        small.store.get("sha256:" + path.name) for path in small.store.path.rglob("*") if len(path.name) == 64
    )
    stored += b"".join(path.read_bytes() for path in small.store.path.rglob("*.journal"))
    for run_blob in (run.contents, run.measurements, run.texts):
        stored += b"".join(small.store.get_raw_lines(run_blob))
    assert b"pass-word" not in stored


def test_declared_patterns_go_before_anything_is_hashed(small: Small) -> None:
    redaction = Redaction(patterns={"card": r"\d{16}"})
    system = PythonSystem(lambda request: {"answer": "pay 1234567812345678", "contexts": ["1234567812345678"]})
    digest = small.seal(system.identity, redaction=redaction.digest)
    with pytest.raises(UsageError, match="redaction"):
        go(small, system, digest)
    run, _ = go(small, system, digest, redaction=redaction)
    content = contents(small, run)[0]
    assert content.answer is not None
    assert content.answer.text == "pay [redacted:card]"
    assert content.redaction == redaction.digest
    measured = next(iter(small.store.get_lines(Measurements, run.measurements)))
    assert measured.redactions == {"card": 2}
    assert b"12345678" not in b"".join(path.read_bytes() for path in small.store.path.rglob("*.journal"))


def test_raw_response_is_kept_as_it_came(small: Small, serve: Any) -> None:
    body = b'{"answer": "caf\xe9", "x":   1}'
    server = serve(lambda _, before, handler: handler.reply(200, body))
    run, _ = go(small, HttpSystem(server.url))
    measured = next(iter(small.store.get_lines(Measurements, run.measurements)))
    assert measured.raw is not None
    assert small.store.get(measured.raw) == body
    answer = contents(small, run)[0].answer
    assert answer is not None
    assert (answer.text, answer.lossy) == ("caf\ufffd", True)


def test_changed_version_makes_the_run_mixed_even_when_resumed(small: Small) -> None:
    counting = Counting({"q005": lambda _: {"answer": "x", "versions": {"m": "2", "n": "1"}}})
    run, _ = go(small, PythonSystem(counting))
    assert run.mixed == ("m",)


def test_overload_cuts_the_concurrency(small: Small, serve: Any) -> None:
    server = serve(
        lambda body, before, handler: handler.reply(429, {}, retry_after="0") if before == 0 else {"answer": "x"}
    )
    seen: list[int] = []

    class Watch:
        def begin(self, standing: Standing) -> None: ...
        def tick(self, standing: Standing) -> None:
            seen.append(standing.limit)

        def end(self, standing: Standing, state: str) -> None:
            seen.append(standing.done)

    run, _ = go(small, HttpSystem(server.url), concurrency=4, progress=Watch())
    assert run.failures == 0
    assert min(seen) < 4
    assert seen[-1] == 6
    measured = list(small.store.get_lines(Measurements, run.measurements))
    assert all(
        [one.failure.code if one.failure else None for one in each.attempts] == ["429", None] for each in measured
    )


def test_a_request_is_out_before_the_next_question_begins(small: Small) -> None:
    events: list[str] = []

    async def ask(request: Request) -> Any:
        events.append(f"begun {request.query_id}")
        for _ in range(2):  # an adapter takes some turns of the loop until its request is out
            await asyncio.sleep(0)
        events.append(f"sent {request.query_id}")
        await asyncio.sleep(0.05)
        return ["rain"]

    run, _ = go(small, PythonSystem(ask), concurrency=6)
    assert run.answered == 6
    assert events == [f"{what} q{number:03d}" for number in range(6) for what in ("begun", "sent")]


def questions_in(descriptor: int) -> int:
    """Lines of questions in a journal; 0 for a file that is only written."""
    with suppress(OSError):
        return os.pread(descriptor, 1 << 20, 0).count(b'"question":')
    return 0


def test_never_more_than_the_limit_is_out_and_twice_that_is_not_on_the_disk(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = Small(tmp_path / "more", questions=40)
    push, worst, durable_lines, out = durable.sync_file, [0], [0], [0, 0]

    def slow(descriptor: int) -> None:
        time.sleep(0.01)
        push(descriptor)
        durable_lines[0] = max(durable_lines[0], questions_in(descriptor))

    async def ask(request: Request) -> Any:
        begun = int(request.query_id[1:]) + 1
        worst[0] = max(worst[0], begun - durable_lines[0])
        out[0] += 1
        out[1] = max(out)
        await asyncio.sleep(0.002 * (begun % 5))
        out[0] -= 1
        return ["rain"]

    monkeypatch.setattr(durable, "sync_file", slow)
    run, _ = go(more, PythonSystem(ask), concurrency=4)
    assert run.answered == 40
    assert out == [0, 4]
    assert 4 < worst[0] <= 8


def test_what_came_back_during_a_write_is_kept_when_the_run_is_stopped(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    push, back = durable.sync_file, threading.Event()

    def slow(descriptor: int) -> None:
        push(descriptor)
        if questions_in(descriptor) and not back.is_set():
            assert back.wait(10)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)

    async def ask(request: Request) -> Any:
        if request.query_id == "q001":
            await asyncio.sleep(0.05)
            asyncio.get_running_loop().call_later(0.02, back.set)
        elif request.query_id != "q000":
            await asyncio.sleep(1)
        return ["rain"]

    monkeypatch.setattr(durable, "sync_file", slow)
    with pytest.raises(Interrupted, match="2 of 6 questions are finished and kept"):
        go(small, PythonSystem(ask), concurrency=3)


def test_damaged_seal_is_found_before_a_question_is_asked(small: Small) -> None:
    counting = Counting()
    system = PythonSystem(counting)
    digest = small.seal(system.identity)
    path = small.store.blob_path(small.store.get_record(Protocol, digest).objects["corpus"])
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(IntegrityError):
        go(small, system, digest)
    assert not counting.asked


def test_another_system_or_protocol_is_refused(small: Small) -> None:
    system = PythonSystem(Counting(), name="one")
    digest = small.seal(system.identity)
    with pytest.raises(UsageError, match=r"not the system that was sealed: name"):
        go(small, PythonSystem(Counting(), name="two"), digest)
    stopped = PythonSystem(
        Counting({"q001": lambda _: os.kill(os.getpid(), signal.SIGINT) or time.sleep(1)}), name="one"
    )
    with pytest.raises(Interrupted):
        go(small, stopped, digest, concurrency=1)
    with pytest.raises(UsageError, match="concurrency"):
        go(small, system, digest, concurrency=0)


def test_job_runs_in_one_process_at_a_time(small: Small) -> None:
    started, release = threading.Event(), threading.Event()

    def wait(request: Request) -> Any:
        started.set()
        release.wait(10)
        return ["rain"]

    system = PythonSystem(Counting({"q000": wait}))
    digest = small.seal(system.identity)
    first = threading.Thread(target=lambda: go(small, system, digest))
    first.start()
    assert started.wait(10)
    with pytest.raises(UsageError, match="is running this job"):
        go(small, PythonSystem(Counting()), digest)
    release.set()
    first.join(10)
    assert small.store.ref("run/latest")


def test_store_that_refuses_is_a_store_error(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    system = PythonSystem(Counting())
    digest = small.seal(system.identity)
    real = os.fsync
    calls = 0

    def fsync(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise OSError(28, os.strerror(28))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(StoreError, match="No space left"):
            go(small, system, digest)
    run, _ = go(small, system, digest)
    assert run.failures == 0


def test_journal_of_another_protocol_is_mixed(small: Small) -> None:
    system = PythonSystem(Counting({"q002": lambda _: os.kill(os.getpid(), signal.SIGINT) or time.sleep(1)}))
    digest = small.seal(system.identity)
    with pytest.raises(Interrupted):
        go(small, system, digest, concurrency=1)
    protocol = small.store.get_record(Protocol, digest)
    import msgspec

    from ragassay.records.protocol import Policy

    other = small.store.put_record(
        msgspec.structs.replace(protocol, policy=small.store.put_record(Policy(name="other")))
    )
    with pytest.raises(MixedRunError, match="protocol"):
        go(small, system, other)


def test_plain_progress_is_a_line_every_ten_seconds() -> None:
    now = [0.0]
    stream = io.StringIO()
    lines = Lines(stream, clock=Clock(steady_s=lambda: now[0]))
    lines.begin(Standing(done=2, total=10, failures=0, resumed=2))
    for second in range(1, 25):
        now[0] = float(second)
        lines.tick(Standing(done=2 + second // 4, total=10, failures=1, in_flight=3))
    lines.end(Standing(done=10, total=10, failures=1), "complete")
    assert stream.getvalue().splitlines() == [
        "10 questions, 2 already in the journal",
        "4/10 questions, 1 failed, 3 in flight, 10 s",
        "7/10 questions, 1 failed, 3 in flight, 20 s",
        "10/10 questions, 1 failed, 24 s: complete",
    ]
    assert isinstance(choose(stream), Lines)


def test_bar_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    bar = choose(stream)
    bar.begin(Standing(done=0, total=3, failures=0))
    bar.tick(Standing(done=2, total=3, failures=1))
    bar.end(Standing(done=3, total=3, failures=1), "complete")
    assert "3/3 questions, 1 failed: complete" in stream.getvalue()


def test_content_digest_is_over_the_contents(small: Small) -> None:
    from ragassay.records.canonical import digest_of

    run, _ = go(small, PythonSystem(Counting()))
    assert run.content == digest_set(digest_of(one) for one in contents(small, run))


def test_short_trial_of_kills_and_disks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trials", "--short"], capture_output=True, text=True, timeout=300, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "20" in done.stdout.splitlines()[0]
