"""Idf-weighted recall of a claim's terms over the greedy best few sentences. Sees no contradiction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragassay.run.judges.lexical.terms import Sentence

SENTENCES = 3
"""How many sentences may stand together behind a claim."""


class Frequencies(NamedTuple):
    """In how many sentences of a corpus each term stands; `total` sentences."""

    total: int
    counts: Mapping[str, int]


class Overlap(NamedTuple):
    """Recall 0 to 1, and the sentences that it rests on by their number, the best first."""

    recall: float
    chosen: tuple[int, ...]
    weights: Mapping[str, float]


def weights_of(keys: Sequence[str], shown: Sequence[Sentence], corpus: Frequencies | None = None) -> dict[str, float]:
    """ln(1 + (n + 1) / (df + 0.5)) of each term, over the sentences shown and, if given, those of the corpus."""
    counts = Counter(key for one in shown for key in one.keys.intersection(keys))
    total = len(shown) + (corpus.total if corpus else 0)
    return {
        key: math.log(1 + (total + 1) / (counts[key] + (corpus.counts.get(key, 0) if corpus else 0) + 0.5))
        for key in keys
    }


def overlap(
    claim: Sequence[Sentence], shown: Sequence[Sentence], corpus: Frequencies | None = None, most: int = SENTENCES
) -> Overlap:
    """The weighted share of the claim's terms that stand in the best `most` sentences, taken greedily.

    Ties go to the sentence that stands first. A claim without terms has recall 0: nothing of it is known to be there.
    """
    keys = sorted({key for one in claim for key in one.keys})
    weights = weights_of(keys, shown, corpus)
    total = math.fsum(weights.values())
    missing, chosen = set(keys), []
    for _ in range(min(most, len(shown))):
        gains = [math.fsum(weights[key] for key in sorted(one.keys & missing)) for one in shown]
        best = max(range(len(shown)), key=lambda at: (gains[at], -at))
        if gains[best] <= 0:
            break
        chosen.append(best)
        missing -= shown[best].keys
    held = math.fsum(weights[key] for key in keys if key not in missing)
    return Overlap(held / total if total else 0.0, tuple(chosen), weights)
