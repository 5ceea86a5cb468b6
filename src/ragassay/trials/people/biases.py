"""Whether a judge is more ahead of people on some items than on others: by length, by place, by whose words they are.

A difference of means with a bootstrap interval over questions; it says nothing of why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ragassay.records.judgement import About, Bias
from ragassay.stats.resample import bootstrap
from ragassay.trials.people.held import Held, record_interval

LEAST = 10
"""Items of each half; with fewer nothing is said."""
Floats = NDArray[np.float64]


def biases_of(held: Sequence[Held], seed: int, level: float) -> Iterator[Bias]:
    """Length and position of every kind of item; own phrasing is not told from one run, which has one generator."""
    for about in sorted({one.about for one in held}):
        own = [one for one in held if one.about == about and one.ruling.label is not None]
        if not own:
            continue
        middle = median(one.length for one in own)
        yield _bias("length", about, own, lambda one, at=middle: one.length > at, "longer than the median", seed, level)  # type: ignore[misc]
        placed = [one for one in own if one.place is not None]
        if placed:
            yield _bias("position", about, placed, _early, "in the first half of the answer", seed, level)
        yield Bias(name="own_phrasing", about=about, items=len(own), absent="one_generator")


def _early(one: Held) -> bool:
    return one.place is not None and one.place < 0.5


def _bias(
    name: str,
    about: About,
    held: Sequence[Held],
    first: Callable[[Held], bool],
    halves: str,
    seed: int,
    level: float,
) -> Bias:
    inside = np.array([float(first(one)) for one in held])
    ahead = np.array([float(one.judge_good) - float(one.good) for one in held])
    few = min(inside.sum(), len(held) - inside.sum()) < LEAST
    if few:
        return Bias(name=name, about=about, items=len(held), halves=halves, absent="too_few_items")  # type: ignore[arg-type]

    def figure(weights: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            one = weights @ (inside * ahead) / (weights @ inside)
            other = weights @ ((1 - inside) * ahead) / (weights @ (1 - inside))
            return np.asarray(one - other)

    value = float(figure(np.ones((1, len(held))))[0])
    found = bootstrap(figure, [one.cluster for one in held], seed=seed, level=level)
    return Bias(
        name=name,  # type: ignore[arg-type]
        about=about,
        items=len(held),
        value=value,
        interval=record_interval(found),
        halves=halves,
    )
