"""Probes are safe: bounded, only where they are told to go, without a credential left anywhere, and cleaned up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from tests.unit.probe.service import OPERATOR, SECRET, Service, serving, token
from tests.unit.probe.suites import DOCUMENTS, KEY, probed, settings_for

from ragassay.cli import exit_code_of
from ragassay.cli.probe import _code
from ragassay.errors import CeilingError, SystemUnderTestError, UsageError
from ragassay.probe.plan import plan
from ragassay.probe.settings import check
from ragassay.probe.standing import changed_since, standing_of
from ragassay.records.base import Digest
from ragassay.records.probe import Call
from ragassay.run.probing import executing
from ragassay.run.probing.executing import listed, run_suite
from ragassay.run.probing.keeping import freeze_suite, judged_run, keep_assessment
from ragassay.run.probing.sending import Sender
from ragassay.store import Store


def everything_below(folder: Path) -> bytes:
    """All bytes of all files, those of zstd frames unpacked too."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found.append(data)
            if data.startswith(b"\x28\xb5\x2f\xfd"):
                found.append(zstandard.ZstdDecompressor().decompressobj().decompress(data))
    return b"\n".join(found)


class Echo(Service):
    """Gives every header back, as a careless service does."""

    def handle(self, path: str, headers: list[tuple[str, str]], raw: bytes) -> tuple[int, dict[str, object]]:
        status, made = super().handle(path, headers, raw)
        return status, {**made, "request_headers": [f"{name}: {value}" for name, value in headers]}


def test_no_credential_is_in_any_artefact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Echo()
    with serving(service) as url:
        probed(service, url, tmp_path, monkeypatch)
    sent = {value.removeprefix("Bearer ") for _, headers, _ in service.asked for name, value in headers
            if name.lower() in ("authorization", "x-operator")}  # fmt: skip
    sent = {one for one in sent if len(one) > 12 and set(one) != {"A"}}
    assert len(sent) > 10
    data = everything_below(tmp_path)
    assert b"redacted" in data
    for secret in (*sent, OPERATOR, SECRET.decode(), KEY.decode()):
        assert secret.encode() not in data
        for part in secret.split("."):
            assert len(part) < 12 or part.encode() not in data


def test_only_named_addresses_are_asked_and_no_redirect_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
    service = Service()
    with serving(service) as url:
        sender = Sender(settings_for(url))
        for other in (f"{url}/other", f"{url}/documents/a/b", f"{url}/documents/a?b", "http://127.0.0.1:9/ask"):
            with pytest.raises(UsageError, match="not an address of the settings"):
                sender._send("POST", other, [], {})
        assert not service.asked
        sender.close()
        moved = Sender(settings_for(url, endpoints={"ask": f"{url}/moved", "plant": f"{url}/p", "remove": f"{url}/r"}))
        (probe, *_) = plan(KEY, settings_for(url), DOCUMENTS).probes
        reply = moved.reply(Call(endpoint="ask", principal="ada", credential="valid", query="x"), probe)
        moved.close()
        assert reply.status == 302, "and port 9 was not asked: nobody listens there"


def test_bounded_in_number_and_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
    with pytest.raises(UsageError) as caught:
        plan(KEY, settings_for("http://x", most_requests=10), DOCUMENTS)
    assert caught.value.field == "probe.most_requests"
    slept: list[float] = []
    service = Service()
    with serving(service) as url:
        settings = settings_for(url, per_second=10.0)
        store = Store.open(tmp_path / "store", create=True)
        standing = standing_of(settings.standing, Digest("sha256:" + "0" * 64), DOCUMENTS, tmp_path)
        frozen = freeze_suite(store, KEY, settings, DOCUMENTS, standing)
        sender = Sender(settings, sleep=slept.append)
        run_suite(store, frozen.suite, frozen.digest, sender, limit=10)
        assert len(slept) >= len(service.asked) - 2
        assert all(0 < one <= 0.1 for one in slept)
        sender.sent = settings.most_requests
        with pytest.raises(CeilingError):
            sender.operate("remove", {"document_ids": []})
        sender.close()


@pytest.mark.parametrize("cut", ["no operator", "refused", "in the middle"])
def test_planting_that_was_cut_off_is_done_again(cut: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    with serving(service) as url:
        settings = settings_for(url, documents=1, languages=())
        store = Store.open(tmp_path / "store", create=True)
        standing = standing_of(settings.standing, Digest("sha256:" + "0" * 64), DOCUMENTS, tmp_path)
        frozen = freeze_suite(store, KEY, settings, DOCUMENTS, standing)
        expected: type[Exception] = UsageError if cut == "no operator" else SystemUnderTestError
        monkeypatch.setenv("PROBE_OPERATOR", "somebody else" if cut == "refused" else OPERATOR)
        if cut == "no operator":
            monkeypatch.delenv("PROBE_OPERATOR")
        sender = Sender(settings)
        if cut == "in the middle":
            monkeypatch.setattr(executing, "BATCH", 3)
            whole = sender.operate

            def few(endpoint: str, body: dict[str, Any]) -> None:
                if service.documents:
                    raise SystemUnderTestError("cut off", field="probe", hint="")
                whole(endpoint, body)

            monkeypatch.setattr(sender, "operate", few)
        with pytest.raises(expected):
            run_suite(store, frozen.suite, frozen.digest, sender)
        sender.close()
        states = {one["state"] for one in listed(store, frozen.suite, frozen.digest)}
        assert states == {"never planted" if cut == "no operator" else "may be planted"}
        monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
        sender = Sender(settings)
        ran = run_suite(store, frozen.suite, frozen.digest, sender)
        sender.close()
        assert ran.complete
        assessment, _ = keep_assessment(store, frozen, ran, DOCUMENTS, left=0)
        every = assessment.rate("all", "all")
        assert every is not None
        assert every.clean > every.attempted / 3
        assert every.invalid < every.attempted / 5, "owners get their documents, but for some wordings"


def test_a_suite_that_was_stopped_goes_on_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
    service = Service()
    with serving(service) as url:
        settings = settings_for(url, documents=1, languages=())
        store = Store.open(tmp_path / "store", create=True)
        standing = standing_of(settings.standing, Digest("sha256:" + "0" * 64), DOCUMENTS, tmp_path)
        frozen = freeze_suite(store, KEY, settings, DOCUMENTS, standing)
        sender = Sender(settings)
        first = run_suite(store, frozen.suite, frozen.digest, sender, limit=100, keep=True)
        assert not first.complete
        assert len(first.replies) == 100
        assert {one["state"] for one in listed(store, frozen.suite, frozen.digest)} == {"planted"}
        second = run_suite(store, frozen.suite, frozen.digest, sender)
        asked = len(service.asked)
        keep_assessment(store, frozen, first, DOCUMENTS, left=0)
        assert judged_run(store, frozen) is None, "an assessment of a part judges no whole run"
        again = run_suite(store, frozen.suite, frozen.digest, sender, judged=judged_run(store, frozen))
        assert (again.replies, again.complete) == (second.replies, True)
        keep_assessment(store, frozen, again, DOCUMENTS, left=0)
        with pytest.raises(UsageError, match="asked already"):
            run_suite(store, frozen.suite, frozen.digest, sender, judged=judged_run(store, frozen))
        assert len(service.asked) == asked
        sender.close()
    assert second.complete
    assert second.resumed
    assert second.replies[:100] == first.replies
    assert len({one.key for one in second.replies}) == len(second.replies) == frozen.suite.probe_count
    assert {one["state"] for one in listed(store, frozen.suite, frozen.digest)} == {"removed"}
    assert not service.documents


def test_the_same_key_gives_the_same_suite_and_a_change_makes_it_stale(tmp_path: Path) -> None:
    settings = settings_for("http://127.0.0.1:9")
    check(settings)
    assert plan(KEY, settings, DOCUMENTS) == plan(KEY, settings, DOCUMENTS)
    assert plan(KEY, settings, DOCUMENTS).documents != plan(KEY + b"!", settings, DOCUMENTS).documents
    (tmp_path / "rls.sql").write_text("a")
    declared = type(settings.standing)(embedding="e", index="i", policy="file:rls.sql")
    corpus = Digest("sha256:" + "0" * 64)
    before = standing_of(declared, corpus, DOCUMENTS, tmp_path)
    (tmp_path / "rls.sql").write_text("b")
    assert changed_since(before, standing_of(declared, corpus, DOCUMENTS, tmp_path)) == ("policy",)
    assert changed_since(before, standing_of(declared, corpus, DOCUMENTS[1:], tmp_path)) == ("metadata", "policy")


def test_a_category_of_which_nothing_was_seen_passes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    with serving(service) as url:
        made = probed(service, url, tmp_path, monkeypatch, documents=1, languages=()).assessment
    assert _code(made) == 0
    blind = tuple(
        msgspec.structs.replace(one, error=one.attempted, clean=0, empty=0, leaked=0, not_evaluable=0, invalid=0,
                                bound=None)
        if (one.of, one.key) == ("category", "unauthorized") else one
        for one in made.rates
    )  # fmt: skip
    assert _code(msgspec.structs.replace(made, rates=blind)) == 3


TOML = """
[corpus]
documents = "documents.jsonl"
[benchmark]
cases = "cases.jsonl"
[system]
kind = "reference"
[run]
as_of = "2026-08-01"
[probe]
operator = {{ env = "PROBE_OPERATOR" }}
operator_header = "X-Operator"
issuer = {{ url = "{url}/token" }}
documents = 1
languages = []
per_second = 1000.0
[probe.endpoints]
ask = "{url}/ask"
plant = "{url}/admin/plant"
remove = "{url}/admin/remove"
[probe.standing]
embedding = "none"
index = "words/1"
policy = "test/1"
[probe.principals.ada]
tenants = ["north"]
groups = ["staff", "board"]
[probe.principals.cyd]
tenants = ["south"]
groups = ["staff", "board"]
"""


@pytest.mark.parametrize(("hole", "code"), [("", 0), ("filter_after", 1)])
def test_the_command_line(
    hole: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"document_id": one.document_id, "text": one.text, "tenants": list(one.tenants or ())} for one in DOCUMENTS
    ]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (tmp_path / "cases.jsonl").write_text('{"query_id": "q", "query": "What?"}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
    service = Service(hole)
    with serving(service) as url:
        (tmp_path / "ragassay.toml").write_text(TOML.format(url=url))
        assert exit_code_of(["probe", "plan"]) == 2, "no key"
        assert "RAGASSAY_PROBE_KEY" in capsys.readouterr().err
        monkeypatch.setenv("RAGASSAY_PROBE_KEY", KEY.decode())
        assert exit_code_of(["probe", "plan"]) == 0
        assert "north" not in capsys.readouterr().out
        assert not service.asked
        assert exit_code_of(["probe", "run", "--keep"]) == code
        assert exit_code_of(["probe", "report"]) == code
        told = capsys.readouterr().out
        assert ("blocks a release" if code else "No leak in") in told
        assert exit_code_of(["probe", "planted"]) == 0
        assert "planted" in capsys.readouterr().out
        assert exit_code_of(["probe", "remove"]) == 0
        assert not [key for key in service.documents if key.startswith("probe-")]
        changed = (tmp_path / "ragassay.toml").read_text().replace("words/1", "words/2")
        (tmp_path / "ragassay.toml").write_text(changed)
        assert exit_code_of(["probe", "report"]) == (code or 3), "stale is missing"
        assert "Stale: index" in capsys.readouterr().out
    assert token("ada") not in told
