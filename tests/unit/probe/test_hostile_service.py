"""A service that is broken or hostile costs little, and none is called free of leaks where nothing was seen."""

from __future__ import annotations

import gzip
import json
import resource
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.unit.probe.service import PEOPLE, Service, serving
from tests.unit.probe.suites import Found, probed

from ragassay.cli.probe import _code
from ragassay.errors import UsageError
from ragassay.probe.channels import parts_of
from ragassay.probe.settings import PrincipalSettings
from ragassay.records.probe import CallReply
from ragassay.report.probed import sentence
from ragassay.run.probing.bodies import MOST_BYTES, text_of
from ragassay.run.probing.sending import Sender

SMALL = {"documents": 1, "languages": ()}
Reply = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Odd(Service):
    """Answers each question in a way of its own; what it is told as operator it does."""

    def __init__(self, own: Reply, hole: str = "") -> None:
        super().__init__(hole)
        self.own = own

    def reply(self, handler: BaseHTTPRequestHandler, made: dict[str, Any]) -> bool:
        self.own(handler, made)
        return True


def send(handler: BaseHTTPRequestHandler, data: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, text in {"content_length": str(len(data)), "content_type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), text)
    handler.end_headers()
    handler.wfile.write(data)


def said(value: Any, status: int = 200) -> Reply:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda handler, _: send(handler, data, status)


def drip(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """Letter by letter, from the first of its head on."""
    handler.close_connection = True
    try:
        for sign in b"HTTP/1.1 200 OK\r\n" + b"x-a: b\r\n" * 40:
            handler.wfile.write(bytes([sign]))
            handler.wfile.flush()
            time.sleep(0.02)
    except OSError:
        return


def ask(own: Reply, folder: Path, monkeypatch: pytest.MonkeyPatch, hole: str = "", **changed: Any) -> Found:
    service = Odd(own, hole)
    with serving(service) as url:
        return probed(service, url, folder, monkeypatch, **{**SMALL, **changed})


NOTHING_SEEN: dict[str, tuple[Reply, str]] = {
    "garbage": (said(b"\x00\xff<html>" + bytes(range(256))), "not_evaluable"),
    "null": (said(b"null"), "not_evaluable"),
    "a list": (said([]), "not_evaluable"),
    "half of a JSON": (said(b'{"answer": {"text": "x"}, "items": ['), "not_evaluable"),
    "refused": (said({"error": "credential"}, 401), "invalid"),
    "not found": (said({"error": "nothing"}, 404), "invalid"),
    "always empty": (said({"answer": {"text": "", "citations": []}, "contexts": [], "items": []}), "invalid"),
    "broken": (said({"error": "oops"}, 500), "error"),
    "too many": (said({}, 429), "error"),
    "another packing": (lambda handler, _: send(handler, b"xxxx", content_encoding="br"), "error"),
    "no packing at all": (lambda handler, _: send(handler, b"xxxx", content_encoding="gzip"), "error"),
}


@pytest.mark.parametrize("name", NOTHING_SEEN)
def test_where_nothing_was_seen_nothing_is_called_free_of_leaks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, status = NOTHING_SEEN[name]
    found = ask(own, tmp_path, monkeypatch).assessment
    assert (found.leaks, found.complete) == (0, True)
    every = found.rate("all", "all")
    assert every is not None
    assert getattr(every, status) > 0.75 * every.attempted, every
    assert (every.clean, every.empty, every.bound) == (0, 0, None), "every one without power is invalid"
    assert sentence(found).startswith("Nothing could be evaluated")
    assert _code(found) == 3
    assert not any(one.verified for one in found.filters)


def test_who_is_always_refused_shows_no_boundary_though_others_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed(Service):
        def caller(self, headers: list[tuple[str, str]]) -> tuple[str, str, list[str]]:
            found = super().caller(headers)
            return found if found[0] != "cyd" else ("cyd", "nowhere", [])

    service = Closed()
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, **SMALL).assessment
    pairs = {one.key: one for one in found.rates if one.of == "pair"}
    shut = next(one for key, one in pairs.items() if key.startswith("cyd (south) -> north"))
    open_ = next(one for key, one in pairs.items() if key.startswith("ben (north) -> north"))
    assert (shut.clean, shut.empty, shut.invalid) == (0, 0, shut.attempted)
    assert open_.bound is not None


def test_a_question_that_is_said_back_is_no_leak_and_no_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Echo(Service):
        def handle(self, path: str, headers: list[tuple[str, str]], raw: bytes) -> tuple[int, dict[str, Any]]:
            status, made = super().handle(path, headers, raw)
            back = {"you_asked": raw.decode(), "path": path}
            own = not path.startswith(("/admin/", "/token"))
            return status, {**made, "answer": raw.decode(), "contexts": [], "steps": [], **back} if own else made

    service = Echo()
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, **SMALL)
    assert found.assessment.leaks == 0, found.findings[:2]
    assert _code(found.assessment) == 3


def test_bodies_in_another_encoding_are_read_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(handler: BaseHTTPRequestHandler, made: dict[str, Any]) -> None:
        send(handler, json.dumps(made).encode("utf-16"), content_type="application/json; charset=utf-16")

    honest = ask(wide, tmp_path / "honest", monkeypatch).assessment
    every = honest.rate("all", "all")
    assert every is not None
    assert every.clean > every.attempted / 4
    assert honest.leaks == 0
    assert ask(wide, tmp_path / "leaky", monkeypatch, "base64").assessment.leaks > 0


def test_what_is_nested_deep_or_stands_in_a_key_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(handler: BaseHTTPRequestHandler, made: dict[str, Any]) -> None:
        hidden: Any = made.pop("related_titles", [])
        for _ in range(25):  # deeper than anything is walked
            hidden = {"a": [hidden]}
        send(handler, json.dumps({**made, "x": hidden}).encode())

    assert ask(deep, tmp_path / "deep", monkeypatch, "title").assessment.leaks > 0

    def abyss(handler: BaseHTTPRequestHandler, made: dict[str, Any]) -> None:
        send(handler, json.dumps({**made, "x": json.loads("[" * 450 + "]" * 450)}).encode())

    cut = ask(abyss, tmp_path / "abyss", monkeypatch).assessment.rate("category", "unauthorized")
    assert cut is not None
    assert cut.clean == 0, "what was too deep to be kept was not seen"
    assert cut.not_evaluable > 0

    def keys(handler: BaseHTTPRequestHandler, made: dict[str, Any]) -> None:
        send(handler, json.dumps({**made, "seen": dict.fromkeys(made.pop("related_titles", []), 1)}).encode())

    assert ask(keys, tmp_path / "keys", monkeypatch, "title").assessment.leaks > 0
    assert parts_of(CallReply(latency_ms=1.0, status=200, body="[" * 100_000)).lists is False


def test_a_leak_that_comes_at_the_second_asking_is_found_where_it_is_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(Service):
        def answer(self, body: dict[str, Any], sub: str, tenant: str, groups: list[str]) -> dict[str, Any]:
            again = (body["query"], sub) in self.memory
            self.memory[body["query"], sub] = []
            made = super().answer(body, sub, tenant, groups)
            every = self.search(body["query"], "", [], True)
            return {**made, "hint": every[0][1]["title"]} if again and every else made

    for repeats, leaks in ((1, False), (2, True)):
        service = Late()
        with serving(service) as url:
            found = probed(service, url, tmp_path / str(repeats), monkeypatch, repeats=repeats, **SMALL)
        plain = [one for one in found.findings if one.severity == "leak" and one.wording == "paraphrase"]
        assert bool(plain) == leaks
        assert all(one.repeat == 1 for one in plain)


def test_a_bomb_is_unpacked_no_further_than_any_other_body_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = gzip.compress(b'{"answer": "' + b"a" * 300_000_000, compresslevel=1)
    assert len(bomb) < MOST_BYTES
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(text_of({"content-encoding": "gzip"}, bomb)) == MOST_BYTES
    found = ask(lambda handler, _: send(handler, bomb, content_encoding="gzip"), tmp_path, monkeypatch, limit=3)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kilobytes"
    assert sentence(found.assessment).startswith("Nothing could be evaluated")


def test_a_huge_list_is_read_in_bounded_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = json.dumps({"items": [{"document_id": f"d{n}", "text": f"t {n}"} for n in range(60_000)]}).encode()
    found = ask(lambda handler, _: send(handler, many), tmp_path, monkeypatch, limit=2)
    assert sentence(found.assessment).startswith("Nothing could be evaluated")


def test_a_reply_that_drips_ends_with_the_time_that_a_request_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ask(drip, tmp_path, monkeypatch, limit=2, timeout_s=0.2)
    assert [call.failure for one in found.replies for call in one.calls] == ["timeout"] * 2
    every = found.assessment.rate("all", "all")
    assert every is not None
    assert every.error == every.attempted


def test_tenants_with_odd_names_are_asked_for_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = {"ada": "stra\u00dfe \u30c6\u30b9\u30c8", "cyd": "o'neil\" -- %_*/../\U0001f512"}
    for who, tenant in odd.items():
        monkeypatch.setitem(PEOPLE, who, (tenant, ["staff", "board"]))
    people = {who: PrincipalSettings(tenants=(tenant,), groups=("staff", "board")) for who, tenant in odd.items()}
    service = Service()
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, principals=people, **SMALL).assessment
    every = found.rate("all", "all")
    assert every is not None
    assert (found.leaks, every.error) == (0, 0)
    assert every.clean > every.attempted / 4

    class Leaky(Service):
        def caller(self, headers: list[tuple[str, str]]) -> tuple[str, str, list[str]]:
            who, tenant, groups = super().caller(headers)
            return who, tenant.encode("latin-1").decode() if tenant != odd[who] else tenant, groups

    leaky = Leaky("header")
    with serving(leaky) as url:
        assert probed(leaky, url, tmp_path / "leaky", monkeypatch, principals=people, **SMALL).assessment.leaks > 0


def test_a_credential_that_no_header_can_carry_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    with serving(service) as url:
        from tests.unit.probe.suites import settings_for

        monkeypatch.setenv("PROBE_OPERATOR", "key \u2013 of the operator")
        sender = Sender(settings_for(url))
        with pytest.raises(UsageError, match="no header can carry"):
            sender.operate("remove", {"document_ids": []})
        sender.close()
