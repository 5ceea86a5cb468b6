"""Exact vector search over passages, embedded in the process. Approximates nothing and answers nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ragassay.errors import IntegrityError, RagassayError, SystemUnderTestError, UsageError
from ragassay.records.base import Instant
from ragassay.records.canonical import digest_of, digest_text
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.records.index import IndexArtefact, IndexContent, IndexEnvelope
from ragassay.records.text import many
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.foreign import foreign
from ragassay.run.systems.opening import DIGITS, Hit, Hits, Openings, Where
from ragassay.run.systems.pipeline.embedders import Embedder
from ragassay.run.systems.pipeline.vectors import Embedded, VectorCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METRIC: Literal["cosine"] = "cosine"
_AT_ONCE = 4096
_HALF_FLOAT32_STEP = 2.0**-24
_SAME = 0.999
"""Least cosine of two vectors of one text by one model: endpoints round by what else they compute."""


class VectorIndex(Openings):
    """What both vector indexes share: the embedders, the cache, the id."""

    keeps_questions = True
    """Whether the vector of a question is looked up in the cache and kept there; otherwise it is computed each time."""

    def __init__(
        self,
        documents: Iterable[Document],
        passages: Sequence[Passage],
        embedder: Embedder,
        *,
        query_embedder: Embedder | None = None,
        cache: VectorCache | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """`query_embedder`: where questions are embedded in another way (a prefix, say); of the same dimensions."""
        super().__init__(documents, passages)
        self.embedder, self.query_embedder = embedder, query_embedder or embedder
        if self.query_embedder.dimensions != embedder.dimensions:
            raise UsageError(
                f"questions get {self.query_embedder.dimensions} dimensions and passages {embedder.dimensions}",
                field="query_embedder",
                hint="both come from the same model, with another prefix perhaps",
            )
        self.cache = VectorCache.memory() if cache is None else cache
        self._clock = clock

    @cached_property
    def content(self) -> IndexContent:
        """What the index is, before it is built."""
        named = [[str(one.passage_id), digest_text(one.text)] for one in self.passages]
        return IndexContent(
            index=digest_of([named, self.embedder.identity, METRIC]),
            embedder=self.embedder.identity,
            query_embedder=self.query_embedder.identity,
            metric=METRIC,
            dimensions=self.embedder.dimensions,
            passages=len(self.passages),
            blank=sum(not one.text.strip() for one in self.passages),
        )

    def attach(self, conditions: Any) -> None:
        """Take the clock of the run, and hand the conditions on to embedders that want them (endpoints do)."""
        self._clock = conditions.clock
        self._tell_embedders("attach", conditions)

    def check_secrets(self) -> None:
        """UsageError if a secret that an embedder sends is not set."""
        self._tell_embedders("check_secrets")

    def _tell_embedders(self, method: str, *given: Any) -> None:
        for name, one in (("embedder", self.embedder), ("query_embedder", self.query_embedder)):
            told: Any = getattr(one, method, None)
            if not callable(told):
                continue
            try:
                with foreign(f"the embedder {one.identity[:200]}, as it was made ready,", name):
                    told(*given)
            except RagassayError as error:  # of an endpoint: about its headers
                error.field = error.field.replace("system.", f"{name}.", 1)
                raise

    @property
    def artefact(self) -> IndexArtefact:
        """The index as a record; builds it if it is not built."""
        raise NotImplementedError

    def warm(self) -> None:
        """Build what is built once, so that no question pays for it."""
        _ = self.artefact

    def embed(self, query: str) -> Embedded:
        """The vector of a question, (1, dimensions), and whether it was in the cache."""
        if self.keeps_questions:
            return self.cache.embed(self.query_embedder, [query])
        counted: Any = getattr(self.query_embedder, "embed_counted", None)
        vectors, calls = (self.query_embedder.embed([query]), 0) if counted is None else counted([query])
        return Embedded(vectors, 0, 1, calls)

    def search(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None = None
    ) -> Hits:
        """The `top_k` passages nearest to a question, as `search_vector`."""
        vector = self.embed(query).vectors[0]
        return self.search_vector(vector, top_k=top_k, principal=principal, as_of=as_of, where=where)

    def search_vector(
        self,
        vector: NDArray[np.float32],
        *,
        top_k: int,
        principal: Principal | None,
        as_of: Instant,
        where: Where | None = None,
    ) -> Hits:
        """The `top_k` open passages of the highest cosine, best first, ties (to 6 decimals) in passage order.

        Range -1 to 1, higher is nearer. Passages without text are never found; a question without text finds nothing.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what the embedders hold open; the cache belongs to whoever opened it."""
        for one in (self.embedder, self.query_embedder):
            close: Any = getattr(one, "close", None)
            if callable(close):
                close()

    def _embedded(self) -> Embedded:
        """The vectors of all passages; one that was kept is tried where the embedder may have changed unsaid."""
        with foreign(f"the embedder {self.embedder.identity[:200]}", "embedder"):
            got = self.cache.embed(self.embedder, [one.text for one in self.passages])
            if self.content.blank < len(self.passages) and not got.vectors.any():
                raise SystemUnderTestError(
                    f"the embedder gives nothing but zeros for {many(len(self.passages), 'passage')}: "
                    f"{self.embedder.identity[:200]}",
                    field="embedder",
                    hint="no passage would ever be found; does it read these texts at all?",
                )
            if got.kept is None or getattr(self.embedder, "told", False):
                return got
            tried = self._try_kept(self.passages[got.kept].text, got.vectors[got.kept])
            return got._replace(calls=got.calls + tried)

    def _try_kept(self, text: str, kept: NDArray[np.float32]) -> int:
        """Embed a text again whose vector was kept, and say how many requests it took.

        IntegrityError where it is another one: what embeds has changed, and its identity does not say so.
        """
        counted: Any = getattr(self.embedder, "embed_counted", None)
        vectors, calls = (self.embedder.embed([text]), 0) if counted is None else counted([text])
        same = float(vectors[0].astype("f8") @ kept.astype("f8"))
        if same < _SAME and (vectors[0].any() or kept.any()):
            raise IntegrityError(
                f"the embedder gives another vector for a passage than the one that is kept (cosine {same:.3f}): "
                f"{self.embedder.identity[:200]}",
                field="embedder",
                hint="its model changed and its name did not: declare its revision (or another prefix or name), or "
                "delete what was kept (cache/vectors.sqlite in the store; for an index in PostgreSQL its schema too)",
            )
        return int(calls)

    def _cut(self) -> int | None:
        """Passages longer than what the embedder reads; counted once for each index, in the cache."""
        count: Any = getattr(self.embedder, "cut_off", None)
        if count is None:
            return None
        return self.cache.counted(f"cut off {self.content.index}", lambda: count([one.text for one in self.passages]))

    def _built(self, began_s: float, got: Embedded, **more: Any) -> IndexArtefact:
        envelope = IndexEnvelope(
            built_at=self._clock.now(),
            duration_ms=self._clock.since_ms(began_s),
            computed=got.computed,
            cache_hits=got.hits,
            calls=got.calls,
            cut=self._cut(),
            **more,
        )
        return IndexArtefact(content=self.content, envelope=envelope)

    def _named(self, how: str) -> str:
        asked = self.content.query_embedder
        apart = "" if asked == self.content.embedder else f"; questions by {asked}"
        return (
            f"{how} {METRIC} {self.content.index[:23]}; {self.content.embedder}{apart}; "
            "principal, validity and metadata before ranking"
        )


class DenseIndex(VectorIndex):
    """All vectors in memory, all of them compared."""

    @cached_property
    def _vectors_and_artefact(self) -> tuple[NDArray[np.float32], IndexArtefact]:
        began_s = self._clock.steady_s()
        got = self._embedded()
        return got.vectors, self._built(began_s, got)

    @property
    def artefact(self) -> IndexArtefact:
        """The index as a record; builds it if it is not built."""
        return self._vectors_and_artefact[1]

    @property
    def identity(self) -> str:
        """The retriever's version: method, index, embedder, filters."""
        return self._named("exact")

    @cached_property
    def _worded(self) -> np.ndarray[Any, Any]:
        import numpy as np

        return np.array([bool(one.text.strip()) for one in self.passages])

    def search_vector(
        self,
        vector: NDArray[np.float32],
        *,
        top_k: int,
        principal: Principal | None,
        as_of: Instant,
        where: Where | None = None,
    ) -> Hits:
        """As in `VectorIndex`: float32 finds the candidates with its error allowed for, float64 ranks them."""
        import numpy as np

        opened = self.opened(principal, as_of, where)
        numbers = np.flatnonzero(opened.mask & self._worded)
        if top_k < 1 or not numbers.size or not vector.any():
            return opened.found([])
        vectors = self._vectors_and_artefact[0]
        rough = (vectors @ vector)[numbers].astype(np.float64)  # so that the floor is not rounded
        if rough.size > top_k:
            floor = np.partition(rough, rough.size - top_k)[rough.size - top_k] - margin(len(vector))
            numbers = numbers[rough >= floor]
        return opened.found(ranked(numbers, vectors[numbers], vector, top_k))


def margin(dimensions: int) -> float:
    """How far apart two float32 scores may be although the exact ones are tied to 6 decimals, or the other way round.

    A product of unit vectors summed in float32, in any order, is off by at most d 2^-24 / (1 - d 2^-24) (Higham,
    Accuracy and Stability of Numerical Algorithms, section 3.1); two such errors, and one step of the rounding.
    """
    error = dimensions * _HALF_FLOAT32_STEP
    return 2 * error / (1 - error) * 1.001 + 10.0**-DIGITS


def ranked(
    numbers: NDArray[np.int64], vectors: NDArray[np.float32], query: NDArray[np.float32], top_k: int
) -> list[Hit]:
    """The best of these passages by the product in float64 to 6 decimals; equal ones in passage order.

    A passage's score depends on its vector and the query only, not on which others are candidates.
    """
    import numpy as np

    exact = np.empty(len(numbers))
    wanted = query.astype(np.float64)
    for start in range(0, len(numbers), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        exact[part] = (vectors[part].astype(np.float64) * wanted).sum(axis=1)
    scores = np.round(exact, DIGITS) + 0.0  # no negative zero
    order = np.lexsort((numbers, -scores))[:top_k]
    return [Hit(int(numbers[one]), float(scores[one])) for one in order]
