"""Embeddings of an OpenAI-compatible endpoint (`POST .../embeddings`), at the pace of the run. Knows no model."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ragassay.errors import CeilingError, SystemUnderTestError, UsageError
from ragassay.records.base import Instant, QueryId
from ragassay.records.canonical import canonical_bytes, digest_bytes
from ragassay.records.text import many
from ragassay.records.trace import Failure
from ragassay.run.account import current
from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions
from ragassay.run.systems.completions import TRANSPORT
from ragassay.run.systems.declared import shown_url
from ragassay.run.systems.exchange import is_number, words_about
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.pipeline.embedders import TextEmbedder, check_whole
from ragassay.run.threads import LoopThread

_OWN_KEYS = frozenset({"model", "input", "encoding_format", "dimensions"})
_NOBODY = Request(query_id=QueryId("embeddings"), query="", as_of=Instant("1970-01-01T00:00:00Z"), top_k=1)


class EmbeddingError(SystemUnderTestError):
    """The endpoint gave no vectors; `reply` holds its attempts and the failure."""

    def __init__(self, message: str, *, reply: Reply, **where: Any) -> None:
        super().__init__(message, **where)
        self.reply = reply


class Embeddings(HttpSystem):
    """An embeddings endpoint: the value of a reply is the list of its vectors in the order of the texts."""

    def read(self, body: bytes, first_token_ms: float | None) -> tuple[Any, Failure | None, str | None]:  # noqa: ARG002
        """The vectors of a complete body."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError) as cause:
            return None, Failure(cause="invalid_response", code="json"), f"{words_about(body)}: {cause}"
        entries = found.get("data") if isinstance(found, Mapping) else None
        if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
            detail = "no list `data` of objects with `index` and `embedding`"
            return None, Failure(cause="invalid_response", code="data"), detail
        places = [one.get("index", number) for number, one in enumerate(entries)]
        if any(type(one) is not int for one in places) or sorted(places) != list(range(len(entries))):
            return None, Failure(cause="invalid_response", code="index"), "the indices are not 0, 1, 2, ..., each once"
        vectors = [entry.get("embedding") for _, entry in sorted(zip(places, entries, strict=True), key=lambda x: x[0])]
        if not all(isinstance(one, list) and all(map(is_number, one)) for one in vectors):
            detail = "an embedding is not a list of finite numbers"
            return None, Failure(cause="invalid_response", code="embedding"), detail
        return vectors, None, None


class EndpointEmbedder(TextEmbedder):
    """`model` at `url`, `batch_size` texts a request; `dimensions` are declared and held against every reply.

    An endpoint does not show its weights: what is known of them is what you declare as `revision`. `options` are
    further fields of the body; `send_dimensions` asks for the declared number. `transport` holds keys of TRANSPORT.
    """

    def __init__(
        self,
        *,
        url: str,
        model: str,
        dimensions: int,
        revision: str = "",
        prefix: str = "",
        batch_size: int = 64,
        send_dimensions: bool = False,
        options: Mapping[str, Any] | None = None,
        **transport: Any,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise UsageError("an embeddings endpoint needs its model", field="model", hint='model = "embed-x"')
        check_whole("dimensions", dimensions, 1)
        check_whole("batch_size", batch_size, 1)
        if options is not None and not isinstance(options, Mapping):
            raise UsageError("options is no table", field="options", hint='options = { user = "x" }')
        if forbidden := _OWN_KEYS & set(options or {}):
            raise UsageError(f"options may not set {min(forbidden)!r}", field="options", hint="it has its own key")
        if unknown := set(transport) - set(TRANSPORT):
            raise UsageError(f"unknown key {min(unknown)!r}", field=min(unknown), hint=f"known: {', '.join(TRANSPORT)}")
        self.endpoint = Embeddings(url, name="embeddings", **transport)
        self._body: dict[str, Any] = {"model": model, "encoding_format": "float", **(options or {})}
        if send_dimensions:
            self._body["dimensions"] = dimensions
        self._batch = batch_size
        asked = digest_bytes(canonical_bytes(self._body))[:23]
        weights = f"revision {revision}" if revision else "weights not stated"
        super().__init__(
            f"endpoint {shown_url(url)} {model} ({weights}; body {asked}); {dimensions} d", dimensions, prefix=prefix
        )

    def attach(self, conditions: Conditions) -> None:
        """Take the run's timeout and pace; a secret that is not set is a UsageError before anything is sent."""
        self.endpoint.attach(conditions)

    def check_secrets(self) -> None:
        """UsageError if a secret of its headers is not set."""
        self.endpoint.check_secrets()

    def close(self) -> None:
        """Close the connections."""
        _loop().result(self.endpoint.aclose)

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        """Vectors and requests; EmbeddingError if the endpoint fails, CeilingError if no request may be sent."""
        vectors: list[list[float]] = []
        calls = 0
        for start in range(0, len(texts), self._batch):
            part = texts[start : start + self._batch]
            if not current().may_call():
                raise CeilingError("the ceiling on calls leaves no room for an embedding", hint="raise max_calls")
            reply = _loop().result(self.endpoint.send, _NOBODY, {**self._body, "input": part})
            calls += len(reply.attempts)
            wrong = _wrong(reply, len(part), self.dimensions)
            if wrong:
                unfit = Failure(cause="invalid_response", code="embedding")
                reply = reply if reply.failure is not None else replace(reply, value=None, failure=unfit)
                raise EmbeddingError(
                    f"the embeddings endpoint gave no vectors: {wrong}",
                    reply=reply,
                    field="embedder",
                    hint=f"after {many(len(reply.attempts), 'attempt')} at {reply.endpoint}",
                )
            vectors += reply.value
        return vectors, calls


def _wrong(reply: Reply, count: int, dimensions: int) -> str:
    if reply.failure is not None:
        said = " ".join(filter(None, (reply.failure.cause, reply.failure.code)))
        return f"{said}: {(reply.detail or '')[:300]}"
    if len(reply.value) != count:
        return f"{many(count, 'text')}, {many(len(reply.value), 'vector')}"
    sizes = {len(one) for one in reply.value} - {dimensions}
    return f"vectors of {min(sizes)} numbers, {dimensions} are declared" if sizes else ""


@functools.cache
def _loop() -> LoopThread:
    """The one loop for all embedding requests of the process, so that two embedders may share a pace."""
    return LoopThread()
