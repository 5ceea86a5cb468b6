"""Margins on quantiles of times, as the gate reads them, where the true difference is known. By simulation.

The settings of `python -m bench.gate_bounds`. Both arms' times hang together question by question, as they do where
the same questions are asked twice; nothing in the bounds is made narrower by that, and nothing rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench.kept import keep
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ragassay.gate.quantiles import QUANTILES, Asked, Repeat, apart
from ragassay.records.policy import Budget

Floats = NDArray[np.float64]
Shape = Callable[[Floats], Floats]
"""Normal deviates to times in milliseconds, the later the greater."""
PAIRED, TOGETHER = 0.7, 0.6
"""Correlation of one question's two times, and of two questions of a cluster, on the scale of the deviates."""


class Setting(NamedTuple):
    """Times of both arms."""

    name: str
    told: str
    baseline: Shape
    candidate: Shape
    cluster: int = 1
    given_up: float = np.inf
    """After so many milliseconds nobody waits any longer."""


def lognormal(scale: float) -> Shape:
    """Median `scale`, deviation of the logarithm 0.8."""
    return lambda z: scale * np.exp(0.8 * z)


def pareto(scale: float) -> Shape:
    """Least time `scale`; the chance of a longer one falls by the power 1.5, so that it has no variance."""
    return lambda z: scale * np.asarray(ndtr(-z)) ** (-1 / 1.5)


def ticks(scale: float) -> Shape:
    """Log-normal, rounded up to a clock's 100 milliseconds."""
    return lambda z: np.ceil(lognormal(scale)(z) / 100) * 100


def stalls(share: float) -> Shape:
    """About 200 milliseconds, and about 5,000 in so large a share."""
    return lambda z: np.where(z > ndtri(1 - share), 5_000 * np.exp(0.05 * z), 200 * np.exp(0.2 * z))


SETTINGS = (
    Setting("log-normal", "median 250 ms and 300 ms", lognormal(250), lognormal(300)),
    Setting("heavy tail", "Pareto of index 1.5, from 100 ms and 120 ms on", pareto(100), pareto(120)),
    Setting("ticks", "log-normal, a clock of 100 ms", ticks(250), ticks(300)),
    Setting("stalls", "5 s in 4.5 and in 5.5 of 100, else 200 ms", stalls(0.045), stalls(0.055)),
    Setting("given up", "heavy tail, given up after 1.2 s", pareto(100), pareto(120), given_up=1_200.0),
    Setting("times together", f"log-normal, in clusters of 5, correlation {TOGETHER:g}", lognormal(250), lognormal(300),
            5),
)  # fmt: skip
STATISTICS = ("p50", "p95")


class Shown(NamedTuple):
    """What the experiments of one statistic in one setting at one n gave."""

    setting: str
    statistic: str
    n: int
    experiments: int
    method: str
    difference: float
    most: float
    """The share of experiments in which the true difference is not above the greatest that the gate allows for."""
    least: float
    bounded: float
    """The share of experiments in which there is a greatest at all."""
    false_pass: float
    """The margin is the true difference."""
    false_fail: float
    reach: float | None
    """Median distance of the greatest from the true difference, in baselines' quantiles."""


def draw(setting: Setting, rng: np.random.Generator, rows: int, n: int) -> tuple[Floats, Floats]:
    """Times of baseline and candidate, shape (rows, n) each."""
    own = rng.normal(size=(3, rows, n))
    if setting.cluster > 1:
        shared = np.repeat(rng.normal(size=(3, rows, -(-n // setting.cluster))), setting.cluster, axis=2)[:, :, :n]
        own = TOGETHER**0.5 * shared + (1 - TOGETHER) ** 0.5 * own
    both = PAIRED**0.5 * own[0] + (1 - PAIRED) ** 0.5 * own[1:]
    return setting.baseline(both[0]), setting.candidate(both[1])


def examine(setting: Setting, statistic: str, n: int, experiments: int, alpha: float, seed: int) -> Shown:
    """Draw the experiments and read each as the gate does, with the true difference as the margin."""
    rng = np.random.default_rng([seed, 2, SETTINGS.index(setting), n])
    at = ndtri(np.array([float(QUANTILES[statistic])]))
    theirs, ours = float(setting.baseline(at)[0]), float(setting.candidate(at)[0])
    budget = Budget(measure="latency", statistic=statistic, margin=max(ours - theirs, 0.0))  # type: ignore[arg-type]
    names = [(f"q{one}", f"c{one // setting.cluster}") for one in range(n)]
    base, new = draw(setting, rng, experiments, n)
    found = [
        apart(budget, asked(setting, names, mine), asked(setting, names, other), alpha)
        for mine, other in zip(new, base, strict=True)
    ]
    most = np.array([np.inf if one.most is None else one.most for one in found])
    least = np.array([-np.inf if one.least is None else one.least for one in found])
    there = np.isfinite(most)
    true = ours - theirs
    return Shown(
        setting.name, statistic, n, experiments, found[0].method, true,
        float(np.mean(most >= true - 1e-9)), float(np.mean(least <= true + 1e-9)), float(there.mean()),
        sum(one.held is True for one in found) / experiments, sum(one.held is False for one in found) / experiments,
        float(np.median(most - true)) / theirs if there.mean() > 0.5 else None,
    )  # fmt: skip


def asked(setting: Setting, names: Sequence[tuple[str, str]], times: Floats) -> list[Asked]:
    """One arm as the gate reads it."""
    limit = setting.given_up
    return [
        Asked(name, cluster, (Repeat("value", one) if one <= limit else Repeat("error", None, limit),))
        for (name, cluster), one in zip(names, times.tolist(), strict=True)
    ]


def every(folder: Path | None, sizes: Sequence[int], experiments: int, alpha: float, seed: int) -> list[Shown]:
    """Both statistics in every setting at every n."""
    made = []
    for setting in SETTINGS:
        for statistic in STATISTICS:
            for n in sizes:
                name = f"times {setting.name} {statistic} {n}"
                made.append(
                    Shown(**keep(folder, name, partial(_told, setting, statistic, n, experiments, alpha, seed)))
                )
    return made


def _told(*given: Any) -> dict[str, Any]:
    return examine(*given)._asdict()


def page(found: Sequence[Shown], least: float) -> Iterator[str]:
    """The tables of the quantiles."""
    yield "\n### Margins on quantiles of times\n"
    yield (
        "The margin is the true difference of the two quantiles: a pass is then false, and so is a fail; each may be "
        "5 of 100. *Bounded* is the share of experiments in which the difference has a greatest value at all: a p95 "
        "needs 72 independent questions for that.\n"
    )
    yield "| setting | times of baseline and candidate |\n|---|---|"
    for setting in SETTINGS:
        yield f"| {setting.name} | {setting.told} |"
    yield (
        "\n| setting | quantile | n | method | true difference, ms | greatest holds | least holds | bounded "
        "| false pass | false fail | greatest is off by, in baseline's quantiles |"
    )
    yield "|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    for one in found:
        reach = "" if one.reach is None else f"{one.reach:.2f}"
        yield (
            f"| {one.setting} | {one.statistic} | {one.n} | {one.method} | {one.difference:.0f} | {one.most:.3f} "
            f"| {one.least:.3f} | {one.bounded:.2f} | {one.false_pass:.3f} | {one.false_fail:.3f} | {reach} |"
        )
    worst = min(min(one.most, one.least) for one in found)
    said = "held" if worst >= least else "**not held**"
    yield f"\nLeast: {worst:.4f}. Wanted: {least:.4f} (95 % less three Monte Carlo errors): {said}."
