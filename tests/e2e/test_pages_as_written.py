"""What README and the pages beside it tell a new user to type is typed here, word for word."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli.systems import KINDS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def typed(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(line, comments=True)
    assert words[0] == "ragassay"
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )


def test_the_ten_lines_of_python_run_as_a_script_and_inside_a_running_loop(capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = blocks(README, "python")
    space: dict[str, Any] = {"__name__": "__main__"}

    async def cell() -> None:
        exec(compile(source, "README.md", "exec"), space)

    exec(compile(source, "README.md", "exec"), {"__name__": "__main__"})
    asyncio.run(cell())
    told = capsys.readouterr().out
    assert told.count("recall(rel=2)@20 in the context is 1.000 over 1 answerable question") == 2
    assert space["result"]._repr_html_().startswith("<")


def test_the_ten_lines_of_shell_run_one_after_the_other(tmp_path: Path) -> None:
    shell = next(one for one in blocks(README, "sh") if "ragassay init" in one)
    folder = tmp_path
    for line in shell.strip().splitlines():
        command = line.split("&&")[0]
        if command.startswith("ragassay measure"):
            (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n")
            (folder / "run.txt").write_text("1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n")
        done = typed(command, folder)
        assert done.returncode == 0, (line, done.stderr)
        if "cd my-eval" in line:
            folder /= "my-eval"
    assert (folder / "report" / "scorecard.html").is_file()


def test_the_cases_that_the_page_shows_are_cases_of_the_example_project(tmp_path: Path) -> None:
    assert typed("ragassay init p", tmp_path).returncode == 0
    first, second = blocks((ROOT / "docs" / "cases.md").read_text("utf-8"), "json")
    whole = json.loads(first)
    part = json.loads("{" + second + "}") | {"query_id": "rates", "query": "How many publishes are allowed?"}
    cases = tmp_path / "p" / "cases.jsonl"
    cases.write_text(json.dumps(whole) + "\n" + json.dumps(part) + "\n", "utf-8")
    done = typed("ragassay benchmark build", tmp_path / "p")
    assert done.returncode == 0, done.stderr
    assert "2 quotes found and resolved" in done.stdout
    assert "NOT found" not in done.stdout


TRACE = {"query_id": "q", "repeat": 0, "as_of": "2026-06-01T00:00:00Z"}
FILES_OF_THE_PAGE = {
    "run.jsonl": json.dumps(TRACE),
    "bm25.run.txt": "q Q0 limits.md 1 2.5 x\n",
    "my_rag.py": "pass\n",
    "evaluated.jsonl": json.dumps({"user_input": "How many?", "response": "120", "retrieved_contexts": ["120."]})
    + "\n",
    "goldens.json": json.dumps([{"input": "How many?", "actual_output": "120", "retrieval_context": ["120."]}]),
}
LIBRARIES = {"langchain": "langchain_core", "llamaindex": "llama_index", "haystack": "haystack"}
MODULES = {
    "langchain": "from langchain_core.retrievers import BaseRetriever\nclass Mine(BaseRetriever):\n"
    "    def _get_relevant_documents(self, query):\n        return []\nretriever = Mine()\n",
    "llamaindex": "from llama_index.core.retrievers import BaseRetriever\nclass Mine(BaseRetriever):\n"
    "    def _retrieve(self, query_bundle):\n        return []\nretriever = Mine()\n",
    "haystack": "from haystack import Document, component\n@component\nclass Mine:\n"
    "    @component.output_types(documents=list[Document])\n    def run(self, query: str):\n        return {}\n"
    "retriever = Mine()\n",
}


def test_the_settings_of_systems_that_the_page_shows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "systems.md").read_text("utf-8")
    assert typed("ragassay init p", tmp_path).returncode == 0
    toml = tmp_path / "p" / "ragassay.toml"
    text = toml.read_text("utf-8")
    head, tail = text[: text.index("[system]")], text[text.index("[run]") :]
    for name, content in FILES_OF_THE_PAGE.items():
        (tmp_path / "p" / name).write_text(content)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RAG_TOKEN", "token")
    monkeypatch.setenv("CHAT_KEY", "key")
    found = [(re.search(r'^kind = "(\w+)"', one, re.MULTILINE), one) for one in blocks(page, "toml")]
    shown = {kind[1]: one for kind, one in found if kind}
    assert len(shown) >= 10
    assert set(shown) <= set(KINDS)
    for kind, one in shown.items():
        if (module := LIBRARIES.get(kind)) and importlib.util.find_spec(module) is None:
            continue
        (tmp_path / "p" / "my_module.py").write_text(MODULES.get(kind, "def answer(request):\n    return []\n"))
        toml.write_text(f"{head}{one}\n{tail}", "utf-8")
        done = typed("ragassay seal", tmp_path / "p")
        assert done.returncode == 0, done.stderr


def test_the_answers_that_the_page_shows_are_understood() -> None:
    from ragassay import evaluate_sync

    page = (ROOT / "docs" / "systems.md").read_text("utf-8")
    text = (
        "# Limits\n\n| limit | value |\n|---|---|\n| publishes per minute | 120 |\n\nOver the limit, status 429.\n" * 2
    )
    cases = [{"query_id": "q", "query": "How many?", "relevant": [{"document_id": "limits.md", "grade": 3}]}]
    for shown in blocks(page, "json"):
        reply = json.loads(shown)
        made = evaluate_sync(cases, lambda _, reply=reply: reply, documents={"limits.md": text}, as_of="2026-12-01")
        assert made.scorecard.failures == {}


def test_the_examples_page_names_the_examples() -> None:
    page = (ROOT / "examples" / "README.md").read_text("utf-8")
    for name in re.findall(r"python (examples/\w+\.py)", page):
        assert (ROOT / name).is_file()
    assert {"clapnq", "musique", "cranfield"} <= set(re.findall(r"examples/(\w+)\.py", page))
