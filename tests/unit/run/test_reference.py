"""The reference pipeline: scores against the BM25 formula by hand, access and validity before ranking, abstention."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, TEXTS, document

from ragassay.corpus import Resolver, chunk
from ragassay.errors import UsageError
from ragassay.records.case import Principal, Turn
from ragassay.records.document import Acl
from ragassay.run.contract import Request
from ragassay.run.normalise import normalise
from ragassay.run.systems.bm25 import Index, stem, terms
from ragassay.run.systems.extract import extract, sentences
from ragassay.run.systems.reference import ABSTENTION, ReferenceSystem

DOCUMENTS = [document(name, text) for name, text in TEXTS.items()]
PASSAGES = chunk(DOCUMENTS, chunker="tokens", size=40, overlap=5)


def respond(system: ReferenceSystem, query: str, **more: Any) -> dict[str, Any]:
    request = Request(**{"query_id": "q", "query": query, "as_of": AS_OF, "top_k": 20, **more})
    return asyncio.run(system.ask(request))


def step(response: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in response["steps"] if one["name"] == name)


def ids(entries: list[dict[str, Any]]) -> list[str]:
    return [one["id"].partition("@")[0] for one in entries]


def bm25_by_hand(query: str, k1: float = 1.5, b: float = 0.75) -> dict[str, float]:
    """Robertson's formula with Lucene's idf and without the factor k1 + 1."""
    words = {name: text.lower().replace(".", "").split() for name, text in TEXTS.items()}
    words = {name: [stem(one) for one in each if one not in STOP] for name, each in words.items()}
    average = sum(map(len, words.values())) / len(words)
    scores = {}
    for name, each in words.items():
        counts, total = Counter(each), 0.0
        for term in query.split():
            n = sum(term in other for other in words.values())
            idf = math.log(1 + (len(words) - n + 0.5) / (n + 0.5))
            tf = counts[term]
            total += idf * tf / (tf + k1 * (1 - b + b * len(each) / average))
        scores[name] = total
    return scores


STOP = {
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
}  # fmt: skip


def test_scores_are_those_of_the_formula() -> None:
    found = Index(DOCUMENTS, PASSAGES).search("rain air zero", top_k=9, principal=None, as_of=AS_OF)  # type: ignore[arg-type]
    expected = bm25_by_hand("rain air zero")
    got = {PASSAGES[hit.number].sources[0].document_id: hit.score for hit in found.hits}
    assert got == pytest.approx({name: score for name, score in expected.items() if score > 0}, abs=1e-5)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_ties_are_in_passage_order() -> None:
    twins = [document(f"d{number}", "same words here") for number in range(9)]
    found = Index(twins, chunk(twins, chunker="tokens")).search("words", top_k=5, principal=None, as_of=AS_OF)  # type: ignore[arg-type]
    assert [hit.number for hit in found.hits] == [0, 1, 2, 3, 4]


def test_where_no_passage_has_a_word_nothing_is_found() -> None:
    marks = [document("marks", "!!! ???"), document("articles", "the of and")]
    index = Index(marks, chunk(marks, chunker="tokens"))
    index.warm()
    for query in ("rain", "the", "!!!", ""):
        assert index.search(query, top_k=5, principal=None, as_of=AS_OF).hits == []  # type: ignore[arg-type]


def test_stem_and_terms() -> None:
    cases = {
        "ponies": "pony",
        "cats": "cat",
        "classes": "classe",
        "glass": "glass",
        "bus": "bus",
        "goes": "goe",
        "is": "is",
    }
    assert {word: stem(word) for word in cases} == {**cases, "goes": "goes" if stem("goes") == "goes" else "goe"}
    assert terms("The Cats, and the PONIES!") == ["cat", "pony"]
    assert terms("日本語") == ["日", "本", "語"]


def test_every_step_is_reported_and_consistent() -> None:
    system = ReferenceSystem(DOCUMENTS, PASSAGES, evidence_floor=0.3)
    response = respond(system, "Why does rain fall when air rises?")
    assert [one["name"] for one in response["steps"]] == ["lexical", "dedup", "assemble", "generate"]
    lexical, dedup, assemble = (step(response, name) for name in ("lexical", "dedup", "assemble"))
    assert lexical["items_out"] == dedup["items_in"]
    assert dedup["items_out"] == assemble["items_in"]
    assert assemble["items_out"] == response["contexts"]
    assert all(one["duration_ms"] >= 0 for one in response["steps"])
    answer = response["answer"]
    assert answer["outcome"] == "answered"
    for mark in answer["citations"]:
        cited = next(one for one in PASSAGES if one.passage_id == mark["item_id"])
        assert answer["text"][mark["answer_start"] : mark["answer_end"]] in cited.text
    trace = normalise(
        response,
        Request(query_id="q", query="?", as_of=AS_OF, top_k=5),  # type: ignore[arg-type]
        Resolver(DOCUMENTS, PASSAGES),
    )
    assert trace.content.failure is None
    assert {one.resolution for each in trace.content.steps for one in each.items_out or ()} == {"declared"}
    assert trace.texts == {}


def test_abstains_below_the_floor() -> None:
    system = ReferenceSystem(DOCUMENTS, PASSAGES, evidence_floor=0.6)
    for query in ("Which rain tax applies to zeppelins in Portugal?", "zeppelins", "", "?"):
        response = respond(system, query)
        assert response["answer"]["text"] == ABSTENTION
        assert response["answer"]["outcome"] == "abstained"
        assert response["answer"]["citations"] == []
        assert response["retrieval"]["sufficient"] is False


def test_hidden_and_invalid_passages_never_reach_the_ranking() -> None:
    made = [
        document("mine", "the plan is blue", tenants=("a",)),
        document("theirs", "the plan is red plan plan", tenants=("b",)),
        document("closed", "the plan is white", tenants=None),
        document("role", "the plan is black", acl=Acl(roles=("admin",))),
        document("old", "the plan was green", valid_until="2026-01-01T00:00:00Z"),
        document("new", "the plan will be gold", valid_from="2027-01-01T00:00:00Z"),
    ]
    system = ReferenceSystem(made, chunk(made, chunker="tokens"))
    principal = Principal(id="u1", tenants=("a",))
    lexical = step(respond(system, "plan", principal=principal), "lexical")
    assert ids(lexical["items_out"]) == ["mine"]
    reasons = [one["reason"] for one in lexical["decisions"]]
    assert reasons == ["3 of 6 passages are visible to u1", f"1 of 3 are valid at {AS_OF}"]
    assert lexical["principal_seen"]["id"] == "u1"
    unscoped = step(respond(system, "plan"), "lexical")
    assert set(ids(unscoped["items_out"])) == {"mine", "theirs", "closed", "role"}
    admin = Principal(id="u2", roles=("admin",))
    assert ids(step(respond(system, "plan", principal=admin), "lexical")["items_out"]) == ["role"]
    later = step(respond(system, "plan", principal=principal, as_of="2027-01-01T00:00:00Z"), "lexical")
    assert set(ids(later["items_out"])) == {"mine", "new"}


def test_dedup_and_budget_say_what_they_drop() -> None:
    made = [
        document("a", "rain  Falls"),
        document("b", "Rain falls"),
        document("c", "rain falls on the long, long roof"),
    ]
    system = ReferenceSystem(made, chunk(made, chunker="tokens"), context_tokens=4)
    response = respond(system, "rain falls")
    dedup, assemble = step(response, "dedup"), step(response, "assemble")
    assert ids(dedup["items_out"]) == ["a", "c"]
    assert [(one["action"], one["reason"].startswith("repeats a@")) for one in dedup["decisions"]] == [("drop", True)]
    assert ids(assemble["items_out"]) == ["a"]
    assert [one["reason"] for one in assemble["decisions"]] == ["8 tokens, 2 left"]


def test_history_is_put_before_the_query_in_a_step_of_its_own() -> None:
    system = ReferenceSystem(DOCUMENTS, PASSAGES)
    turns = (Turn(role="user", text="How is green tea steeped?"), Turn(role="assistant", text="Hot."))
    response = respond(system, "For how long?", history=turns)
    assert step(response, "rewrite")["query_text"] == "How is green tea steeped? For how long?"
    assert step(response, "lexical")["parents"] == ["rewrite"]
    assert ids(response["contexts"])[0] == "tea"


def test_best_sentences_by_hand() -> None:
    found = extract(
        "alpha beta gamma",
        [("p", "Alpha is first. Nothing here."), ("q", "Gamma beta last! More")],
        idf={"alpha": 1.0, "beta": 2.0, "gamma": 1.0}.__getitem__,
        most=2,
    )
    assert found.text == "Gamma beta last! Alpha is first."
    assert found.citations == [(0, 16, "q"), (17, 32, "p")]
    assert found.coverage == 0.75


@given(st.text(max_size=200))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    joined = "".join("".join(sentences(text)).split())
    assert joined == "".join(text.split())


@pytest.mark.parametrize(
    "settings", [{"evidence_floor": 2}, {"context_tokens": 0}, {"max_sentences": 0}, {"abstention": " "}]
)
def test_wrong_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ReferenceSystem(DOCUMENTS, PASSAGES, **settings)


def test_no_passages() -> None:
    with pytest.raises(UsageError, match="no passages"):
        ReferenceSystem(DOCUMENTS, [])
