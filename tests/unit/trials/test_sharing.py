"""The cache of steps, and that what comes from it is what would have been computed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import IntegrityError, StoreError
from ragassay.records.base import Instant
from ragassay.records.document import Document, Passage, Span
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.pipeline.parts import LexicalRetriever
from ragassay.run.systems.pipeline.rerank import MaxSim
from ragassay.trials.cache import StepCache, key_of
from ragassay.trials.sharing import SharedMaxSim, SharedRetriever

AS_OF = Instant("2026-01-01T00:00:00Z")
WORDS = ["ash", "birch", "cedar", "elm", "fir"]


def index() -> Index:
    texts = [" ".join(WORDS[number % 5 :] + WORDS[: number % 3]) for number in range(12)]
    documents = [
        Document(document_id=f"d{n}", version="1", text=text, parser="p/1", normaliser="n/1", tenants=("*",))  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    ]
    passages = [
        Passage(
            passage_id=f"p{n}",  # type: ignore[arg-type]
            text=one.text,
            sources=(Span(document_id=one.document_id, version="1", start=0, end=len(one.text)),),
            transform="exact",
        )
        for n, one in enumerate(documents)
    ]
    return Index(documents, passages)


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.integers(1, 14)), max_size=12))
def test_a_shared_list_is_the_list_that_would_be_found(asked: list[tuple[str, int]]) -> None:
    plain = LexicalRetriever(index())
    cache = StepCache(None)
    shared = SharedRetriever(LexicalRetriever(plain.index), cache, b"scope")
    deepest: dict[str, int] = {}
    for query, top_k in asked:
        want = plain.find(query, top_k=top_k, principal=None, as_of=AS_OF, where=None)
        got = shared.find(query, top_k=top_k, principal=None, as_of=AS_OF, where=None)
        assert got.hits == want.hits
        known = deepest.get(query)
        whole = (
            known is not None
            and len(plain.find(query, top_k=99, principal=None, as_of=AS_OF, where=None).hits.hits) < known
        )
        assert got.cache_hits == int(known is not None and (known >= top_k or whole))
        deepest[query] = max(known or 0, top_k)
    cache.close()


def test_another_moment_or_filter_is_another_list() -> None:
    cache = StepCache(None)
    shared = SharedRetriever(LexicalRetriever(index()), cache, b"scope")
    for as_of, where in ((AS_OF, None), (Instant("2027-01-01T00:00:00Z"), None), (AS_OF, {"year": 2026})):
        assert shared.find("elm", top_k=3, principal=None, as_of=as_of, where=where).cache_hits == 0
    assert (cache.hits, cache.computed) == (0, 3)
    cache.close()


class Letters:
    """Token vectors of one number a letter; counts the texts that it was asked for."""

    identity, dimensions = "letters", 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def token_vectors(self, texts: list[str]) -> list[object]:
        import numpy as np

        self.asked += texts
        return [np.array([[1.0, 0.0] if one == "a" else [0.0, 1.0] for one in text], np.float32) for text in texts]


def test_scores_are_remembered_text_by_text() -> None:
    cache, letters = StepCache(None), Letters()
    shared = SharedMaxSim(MaxSim(letters), cache, b"scope")  # type: ignore[arg-type]
    assert shared.score_counted("ab", ["a", "aab"]) == ([0.5, 1.0], 0, 0, True)
    before = len(letters.asked)
    again = shared.score_counted("ab", ["aab", "a"])
    assert (again.scores, again.cache_hits, len(letters.asked)) == ([1.0, 0.5], 2, before)
    mixed = shared.score_counted("ab", ["b", "aab"])
    assert (mixed.scores, mixed.cache_hits) == ([0.5, 1.0], 1)
    cache.close()


def test_what_was_flushed_is_there_in_the_next_process(tmp_path: Path) -> None:
    first = StepCache.of_store(tmp_path)
    first.put(b"one", [(key_of("a"), b"1"), (key_of("b"), b"2")])
    first.put(b"two", [(key_of("a"), b"3")])
    first.flush()
    second = StepCache.of_store(tmp_path)
    assert second.get(b"one", [key_of("b"), key_of("a"), key_of("c")]) == [b"2", b"1", None]
    assert second.get(b"two", [key_of("a")]) == [b"3"]
    first.close()
    second.close()


def test_a_damaged_cache_is_named_and_never_read(tmp_path: Path) -> None:
    cache = StepCache.of_store(tmp_path)
    cache.put(b"one", [(key_of("a"), b"1")])
    cache.close()
    path = tmp_path / "cache" / "steps.sqlite"
    base = sqlite3.connect(path)
    base.execute("UPDATE steps SET value = x'32'")
    base.commit()
    base.close()
    again = StepCache.of_store(tmp_path)
    with pytest.raises(IntegrityError) as caught:
        again.get(b"one", [key_of("a")])
    assert str(path) in str(caught.value)
    again.close()
    for one in path.parent.glob("steps.sqlite*"):
        one.unlink()
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(IntegrityError, match="delete the file"):
        StepCache.of_store(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    with pytest.raises(StoreError):
        StepCache.of_store(blocked)
