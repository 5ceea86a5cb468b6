"""Models in a pipeline, on a real loopback server: what is asked, what a reply means, what fails, what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, TEXTS, Answer, Server, Small, document

from ragassay.claims.forms import CitationForm, Mark
from ragassay.corpus import Resolver, chunk
from ragassay.errors import UsageError
from ragassay.records.case import Turn
from ragassay.records.trace import Failure, TraceContent, Usage
from ragassay.run import execute
from ragassay.run.account import Account, account_of
from ragassay.run.contract import Reply, Request
from ragassay.run.normalise import normalise
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.pipeline.generate import RewritePrompt, outcome_of, query_of
from ragassay.run.systems.pipeline.rerank import FunctionReranker
from ragassay.run.systems.pipeline.system import PipelineSystem

Serve = Callable[[Answer], Server]
DOCUMENTS = [document(name, text) for name, text in TEXTS.items()]
PASSAGES = chunk(DOCUMENTS, chunker="tokens", size=40, overlap=5)
HISTORY = (Turn(role="user", text="Tell me of rain."), Turn(role="assistant", text="Gladly."))
RAIN = "rain@1:0-79"


def completion(text: Any, tokens: int | None = 20, **more: Any) -> dict[str, Any]:
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens, "completion_tokens": 3}}
    message = {"role": "assistant", "content": text, **more}
    return {"model": "m-1-2026", "choices": [{"finish_reason": "stop", "message": message}], **usage}


def made(url: str, **settings: Any) -> PipelineSystem:
    generate = {"kind": "chat", "url": url, "model": "m-1", **settings.pop("generate", {})}
    return PipelineSystem(DOCUMENTS, PASSAGES, {"retrievers": [{"kind": "lexical"}], "generate": generate, **settings})


def ask(
    system: PipelineSystem, query: str = "Why does rain fall?", account: Account | None = None, **more: Any
) -> Reply:
    request = Request(**{"query_id": "q", "query": query, "as_of": AS_OF, "top_k": 5, "seed": 7, **more})

    async def go() -> Reply:
        system.attach(Conditions(timeout_s=5.0, pace=Pace(4)))
        with account_of(account or Account()):
            try:
                return await system.ask(request)
            finally:
                await system.aclose()

    return asyncio.run(go())


def step(reply: Reply, name: str) -> dict[str, Any]:
    return next(one for one in reply.value["steps"] if one["name"] == name)


def test_the_model_is_asked_with_the_context_and_its_marks_become_citations(serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("Warm air rises [1]. Nobody knows more [9]."))
    system = made(server.url, generate={
        "system_prompt": "Be brief.", "options": {"temperature": 0.0}, "prompt_version": "v3"})  # fmt: skip
    reply = ask(system, history=HISTORY)
    ((_, _, body),) = server.seen
    assert (body["model"], body["temperature"], body["seed"]) == ("m-1", 0.0, 7)
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]
    shown = body["messages"][-1]["content"]
    assert f"[1] {TEXTS['rain']}" in shown
    assert shown.endswith("Question: Why does rain fall?"), "the question itself, not the rewritten query"
    answer = reply.value["answer"]
    assert answer["text"] == "Warm air rises [1]. Nobody knows more [9]."
    assert answer["citations"] == [
        {"answer_start": 15, "answer_end": 18, "item_id": RAIN},
        {"answer_start": 38, "answer_end": 41, "item_id": "[9]"},
    ]
    assert "outcome" not in answer, "no marker is declared, so nobody says whether it abstained"
    assert step(reply, "generate")["decisions"][-1] == {
        "action": "cite", "reason": "[9] names nothing in the context"}  # fmt: skip
    assert (reply.value["calls"], step(reply, "generate")["calls"]) == (1, 1)
    assert reply.value["usage"] == {"input_tokens": 20, "output_tokens": 3}
    assert reply.value["versions"] == {"model": "m-1-2026"}
    request = Request(query_id="q", query="Why does rain fall?", as_of=AS_OF, top_k=5)  # type: ignore[arg-type]
    content = normalise(reply.value, request, Resolver(DOCUMENTS, PASSAGES)).content
    assert content.failure is None
    assert content.answer is not None
    assert [one.item_id for one in content.answer.citations or ()] == [RAIN, "[9]"]
    assert (system.identity.prompt.value or "").startswith("v3 sha256:")
    assert server.url not in str(system.identity), "an address is no identity"


def test_markers_say_the_outcome_and_the_declared_sentence_stands_in(serve: Serve) -> None:
    said: list[str] = []
    server = serve(lambda body, before, handler: completion(said[-1]))
    markers = {"INSUFFICIENT": "abstained", "PARTLY": "partial", "WHICH": "clarified", "HUMAN": "escalated"}
    system = made(server.url, generate={"markers": markers}, insufficient="Not in our documents.")
    for text, outcome, shown in (
        ("INSUFFICIENT", "abstained", "Not in our documents."),
        ("insufficient.\n", "abstained", "Not in our documents."),
        ("**INSUFFICIENT** The texts are about tea.", "abstained", "Not in our documents."),
        ("PARTLY: Warm air rises [1].", "partial", "Warm air rises [1]."),
        ("WHICH: which rain?", "clarified", "which rain?"),
        ("HUMAN", "escalated", "Not in our documents."),
        ("Insufficiently warm air [1].", "answered", "Insufficiently warm air [1]."),
        ("Warm air rises.", "answered", "Warm air rises."),
    ):
        said.append(text)
        answer = ask(system).value["answer"]
        assert (answer["outcome"], answer["text"]) == (outcome, shown), text
        if "tea" in text:
            reason = "the marker 'INSUFFICIENT'; left out: The texts are about tea."
            assert {"action": "abstained", "reason": reason} in step(ask(system), "generate")["decisions"]
        if "[1]" in shown:
            (mark,) = answer["citations"]
            assert shown[mark["answer_start"] : mark["answer_end"]] == "[1]"


def test_a_refusal_of_the_model_is_its_own_word(serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion(None, refusal="I will not."))
    answer = ask(made(server.url)).value["answer"]
    assert (answer["outcome"], answer["text"]) == ("abstained", "I will not.")


def test_below_the_floor_or_without_a_context_the_model_is_not_asked(serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("Sure."))
    reply = ask(made(server.url, evidence_floor=0.9, insufficient="Ask a person."))
    assert (reply.value["answer"]["text"], reply.value["answer"]["outcome"]) == ("Ask a person.", "abstained")
    assert ask(made(server.url), "xyzzy").value["answer"]["outcome"] == "abstained"
    assert not server.seen


def test_a_model_writes_the_query(serve: Serve) -> None:
    def answer(body: Any, before: int, handler: Any) -> Any:
        asked = body["messages"][-1]["content"]
        return completion('"When does snow fall?"\nGood luck!' if asked.startswith("Rewrite") else "At zero [1].")

    server = serve(answer)
    rewrite = {"kind": "model", "url": server.url, "model": "small"}
    system = made(server.url, rewrite=rewrite)
    reply = ask(system, "And snow?", history=HISTORY)
    first, second = (body for _, _, body in server.seen)
    assert "user: Tell me of rain.\nassistant: Gladly." in first["messages"][0]["content"]
    assert first["model"] == "small"
    assert second["messages"][-1]["content"].endswith("Question: And snow?")
    assert step(reply, "rewrite")["query_text"] == step(reply, "lexical")["query_text"] == "When does snow fall?"
    assert [step(reply, name)["calls"] for name in ("rewrite", "lexical", "generate")] == [1, 0, 1]
    assert (reply.value["calls"], len(reply.attempts)) == (2, 2)
    assert reply.value["usage"] == {"input_tokens": 40, "output_tokens": 6}
    request = Request(query_id="q", query="And snow?", as_of=AS_OF, top_k=5)  # type: ignore[arg-type]
    timings = normalise(reply.value, request, Resolver(DOCUMENTS, PASSAGES)).reported.steps
    used = {one.step_id: one.usage for one in timings if one.usage is not None}
    assert used == dict.fromkeys(("rewrite", "generate"), Usage(input_tokens=20, output_tokens=3))
    assert (system.identity.retriever.value or "").startswith("by small, with a history, all turns, prompt sha256:")
    alone = ask(system, "Why snow?")
    assert "rewrite" not in [one["name"] for one in alone.value["steps"]], "without a history there is nothing to do"


def test_a_model_that_writes_nothing_leaves_the_question(serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("  \n"))
    rewrite = {"kind": "model", "url": server.url, "model": "small", "always": True}
    system = PipelineSystem(DOCUMENTS, PASSAGES, {"retrievers": [{"kind": "lexical"}], "rewrite": rewrite})
    reply = ask(system)
    assert step(reply, "lexical")["query_text"] == "Why does rain fall?"
    assert "wrote nothing" in step(reply, "rewrite")["decisions"][0]["reason"]


@pytest.mark.parametrize("where", ["rewrite", "rerank", "generate"])
def test_a_step_that_fails_is_the_failure_of_the_question(serve: Serve, where: str) -> None:
    good = serve(lambda body, before, handler: completion("What is rain?"))
    ranks = serve(lambda body, before, handler: {
        "results": [{"index": n, "relevance_score": 1.0} for n in range(len(body["documents"]))]})  # fmt: skip
    bad = serve(lambda body, before, handler: handler.reply(500, {"error": "sk-secret"}))
    url = {"rewrite": good.url, "rerank": ranks.url, "generate": good.url, where: bad.url}
    system = made(
        url["generate"],
        rewrite={"kind": "model", "url": url["rewrite"], "model": "s"},
        rerank={"kind": "endpoint", "url": url["rerank"], "model": "r"},
    )
    reply = ask(system, history=HISTORY)
    assert reply.failure is not None
    assert (reply.failure.cause, reply.failure.code) == ("http_status", "500")
    assert (reply.detail or "").startswith(f"{where}: ")
    assert len(reply.attempts) == {"rewrite": 1, "rerank": 2, "generate": 3}[where], "every call that was made"
    steps = reply.value["steps"]
    assert [one["name"] for one in steps] == ["rewrite", "lexical", "rerank", "dedup", "assemble", "generate"][
        : {"rewrite": 1, "rerank": 3, "generate": 6}[where]
    ], "what was finished before stays, up to the step that failed"
    assert reply.failure.step == where
    assert steps[-1]["error"] == {"code": "http_status 500"}
    assert "items_out" not in steps[-1], "it handed on nothing: not the same as an empty list"


def test_what_a_failed_question_found_is_kept_in_its_trace(small: Small, serve: Serve) -> None:
    bad = serve(lambda body, before, handler: handler.reply(500, {}))
    system = made(bad.url, rewrite={"kind": "rule"}, generate={"retries": 0})
    run, _ = asyncio.run(execute(small.store, small.seal(system.identity), system, error_budget=1.0))
    for content in small.store.get_lines(TraceContent, run.contents):
        assert content.failure == Failure(cause="http_status", step="generate", code="500")
        assert content.answer is None
        lexical = next(one for one in content.steps if one.name == "lexical")
        assert lexical.items_out is not None
        assert content.steps[-1].error == Failure(cause="exception", step="generate", code="http_status 500")
        assert content.steps[-1].items_out is None
    assert run.failures == run.questions


def test_a_part_of_the_user_that_raises_leaves_the_steps_before_it() -> None:
    def score(query: str, texts: list[str]) -> list[float]:
        raise ValueError("no model")

    settings = {"retrievers": [{"kind": "lexical"}], "rerank": {"kind": "python", "callable": "json:loads"}}
    system = PipelineSystem(DOCUMENTS, PASSAGES, settings, reranker=FunctionReranker("mine:score", score))
    reply = ask(system)
    assert reply.failure == Failure(cause="exception", code="ValueError", step="rerank")
    assert reply.detail == "ValueError: no model"
    assert [one["name"] for one in reply.value["steps"]] == ["lexical", "rerank"]


def test_the_ceiling_is_asked_before_every_further_call(serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("rain"))
    system = made(server.url, rewrite={"kind": "model", "url": server.url, "model": "s"})
    room = iter([False])
    reply = ask(system, history=HISTORY, account=Account(lambda: next(room)))
    assert reply.failure is not None
    assert (reply.failure.code, len(server.seen)) == ("ceiling", 1)
    assert system.retries == 2 * (1 + 3) - 1, "the most requests of one question, beyond its first"
    assert system.endpoint.startswith("127.0.0.1:")


def test_tokens_are_missing_where_one_call_does_not_say(serve: Serve) -> None:
    server = serve(lambda body, before, handler: completion("rain", None if "Rewrite" in str(body) else 20))
    system = made(server.url, rewrite={"kind": "model", "url": server.url, "model": "s"})
    assert "usage" not in ask(system, history=HISTORY).value


@pytest.mark.parametrize("tokens", [-5, True, 10**30, "7", 2.5, [1]])
def test_tokens_that_cannot_be_a_count_were_not_reported(serve: Serve, tokens: Any) -> None:
    server = serve(lambda body, before, handler: completion("rain [1]", tokens))
    found = ask(made(server.url))
    assert found.failure is None
    assert "usage" not in found.value
    assert step(found, "generate")["calls"] == 1


def test_a_secret_that_is_not_set_is_named_with_the_key_of_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    url, headers = "http://127.0.0.1:9/x", {"Authorization": {"env": "NOT_SET_ANYWHERE"}}
    endpoint = {"url": url, "model": "m", "headers": headers}
    vector = {"kind": "vector", "embedder": {"kind": "endpoint", "dimensions": 3, **endpoint}}
    for settings, field in (
        ({"generate": {"headers": headers}}, "system.generate.headers"),
        ({"rewrite": {"kind": "model", **endpoint}}, "system.rewrite.headers"),
        ({"agentic": {"kind": "model", **endpoint}}, "system.agentic.headers"),
        ({"rerank": {"kind": "endpoint", **endpoint}}, "system.rerank.headers"),
        ({"retrievers": [{"kind": "lexical"}, vector]}, "system.retrievers[1].embedder.headers"),
    ):
        system = made(url, **settings)
        with pytest.raises(UsageError, match="NOT_SET_ANYWHERE") as caught:
            system.attach(Conditions(timeout_s=5.0, pace=Pace(1)))
        assert caught.value.field == field


def test_time_to_the_first_token_counts_from_the_question(serve: Serve) -> None:
    def answer(body: Any, before: int, handler: Any) -> None:
        assert body["stream"] is True
        events = [
            'data: {"model":"m-1","choices":[{"index":0,"delta":{"content":"Warm [1]"}}]}',
            'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}', "data: [DONE]",
        ]  # fmt: skip
        handler.reply(200, "".join(f"{one}\n\n" for one in events).encode(), content_type="text/event-stream")

    reply = ask(made(serve(answer).url, generate={"stream": True}))
    assert reply.value["answer"]["text"] == "Warm [1]"
    assert 0 < reply.value["first_token_ms"] <= (reply.latency_ms or 0)


def test_secrets_are_sent_and_not_stored(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_KEY", "sk-very-secret")
    server = serve(lambda body, before, handler: completion("Warm."))
    system = made(server.url, generate={"headers": {"Authorization": {"env": "CHAT_KEY", "prefix": "Bearer "}}})
    reply = ask(system)
    assert server.seen[0][1]["authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" in reply.secrets
    assert "sk-very" not in str(system.identity)


@pytest.mark.parametrize(
    ("form", "text", "names"),
    [
        ("[n]", "a [1] b [2][3]", ["p1", "p2", "p3"]),
        ("[n]", "a [1, 3] b", ["p1", "p3"]),
        ("[n]", "a [1-3] b [2–3]", ["p1", "p2", "p3", "p2", "p3"]),
        ("[n]", "a [0] [4] [one] [12345]", ["[0]", "[4]"]),
        ("[n]", "a [3-1] and [1-9999]", ["p3", "p1", "p1", "[9999]"]),
        ("(n)", "in (1) of (1999)", ["p1", "(1999)"]),
        ("[id]", "a [p2] b [p2, p3] c [see below]", ["p2", "p2", "p3"]),
        ("[^n]", "a[^2]", ["p2"]),
    ],
)
def test_forms_of_citations(form: str, text: str, names: list[str]) -> None:
    assert [one.name for one in CitationForm(form).marks(text, ["p1", "p2", "p3"])] == names


@given(st.text(max_size=200), st.sampled_from(["[n]", "(n)", "[id]", "{{n}}"]))
def test_marks_stand_where_they_say(text: str, form: str) -> None:
    for mark in CitationForm(form).marks(text, ["p1", "p2"]):
        assert isinstance(mark, Mark)
        assert text[mark.start : mark.end].startswith(form[0])
        assert text[mark.start : mark.end].endswith(form[-1])


@given(st.text(max_size=200))
def test_any_reply_has_an_outcome_or_is_empty(text: str) -> None:
    said = outcome_of(text, {"NO": "abstained"}, None, "Nothing.")
    assert (said.outcome is None) == (not text.strip())
    assert said.text or not text.strip()
    assert len(query_of(text)) <= 2000
    assert "\n" not in query_of(text)


@pytest.mark.parametrize("form", ["n", "[x]", "", "[1]", "id", "[n"])
def test_a_form_that_is_none_is_refused(form: str) -> None:
    with pytest.raises(UsageError, match="no form of citations"):
        CitationForm(form)


@pytest.mark.parametrize("template", ["$history", "$question $context", "$question $", "nothing"])
def test_a_template_of_the_query_that_cannot_work_is_refused(template: str) -> None:
    with pytest.raises(UsageError):
        RewritePrompt(template)


def test_a_prompt_file_is_looked_for_beside_the_settings(tmp_path: Path, small: Small) -> None:
    (tmp_path / "p.txt").write_text("$context\n$question", "utf-8")
    chat = {"kind": "chat", "url": "http://127.0.0.1:9/v1", "model": "m", "prompt_file": "p.txt"}
    settings = {"retrievers": [{"kind": "lexical"}], "generate": chat}
    system = PipelineSystem(small.documents, small.passages, settings, folder=tmp_path)
    assert system.prompt is not None
    assert system.prompt.template == "$context\n$question"
    with pytest.raises(UsageError) as caught:
        PipelineSystem(small.documents, small.passages, settings, folder=tmp_path / "elsewhere")
    assert caught.value.field == "generate.prompt_file"


def test_questions_are_embedded_by_an_endpoint_and_its_calls_count(serve: Serve) -> None:
    def vectors(body: Any, before: int, handler: Any) -> Any:
        if "xyzzy" in str(body["input"]):
            return handler.reply(400, {"error": "no"})
        return {"data": [{"index": n, "embedding": [1.0, float(len(one))]} for n, one in enumerate(body["input"])]}

    server = serve(vectors)
    embedder = {"kind": "endpoint", "url": server.url, "model": "e", "dimensions": 2}
    system = PipelineSystem(DOCUMENTS, PASSAGES, {"retrievers": [{"kind": "vector", "embedder": embedder}]})
    first, second = ask(system), ask(system)
    assert [(one.value["calls"], one.value["cache_hits"], len(one.attempts)) for one in (first, second)] == [
        (1, 0, 1), (1, 0, 1)]  # fmt: skip
    assert len(server.seen) == 3, "the passages in one request, the question each time in another"
    failed = ask(system, "xyzzy")
    assert failed.failure is not None
    assert (failed.failure.code, len(failed.attempts)) == ("400", 1)
    assert (failed.detail or "").startswith("vector: ")


@pytest.mark.parametrize(("turns", "count"), [(None, 2), (0, 0), (1, 1), (2, 2), (3, 2), (9, 2)])
def test_more_turns_than_there_are_mean_all_of_them(serve: Serve, turns: int | None, count: int) -> None:
    server = serve(lambda body, before, handler: completion("Warm."))
    more = {} if turns is None else {"history_turns": turns}
    ask(made(server.url, generate=more), history=HISTORY)
    assert len(server.seen[0][2]["messages"]) == count + 1
