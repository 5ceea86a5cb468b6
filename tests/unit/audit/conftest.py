"""One project whose run is signed before, answered by a program, scored, compared and decided; copied for each test."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from ragassay.cli import exit_code_of

SYSTEM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    number = asked["query_id"][1:]
    shown = "7" if number == "3" and sys.argv[1] == "worse" else number
    print(json.dumps({"query_id": asked["query_id"], "reply": {"text": f"word{number}", "found": [
        {"id": f"d{shown}", "text": f"The answer is word{shown}."}]}}), flush=True)
"""
SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
[benchmark]
cases = "cases.jsonl"
completeness = "complete"
[system]
kind = "command"
command = [PYTHON, "system.py", "KIND"]
response = { answer = "$.reply.text", contexts = { each = "$.reply.found", document_id = "$.id", text = "$.text" } }
[run]
as_of = "2026-08-01"
[scoring]
measures = ["recall(rel=2)@5", "fact_coverage", "exact_match", "latency", "error_rate"]
[policy]
name = "release"
[[policy.rules]]
measure = "recall(rel=2)@5"
step = "context"
class = "answerable"
at_least = 0.5
"""


def command(*words: str) -> None:
    """A command of the program that must end well or say that it cannot tell."""
    assert exit_code_of([str(one) for one in words]) in (0, 1, 3), words


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    rows = range(12)
    cases = [
        {
            "query_id": f"q{one}", "query": f"What is {one}?", "answers": [{"text": f"word{one}"}],
            "evidence": [{"id": "e", "document_id": f"d{one}", "grade": 3, "quote": f"word{one}"}],
            "facts": [{"id": "f", "any_of": [["e"]]}],
        }
        for one in rows
    ]  # fmt: skip
    documents = [{"document_id": f"d{one}", "version": "1", "text": f"The answer is word{one}."} for one in rows]
    for name, lines in (("cases", cases), ("documents", documents)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "system.py").write_text(SYSTEM)
    for kind in ("worse", "good"):
        text = SETTINGS.replace("PYTHON", json.dumps(sys.executable)).replace("KIND", kind)
        (folder / f"{kind}.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.chdir(folder)
        command("keys", "new", "release.key")
        command("keys", "new", "other.key")
        command("keys", "trust", "release.key.pub")
        for kind in ("worse", "good"):
            config = ("--config", f"{kind}.toml")
            command("seal", "--sign", "release.key", "--name", kind, *config)
            command("run", "--name", kind, *config)
            command("score", kind, *config)
        command("gate", "good", "--as-of", "2026-08-02", "--config", "good.toml")
        command("compare", "worse", "good", "--config", "good.toml")
        command("sign", "scores/good", "--key", "release.key", "--config", "good.toml")
        command("sign", "decision/good", "--key", "release.key", "--config", "good.toml")
    return folder


@pytest.fixture
def project(made_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(made_once, folder)
    (folder / "good.toml").rename(folder / "ragassay.toml")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.chdir(folder)
    return folder
