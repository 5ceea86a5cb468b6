"""All effects of two arms: every measure at every step, by class and slice, with the tests. Stores nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from ragassay.compare import times
from ragassay.compare.cells import Floats, Ints, Key
from ragassay.compare.effect import EXACT_UP_TO, Differences, differences, effect_of
from ragassay.compare.families import Purpose, corrected
from ragassay.compare.figures import Setting as Drawn
from ragassay.compare.figures import figures
from ragassay.compare.pairs import LAST_LIST, Pairs, aggregation_of, both_placed, joined, pairs, status_counts
from ragassay.compare.side import Side, order_of
from ragassay.records.comparison import Effect, PairedTest
from ragassay.records.score import Population
from ragassay.score.estimates import TIMES
from ragassay.stats.shared_flips import FlipGroup, Flips, shared_flips


class Setting(NamedTuple):
    """How effects are made."""

    seed: int
    flips: int
    level: float
    slices: Purpose


class Flipped(NamedTuple):
    """What a sign flip turns round, and which cluster each is of; arrays of one length."""

    clusters: Ints
    values: Floats
    size: float
    """The sum of the absolute values that these were made of."""


class Tested(NamedTuple):
    """An effect before its test, and what is flipped for it; None: nothing is."""

    effect: Effect
    flipped: Flipped | None = None


def common_keys(a: Side, b: Side) -> tuple[Key, ...]:
    """Every (measure, step) of either table, and the last list of each arm where its name differs."""
    ours, theirs = set(a.keys), set(b.keys)
    found = ours | theirs
    first, last = a.last_list, b.last_list
    if first and last and first != last and not any(step == LAST_LIST for _, step in found):
        found |= {(measure, LAST_LIST) for measure, step in ours if step == first and (measure, last) in theirs}
    return tuple(sorted(found, key=lambda key: (key[0], key[1] or "")))


def effects(a: Side, b: Side, setting: Setting) -> list[Effect]:
    """Every effect in order: by class and slice, measure, step and aggregation.

    What only one arm has a row of is there once a class, without a value. All tests share one row of signs, a sign a
    cluster, so that the tests of all measures and slices belong together.
    """
    tested = [one for population in populations(a, b) for one in _of_population(a, b, population, setting)]
    for one in figures(a, b, Drawn(setting.seed, setting.flips, setting.level)):
        tested.append(Tested(one.effect, None if one.pairs is None else _flipped(one.pairs, one.own)))
    made = _with_tests(a, b, tested, setting)
    made.sort(key=_order)
    return corrected(made, setting.slices, whole_slices(a, b))


def whole_slices(a: Side, b: Side) -> set[Population]:
    """Slices that hold all of their class in both arms: no population of their own."""
    found = set()
    for population in populations(a, b):
        class_ = Population(class_=population.class_)
        alike = [
            side.members.get(population) is not None and bool((side.members[population] == side.members[class_]).all())
            for side in (a, b)
            if class_ in side.members
        ]
        if population.slice is not None and all(alike):
            found.add(population)
    return found


def populations(a: Side, b: Side) -> tuple[Population, ...]:
    """Those of either arm, in order."""
    return tuple(sorted({*a.members, *b.members}, key=order_of))


def _order(one: Effect) -> tuple[int, str, str, str, str]:
    place, name = order_of(one.population)
    return place, name, one.measure, one.step or "", one.aggregation


def _of_population(a: Side, b: Side, population: Population, setting: Setting) -> Iterator[Tested]:
    both = {*a.keys} & {*b.keys}
    for measure, step in common_keys(a, b):
        alone = step != LAST_LIST and (measure, step) not in both
        known = [side for side in (a, b) if population in side.populations(measure)]
        if not known or (alone and population.slice is not None):
            continue
        yield from _of_measure(a, b, measure, step, population, setting)


def _of_measure(
    a: Side, b: Side, measure: str, step: str | None, population: Population, setting: Setting
) -> Iterator[Tested]:
    told = b.told(measure, step)
    for how in aggregation_of(b, measure, step):
        made = pairs(a, b, measure, population, step, how)
        counted = status_counts(made)
        if len(made.query_ids) + sum(counted) == 0:
            return
        own = differences(made)
        effect = effect_of(made, counted, own, told.unit, setting.level, setting.flips)
        if told.name in TIMES:
            yield from _of_times(a, b, Tested(effect, _flipped(made, own)), setting)
        else:
            yield Tested(effect, _flipped(made, own))


def _flipped(made: Pairs, own: Differences | None) -> Flipped | None:
    return None if own is None else Flipped(made.clusters, own.flipped, own.size)


def _of_times(a: Side, b: Side, mean: Tested, setting: Setting) -> Iterator[Tested]:
    """The mean, which no timeout may be left out of, and the quantiles."""
    one = mean.effect
    join, left, right = both_placed(a, b, one.measure, one.step, one.population)
    found = times.times_of(join, left, right)
    if found is None or one.pairs == 0:
        yield mean
        return
    cut_short = any(len(own.given_up) for own in found)
    if cut_short:
        yield Tested(_without(one, times.mean_bounds(*found)))
    else:
        yield mean
    for name, share in times.QUANTILES.items():
        made = times.between(*found, share, setting.level)
        if made.baseline is None or made.candidate is None:
            yield Tested(replace(_without(one, made.bounds), aggregation=name))
            continue
        effect = replace(
            one, aggregation=name, baseline=made.baseline, candidate=made.candidate, status="value", reason=None,
            effect=made.candidate - made.baseline, interval=made.interval, bounds=None, detectable=None, doubt=None,
        )  # fmt: skip
        over = times.above(*found, share)
        yield Tested(effect, None if over is None else Flipped(*over))


def _without(one: Effect, bounds: object) -> Effect:
    return replace(
        one, status="undefined", reason="right_censored", baseline=None, candidate=None, effect=None, interval=None,
        bounds=bounds, detectable=None, doubt=None,
    )  # fmt: skip


def _with_tests(a: Side, b: Side, tested: Sequence[Tested], setting: Setting) -> list[Effect]:
    """Each effect with the test of its differences, all of one population as one table."""
    groups: dict[Population, list[int]] = {}
    for place, one in enumerate(tested):
        if one.flipped is not None:
            groups.setdefault(one.effect.population, []).append(place)
    made = [one.effect for one in tested]
    tables = [_group([own for place in places if (own := tested[place].flipped)]) for places in groups.values()]
    size = int(joined(a, b).clusters.max(initial=-1)) + 1
    found = shared_flips(tables, size, seed=setting.seed, flips=setting.flips, exact_up_to=EXACT_UP_TO)
    for places, tests in zip(groups.values(), found, strict=True):
        for place, test in zip(places, tests, strict=True):
            made[place] = replace(made[place], test=_test(test))
    return made


def _test(found: Flips) -> PairedTest:
    return PairedTest(p=found.p, floor=found.floor, method="exact" if found.exact else "random", flips=found.flips)


def _group(own: Sequence[Flipped]) -> FlipGroup:
    """The differences of one population as a table of clusters and effects."""
    units = np.unique(np.concatenate([one.clusters for one in own]))
    values = np.zeros((len(units), len(own)))
    for column, one in enumerate(own):
        values[:, column] = np.bincount(np.searchsorted(units, one.clusters), one.values, minlength=len(units))
    return FlipGroup(units, values, np.array([one.size for one in own]))
