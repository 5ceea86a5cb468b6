"""Ranked lists of many questions as flat arrays of their judged rows; what every kernel reads. It scores nothing.

Only rows that carry a judgement are kept: an unjudged item matters solely by the ranks that it takes up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_LARGEST = 1 << 63


def summed(query: Ints, terms: NDArray[np.generic], queries: int) -> Floats:
    """Sum of the terms of each question, added in row order: the order in which trec_eval adds."""
    return np.bincount(query, weights=terms, minlength=queries).astype(np.float64, copy=False)


def running(values: Ints | Bools, query: Ints, queries: int) -> Ints:
    """Sum of `values` up to and including each row, begun anew at each question; `query` ascends."""
    total = np.cumsum(values, dtype=np.int64)
    rows = np.bincount(query, minlength=queries)
    first = np.cumsum(rows) - rows
    before = np.concatenate((np.zeros(1, np.int64), total))[first]
    result: Ints = total - before[query]
    return result


def by_query(query: Ints, value: Ints) -> Ints:
    """Order of the rows by question, then value; rows that have the same of both in any order."""
    low, high = int(value.min(initial=0)), int(value.max(initial=0))
    if (int(query.max(initial=0)) + 1) * (high - low + 1) >= _LARGEST:
        return np.lexsort((value, query))
    order: Ints = np.argsort(query * (high - low + 1) + (value - low))
    return order


def places(query: Ints, queries: int) -> Ints:
    """1, 2, 3, ... within each question; `query` ascends."""
    rows = np.bincount(query, minlength=queries)
    first = np.cumsum(rows) - rows
    return np.arange(1, len(query) + 1, dtype=np.int64) - first[query]


@dataclass(frozen=True)
class Lists:
    """Judged rows of `queries` ranked lists, and all labels of the same questions.

    Shapes: `retrieved` (queries,); `query`, `rank`, `grade`, `held` (rows,); `label_query`, `label_grade` (labels,).
    Rows ascend by question, then rank (from 1). Labels ascend by question and descend by grade within it.
    A negative grade is pooled but not judged. `held`, where given, is how many distinct relevant pieces of evidence
    a row is the first to hold; where absent, a row with a relevant grade holds one.
    """

    queries: int
    retrieved: Ints
    query: Ints
    rank: Ints
    grade: Ints
    label_query: Ints
    label_grade: Ints
    held: Ints | None = None

    @cached_property
    def judged(self) -> Bools:
        """Which rows are judged: grade 0 or more."""
        return self.grade >= 0

    def count(self, rows: Bools) -> Ints:
        """Number of chosen rows of each question."""
        return np.bincount(self.query[rows], minlength=self.queries)

    def relevant_labels(self, rel: int) -> Ints:
        """R: labels with grade >= rel, of each question."""
        return np.bincount(self.label_query[self.label_grade >= rel], minlength=self.queries)

    def other_labels(self, rel: int) -> Ints:
        """N: judged labels below rel, of each question."""
        below = (self.label_grade >= 0) & (self.label_grade < rel)
        return np.bincount(self.label_query[below], minlength=self.queries)

    def holds(self, rel: int) -> Ints:
        """How many relevant pieces of evidence each row is the first to hold."""
        return self.held if self.held is not None else (self.grade >= rel).astype(np.int64)

    def rows(self, chosen: Bools) -> Lists:
        """The same lists with only the chosen rows; ranks stay."""
        return replace(
            self,
            query=self.query[chosen],
            rank=self.rank[chosen],
            grade=self.grade[chosen],
            held=None if self.held is None else self.held[chosen],
        )

    def cut(self, cutoff: int | None) -> Lists:
        """Rows of the first `cutoff` ranks; all rows for None."""
        return self if cutoff is None else self.rows(self.rank <= cutoff)

    def condensed(self) -> Lists:
        """The lists without unjudged and negative items, ranked anew (trec_eval's -J)."""
        kept = self.rows(self.judged)
        return replace(
            kept,
            rank=places(kept.query, self.queries),
            retrieved=np.bincount(kept.query, minlength=self.queries),
        )

    def truncated(self, depth: int) -> Lists:
        """The lists cut to their first `depth` items, as if no more had been retrieved (trec_eval's -M)."""
        return replace(self.cut(depth), retrieved=np.minimum(self.retrieved, depth))
