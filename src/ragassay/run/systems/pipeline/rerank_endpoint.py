"""A reranking endpoint in the form of Cohere and Jina (`POST .../rerank`), at the pace of the run. Knows no model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.errors import UsageError
from ragassay.records.base import Instant, QueryId
from ragassay.records.canonical import canonical_bytes, digest_bytes
from ragassay.records.trace import Failure
from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions
from ragassay.run.systems.declared import shown_url
from ragassay.run.systems.exchange import is_number, words_about
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.pipeline.rerank import Rescored
from ragassay.run.systems.pipeline.steps import CallFailedError
from ragassay.run.threads import LoopThread

_OWN_KEYS = frozenset({"model", "query", "documents", "top_n", "return_documents"})
_NOBODY = Request(query_id=QueryId("rerank"), query="", as_of=Instant("1970-01-01T00:00:00Z"), top_k=1)


class Rerankings(HttpSystem):
    """A rerank endpoint: the value of a reply is {index: score}."""

    def read(self, body: bytes, first_token_ms: float | None) -> tuple[Any, Failure | None, str | None]:  # noqa: ARG002
        """The scores of a complete body: `results` (or `data`) of `index` with `relevance_score` (or `score`)."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError) as cause:
            return None, Failure(cause="invalid_response", code="json"), f"{words_about(body)}: {cause}"
        if isinstance(found, Mapping):
            found = found.get("results", found.get("data"))
        if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
            detail = "no list `results` of objects with `index` and `relevance_score`"
            return None, Failure(cause="invalid_response", code="results"), detail
        scores: dict[int, float] = {}
        for one in found:
            index, score = one.get("index"), one.get("relevance_score", one.get("score"))
            if type(index) is not int or index in scores:
                return None, Failure(cause="invalid_response", code="index"), "an index is missing or stands twice"
            if not is_number(score):
                return None, Failure(cause="invalid_response", code="relevance_score"), "a score is not a finite number"
            scores[index] = float(score)
        return scores, None, None


class EndpointReranker:
    """`model` at `url`: one request a question, all its texts in it; scores as the endpoint gives them.

    The endpoint does not show its weights: what is known of them is what you declare as `revision`. `options` are
    further fields of the body. A reply that leaves out a text, or names one that was not sent, is a failure.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        revision: str = "",
        options: Mapping[str, Any] | None = None,
        **transport: Any,
    ) -> None:
        if forbidden := _OWN_KEYS & set(options or {}):
            raise UsageError(f"options may not set {min(forbidden)!r}", field="options", hint="it is set already")
        self.endpoint = Rerankings(url, name="rerank", **transport)
        self.max_wait_s = self.endpoint.max_wait_s
        self._body: dict[str, Any] = {"model": model, **(options or {})}
        weights = f"revision {revision}" if revision else "weights not stated"
        asked = digest_bytes(canonical_bytes(self._body))[:23]
        self.identity = f"endpoint {shown_url(self.endpoint.url)} {model} ({weights}; body {asked})"

    def attach(self, conditions: Conditions) -> None:
        """Take the run's timeout and pace; a secret that is not set is a UsageError before anything is sent."""
        self.endpoint.attach(conditions)

    def check_secrets(self) -> None:
        """UsageError if a secret of its headers is not set."""
        self.endpoint.check_secrets()

    async def rescore(self, query: str, texts: Sequence[str]) -> tuple[Rescored, Reply]:
        """The scores with the reply that brought them; CallFailedError if it brought none."""
        if not texts:
            return Rescored([]), Reply()
        body = {**self._body, "query": query, "documents": list(texts), "top_n": len(texts), "return_documents": False}
        reply = await self.endpoint.send(_NOBODY, body)
        if reply.failure is not None:
            raise CallFailedError("rerank", reply)
        scores: dict[int, float] = reply.value
        if sorted(scores) != list(range(len(texts))):
            detail = f"{len(texts)} texts were sent; the reply scores {sorted(scores)[:20]}"
            raise CallFailedError("rerank", reply, Failure(cause="invalid_response", code="results"), detail)
        return Rescored([scores[place] for place in range(len(texts))], len(reply.attempts)), reply

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The scores, for callers without a loop."""
        return LoopThread().result(self._once, query, texts)  # type: ignore[no-any-return]

    async def _once(self, query: str, texts: Sequence[str]) -> list[float]:
        try:
            return (await self.rescore(query, texts))[0].scores
        finally:
            await self.endpoint.aclose()

    async def aclose(self) -> None:
        """Close the connections of this loop."""
        await self.endpoint.aclose()
