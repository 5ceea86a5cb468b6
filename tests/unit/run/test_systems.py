"""The adapters against a real server and real callables, well-behaved and not."""

from __future__ import annotations

import asyncio
import functools
import gzip
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.unit.run.small import AS_OF, Answer, Handler, Server

from ragassay.errors import UsageError
from ragassay.run.clock import Clock
from ragassay.run.contract import Reply, Request
from ragassay.run.mapping import ABSENT, apply, check_rules, fill, follow, parse_path
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.http import HttpSystem, backoff_s, parse_retry_after
from ragassay.run.systems.python import PythonSystem, load_callable, source_digest

Serve = Callable[[Answer], Server]


def request(**more: Any) -> Request:
    return Request(**{"query_id": "q1", "query": "Why?", "as_of": AS_OF, "top_k": 3, **more})


def ask(system: HttpSystem, *, timeout_s: float = 5.0, pace: Pace | None = None, **more: Any) -> Reply:
    async def go() -> Reply:
        system.attach(Conditions(timeout_s=timeout_s, pace=pace or Pace(4)))
        try:
            return await system.ask(request(**more))
        finally:
            await system.aclose()

    return asyncio.run(go())


def causes(reply: Reply) -> list[str | None]:
    return [one.failure.code or one.failure.cause if one.failure else None for one in reply.attempts]


def test_plain_reply(serve: Serve) -> None:
    server = serve(lambda body, before, handler: {"answer": body["query"], "contexts": ["a"]})
    reply = ask(HttpSystem(server.url + "?key=hidden"))
    assert (reply.value, reply.failure) == ({"answer": "Why?", "contexts": ["a"]}, None)
    assert reply.raw == b'{"answer": "Why?", "contexts": ["a"]}'
    assert reply.endpoint == server.url
    assert reply.host == "127.0.0.1"
    assert len(reply.attempts) == 1
    assert server.seen[0][2] == {"query_id": "q1", "query": "Why?", "as_of": AS_OF, "top_k": 3}


def test_mapping_template_and_secret_header(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOKEN", "very-secret")
    server = serve(
        lambda body, before, handler: {"out": {"text": "yes"}, "hits": [{"_id": 1, "s": 0.5}, {"_id": 2}], "m": "m-1"}
    )
    system = HttpSystem(
        server.url,
        headers={"Authorization": {"env": "RAG_TOKEN", "prefix": "Bearer "}, "X-Mode": "fast"},
        request={
            "q": "$.query",
            "who": "$.principal.id",
            "auth": "$.credential",
            "fixed": "$$literal",
            "n": ["$.top_k"],
        },
        response={
            "answer": "$.out.text",
            "contexts": {"each": "$.hits[*]", "id": "$._id", "score": "$.s"},
            "versions": {"model": "$.m", "other": "$.none"},
            "cost": {"amount": "$.price", "currency": {"const": "EUR"}},
            "usage": "$.usage",
        },
    )
    reply = ask(system, credential="user-password")
    _, headers, body = server.seen[0]
    assert headers["authorization"] == "Bearer very-secret"
    assert body == {"q": "Why?", "auth": "user-password", "fixed": "$literal", "n": [3]}
    assert reply.value == {
        "answer": "yes",
        "contexts": [{"id": 1, "score": 0.5}, {"id": 2}],
        "versions": {"model": "m-1"},
    }
    settings = json.dumps(system.identity.settings)
    assert "secret" not in settings
    assert "x-mode: fast" in settings
    assert "authorization: (not recorded)" in settings
    assert set(reply.secrets) == {"Bearer very-secret", "very-secret", "user-password"}


def test_missing_secret_is_said_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAG_TOKEN", raising=False)
    with pytest.raises(UsageError, match="RAG_TOKEN is not set"):
        ask(HttpSystem("http://127.0.0.1:9/", headers={"Authorization": {"env": "RAG_TOKEN"}}))


def test_retry_after_is_kept_and_every_attempt_too(serve: Serve) -> None:
    def answer(body: Any, before: int, handler: Handler) -> Any:
        return handler.reply(429, {"error": "slow down"}, retry_after="1") if before == 0 else {"answer": "x"}

    server = serve(answer)
    pace = Pace(8)
    start = time.monotonic()
    reply = ask(HttpSystem(server.url), pace=pace)
    assert time.monotonic() - start >= 1.0
    assert reply.failure is None
    assert causes(reply) == ["429", None]
    assert (reply.attempts[1].waited_ms or 0) >= 1000
    assert pace.cuts == 1
    assert pace.allowed == 4


def test_retry_after_beyond_the_most_wait_ends_the_question(serve: Serve) -> None:
    server = serve(lambda body, before, handler: handler.reply(429, {}, retry_after="3600"))
    start = time.monotonic()
    reply = ask(HttpSystem(server.url, max_wait_s=5))
    assert time.monotonic() - start < 2
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("rate_limited", "429")


def test_only_declared_causes_are_tried_again(serve: Serve) -> None:
    server = serve(lambda body, before, handler: handler.reply(500, {"why": "broken"}))
    reply = ask(HttpSystem(server.url))
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("http_status", "500")
    assert server.asked["q1"] == 1
    assert "broken" in (reply.detail or "")
    again = serve(lambda body, before, handler: handler.reply(500, {}) if before < 2 else {"answer": "x"})
    reply = ask(HttpSystem(again.url, retry_on=("500",), retries=2))
    assert causes(reply) == ["500", "500", None]


def test_silent_and_dripping_servers_run_into_the_timeout(serve: Serve) -> None:
    silent = serve(lambda body, before, handler: time.sleep(1.5))
    dripping = serve(lambda body, before, handler: handler.drip(1.5))
    for server in (silent, dripping):
        start = time.monotonic()
        reply = ask(HttpSystem(server.url), timeout_s=0.3)
        assert time.monotonic() - start < 1.2
        assert reply.failure is not None
        assert reply.failure.cause == "timeout"


def test_too_large_and_too_compressed_bodies_are_cut_off(serve: Serve) -> None:
    big = serve(lambda body, before, handler: {"answer": "x" * 300_000})
    zipped = gzip.compress(b'{"answer": "' + b"x" * 300_000 + b'"}')
    bomb = serve(lambda body, before, handler: handler.reply(200, zipped, content_encoding="gzip"))
    for server in (big, bomb):
        reply = ask(HttpSystem(server.url, max_bytes=100_000))
        assert reply.failure is not None
        assert (reply.failure.cause, reply.failure.code) == ("invalid_response", "too_large")
        assert reply.raw is None
    assert ask(HttpSystem(bomb.url)).value == {"answer": "x" * 300_000}


@pytest.mark.parametrize("body", [b"<html>", b"", b'{"answer": "x"', b"[" * 100_000, b'{"a": ' + b"1" * 5000 + b"}"])
def test_bodies_that_are_not_json(serve: Serve, body: bytes) -> None:
    server = serve(lambda _, before, handler: handler.reply(200, body))
    reply = ask(HttpSystem(server.url))
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("invalid_response", "json")
    assert reply.raw == body


def test_reset_and_refused_connections(serve: Serve) -> None:
    server = serve(lambda body, before, handler: handler.reset())
    reply = ask(HttpSystem(server.url))
    assert reply.failure is not None
    assert reply.failure.cause == "connection"
    again = serve(lambda body, before, handler: handler.reset() if before == 0 else {"answer": "x"})
    reply = ask(HttpSystem(again.url, retry_on=("connection",)))
    assert reply.failure is None
    assert len(reply.attempts) == 2
    reply = ask(HttpSystem("http://127.0.0.1:9/"))
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("connection", "ConnectError")


def test_redirects_stay_on_the_host(serve: Serve) -> None:
    elsewhere = serve(lambda body, before, handler: {"answer": "leaked"})

    def answer(body: Any, before: int, handler: Handler) -> Any:
        if handler.path == "/moved":
            return {"answer": "moved"}
        return handler.reply(307, {}, location=elsewhere.url if handler.path == "/away" else "/moved")

    server = serve(answer)
    assert ask(HttpSystem(server.url)).value == {"answer": "moved"}
    away = ask(HttpSystem(server.url.replace("/ask", "/away")))
    assert away.failure is not None
    assert away.failure.code == "307"
    assert not elsewhere.seen


def test_connections_are_reused(serve: Serve) -> None:
    server = serve(lambda body, before, handler: {"answer": "x"})
    system = HttpSystem(server.url)

    async def go() -> None:
        system.attach(Conditions(timeout_s=5, pace=Pace(1)))
        for number in range(5):
            await system.ask(request(query_id=f"q{number}"))
        await system.aclose()

    asyncio.run(go())
    assert len(server.connections) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "ftp://x/"},
        {"url": "http://user:pass@x/"},
        {"response": {"anwser": "$.x"}},
        {"response": {"answer": "x.y"}},
        {"response": {"answer": 3}},
        {"request": {"q": "$.querry"}},
        {"headers": {"A": {"file": "x"}}},
    ],
)
def test_wrong_settings_are_refused_when_made(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        HttpSystem(**{"url": "http://127.0.0.1/", **arguments})


def test_paths() -> None:
    value = {"a": [{"b": 1}, {"c": 2}, {"b": None}], "odd key": {"x": []}}
    assert parse_path('$.a[*].b["odd key"][0]') == ("a", None, "b", "odd key", 0)
    assert follow("$.a[*].b", value) == [1, None]
    assert follow("$.a[1].c", value) == 2
    assert follow("$.a[7]", value) is ABSENT
    assert follow("$['odd key'].x[*]", value) == []
    assert follow("$.none[*]", value) is ABSENT
    assert follow("$", 3) == 3
    assert apply({"each": "$.a[*]", "id": "$.b"}, value) == [{"id": 1}, {}, {"id": None}]
    assert apply({"each": "$.a[*]", "kind": {"const": "k"}, "b": "$.b"}, value)[1] == {"kind": "k"}
    assert fill({"x": "$.a[0].b", "y": "$.none", "z": 1}, value) == {"x": 1, "z": 1}
    check_rules({"firstTokenMs": "$.t", "steps": {"each": "$.s[*]", "kind": {"const": "vector"}}})


def test_retry_after_forms() -> None:
    now = "2026-08-01T00:00:00Z"
    assert parse_retry_after("7", now) == 7
    assert parse_retry_after("0.5", now) == 0.5
    assert parse_retry_after("Sat, 01 Aug 2026 00:00:30 GMT", now) == 30
    assert parse_retry_after("Sat, 01 Aug 2020 00:00:30 GMT", now) == 0
    for nothing in (None, "", "soon", "-1", "nan", "inf"):
        assert parse_retry_after(nothing, now) is None


def test_backoff_doubles_within_its_bounds() -> None:
    for number, most in ((1, 0.5), (2, 1.0), (3, 2.0), (20, 30.0)):
        waits = [backoff_s(number, Random(seed)) for seed in range(50)]
        assert most / 2 <= min(waits)
        assert max(waits) <= most
        assert len(set(waits)) > 40


def test_pace_cuts_once_an_episode_and_rises_by_one_a_round() -> None:
    now = [0.0]
    pace = Pace(16, Clock(steady_s=lambda: now[0]))
    now[0] = 1.0
    for sent in (0.5, 0.6, 0.7):
        pace.overloaded(sent)
    assert (pace.allowed, pace.cuts) == (8, 1)
    now[0] = 2.0
    pace.overloaded(1.5, retry_after_s=3)
    assert (pace.allowed, pace.cuts, pace.hold_s) == (4, 2, 3.0)
    for _ in range(5):
        pace.succeeded()
    assert pace.allowed == 5
    for _ in range(1000):
        pace.succeeded()
    assert pace.allowed == 16
    for sent in range(10, 30):
        now[0] = sent + 0.5
        pace.overloaded(sent)
    assert pace.allowed == 1
    now[0] = 100.0
    assert pace.hold_s == 0


def test_callable_identity_is_its_file() -> None:
    def answer(request: Request) -> Any:
        return None

    expected = "sha256:" + hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    for function in (answer, functools.partial(answer), lambda request: None):
        assert source_digest(function) == expected
    identity = PythonSystem(answer, name="mine", retriever="r-1").identity
    assert (identity.name, identity.adapter, identity.code, identity.retriever.value) == (
        "mine",
        "python",
        expected,
        "r-1",
    )
    assert identity.generator.absent
    with pytest.raises(UsageError, match="callable"):
        PythonSystem(3)  # type: ignore[arg-type]


def test_callables_of_every_kind() -> None:
    class Object:
        async def __call__(self, request: Request) -> Any:
            return [request.query]

    async def coroutine(request: Request) -> Any:
        await asyncio.sleep(0)
        return [request.query]

    def plain(request: Request) -> Any:
        return [request.query]

    for function in (Object(), coroutine, plain, functools.partial(coroutine), lambda request: coroutine(request)):
        for own_loop in (False, True):
            system = PythonSystem(function, own_loop=own_loop)

            async def go(system: PythonSystem = system) -> Any:
                try:
                    return await system.ask(request())
                finally:
                    await system.aclose()

            assert asyncio.run(go()) == ["Why?"]


def test_load_callable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_rag_system.py").write_text("def answer(request): return ['x']\nvalue = 3\n")
    (tmp_path / "my_broken_system.py").write_text("raise RuntimeError('no model')\n")
    found = load_callable("my_rag_system:answer", folder=tmp_path)
    assert found(request()) == ["x"]
    for spec, message in (
        ("my_rag_system", "module:name"),
        ("my_rag_system:anwser", "has no anwser"),
        ("my_rag_system:value", "not callable"),
        ("no_such_module_here:x", "cannot be imported"),
        ("my_broken_system:x", "no model"),
    ):
        with pytest.raises(UsageError, match=message):
            load_callable(spec, folder=tmp_path)


def test_one_code_with_another_model_is_another_system_and_a_key_is_none() -> None:
    def made(model: str, api_key: str = "k-1") -> Any:
        def answer(request: Request) -> Any:
            return [model, api_key]

        return answer

    def plain(request: Request, model: str = "A") -> Any:
        return [model]

    def state(function: Any) -> Any:
        return PythonSystem(function).identity.settings.get("state")

    assert state(made("A")) != state(made("B"))
    assert state(made("A")) == state(made("A", api_key="k-2")), "a rotated key is the same system"
    assert state(functools.partial(plain, model="B")) != state(functools.partial(plain, model="C")) != state(plain)
    counted = {"asked": 0}
    assert state(lambda request: counted) is None, "what may change tells nothing"
