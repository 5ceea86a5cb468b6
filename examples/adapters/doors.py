"""The same search as a retriever of LangChain, LlamaIndex and Haystack, each as its documentation says to write one."""

from __future__ import annotations

from typing import Any

from search import opened

TOP_K = 20
"""A retriever of LangChain and LlamaIndex has its own k: a request cannot set it."""


def langchain() -> Any:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            return [
                Document(one["text"], metadata={"source": one["document_id"], "start_index": one["start"]})
                for one, _ in opened().best(query, TOP_K)
            ]

    return Retriever()


def llamaindex() -> Any:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            return [
                NodeWithScore(
                    node=TextNode(
                        text=one["text"],
                        id_=one["id"],
                        start_char_idx=one["start"],
                        end_char_idx=one["end"],
                        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=one["document_id"])},
                    ),
                    score=score,
                )
                for one, score in opened().best(query_bundle.query_str, TOP_K)
            ]

    return Retriever()


def haystack() -> Any:
    from haystack import Document, component

    @component
    class Retriever:
        def __init__(self) -> None:
            component.set_output_types(self, documents=list[Document])

        def run(self, query: str, top_k: int = TOP_K) -> dict[str, Any]:
            return {
                "documents": [
                    Document(
                        content=one["text"],
                        score=score,
                        meta={"source_id": one["document_id"], "split_idx_start": one["start"]},
                    )
                    for one, score in opened().best(query, top_k)
                ]
            }

    return Retriever()
