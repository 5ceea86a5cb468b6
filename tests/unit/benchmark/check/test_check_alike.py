"""The search for nearly equal texts finds exactly what comparing all with all finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import pairwise_distances

from ragassay.benchmark.check.alike import nearly_equal, trigrams

NO_END = {"most_compared": 10**9, "most_pairs": 10**9}


def test_trigrams_are_those_of_pg_trgm() -> None:
    """The examples of PostgreSQL's manual, on pg_trgm."""
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}
    assert trigrams("foo bar") == {"  f", " fo", "foo", "oo ", "  b", " ba", "bar", "ar "}
    assert trigrams("") == frozenset()


def test_similarity_is_that_of_pg_trgm() -> None:
    """The manual: similarity('word', 'two words') is 0.363636."""
    (pair,) = nearly_equal(["word", "two words"], 0.36, **NO_END).pairs
    assert pair.similarity == pytest.approx(0.363636, abs=1e-6)
    assert nearly_equal(["word", "two words"], 0.37, **NO_END).pairs == []
    assert nearly_equal(["cat", "cat cat"], 1.0, **NO_END).pairs == [(0, 1, 1.0)]


WORDS = st.sampled_from(["what", "is", "the", "rate", "rates", "of", "plan", "plans", "a", "x1", "é", "费率", "𝔘"])
TEXTS = st.lists(st.lists(WORDS, max_size=7).map(" ".join), max_size=14)


@given(TEXTS, st.sampled_from([0.2, 0.5, 0.75, 0.9, 1.0]))
def test_prefix_filtering_loses_no_pair(texts: list[str], least: float) -> None:
    expected = {
        (one, other): len(trigrams(texts[one]) & trigrams(texts[other]))
        / len(trigrams(texts[one]) | trigrams(texts[other]))
        for one, other in combinations(range(len(texts)), 2)
        if texts[one] and texts[other]
    }
    found = nearly_equal(texts, least, **NO_END)
    assert not found.stopped
    assert {(pair.first, pair.second): pair.similarity for pair in found.pairs} == {
        key: value for key, value in expected.items() if value >= least
    }


def test_it_agrees_with_scikit_learn() -> None:
    generator = np.random.default_rng(7)
    names = np.array(["seat", "plan", "price", "export", "month", "year", "retry", "publish", "queue", "limit", "role"])
    texts = [" ".join(generator.choice(names, size=generator.integers(3, 9))) for _ in range(150)]
    vectors = CountVectorizer(analyzer=lambda text: trigrams(text), binary=True).fit_transform(texts).toarray()
    similar = 1 - pairwise_distances(vectors.astype(bool), metric="jaccard")
    expected = {(one, other) for one, other in combinations(range(150), 2) if similar[one, other] >= 0.6 - 1e-12}
    assert len(expected) > 100
    assert {pair[:2] for pair in nearly_equal(texts, 0.6, **NO_END).pairs} == expected


@given(TEXTS, st.integers(0, 30))
def test_a_search_that_stops_says_so_and_lists_only_what_is_true(texts: list[str], most: int) -> None:
    whole = set(nearly_equal(texts, 0.5, **NO_END).pairs)
    part = nearly_equal(texts, 0.5, most_compared=most, most_pairs=most)
    assert set(part.pairs) <= whole
    assert part.stopped or set(part.pairs) == whole
