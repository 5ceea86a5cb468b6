"""A pipeline of real parts: rewrite, retrieve, fuse, rerank, dedup, assemble, generate. Judges nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragassay.errors import RagassayError, UsageError
from ragassay.records.document import Document, Passage
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.contract import Circumstances, Reply, Request
from ragassay.run.pace import Conditions
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.pipeline.agentic import FollowPrompt
from ragassay.run.systems.pipeline.answering import Answering
from ragassay.run.systems.pipeline.circumstances import circumstances_of
from ragassay.run.systems.pipeline.generate import Model, RewritePrompt
from ragassay.run.systems.pipeline.identity import identity_of
from ragassay.run.systems.pipeline.outcome import AnswerForm
from ragassay.run.systems.pipeline.parts import (
    LaterCache,
    LexicalRetriever,
    Retriever,
    make_reranker,
    make_retriever,
    tell_all,
)
from ragassay.run.systems.pipeline.rerank import Reranker
from ragassay.run.systems.pipeline.settings import PipelineSettings, pipeline_settings
from ragassay.run.systems.pipeline.settings_models import AgenticModel, Chat, ModelRewrite
from ragassay.run.systems.pipeline.vectors import VectorCache
from ragassay.run.systems.prompt import Assembly, Prompt


class PipelineSystem:
    """rewrite -> retrievers -> fuse -> rerank -> dedup -> assemble -> generate, as `settings` declare them.

    `cache` keeps vectors (in memory if left out); `folder` is where modules and files of the settings are looked for.
    `retrievers` (one for each of the settings, in their order) and `reranker` may be given instead of being made, so
    that several pipelines share them; then they say their own identity. `index` shares words and
    texts. Nothing is embedded before `attach`.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        passages: Sequence[Passage],
        settings: PipelineSettings | Mapping[str, Any],
        *,
        folder: Path | None = None,
        cache: VectorCache | LaterCache | None = None,
        retrievers: Sequence[Retriever] | None = None,
        reranker: Reranker | None = None,
        index: Index | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.settings = made = settings if isinstance(settings, PipelineSettings) else pipeline_settings(settings)
        kept = list(documents)
        self.retrievers: list[Retriever] = list(retrievers or ())
        for number, one in enumerate(() if retrievers else made.retrievers):
            field = f"retrievers[{number}]"
            self.retrievers.append(make_retriever(one, kept, passages, cache=cache, folder=folder, field=field))
        if len(self.retrievers) != len(made.retrievers):
            raise UsageError(
                f"{len(made.retrievers)} retrievers are declared, {len(self.retrievers)} given",
                field="retrievers",
                hint="give one for each, in their order",
            )
        self.reranker = reranker
        if reranker is None and made.rerank is not None:
            self.reranker = make_reranker(made.rerank, folder=folder)
        own: list[Any] = [one for one in self.retrievers if isinstance(one, LexicalRetriever)]
        self.index: Index = index or (own[0].index if own else Index(kept, passages))
        context = made.context
        self.assembly = Assembly(
            top=context.top or len(passages), tokens=context.tokens, item=context.item, separator=context.separator
        )
        self._make_models(made, folder)
        self.clock = clock
        self._circumstances = Circumstances()
        self.max_wait_s = sum(float(one.max_wait_s) for one in self._all_endpoints())
        self.identity = identity_of(self)

    def _make_models(self, made: PipelineSettings, folder: Path | None) -> None:
        self.rewriter: Model | None = None
        self.rewrite_prompt: RewritePrompt | None = None
        self.model: Model | None = None
        self.prompt: Prompt | None = None
        self.form: AnswerForm | None = None
        self.follower: Model | None = None
        self.follow_prompt: FollowPrompt | None = None
        rewrite, generate = made.rewrite, made.generate
        if isinstance(rewrite, ModelRewrite):
            self.rewriter = _model("rewrite", rewrite)
            self.rewrite_prompt = RewritePrompt(rewrite.prompt)
        if isinstance(generate, Chat):
            self.model = _model("generate", generate)
            self.prompt = _prompt(generate, folder)
            self.form = _form(generate, made.insufficient)
            self.model.fixed = self.form.body()
        if isinstance(made.agentic, AgenticModel):
            self.follower = _model("agentic", made.agentic)
            self.follow_prompt = FollowPrompt(made.agentic.prompt, made.agentic.stop)

    def _endpoints(self) -> list[Any]:
        return [one.endpoint for one in (self.rewriter, self.follower, self.model) if one is not None]

    @property
    def endpoint(self) -> str:
        """The places that a question may go to, for a plan of the run; empty if it goes nowhere."""
        return ", ".join(dict.fromkeys(str(one.endpoint) for one in self._all_endpoints()))

    @property
    def retries(self) -> int:
        """Requests of one question beyond its first, with every retry that is allowed."""
        return max(0, sum(1 + int(one.retries) for one in self._all_endpoints()) - 1)

    def _all_endpoints(self) -> list[Any]:
        """Of all steps, each as often as one question may ask it."""
        embedders = [getattr(getattr(one, "index", None), "query_embedder", None) for one in self.retrievers]
        rounds = self.settings.agentic.rounds if self.settings.agentic is not None else 1
        again = [*embedders, self.reranker] * rounds + [self.follower] * (rounds - 1)
        parts = [self.rewriter, *again, self.model]
        return [found for one in parts if (found := getattr(one, "endpoint", None)) is not None]

    def attach(self, conditions: Conditions) -> None:
        """Take the clock of the run, hand the conditions on, and build what is built once."""
        self.clock = conditions.clock
        tell_all(self._places(), "attach", conditions)
        _ = self.index.plain_texts, self.index.idf("")
        self._circumstances = circumstances_of(self)

    def check_secrets(self) -> None:
        """UsageError, about its key, if a secret that a part needs is not set; nothing is sent."""
        tell_all(self._places(), "check_secrets")

    def _places(self) -> list[tuple[str, Any]]:
        """The parts that may reach something, each with its key in [system]."""
        found = [(f"retrievers[{number}]", one) for number, one in enumerate(self.retrievers)]
        models = {"rewrite": self.rewriter, "agentic": self.follower, "generate": self.model}
        asked = [(place, one.endpoint) for place, one in models.items() if one is not None]
        return [*found, ("rerank", self.reranker), *asked]

    def circumstances(self) -> Circumstances:
        """The indexes that were searched, and what the models do not read; counted when the run began."""
        return self._circumstances

    async def ask(self, request: Request) -> Reply:
        """The reply to one question, all steps reported; what fails is the failure of the question."""
        await asyncio.sleep(0)
        answering = Answering(self, request)
        try:
            return await answering.reply()
        except Exception as cause:  # noqa: BLE001  parts of the user may raise anything
            return answering.log.failed(cause)

    async def aclose(self) -> None:
        """Close every connection."""
        for one in (*self._endpoints(), self.reranker):
            close = getattr(one, "aclose", None)
            if callable(close):
                await close()
        for part in self.retrievers:
            close = getattr(part, "close", None)
            if callable(close):
                with suppress(RuntimeError):
                    await asyncio.to_thread(close)


def _model(field: str, given: ModelRewrite | AgenticModel | Chat) -> Model:
    try:
        stream = given.stream if isinstance(given, Chat) else False
        return Model(
            given.url, given.model, options=given.options, stream=stream, send_seed=given.send_seed,
            transport=given.transport(),
        )  # fmt: skip
    except RagassayError as error:
        error.field = f"{field}.{error.field}" if error.field else field
        raise


def _form(given: Chat, insufficient: str) -> AnswerForm:
    try:
        return AnswerForm(
            insufficient=insufficient, citations=given.citations, markers=given.markers, outcome=given.outcome,
            form=given.form, longest=given.longest,
        )  # fmt: skip
    except RagassayError as error:
        error.field = f"generate.{error.field}"
        raise


def _prompt(given: Chat, folder: Path | None) -> Prompt:
    template = given.prompt
    if given.prompt_file is not None:
        try:
            template = ((folder or Path.cwd()) / given.prompt_file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as cause:
            raise UsageError(
                f"{given.prompt_file} cannot be read: {cause}", field="generate.prompt_file", hint="a UTF-8 text file"
            ) from None
    more = {} if template is None else {"template": template}
    try:
        return Prompt(engine=given.engine, version=given.prompt_version, **more)
    except RagassayError as error:
        error.field = f"generate.{error.field}"
        raise
