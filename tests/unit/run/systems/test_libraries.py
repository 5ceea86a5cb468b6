"""LangChain, LlamaIndex and Haystack through their adapters, each with the real library."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.run.small import AS_OF, TEXTS, Small

from ragassay.corpus import Resolver
from ragassay.errors import MissingExtraError, UsageError
from ragassay.records.case import Turn
from ragassay.records.trace import TraceContent
from ragassay.run.contract import Reply, Request
from ragassay.run.normalise import normalise
from ragassay.run.systems.haystack import HaystackSystem
from ragassay.run.systems.langchain import LangChainSystem
from ragassay.run.systems.library import LibrarySystem, placed
from ragassay.run.systems.llamaindex import LlamaIndexSystem

HISTORY = (Turn(role="user", text="What is rain?"), Turn(role="assistant", text="Water."))


def asked(query: str = "Why?", **more: Any) -> Request:
    return Request(**{"query_id": "q1", "query": query, "as_of": AS_OF, "top_k": 2, **more})


def ask(system: LibrarySystem, request: Request | None = None) -> Any:
    async def go() -> Any:
        try:
            return await system.ask(request or asked())
        finally:
            await system.aclose()

    return asyncio.run(go())


def items(response: Any) -> list[dict[str, Any]]:
    (step,) = response["steps"]
    assert "contexts" not in response, "a retriever does not say what a generation saw"
    return list(step["items_out"])


def content(small: Small, response: Any) -> TraceContent:
    return normalise(response, asked(), Resolver(small.documents, small.passages)).content


class TestLangChain:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("langchain_core", reason="dependency group `adapters` is not installed")

    def retriever(self) -> Any:
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever

        class Fixed(BaseRetriever):
            def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
                return [
                    Document(TEXTS["rain"][:20], id="chunk-1", metadata={"source": "rain", "start_index": 0}),
                    Document(TEXTS["snow"], metadata={"title": "no place"}),
                    Document("nowhere in the corpus", metadata={"source": "rain", "start_index": -1, "rank": 0.5}),
                ]

        return Fixed()

    def test_what_a_retriever_says_and_does_not_say(self, small: Small) -> None:
        response = ask(LangChainSystem(self.retriever()))
        assert items(response) == [
            {"id": "chunk-1", "text": TEXTS["rain"][:20], "document_id": "rain", "start": 0, "end": 20},
            {"text": TEXTS["snow"]},
            {"text": "nowhere in the corpus", "document_id": "rain"},
        ]
        assert response["steps"][0]["query_text"] == "Why?"
        assert "score_direction" not in response["steps"][0]
        made = content(small, response)
        assert made.context is None
        assert made.steps[0].parents == (), "nothing stands before it, and the report need not infer that"
        found = made.steps[0].items_out or ()
        assert [one.resolution for one in found][:2] == ["declared", "exact"]
        assert [(one.start, one.end) for one in found[0].sources] == [(0, 20)]
        assert found[2].transform == "derived", "a text that is not there holds nothing"

    def test_declared_fields_and_direction(self) -> None:
        system = LangChainSystem(self.retriever(), fields={"score": "rank", "document_id": "doc"},
                                 score_direction="lower", step="vector", step_name="dense")  # fmt: skip
        (step,) = ask(system)["steps"]
        assert [one.get("score") for one in step["items_out"]] == [None, None, 0.5]
        assert not any("document_id" in one for one in step["items_out"])
        assert (step["kind"], step["name"], step["score_direction"]) == ("vector", "dense", "lower")

    def test_a_vector_store_gives_scores_and_takes_top_k(self) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.vectorstores import InMemoryVectorStore

        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        store.add_texts(list(TEXTS.values()), [{"document_id": name, "start": 0} for name in TEXTS], ids=list(TEXTS))
        found = items(ask(LangChainSystem(store), asked(TEXTS["tea"])))
        assert len(found) == 2
        assert found[0]["id"] == "tea"
        assert found[0]["score"] == pytest.approx(1.0)
        assert found[0]["end"] == len(TEXTS["tea"])

    def test_a_chain_that_answers_and_shows_its_context(self) -> None:
        from langchain_core.documents import Document
        from langchain_core.messages import AIMessage
        from langchain_core.runnables import RunnableLambda

        def run(value: Any) -> Any:
            turns = [f"{one.type}: {one.content}" for one in value["chat_history"]]
            message = AIMessage([{"type": "text", "text": f"{turns} {value['input']}"}],
                                usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
                                response_metadata={"model_name": "m-1", "finish_reason": "stop"})  # fmt: skip
            return {"answer": message, "context": [Document("seen", metadata={"source": "rain"})]}

        system = LangChainSystem(RunnableLambda(run), input={"input": "$.query", "chat_history": "$.history"})
        assert ask(system, asked(history=HISTORY)) == {
            "answer": "['human: What is rain?', 'ai: Water.'] Why?",
            "contexts": [{"text": "seen", "document_id": "rain"}],
            "usage": {"input_tokens": 5, "output_tokens": 2},
            "finish_reason": "stop",
            "versions": {"model": "m-1"},
        }
        assert system.identity.settings["history"] == "as messages"

    def test_a_text_a_message_and_what_is_neither(self) -> None:
        from langchain_core.messages import AIMessage
        from langchain_core.runnables import RunnableLambda

        assert ask(LangChainSystem(RunnableLambda(lambda text: text + "!"))) == {"answer": "Why?!"}
        assert ask(LangChainSystem(RunnableLambda(lambda text: AIMessage("yes")))) == {"answer": "yes"}
        chain: Any = RunnableLambda(lambda text: {"text": "yes", "docs": []})
        assert ask(LangChainSystem(chain, answer="$.text", documents="$.docs")) == {"answer": "yes", "contexts": []}
        for value, more in ((3, {}), ([3], {}), ({"text": "x"}, {}), ({"x": 1}, {"answer": "$.y"})):
            reply = ask(LangChainSystem(RunnableLambda(lambda _, value=value: value), **more))
            assert isinstance(reply, Reply)
            assert reply.failure is not None
            assert reply.failure.cause == "invalid_response"

    def test_history_before_the_query_and_async(self) -> None:
        from langchain_core.runnables import RunnableLambda

        seen: list[str] = []

        async def run(text: str) -> str:
            await asyncio.sleep(0)
            seen.append(threading.current_thread().name)
            return text

        system = LangChainSystem(RunnableLambda(run), mode="async", history_turns=1)
        assert ask(system, asked(history=HISTORY)) == {"answer": "What is rain? Why?"}
        assert seen == ["ragassay-loop"]
        assert system.identity.settings["history"] == "the last 1 user turns before the query"

    def test_an_exception_is_the_failure_of_its_question(self) -> None:
        from langchain_core.runnables import RunnableLambda

        with pytest.raises(ZeroDivisionError):
            ask(LangChainSystem(RunnableLambda(lambda _: 1 / 0)))


class TestLlamaIndex:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("llama_index.core", reason="dependency group `adapters` is not installed")

    def nodes(self) -> list[Any]:
        from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

        known = TextNode(text=TEXTS["rain"][5:20], id_="n1", start_char_idx=5, end_char_idx=20,
                         relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="rain")})  # fmt: skip
        return [
            NodeWithScore(node=known, score=0.7),
            NodeWithScore(node=TextNode(text=TEXTS["tea"], id_="n2", metadata={"file": "tea.md"})),
        ]

    def retriever(self) -> Any:
        from llama_index.core.retrievers import BaseRetriever

        nodes = self.nodes()

        class Fixed(BaseRetriever):
            def _retrieve(self, query_bundle: Any) -> Any:
                return nodes[: len(query_bundle.query_str)]

        return Fixed()

    def test_what_a_retriever_says_and_does_not_say(self, small: Small) -> None:
        response = ask(LlamaIndexSystem(self.retriever()), asked("hi"))
        assert items(response) == [
            {"id": "n1", "text": TEXTS["rain"][5:20], "document_id": "rain", "start": 5, "end": 20, "score": 0.7},
            {"id": "n2", "text": TEXTS["tea"]},
        ]
        found = content(small, response).steps[0].items_out or ()
        assert [(one.resolution, one.score) for one in found] == [("declared", 0.7), ("exact", None)]
        assert [(one.start, one.end) for one in found[0].sources] == [(5, 20)]

    def test_an_index_takes_top_k_and_its_splitter_says_where(self, small: Small) -> None:
        from llama_index.core import Document, MockEmbedding, VectorStoreIndex
        from llama_index.core.node_parser import SentenceSplitter

        documents = [Document(text=text, id_=name) for name, text in TEXTS.items()]
        index = VectorStoreIndex.from_documents(
            documents, embed_model=MockEmbedding(8), transformations=[SentenceSplitter(chunk_size=12, chunk_overlap=0)]
        )
        found = items(ask(LlamaIndexSystem(index), asked(top_k=3)))
        assert len(found) == 3
        for one in found:
            assert TEXTS[one["document_id"]][one["start"] : one["end"]] == one["text"]

    def test_a_query_engine_answers_from_its_nodes(self) -> None:
        from llama_index.core.llms import MockLLM
        from llama_index.core.query_engine import RetrieverQueryEngine

        engine = RetrieverQueryEngine.from_args(self.retriever(), llm=MockLLM())
        response = ask(LlamaIndexSystem(engine))
        assert "Why?" in response["answer"]
        assert [one["id"] for one in response["contexts"]] == ["n1", "n2"]
        assert "steps" not in response
        streaming = RetrieverQueryEngine.from_args(self.retriever(), llm=MockLLM(), streaming=True)
        reply = ask(LlamaIndexSystem(streaming))
        assert "streaming=False" in (reply.detail or "")

    def test_a_chat_engine_gets_the_gold_history(self) -> None:
        from llama_index.core.chat_engine import SimpleChatEngine
        from llama_index.core.llms import MockLLM
        from llama_index.core.memory import ChatMemoryBuffer

        memory = ChatMemoryBuffer.from_defaults(llm=MockLLM())
        system = LlamaIndexSystem(SimpleChatEngine.from_defaults(llm=MockLLM(), memory=memory))
        said = ask(system, asked(history=HISTORY))["answer"]
        assert "What is rain?" in said
        assert said.index("What is rain?") < said.index("Water.") < said.index("Why?")
        assert system.identity.settings["history"] == "as messages"
        others = [asked(f"Number {n}?", history=HISTORY if n % 2 else ()) for n in range(6)]

        async def together() -> list[Any]:
            found = await asyncio.gather(*map(system.ask, others))
            await system.aclose()
            return found

        for request, response in zip(others, asyncio.run(together()), strict=True):
            assert ("Water." in response["answer"]) == bool(request.history), "no history is another question's"
            assert response["answer"].count("Number") == 1
        retriever = LlamaIndexSystem(self.retriever()).identity.settings["history"]
        assert retriever == "not passed: the object takes one text"

    def test_async(self) -> None:
        assert len(items(ask(LlamaIndexSystem(self.retriever(), mode="async"), asked("air!")))) == 2


class TestHaystack:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("haystack", reason="dependency group `adapters` is not installed")

    def store(self) -> Any:
        from haystack import Document
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        store = InMemoryDocumentStore()
        store.write_documents([Document(content=text, id=f"{name}-1", meta={"source_id": name, "split_idx_start": 0})
                               for name, text in TEXTS.items()])  # fmt: skip
        return store

    def retriever(self) -> Any:
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

        return InMemoryBM25Retriever(self.store())

    def test_a_retriever_says_texts_scores_and_places_and_takes_top_k(self, small: Small) -> None:
        response = ask(
            HaystackSystem(self.retriever(), score_direction="higher", step="lexical"), asked("green tea and air")
        )
        found = items(response)
        assert len(found) == 2
        assert {key: one for key, one in found[0].items() if key != "score"} == {
            "id": "tea-1", "text": TEXTS["tea"], "document_id": "tea", "start": 0, "end": len(TEXTS["tea"]),
        }  # fmt: skip
        assert found[0]["score"] > found[1]["score"]
        assert content(small, response).steps[0].score_direction == "higher"

    def test_a_pipeline_with_an_answer(self) -> None:
        from haystack import Pipeline, component
        from haystack.dataclasses import ChatMessage, Document

        @component
        class Speaker:
            def __init__(self) -> None:
                types = {"question": str, "documents": list[Document], "history": list[ChatMessage]}
                component.set_input_types(self, **types)  # annotations of this file are texts
                component.set_output_types(self, replies=list[ChatMessage])

            def run(self, **given: Any) -> Any:
                question, documents, history = given["question"], given["documents"], given["history"]
                text = f"{[one.text for one in history]} {question} {len(documents)}"
                meta = {"model": "m-2", "finish_reason": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
                return {"replies": [ChatMessage.from_assistant(text, meta=meta)]}

        pipeline = Pipeline()
        pipeline.add_component("retriever", self.retriever())
        pipeline.add_component("speaker", Speaker())
        pipeline.connect("retriever.documents", "speaker.documents")
        system = HaystackSystem(
            pipeline,
            input={"retriever": {"query": "$.query", "top_k": "$.top_k"},
                   "speaker": {"question": "$.query", "history": "$.history"}},
            documents="$.retriever.documents",
            answer="$.speaker.replies[0]",
        )  # fmt: skip
        response = ask(system, asked("green tea and air", history=HISTORY))
        assert response["answer"] == "['What is rain?', 'Water.'] green tea and air 2"
        assert response["usage"] == {"input_tokens": 9, "output_tokens": 3}
        assert response["versions"] == {"model": "m-2"}
        assert [one["document_id"] for one in response["contexts"]][:1] == ["tea"]
        assert system.identity.settings["history"] == "as messages"

    def test_what_must_be_declared(self) -> None:
        from haystack import Pipeline

        with pytest.raises(UsageError, match="needs its input"):
            HaystackSystem(Pipeline())
        with pytest.raises(UsageError, match="path of its answer"):
            HaystackSystem(Pipeline(), input={"a": {"b": "$.query"}})
        pipeline = Pipeline()
        pipeline.add_component("retriever", self.retriever())
        system = HaystackSystem(pipeline, input={"retriever": {"query": "$.query"}}, documents="$.retriver.documents")
        assert "nothing stands at $.retriver.documents" in ask(system).detail

    def test_nothing_is_sent_about_its_use(self) -> None:
        import os

        HaystackSystem(self.retriever())
        assert os.environ["HAYSTACK_TELEMETRY_ENABLED"] == "False"

    def test_async(self) -> None:
        assert len(items(ask(HaystackSystem(self.retriever(), mode="async"), asked("green tea and air")))) == 2


SYSTEMS: Sequence[tuple[type[LibrarySystem], str]] = (
    (LangChainSystem, "langchain_core"), (LlamaIndexSystem, "llama_index.core"), (HaystackSystem, "haystack"),
)  # fmt: skip


@pytest.mark.parametrize(("system", "module"), SYSTEMS)
def test_objects_from_a_module(
    system: type[LibrarySystem], module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(module, reason="dependency group `adapters` is not installed")
    monkeypatch.setattr(sys, "path", list(sys.path))
    test = {LangChainSystem: TestLangChain, LlamaIndexSystem: TestLlamaIndex, HaystackSystem: TestHaystack}[system]()
    name = f"my_{system.kind}_objects"
    place = f"from {__name__} import {type(test).__name__}\n"
    (tmp_path / f"{name}.py").write_text(
        f"{place}def factory():\n    return {type(test).__name__}().retriever()\nready = factory()\n"
        "def needs(x):\n    return x\ndef wrong():\n    return 3\nnumber = 3\n"
    )
    for spec in (f"{name}:factory", f"{name}:ready"):
        made = system(spec, folder=tmp_path)
        assert len(items(ask(made, asked("air!")))) >= 2
        assert made.identity.adapter == system.kind
        assert made.identity.settings["object"] == spec
        assert made.identity.code is not None
    for spec, message in (("needs", "cannot be called"), ("wrong", "is a int"), ("number", "is a int"),
                          ("nothing", "has no nothing")):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            system(f"{name}:{spec}", folder=tmp_path)
    for more, message in (({"mode": "fast"}, "none of"), ({"step": "generate"}, "none of"),
                          ({"score_direction": "up"}, "none of"), ({"fields": {"text": "t"}}, "not what an entry"),
                          ({"history_turns": -1}, "-1 turns")):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            system(f"{name}:ready", folder=tmp_path, **more)


@pytest.mark.parametrize(("system", "module"), SYSTEMS)
def test_without_the_library_the_error_says_what_to_install(
    system: type[LibrarySystem], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, system.module, None)
    with pytest.raises(MissingExtraError, match=system.distribution) as caught:
        system("x:y")
    assert f"ragassay[{system.kind}]" in caught.value.hint


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"document_id": "d", "start": 3, "text": "abc"}, (3, 6)),
        ({"document_id": "d", "start": 3.0, "end": 9.0}, (3, 9)),
        ({"document_id": "d", "start": -1, "text": "abc"}, None),
        ({"document_id": "d", "start": True, "text": "abc"}, None),
        ({"document_id": "d", "start": "3", "text": "abc"}, None),
        ({"document_id": "d", "start": float("nan"), "end": 3}, None),
        ({"document_id": "d", "start": 9, "end": 3}, None),
        ({"document_id": "d", "end": 3}, None),
        ({"start": 3, "text": "abc"}, None),
    ],
)
def test_a_place_is_whole_or_none(said: dict[str, Any], place: Any) -> None:
    found = placed(said)
    assert ((found["start"], found["end"]) if "start" in found else None) == place
    assert ("end" in found) == ("start" in found)
