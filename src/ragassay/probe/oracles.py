"""Whether what is denied can be told from what does not exist: status, words, counts, scores, time. Asks nothing.

For each question of an attacker there is the same question about something that was never planted, asked right before
or after it, in an order that the key decides. The pairs are split in two samples. A number is compared by the sign of
its difference in each pair (an exact test that assumes nothing of its distribution); of statuses and words, the one
that differs most in the first sample is tested. A finding needs p < 1e-4 in the first sample, corrected for the number
of paths looked at, and again in the second, in the same direction; one of both is for review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

from scipy.stats import binomtest

from ragassay.records.probe import Channel, Oracle

ALPHA = 1e-4
LEAST_PAIRS = 15
"""Of each sample: fewer pairs cannot reach 1e-4, even if all of them differ."""
POWER = 0.9


class Seen(NamedTuple):
    """What one reply shows to whoever compares: numbers and words by (channel, path)."""

    numbers: Mapping[tuple[Channel, str], float]
    words: Mapping[tuple[Channel, str], str]


Pair = tuple[Seen, Seen]
"""(denied, non-existent)."""
Verdict = Literal["finding", "review", "none", "not_evaluable"]


def oracles(pairs: Sequence[Pair]) -> list[Oracle]:
    """One result for each number and word that any reply shows; without enough pairs each is not evaluable."""
    first, second = pairs[0::2], pairs[1::2]
    numbers = sorted({key for pair in pairs for one in pair for key in one.numbers})
    words = sorted({key for pair in pairs for one in pair for key in one.words})
    many = max(1, len(numbers) + len(words))
    found = [_number(key, first, second, many) for key in numbers]
    return found + [_word(key, first, second, many) for key in words]


def _number(key: tuple[Channel, str], first: Sequence[Pair], second: Sequence[Pair], many: int) -> Oracle:
    samples = [[a.numbers.get(key, 0.0) - b.numbers.get(key, 0.0) for a, b in half] for half in (first, second)]
    verdict, p_values = _decided(samples, many)
    effect = median(samples[1]) if samples[1] else None
    detectable = _detectable(samples[1]) if key[0] in ("latency", "count") else None
    return Oracle(
        channel=key[0], path=key[1] or "body", pairs=(len(first), len(second)), p_values=p_values, verdict=verdict,
        effect=effect, detectable=detectable,
    )  # fmt: skip


def _word(key: tuple[Channel, str], first: Sequence[Pair], second: Sequence[Pair], many: int) -> Oracle:
    balance: Counter[str] = Counter()
    for denied, absent in first:
        balance[denied.words.get(key, "")] += 1
        balance[absent.words.get(key, "")] -= 1
    telling = max(balance, key=lambda one: (abs(balance[one]), one), default="")
    samples = [
        [float((a.words.get(key, "") == telling) - (b.words.get(key, "") == telling)) for a, b in half]
        for half in (first, second)
    ]
    verdict, p_values = _decided(samples, many)
    effect = sum(samples[1]) / len(samples[1]) if samples[1] else None
    return Oracle(
        channel=key[0], path=key[1] or "body", pairs=(len(first), len(second)), p_values=p_values, verdict=verdict,
        effect=effect,
    )  # fmt: skip


def _decided(samples: Sequence[Sequence[float]], many: int) -> tuple[Verdict, tuple[float, float]]:
    if min(map(len, samples)) < LEAST_PAIRS:
        return "not_evaluable", (1.0, 1.0)
    (p_first, side_first), (p_second, side_second) = (sign_test(one) for one in samples)
    again = p_second < ALPHA and side_first == side_second
    if p_first * many < ALPHA:
        return ("finding" if again else "review"), (p_first, p_second)
    return ("review" if p_second * many < ALPHA else "none"), (p_first, p_second)


def sign_test(differences: Sequence[float]) -> tuple[float, int]:
    """The exact two-sided p value that ups and downs are equally likely, and which are more; 1 without any.

    >>> sign_test([1.0] * 14)[0]
    0.0001220703125
    """
    ups, downs = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    if not ups + downs:
        return 1.0, 0
    return float(binomtest(ups, ups + downs).pvalue), (ups > downs) - (ups < downs)


def _detectable(differences: Sequence[float]) -> float | None:
    """The shift that such differences would have shown with probability POWER; None if no shift would.

    The differences less their median stand for those of a service that tells nothing.
    """
    if len(differences) < LEAST_PAIRS:
        return None
    middle = median(differences)
    noise = sorted(one - middle for one in differences)
    share = _share_needed(len(differences))
    if share is None:
        return None
    place = min(len(noise) - 1, int((1 - share) * len(noise)))
    return max(0.0, -noise[place])


def _share_needed(pairs: int) -> float | None:
    """The share of ups from which the sign test of so many pairs says yes with probability POWER."""
    from scipy.stats import binom

    least = next((k for k in range(pairs // 2, pairs + 1) if binomtest(k, pairs).pvalue < ALPHA), None)
    if least is None:
        return None
    return next((s / 1000 for s in range(500, 1000) if binom.sf(least - 1, pairs, s / 1000) >= POWER), 0.999)
