"""Do the bounds of a gate hold, would t, and do descriptive intervals say where they do not? By simulation.

    python -m bench.gate_bounds [--experiments 5000] [--n 20 50 150 300] [--kept DIR] [--out docs/statistics.md]

Each setting draws the values of n questions from a distribution whose mean is known. A gate's bound *holds* if it does
not lie beyond that mean. What is printed is made of nothing but these draws; the same seed gives the same page. Figures
of many decisions are in `bench.gate_figures`, quantiles of times in `bench.gate_times`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench import gate_figures, gate_times
from bench.kept import keep, mark_of
from bench.page import put_out
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from ragassay.stats.onesided import lower_bounds, upper_bounds
from ragassay.stats.region import inside, region_numbers

Floats = NDArray[np.float64]
ALPHA, LEVEL, SEED = 0.05, 0.95, 20_261
SIZES = (20, 50, 150, 300)
INSIDE = 0.9
"""A setting is inside the declared region if so large a share of its experiments say so."""
READ = ("stats/onesided.py", "stats/figures.py", "stats/quantiles.py", "stats/region.py", "measures/selective.py",
        "gate/figures.py", "gate/quantiles.py")  # fmt: skip
"""The code that is examined."""
UNEQUAL = (1, 1, 1, 2, 2, 3, 4, 6)


class Drawn(NamedTuple):
    """Experiments of one setting."""

    values: Floats
    """Shape (experiments, n)."""
    sizes: NDArray[np.int64] | None
    """Questions of each cluster, which stand one after the other; None: each question is its own."""
    mean: float
    within: tuple[float, float]


class Setting(NamedTuple):
    """A distribution of the values of questions."""

    name: str
    kind: str
    told: str
    draw: Callable[[np.random.Generator, int, int], Drawn]


def rate(chance: float) -> Callable[[np.random.Generator, int, int], Drawn]:
    """One arm's right answers."""
    return lambda rng, rows, n: Drawn((rng.random((rows, n)) < chance) * 1.0, None, chance, (0.0, 1.0))


def moved(gained: float, lost: float) -> Callable[[np.random.Generator, int, int], Drawn]:
    """Right answers of two arms, candidate less baseline."""

    def draw(rng: np.random.Generator, rows: int, n: int) -> Drawn:
        at = rng.random((rows, n))
        return Drawn((at < gained) * 1.0 - (at > 1 - lost), None, gained - lost, (-1.0, 1.0))

    return draw


def inflated(gained: float, lost: float) -> Callable[[np.random.Generator, int, int], Drawn]:
    """Most questions do not move; the others by Beta(2, 2), mean 1/2."""

    def draw(rng: np.random.Generator, rows: int, n: int) -> Drawn:
        at, by = rng.random((rows, n)), rng.beta(2, 2, (rows, n))
        return Drawn(by * ((at < gained) * 1.0 - (at > 1 - lost)), None, (gained - lost) / 2, (-1.0, 1.0))

    return draw


def skewed(share: float, noise: float) -> Callable[[np.random.Generator, int, int], Drawn]:
    """A rare large loss, uniform on -1 to -1/2, beside symmetric noise cut at four standard deviations."""

    def draw(rng: np.random.Generator, rows: int, n: int) -> Drawn:
        usual = np.clip(rng.normal(0, noise, (rows, n)), -4 * noise, 4 * noise)
        lost = rng.random((rows, n)) < share
        return Drawn(np.where(lost, -rng.uniform(0.5, 1, (rows, n)), usual), None, -0.75 * share, (-1.0, 1.0))

    return draw


def paraphrases(rng: np.random.Generator, rows: int, n: int) -> Drawn:
    """Clusters of five, intraclass correlation 0.6, standard deviation 0.25."""
    sizes = np.full(n // 5, 5)
    groups = np.repeat(rng.normal(0, 0.25 * 0.6**0.5, (rows, len(sizes))), 5, axis=1)
    values = np.clip(groups + rng.normal(0, 0.25 * 0.4**0.5, (rows, n)), -1, 1)
    return Drawn(values, sizes, 0.0, (-1.0, 1.0))


def conversations(rng: np.random.Generator, rows: int, n: int) -> Drawn:
    """Clusters of one to six questions, the large ones worse: right or wrong together, by Beta-binomial draws."""
    sizes = np.array([*UNEQUAL * (n // sum(UNEQUAL)), *[1] * (n % sum(UNEQUAL))])
    means = np.where(sizes >= 4, 0.6, 0.9)
    chance = rng.beta(means * 1.5, (1 - means) * 1.5, (rows, len(sizes)))
    values = (rng.random((rows, n)) < np.repeat(chance, sizes, axis=1)) * 1.0
    return Drawn(values, sizes, float((sizes * means).sum() / n), (0.0, 1.0))


SETTINGS = (
    Setting("rate 0.9", "binary", "right in 90 of 100", rate(0.9)),
    Setting("rate 0.97", "binary", "right in 97 of 100", rate(0.97)),
    Setting("moved 8/3", "binary", "difference of two arms: 8 of 100 gained, 3 lost", moved(0.08, 0.03)),
    Setting("moved 20/5", "binary", "20 of 100 gained, 5 lost", moved(0.2, 0.05)),
    Setting("zeros 80 %", "zero-inflated", "12 of 100 gain, 8 lose, by Beta(2, 2)", inflated(0.12, 0.08)),
    Setting("zeros 60 %", "zero-inflated", "22 of 100 gain, 18 lose", inflated(0.22, 0.18)),
    Setting("loss 5 %", "skewed", "5 of 100 lose 0.5 to 1, the rest noise of 0.05", skewed(0.05, 0.05)),
    Setting("loss 10 %", "skewed", "10 of 100 lose 0.5 to 1, the rest noise of 0.05", skewed(0.1, 0.05)),
    Setting("loss in noise", "skewed", "4 of 100 lose 0.5 to 1, the rest noise of 0.2", skewed(0.04, 0.2)),
    Setting("paraphrases", "clustered", "clusters of 5, intraclass correlation 0.6, deviation 0.25", paraphrases),
    Setting("conversations", "clustered", "clusters of 1 to 6; the large ones 0.6 right, others 0.9", conversations),
)  # fmt: skip


class Found(NamedTuple):
    """What the experiments of one setting at one n gave."""

    setting: Setting
    n: int
    clusters: int
    experiments: int
    methods: dict[str, tuple[float, float, float]]
    """Gate bounds: lower holds, upper holds, median width over that of one-sided t."""
    t_holds: tuple[float, float]
    covers: float
    says_inside: float
    covers_inside: float | None
    covers_outside: float | None


def spread(drawn: Drawn) -> tuple[Floats, Floats]:
    """What each cluster adds to the error of the mean, shape (experiments, G), and the sizes."""
    n = drawn.values.shape[1]
    off = (drawn.values - drawn.values.mean(axis=1, keepdims=True)) / n
    if drawn.sizes is None:
        return off, np.ones(n)
    starts = np.concatenate(([0], np.cumsum(drawn.sizes)[:-1]))
    return np.add.reduceat(off, starts, axis=1), drawn.sizes.astype(np.float64)


def t_halves(sums: Floats, share: float) -> Floats:
    """Half of the width of `mean_interval` before it is cut to the range: t at `share` with G - 1 degrees."""
    size = sums.shape[1]
    error = np.sqrt(size / (size - 1) * (sums**2).sum(axis=1))
    return np.asarray(stdtrit(size - 1, share) * error)


def exact_bounds(values: Floats) -> tuple[Floats, Floats]:
    """Clopper and Pearson for values of 0 and 1, each side at ALPHA."""
    n, highs = values.shape[1], values.sum(axis=1)
    low = np.where(highs > 0, betaincinv(np.maximum(highs, 1), n - highs + 1, ALPHA), 0.0)
    high = np.where(highs < n, betaincinv(highs + 1, np.maximum(n - highs, 1), 1 - ALPHA), 1.0)
    return low, high


def examine(setting: Setting, n: int, experiments: int, seed: int = SEED) -> Found:
    """Draw the experiments and hold every bound against the known mean."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting), n])
    drawn = setting.draw(rng, experiments, n)
    values, truth = drawn.values, drawn.mean
    clusters = None if drawn.sizes is None else np.repeat(np.arange(len(drawn.sizes)), drawn.sizes)
    means = values.mean(axis=1)
    sums, sizes = spread(drawn)
    one, two = t_halves(sums, 1 - ALPHA), t_halves(sums, 0.5 + LEVEL / 2)
    bounds = {"betting": (
        lower_bounds(values, drawn.within, ALPHA, clusters), upper_bounds(values, drawn.within, ALPHA, clusters)
    )}  # fmt: skip
    if setting.kind == "binary" and drawn.within == (0.0, 1.0):
        bounds = {"exact": exact_bounds(values), **bounds}
    spread_out = one > 0
    methods = {
        name: (
            holds(low <= truth + 1e-12),
            holds(high >= truth - 1e-12),
            float(np.median(((high - low) / 2)[spread_out] / one[spread_out])),
        )
        for name, (low, high) in bounds.items()
    }
    covered = np.abs(means - truth) <= two + 1e-12
    reach = np.maximum(drawn.within[1] - means, means - drawn.within[0])
    said = inside(region_numbers(sums, sizes, reach))
    return Found(
        setting, n, sums.shape[1], experiments, methods,
        (holds(means - one <= truth + 1e-12), holds(means + one >= truth - 1e-12)), holds(covered), holds(said),
        holds(covered[said]) if said.any() else None, holds(covered[~said]) if not said.all() else None,
    )  # fmt: skip


def holds(hits: NDArray[np.bool_]) -> float:
    """The share of hits."""
    return float(np.mean(hits))


def error_of(share: float, experiments: int) -> float:
    """Monte Carlo standard error of a share."""
    return float(np.sqrt(share * (1 - share) / experiments))


def region_of(one: Found) -> str:
    """inside, outside, or on the border, by how many experiments say so."""
    return "inside" if one.says_inside >= INSIDE else "outside" if one.says_inside <= 1 - INSIDE else "border"


def page(found: Sequence[Found]) -> Iterator[str]:
    """The three tables and what they show."""
    experiments = found[0].experiments
    least = 1 - ALPHA - 3 * error_of(ALPHA, experiments)
    yield f"{experiments:,} experiments a row, seed {SEED}; bounds at alpha = {ALPHA:g} a side.\n"
    yield "| setting | kind | a question's value |\n|---|---|---|"
    for setting in dict.fromkeys(one.setting for one in found):
        yield f"| {setting.name} | {setting.kind} | {setting.told} |"
    yield "\n### Bounds of the gate\n"
    yield "| setting | n | clusters | method | lower bound holds | upper bound holds | width, to one-sided t |"
    yield "|---|--:|--:|---|--:|--:|--:|"
    for one in found:
        for name, (low, high, width) in one.methods.items():
            yield f"| {one.setting.name} | {one.n} | {one.clusters} | {name} | {low:.3f} | {high:.3f} | {width:.2f} |"
    worst = min(min(low, high) for one in found for low, high, _ in one.methods.values())
    yield f"\nLeast: {worst:.4f}. Wanted: {least:.4f} (95 % less three Monte Carlo errors): {verdict(worst >= least)}."
    yield from _false_pass(found)
    yield from _described(found)


def _false_pass(found: Sequence[Found]) -> Iterator[str]:
    yield "\n### A margin that is just missed: how often would it pass?\n"
    yield "The true mean lies exactly at the margin below the baseline; 0.05 is what a bound at 5 % allows.\n"
    yield "| setting | n | clusters | t | the gate's |\n|---|--:|--:|--:|--:|"
    for one in found:
        low = next(iter(one.methods.values()))[0]
        yield f"| {one.setting.name} | {one.n} | {one.clusters} | {1 - one.t_holds[0]:.3f} | {1 - low:.3f} |"
    most = {n: max(1 - one.t_holds[0] for one in found if one.n == n and one.setting.kind == "skewed")
            for n in dict.fromkeys(one.n for one in found)}  # fmt: skip
    told = ", ".join(f"{share:.3f} (n = {n})" for n, share in most.items())
    yield (
        f"\nIn the skewed settings t would pass up to {told} of 1. No t interval is used in a gate, at any n: a test "
        "reads the source of the gate for it."
    )


def _described(found: Sequence[Found]) -> Iterator[str]:
    yield "\n### Descriptive 95 % intervals\n"
    yield (
        f"A setting is inside the region if at least {INSIDE:.0%} of its experiments say so (`in_region`), outside if "
        f"at most {1 - INSIDE:.0%} do. Outside, and on the border where they say so, the interval is shown with the "
        "reason.\n"
    )
    yield "| setting | n | clusters | says inside | region | covers | those inside | those outside |"
    yield "|---|--:|--:|--:|---|--:|--:|--:|"
    for one in found:
        parts = " | ".join("" if each is None else f"{each:.3f}" for each in (one.covers_inside, one.covers_outside))
        yield (
            f"| {one.setting.name} | {one.n} | {one.clusters} | {one.says_inside:.2f} | {region_of(one)} "
            f"| {one.covers:.3f} | {parts} |"
        )
    within = [one for one in found if region_of(one) == "inside"]
    if not within:
        yield "\nNo setting lies inside."
        return
    covers = [one.covers for one in within]
    fine = 0.93 <= min(covers) <= max(covers) <= 0.97
    yield (
        f"\nInside, {len(within)} rows: {min(covers):.3f} to {max(covers):.3f}. Wanted: 0.93 to 0.97: {verdict(fine)}."
    )
    without = [one.covers for one in found if region_of(one) != "inside"]
    if without:
        yield f"Elsewhere, {len(without)} rows: {min(without):.3f} to {max(without):.3f}."
    hidden = max(one.says_inside * (1 - (one.covers_inside or 0.0)) for one in found)
    yield f"An interval that bears no warning and misses: at most {hidden:.3f} of all experiments of a row."


def verdict(fine: bool) -> str:
    """As it is printed."""
    return "held" if fine else "**not held**"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and put the tables into a page; 1 if something that is wanted does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=5000)
    parser.add_argument("--n", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--kept", type=Path, help="a folder for what is done, so that another call goes on from there")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args(arguments)
    began = time.process_time()
    experiments, sizes, folder = chosen.experiments, chosen.n, kept_in(chosen.kept, chosen.experiments)
    lines = list(page([_found(folder, setting, n, experiments) for setting in SETTINGS for n in sizes]))
    least = 1 - ALPHA - 3 * error_of(ALPHA, experiments)
    for part in (gate_figures, gate_times):
        lines += part.page(part.every(folder, sizes, experiments, ALPHA, SEED), least)
    put_out(lines, chosen.out)
    print(f"{time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    return int(any("**not held**" in one for one in lines))


def kept_in(folder: Path | None, experiments: int) -> Path | None:
    """Where experiments of just this code are kept."""
    source = Path(__file__).resolve().parents[1] / "src" / "ragassay"
    mark = mark_of([*map(source.joinpath, READ), *Path(__file__).parent.glob("gate_*.py")])
    return None if folder is None else folder / f"{experiments}-{SEED}-{mark}"


def _found(folder: Path | None, setting: Setting, n: int, experiments: int) -> Found:
    def make() -> dict[str, Any]:
        made = examine(setting, n, experiments)._asdict()
        return {key: value for key, value in made.items() if key != "setting"}

    return Found(setting, **keep(folder, f"{setting.name} {n}", make))


if __name__ == "__main__":
    sys.exit(main())
