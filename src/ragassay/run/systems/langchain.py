"""LangChain as the system under test: a retriever, a vector store, or a runnable that answers. Needs langchain-core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.records.case import Turn
from ragassay.run.contract import Request
from ragassay.run.mapping import ABSENT, follow
from ragassay.run.systems.library import Entry, Found, LibrarySystem, UnreadableError, each, shape

ANSWERS = ("$.answer", "$.output", "$.result", "$.output_text")
DOCUMENTS = ("$.context", "$.documents", "$.source_documents")


class LangChainSystem(LibrarySystem):
    """A `BaseRetriever` (no scores), a `VectorStore` (scores, and `top_k` of the request), or a runnable.

    A runnable returns documents, a text, a message, or a mapping: its answer stands under answer, output, result or
    output_text, its documents under context, documents or source_documents, unless `answer` and `documents` say
    otherwise. Place by default: metadata `document_id` or `source`, and `start` or `start_index` (text splitters write
    it with add_start_index=True); the end is the start plus the length of the text.
    """

    kind: ClassVar[str] = "langchain"
    distribution: ClassVar[str] = "langchain-core"
    module: ClassVar[str] = "langchain_core.runnables"
    expected: ClassVar[str] = "a retriever, a vector store or a runnable of LangChain, or a function that makes one"
    defaults: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "document_id": ("document_id", "source"),
        "version": ("version",),
        "start": ("start", "start_index"),
        "end": ("end",),
    }

    def accepts(self, found: Any) -> bool:
        """Whether this is a runnable or a vector store."""
        from langchain_core.runnables import Runnable

        return isinstance(found, Runnable) or self._is_store(found)

    @staticmethod
    def _is_store(found: Any) -> bool:
        from langchain_core.vectorstores import VectorStore

        return isinstance(found, VectorStore)

    def call(self, request: Request) -> Any:
        """Invoke the object in this thread."""
        if self._is_store(self.target):
            return self.target.similarity_search_with_score(self.query(request), k=request.top_k)
        return self.target.invoke(self.filled(request))

    async def call_async(self, request: Request) -> Any:
        """Await the object."""
        if self._is_store(self.target):
            return await self.target.asimilarity_search_with_score(self.query(request), k=request.top_k)
        return await self.target.ainvoke(self.filled(request))

    def read(self, value: Any) -> Found:
        """Documents, scored documents, a text, a message, or a mapping of them."""
        if isinstance(value, list | tuple):
            return Found(self._entries(value))
        if self.answer is None and self.documents is None and not isinstance(value, Mapping):
            return Found(None, *self._said(value))
        if not isinstance(value, Mapping):
            raise UnreadableError(f"a mapping was declared, got {shape(value)}")
        documents = self.at(self.documents, value) if self.documents else _first(DOCUMENTS, value)
        said = self.at(self.answer, value) if self.answer else _first(ANSWERS, value)
        entries = None if documents is None else self._entries(documents)
        if said is None and entries is None:
            raise UnreadableError(f"neither an answer nor documents in {shape(value)}: declare their paths")
        return Found(entries, *(self._said(said) if said is not None else (None, {})))

    def _entries(self, values: Any) -> list[Entry]:
        from langchain_core.documents import Document

        scored = [one if isinstance(one, tuple) and len(one) == 2 else (one, None) for one in values]
        documents = list(each([one for one, _ in scored], (Document,)))
        return [
            self.entry(text=one.page_content, metadata=one.metadata or {}, id=one.id, score=score)
            for one, (_, score) in zip(documents, scored, strict=True)
        ]

    @staticmethod
    def _said(value: Any) -> tuple[str, dict[str, Any]]:
        """The text of an answer, and what its message says about itself."""
        from langchain_core.messages import BaseMessage

        if isinstance(value, str):
            return value, {}
        if not isinstance(value, BaseMessage):
            raise UnreadableError(f"neither documents, a text nor a message: {shape(value)}")
        parts = [value.content] if isinstance(value.content, str) else value.content
        texts = [one if isinstance(one, str) else str(one.get("text", "")) for one in parts if _is_text(one)]
        usage = getattr(value, "usage_metadata", None) or {}
        meta = value.response_metadata or {}
        extra = {
            "usage": {key: usage[key] for key in ("input_tokens", "output_tokens") if key in usage} or None,
            "finish_reason": meta.get("finish_reason"),
            "versions": {"model": meta["model_name"]} if meta.get("model_name") else None,
        }
        return "".join(texts), {key: one for key, one in extra.items() if one is not None}

    def messages(self, history: Sequence[Turn]) -> list[Any]:
        """HumanMessage and AIMessage."""
        from langchain_core.messages import AIMessage, HumanMessage

        return [(HumanMessage if one.role == "user" else AIMessage)(content=one.text) for one in history]


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and part.get("type") == "text")


def _first(paths: Sequence[str], value: Any) -> Any:
    found = (follow(path, value) for path in paths)
    return next((one for one in found if one is not ABSENT), None)
