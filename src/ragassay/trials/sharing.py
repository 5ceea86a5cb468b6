"""Steps that several pipelines do once: indexes, lists of retrievers, scores of rerankers. Changes no result.

Shared is what gives the same result whenever it is asked: BM25, exact vectors in memory, and late interaction over a
local model. Endpoints, databases and functions of the user are asked each time.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Literal

import msgspec

from ragassay.records.base import Instant
from ragassay.records.case import Principal
from ragassay.run.pace import Conditions
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.opening import Hit, Hits, Where
from ragassay.run.systems.pipeline.dense import DenseIndex
from ragassay.run.systems.pipeline.local_models import MiniLmEmbedder, WordLlamaEmbedder, processor
from ragassay.run.systems.pipeline.parts import Found, LexicalRetriever, VectorRetriever
from ragassay.run.systems.pipeline.rerank import MaxSim, Rescored
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.reference import ReferenceSystem
from ragassay.trials.cache import StepCache, key_of
from ragassay.version import VERSION

_COUNTS = struct.Struct("<iqqqq")
_HIT = struct.Struct("<qd")
_SCORE = struct.Struct("<d")


class SharedRetriever:
    """A retriever that remembers its lists. A longer list serves a shorter one: both begin with the same passages."""

    def __init__(self, inner: LexicalRetriever | VectorRetriever, cache: StepCache, scope: bytes) -> None:
        self._inner, self._cache, self._scope = inner, cache, scope
        self.kind: Literal["lexical", "vector"] = inner.kind
        self.identity, self.local = inner.identity, inner.local
        self.index = inner.index

    def attach(self, conditions: Conditions) -> None:
        """Build the index."""
        self._inner.attach(conditions)

    def find(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None
    ) -> Found:
        """As in `Retriever`; a list that was remembered is a cache hit, and its step is not timed."""
        who = None if principal is None else msgspec.to_builtins(principal)
        key = key_of(query, who, as_of, None if where is None else dict(where))
        (known,) = self._cache.get(self._scope, [key])
        if known is not None and (found := _unpacked(known, top_k)) is not None:
            self._cache.counted(1, 0)
            return Found(found, 0, 1, timed=False)
        made = self._inner.find(query, top_k=top_k, principal=principal, as_of=as_of, where=where)
        self._cache.put(self._scope, [(key, _packed(made.hits, top_k))])
        self._cache.counted(0, 1)
        return made


def _packed(found: Hits, top_k: int) -> bytes:
    matching = -1 if found.matching is None else found.matching
    head = _COUNTS.pack(top_k, found.passages, found.visible, found.valid, matching)
    return head + b"".join(_HIT.pack(one.number, one.score) for one in found.hits)


def _unpacked(data: bytes, top_k: int) -> Hits | None:
    """The first `top_k` of a list; None if it was asked for fewer and may go on."""
    asked, passages, visible, valid, matching = _COUNTS.unpack_from(data)
    hits = [Hit(number, score) for number, score in _HIT.iter_unpack(data[_COUNTS.size :])]
    if asked < top_k and len(hits) >= asked:
        return None
    return Hits(hits[:top_k], passages, visible, valid, None if matching < 0 else matching)


class SharedMaxSim:
    """Late interaction that remembers its scores, text by text, as each depends on its text and the question only."""

    def __init__(self, inner: MaxSim, cache: StepCache, scope: bytes) -> None:
        self._inner, self._cache, self._scope = inner, cache, scope
        self.identity, self.embedder = inner.identity, inner.embedder

    def attach(self, conditions: Conditions) -> None:
        """Load the model."""
        self._inner.attach(conditions)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """As in `Reranker`."""
        return self.score_counted(query, texts).scores

    def score_counted(self, query: str, texts: Sequence[str]) -> Rescored:
        """The same; each text that was scored or read before is a cache hit, and with one the step is not timed."""
        keys = [key_of(query, text) for text in texts]
        known = self._cache.get(self._scope, keys)
        scores = [None if one is None else float(_SCORE.unpack(one)[0]) for one in known]
        missing = [place for place, one in enumerate(scores) if one is None]
        hits = len(texts) - len(missing)
        if missing:
            got = self._inner.score_counted(query, [texts[place] for place in missing])
            hits += got.cache_hits
            for place, score in zip(missing, got.scores, strict=True):
                scores[place] = score
            self._cache.put(
                self._scope,
                [(keys[place], _SCORE.pack(one)) for place, one in zip(missing, got.scores, strict=True)],
            )
        self._cache.counted(len(texts) - len(missing), len(missing))
        return Rescored([one for one in scores if one is not None], cache_hits=hits, timed=not hits)


def shared_parts(system: PipelineSystem) -> bool:
    """Whether retrievers and reranker give the same result whenever they are asked, so that all of them are shared."""
    reader = system.reranker
    known = reader is None or (type(reader) is MaxSim and _local(reader.embedder))
    return known and all(type(one) is LexicalRetriever or _is_local_vector(one) for one in system.retrievers)


def _is_local_vector(given: Any) -> bool:
    return type(given) is VectorRetriever and type(given.index) is DenseIndex and _local(given.index.query_embedder)


class Sharing:
    """What the settings of one experiment have in common. `cut` names documents and passages, by digest."""

    def __init__(self, cache: StepCache) -> None:
        self.cache = cache
        self._parts: dict[bytes, Any] = {}

    def adopt(self, system: Any, cut: str) -> None:
        """Give a system the parts that an earlier one of equal identity has, and remember what the parts find.

        Only systems whose parts are known are touched. Nothing has been built in the system yet.
        """
        if isinstance(system, ReferenceSystem):
            system.index = self._kept("index", cut, system.index.identity, system.index)
        if not isinstance(system, PipelineSystem):
            return
        system.retrievers = [self._retriever(one, cut) for one in system.retrievers]
        own = next((one for one in system.retrievers if one.kind == "lexical"), None)
        index = getattr(own, "index", None)
        system.index = (
            index if isinstance(index, Index) else self._kept("texts", cut, system.index.identity, system.index)
        )
        if type(system.reranker) is MaxSim and _local(system.reranker.embedder):
            scope = _scope("maxsim", system.reranker.identity)
            system.reranker = self._kept(
                "reranker", system.reranker.identity, "", SharedMaxSim(system.reranker, self.cache, scope)
            )

    def _retriever(self, given: Any, cut: str) -> Any:
        if type(given) is LexicalRetriever:
            index = self._kept("index", cut, given.identity, given.index)
            made = SharedRetriever(LexicalRetriever(index), self.cache, _scope("lexical", cut, given.identity))
            return self._kept("lexical", cut, given.identity, made)
        if _is_local_vector(given):
            given.index.keeps_questions = True
            made = SharedRetriever(given, self.cache, _scope("vector", cut, given.identity))
            return self._kept("vector", cut, given.identity, made)
        return given

    def _kept(self, kind: str, cut: str, identity: str, made: Any) -> Any:
        return self._parts.setdefault(key_of(kind, cut, identity), made)


def _local(embedder: Any) -> bool:
    return type(embedder) in (MiniLmEmbedder, WordLlamaEmbedder)


def _scope(kind: str, *identity: str) -> bytes:
    """What all keys of a part have in common: the part, its passages, and what computes."""
    return key_of(kind, *identity, VERSION, version("numpy"), processor())
