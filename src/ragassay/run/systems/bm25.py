"""BM25 over passages with who-may-see and what-is-valid applied before ranking. Answers nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

from ragassay.measures.text import normalise_unicode
from ragassay.records.base import Instant
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.run.systems.opening import DIGITS, Hit, Hits, Openings, Where

__all__ = ["STOPWORDS", "Hit", "Hits", "Index", "stem", "terms"]
STOPWORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ]
)
"""The 33 English words of Lucene's classic list."""


def terms(text: str) -> list[str]:
    """Words as they are matched: case folded, no English stop word, plural s taken off (Harman's S stemmer)."""
    return [stem(one) for one in normalise_unicode(text).split() if one not in STOPWORDS]


def stem(word: str) -> str:
    """Harman's S stemmer: ponies -> pony, classes -> classe, cats -> cat; glass and bus stay."""
    if len(word) > 3 and word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if len(word) > 2 and word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


class Index(Openings):
    """BM25 (bm25s, Lucene's form) over passages, built once.

    Term statistics are over all passages; ranking is only over those that the asker may see and that are valid.
    """

    def __init__(
        self, documents: Iterable[Document], passages: Sequence[Passage], *, k1: float = 1.5, b: float = 0.75
    ) -> None:
        super().__init__(documents, passages)
        self._k1, self._b = k1, b

    @cached_property
    def _words(self) -> list[list[str]]:
        return [terms(one.text) for one in self.passages]

    @cached_property
    def _bm25(self) -> Any:
        """None where no passage has a word that is matched: then nothing is ever found."""
        if not any(self._words):
            return None
        import bm25s

        index = bm25s.BM25(k1=self._k1, b=self._b, method="lucene", backend="numpy")
        index.index(self._words, show_progress=False)
        return index

    @cached_property
    def _frequencies(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for words in self._words:
            for word in set(words):
                counts[word] = counts.get(word, 0) + 1
        return counts

    @cached_property
    def plain_texts(self) -> list[str]:
        """The passages' texts with case and white space evened out."""
        return [" ".join(one.text.casefold().split()) for one in self.passages]

    def warm(self) -> None:
        """Build what is built once, so that no question pays for it."""
        _ = self._bm25, self._frequencies, self.plain_texts

    def idf(self, term: str) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in n of N passages; largest for one that is in none."""
        number = self._frequencies.get(term, 0)
        return math.log(1 + (len(self.passages) - number + 0.5) / (number + 0.5))

    def search(
        self, query: str, *, top_k: int, principal: Principal | None, as_of: Instant, where: Where | None = None
    ) -> Hits:
        """The `top_k` best passages with a score above 0, best first, ties in passage order."""
        import numpy as np

        opened = self.opened(principal, as_of, where)
        words = [one for one in terms(query) if one in self._frequencies]
        if not words or not opened.mask.any():
            return opened.found([])
        scores = np.round(self._bm25.get_scores(words).astype(np.float64), DIGITS)
        candidates = np.flatnonzero(opened.mask & (scores > 0))
        best = candidates[np.argsort(-scores[candidates], kind="stable")][:top_k]
        return opened.found([Hit(int(one), float(scores[one])) for one in best])

    def repeats(self, later: int, earlier: int) -> bool:
        """Whether a passage has the text of an earlier one (case and white space aside), or lies inside it."""
        one, other = self.passages[later], self.passages[earlier]
        if self.plain_texts[later] == self.plain_texts[earlier]:
            return True
        return bool(one.sources) and all(
            any(
                (a.document_id, a.version) == (b.document_id, b.version) and b.start <= a.start and a.end <= b.end
                for b in other.sources
            )
            for a in one.sources
        )

    def without_repeats(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[tuple[Hit, Hit]]]:
        """The hits that repeat no better one, and the others, each with the first kept hit that it repeats."""
        kept: list[Hit] = []
        dropped: list[tuple[Hit, Hit]] = []
        for hit in hits:
            same = next((one for one in kept if self.repeats(hit.number, one.number)), None)
            if same is None:
                kept.append(hit)
            else:
                dropped.append((hit, same))
        return kept, dropped

    @property
    def identity(self) -> str:
        """The retriever's version: library, form, parameters, words and filters."""
        return (
            f"bm25s {version('bm25s')} lucene k1={self._k1:g} b={self._b:g}; words unicode, English stop words, "
            "S stemmer; principal and validity before ranking"
        )
