"""Secrets and personal data planted in answers, steps, exceptions and keys are in no blob, no log and no export."""

from __future__ import annotations

import base64
import json
import zipfile
from pathlib import Path

import pytest
import zstandard

from ragassay.cli import exit_code_of
from ragassay.errors import UsageError
from ragassay.redact import Redaction
from ragassay.redact.detect import GROUPS, Finder, chosen, find

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-" + "proj-Zk3Vq8LmT2xYb7NcPd5RwA9sGh4JfKe1"
SYSTEM = f"""
def answer(request):
    if request.query_id == "q2":
        raise ValueError("cannot reach https://eve:Pa55w0rdX@host.example with {KEY}")
    return {{"answer": {{"text": "Rain falls. Write to ada.lovelace@example.org or +49 30 1234567."}},
            "contexts": [{{"id": "rain", "text": "Rain falls."}}],
            "usage": {{"input_tokens": 1}},
            "steps": [{{"kind": "rewrite", "query_text": "key {KEY[:17]}"}},
                      {{"kind": "lexical", "query_text": "{KEY[17:]}", "items_out": [{{"id": "rain"}}]}}],
            "headers": {{"Authorization": "Bearer abcdef0123456789abcd"}}, "iban": "DE89370400440532013000"}}
"""
SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
[benchmark]
cases = "cases.jsonl"
[system]
kind = "python"
callable = "leaky_system:answer"
[run]
as_of = "2026-08-01"
max_error_rate = 1.0
[scoring]
measures = ["fact_coverage"]
[redact]
detect = ["secrets", "personal"]
"""
PLANTED = [KEY[3:17], KEY[17:], "Pa55w0rdX", "lovelace", "1234567.", "abcdef0123456789abcd", "DE8937040044"]


def test_nothing_that_was_planted_is_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "leaky_system.py").write_text(SYSTEM)
    (tmp_path / "ragassay.toml").write_text(SETTINGS)
    (tmp_path / "documents.jsonl").write_text('{"document_id": "rain", "text": "Rain falls."}\n')
    lines = [
        {"query_id": one, "query": "When?", "relevant": [{"document_id": "rain", "grade": 3}]} for one in ("q1", "q2")
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    config = ["--config", str(tmp_path / "ragassay.toml")]
    out = tmp_path / "out"
    out.mkdir()
    for words in (["run"], ["score"], ["report", "--out", str(out)], ["explain", "latest", "q1"],
                  ["explain", "latest", "q2"],
                  ["export", str(out / "e.zip"), str(out / "o.csv")]):  # fmt: skip
        exit_code_of([*words, *config])
    told = capfd.readouterr()
    seen = [("terminal", (told.out + told.err).encode())]
    for file in [*(tmp_path / ".ragassay").rglob("*"), *out.rglob("*")]:
        if file.is_file():
            seen.append((str(file), plain(file.read_bytes())))
    with zipfile.ZipFile(out / "e.zip") as archive:
        seen += [(name, plain(archive.read(name))) for name in archive.namelist()]
    assert any(b"[redacted:api_key]" in data for _, data in seen)
    for place, data in seen:
        for planted in PLANTED:
            assert planted.encode() not in data, f"{planted} in {place}"
            assert base64.b64encode(planted.encode()) not in data


def plain(data: bytes) -> bytes:
    """The bytes, unpacked if they are packed."""
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.ZstdDecompressor().stream_reader(data).read()
    return data


def test_the_labelled_set_is_found_as_the_docs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from trials.planted_secrets import run_secrets

    assert run_secrets(20260801)


def test_of_real_texts_next_to_nothing_is_taken_wrongly(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from trials.real_texts import run_real_texts

    told = dict(run_real_texts(shared_data, 20260801, 1000))
    assert told["secrets"].startswith("0 false alarms in 1,000 texts")


@pytest.mark.parametrize(
    "text",
    [
        "postgres://$USER:$PASSWORD@host", "https://{user}:{password}@host", "https://me:***@host",
        "the netmask 255.255.248.0", "36 215 40 1905 in a table", "version 3.11.7.2",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert Redaction(detect=GROUPS).text(text) == (text, {})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("postgres://me:$ecret1x@host", "url_password"), ("his SSN is 215 40 1905", "ssn"), ("215 40 1805", None),
        ("215-40-1905", "ssn"), ("215 40 2105", "ssn"), ("the host 128.42.5.4", "ip"),
    ],
)  # fmt: skip
def test_what_looks_nearly_the_same_goes(text: str, name: str | None) -> None:
    assert list(Redaction(detect=GROUPS).text(text)[1]) == ([name] if name else [])


def test_a_stream_of_pieces_is_put_together() -> None:
    lines = [f'data: {{"delta": "{part}"}}' for part in (KEY[:9], KEY[9:20], KEY[20:])]
    kept = Redaction().lines("\n\n".join([*lines, "data: [DONE]"]))
    assert kept is not None
    assert not any(part in kept[0] for part in (KEY[3:9], KEY[9:20], KEY[20:]))
    assert Redaction().lines("not a stream") is None


def test_detectors_are_chosen_by_name_or_group() -> None:
    mail = "a.b@example.org"
    assert Redaction().text(mail)[0] == mail
    assert Redaction(detect=["email"]).text(mail)[0] == "[redacted:email]"
    assert Redaction(detect=GROUPS).digest != Redaction().digest
    with pytest.raises(UsageError, match="nothing is called"):
        Redaction(detect=["everything"])


def test_texts_that_come_again_are_found_alike_and_no_secret_is_remembered() -> None:
    texts = ["rain.md", f"key {KEY}", "", "a" * 300, "rain.md", KEY, "sha256:" + "0f" * 32, f"key {KEY}"]
    look = Finder(chosen(["secrets"]))
    for _ in range(2):
        assert [look(one) for one in texts] == [find(one, look.detectors) for one in texts]
    assert look.remembered == {"rain.md", "", "sha256:" + "0f" * 32}
    for number in range(30_000):
        look(f"id-{number}")
    assert len(look.remembered) <= 20_000
