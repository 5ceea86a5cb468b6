"""The same service over a LangChain or a LlamaIndex retriever with metadata filters, in a real vector store (Qdrant).

    python examples/tenants/frameworks.py --with langchain                      # right: the filter is in the search
    python examples/tenants/frameworks.py --with llamaindex --hole no_filter    # wrong, as it is often seen

A document carries one list `access`: `*`, `t:TENANT`, or `t:TENANT/READER` where not the whole company may read it. The
right filter asks for any of the caller's own keys. Only the retriever differs from `serve.py`; tokens, cache and routes
are the same, and Qdrant runs in this process.
"""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import sys
import tempfile
import threading
import uuid
from pathlib import Path
from typing import Any

import uvicorn
from corpus import documents
from database import Row, Scope, embedded, first_sentence
from issuer import Issuer
from qdrant_client import QdrantClient, models
from service import Service

HOLES = {
    "no_filter": "the retriever is made without a filter",
    "filter_after_ranking": "the retriever ranks everybody's documents, and the service filters what came",
    "filter_wildcard": "a filter of the caller may name a tenant, with wildcards",
}


def keys_of(one: dict[str, Any]) -> list[str]:
    """What a document's `access` holds."""
    tenants, acl = [str(each) for each in one.get("tenants") or ()], one.get("acl")
    if acl is None:
        return ["*" if each == "*" else f"t:{each}" for each in tenants]
    readers = [f"{kind}:{name}" for kind in ("user", "group", "role") for name in acl.get(f"{kind}s", ())]
    return [f"t:{each}/{reader}" for each in tenants for reader in readers]


def keys_for(scope: Scope) -> list[str]:
    """What a caller may read: any document that carries one of these."""
    return ["*", f"t:{scope.tenant}", *(f"t:{scope.tenant}/{one}" for one in scope.readers)]


class Store:
    """Documents in Qdrant; each framework reads them through its own retriever. One caller at a time."""

    def __init__(self, holes: list[str]) -> None:
        self._holes = frozenset(holes)
        self._lock = threading.Lock()
        self._client = QdrantClient(":memory:")
        self._rows: dict[str, dict[str, Any]] = {}
        size = models.VectorParams(size=256, distance=models.Distance.COSINE)
        self._client.create_collection("documents", vectors_config=size)

    # -- what each framework does

    def payload(self, key: str, text: str, access: list[str]) -> dict[str, Any]:
        """How the framework stores a document."""
        raise NotImplementedError

    def found(self, query: str, k: int, access: list[str] | None) -> list[tuple[str, float]]:
        """Ids and scores of the k nearest; `access` is the filter, None for none."""
        raise NotImplementedError

    # -- what the service asks

    def put(self, given: list[dict[str, Any]]) -> None:
        """Documents, new or in place of others with their ids."""
        texts = [f"{one.get('title') or ''}\n{one['text']}" for one in given]
        with self._lock:
            for one, text, vector in zip(given, texts, embedded(texts), strict=True):
                key = str(one["document_id"])
                self._rows[key] = dict(one)
                point = models.PointStruct(
                    id=_point(key), vector=vector.tolist(), payload=self.payload(key, text, keys_of(one))
                )
                self._client.upsert("documents", [point])

    def remove(self, keys: list[str]) -> int:
        """Deletes documents; returns how many were there."""
        with self._lock:
            there = [key for key in keys if self._rows.pop(key, None) is not None]
            self._client.delete("documents", models.PointIdsList(points=[_point(key) for key in keys]))
        return len(there)

    def permit(self, key: str, tenants: list[str], acl: dict[str, list[str]] | None) -> int:
        """Changes who may read a document; returns how many were there."""
        known = self._rows.get(key)
        if known is None:
            return 0
        self.put([{**{name: value for name, value in known.items() if name != "acl"}, "tenants": tenants}
                  | ({} if acl is None else {"acl": acl})])  # fmt: skip
        return 1

    def dense(self, scope: Scope, query: str, k: int, *, column: str = "embedding", batch: bool = False) -> list[Row]:
        """The k nearest by the framework's retriever; this store has no summaries."""
        del batch
        if column != "embedding":
            return []
        unfiltered = scope.everybody or "no_filter" in self._holes
        with self._lock:
            found = self.found(query, k, None if unfiltered else keys_for(scope))
        return [self._row(key, score) for key, score in found if key in self._rows]

    def lexical(self, scope: Scope, query: str, k: int, *, batch: bool = False) -> list[Row]:
        """This store has no search by words."""
        del scope, query, k, batch
        return []

    def count(self, scope: Scope, query: str) -> int:
        """How many of the ten nearest there are for this caller."""
        return len(self.dense(scope, query, 10))

    def fetch(self, scope: Scope, key: str) -> list[Row]:
        """One document by its id."""
        one = self._rows.get(key)
        if one is None or not (scope.everybody or set(keys_of(one)) & set(keys_for(scope))):
            return []
        return [self._row(key, 1.0)]

    def of_tenants(self, pattern: str, query: str, k: int) -> list[Row]:
        """What the hole filter_wildcard lets through."""
        wanted = {key for one in self._rows.values() for key in keys_of(one) if pattern in ("*", key[2:].split("/")[0])}
        with self._lock:
            found = self.found(query, k, sorted(wanted))
        return [self._row(key, score) for key, score in found if key in self._rows]

    def close(self) -> None:
        """Ends the store."""
        self._client.close()

    def _row(self, key: str, score: float) -> Row:
        one = self._rows[key]
        return {
            "document_id": key, "title": str(one.get("title") or ""), "body": str(one["text"]), "score": score,
            "summary": first_sentence(str(one["text"])), "tenants": list(one.get("tenants") or ()),
        }  # fmt: skip


class LangChainStore(Store):
    """Through `QdrantVectorStore.as_retriever(search_kwargs={"filter": ...})`."""

    def __init__(self, holes: list[str]) -> None:
        from langchain_core.embeddings import Embeddings
        from langchain_qdrant import QdrantVectorStore

        class Words(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return [list(row) for row in embedded(texts).tolist()]

            def embed_query(self, text: str) -> list[float]:
                return self.embed_documents([text])[0]

        super().__init__(holes)
        self._store = QdrantVectorStore(self._client, "documents", embedding=Words())

    def payload(self, key: str, text: str, access: list[str]) -> dict[str, Any]:
        return {"page_content": text, "metadata": {"document_id": key, "access": access}}

    def found(self, query: str, k: int, access: list[str] | None) -> list[tuple[str, float]]:
        search: dict[str, Any] = {"k": k}
        if access is not None:
            one = models.FieldCondition(key="metadata.access", match=models.MatchAny(any=access))
            search["filter"] = models.Filter(must=[one])
        retriever = self._store.as_retriever(search_kwargs=search)
        documents = retriever.invoke(query)
        return [(one.metadata["document_id"], 1 / rank) for rank, one in enumerate(documents, 1)]


class LlamaIndexStore(Store):
    """Through `VectorStoreIndex.as_retriever(filters=MetadataFilters(...))`."""

    def __init__(self, holes: list[str]) -> None:
        from llama_index.core import VectorStoreIndex
        from llama_index.core.embeddings import BaseEmbedding
        from llama_index.vector_stores.qdrant import QdrantVectorStore

        class Words(BaseEmbedding):
            def _get_text_embedding(self, text: str) -> list[float]:
                return list(embedded([text])[0].tolist())

            def _get_query_embedding(self, query: str) -> list[float]:
                return self._get_text_embedding(query)

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return self._get_text_embedding(query)

        super().__init__(holes)
        store = QdrantVectorStore(collection_name="documents", client=self._client)
        self._index = VectorStoreIndex.from_vector_store(store, embed_model=Words(model_name="wordllama"))

    def payload(self, key: str, text: str, access: list[str]) -> dict[str, Any]:
        from llama_index.core.schema import TextNode
        from llama_index.core.vector_stores.utils import node_to_metadata_dict

        node = TextNode(text=text, id_=_point(key), metadata={"document_id": key, "access": access})
        return node_to_metadata_dict(node, remove_text=False, flat_metadata=False)

    def found(self, query: str, k: int, access: list[str] | None) -> list[tuple[str, float]]:
        from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters

        filters = None
        if access is not None:
            one = MetadataFilter(key="access", value=access, operator=FilterOperator.IN)
            filters = MetadataFilters(filters=[one])
        nodes = self._index.as_retriever(similarity_top_k=k, filters=filters).retrieve(query)
        return [(one.node.metadata["document_id"], float(one.score or 0.0)) for one in nodes]


STORES: dict[str, type[Store]] = {"langchain": LangChainStore, "llamaindex": LlamaIndexStore}


def _point(key: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


def main() -> int:
    """Runs until it is stopped."""
    parser = argparse.ArgumentParser(description="The tenant service over a retriever of a framework.")
    parser.add_argument("--with", dest="framework", choices=sorted(STORES), required=True)
    parser.add_argument("--hole", action="append", default=[], choices=sorted(HOLES))
    parser.add_argument("--port", type=int, default=8077, help="0: any that is free")
    given = parser.parse_args()
    operator = os.environ.get("TENANTS_OPERATOR") or secrets.token_urlsafe(16)
    store = STORES[given.framework](given.hole)
    store.put(documents())
    with tempfile.TemporaryDirectory(prefix="tenants-") as folder:
        service = Service(store, Issuer(Path(folder)), operator, given.hole)
        server = uvicorn.Server(uvicorn.Config(service.app(), host="127.0.0.1", port=given.port, log_level="warning"))
        bound = server.config.bind_socket()
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # uvicorn leaves it out on a bound socket: 40 ms
        bound.listen()
        shown = "" if os.environ.get("TENANTS_OPERATOR") else f", operator key {operator}"
        print(f"ready on http://127.0.0.1:{bound.getsockname()[1]}{shown}", flush=True)
        server.run([bound])
    store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
