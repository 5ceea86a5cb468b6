"""Haystack as the system under test: a pipeline, or a component such as a retriever. Needs haystack-ai."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import UsageError
from ragassay.records.case import Turn
from ragassay.run.contract import Request
from ragassay.run.mapping import ABSENT, follow, parse_path
from ragassay.run.systems.library import Entry, Found, LibrarySystem, UnreadableError, each, shape


class HaystackSystem(LibrarySystem):
    """A `Pipeline` with its `input` and the paths of what it returns, or a component whose `run` takes a `query`.

    For a pipeline: `input = { retriever = { query = "$.query", top_k = "$.top_k" } }`,
    `documents = "$.retriever.documents"`, `answer = "$.llm.replies[0]"`; what the paths name is included in what the
    pipeline returns. A component gets query and, if it takes it, `top_k`; its documents stand under `documents`. Place
    by default: meta `document_id` or `source_id`, and `start` or `split_idx_start` (document splitters write both).
    Haystack's usage statistics are switched off, unless HAYSTACK_TELEMETRY_ENABLED is set.
    """

    kind: ClassVar[str] = "haystack"
    distribution: ClassVar[str] = "haystack-ai"
    module: ClassVar[str] = "haystack"
    expected: ClassVar[str] = "a pipeline or a component of Haystack, or a function that makes one"
    defaults: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "document_id": ("document_id", "source_id"),
        "version": ("version",),
        "start": ("start", "split_idx_start"),
        "end": ("end",),
    }

    def __init__(self, target: Any, **settings: Any) -> None:
        super().__init__(target, **settings)
        if self._is_pipeline(self.target):
            if self.input is None:
                raise UsageError(
                    "a pipeline needs its input", field="input", hint='{ retriever = { query = "$.query" } }'
                )
            if self.answer is None and self.documents is None:
                raise UsageError(
                    "a pipeline needs the path of its answer or of its documents",
                    field="documents",
                    hint='documents = "$.retriever.documents"',
                )
            self._included = {
                str(parts[0]) for path in (self.answer, self.documents) if path and (parts := parse_path(path))
            }
        elif hasattr(self.target, "warm_up"):
            self.target.warm_up()

    @classmethod
    def load(cls) -> Any:
        """The library, which sends nothing about its use."""
        os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
        return super().load()

    def accepts(self, found: Any) -> bool:
        """Whether this is a pipeline or a component."""
        return self._is_pipeline(found) or hasattr(found, "__haystack_input__")

    @staticmethod
    def _is_pipeline(found: Any) -> bool:
        from haystack import Pipeline

        return isinstance(found, Pipeline)

    def _run_input(self, request: Request, run: Any) -> dict[str, Any]:
        template = self.input
        if template is None:
            takes = inspect.signature(run).parameters
            template = {"query": "$.query", **({"top_k": "$.top_k"} if "top_k" in takes else {})}
        found: dict[str, Any] = self.filled(request, template)
        return found

    def call(self, request: Request) -> Any:
        """Run it in this thread."""
        values = self._run_input(request, self.target.run)
        if self._is_pipeline(self.target):
            return self.target.run(values, include_outputs_from=self._included)
        return self.target.run(**values)

    async def call_async(self, request: Request) -> Any:
        """Await it; only pipelines and components that have `run_async`."""
        values = self._run_input(request, self.target.run_async)
        if self._is_pipeline(self.target):
            return await self.target.run_async(values, include_outputs_from=self._included)
        return await self.target.run_async(**values)

    def read(self, value: Any) -> Found:
        """Documents and an answer at the declared paths."""
        if not isinstance(value, Mapping):
            raise UnreadableError(f"a mapping of outputs is expected, got {shape(value)}")
        documents: Any = None
        if self.documents:
            documents = self.at(self.documents, value)
        elif (listed := follow("$.documents", value)) is not ABSENT:
            documents = listed
        said = self.at(self.answer, value) if self.answer else None
        if documents is None and said is None:
            raise UnreadableError(f"no documents in {shape(value)}: declare their path")
        answer, extra = self._said(said) if said is not None else (None, {})
        if documents is None:
            documents = getattr(said, "documents", None)
        return Found(None if documents is None else self._entries(documents), answer, extra)

    def _entries(self, values: Any) -> list[Entry]:
        from haystack import Document

        return [
            self.entry(text=one.content, metadata=one.meta or {}, id=one.id, score=one.score)
            for one in each(values, (Document,))
        ]

    @staticmethod
    def _said(value: Any) -> tuple[str, dict[str, Any]]:
        from haystack.dataclasses import ChatMessage, GeneratedAnswer

        if isinstance(value, str):
            return value, {}
        if isinstance(value, GeneratedAnswer):
            return value.data, {}
        if not isinstance(value, ChatMessage) or value.text is None:
            raise UnreadableError(f"no answer: {shape(value)}")
        meta = value.meta or {}
        usage = meta.get("usage") or {}
        tokens = {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}
        extra = {
            "usage": {key: one for key, one in tokens.items() if one is not None} or None,
            "finish_reason": meta.get("finish_reason"),
            "versions": {"model": meta["model"]} if meta.get("model") else None,
        }
        return value.text, {key: one for key, one in extra.items() if one is not None}

    def messages(self, history: Sequence[Turn]) -> list[Any]:
        """ChatMessage by role."""
        from haystack.dataclasses import ChatMessage

        return [
            (ChatMessage.from_user if one.role == "user" else ChatMessage.from_assistant)(one.text) for one in history
        ]
