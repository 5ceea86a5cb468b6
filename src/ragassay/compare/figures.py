"""Effects of what is no mean over rows of whole questions: figures of a set, groups, repeats, counts. Makes no figure.

What they are made of is joined again from the rows of both tables; what has no rows here is compared by its estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from ragassay.compare.cells import Ints
from ragassay.compare.effect import Differences, differences, effect_of
from ragassay.compare.pairs import Ends, Lost, Pairs, joined, status_counts
from ragassay.compare.side import Side, order_of
from ragassay.compare.swapped import swapped
from ragassay.records.case import Case
from ragassay.records.comparison import Effect
from ragassay.records.score import Estimate, Interval, Population
from ragassay.score.derived import Made
from ragassay.score.summary import Summary

UNPAIRED = "mover_unpaired"
FEW = 20
"""With fewer clusters a bootstrap is too narrow."""
Key = tuple[str, str | None, Population, str]
"""Measure as it is spelled, step, population, aggregation."""


class Found(NamedTuple):
    """An effect, and for a mean of groups or questions what a sign flip turns round."""

    effect: Effect
    pairs: Pairs | None = None
    own: Differences | None = None


class Setting(NamedTuple):
    """How effects are made."""

    seed: int
    flips: int
    level: float


def figures(a: Side, b: Side, setting: Setting) -> Iterator[Found]:
    """One effect a figure that either table has an estimate of and neither has rows of.

    A figure of many decisions has a paired test by swapping the arms of whole clusters, and a bootstrap interval that
    draws a cluster's decisions in both arms together. A mean over groups of paraphrases or over questions with their
    repeats is compared as any mean. What is left, such as counts of outcomes, has an interval that joins those of both
    estimates as if the arms were independent, and no test.
    """
    ours, theirs = _by_key(a), _by_key(b)
    rows = {*a.keys, *b.keys}
    made, other = a.derived, b.derived
    for key in sorted({*ours, *theirs}, key=lambda one: (order_of(one[2]), one[0], one[1] or "", one[3])):
        if (key[0], key[1]) in rows or key not in ours or key not in theirs:
            continue
        left, right = made.get(key[:3]), other.get(key[:3])
        if left is None or right is None:
            yield Found(_effect(b, key, ours[key], theirs[key]))
        elif left.own is None or right.own is None:
            yield _of_groups(a, b, key, left, right, setting)
        else:
            yield Found(_of_decisions(a, b, key, (ours[key], theirs[key]), (left, right), setting))


def _by_key(side: Side) -> dict[Key, Estimate]:
    return {(one.measure, one.step, one.population, one.aggregation): one for one in side.estimates}


def _of_decisions(
    a: Side, b: Side, key: Key, both: tuple[Estimate, Estimate], made: tuple[Made, Made], setting: Setting
) -> Effect:
    plain = _effect(b, key, *both)
    if plain.status != "value" or made[0].own is None or made[1].own is None:
        return plain
    found = swapped(
        key[0], (made[0].own, made[1].own), cluster_numbers(a, b), seed=setting.seed, swaps=setting.flips,
        level=setting.level,
    )  # fmt: skip
    interval = found.interval or plain.interval
    few = found.interval is not None and found.clusters < FEW
    return replace(
        plain, interval=interval, test=found.test, clusters=found.clusters, doubt="few_clusters" if few else None
    )


def cluster_numbers(a: Side, b: Side) -> dict[str, int]:
    """Question -> the number of its cluster, over both arms: a sign flip has the same numbers."""
    join = joined(a, b)
    return dict(zip(join.ids, join.clusters.tolist(), strict=True))


def _of_groups(a: Side, b: Side, key: Key, left: Made, right: Made, setting: Setting) -> Found:
    """Each group, or each question with its repeats, as one value of either arm."""
    ours, theirs = ({str(case.query_id): (case, one) for case, one in made.group} for made in (left, right))
    names = sorted({*ours, *theirs})
    numbers = cluster_numbers(a, b)
    kept = [name for name in names if _value(ours.get(name)) is not None and _value(theirs.get(name)) is not None]
    told = b.told(key[0], key[1])
    pairs = Pairs(
        measure=key[0], step=key[1], population=key[2], aggregation=key[3], query_ids=tuple(kept),
        baseline=np.array([_value(ours[name]) for name in kept], np.float64),
        candidate=np.array([_value(theirs[name]) for name in kept], np.float64),
        clusters=np.array([numbers[name] for name in kept], np.int64), weights=None, within=told.within,
        direction=told.declared.direction if told.declared else "none",
        lost=tuple(_lost(names, ours, theirs)), ends=_ends(names, ours, theirs, numbers, told.within),
    )  # fmt: skip
    own = differences(pairs)
    effect = effect_of(pairs, status_counts(pairs), own, told.unit, setting.level, setting.flips)
    return Found(effect, pairs, own)


Units = Mapping[str, tuple[Case, Summary]]


def _value(one: tuple[Case, Summary] | None) -> float | None:
    return None if one is None or one[1].status != "value" else one[1].value


def _lost(names: Sequence[str], ours: Units, theirs: Units) -> Iterator[Lost]:
    for name in names:
        for side, own in (("baseline", ours), ("candidate", theirs)):
            one = own.get(name)
            if one is None:
                yield Lost(name, side, "missing", "not_asked")  # type: ignore[arg-type]
            elif one[1].status != "value":
                reason = min(one[1].reasons, default=one[1].status)
                yield Lost(name, side, one[1].status, reason)  # type: ignore[arg-type]


def _ends(
    names: Sequence[str], ours: Units, theirs: Units, numbers: Mapping[str, int], within: tuple[float, float] | None
) -> Ends | None:
    """Of the difference, over all that no side leaves undefined."""
    if within is None:
        return None
    low, high, clusters = [], [], []
    for name in names:
        both = [own.get(name) for own in (ours, theirs)]
        if any(one is not None and one[1].status == "undefined" for one in both):
            continue
        (least, most), (floor, top) = (_limits(one, within) for one in both)
        low.append(floor - most)
        high.append(top - least)
        clusters.append(numbers[name])
    found: Ints = np.array(clusters, np.int64)
    return Ends(np.array(low, np.float64), np.array(high, np.float64), found)


def _limits(one: tuple[Case, Summary] | None, within: tuple[float, float]) -> tuple[float, float]:
    if one is None:
        return within
    low, high = one[1].low, one[1].high
    return within[0] if low is None else low, within[1] if high is None else high


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
