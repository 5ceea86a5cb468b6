"""Ranks within ties, worked out by hand."""

from __future__ import annotations

import numpy as np

from ragassay.measures.ties import extreme_ranks

# Question 0: rank 1 alone; ranks 2 to 8 tied, of which four judged rows (grades 1, 0, 2, -1), one more 0, and two
# unjudged. Question 1: ranks 1 to 3 tied, with grades 0 and 3.
QUERY = np.array([0, 0, 0, 0, 0, 0, 1, 1])
FIRST = np.array([1, 2, 2, 2, 2, 2, 1, 1])
LAST = np.array([1, 8, 8, 8, 8, 8, 3, 3])
GRADE = np.array([0, 1, 0, 2, -1, 0, 0, 3])


def test_best_and_worst_order_of_ties() -> None:
    best = extreme_ranks(QUERY, FIRST, LAST, GRADE, best=True)
    # 2 first, then 1, then the negative; the zeros at the end (in their own order), the unjudged between
    assert best.tolist() == [1, 3, 7, 2, 4, 8, 3, 1]
    worst = extreme_ranks(QUERY, FIRST, LAST, GRADE, best=False)
    # 2 last, before it 1, before that the negative; the zeros first, the later of them foremost
    assert worst.tolist() == [1, 7, 3, 8, 6, 2, 1, 3]


def test_nothing_to_order() -> None:
    empty = np.zeros(0, np.int64)
    assert extreme_ranks(empty, empty, empty, empty, best=True).tolist() == []
    assert extreme_ranks(QUERY[:1], FIRST[:1], LAST[:1], np.array([2]), best=False).tolist() == [1]


def test_order_of_rows_does_not_matter() -> None:
    order = np.array([5, 7, 0, 3, 6, 1, 4, 2])
    for best in (True, False):
        whole = extreme_ranks(QUERY, FIRST, LAST, GRADE, best=best)
        mixed = extreme_ranks(QUERY[order], FIRST[order], LAST[order], GRADE[order], best=best)
        # Equal grades may change places among themselves.
        assert sorted(zip(QUERY[order], GRADE[order], mixed, strict=True)) == sorted(
            zip(QUERY, GRADE, whole, strict=True)
        )
