"""Parts of a pipeline that do the wrong thing and say what they did before. Plants nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ragassay.records.base import Instant
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.opening import Hit, Open, Where
from ragassay.run.systems.pipeline.dense import DenseIndex
from ragassay.run.systems.pipeline.embedders import Embedder
from ragassay.run.systems.pipeline.parts import Found, VectorRetriever
from ragassay.run.systems.pipeline.rerank import Reranker, Rescored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OTHER = "; another model of the same size"


class PartLexical:
    """BM25 over some of the passages, with the word statistics of the sealed index.

    `like`: number of a passage that was not sealed -> that of a sealed one with the same words.
    """

    kind: Literal["lexical"] = "lexical"
    local = True

    def __init__(
        self, sealed: Index, documents: Sequence[Document], held: Sequence[int], like: Mapping[int, int]
    ) -> None:
        self._shown: dict[int, list[int]] = defaultdict(list)
        for number in held:
            self._shown[like.get(number, number)].append(number)
        self._sealed, self.identity = sealed, sealed.identity
        self.index = _HeldWords(sealed, documents, list(self._shown))

    def attach(self, conditions: Any) -> None:  # noqa: ARG002  only embedders want them
        """Build the index."""
        self._sealed.warm()
        self.index.__dict__.update({**self._sealed.__dict__, **self.index.__dict__})

    def find(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None
    ) -> Found:
        """As in `Retriever`."""
        found = self.index.search(query, top_k=top_k, principal=principal, as_of=as_of, where=where)
        hits = [Hit(number, one.score) for one in found.hits for number in self._shown[one.number]]
        return Found(found._replace(hits=sorted(hits, key=lambda one: (-one.score, one.number))[:top_k]))


class OtherLexical:
    """BM25 over some of the passages, with their own word statistics."""

    kind: Literal["lexical"] = "lexical"
    local = True

    def __init__(self, documents: Sequence[Document], passages: Sequence[Passage], held: Sequence[int]) -> None:
        self._numbers = list(held)
        self.index = Index(documents, [passages[one] for one in self._numbers])
        self.identity = self.index.identity

    def attach(self, conditions: Any) -> None:  # noqa: ARG002  only embedders want them
        """Build the index."""
        self.index.warm()

    def find(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None
    ) -> Found:
        """As in `Retriever`."""
        found = self.index.search(query, top_k=top_k, principal=principal, as_of=as_of, where=where)
        return Found(found._replace(hits=[Hit(self._numbers[one.number], one.score) for one in found.hits]))


class PartVector(VectorRetriever):
    """Cosine over some of the passages of an index that is built once."""

    def __init__(self, index: DenseIndex, documents: Sequence[Document], held: Sequence[int]) -> None:
        super().__init__(_Held(index, documents, held))

    def attach(self, conditions: Any) -> None:
        """Nothing is to be built."""


class Searched(Index):
    """Texts and ids of every passage that a faulty index may hold; how rare a word is, is asked of the sealed one.

    Otherwise an extractive answer would move for itself where documents are gone, and the fault would have two places.
    """

    def __init__(self, documents: Sequence[Document], passages: Sequence[Passage], sealed: Index) -> None:
        super().__init__(documents, passages)
        self._sealed = sealed

    def warm(self) -> None:
        """Build what is built once."""
        self._sealed.warm()

    def idf(self, term: str) -> float:
        """Of the sealed index."""
        return self._sealed.idf(term)


class Keeping(Index):
    """Finds no repeats: every hit is kept."""

    def __init__(self, sealed: Index) -> None:
        self.__dict__ = sealed.__dict__

    def without_repeats(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[tuple[Hit, Hit]]]:
        """All of them."""
        return list(hits), []


class Reversed:
    """The scores of a reranker with the other sign: its worst is its best."""

    def __init__(self, inner: Reranker) -> None:
        self._inner = inner
        self.identity = f"reversed {inner.identity}"

    def attach(self, conditions: Any) -> None:
        """Hand them on."""
        attach = getattr(self._inner, "attach", None)
        if callable(attach):
            attach(conditions)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """As in `Reranker`."""
        return self.score_counted(query, texts).scores

    def score_counted(self, query: str, texts: Sequence[str]) -> Rescored:
        """The same, with what was in a cache."""
        counted = getattr(self._inner, "score_counted", None)
        found = counted(query, texts) if callable(counted) else Rescored(self._inner.score(query, texts))
        return found._replace(scores=[-one for one in found.scores])


class OtherModel:
    """An embedder whose vectors mean something else: those of another model of the same size.

    The numbers of each vector stand in another order, the same one for every text. So texts are as near to each other
    as they were, and tell nothing about those that the first model embedded.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner, self.dimensions = inner, inner.dimensions
        self.identity = f"{inner.identity}{OTHER}"

    def attach(self, conditions: Any) -> None:
        """Hand them on."""
        attach: Any = getattr(self._inner, "attach", None)
        if callable(attach):
            attach(conditions)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dimensions)."""
        half = self.dimensions // 2 + 1
        found = self._inner.embed(texts)
        return found[:, [(one * 7 + half) % self.dimensions for one in range(self.dimensions)]]


class _Some:
    """Part of an index of which only some passages may be found; all else it shares with the one that it is made of."""

    def _take(self, index: Any, documents: Sequence[Document], held: Sequence[int]) -> None:
        import numpy as np

        self.__dict__.update(index.__dict__)
        self._documents = {(one.document_id, one.version): one for one in documents}
        self._open: dict[Any, Any] = {}
        self._mask_held = np.zeros(len(index.passages), np.bool_)
        self._mask_held[list(held)] = True

    def opened(self, principal: Principal | None, as_of: Instant, where: Where | None = None) -> Open:
        """Those that are held, of what is open."""
        found: Open = super().opened(principal, as_of, where)  # type: ignore[misc]
        return found._replace(mask=found.mask & self._mask_held)


class _HeldWords(_Some, Index):
    """An index of words of which only some passages may be found."""

    def __init__(self, index: Index, documents: Sequence[Document], held: Sequence[int]) -> None:
        self._take(index, documents, held)


class _Held(_Some, DenseIndex):
    """An index of vectors of which only some may be found."""

    def __init__(self, index: DenseIndex, documents: Sequence[Document], held: Sequence[int]) -> None:
        index.warm()
        self._take(index, documents, held)
