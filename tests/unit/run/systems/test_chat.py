"""A chat endpoint on the loopback behind retrieval from elsewhere: what is sent, what is read, what fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, TEXTS, Answer, Handler, Server, Small

from ragassay.corpus import Resolver
from ragassay.errors import UsageError
from ragassay.records.case import Turn
from ragassay.run.contract import Reply, Request
from ragassay.run.normalise import normalise
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.chat import ChatSystem
from ragassay.run.systems.completions import Completions
from ragassay.run.systems.prompt import Assembly, Prompt, Text
from ragassay.run.systems.reference import ReferenceSystem
from ragassay.run.systems.replay import ReplaySystem
from ragassay.run.systems.retrieved import Texts

Serve = Callable[[Answer], Server]
HISTORY = (Turn(role="user", text="What is rain?"), Turn(role="assistant", text="Water."))


def completion(text: Any = "Warm air rises [1].", **more: Any) -> dict[str, Any]:
    return {
        "id": "c-1", "object": "chat.completion", "model": "m-1-2026", "system_fingerprint": "fp_7",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 21, "completion_tokens": 5, "total_tokens": 26}, **more,
    }  # fmt: skip


def asking(**message: Any) -> dict[str, Any]:
    """A reply that asks for a tool, in any of the ways that servers have."""
    return completion(choices=[{"finish_reason": "stop", "message": {"role": "assistant", **message}}])


def stream(*pieces: str, done: bool = True, finish: str | None = "stop") -> list[dict[str, Any] | str]:
    events: list[Any] = [{"model": "m-1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]
    events += [{"model": "m-1", "choices": [{"index": 0, "delta": {"content": one}}]} for one in pieces]
    if finish:
        events.append({"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    events.append({"model": "m-1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
    return [*events, "[DONE]"] if done else events


def sse(events: Sequence[dict[str, Any] | str]) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in events]
    return b": hello\n\n" + b"".join(b"data: " + one.encode() + b"\n\n" for one in texts)


def retrieve(request: Request) -> Any:
    return [{"document_id": "rain", "start": 0, "end": 40, "score": 2.0}, "tea", {"id": "nowhere"}]


def made(small: Small, url: str, retrieval: Any = retrieve, **more: Any) -> ChatSystem:
    texts = Texts(small.documents, small.passages)
    return ChatSystem(retrieval, url, "m-1", texts=texts, **more)


def ask(system: ChatSystem, **more: Any) -> Reply:
    request = Request(**{"query_id": "q1", "query": "Why rain?", "as_of": AS_OF, "top_k": 3, "seed": 7, **more})

    async def go() -> Reply:
        system.attach(Conditions(timeout_s=5.0, pace=Pace(4)))
        try:
            return await system.ask(request)
        finally:
            await system.aclose()

    return asyncio.run(go())


def test_what_is_sent_and_what_is_read(small: Small, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_KEY", "sk-very-secret")
    server = serve(lambda body, before, handler: completion())
    system = made(
        small, server.url, system_prompt="Be brief.", options={"temperature": 0.0}, prompt_version="v3",
        headers={"Authorization": {"env": "CHAT_KEY", "prefix": "Bearer "}},
    )  # fmt: skip
    reply = ask(system, history=HISTORY)
    _, headers, body = server.seen[0]
    assert headers["authorization"] == "Bearer sk-very-secret"
    assert (body["model"], body["temperature"], body["seed"]) == ("m-1", 0.0, 7)
    assert "stream" not in body
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]
    assert [one["content"] for one in body["messages"]][:3] == ["Be brief.", "What is rain?", "Water."]
    asked = body["messages"][3]["content"]
    assert f"[1] {TEXTS['rain'][:40]}\n\n[2] {TEXTS['tea']}" in asked
    assert asked.endswith("Question: Why rain?")
    value = reply.value
    assert value["answer"] == {"text": "Warm air rises [1].", "finish_reason": "stop"}
    assert value["usage"] == {"input_tokens": 21, "output_tokens": 5}
    assert value["versions"] == {"model": "m-1-2026", "system_fingerprint": "fp_7"}
    assert "sk-very-secret" in reply.secrets
    request = Request(query_id="q1", query="Why rain?", as_of=AS_OF, top_k=3)  # type: ignore[arg-type]
    content = normalise(value, request, Resolver(small.documents, small.passages)).content
    assert [(one.name, one.kind) for one in content.steps] == [
        ("retrieval", "fetch"), ("context", "assemble"), ("generate", "generate"),
    ]  # fmt: skip
    assert [one.item_id for one in content.context or ()] == ["rain:0-40", "tea"]
    (dropped,) = content.steps[1].decisions
    assert (dropped.item_id, dropped.reason) == ("nowhere", "no text")
    assert content.answer is not None
    assert content.answer.outcome is None, "the endpoint does not say whether it abstained"


def test_the_identity_names_prompt_model_and_retrieval(small: Small) -> None:
    url = "http://127.0.0.1:9/v1/chat/completions"
    first = made(small, url, prompt_version="v3").identity
    assert (first.adapter, first.generator.value) == ("chat", "m-1")
    assert (first.prompt.value or "").startswith("v3 sha256:")
    assert "retrieve" in str(first.settings["retrieval"])
    for more in ({"prompt": "$context $question"}, {"context": {"top": 3}}, {"options": {"top_p": 1.0}},
                 {"retrieval": lambda request: []}, {"system_prompt": "x"}, {"history_turns": 0}):  # fmt: skip
        assert made(small, url, **{"prompt_version": "v3", **more}).identity != first, more


def test_history_can_be_cut_and_the_seed_left_out(small: Small, serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion())
    ask(made(small, server.url, history_turns=1, send_seed=False), history=HISTORY)
    body = server.seen[0][2]
    assert [one["content"] for one in body["messages"]][:1] == ["Water."]
    assert "seed" not in body


def test_a_stream_is_put_together_and_its_first_token_timed(small: Small, serve: Serve) -> None:
    def answer(body: Any, before: int, handler: Handler) -> None:
        events = sse(stream("Warm ", "air", " riß\u2028."))
        cut = events.index(b"Warm")
        cut = events.rindex(b"data:", 0, cut)
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("content-length", str(len(events)))
        handler.end_headers()
        for piece in (events[:cut], events[cut : cut + 90], events[cut + 90 :]):
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(0.2)

    server = serve(answer)
    reply = ask(made(small, server.url, stream=True))
    assert server.seen[0][2]["stream_options"] == {"include_usage": True}
    assert server.seen[0][1]["accept"] == "text/event-stream"
    assert reply.value["answer"] == {"text": "Warm air riß\u2028.", "finish_reason": "stop"}
    assert reply.value["usage"] == {"input_tokens": 3, "output_tokens": 2}
    assert 190 <= reply.value["first_token_ms"] <= (reply.latency_ms or 0) - 150


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (sse(stream("Warm", done=False, finish=None)), "stream_ended"),
        (sse([*stream("Warm")[:2], {"error": {"message": "no capacity"}}]), "error"),
        (sse([*stream("Warm")[:2], "{broken"]), "json"),
        (sse(["[1]"]), "json"),
        (sse([]), "stream_ended"),
        (sse([{"choices": [{"delta": {"tool_calls": [{}]}, "finish_reason": "tool_calls"}]}]), "tools"),
        (sse([{"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}, *stream("Warm air rises.")]), "tools"),
        (sse([{"choices": [{"delta": {"function_call": {"name": "f"}}}]}, *stream("Warm air rises.")]), "tools"),
        (sse(stream("Let me look.", finish="tool_calls")), "tools"),
    ],
)
def test_streams_that_break(small: Small, serve: Serve, body: bytes, code: str) -> None:
    server = serve(lambda _, before, handler: handler.reply(200, body))
    reply = ask(made(small, server.url, stream=True, retries=0))
    assert reply.failure is not None
    assert (reply.failure.code, reply.failure.step) == (code, "generate")
    assert [one["name"] for one in reply.value["steps"]] == ["retrieval", "context", "generate"], "what was found stays"
    assert reply.value["steps"][-1]["error"] == {"code": code}
    assert "answer" not in reply.value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (b"<html>", "json"),
        ([], "choices"),
        ({}, "choices"),
        ({"choices": []}, "choices"),
        ({"choices": [3]}, "choices"),
        ({"choices": [{"text": "old form"}]}, "choices"),
        ({"error": {"message": "bad model"}}, "error"),
        (completion(None), "content"),
        (completion([{"type": "image"}]), "content"),
        (completion(7), "content"),
        (asking(tool_calls=[{"id": "t", "type": "function", "function": {"name": "look"}}], content=None), "tools"),
        (asking(tool_calls=[{"id": "t"}], content=""), "tools"),
        (asking(tool_calls=[{"id": "t"}], content="Warm air rises [1]."), "tools"),
        (asking(function_call={"name": "look", "arguments": "{}"}, content="Warm air rises."), "tools"),
        (completion(choices=[{"finish_reason": "tool_calls", "message": {"content": "Let me look."}}]), "tools"),
    ],
)
def test_replies_that_are_no_completion(small: Small, serve: Serve, value: Any, code: str) -> None:
    server = serve(lambda _, before, handler: handler.reply(200, value))
    reply = ask(made(small, server.url))
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("invalid_response", code)


def test_parts_refusals_and_truncation(small: Small, serve: Serve) -> None:
    refusal = {"role": "assistant", "content": None, "refusal": "I cannot help."}
    for found, expected in (
        (completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
         {"text": "ab", "finish_reason": "stop"}),
        (completion() | {"choices": [{"message": refusal, "finish_reason": "stop"}]},
         {"text": "I cannot help.", "finish_reason": "stop", "outcome": "abstained"}),
        (completion() | {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]},
         {"text": "", "finish_reason": "length"}),
    ):  # fmt: skip
        server = serve(lambda _, before, handler, found=found: found)
        assert ask(made(small, server.url)).value["answer"] == expected


def test_overload_of_the_endpoint_is_tried_again(small: Small, serve: Serve) -> None:
    server = serve(
        lambda body, before, handler: handler.reply(429, {}, retry_after="0") if before == 0 else completion()
    )
    reply = ask(made(small, server.url))
    assert reply.failure is None
    assert len(reply.attempts) == 2
    assert reply.value["calls"] == 2


def test_what_fails_in_the_retrieval_is_said(small: Small, serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion())
    for retrieval, cause, words in (
        (lambda request: {"answer": "no list"}, "invalid_response", "neither contexts nor"),
        (lambda request: 3, "invalid_response", "expected an object"),
        (lambda request: {"error": {"detail": "index is gone"}}, "exception", "index is gone"),
    ):
        reply = ask(made(small, server.url, retrieval))
        assert reply.failure is not None
        assert reply.failure.cause == cause
        assert words in (reply.detail or "")
    with pytest.raises(ZeroDivisionError):
        ask(made(small, server.url, lambda request: 1 / 0))
    assert not server.seen, "nothing is generated from nothing"


def test_an_empty_list_is_still_asked(small: Small, serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("I do not know."))
    reply = ask(made(small, server.url, lambda request: []))
    assert reply.value["contexts"] == []
    assert reply.value["answer"]["text"] == "I do not know."


def test_retrieval_from_the_reference_pipeline_and_from_a_trec_file(small: Small, serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda body, before, handler: completion())
    reference = ReferenceSystem(small.documents, small.passages)
    value = ask(made(small, server.url, reference), query="Why does rain fall?").value
    assert [one["kind"] for one in value["steps"]] == ["lexical", "dedup", "assemble", "assemble", "generate"]
    assert "Rain falls when warm air" in server.seen[-1][2]["messages"][-1]["content"]
    file = tmp_path / "run.txt"
    file.write_text("q1 Q0 tea 1 2.5 x\nq1 Q0 rain 2 1.5 x\n")
    stored = ReplaySystem("trec", file, small.documents, small.passages, as_of=AS_OF)  # type: ignore[arg-type]
    value = ask(made(small, server.url, stored)).value
    assert [one["id"] for one in value["contexts"]] == ["tea", "rain"]
    assert f"[1] {TEXTS['tea']}" in server.seen[-1][2]["messages"][-1]["content"]
    reply = ask(made(small, server.url, stored), query_id="q2")
    assert reply.failure is not None
    assert reply.failure.code == "retrieval.not_stored"


def test_the_budget_leaves_out_what_does_not_fit_and_goes_on() -> None:
    texts = [Text("a", "one two three"), Text("b", "one two three four five"), Text("c", None), Text("d", "one")]
    found = Assembly(tokens=5).assemble(texts)
    assert found.kept == (0, 3)
    assert found.dropped == ((1, "5 tokens, 2 left"), (2, "no text"))
    assert found.context == "[1] one two three\n\n[2] one"
    assert Assembly(top=1).assemble(texts).dropped[0] == (1, "beyond the first 1")


def test_templates() -> None:
    found = Assembly().assemble([Text("a", "Costs $5 {{ 7 * 7 }} ${question}", "d", 1.0)])
    request = Request(query_id="q", query="How $much?", as_of=AS_OF, top_k=1)  # type: ignore[arg-type]
    plain = Prompt("$$ $question | $context").render(request, found)
    assert plain == "$ How $much? | [1] Costs $5 {{ 7 * 7 }} ${question}"
    jinja = Prompt("{% for i in items %}{{ i.n }}:{{ i.text }}@{{ i.document_id }}{% endfor %} {{ question }}",
                   engine="jinja").render(request, found)  # fmt: skip
    assert jinja == "1:Costs $5 {{ 7 * 7 }} ${question}@d How $much?"
    for text, engine, message in (
        ("$question", "string", "does not use"), ("$context $question $user", "string", "uses 'user'"),
        ("$context $question $", "string", "begins no name"), ("{{ question", "jinja", "cannot be read"),
        ("{{ question }}", "jinja", "does not use"), ("{{ question }} {{ context }} {{ x }}", "jinja", "uses 'x'"),
        ("x", "mako", "no engine"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            Prompt(text, engine=engine)
    with pytest.raises(ValueError, match="SecurityError"):
        Prompt("{{ question.__class__.__mro__ }} {{ context }}", engine="jinja").render(request, found)


def test_what_is_declared_is_checked(small: Small) -> None:
    url = "http://127.0.0.1:9/v1/chat/completions"
    for more, message in (
        ({"options": {"messages": []}}, "may not set 'messages'"), ({"context": {"size": 3}}, "declares the assembly"),
        ({"context": {"top": 0}}, "top is 0"), ({"retry": 3}, "unknown key 'retry'"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            made(small, url, **more)


PARTS = (b"data: ", b"{", b'"choices"', b"[", b"]", b"}", b":", b"\n", b"[DONE]", b"\xff", b'"error"', b"null", b",")


@given(st.binary(max_size=200) | st.lists(st.sampled_from(PARTS)).map(b"".join))
def test_any_body_is_a_value_or_a_failure(body: bytes) -> None:
    for streaming in (True, False):
        value, failure, _ = Completions("http://127.0.0.1:9/", stream=streaming).read(body, None)
        assert (value is None) == (failure is not None)


@pytest.mark.parametrize(("turns", "count"), [(None, 2), (0, 0), (1, 1), (2, 2), (3, 2), (9, 2)])
def test_more_turns_than_there_are_mean_all_of_them(small: Small, serve: Serve, turns: int | None, count: int) -> None:
    server = serve(lambda body, before, handler: completion())
    ask(made(small, server.url, history_turns=turns), history=HISTORY)
    assert len(server.seen[0][2]["messages"]) == count + 1


def test_outcome_and_citations_in_declared_forms(small: Small, serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("PART: Warm air rises [1], says nobody [7]."))
    reply = ask(made(small, server.url, citations="[n]", markers={"PART": "partial", "NO ANSWER": "abstained"}))
    answer = reply.value["answer"]
    assert (answer["text"], answer["outcome"]) == ("Warm air rises [1], says nobody [7].", "partial")
    assert answer["citations"] == [
        {"answer_start": 15, "answer_end": 18, "item_id": "rain:0-40"},
        {"answer_start": 32, "answer_end": 35, "item_id": "[7]"},
    ]
    assert "response_format" not in server.seen[0][2]
    request = Request(query_id="q1", query="Why rain?", as_of=AS_OF, top_k=3)  # type: ignore[arg-type]
    content = normalise(reply.value, request, Resolver(small.documents, small.passages)).content
    assert content.answer is not None
    assert (content.answer.outcome, content.answer.outcome_source) == ("partial", "system")
    assert [one.action for one in content.steps[-1].decisions] == ["partial", "cite"]


@pytest.mark.parametrize("said", ["Warm air rises [2]", "What is rain [2]?", "the number behind it, like [2]"])
def test_a_mark_that_the_model_repeats_from_its_prompt_is_no_citation(small: Small, serve: Serve, said: str) -> None:
    server = serve(lambda body, before, handler: completion(f"{said} So it is, tea says [2]."))
    system = made(
        small, server.url, lambda request: [{"id": "rain", "text": "Warm air rises [2] and cools."}, "tea"],
        citations="[n]", prompt="$context\nPut the number behind it, like [2].\nQuestion: $question",
    )  # fmt: skip
    answer = ask(system, history=(Turn(role="user", text="What is rain [2]?"),)).value["answer"]
    assert [(one["item_id"], one["answer_start"]) for one in answer["citations"]] == [
        ("tea", len(said) + len(" So it is, tea says "))
    ]


def test_a_reply_by_schema_is_read_and_one_that_is_not_fails_its_question(small: Small, serve: Serve) -> None:
    said = json.dumps({"answer": "Which tea?", "citations": [2], "outcome": "clarified"})
    server = serve(lambda body, before, handler: completion(said))
    reply = ask(made(small, server.url, form="json"))
    answer = reply.value["answer"]
    assert (answer["text"], answer["outcome"], answer["citations"]) == ("Which tea?", "clarified", [{"item_id": "tea"}])
    assert server.seen[0][2]["response_format"]["type"] == "json_schema"
    broken = serve(lambda body, before, handler: completion(said[:-9]))
    reply = ask(made(small, broken.url, form="json"))
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("invalid_response", "answer_form")
    with pytest.raises(UsageError):
        made(small, server.url, form="json", markers={"NO": "abstained"})
