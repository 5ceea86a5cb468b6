"""Retrieval from one system and an OpenAI-compatible chat model as one system under test. Retrieves nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from ragassay.errors import UsageError
from ragassay.records.base import Metadata, StepId
from ragassay.records.canonical import canonical_bytes, digest_of
from ragassay.records.case import Outcome
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.records.text import many
from ragassay.records.trace import Failure
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.contract import Entry, Reply, Request, Response, StepIn, System
from ragassay.run.normalise import item_id
from ragassay.run.pace import Conditions
from ragassay.run.reading import InvalidResponseError, plain_value, read_response
from ragassay.run.systems.completions import Completions
from ragassay.run.systems.pipeline.outcome import AnswerForm, AnswerFormError
from ragassay.run.systems.prompt import Assembled, Assembly, Prompt, last_turns
from ragassay.run.systems.python import PythonSystem
from ragassay.run.systems.reference import ABSTENTION
from ragassay.run.systems.retrieved import Texts, list_of, of_stored

TRANSPORT = ("headers", "retries", "retry_on", "max_wait_s", "max_bytes", "use_proxy_settings", "endpoint")
"""What of `HttpSystem` may be declared about a chat endpoint."""
CONTEXT_STEP, GENERATE_STEP = "context", "generate"


class ChatSystem:
    """retrieval -> context -> generate.

    `retrieval` is any system (or a Python callable) whose contexts, or whose last list, are what may be shown; what
    else it answers is not used. `context` declares the assembly (see `Assembly`), `prompt` with `engine` the user's
    message (see `Prompt`), `system_prompt` the first message. Earlier turns of the request go between them as messages,
    the last `history_turns` of them if that is given. `options` are fields of the body (temperature, max_tokens, ...);
    the seed of the request is sent unless `send_seed` is off. `form`, `markers`, `outcome`, `citations`, `longest` say
    how a reply is read (see `AnswerForm`), `insufficient` what stands for a refusal without words; left out, nobody
    says outcomes and citations. `transport` holds keys of TRANSPORT, as in `HttpSystem`.
    """

    def __init__(
        self,
        retrieval: System | Callable[[Request], Any],
        url: str,
        model: str,
        *,
        texts: Texts,
        name: str = "",
        context: Mapping[str, Any] | None = None,
        prompt: str | None = None,
        engine: str = "string",
        prompt_version: str = "",
        system_prompt: str = "",
        history_turns: int | None = None,
        options: Mapping[str, Any] | None = None,
        stream: bool = False,
        send_seed: bool = True,
        form: Literal["text", "json"] = "text",
        markers: Mapping[str, Outcome] | None = None,
        outcome: Outcome | None = None,
        citations: str | None = None,
        longest: int = 600,
        insufficient: str = ABSTENTION,
        settings: Metadata | None = None,
        **transport: Any,
    ) -> None:
        asked: Any = retrieval
        self.retrieval: System = asked if hasattr(asked, "ask") else PythonSystem(asked, own_loop=True)
        if not isinstance(model, str) or not model:
            raise UsageError("a chat system needs its model", field="model", hint='model = "gpt-x"')
        if forbidden := {"model", "messages", "stream", "seed", "n"} & set(options or {}):
            raise UsageError(
                f"options may not set {min(forbidden)!r}", field="options", hint="it is set by its own key"
            )
        if unknown := set(transport) - set(TRANSPORT):
            raise UsageError(f"unknown key {min(unknown)!r}", field=min(unknown), hint=f"known: {', '.join(TRANSPORT)}")
        self.endpoint = Completions(url, stream=stream, **transport)
        self.max_wait_s = self.endpoint.max_wait_s + float(getattr(self.retrieval, "max_wait_s", 0.0))
        self.assembly = _assembly(context or {})
        self.form = AnswerForm(
            insufficient=insufficient, citations=citations, markers=markers, outcome=outcome, form=form, longest=longest
        )
        self.prompt = Prompt(
            **({"template": prompt} if prompt is not None else {}), engine=engine, version=prompt_version
        )
        self._texts, self._model, self._system, self._turns = texts, model, system_prompt, history_turns
        self._options, self._seeded, self._clock = dict(options or {}), send_seed, SYSTEM_CLOCK
        self.identity = SystemIdentity(
            name=name or f"chat {model}"[:512],
            adapter="chat",
            retriever=Stated(value=_spelled(self.retrieval.identity)),
            generator=Stated(value=model),
            prompt=Stated(value=self.prompt.version[:512]),
            settings={**self._settings(), **(settings or {})},
            code=self.retrieval.identity.code,
        )

    def _settings(self) -> Metadata:
        sent = self.endpoint.identity.settings
        return {
            "retrieval": canonical_bytes(msgspec.to_builtins(self.retrieval.identity)).decode(),
            **self.assembly.to_metadata(),
            "engine": self.prompt.engine,
            "prompt": self.prompt.template,
            "system_prompt": self._system,
            "history": "as messages" if self._turns is None else f"the last {many(self._turns, 'turn')} as messages",
            "options": canonical_bytes(self._options).decode(),
            "stream": self.endpoint.stream,
            "send_seed": self._seeded,
            **self.form.to_metadata(),
            **{key: sent[key] for key in ("retries", "retry_on", "max_wait_s", "max_bytes", "headers")},
        }

    def attach(self, conditions: Conditions) -> None:
        """Hand the conditions on."""
        self._clock = conditions.clock
        self.endpoint.attach(conditions)
        attach = getattr(self.retrieval, "attach", None)
        if callable(attach):
            attach(conditions)

    async def ask(self, request: Request) -> Reply:
        """The reply of the model to what was retrieved, with every step; what fails is the failure of the question."""
        start_s = self._clock.steady_s()
        try:
            found, failed = await self._retrieve(request)
            steps, entries = ((), ()) if failed is not None else list_of(found)
        except InvalidResponseError as cause:
            failure = Failure(cause="invalid_response", code=f"retrieval.{cause.field}"[:256])
            return Reply(failure=failure, detail=f"the retrieval's response: {cause}")
        if failed is not None:
            return failed
        retrieved_ms = self._clock.since_ms(start_s)
        assembled = self.assembly.assemble([self._texts.of(one) for one in entries])
        try:
            body = self._body(request, self.prompt.render(request, assembled))
        except ValueError as cause:
            shown = self._steps(steps, entries, assembled)
            failure = Failure(cause="exception", code="prompt", step=StepId(shown[-1]["step_id"]))
            return Reply(value={"steps": shown}, failure=failure, detail=str(cause))
        reply = await self.endpoint.send(request, body)
        latency_ms = None if reply.latency_ms is None else round(retrieved_ms + reply.latency_ms, 3)
        made = self._steps(steps, entries, assembled)
        generate = {**made[-1], "duration_ms": reply.latency_ms, "calls": len(reply.attempts)}
        if reply.failure is not None:
            return _failed_at(made, generate, replace(reply, latency_ms=latency_ms), reply.failure)
        try:
            ids = [item_id(entries[place]) for place in assembled.kept]
            answer, decisions = self.form.read(reply.value["answer"], ids)
        except AnswerFormError as cause:
            failure = Failure(cause="invalid_response", code="answer_form")
            return _failed_at(made, generate, replace(reply, detail=str(cause), latency_ms=latency_ms), failure)
        kept = [msgspec.to_builtins(entries[place]) for place in assembled.kept]
        value = {**reply.value, "contexts": kept, "answer": answer, "calls": len(reply.attempts)}
        value["steps"] = [*made[:-1], {**generate, "decisions": decisions}]
        value["first_token_ms"] = _later(reply.value.get("first_token_ms"), retrieved_ms)
        return replace(reply, value=value, latency_ms=latency_ms)

    async def _retrieve(self, request: Request) -> tuple[Response, Reply | None]:
        came = await self.retrieval.ask(request)
        reply = came if isinstance(came, Reply) else Reply(value=came)
        if reply.stored is not None:
            return of_stored(reply.stored, request)
        if reply.failure is not None:
            return Response(), replace(reply, detail=f"retrieval: {reply.detail or reply.failure.cause}")
        response = read_response(plain_value(reply.value)).response
        if response.error is not None:
            detail = f"retrieval reports: {response.error.detail or response.error.code}"
            return response, Reply(failure=Failure(cause="exception", code="retrieval"), detail=detail)
        return response, None

    def _body(self, request: Request, prompt: str) -> dict[str, Any]:
        turns = last_turns(request.history, self._turns)
        messages = [{"role": "system", "content": self._system}] if self._system else []
        messages += [{"role": one.role, "content": one.text} for one in turns]
        body = {"model": self._model, "messages": [*messages, {"role": "user", "content": prompt}], **self._options}
        body |= self.form.body()
        if self._seeded and request.seed is not None:
            body["seed"] = request.seed
        if self.endpoint.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def _steps(self, steps: Sequence[StepIn], entries: Sequence[Entry], assembled: Assembled) -> list[dict[str, Any]]:
        """The retrieval's steps, what was put together of them, and that a model is asked."""
        kept = [msgspec.to_builtins(entries[place]) for place in assembled.kept]
        last = [steps[-1].step_id or f"s{len(steps)}"] if steps else []
        taken = {one.step_id for one in steps}
        names = {one: one if one not in taken else f"{one}-chat" for one in (CONTEXT_STEP, GENERATE_STEP)}
        decisions = [
            {"action": "drop", "item_id": item_id(entries[place]), "reason": why} for place, why in assembled.dropped
        ]
        context = {
            "step_id": names[CONTEXT_STEP], "name": names[CONTEXT_STEP], "kind": "assemble", "parents": last,
            "items_in": [msgspec.to_builtins(one) for one in entries], "items_out": kept, "decisions": decisions,
        }  # fmt: skip
        generate = {
            "step_id": names[GENERATE_STEP], "name": names[GENERATE_STEP], "kind": "generate",
            "parents": [names[CONTEXT_STEP]],
        }  # fmt: skip
        return [*(msgspec.to_builtins(one) for one in steps), context, generate]

    async def aclose(self) -> None:
        """Close both."""
        await self.endpoint.aclose()
        close = getattr(self.retrieval, "aclose", None)
        if callable(close):
            await close()


def _failed_at(made: list[dict[str, Any]], generate: dict[str, Any], reply: Reply, failure: Failure) -> Reply:
    """The failure of a question at its model, with what was retrieved before."""
    steps = [*made[:-1], {**generate, "error": {"code": failure.code or failure.cause}}]
    at = msgspec.structs.replace(failure, step=StepId(generate["step_id"]))
    return replace(reply, value={"steps": steps}, failure=at)


def _assembly(context: Mapping[str, Any]) -> Assembly:
    if not isinstance(context, Mapping) or set(context) - {"top", "tokens", "item", "separator"}:
        raise UsageError("context declares the assembly", field="context", hint="top, tokens, item, separator")
    return Assembly(**context)


def _spelled(identity: SystemIdentity) -> str:
    """A retrieval in one line: what it says of itself, and the digest of all of it."""
    said = identity.retriever.value or identity.name
    return f"{said[:400]} ({identity.adapter} {digest_of(identity)[:23]})"


def _later(first_token_ms: float | None, before_ms: float) -> float | None:
    return None if first_token_ms is None else round(before_ms + first_token_ms, 3)
