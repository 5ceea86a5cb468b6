"""Secrets and personal data that a service or a program lets out, in every way it can, are nowhere afterwards.

Headers, error pages, redirects, broken replies, ids, keys, streams cut in two, traces of exceptions, standard error and
an echo of the credential that it was called with: the whole store, the terminal, the report and every export are
searched, in plain and in base64.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.unit.redact.test_detect import KEY, plain

from ragassay.cli import exit_code_of

SENT = "correct-horse-battery-77"
"""The credential with which the system is called; no pattern would find it."""
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLWFkYQ"
PAIR = "https://eve:Pa55w0rdX@host.example/x"
MAIL, IBAN = "ada.lovelace@example.org", "DE89370400440532013000"
PLANTED = [KEY[3:17], KEY[17:], SENT, JWT[21:40], JWT[-12:], "Pa55w0rdX", "lovelace", IBAN[:12], "0123456789abcdEF"]
"""A part of each that is long enough to tell."""
REPLIES: dict[str, Any] = {
    "answer": {
        "answer": {"text": f"Write to {MAIL}; {IBAN}.", "citations": ["rain"]},
        "contexts": [{"id": "rain", "text": "Rain falls."}, {"id": f"doc-{KEY}", "text": f"password: {KEY}"}],
        "versions": {"model": f"m-1 {KEY}"},
        "headers": {"Authorization": "Bearer 0123456789abcdEF", "X-Trace": KEY},
        "debug": {"api_key": "0123456789abcdEF", f"user {MAIL}": {"deep": [[f"url {PAIR}"]]}},
    },
    "split": {
        "answer": "Rain falls.",
        "steps": [
            {"kind": "rewrite", "query_text": f"ask with {KEY[:17]}"},
            {"kind": "lexical", "query_text": KEY[17:], "items_out": [{"id": "rain"}]},
            {
                "kind": "tool",
                "name": "call",
                "query_text": f"Bearer {JWT[:30]}",
                "items_out": [{"id": "rain", "text": JWT[30:]}],
            },
        ],
        "contexts": [{"id": "1", "text": KEY[:20]}, {"id": "2", "text": KEY[20:]}],
    },
    "echo": {"answer": f"You called me with {SENT}.", "contexts": [{"id": SENT, "text": "Rain falls."}], SENT: SENT},
    "shape": {"answer": [KEY, MAIL], "contexts": {KEY: MAIL}},
    "kind": {"answer": "a", "steps": [{"kind": KEY, "items_out": [PAIR]}]},
    "broken": f'{{"answer": "{KEY} {MAIL}", ',
    "failed": f"Traceback: ValueError: cannot open {PAIR} with {KEY} for {MAIL}",
    "moved": PAIR.replace("Pa55w0rdX@", f"Pa55w0rdX{KEY}@"),
    "headers": {"answer": "Rain falls.", "contexts": ["Rain falls."]},
}
SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
[benchmark]
cases = "cases.jsonl"
[system]
{system}
[run]
as_of = "2026-08-01"
max_error_rate = 1.0
timeout_s = 10
[scoring]
measures = ["fact_coverage"]
[redact]
detect = ["secrets", "personal"]
"""
PROGRAM = f"""
import json, os, sys
replies = json.load(open("replies.json"))
print("ready, with {KEY} and", os.environ["TOKEN"], file=sys.stderr, flush=True)
for line in sys.stdin:
    name = json.loads(line)["query_id"]
    print("asked", name, "{PAIR}", file=sys.stderr, flush=True)
    reply = replies[name]
    if name == "failed":
        raise ValueError(reply)
    if isinstance(reply, str):
        print(reply, flush=True)
    else:
        print(json.dumps({{"query_id": name, **reply}}), flush=True)
"""


class Leaky(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        name = json.loads(self.rfile.read(int(self.headers["content-length"])))["query_id"]
        assert self.headers["authorization"] == f"Bearer {SENT}"
        reply = REPLIES[name]
        data = reply.encode() if isinstance(reply, str) else json.dumps(reply).encode()
        self.send_response({"failed": 500, "moved": 307}.get(name, 200))
        if name == "moved":
            self.send_header("Location", str(reply))
        self.send_header("Set-Cookie", "session=0123456789abcdEF; Path=/")
        self.send_header("X-Request-Id", f"{KEY} {MAIL}")
        self.send_header("X-Echo", SENT)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(params=["http", "command"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "command":
        (tmp_path / "program.py").write_text(PROGRAM)
        (tmp_path / "replies.json").write_text(json.dumps(REPLIES))
        command = json.dumps([sys.executable, "program.py"])
        yield f'kind = "command"\ncommand = {command}\nenv = {{ TOKEN = {{ env = "LEAKY_TOKEN" }} }}\nrestarts = 20'
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), Leaky)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    header = 'headers = { Authorization = { env = "LEAKY_TOKEN", prefix = "Bearer " } }'
    yield f'kind = "http"\nurl = "http://127.0.0.1:{server.server_address[1]}/ask"\n{header}'
    server.shutdown()
    server.server_close()


def test_nothing_that_came_out_is_anywhere(
    settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LEAKY_TOKEN", SENT)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragassay.toml").write_text(SETTINGS.format(system=settings))
    (tmp_path / "documents.jsonl").write_text('{"document_id": "rain", "text": "Rain falls."}\n')
    lines = [{"query_id": one, "query": "When?", "relevant": [{"document_id": "rain", "grade": 3}]} for one in REPLIES]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    out = tmp_path / "out"
    out.mkdir()
    for words in (["run"], ["score"], ["report", "--out", str(out)], ["audit"], ["verify"], ["runs", "list"],
                  *(["explain", "latest", one] for one in REPLIES),
                  ["export", *(str(out / f"e.{kind}") for kind in ("zip", "csv"))],
                  ["export", str(out / "public.zip"), "--public"]):  # fmt: skip
        code = exit_code_of(words)
        assert code in (0, 3), (words, code)
    told = capfd.readouterr()
    seen = [("terminal", (told.out + told.err).encode())]
    for file in [*(tmp_path / ".ragassay").rglob("*"), *out.rglob("*"), *(tmp_path / "state").rglob("*")]:
        if file.is_file():
            seen.append((str(file.relative_to(tmp_path)), plain(file.read_bytes())))
    for name in ("e.zip", "public.zip"):
        with zipfile.ZipFile(out / name) as archive:
            seen += [(f"{name}: {one}", plain(archive.read(one))) for one in archive.namelist()]
    assert "9/9 questions, 5 failed" in told.err
    everything = b"\n".join(data for _, data in seen)
    for mark in (b"[redacted:api_key]", b"[redacted:email]", b"[redacted:url_password]", b"[redacted:credential]"):
        assert mark in everything, mark
    found = {(one, place) for place, data in seen for one in PLANTED if _in(one, data)}
    assert found == set()


def _in(planted: str, data: bytes) -> bool:
    """As it is, as JSON or HTML writes it (there is nothing in these to be escaped), or in base64 at any offset."""
    if planted.encode() in data:
        return True
    packed = [base64.b64encode(b"x" * shift + planted.encode()).rstrip(b"=") for shift in range(3)]
    return any(one[(shift * 8 + 5) // 6 : -1] in data for shift, one in enumerate(packed))
