"""Effects of figures that are no mean over rows of whole questions, from the estimates of both tables. Makes no figure.

Areas under curves, consistency over paraphrases, pass^k and counts of outcomes stand in a table as estimates alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragassay.compare.side import Side, order_of
from ragassay.records.comparison import Effect
from ragassay.records.score import Estimate, Interval, Population

UNPAIRED = "mover_unpaired"
Key = tuple[str, str | None, Population, str]


def figures(a: Side, b: Side) -> Iterator[Effect]:
    """One effect a figure that either table has an estimate of and neither has rows of.

    The interval joins those of the two estimates as if the arms were independent (method of variance estimates
    recovery), which for two systems on the same questions is wider than it need be. No test, no detectable effect.
    """
    ours, theirs = _by_key(a), _by_key(b)
    rows = {*a.keys, *b.keys}
    for key in sorted({*ours, *theirs}, key=lambda one: (order_of(one[2]), one[0], one[1] or "", one[3])):
        if (key[0], key[1]) in rows:
            continue
        one, other = ours.get(key), theirs.get(key)
        if one is not None and other is not None:
            yield _effect(a, key, one, other)


def _by_key(side: Side) -> dict[Key, Estimate]:
    return {(one.measure, one.step, one.population, one.aggregation): one for one in side.estimates}


def _effect(side: Side, key: Key, one: Estimate, other: Estimate) -> Effect:
    measure, step, population, aggregation = key
    told = side.told(measure, step)
    fewer = min((one, other), key=lambda each: each.scored)
    attempted = max(one.attempted, other.attempted)
    fields: dict[str, Any] = {
        "measure": measure, "step": step, "population": population, "aggregation": aggregation,
        "direction": told.declared.direction if told.declared else "none", "attempted": attempted,
        "pairs": fewer.scored, "undefined": fewer.undefined, "missing": fewer.missing + attempted - fewer.attempted,
        "error": fewer.error, "unit": other.unit,
    }  # fmt: skip
    clusters = min((each.interval.clusters for each in (one, other) if each.interval), default=fewer.scored)
    if one.value is None or other.value is None:
        without = one if one.value is None else other
        return Effect(status=without.status, reason=without.reason, clusters=clusters, **fields)
    return Effect(
        status="value", baseline=one.value, candidate=other.value, effect=other.value - one.value,
        interval=_joined(one, other), clusters=clusters, **fields,
    )  # fmt: skip


def _joined(one: Estimate, other: Estimate) -> Interval | None:
    if one.interval is None or other.interval is None or one.value is None or other.value is None:
        return None
    effect = other.value - one.value
    down = math.hypot(other.value - other.interval.low, one.interval.high - one.value)
    up = math.hypot(other.interval.high - other.value, one.value - one.interval.low)
    clusters = min(one.interval.clusters, other.interval.clusters)
    return Interval(low=effect - down, high=effect + up, level=one.interval.level, method=UNPAIRED, clusters=clusters)
