"""A small project whose run is signed before, answered by a program, scored, compared, decided and signed after."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

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
    assert exit_code_of(list(words)) in (0, 1, 3), words


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """The folder as the current one, and as the home of this user's state."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    try:
        with chdir(folder):
            yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


def make_project(folder: Path) -> None:
    """Runs `worse` and `good` of twelve questions each; `ragassay.toml` is that of the good one."""
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
    for kind, file in (("worse", "worse.toml"), ("good", "ragassay.toml")):
        text = SETTINGS.replace("PYTHON", json.dumps(sys.executable)).replace("KIND", kind)
        (folder / file).write_text(text)
    with inside(folder):
        command("keys", "new", "release.key")
        command("keys", "new", "other.key")
        command("keys", "trust", "release.key.pub")
        for kind, file in (("worse", "worse.toml"), ("good", "ragassay.toml")):
            command("seal", "--sign", "release.key", "--name", kind, "--config", file)
            command("run", "--name", kind, "--config", file)
            command("score", kind)
        command("gate", "good", "--as-of", "2026-08-02")
        command("compare", "worse", "good")
        command("sign", "scores/good", "--key", "release.key")
        command("sign", "decision/good", "--key", "release.key")
