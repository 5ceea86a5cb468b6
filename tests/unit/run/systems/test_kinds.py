"""`[system]` of each kind, from keys to an adapter: what is declared, what is refused, what gets the gold history."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.run.small import AS_OF, Answer, Server, Small

from ragassay.cli.systems import KINDS, make_system
from ragassay.errors import UsageError
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.trace import TraceContent
from ragassay.run import execute

Serve = Callable[[Answer], Server]
CHAT = {"kind": "chat", "url": "http://127.0.0.1:9/v1/chat/completions", "model": "m-1"}


@pytest.fixture
def place(tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], Any]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "run.txt").write_text("q000 Q0 rain 1 2.5 x\n")
    (tmp_path / "prompt.txt").write_text("$context\n$question\n")
    (tmp_path / "rag.py").write_text("")
    frozen: Any = SimpleNamespace(documents=small.documents, passages=small.passages)
    return lambda section: make_system(section, tmp_path, frozen, AS_OF)  # type: ignore[arg-type]


def test_each_kind_that_needs_no_library(place: Any) -> None:
    for section, adapter, setting in (
        ({"kind": "command", "command": [sys.executable, "rag.py"], "in_flight": 2}, "command", ("in_flight", 2)),
        ({"kind": "trec", "file": "run.txt", "retriever": "bm25 2.1"}, "trec", ("questions", 1)),
        ({**CHAT, "retrieval": {"kind": "trec", "file": "run.txt"}, "prompt_file": "prompt.txt"}, "chat",
         ("prompt", "$context\n$question\n")),
        ({**CHAT, "retrieval": {"kind": "reference", "k1": 1.2}, "headers": {"X-A": "b"}, "stream": True}, "chat",
         ("stream", True)),
    ):  # fmt: skip
        identity = place(section).identity
        assert identity.adapter == adapter
        assert identity.settings[setting[0]] == setting[1]
    assert place({"kind": "command", "command": [sys.executable, "rag.py"]}).identity.code


@pytest.mark.parametrize(
    ("section", "field", "message"),
    [
        ({}, "system.kind", "needs a kind"),
        ({"kind": "comand"}, "system.kind", "no kind of system 'comand'"),
        ({"kind": 3}, "system.kind", "no kind of system 3"),
        ({"kind": "command"}, "system.command", "'command' is missing"),
        ({"kind": "command", "command": ["python3"], "inflight": 2}, "system.inflight", "unknown key"),
        ({"kind": "command", "command": ["python3"], "folder": "/"}, "system.folder", "unknown key"),
        ({"kind": "command", "command": "python3 x"}, "system.command", "not a program"),
        ({"kind": "trec"}, "system.file", "needs its file"),
        ({"kind": "trec", "file": "absent.txt"}, "", "cannot"),
        ({"kind": "trec", "file": "run.txt", "on_error": "ignore"}, "", "ignore"),
        ({"kind": "traces", "file": "run.txt"}, "", "JSON"),
        ({"kind": "langchain"}, "system.retriever", "give either"),
        ({"kind": "langchain", "retriever": "a:b", "runnable": "a:b"}, "system.retriever", "give either"),
        ({"kind": "chat", "url": CHAT["url"]}, "system.retrieval", "needs its retrieval"),
        ({**CHAT, "retrieval": {"kind": "trec"}}, "system.retrieval.file", "needs its file"),
        ({**CHAT, "retrieval": {"kind": "bm25"}}, "system.retrieval.kind", "no kind of system 'bm25'"),
        ({**CHAT, "retrieval": {"kind": "trec", "file": "run.txt"}, "modle": "x"}, "system.modle", "unknown key"),
        ({**CHAT, "retrieval": {"kind": "trec", "file": "run.txt"}, "response": {}}, "system.response", "unknown key"),
        ({**CHAT, "retrieval": {"kind": "trec", "file": "run.txt"}, "prompt": "$question"}, "system.prompt", "not use"),
        ({**CHAT, "retrieval": {"kind": "trec", "file": "run.txt"}, "prompt_file": "no.txt"}, "system.prompt_file",
         "cannot be read"),
        ({**CHAT, "retrieval": {"kind": "trec", "file": "run.txt"}, "context": {"top": 0}}, "system.context.top",
         "top is 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_names_its_key(section: dict[str, Any], field: str, message: str, place: Any) -> None:
    from ragassay.errors import RagassayError

    with pytest.raises(RagassayError, match=message) as caught:
        place(section)
    if field:
        assert isinstance(caught.value, UsageError)
        assert caught.value.field == field
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "module", "key", "code"),
    [
        ("langchain", "langchain_core", "runnable",
         "from langchain_core.runnables import RunnableLambda\nit = RunnableLambda(lambda text: text)\n"),
        ("llamaindex", "llama_index", "engine",
         "from llama_index.core.llms import MockLLM\nfrom llama_index.core.query_engine import RetrieverQueryEngine\n"
         "from llama_index.core.retrievers import BaseRetriever\nclass Empty(BaseRetriever):\n"
         "    def _retrieve(self, query_bundle):\n        return []\n"
         "def it():\n    return RetrieverQueryEngine.from_args(Empty(), llm=MockLLM())\n"),
        ("haystack", "haystack", "pipeline", "from haystack import Pipeline\nit = Pipeline()\n"),
    ],
)  # fmt: skip
def test_each_kind_of_a_library(kind: str, module: str, key: str, code: str, place: Any, tmp_path: Path) -> None:
    pytest.importorskip(module, reason="dependency group `adapters` is not installed")
    (tmp_path / f"kinds_of_{kind}.py").write_text(code)
    section = {"kind": kind, key: f"kinds_of_{kind}:it", "retriever_version": "r-2", "generator": "g-3"}
    if kind == "haystack":
        with pytest.raises(UsageError, match="needs its input"):
            place(section)
        section |= {"input": {"retriever": {"query": "$.query"}}, "documents": "$.retriever.documents"}  # type: ignore[dict-item]
    identity = place(section).identity
    assert (identity.adapter, identity.retriever.value, identity.generator.value) == (kind, "r-2", "g-3")
    assert identity.code
    with pytest.raises(UsageError, match="unknown key 'steps'") as caught:
        place({**section, "steps": "x"})
    assert "did you mean" in caught.value.hint


def test_every_kind_is_documented() -> None:
    text = (Path(__file__).parents[4] / "docs" / "systems.md").read_text("utf-8")
    for kind in KINDS:
        assert f'kind = "{kind}"' in text, kind


def test_the_gold_history_reaches_every_kind_that_can_take_it(
    place: Any, small: Small, tmp_path: Path, serve: Serve
) -> None:
    """One conversation, three doors; each answer is what came in, so that it shows which turns arrived."""
    turns = [{"role": "user", "text": "What is rain?"}, {"role": "assistant", "text": "Water."}]
    line = {"query_id": "q1", "query": "Why does it fall?", "relevant": [{"document_id": "rain", "grade": 3}],
            "conversation": {"id": "c", "turn": 2, "history": turns}}  # fmt: skip
    small.build([parse_value(CaseLine, line)])
    program = (
        "import sys, json\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
        "    said = [one['text'] for one in asked['history']]\n"
        "    print(json.dumps({'query_id': asked['query_id'], 'answer': '|'.join(said), 'contexts': []}), flush=True)\n"
    )
    (tmp_path / "echo.py").write_text(program)
    (tmp_path / "echo_module.py").write_text(
        "def answer(request):\n    return {'answer': '|'.join(one.text for one in request.history), 'contexts': []}\n"
    )
    chat = serve(lambda body, before, handler: {"choices": [{"message": {
        "content": "|".join(one["content"] for one in body["messages"][:-1])}}]})  # fmt: skip
    http = serve(lambda body, before, handler: {"answer": "|".join(one["text"] for one in body["history"])})
    (tmp_path / "own.txt").write_text("q1 Q0 rain 1 2.5 x\n")
    for section in (
        {"kind": "command", "command": [sys.executable, "echo.py"]},
        {"kind": "python", "callable": "echo_module:answer"},
        {"kind": "http", "url": http.url},
        {**CHAT, "url": chat.url, "retrieval": {"kind": "trec", "file": "own.txt"}},
    ):
        system = place(section)
        run, _ = asyncio.run(execute(small.store, small.seal(system.identity), system, name=str(section["kind"])))
        (content,) = small.store.get_lines(TraceContent, run.contents)
        assert content.answer is not None, (section["kind"], content.failure)
        assert content.answer.text == "What is rain?|Water.", section["kind"]
