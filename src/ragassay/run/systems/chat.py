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
from ragassay.run.contract import Circumstances, Entry, Reply, Request, Response, System
from ragassay.run.normalise import item_id
from ragassay.run.pace import Conditions
from ragassay.run.reading import InvalidResponseError, plain_value, read_response
from ragassay.run.systems.chat_steps import failed_at, steps_of
from ragassay.run.systems.completions import TRANSPORT
from ragassay.run.systems.pipeline.generate import Model
from ragassay.run.systems.pipeline.outcome import AnswerForm, AnswerFormError
from ragassay.run.systems.prompt import Assembled, Assembly, Prompt, last_turns, shown_beside_labels
from ragassay.run.systems.python import PythonSystem
from ragassay.run.systems.reference import ABSTENTION
from ragassay.run.systems.retrieved import Texts, list_of, of_stored


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
        if unknown := set(transport) - set(TRANSPORT):
            raise UsageError(f"unknown key {min(unknown)!r}", field=min(unknown), hint=f"known: {', '.join(TRANSPORT)}")
        self.model = Model(url, model, options=options, stream=stream, send_seed=send_seed, transport=transport)
        self.endpoint = self.model.endpoint
        self.max_wait_s = self.endpoint.max_wait_s + float(getattr(self.retrieval, "max_wait_s", 0.0))
        self.assembly = _assembly(context or {})
        self.form = AnswerForm(
            insufficient=insufficient, citations=citations, markers=markers, outcome=outcome, form=form, longest=longest
        )
        self.prompt = Prompt(
            **({"template": prompt} if prompt is not None else {}), engine=engine, version=prompt_version
        )
        self.model.fixed = self.form.body()
        self._texts, self._system, self._turns, self._clock = texts, system_prompt, history_turns, SYSTEM_CLOCK
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
            "options": canonical_bytes(self.model.options).decode(),
            "stream": self.model.stream,
            "send_seed": self.model.send_seed,
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

    def circumstances(self) -> Circumstances:
        """What the retrieval says of itself."""
        ask = getattr(self.retrieval, "circumstances", None)
        found = ask() if callable(ask) else None
        return found if isinstance(found, Circumstances) else Circumstances()

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
            messages = self._messages(request, self.prompt.render(request, assembled))
        except ValueError as cause:
            shown = steps_of(steps, entries, assembled)
            failure = Failure(cause="exception", code="prompt", step=StepId(shown[-1]["step_id"]))
            return Reply(value={"steps": shown}, failure=failure, detail=str(cause))
        reply = await self.model.ask(request, messages)
        latency_ms = None if reply.latency_ms is None else round(retrieved_ms + reply.latency_ms, 3)
        made = steps_of(steps, entries, assembled)
        generate = {**made[-1], "duration_ms": reply.latency_ms, "calls": len(reply.attempts)}
        if reply.failure is not None:
            return failed_at(made, generate, replace(reply, latency_ms=latency_ms), reply.failure)
        try:
            answer, decisions = self._read(request, entries, assembled, reply.value["answer"])
        except AnswerFormError as cause:
            failure = Failure(cause="invalid_response", code="answer_form")
            return failed_at(made, generate, replace(reply, detail=str(cause), latency_ms=latency_ms), failure)
        kept = [msgspec.to_builtins(entries[place]) for place in assembled.kept]
        value = {**reply.value, "contexts": kept, "answer": answer, "calls": len(reply.attempts)}
        used = {"usage": reply.value["usage"]} if "usage" in reply.value else {}
        value["steps"] = [*made[:-1], {**generate, **used, "decisions": decisions}]
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

    def _messages(self, request: Request, prompt: str) -> list[dict[str, str]]:
        messages = [{"role": "system", "content": self._system}] if self._system else []
        messages += [{"role": one.role, "content": one.text} for one in last_turns(request.history, self._turns)]
        return [*messages, {"role": "user", "content": prompt}]

    def _read(self, request: Request, entries: Sequence[Entry], assembled: Assembled, given: Any) -> Any:
        """The answer by the declared form, and what decided it."""
        ids = [item_id(entries[place]) for place in assembled.kept]
        shown = [str(one["text"]) for one in assembled.items]
        turns = last_turns(request.history, self._turns)
        return self.form.read(given, ids, shown + shown_beside_labels(self.prompt, self._system, turns, request))

    async def aclose(self) -> None:
        """Close both."""
        await self.endpoint.aclose()
        close = getattr(self.retrieval, "aclose", None)
        if callable(close):
            await close()


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
