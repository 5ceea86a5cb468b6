"""A program that speaks JSON lines, well-behaved and not: real processes, each end and each broken line."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, Small

from ragassay.errors import UsageError
from ragassay.records.case import Turn
from ragassay.run import execute
from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.command import CommandSystem

PROGRAM = Path(__file__).with_name("program.py")


def request(query_id: str, query: str, **more: Any) -> Request:
    return Request(**{"query_id": query_id, "query": query, "as_of": AS_OF, "top_k": 3, **more})


def made(**more: Any) -> CommandSystem:
    return CommandSystem([sys.executable, str(PROGRAM)], **more)


def ask(system: CommandSystem, *queries: Any, timeout_s: float = 10.0, together: bool = False) -> list[Reply]:
    """The replies to queries (texts, or requests), one after the other or all at once."""
    asked = [one if isinstance(one, Request) else request(f"q{n}", one) for n, one in enumerate(queries)]

    async def go() -> list[Reply]:
        system.attach(Conditions(timeout_s=timeout_s, pace=Pace(4)))
        try:
            if together:
                return list(await asyncio.gather(*map(system.ask, asked)))
            return [await system.ask(one) for one in asked]
        finally:
            await system.aclose()

    return asyncio.run(go())


def said(replies: Sequence[Reply]) -> list[Any]:
    return [one.value["answer"] if one.failure is None else (one.failure.cause, one.failure.code) for one in replies]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def gone(pid: int) -> bool:
    end = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(pid)


def test_one_program_answers_all_and_is_gone_afterwards() -> None:
    replies = ask(made(), "one", "zwölf ☂ \ud800", "three")
    assert said(replies) == ["one", "zwölf ☂ \ud800", "three"]
    pids = {one.value["pid"] for one in replies}
    assert len(pids) == 1
    assert gone(pids.pop())
    assert all(len(one.attempts) == 1 and one.latency_ms is not None for one in replies)
    assert "query_id" not in replies[0].value
    assert (replies[0].raw or b"").startswith(b'{"query_id": "q0"')


def test_the_line_is_the_request_and_the_environment_only_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOKEN", "very-secret")
    monkeypatch.setenv("PASSED", "fast")
    monkeypatch.setenv("OTHER", "stays here")
    system = made(env={"MODE": "fast", "TOKEN": {"env": "RAG_TOKEN", "prefix": "t-"}}, pass_env=["PASSED"])
    history = (Turn(role="user", text="Earlier?"), Turn(role="assistant", text="Yes."))
    (reply,) = ask(system, request("q", "now", history=history, credential="user-password", seed=4))
    env = {key: one for key, one in reply.value["env"].items() if key != "LC_CTYPE"}  # Python itself sets that one
    assert env == {"MODE": "fast", "TOKEN": "t-very-secret", "PASSED": "fast"}
    assert reply.value["request"] == {
        "query_id": "q", "query": "now", "as_of": AS_OF, "top_k": 3, "seed": 4,
        "history": [{"role": "user", "text": "Earlier?"}, {"role": "assistant", "text": "Yes."}],
    }  # fmt: skip
    assert set(reply.secrets) == {"t-very-secret", "user-password"}, (
        "a mode that is passed on is no secret in an answer"
    )
    assert "very-secret" not in str(system.identity)
    assert "MODE=fast" in system.identity.settings["environment"]


def test_templates_and_mappings() -> None:
    system = made(
        request={"query": "$.query", "k": "$.top_k", "who": "$.credential"},
        response={"answer": "$.request.who", "versions": {"pid": "$.none"}, "contexts": "$.request.none[*]"},
    )
    (reply,) = ask(system, request("q", "x", credential="me"))
    assert reply.value == {"answer": "me"}
    (reply,) = ask(made(response={"answer": "$.nothing"}), "x")
    assert said([reply]) == [("invalid_response", "response")]


def test_replies_in_another_order_go_to_their_questions() -> None:
    replies = ask(made(in_flight=4), "hold", "hold", "hold", "release", together=True)
    assert said(replies) == ["late q0", "late q1", "late q2", "late q3"]


def test_a_program_that_answers_in_turn_is_sent_one_question_at_a_time() -> None:
    replies = ask(made(), *["slow"] * 3, together=True, timeout_s=1.0)
    assert said(replies) == ["slow"] * 3
    assert all(one.latency_ms < 900 for one in replies if one.latency_ms)
    assert max(one.attempts[0].waited_ms or 0 for one in replies) > 700


@pytest.mark.parametrize(
    ("query", "expected", "words"),
    [
        ("exit", ("process", "exit 3"), "no such model: xl-7"),
        ("kill", ("process", "ended"), "SIGKILL"),
        ("close", ("process", "ended"), "closed its standard output"),
        ("hang", ("timeout", None), "no reply in"),
        ("garbage", ("invalid_response", "json"), "Loading checkpoint shards"),
        ("bytes", ("invalid_response", "encoding"), "not UTF-8"),
        ("cut", ("invalid_response", "json"), "not JSON"),
        ("deep", ("invalid_response", "json"), "not JSON"),
        ("large", ("invalid_response", "too_large"), "more than 1000000 bytes"),
        ("nameless", ("invalid_response", "query_id"), "names no query_id"),
        ("stranger", ("invalid_response", "query_id"), "'nobody', which was not asked"),
    ],
)
def test_what_breaks_is_the_failure_of_that_question(query: str, expected: Any, words: str) -> None:
    timeout_s = 1.0 if query == "hang" else 10.0
    replies = ask(made(max_line_bytes=1_000_000), "before", query, "after", timeout_s=timeout_s)
    assert said(replies) == ["before", expected, "after"]
    assert words in (replies[1].detail or "")


def test_standard_error_is_kept_bounded_and_shown() -> None:
    replies = ask(made(), "noise", "garbage")
    assert said(replies) == [7, ("invalid_response", "json")]
    assert (replies[1].detail or "").endswith("xthe end")
    assert len(replies[1].detail or "") < 1500


def test_the_last_line_needs_no_line_end() -> None:
    assert said(ask(made(), "last", "next")) == ["no line end", "next"]


def test_a_program_that_answers_once_is_told_to_stay() -> None:
    ended = CommandSystem([sys.executable, "-c", "import sys; sys.stdin.readline()"])
    (reply,) = ask(ended, "x")
    assert said([reply]) == [("process", "exit 0")]
    assert "must stay and read the next line" in (reply.detail or "")


def test_restarts_are_counted_and_then_every_question_says_why() -> None:
    replies = ask(made(restarts=1), "exit", "exit", "fine", "fine")
    assert said(replies) == [("process", "exit 3")] * 2 + [("process", "not_restarted")] * 2
    assert "restarts = 1" in (replies[3].detail or "")


def test_of_several_waiting_questions_only_the_one_that_ends_the_program_fails() -> None:
    replies = ask(made(in_flight=4, restarts=2), "slow", "exit", "slow", together=True)
    assert said(replies) == ["slow", ("process", "exit 3"), "slow"]
    assert [len(one.attempts) for one in replies] == [2, 2, 2]
    assert replies[0].attempts[0].failure is not None


def test_a_line_without_a_name_falls_to_whoever_is_left() -> None:
    replies = ask(made(in_flight=4), "slow", "garbage", "slow", together=True)
    assert said(replies) == ["slow", ("invalid_response", "json"), "slow"]
    replies = ask(made(in_flight=4), "slow", "bytes", "slow", together=True)
    assert said(replies) == ["slow", ("invalid_response", "encoding"), "slow"]


def test_a_late_reply_is_nobody_elses() -> None:
    same = [request("q", "late"), request("q", "again")]
    assert said(ask(made(), *same, timeout_s=1.5)) == [("timeout", None), "again"]
    assert said(ask(made(in_flight=2), request("q", "late"), request("p", "x"), timeout_s=1.5)) == [
        ("timeout", None), "x",
    ]  # fmt: skip


def test_equal_ids_are_never_out_together() -> None:
    replies = ask(made(in_flight=4), request("q", "slow"), request("q", "two"), together=True)
    assert said(replies) == ["slow", "two"]


def test_what_the_program_started_ends_with_it() -> None:
    (reply,) = ask(made(), "child")
    assert gone(int(reply.value["answer"]))


def test_what_is_declared_is_checked_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAG_TOKEN", raising=False)
    for more, message in (
        ({"command": "python rag.py"}, "not a program"),
        ({"command": []}, "not a program"),
        ({"command": ["no-such-program-here"]}, "no program"),
        ({"command": ["./missing"], "folder": tmp_path}, "no program"),
        ({"command": [sys.executable], "in_flight": 0}, "1 or more"),
        ({"command": [sys.executable], "restarts": -1}, "0 or more"),
        ({"command": [sys.executable], "env": {"A=B": "x"}}, "cannot name a variable"),
        ({"command": [sys.executable], "env": {"A": 3}}, "neither a text"),
        ({"command": [sys.executable], "request": "$.query"}, "an object"),
        ({"command": [sys.executable], "request": {"q": "$.quest"}}, "no field 'quest'"),
        ({"command": [sys.executable], "response": {"anwser": "$.x"}}, "anwser"),
    ):
        with pytest.raises(UsageError, match=message):
            CommandSystem(**more)
    with pytest.raises(UsageError, match="RAG_TOKEN is not set"):
        ask(made(env={"TOKEN": {"env": "RAG_TOKEN"}}), "x")


def test_another_program_is_another_system(tmp_path: Path) -> None:
    (tmp_path / "rag.py").write_text("pass")
    first = CommandSystem([sys.executable, "rag.py"], folder=tmp_path).identity
    (tmp_path / "rag.py").write_text("pass  # changed")
    second = CommandSystem([sys.executable, "rag.py"], folder=tmp_path).identity
    assert first.code
    assert first.code != second.code
    assert first.settings == second.settings


def test_a_run_keeps_every_failure_with_its_cause(small: Small) -> None:
    from ragassay.records.trace import Measurements, TraceContent

    program = 'import sys,json\nfor l in sys.stdin:\n q=json.loads(l)\n if q["query_id"]=="q002": sys.exit(4)\n'
    program += ' print(json.dumps({"query_id": q["query_id"], "answer": "x", "contexts": ["rain"]}), flush=True)'
    system = CommandSystem([sys.executable, "-c", program])
    run, _ = asyncio.run(execute(small.store, small.seal(system.identity, repeats=2), system, error_budget=2))
    assert (run.answered, run.failures) == (12, 2)
    failed = [one for one in small.store.get_lines(TraceContent, run.contents) if one.failure]
    assert {(one.query_id, one.failure.code) for one in failed if one.failure} == {("q002", "exit 4")}
    details = [one.failure_detail for one in small.store.get_lines(Measurements, run.measurements)]
    assert sum("exit status 4" in (one or "") for one in details) == 2


def test_interrupting_a_run_ends_the_program(tmp_path: Path) -> None:
    """SIGINT to a process that waits for its program: the program and its own child are gone afterwards."""
    script = textwrap.dedent(f"""
        import asyncio, sys
        sys.path.insert(0, {str(Path(__file__).parents[4])!r})
        from pathlib import Path
        from tests.unit.run.small import Small
        from ragassay.errors import Interrupted
        from ragassay.run import execute
        from ragassay.run.systems.command import CommandSystem
        program = ("import sys,subprocess,time,os\\n"
                   "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\\n"
                   "open('pids', 'w').write(f'{{os.getpid()}} {{child.pid}}')\\n"
                   "time.sleep(60)")
        system = CommandSystem([sys.executable, "-c", program], folder=Path({str(tmp_path)!r}))
        small = Small(Path({str(tmp_path)!r}))
        try:
            asyncio.run(execute(small.store, small.seal(system.identity, timeout_s=50.0), system))
        except Interrupted:
            sys.exit(130)
    """)
    running = subprocess.Popen([sys.executable, "-c", script])
    pids = tmp_path / "pids"
    end = time.monotonic() + 20
    while (not pids.exists() or len(pids.read_text().split()) < 2) and time.monotonic() < end:
        time.sleep(0.05)
    program, child = map(int, pids.read_text().split())
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=15) == 130
    assert gone(program)
    assert gone(child)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=4))
def test_any_bytes_are_an_answer_or_a_failure(lines: list[bytes]) -> None:
    program = "import sys; sys.stdin.readline(); sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]))"
    system = CommandSystem([sys.executable, "-S", "-c", program, b"\n".join(lines).hex() or "20"], restarts=0)
    (reply,) = ask(system, "x")
    assert reply.failure is not None
    assert reply.failure.cause in ("invalid_response", "process")
