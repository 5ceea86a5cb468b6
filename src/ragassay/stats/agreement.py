"""How far two or more raters agree beyond chance, with intervals that keep questions together. Knows no judge.

A figure that the data cannot give (one label only, no pairs) is None, never 1 and never NaN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.intervals import Interval
from ragassay.stats.resample import bootstrap

Floats = NDArray[np.float64]
Label = str
Pair = tuple[Label, Label]
Figure = Callable[[Floats], Floats]
PASSES = 200
SETTLED = 1e-9


class Agreed(NamedTuple):
    """A figure of agreement and its interval, whose ends are None where the data cannot give them."""

    value: float | None
    interval: Interval


def confusion(pairs: Sequence[Pair]) -> dict[Label, dict[Label, int]]:
    """Label of the first rater -> label of the second -> how often; labels in order."""
    found = Counter(pairs)
    made: dict[Label, dict[Label, int]] = {}
    for (one, other), count in sorted(found.items()):
        made.setdefault(one, {})[other] = count
    return made


def raw(pairs: Sequence[Pair], clusters: Sequence[Hashable], *, seed: int = 0, level: float = 0.95) -> Agreed:
    """Share of pairs that are equal."""
    return _agreed(_of_counts(_raw), _cells(pairs), clusters, seed, level)


def kappa(pairs: Sequence[Pair], clusters: Sequence[Hashable], *, seed: int = 0, level: float = 0.95) -> Agreed:
    """Cohen's kappa of two raters: (p_o - p_e) / (1 - p_e), p_e from each one's own shares of labels; in [-1, 1].

    None where both use one and the same label only. Source: Cohen 1960.
    """
    return _agreed(_of_counts(_kappa), _cells(pairs), clusters, seed, level)


def ac1(pairs: Sequence[Pair], clusters: Sequence[Hashable], *, seed: int = 0, level: float = 0.95) -> Agreed:
    """Gwet's AC1 of two raters: p_e = sum of s(1 - s) / (q - 1) over the mean shares s of q labels that were used.

    Unlike kappa it does not fall when nearly all items have one label. None where only one label was used at all.
    Source: Gwet 2008.
    """
    return _agreed(_of_counts(_ac1), _cells(pairs), clusters, seed, level)


def alpha(
    units: Sequence[Sequence[Label]], clusters: Sequence[Hashable], *, seed: int = 0, level: float = 0.95
) -> Agreed:
    """Krippendorff's alpha for nominal labels: 1 - D_o / D_e over units with two ratings or more, of any raters.

    None where no unit has two ratings, or only one label was used. Source: Krippendorff 2011.
    """
    kept = [(unit, name) for unit, name in zip(units, clusters, strict=True) if len(unit) > 1]
    labels = sorted({label for unit, _ in kept for label in unit})
    place = {label: number for number, label in enumerate(labels)}
    size = len(labels)
    cells = np.zeros((len(kept), size, size))
    for row, (unit, _) in enumerate(kept):
        counts = Counter(unit)
        for one in counts:
            for other in counts:
                both = counts[one] * counts[other] - (counts[one] if one == other else 0)
                cells[row, place[one], place[other]] = both / (len(unit) - 1)
    return _agreed(_of_counts(_alpha), cells, [name for _, name in kept], seed, level)


def dawid_skene(
    ratings: Sequence[Mapping[Hashable, Label]], labels: Sequence[Label], *, smoothing: float = 1.0
) -> list[dict[Label, float]]:
    """Item by item the chance of each true label, by expectation maximisation over raters' confusion matrices.

    Starts from shares of votes; each cell of a rater's matrix begins with `smoothing` (Laplace). It takes the errors of
    raters for independent, which those of language models of one family are not, and says nothing of raters whom it is
    then held against. An item that nobody rated has the shares of all. Source: Dawid and Skene 1979.

    Raises ValueError for fewer than 3 raters.
    """
    raters = list(dict.fromkeys(rater for one in ratings for rater in one))
    if len(raters) < 3:
        raise ValueError(f"Dawid and Skene's model needs 3 raters, got {len(raters)}")
    place = {label: number for number, label in enumerate(labels)}
    seen = np.zeros((len(ratings), len(raters), len(labels)))
    for row, one in enumerate(ratings):
        for column, rater in enumerate(raters):
            if rater in one:
                seen[row, column, place[one[rater]]] = 1.0
    votes = seen.sum(axis=1)
    total = votes.sum(axis=1, keepdims=True)
    chance = np.where(total > 0, votes / np.where(total > 0, total, 1.0), 1.0 / len(labels))
    for _ in range(PASSES):
        prior = chance.mean(axis=0)
        matrix = np.einsum("it,irl->rtl", chance, seen) + smoothing
        matrix /= matrix.sum(axis=2, keepdims=True)
        logs = np.log(prior + 1e-300) + np.einsum("irl,rtl->it", seen, np.log(matrix))
        new = np.exp(logs - logs.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        settled = float(np.abs(new - chance).max()) if len(ratings) else 0.0
        chance = new
        if settled < SETTLED:
            break
    return [dict(zip(labels, map(float, row), strict=True)) for row in chance]


def _cells(pairs: Sequence[Pair]) -> Floats:
    """One matrix a pair, with a one where its labels meet."""
    labels = sorted({label for pair in pairs for label in pair})
    place = {label: number for number, label in enumerate(labels)}
    cells = np.zeros((len(pairs), len(labels), len(labels)))
    for row, (one, other) in enumerate(pairs):
        cells[row, place[one], place[other]] = 1.0
    return cells


def _agreed(figure: Figure, cells: Floats, clusters: Sequence[Hashable], seed: int, level: float) -> Agreed:
    n, size = len(cells), cells.shape[1] if cells.ndim == 3 else 0
    flat = cells.reshape(n, size * size)

    def of(weights: Floats) -> Floats:
        return figure((weights @ flat).reshape(-1, size, size))

    if n == 0 or size == 0:
        return Agreed(None, Interval(None, None, None, level, 0, 0, "bootstrap_percentile", "no_pairs"))
    value = float(of(np.ones((1, n)))[0])
    found = bootstrap(of, clusters, seed=seed, level=level)
    return Agreed(None if np.isnan(value) else value, found)


def _of_counts(figure: Figure) -> Figure:
    def quietly(counts: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return figure(counts)

    return quietly


def _shares(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Share of equal labels, and the shares of each label by the one and by the other rater; one row a resample."""
    total = counts.sum(axis=(1, 2))
    same = np.trace(counts, axis1=1, axis2=2) / total
    return same, counts.sum(axis=2) / total[:, None], counts.sum(axis=1) / total[:, None]


def _raw(counts: Floats) -> Floats:
    return _shares(counts)[0]


def _kappa(counts: Floats) -> Floats:
    same, one, other = _shares(counts)
    return _beyond(same, (one * other).sum(axis=1))


def _ac1(counts: Floats) -> Floats:
    same, one, other = _shares(counts)
    mean = (one + other) / 2
    return _beyond(same, (mean * (1 - mean)).sum(axis=1) / (counts.shape[1] - 1))


def _beyond(same: Floats, chance: Floats) -> Floats:
    return np.where(1 - chance > 1e-12, (same - chance) / (1 - chance), np.nan)


def _alpha(counts: Floats) -> Floats:
    """`counts` are matrices of coincidences, which are symmetric."""
    total = counts.sum(axis=(1, 2))
    shares = counts.sum(axis=2)
    apart = total - np.trace(counts, axis1=1, axis2=2)
    expected = (total**2 - (shares**2).sum(axis=1)) / (total - 1)
    return np.where(expected > 1e-12, 1 - apart / expected, np.nan)
