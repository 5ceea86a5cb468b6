"""Dense retrieval in memory against brute force in plain Python: scores, ties, filters, blank texts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, TEXTS, document

from ragassay.corpus import chunk
from ragassay.errors import IntegrityError, UsageError
from ragassay.records.canonical import digest_of
from ragassay.records.case import Principal
from ragassay.records.document import Acl, Document, Passage, Span
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.pipeline.dense import DenseIndex, margin, ranked
from ragassay.run.systems.pipeline.embedders import embedder
from ragassay.run.systems.pipeline.vectors import VectorCache

from .conftest import Table, need

OPEN: dict[str, Any] = {"principal": None, "as_of": AS_OF}


def passages_of(texts: list[str]) -> tuple[list[Document], list[Passage]]:
    documents = [document(f"d{number}", one) for number, one in enumerate(texts)]
    return documents, [
        Passage(
            passage_id=f"p{number}",  # type: ignore[arg-type]
            text=one.text,
            sources=(Span(document_id=one.document_id, version="1", start=0, end=len(one.text)),),
            transform="slice",
        )
        for number, one in enumerate(documents)
    ]


def brute_force(vectors: Any, query: Any, allowed: list[bool], top_k: int) -> list[tuple[int, float]]:
    """Every product summed exactly, six decimals, best first, ties in order."""
    scored = []
    for number, row in enumerate(vectors):
        if allowed[number] and any(row):
            score = math.fsum(float(a) * float(b) for a, b in zip(row, query, strict=True))
            scored.append((-float(np.round(score, 6)), number))
    return [(number, -score + 0.0) for score, number in sorted(scored)[:top_k]]


def table(rows: list[list[float]], queries: dict[str, list[float]]) -> Table:
    return Table({f"t{number}": row for number, row in enumerate(rows)} | queries)


grids = st.lists(st.lists(st.integers(-2, 2).map(float), min_size=3, max_size=3).filter(any), min_size=1, max_size=30)


@given(grids, st.lists(st.integers(-2, 2).map(float), min_size=3, max_size=3), st.integers(1, 12), st.data())
def test_equals_brute_force_with_many_ties(rows: list[list[float]], query: list[float], top_k: int, data: Any) -> None:
    made = table(rows, {"q": query})
    documents, passages = passages_of([f"t{number}" for number in range(len(rows))])
    allowed = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    kept = [
        one if yes else document(one.document_id, one.text, tenants=())
        for one, yes in zip(documents, allowed, strict=True)
    ]
    index = DenseIndex(kept, passages, made)
    who = Principal(id="u")
    found = index.search("q", top_k=top_k, principal=who, as_of=AS_OF)
    expected = brute_force(made.embed([f"t{n}" for n in range(len(rows))]), made.embed(["q"])[0], allowed, top_k)
    assert [tuple(one) for one in found.hits] == (expected if any(query) else [])
    assert (found.passages, found.visible, found.valid) == (len(rows), sum(allowed), sum(allowed))


def test_near_ties_are_ranked_by_the_exact_score_not_by_the_last_bit_of_float32() -> None:
    draw = np.random.default_rng(3)
    centre = draw.normal(size=384)
    rows = [(centre + draw.normal(size=384) * 10.0 ** draw.integers(-8, -2)).tolist() for _ in range(400)]
    rows += rows[:40]
    query = (centre + draw.normal(size=384) * 0.3).tolist()
    made = table(rows, {"q": query})
    documents, passages = passages_of([f"t{number}" for number in range(len(rows))])
    index = DenseIndex(documents, passages, made)
    vectors, asked = made.embed([f"t{n}" for n in range(len(rows))]), made.embed(["q"])[0]
    for top_k in (1, 7, 50, 440):
        expected = brute_force(vectors, asked, [True] * len(rows), top_k)
        assert [tuple(one) for one in index.search("q", top_k=top_k, **OPEN).hits] == expected
    naive = np.argsort(-(vectors @ asked), kind="stable")[:50].tolist()
    assert naive != [number for number, _ in brute_force(vectors, asked, [True] * len(rows), 50)]


@given(st.integers(1, 600), st.integers(0, 2**32 - 1))
def test_the_margin_covers_the_error_of_float32(dimensions: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(20, dimensions)) ** 3
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    running = np.zeros(20, dtype=np.float32)  # summed one after another: the worst order
    for column in range(dimensions):
        running += rows[:, column] * rows[0, column]
    exact = [math.fsum(float(a) * float(b) for a, b in zip(row, rows[0], strict=True)) for row in rows]
    assert np.abs(running - exact).max() <= (margin(dimensions) - 1e-6) / 2 + 1e-12


def test_a_score_does_not_depend_on_the_other_candidates() -> None:
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(5000, 256)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    every = {one.number: one.score for one in ranked(np.arange(5000), rows, rows[0], 5000)}
    for chosen in (np.array([7]), np.arange(3, 5000, 7), np.arange(4990, 5000)):
        for one in ranked(chosen, rows[chosen], rows[0], 5000):
            assert one.score == every[one.number]


def test_passages_without_text_are_never_found_and_a_blank_question_finds_nothing() -> None:
    made = table([[1.0, 0.0], [-1.0, 0.0]], {"q": [1.0, 0.0]})
    documents, passages = passages_of(["t0", " \n", "t1", ""])
    index = DenseIndex(documents, passages, made)
    found = index.search("q", top_k=10, **OPEN)
    assert found.hits == [(0, 1.0), (2, -1.0)]
    assert found.valid == 4
    assert index.search("  ", top_k=10, **OPEN).hits == []
    assert index.artefact.content.blank == 2
    assert sorted(made.asked) == ["q", "t0", "t1"]


def world() -> tuple[list[Document], list[Passage]]:
    documents = [
        document("rain", TEXTS["rain"], metadata={"team": "sky", "tags": ["wet", "old"], "rank": 1}),
        document("snow", TEXTS["snow"], tenants=("a",), metadata={"team": "sky", "rank": True}),
        document("wind", TEXTS["wind"], acl=Acl(groups=("g",)), metadata={"team": "air", "rank": 1.0}),
        document("tea", TEXTS["tea"], tenants=None, metadata={"tags": ["wet"]}),
        document("bread", TEXTS["bread"], valid_from="2026-01-01T00:00:00Z", valid_until=AS_OF),
    ]
    passages = chunk(documents, chunker="tokens", size=8, overlap=2)
    both = Passage(
        passage_id="both", text="rain and snow", transform="derived",  # type: ignore[arg-type]
        sources=(*passages[0].sources, Span(document_id=documents[1].document_id, version="1", start=0, end=3)),
    )  # fmt: skip
    lost = Passage(
        passage_id="lost", text="from nowhere", transform="derived",  # type: ignore[arg-type]
        sources=(Span(document_id=documents[1].document_id, version="2", start=0, end=3),),
    )  # fmt: skip
    free = Passage(passage_id="free", text="no source at all", transform="derived", sources=())  # type: ignore[arg-type]
    return documents, [*passages, both, lost, free]


@pytest.mark.parametrize(
    "who, at, where, documents",
    [
        (None, AS_OF, None, {"rain", "snow", "wind", "tea"}),
        (None, "2026-03-01T00:00:00Z", None, {"rain", "snow", "wind", "tea", "bread"}),
        (Principal(id="u"), AS_OF, None, {"rain"}),
        (Principal(id="u", tenants=("a",)), AS_OF, None, {"rain", "snow"}),
        (Principal(id="u", groups=("g",)), AS_OF, None, {"rain", "wind"}),
        (None, AS_OF, {"team": "sky"}, {"rain", "snow"}),
        (None, AS_OF, {"team": "sky", "tags": "old"}, {"rain"}),
        (None, AS_OF, {"tags": "wet"}, {"rain", "tea"}),
        (None, AS_OF, {"rank": 1}, {"rain", "wind"}),
        (None, AS_OF, {"rank": True}, {"snow"}),
        (None, AS_OF, {"nothing": "x"}, set()),
        (Principal(id="u"), AS_OF, {"tags": "wet"}, {"rain"}),
    ],
)
def test_filters_come_before_ranking(who: Any, at: str, where: Any, documents: set[str]) -> None:
    need("wordllama")
    kept, passages = world()
    index, lexical = DenseIndex(kept, passages, embedder("wordllama")), Index(kept, passages)
    asked = {"principal": who, "as_of": at, "where": where}
    found = index.search("air that is wet", top_k=100, **asked)
    names = [passages[one.number].sources for one in found.hits]
    single = {one[0].document_id for one in names if len(one) == 1}
    assert single == documents
    assert (len(passages) - 3 in {one.number for one in found.hits}) == ({"rain", "snow"} <= documents)
    assert len(passages) - 2 not in {one.number for one in found.hits}
    assert len(passages) - 1 in {one.number for one in found.hits}
    others = lexical.search("air that is wet", top_k=100, **asked)
    assert found[1:] == others[1:]
    assert {one.number for one in others.hits} <= {one.number for one in found.hits}
    assert len(found.hits) == (found.valid if where is None else found.matching)
    first = index.search("air that is wet", top_k=2, **asked)
    assert first.hits == found.hits[:2]


def test_the_artefact_says_what_the_index_is_and_the_envelope_how_it_came_about() -> None:
    made = table([[1.0, 0.0], [0.6, 0.8]], {"q": [1.0, 0.0]})
    documents, passages = passages_of(["t0", "t1"])
    cache = VectorCache.memory()
    first, second = (DenseIndex(documents, passages, made, cache=cache) for _ in range(2))
    assert first.artefact.content == second.artefact.content
    assert digest_of(first.artefact.content) == digest_of(second.artefact.content)
    assert (first.artefact.envelope.computed, first.artefact.envelope.cache_hits) == (2, 0)
    assert (second.artefact.envelope.computed, second.artefact.envelope.cache_hits) == (0, 2)
    assert first.identity == second.identity
    assert first.content.index[:23] in first.identity
    assert (first.content.passages, first.content.dimensions, first.content.metric) == (2, 2, "cosine")
    other = Table({"t0": [1.0, 0.0], "t1": [1.0, 0.0]}, identity="table/2")
    changed = DenseIndex(documents, [passages[1], passages[0]], made)
    assert len({first.content.index, DenseIndex(documents, passages, other).content.index, changed.content.index}) == 3
    assert [first.embed("q").hits, first.embed("q").hits] == [0, 1]
    with pytest.raises(UsageError, match="questions get 3 dimensions and passages 2"):
        DenseIndex(documents, passages, made, query_embedder=Table({"q": [1.0, 0.0, 0.0]}))
    with pytest.raises(UsageError, match="no passages"):
        DenseIndex(documents, [], made)


def test_vectors_that_were_kept_of_another_model_under_the_same_name_are_refused() -> None:
    documents, passages = passages_of(["t0", "t1"])
    cache, q = VectorCache.memory(), {"q": [1.0, 0.0]}
    DenseIndex(documents, passages[:1], table([[1.0, 0.0]], q), cache=cache).warm()
    grown = DenseIndex(documents, passages, table([[1.0, 0.02], [0.6, 0.8]], q), cache=cache)
    assert (grown.artefact.envelope.computed, grown.artefact.envelope.cache_hits) == (1, 1)  # rounding is no new model
    for other in ([0.0, 1.0], [0.9, 0.1], [-1.0, 0.0], [0.0, 0.0]):
        with pytest.raises(IntegrityError, match="another vector") as caught:
            DenseIndex(documents, passages, table([other, [0.6, 0.8]], q), cache=cache).warm()
        assert "vectors.sqlite" in caught.value.hint
    renamed = Table({"t0": [0.0, 1.0], "t1": [0.6, 0.8], "q": [1.0, 0.0]}, identity="table/2")
    assert DenseIndex(documents, passages, renamed, cache=cache).artefact.envelope.computed == 2
    need("wordllama")
    known = embedder("wordllama", dimensions=64)
    for computed in (2, 0):
        index = DenseIndex(documents, passages, known, cache=cache)
        assert index.artefact.envelope.computed == computed
        known.embed = known.embed_counted = None  # type: ignore[assignment]  its identity says all: nothing is tried


def test_questions_may_be_embedded_in_their_own_way_and_conditions_reach_the_embedders() -> None:
    need("wordllama")
    documents, passages = passages_of(list(TEXTS.values()))
    plain = embedder("wordllama")
    asked = embedder("wordllama", prefix="query: ")
    index = DenseIndex(documents, passages, plain, query_embedder=asked)
    expected = brute_force(
        plain.embed(list(TEXTS.values())), plain.embed(["query: Why does rain fall?"])[0], [True] * 5, 3
    )
    assert [tuple(one) for one in index.search("Why does rain fall?", top_k=3, **OPEN).hits] == expected
    assert index.identity != DenseIndex(documents, passages, plain).identity
    seen: list[Any] = []
    asked.attach = seen.append  # type: ignore[attr-defined]
    conditions = Conditions(timeout_s=1.0, pace=Pace(1, SYSTEM_CLOCK))
    index.attach(conditions)
    assert seen == [conditions]
    index.close()
