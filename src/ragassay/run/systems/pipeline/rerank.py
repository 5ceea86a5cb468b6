"""Rerankers: a score for each text of a list by reading it beside the question. Finds nothing by itself."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragassay.errors import SystemUnderTestError, UsageError
from ragassay.run.foreign import foreign
from ragassay.run.systems.opening import DIGITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragassay.run.systems.pipeline.embedders import Embedder

_MOST_BYTES = 256 * 1024 * 1024


class Reranker(Protocol):
    """Scores for texts, higher is better.

    One that has `async rescore(query, texts) -> Rescored` is awaited instead of called in a thread; one that has
    `score_counted(query, texts) -> Rescored` also says what was in a cache.
    """

    @property
    def identity(self) -> str:
        """Everything that changes a score."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One finite number a text, in the order of the texts; a score depends on its own text and the query only."""
        ...


class Rescored(NamedTuple):
    """Scores in the order of the texts, and what they cost."""

    scores: list[float]
    calls: int = 0
    cache_hits: int = 0
    timed: bool = True
    """False: what other systems had read before saved time."""


class MaxSim:
    """Late interaction: each vector of a word piece of the question looks for the nearest one in the text.

    The score is the mean over the question's pieces of the highest cosine with a piece of the text, -1 to 1, rounded
    to 6 decimals. A text without pieces scores -1; a question without pieces gives every text 0. A text's vectors do
    not depend on the texts beside it, since each goes through the model alone. They are kept in memory up to
    `most_bytes`; hits are counted.

    Source: Khattab and Zaharia, ColBERT, SIGIR 2020 (the sum instead of the mean; the order is the same). MiniLM was
    not trained for it.
    """

    def __init__(self, embedder: Embedder, *, most_bytes: int = _MOST_BYTES) -> None:
        if not callable(getattr(embedder, "token_vectors", None)):
            raise UsageError("maxsim needs vectors of tokens", field="rerank.embedder", hint='embedder = "minilm"')
        self.identity = f"maxsim/1 {embedder.identity}"
        self.embedder, self._most = embedder, most_bytes
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def attach(self, conditions: Any) -> None:
        """Load the model, so that no question pays for it."""
        attach = getattr(self.embedder, "attach", None)
        with foreign(f"the embedder {self.embedder.identity[:200]}, as it was made ready,", "rerank.embedder"):
            if callable(attach):
                attach(conditions)
            self.embedder.token_vectors(["ready"])  # type: ignore[attr-defined]

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """As declared above."""
        return self.score_counted(query, texts).scores

    def score_counted(self, query: str, texts: Sequence[str]) -> Rescored:
        """The same, with how many texts' vectors were in memory."""
        import numpy as np

        asked = self._vectors(query)[0].astype(np.float64)
        scores, hits = [], 0
        for text in texts:
            found, hit = self._vectors(text)
            hits += hit
            if not len(asked) or not len(found):
                scores.append(0.0 if not len(asked) else -1.0)
                continue
            # Not `@`: on matrices this small the threads of a BLAS cost more time than they save, and may change bits.
            best = np.einsum("qd,td->qt", asked, found.astype(np.float64)).max(axis=1)
            scores.append(round(math.fsum(best.tolist()) / len(asked), DIGITS) + 0.0)
        return Rescored(scores, cache_hits=hits)

    def _vectors(self, text: str) -> tuple[NDArray[np.float32], bool]:
        with self._lock:
            found = self._kept.get(text)
            if found is not None:
                self._kept.move_to_end(text)
                return found, True
        made = self.embedder.token_vectors([text])[0]  # type: ignore[attr-defined]
        with self._lock:
            if text not in self._kept and made.nbytes <= self._most:
                self._kept[text] = made
                self._bytes += made.nbytes
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return made, False


class FunctionReranker:
    """The user's own `score(query, texts) -> scores`; its source and the values it keeps are its identity."""

    def __init__(self, spec: str, function: Callable[[str, list[str]], Any]) -> None:
        from ragassay.records.canonical import digest_of
        from ragassay.redact import Redaction
        from ragassay.run.systems.python import captured, source_digest

        kept, _ = Redaction().value(captured(function))
        state = digest_of([source_digest(function) or "no source", repr(kept)])
        self.identity = f"{spec} {state}"
        self._spec, self._function = spec, function

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Whatever the function returns, checked."""
        return checked_scores(self._function(query, list(texts)), len(texts), self._spec)


def checked_scores(found: Any, count: int, who: str) -> list[float]:
    """`count` finite numbers as floats; SystemUnderTestError says what came instead.

    A mapping, a set or a text is no list: what is read from it is not in the order of the texts, or no score.
    """
    if isinstance(found, str | bytes | Mapping | AbstractSet):
        raise SystemUnderTestError(f"{who} returned a {type(found).__name__}, not a list of numbers", field="rerank")
    try:
        scores = [float(one) for one in found]
    except (TypeError, ValueError, OverflowError) as cause:
        raise SystemUnderTestError(f"{who} returned no list of numbers: {cause}", field="rerank") from None
    if len(scores) != count:
        raise SystemUnderTestError(f"{who}: {count} texts, {len(scores)} scores", field="rerank")
    if not all(map(math.isfinite, scores)):
        raise SystemUnderTestError(f"{who} returned a score that is not finite", field="rerank")
    return scores


def reorder(numbers: Sequence[int], scores: Sequence[float]) -> list[tuple[int, float]]:
    """(number, score), highest score first; equal scores stay in the order in which they came.

    >>> reorder([4, 9, 2], [0.5, 0.9, 0.5])
    [(9, 0.9), (4, 0.5), (2, 0.5)]
    """
    places = sorted(range(len(numbers)), key=lambda place: (-scores[place], place))
    return [(numbers[place], scores[place]) for place in places]
