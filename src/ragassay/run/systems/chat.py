"""Retrieval from one system and an OpenAI-compatible chat model as one system under test. Retrieves nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from ragassay.corpus import Resolver
from ragassay.errors import UsageError
from ragassay.records.base import Instant, Metadata
from ragassay.records.canonical import canonical_bytes, digest_of
from ragassay.records.case import Outcome
from ragassay.records.document import Document, Passage
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.records.trace import PASS_KINDS, SOURCE_KINDS, Failure, Item, Trace
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.contract import ContextItem, Entry, Reply, Request, Response, StepIn, System
from ragassay.run.normalise import item_id
from ragassay.run.pace import Conditions
from ragassay.run.reading import InvalidResponseError, plain_value, read_response
from ragassay.run.systems.completions import Completions
from ragassay.run.systems.pipeline.outcome import AnswerForm, AnswerFormError
from ragassay.run.systems.prompt import Assembled, Assembly, Prompt, Text, last_turns
from ragassay.run.systems.python import PythonSystem
from ragassay.run.systems.reference import ABSTENTION

TRANSPORT = ("headers", "retries", "retry_on", "max_wait_s", "max_bytes", "use_proxy_settings", "endpoint")
"""What of `HttpSystem` may be declared about a chat endpoint."""
CONTEXT_STEP, GENERATE_STEP = "context", "generate"
_KEPT_KINDS = SOURCE_KINDS | PASS_KINDS | {"rewrite", "embed"}


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
            "history": "as messages" if self._turns is None else f"the last {self._turns} turns as messages",
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
            steps, entries = ((), ()) if failed is not None else _list_of(found)
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
            return Reply(failure=Failure(cause="exception", code="prompt"), detail=str(cause))
        reply = await self.endpoint.send(request, body)
        latency_ms = None if reply.latency_ms is None else round(retrieved_ms + reply.latency_ms, 3)
        if reply.failure is not None:
            return replace(reply, latency_ms=latency_ms)
        try:
            ids = [item_id(entries[place]) for place in assembled.kept]
            answer, decisions = self.form.read(reply.value["answer"], ids)
        except AnswerFormError as cause:
            failure = Failure(cause="invalid_response", code="answer_form")
            return replace(reply, value=None, failure=failure, detail=str(cause), latency_ms=latency_ms)
        value = {**self._response(steps, entries, assembled, reply, decisions), "answer": answer}
        value["first_token_ms"] = _later(reply.value.get("first_token_ms"), retrieved_ms)
        return replace(reply, value=value, latency_ms=latency_ms)

    async def _retrieve(self, request: Request) -> tuple[Response, Reply | None]:
        came = await self.retrieval.ask(request)
        reply = came if isinstance(came, Reply) else Reply(value=came)
        if reply.stored is not None:
            return _of_stored(reply.stored, request)
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

    def _response(
        self, steps: Sequence[StepIn], entries: Sequence[Entry], assembled: Assembled, reply: Reply, said: list[Any]
    ) -> dict[str, Any]:
        """The retrieval's steps, what was put together of them, and what the model said."""
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
            "parents": [names[CONTEXT_STEP]], "duration_ms": reply.latency_ms, "calls": len(reply.attempts),
            "decisions": said,
        }  # fmt: skip
        shown = [msgspec.to_builtins(one) for one in steps]
        return {**reply.value, "contexts": kept, "steps": [*shown, context, generate], "calls": len(reply.attempts)}

    async def aclose(self) -> None:
        """Close both."""
        await self.endpoint.aclose()
        close = getattr(self.retrieval, "aclose", None)
        if callable(close):
            await close()


class Texts:
    """What may be shown of an entry: its own text, else that of the place, passage or document that it names."""

    def __init__(
        self, documents: Iterable[Document] = (), passages: Iterable[Passage] = (), *, as_of: Instant | None = None
    ) -> None:
        kept, cut = list(documents), list(passages)
        self._resolver = Resolver(kept, cut, as_of=as_of)
        self._documents = {(one.document_id, one.version): one.text for one in kept}
        self._passages = {str(one.passage_id): one.text for one in cut}

    def of(self, entry: Entry) -> Text:
        """The text of one entry, or none."""
        if isinstance(entry, str):
            return Text(item_id(entry), self._named(entry) or entry)
        text = entry.text
        if text is None and entry.document_id is not None:
            text = self._document(entry.document_id, entry.version, entry.start, entry.end)
        if text is None and entry.id is not None:
            text = self._named(entry.id)
        return Text(item_id(entry), text, entry.document_id, entry.score)

    def _named(self, name: str) -> str | None:
        return self._passages.get(name) or self._document(name, None, None, None)

    def _document(self, document_id: str, version: str | None, start: int | None, end: int | None) -> str | None:
        sources = self._resolver.by_document(document_id, version).sources
        text = self._documents.get((sources[0].document_id, sources[0].version)) if sources else None
        if text is None or start is None or end is None:
            return text
        return text[start:end] if start <= end <= len(text) else None


def _list_of(response: Response) -> tuple[tuple[StepIn, ...], tuple[Entry, ...]]:
    """The steps of a retrieval that carry items, and the list that may be shown: its contexts, else its last list."""
    steps = tuple(one for one in response.steps if one.kind in _KEPT_KINDS)
    known = {one.step_id for one in steps}
    steps = tuple(
        one
        if one.parents is None
        else msgspec.structs.replace(one, parents=tuple(i for i in one.parents if i in known))
        for one in steps
    )
    if response.contexts is not None:
        if not steps:
            steps = (StepIn(step_id="retrieval", kind="fetch", name="retrieval", items_out=response.contexts),)
        return steps, response.contexts
    lists = [one.items_out for one in steps if one.items_out is not None]
    if not lists:
        raise InvalidResponseError("contexts", "the retrieval names neither contexts nor a list of items")
    return steps, lists[-1]


def _of_stored(stored: Mapping[int, Trace], request: Request) -> tuple[Response, Reply | None]:
    """The first stored trace of a question as a response, or why it cannot be used."""
    if not stored:
        failure = Failure(cause="invalid_response", code="retrieval.not_stored")
        return Response(), Reply(failure=failure, detail="retrieval: nothing is stored for this question")
    trace = stored[min(stored)]
    if trace.content.failure is not None:
        return Response(), Reply(failure=trace.content.failure, detail="retrieval: this failure is stored")
    if trace.content.as_of != request.as_of:
        failure = Failure(cause="invalid_response", code="retrieval.as_of")
        detail = f"retrieval: stored as of {trace.content.as_of}; this run asks as of {request.as_of}"
        return Response(), Reply(failure=failure, detail=detail)
    return _of_trace(trace), None


def _of_trace(trace: Trace) -> Response:
    """A stored trace as a response: its lists by place."""
    content = trace.content
    steps = tuple(
        StepIn(
            kind=one.kind, name=one.name, step_id=one.step_id, parents=one.parents, query_text=one.query_text,
            items_out=_entries(one.items_out), score_direction=one.score_direction,
        )
        for one in content.steps
    )  # fmt: skip
    return Response(steps=steps, contexts=_entries(content.context))


def _entries(items: Sequence[Item] | None) -> tuple[Entry, ...] | None:
    return None if items is None else tuple(map(_entry, items))


def _entry(item: Item) -> ContextItem:
    if not item.sources:
        return ContextItem(id=item.item_id, score=item.score)
    if item.passage_id is not None:
        return ContextItem(id=item.passage_id, score=item.score)
    first = item.sources[0]
    place = {} if item.whole_document else {"start": first.start, "end": first.end, "transform": item.transform}
    return ContextItem(
        id=item.item_id,
        score=item.score,
        document_id=first.document_id,
        version=first.version,
        **place,  # type: ignore[arg-type]
    )


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
