"""Several ranked lists to one: reciprocal rank and weighted sums. Pure functions; searches nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from ragassay.errors import UsageError
from ragassay.run.systems.opening import Hit

FUSED_DIGITS = 12
"""Fused scores are rounded to this many decimals before they are compared: neighbours deep in a list stay apart."""
Normalise = Literal["minmax", "zscore", "none"]
Ranked = Sequence[tuple[int, float]]
"""A list of (passage number, score), best first; higher scores are better."""


def rrf(lists: Sequence[Ranked], k: int = 60, weights: Sequence[float] | None = None) -> list[Hit]:
    """Reciprocal rank fusion: the score of a passage is the sum over lists of weight / (k + rank), rank from 1.

    A passage that a list does not hold gets nothing from it; one that stands twice in a list counts where it stands
    first. A list of weight 0 is as good as absent: what only it holds is not in the result. Best first, ties (to 12
    decimals) in passage order; the order of the lists does not matter. No lists, or only empty ones: an empty list.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009 (k = 60, unweighted).

    >>> [(one.number, round(one.score, 5)) for one in rrf([[(3, 9.0), (1, 8.0)], [(1, 0.7)]])]
    [(1, 0.03252), (3, 0.01639)]
    """
    if isinstance(k, bool) or k < 0:
        raise UsageError(f"k is {k!r}", field="k", hint="0 or more; 60 is usual")
    parts: dict[int, list[float]] = {}
    for one, weight in _weighed(lists, weights):
        for rank, number in enumerate(dict.fromkeys(number for number, _ in one), 1):
            parts.setdefault(number, []).append(weight / (k + rank))
    return _best(parts)


def weighted(
    lists: Sequence[Ranked], weights: Sequence[float] | None = None, normalise: Normalise = "minmax"
) -> list[Hit]:
    """The weighted sum of scores that were made comparable, list by list.

    `minmax`: (s - min) / (max - min), 0 to 1, and 1 for all where all are equal; what the list does not hold gets 0.
    `zscore`: (s - mean) / standard deviation (of the list, not of a sample), 0 where all are equal; what the list does
    not hold gets the lowest of the list. `none`: s itself; what the list does not hold gets 0.

    Lists that are empty have no say. Duplicates, weights of 0, ties and order as in `rrf`.

    >>> [tuple(one) for one in weighted([[(3, 9.0), (1, 8.0)], [(1, 0.7)]], [0.5, 1.0])]
    [(1, 1.0), (3, 0.5)]
    """
    if normalise not in ("minmax", "zscore", "none"):
        raise UsageError(f"there is no normalisation {normalise!r}", field="normalise", hint="minmax, zscore or none")
    scaled: list[tuple[dict[int, float], float]] = []
    for one, weight in _weighed(lists, weights):
        scores = dict(reversed([(number, score) for number, score in one]))
        if not all(math.isfinite(score) for score in scores.values()):
            raise UsageError("a score is not a finite number", field="fusion", hint="rrf needs no scores")
        if scores:
            scaled.append((_comparable(scores, normalise), weight))
    numbers = {number for scores, _ in scaled for number in scores}
    parts: dict[int, list[float]] = {}
    for scores, weight in scaled:
        absent = min(scores.values()) if normalise == "zscore" else 0.0
        for number in numbers:
            parts.setdefault(number, []).append(weight * scores.get(number, absent))
    return _best(parts)


def _comparable(scores: dict[int, float], normalise: Normalise) -> dict[int, float]:
    values = list(scores.values())
    if normalise == "minmax":
        low, span = min(values), max(values) - min(values)
        return {number: (score - low) / span if span else 1.0 for number, score in scores.items()}
    if normalise == "zscore":
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / len(values))
        flat = max(values) == min(values) or not deviation
        return {number: 0.0 if flat else (score - mean) / deviation for number, score in scores.items()}
    return scores


def _weighed(lists: Sequence[Ranked], weights: Sequence[float] | None) -> list[tuple[Ranked, float]]:
    """The lists that count, each with its weight."""
    chosen = [1.0] * len(lists) if weights is None else [float(one) for one in weights]
    if len(chosen) != len(lists):
        raise UsageError(
            f"{len(lists)} lists and {len(chosen)} weights", field="weights", hint="one weight for each list"
        )
    if any(not math.isfinite(one) or one < 0 for one in chosen) or (chosen and not any(chosen)):
        raise UsageError("weights are 0 or more, and one of them is more", field="weights", hint="weights = [1.0, 0.5]")
    return [(one, weight) for one, weight in zip(lists, chosen, strict=True) if weight]


def _best(parts: dict[int, list[float]]) -> list[Hit]:
    """Summed exactly, so that the order of the lists cannot show; + 0.0 takes the sign off a zero."""
    found = [Hit(number, round(math.fsum(sorted(each)), FUSED_DIGITS) + 0.0) for number, each in parts.items()]
    return sorted(found, key=lambda one: (-one.score, one.number))
