"""Bounds of figures of many decisions, as the gate takes them, held against what they are of. By simulation.

The settings of `python -m bench.gate_bounds`. A figure is of the confidences that were seen: what the gate bounds is
its mean over what could have been right at these confidences, and that is known of every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench.kept import keep
from numpy.typing import NDArray
from scipy.special import ndtr

from ragassay.gate.figures import Figure, bounded
from ragassay.measures import Measure, parse, selective
from ragassay.score.sets import Known, wanted_of

Floats = NDArray[np.float64]
TOGETHER = 0.6
"""Correlation within a cluster of five, on the scale of a normal deviate."""
COVERAGE = 0.8
BINS = 10
OF = "exact_match"
FIGURES = (f"selective_risk(of={OF},coverage={COVERAGE})", f"aurc(of={OF})", f"calibration_error(of={OF})")
AUROC = "retrieval_auroc(score=confidence)"


class Decided(NamedTuple):
    """Experiments of one setting; arrays of shape (experiments, n)."""

    scores: Floats
    marks: Floats
    """1 where a decision was wrong; of an AUROC, 1 on the side that should score above."""
    wrong: Floats | None
    """The chance of each to be wrong, given the scores; None: an AUROC."""
    clusters: Sequence[str]
    truth: float | None = None
    """Of an AUROC."""


class Setting(NamedTuple):
    """How confidences and what was right hang together."""

    name: str
    told: str
    figures: tuple[str, ...]
    draw: Callable[[np.random.Generator, int, int], Decided]


def _alike(rng: np.random.Generator, rows: int, n: int, size: int) -> Floats:
    """Normal deviates that hang together within clusters of `size`."""
    own = rng.normal(size=(rows, n))
    if size == 1:
        return own
    shared = np.repeat(rng.normal(size=(rows, -(-n // size))), size, axis=1)[:, :n]
    return TOGETHER**0.5 * shared + (1 - TOGETHER) ** 0.5 * own


def decisions(
    confidence: Callable[[np.random.Generator, int, int], Floats], right: Callable[[Floats], Floats], size: int = 1
) -> Callable[[np.random.Generator, int, int], Decided]:
    """Confidences, and answers that are right with a chance that follows from them."""

    def draw(rng: np.random.Generator, rows: int, n: int) -> Decided:
        scores = confidence(rng, rows, n)
        wrong = 1 - right(scores)
        marks = (ndtr(_alike(rng, rows, n, size)) < wrong) * 1.0
        return Decided(scores, marks, wrong, [f"c{one // size}" for one in range(n)])

    return draw


def sides(apart: float, negative: float, size: int = 1) -> Callable[[np.random.Generator, int, int], Decided]:
    """Normal scores of two sides that lie `apart`; so large a share of the questions on the lower one."""

    def draw(rng: np.random.Generator, rows: int, n: int) -> Decided:
        lower = max(size, round(n * negative / size) * size)
        marks = np.tile(np.repeat([0.0, 1.0], [lower, n - lower]), (rows, 1))
        scores = _alike(rng, rows, n, size) + apart * marks
        clusters = [f"c{one // size}" for one in range(n)]
        return Decided(scores, marks, None, clusters, float(ndtr(apart / 2**0.5)))

    return draw


def _beta(rng: np.random.Generator, rows: int, n: int) -> Floats:
    return rng.beta(4, 2, (rows, n))


def _words(rng: np.random.Generator, rows: int, n: int) -> Floats:
    return np.asarray(rng.choice([0.5, 0.7, 0.8, 0.9, 1.0], (rows, n), p=[0.1, 0.1, 0.2, 0.3, 0.3]))


SETTINGS = (
    Setting("calibrated", "confidence by Beta(4, 2); right with just that chance", FIGURES,
            decisions(_beta, lambda c: c)),
    Setting("too sure", "the same confidence; right with 0.2 less", FIGURES,
            decisions(_beta, lambda c: np.maximum(c - 0.2, 0.0))),
    Setting("five words", "confidence 0.5, 0.7, 0.8, 0.9 or 1; right with 0.9 of it", FIGURES,
            decisions(_words, lambda c: 0.9 * c)),
    Setting("few wrong", "confidence by Beta(4, 2); right with 0.9 to 1", FIGURES,
            decisions(_beta, lambda c: 0.9 + 0.1 * c)),
    Setting("sure together", f"calibrated, in clusters of 5, correlation {TOGETHER:g}", FIGURES,
            decisions(_beta, lambda c: c, 5)),
    Setting("apart by 1", "scores of two sides, one deviation apart, half on each", (AUROC,), sides(1.0, 0.5)),
    Setting("few unanswerable", "one deviation and a half apart, a fifth on the lower side", (AUROC,), sides(1.5, 0.2)),
    Setting("far apart", "three deviations apart, half on each", (AUROC,), sides(3.0, 0.5)),
    Setting("apart together", f"one deviation apart, in clusters of 5, correlation {TOGETHER:g}", (AUROC,),
            sides(1.0, 0.5, 5)),
)  # fmt: skip


class Shown(NamedTuple):
    """What the experiments of one figure in one setting at one n gave."""

    setting: str
    figure: str
    n: int
    experiments: int
    method: str
    lower: float
    """The share of experiments in which the lower bound is not above what it is of."""
    upper: float
    lower_of_sets: float
    """The same for the mean of the figure over sets of questions like these, with confidences of their own."""
    upper_of_sets: float
    below: float
    """Median distance from the figure to its lower bound."""
    above: float
    without: int = 0
    """Experiments in which the figure had no value."""


def truth_of(measure: Measure, scores: Floats, wrong: Floats) -> float:
    """What a figure's bounds are of, given the chances to be wrong."""
    if measure.name == "aurc":
        return float(selective.aurc_weights(scores) @ wrong / len(scores))
    if measure.name == "calibration_error":
        places = selective.bin_places(scores, BINS)
        gaps = np.bincount(places, wrong + scores - 1)
        return float(np.abs(gaps).sum() / len(scores))
    threshold = np.sort(scores)[::-1][wanted_of(COVERAGE, len(scores)) - 1]
    return float(wrong[scores >= threshold].mean())


def examine(setting: Setting, spelled: str, n: int, experiments: int, alpha: float, seed: int) -> Shown:
    """Draw the experiments and hold the gate's own bounds against what they are of."""
    measure = parse(spelled)
    rng = np.random.default_rng([seed, 1, SETTINGS.index(setting), n])
    drawn = setting.draw(rng, experiments, n)
    clusters, rows = list(drawn.clusters), []
    for at in range(experiments):
        scores, marks = drawn.scores[at], drawn.marks[at]
        found = bounded(measure, Known(scores.tolist(), marks.tolist(), clusters, 0, n), (), alpha)
        truth = drawn.truth if drawn.wrong is None else truth_of(measure, scores, drawn.wrong[at])
        if isinstance(found, Figure) and found.value is not None:
            rows.append((found.low, found.high, found.value, truth, found.method))
    low, high, value, truths = (np.array([row[place] for row in rows], np.float64) for place in range(4))
    of_sets = truths.mean()
    return Shown(
        setting.name, measure.name, n, experiments, rows[0][4],
        _share(low <= truths + 1e-12), _share(high >= truths - 1e-12),
        _share(low <= of_sets + 1e-12), _share(high >= of_sets - 1e-12),
        float(np.median(value - low)), float(np.median(high - value)), experiments - len(rows),
    )  # fmt: skip


def every(folder: Path | None, sizes: Sequence[int], experiments: int, alpha: float, seed: int) -> list[Shown]:
    """Every figure in every setting at every n."""
    made = []
    for setting in SETTINGS:
        for spelled in setting.figures:
            for n in sizes:
                name = f"figure {setting.name} {spelled.partition('(')[0]} {n}"
                made.append(Shown(**keep(folder, name, partial(_told, setting, spelled, n, experiments, alpha, seed))))
    return made


def _told(*given: Any) -> dict[str, Any]:
    return examine(*given)._asdict()


def _share(hits: NDArray[np.bool_]) -> float:
    return float(np.mean(hits))


def page(found: Sequence[Shown], least: float) -> Iterator[str]:
    """The tables of the figures."""
    yield "\n### Bounds of figures of many decisions\n"
    yield (
        "Each bound is the gate's own, of the figure at the confidences that were seen (`docs/design/015`). The last "
        "two columns hold it against the mean of the figure over other sets of questions, with other confidences: "
        "nothing is promised of that.\n"
    )
    yield "| setting | confidence and what was right |\n|---|---|"
    for setting in SETTINGS:
        if any(one.setting == setting.name for one in found):
            yield f"| {setting.name} | {setting.told} |"
    yield (
        "\n| setting | figure | n | method | lower holds | upper holds | from figure to lower | to upper "
        "| lower, other sets | upper, other sets |"
    )
    yield "|---|---|--:|---|--:|--:|--:|--:|--:|--:|"
    for one in found:
        yield (
            f"| {one.setting} | `{one.figure}` | {one.n} | {one.method} | {one.lower:.3f} | {one.upper:.3f} "
            f"| {one.below:.3f} | {one.above:.3f} | {one.lower_of_sets:.3f} | {one.upper_of_sets:.3f} |"
        )
    worst = min(min(one.lower, one.upper) for one in found)
    said = "held" if worst >= least else "**not held**"
    without = [one for one in found if one.without]
    if without:
        told = "; ".join(f"{one.setting}, `{one.figure}`, n = {one.n}: {one.without:,}" for one in without)
        yield f"\nExperiments without a value, which a gate cannot tell: {told}."
    yield f"\nLeast: {worst:.4f}. Wanted: {least:.4f} (95 % less three Monte Carlo errors): {said}."
