"""Which texts are nearly equal: Jaccard similarity of word trigrams, all pairs, exactly. Knows no case.

The similarity is that of PostgreSQL's pg_trgm: each word, padded by two spaces before and one after, gives its runs of
three characters; two texts are as alike as their sets of trigrams. It reads no meaning: a swapped name or a "not"
changes little. All pairs at or above a threshold are found by prefix filtering (Bayardo, Ma, Srikant: Scaling up all
pairs similarity search, 2007; Xiao et al.: PPJoin, 2008): two sets that are alike enough share one of their rarest
members.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple


def trigrams(text: str) -> frozenset[str]:
    """The trigrams of the words of a normalised text; a text without words has none.

    >>> sorted(trigrams("cat"))
    ['  c', ' ca', 'at ', 'cat']
    """
    found: set[str] = set()
    for word in text.split():
        padded = f"  {word} "
        found.update(padded[at : at + 3] for at in range(len(padded) - 2))
    return frozenset(found)


class Pair(NamedTuple):
    """Two places in the list of texts, the first before the second, and how alike they are."""

    first: int
    second: int
    similarity: float


class Joined(NamedTuple):
    """All pairs, or those that were found before the search was stopped."""

    pairs: list[Pair]
    stopped: bool


def nearly_equal(texts: Sequence[str], least: float, *, most_compared: int, most_pairs: int) -> Joined:
    """All pairs of texts with Jaccard similarity of trigrams >= `least` (0 < least <= 1), sorted.

    Exact: the threshold is compared as a fraction. Stops after so many comparisons or pairs, in an order that does not
    depend on that of the texts. Texts without trigrams are alike to nothing.
    """
    wanted = Fraction(str(least))
    sets = _ranked([trigrams(text) for text in texts])
    order = sorted((at for at in range(len(texts)) if sets[at]), key=lambda at: (len(sets[at]), sets[at], texts[at]))
    sizes = [len(sets[at]) for at in order]
    members: list[frozenset[int]] = []
    index: dict[int, list[int]] = defaultdict(list)
    pairs: list[Pair] = []
    compared = 0
    for place, at in enumerate(order):
        ranks, size = sets[at], sizes[place]
        mine = frozenset(ranks)
        shortest = _ceil(wanted * size)
        first = bisect_left(sizes, shortest, 0, place)
        met: set[int] = set()
        for rank in ranks[: size - shortest + 1]:
            posted = index.get(rank)
            if posted:
                met.update(posted[bisect_left(posted, first) :] if posted[0] < first else posted)
        if compared + len(met) > most_compared or len(pairs) > most_pairs:
            return Joined(sorted(pairs), True)
        compared += len(met)
        for other in met:
            shared = len(mine & members[other])
            union = size + sizes[other] - shared
            if shared * wanted.denominator >= union * wanted.numerator:
                pairs.append(Pair(min(at, order[other]), max(at, order[other]), shared / union))
        # A later set is no smaller, so it shares at least 2t/(1+t) of this one: fewer of the rarest members are enough.
        for rank in ranks[: size - _ceil(2 * wanted / (1 + wanted) * size) + 1]:
            index[rank].append(place)
        members.append(mine)
    return Joined(sorted(pairs), False)


def _ranked(sets: Sequence[Iterable[str]]) -> list[tuple[int, ...]]:
    """Each set as sorted numbers, the rarest member first."""
    counts = Counter(one for each in sets for one in each)
    rank = {one: at for at, (one, _) in enumerate(sorted(counts.items(), key=lambda pair: (pair[1], pair[0])))}
    return [tuple(sorted(rank[one] for one in each)) for each in sets]


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
