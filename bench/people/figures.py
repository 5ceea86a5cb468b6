"""AUC, best F1, Spearman, kappa and a paired bootstrap by whole articles; knows no judge."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np


def auc(good: Sequence[bool], scores: Sequence[float]) -> float:
    """The share of (good, bad) pairs that are in order, ties a half."""
    from scipy.stats import rankdata

    truth = np.asarray(good, bool)
    n, m = int(truth.sum()), int((~truth).sum())
    return float((rankdata(scores)[truth].sum() - n * (n + 1) / 2) / (n * m)) if n and m else float("nan")


def best_f1(good: Sequence[bool], scores: Sequence[float]) -> tuple[float, float]:
    """The greatest F1 of the good class over all thresholds, and that threshold."""
    found = (0.0, 0.0)
    for threshold in sorted(set(scores)):
        found = max(found, (f1_at(good, scores, threshold), threshold))
    return found


def f1_at(good: Sequence[bool], scores: Sequence[float], threshold: float) -> float:
    """F1 of the good class where `score >= threshold` says good."""
    hit = sum(one and two >= threshold for one, two in zip(good, scores, strict=True))
    said = sum(two >= threshold for two in scores)
    return 2 * hit / (said + sum(good)) if said + sum(good) else 0.0


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Rank correlation."""
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def kappa(one: Sequence[int], other: Sequence[int]) -> float:
    """Cohen's kappa, unweighted."""
    labels = sorted({*one, *other})
    n = len(one)
    raw = sum(a == b for a, b in zip(one, other, strict=True)) / n
    chance = sum((list(one).count(x) / n) * (list(other).count(x) / n) for x in labels)
    return (raw - chance) / (1 - chance) if chance < 1 else float("nan")


def paired(
    figure: Callable[[list[int]], float],
    other: Callable[[list[int]], float],
    groups: Sequence[Hashable],
    times: int = 1000,
) -> tuple[float, float]:
    """95 % percentile interval of a difference of figures, whole groups drawn with replacement; seed 0."""
    rows: dict[Hashable, list[int]] = {}
    for at, name in enumerate(groups):
        rows.setdefault(name, []).append(at)
    members, draw = list(rows.values()), np.random.default_rng(0)
    found = []
    for _ in range(times):
        picked = [at for one in draw.integers(0, len(members), len(members)) for at in members[one]]
        found.append(figure(picked) - other(picked))
    kept = np.asarray(found)[~np.isnan(found)]
    low, high = np.quantile(kept, [0.025, 0.975])
    return float(low), float(high)
