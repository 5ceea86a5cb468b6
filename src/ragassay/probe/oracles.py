"""Whether what is denied can be told from what does not exist: status, words, counts, scores, time. Asks nothing.

For each question of an attacker there is the same question about something that was never planted, asked right before
or after it, in an order that the key decides. What is asked about one document hangs together (its invented word is
nearer to some passages than another), so that a document counts once, however often and in however many ways it was
asked for. The documents are split in two samples. A number is compared by the sign of its difference at each document
(an exact test that assumes nothing of its distribution); of statuses and words, the one that differs most in the first
sample is tested. A finding needs p < 1e-4 in both samples, in the same direction: by chance that happens to one path in
two hundred million. Where one sample alone shows it, corrected for the number of paths looked at, it is for review.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import Literal, NamedTuple

from scipy.stats import binom, binomtest

from ragassay.records.probe import Channel, Oracle

ALPHA = 1e-4
LEAST_PAIRS = 15
"""Documents of each sample: fewer cannot reach 1e-4, even if all of them differ."""
POWER = 0.9
"""Of both samples together."""
Key = tuple[Channel, str]


class Seen(NamedTuple):
    """What one reply shows to whoever compares: numbers and words by (channel, path)."""

    numbers: Mapping[Key, float]
    words: Mapping[Key, str]


class Pair(NamedTuple):
    """One question about a document that is denied, and the same about one that does not exist."""

    document: str
    denied: Seen
    absent: Seen


Sample = Sequence[Sequence[Pair]]
"""The pairs of each document."""
Verdict = Literal["finding", "review", "none", "not_evaluable"]


def oracles(pairs: Sequence[Pair]) -> list[Oracle]:
    """One result for each number and word that any reply shows; without enough documents each is not evaluable."""
    documents: dict[str, list[Pair]] = {}
    for one in pairs:
        documents.setdefault(one.document, []).append(one)
    ordered = sorted(documents.values(), key=len, reverse=True)  # so that both samples have as many of each kind
    first, second = ordered[0::2], ordered[1::2]
    both = [seen for one in pairs for seen in (one.denied, one.absent)]
    numbers = sorted({key for seen in both for key in seen.numbers})
    words = sorted({key for seen in both for key in seen.words})
    many = max(1, len(numbers) + len(words))
    found = [_number(key, first, second, many) for key in numbers]
    return found + [_word(key, first, second, many) for key in words]


def _number(key: Key, first: Sample, second: Sample, many: int) -> Oracle:
    samples = [_differences(key, half) for half in (first, second)]
    verdict, p_values = _decided(samples, many)
    effect = median(samples[1]) if samples[1] else None
    detectable = None
    if key[0] in ("latency", "count"):
        detectable = detectable_shift([*samples[0], *samples[1]], min(map(len, samples)), whole=key[0] == "count")
    return Oracle(
        channel=key[0], path=key[1] or "body", pairs=(len(first), len(second)), p_values=p_values, verdict=verdict,
        effect=effect, detectable=detectable,
    )  # fmt: skip


def _differences(key: Key, sample: Sample) -> list[float]:
    """One a document: the median of its pairs for time, of which one may be long by chance; else their mean."""
    found = []
    for pairs in sample:
        told = [
            one.denied.numbers.get(key, 0.0) - one.absent.numbers.get(key, 0.0)
            for one in pairs
            if key in one.denied.numbers or key in one.absent.numbers
        ]
        found.append(0.0 if not told else median(told) if key[0] == "latency" else sum(told) / len(told))
    return found


def _word(key: Key, first: Sample, second: Sample, many: int) -> Oracle:
    balance: Counter[str] = Counter()
    for pairs in first:
        for one in pairs:
            balance[one.denied.words.get(key, "")] += 1
            balance[one.absent.words.get(key, "")] -= 1
    telling = max(balance, key=lambda one: (abs(balance[one]), one), default="")
    samples = [
        [sum(_differs(key, one, telling) for one in pairs) / len(pairs) for pairs in half] for half in (first, second)
    ]
    verdict, p_values = _decided(samples, many)
    effect = sum(samples[1]) / len(samples[1]) if samples[1] else None
    return Oracle(
        channel=key[0], path=key[1] or "body", pairs=(len(first), len(second)), p_values=p_values, verdict=verdict,
        effect=effect,
    )  # fmt: skip


def _differs(key: Key, one: Pair, telling: str) -> int:
    return (one.denied.words.get(key, "") == telling) - (one.absent.words.get(key, "") == telling)


def _decided(samples: Sequence[Sequence[float]], many: int) -> tuple[Verdict, tuple[float, float]]:
    if min(map(len, samples)) < LEAST_PAIRS:
        return "not_evaluable", (1.0, 1.0)
    (p_first, side_first), (p_second, side_second) = (sign_test(one) for one in samples)
    if max(p_first, p_second) < ALPHA and side_first == side_second:
        return "finding", (p_first, p_second)
    return ("review" if min(p_first, p_second) * many < ALPHA else "none"), (p_first, p_second)


def sign_test(differences: Iterable[float]) -> tuple[float, int]:
    """The exact two-sided p value that ups and downs are equally likely, and which are more; 1 without any.

    >>> sign_test([1.0] * 14)[0]
    0.0001220703125
    """
    given = list(differences)
    ups, downs = sum(one > 0 for one in given), sum(one < 0 for one in given)
    if not ups + downs:
        return 1.0, 0
    return float(binomtest(ups, ups + downs).pvalue), (ups > downs) - (ups < downs)


def detectable_shift(differences: Sequence[float], documents: int, *, whole: bool = False) -> float | None:
    """The least shift that samples of so many documents each would have shown, both, with probability POWER.

    The differences less their median stand for those of a service that tells nothing. `whole`: shifts are whole
    numbers. None if no shift would show.

    >>> detectable_shift([0.0] * 40, 20, whole=True)
    1.0
    """
    share = share_needed(documents)
    if share is None or not differences:
        return None
    middle = median(differences)
    noise = sorted(one - middle for one in differences)
    place = min(len(noise) - 1, int((1 - share) * len(noise)))
    least = max(0.0, -noise[place])
    return float(math.floor(least) + 1) if whole else least


@cache
def share_needed(documents: int) -> float | None:
    """The share of documents at which denied must be the greater, so that both samples say so with probability POWER.

    None if samples of so many documents cannot say so at all.

    >>> share_needed(14), share_needed(20), share_needed(100)
    (None, 0.998, 0.765)
    """
    if documents < LEAST_PAIRS:
        return None
    least = next((k for k in range(documents // 2, documents + 1) if binomtest(k, documents).pvalue < ALPHA), None)
    if least is None:
        return None
    return next((s / 1000 for s in range(500, 1000) if binom.sf(least - 1, documents, s / 1000) ** 2 >= POWER), 1.0)
