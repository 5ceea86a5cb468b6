"""What other orders of tied items could give: ranks with the relevant ones first, and with them last."""

from __future__ import annotations

import numpy as np

from ragassay.measures.lists import Bools, Ints, by_query, places, running


def extreme_ranks(query: Ints, first: Ints, last: Ints, grade: Ints, *, best: bool) -> Ints:
    """Rank of each judged row when every tie is ordered for the best (or the worst) for measures of relevance.

    Best: positive grades first, the greatest foremost, grade 0 last, unjudged and negative ones between.
    Worst: the other way round. Rows outside ties stay. Arrays have shape (rows,); ranks first..last are the tie's.
    """
    result = np.where((grade == 0) == best, last, first)  # right for the only judged row of a tie
    order = by_query(query, first)
    tie = _groups(query[order], first[order])
    rows = order[np.bincount(tie)[tie] > 1]
    result[rows] = _shared(query[rows], first[rows], last[rows], grade[rows], best=best)
    return result


def _shared(query: Ints, first: Ints, last: Ints, grade: Ints, *, best: bool) -> Ints:
    """As `extreme_ranks`, of ties with several judged rows."""
    side = _side(grade)
    order = np.lexsort((-grade, side, first, query))
    tie = _groups(query[order], first[order])
    ties = int(tie[-1]) + 1 if len(tie) else 0
    front = side[order] < 2
    from_front = places(tie, ties) - 1
    zeros = running(~front, tie, ties)
    zeros_in_tie = np.bincount(tie[~front], minlength=ties)[tie]
    low, high = first[order], last[order]
    if best:
        place = np.where(front, low + from_front, high - (zeros_in_tie - zeros))
    else:
        place = np.where(front, high - from_front, low + (zeros_in_tie - zeros))
    result = np.empty_like(place)
    result[order] = place
    return result


def _side(grade: Ints) -> Ints:
    """0 for positive grades, 1 for negative ones, 2 for grade 0."""
    result: Ints = np.where(grade > 0, 0, np.where(grade < 0, 1, 2))
    return result


def _groups(query: Ints, first: Ints) -> Ints:
    """A number for each (query, first), ascending; the rows are sorted by them."""
    fresh: Bools = np.ones(len(query), bool)
    fresh[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    result: Ints = np.cumsum(fresh) - 1
    return result
