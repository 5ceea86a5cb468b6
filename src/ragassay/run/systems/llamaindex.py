"""LlamaIndex as the system under test: a retriever, an index, a query or chat engine. Needs llama-index-core."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import UsageError
from ragassay.records.case import Turn
from ragassay.run.account import current
from ragassay.run.contract import Request
from ragassay.run.systems.library import Entry, Found, LibrarySystem, UnreadableError, each, shape


class LlamaIndexSystem(LibrarySystem):
    """A `BaseRetriever`, an index (which gets `top_k` of the request), a query engine, or a chat engine (gold history).

    A chat engine has one memory, which each question sets to its own history: it is asked one question at a time.
    Place by default: the node's ref_doc_id, start_char_idx and end_char_idx, or metadata of our names. A query engine's
    `source_nodes` are its context; an answer of `Empty Response` is what LlamaIndex says when it found nothing, and
    stays a text: declare it among the abstention rules.
    """

    kind: ClassVar[str] = "llamaindex"
    distribution: ClassVar[str] = "llama-index-core"
    module: ClassVar[str] = "llama_index.core"
    expected: ClassVar[str] = "a retriever, an index, a query engine or a chat engine of LlamaIndex, or a function"
    defaults: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "document_id": ("document_id",),
        "version": ("version",),
        "start": ("start",),
        "end": ("end",),
    }

    def __init__(self, target: Any, **settings: Any) -> None:
        for key in ("input", "answer", "documents"):
            if settings.get(key) is not None:
                raise UsageError("LlamaIndex takes a text and says where its parts are", field=key, hint="leave it out")
        super().__init__(target, **settings)
        self._turn = asyncio.Lock()

    def accepts(self, found: Any) -> bool:
        """Whether this is one of the four."""
        return _kind(found) is not None

    @property
    def takes_messages(self) -> bool:
        """Chat engines take earlier turns as messages."""
        return _kind(self.target) == "chat"

    async def ask(self, request: Request) -> Any:
        """As every object of a library; a chat engine, which has one memory, one question at a time."""
        if _kind(self.target) != "chat":
            return await super().ask(request)
        with current().waiting():
            await self._turn.acquire()
        try:
            return await super().ask(request)
        finally:
            self._turn.release()

    async def aclose(self) -> None:
        """Let go of the loop, if there was one."""
        self._turn = asyncio.Lock()
        await super().aclose()

    def _retriever(self, request: Request) -> Any:
        if _kind(self.target) == "index":
            return self.target.as_retriever(similarity_top_k=request.top_k)
        return self.target

    def call(self, request: Request) -> Any:
        """Ask the object in this thread."""
        if _kind(self.target) == "chat":
            return self.target.chat(self.query(request), chat_history=self.messages(request.history))
        if _kind(self.target) == "query":
            return self.target.query(self.query(request))
        return self._retriever(request).retrieve(self.query(request))

    async def call_async(self, request: Request) -> Any:
        """Await the object."""
        if _kind(self.target) == "chat":
            return await self.target.achat(self.query(request), chat_history=self.messages(request.history))
        if _kind(self.target) == "query":
            return await self.target.aquery(self.query(request))
        return await self._retriever(request).aretrieve(self.query(request))

    def read(self, value: Any) -> Found:
        """Nodes, or an answer with its source nodes."""
        if isinstance(value, list | tuple):
            return Found(self._entries(value))
        answer, nodes = getattr(value, "response", None), getattr(value, "source_nodes", None)
        if hasattr(value, "response_gen") and not isinstance(answer, str):
            raise UnreadableError(f"{shape(value)} streams: make the engine with streaming=False")
        if nodes is None and not isinstance(answer, str):
            raise UnreadableError(f"neither nodes nor an answer: {shape(value)}")
        return Found(None if nodes is None else self._entries(nodes), answer if isinstance(answer, str) else None)

    def _entries(self, values: Any) -> list[Entry]:
        from llama_index.core.schema import MetadataMode, NodeWithScore

        return [
            self.entry(
                text=one.node.get_content(metadata_mode=MetadataMode.NONE),
                metadata=one.node.metadata or {},
                id=one.node.node_id,
                document_id=one.node.ref_doc_id,
                start=getattr(one.node, "start_char_idx", None),
                end=getattr(one.node, "end_char_idx", None),
                score=one.score,
            )
            for one in each(values, (NodeWithScore,))
        ]

    def messages(self, history: Sequence[Turn]) -> list[Any]:
        """ChatMessage by role."""
        from llama_index.core.base.llms.types import ChatMessage

        return [ChatMessage(role=one.role, content=one.text) for one in history]


def _kind(found: Any) -> str | None:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.chat_engine.types import BaseChatEngine
    from llama_index.core.indices.base import BaseIndex

    kinds = {"retriever": BaseRetriever, "query": BaseQueryEngine, "chat": BaseChatEngine, "index": BaseIndex}
    return next((name for name, one in kinds.items() if isinstance(found, one)), None)
