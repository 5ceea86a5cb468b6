"""`ragassay run --dry-run`: says what would be asked; opens no socket and leaves the disk as it was."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import exit_code_of

SETTINGS = """
[corpus]
documents = "documents"
default_tenants = ["*"]
[benchmark]
cases = "cases.jsonl"
[system]
kind = "http"
url = "http://127.0.0.1:9/ask?key=hidden"
retries = 2
max_wait_s = 10
[system.prices]
input = 1.0
output = 4.0
most_input_tokens = 1000
most_output_tokens = 500
[run]
as_of = "2026-08-01"
repeats = 2
timeout_s = 5.0
concurrency = 3
max_cost = 0.02
max_calls = 100
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "rain.md").write_text("# Rain\n\nRain falls when warm air rises.\n", "utf-8")
    lines = [{"query_id": f"q{number}", "query": "Why?", "relevant": ["rain.md"]} for number in range(5)]
    for line in lines:
        line["relevant"] = [{"document_id": "rain.md", "grade": 3}]
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (folder / "ragassay.toml").write_text(SETTINGS, "utf-8")
    monkeypatch.chdir(folder)
    return folder


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(one): (one.read_bytes() if one.is_file() else b"", one.stat().st_mtime_ns)
        for one in sorted([folder, *folder.rglob("*")])
    }


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    opened: list[Any] = []

    class Refused(socket.socket):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            opened.append(arguments)
            raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", Refused)
    monkeypatch.setattr(socket, "create_connection", Refused)
    monkeypatch.setattr(socket, "getaddrinfo", Refused)
    return opened


def test_dry_run_says_what_would_be_asked(
    project: Path, capsys: pytest.CaptureFixture[str], no_sockets: list[Any]
) -> None:
    before = state(project)
    assert exit_code_of(["run", "--dry-run"]) == 0
    assert state(project) == before, "something was written"
    assert not no_sockets
    said = capsys.readouterr().out
    assert "10 questions would be asked of http" in said
    assert "5 questions x 2 = 10 to 127.0.0.1:9/ask; with every retry 30" in said
    assert "3 at most" in said
    assert "60 s at worst: 5 s a question and 10 s of waiting" in said, "4 rounds of 3 at once, 15 s each"
    assert "45,000 tokens, 0.09 USD" in said, "30 calls of 1,500 tokens at 0.001 + 0.002"
    assert "max_cost = 0.02, of which 0.0 are spent" in said
    assert "at their worst case 6 of the 10 questions fit" in said
    assert "hidden" not in said


def test_dry_run_as_json_and_in_a_folder_that_cannot_be_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(project)
    project.chmod(0o500)
    try:
        assert exit_code_of(["run", "--dry-run", "--json"]) == 0
    finally:
        project.chmod(0o755)
    assert state(project) == before
    plan = json.loads(capsys.readouterr().out)
    assert (plan["calls"], plan["most_calls"], plan["kept"], plan["asked_at_least"]) == (10, 30, 0, 6)


def test_dry_run_counts_what_is_kept_and_touches_neither_journal_nor_store(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "mine.py").write_text("def answer(request):\n    return ['rain.md']\n", "utf-8")
    head, _, tail = SETTINGS.partition('kind = "http"\n')
    rest = tail.partition("max_wait_s = 10\n")[2]
    own = head + 'kind = "python"\ncallable = "mine:answer"\n' + rest
    (project / "ragassay.toml").write_text(own.replace("max_calls = 100", "max_calls = 4"), "utf-8")
    assert exit_code_of(["run"]) == 3
    assert "stopped at the ceiling" in capsys.readouterr().err
    before = state(project)
    assert exit_code_of(["run", "--dry-run", "--json"]) == 0
    assert state(project) == before
    plan = json.loads(capsys.readouterr().out)
    assert (plan["kept"], plan["calls"], plan["asked_at_least"]) == (4, 6, 0)
    (project / "ragassay.toml").write_text(own.replace("max_cost = 0.02", "max_cost = 1.0"), "utf-8")
    assert exit_code_of(["run"]) == 0
    capsys.readouterr()
    assert exit_code_of(["run", "--dry-run"]) == 0
    assert "nothing would be asked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "line", "said"),
    [
        ("most_input_tokens = 1000", "", "needs most_input_tokens"),
        ("input = 1.0", "input = -1.0", "system.prices.input"),
        ("input = 1.0", "inptu = 1.0", "inptu"),
        ("max_calls = 100", "max_calls = -1", "run.max_calls"),
    ],
)
def test_ceilings_that_cannot_be_kept_are_said_with_their_place(
    project: Path, capsys: pytest.CaptureFixture[str], wrong: str, line: str, said: str
) -> None:
    (project / "ragassay.toml").write_text(SETTINGS.replace(wrong, line), "utf-8")
    assert exit_code_of(["run", "--dry-run"]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert "ragassay.toml" in complaint
