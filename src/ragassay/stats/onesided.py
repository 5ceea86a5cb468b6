"""One-sided confidence bounds of a mean that hold at every number of questions: those of a gate. No t, no bootstrap.

*betting* is the test by capital of Waudby-Smith and Ramdas ("Estimating means of bounded random variables by
betting", JRSS B 2024), read backwards. Whoever doubts that the mean is at most m starts with capital 1 and stakes a
share c of what can be staked on every unit. For values with least a, in units g (a question, or a whole cluster) of
n_g questions with the sum S_g, and n* the size of the largest unit, the capital at the end is

    K(m) = sum over c of w(c) times the product over g of 1 + c (S_g - m n_g) / ((m - a) n*)

If the mean is at most m its expectation is at most 1, so it is as large as 1/alpha with chance alpha at most (Markov),
and every m with K(m) >= 1/alpha is refused. What the bound rests on, and what it does not:

- **The target is the mean over questions.** Sums of clusters are bet on, never means of clusters, and every unit with
  the same share c of the same stake: given the sizes, each factor has the expectation 1 + c n_g (mu_g - m) / ((m - a)
  n*), and where sum n_g mu_g <= m sum n_g the product of such factors is at most 1 (geometric mean <= arithmetic mean,
  no factor being negative), however the clusters' own means mu_g differ. A stake that differed from unit to unit, by
  size or by what came before, would lose that. The price is that beside one very large cluster the small ones count
  for little. Sizes are taken as the benchmark has them: the mean is over questions in clusters of these sizes. Where
  clusters are drawn with their sizes and the large ones are worse, chance in the sizes is not counted.
- **Units are independent; they need not be alike.** Within a cluster anything may hang together.
- **The order of the values plays no part.** In the paper the stakes follow from the values seen before. Here they are a
  mixture of constant ones, fixed by the sizes alone: c = G/(G + 1) and its halves, down to about 1/sqrt(G). Their
  weights w add up to 1 and are greatest around 8/sqrt(G), about the best stake for differences and high rates. That
  needs no seed and no permutation, and makes the bound rise with every value.
- The greatest value b only limits what is accepted: it does not tighten a lower bound, as a does not an upper one.

*exact* is Clopper and Pearson's bound, for independent questions whose values all lie at the two ends of the range.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_SLACK = 1e-9
"""A value may lie outside of the range by this part of it: by rounding."""
_AT_ONCE = 4_000_000
_TINY = 1e-200
_USUAL, _BREADTH = 8.0, 1.2
"""Stakes are weighted like a normal density of the logarithm of c sqrt(G), around the first, of the second's width."""


class Units(NamedTuple):
    """What is independent: questions, or clusters of them. Arrays of shape (units,)."""

    of_value: Ints | None
    """Unit of each value, shape (n,); None: each value is its own."""
    shares: Floats
    """Size of each unit over that of the largest, in (0, 1]."""
    stakes: Floats
    """The shares c of the stake, greatest first."""
    log_weights: Floats
    """Of each stake; they add up to 1."""
    largest: float
    """Questions of the largest unit; with weights, its sum of them."""
    weights: Floats | None = None
    """Of each value, shape (n,); None: each counts once."""


def lower_bound(
    values: ArrayLike,
    within: tuple[float, float],
    alpha: float,
    clusters: Sequence[Hashable] | NDArray[np.int64] | None = None,
    method: str = "betting",
    weights: ArrayLike | None = None,
) -> float:
    """Lower bound of the mean: it lies above the true mean with chance `alpha` at most, at every n.

    Never below `within[0]`; never above the mean of the values (for *exact*: if alpha is at most 1/2); rises with each
    value and with alpha; the same in every order. A single unit has a bound too: nearly the least value.

    Args:
        values: shape (n,), n >= 1, finite, one a question, each in `within`. For pairs: the differences.
        within: least and greatest possible value, known beforehand. Differences of [0, 1]: (-1, 1).
        alpha: chance of a bound above the true mean, in (0, 1).
        clusters: shape (n,), equal labels for questions that are not independent; None: all are.
        method: "betting", or "exact" for values at the two ends of `within` without clusters of more than one.
        weights: shape (n,), finite, at least 0 and one above: how much each value counts in the mean; None: alike. They
            must not depend on the values.

    Raises:
        ValueError: no values, a value outside of `within`, lengths that differ, alpha outside of (0, 1), weights that
            are none, or a method that does not fit.
    """
    numbers, units = _checked(values, within, alpha, clusters, weights)
    if method == "exact":
        return _exact(numbers, units, within, alpha)
    if method != "betting":
        raise ValueError(f'method must be "betting" or "exact", got {method!r}')
    return float(_betting(numbers[None, :], units, within, alpha)[0])


def upper_bound(
    values: ArrayLike,
    within: tuple[float, float],
    alpha: float,
    clusters: Sequence[Hashable] | NDArray[np.int64] | None = None,
    method: str = "betting",
    weights: ArrayLike | None = None,
) -> float:
    """Upper bound of the mean: it lies below the true mean with chance `alpha` at most, at every n.

    The mirror of `lower_bound`: minus the lower bound of the values with their sign turned.
    """
    turned = -np.asarray(values, np.float64)
    return -lower_bound(turned, (-within[1], -within[0]), alpha, clusters, method, weights)


def lower_bounds(
    table: ArrayLike,
    within: tuple[float, float],
    alpha: float,
    clusters: Sequence[Hashable] | NDArray[np.int64] | None = None,
) -> Floats:
    """The betting `lower_bound` of each row of `table`, shape (rows, n), with the same clusters for all; shape (rows,).

    Each bound is alone: nothing is corrected for their number.
    """
    rows = np.asarray(table, np.float64)
    if rows.ndim != 2:
        raise ValueError(f"a table must have shape (rows, n), got {rows.shape}")
    checked, units = _checked(rows, within, alpha, clusters)
    at_once = max(1, _AT_ONCE // (len(units.shares) * len(units.stakes)))
    parts = [_betting(checked[at : at + at_once], units, within, alpha) for at in range(0, len(checked), at_once)]
    return np.concatenate(parts) if parts else np.zeros(0)


def upper_bounds(
    table: ArrayLike,
    within: tuple[float, float],
    alpha: float,
    clusters: Sequence[Hashable] | NDArray[np.int64] | None = None,
) -> Floats:
    """The betting `upper_bound` of each row of `table`, shape (rows, n); shape (rows,)."""
    return -lower_bounds(-np.asarray(table, np.float64), (-within[1], -within[0]), alpha, clusters)


def _checked(
    values: ArrayLike, within: tuple[float, float], alpha: float, clusters: Sequence[Hashable] | Ints | None,
    weights: ArrayLike | None = None,
) -> tuple[Floats, Units]:  # fmt: skip
    """Values cut to the range, and the units; the last axis is that of the questions."""
    numbers = np.asarray(values, np.float64)
    least, greatest = within
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}")
    if not (math.isfinite(least) and math.isfinite(greatest) and least < greatest):
        raise ValueError(f"within must be a least and a greatest value that are finite, got {within}")
    if numbers.ndim < 1 or not numbers.shape[-1]:
        raise ValueError("a bound of no values: report the population as empty, which is undefined, and pass nothing")
    slack = _SLACK * (greatest - least)
    inside = (numbers >= least - slack) & (numbers <= greatest + slack)
    if not np.all(inside):
        bad = float(numbers[~inside][0])
        raise ValueError(f"values must lie within {least} and {greatest}, got {bad}: give the measure's whole range")
    return np.clip(numbers, least, greatest), _units(numbers.shape[-1], clusters, _weights(weights, numbers.shape[-1]))


def _weights(weights: ArrayLike | None, n: int) -> Floats | None:
    if weights is None:
        return None
    made = np.asarray(weights, np.float64)
    if made.shape != (n,) or not np.all(np.isfinite(made)) or np.any(made < 0) or not np.any(made > 0):
        raise ValueError(f"{n} values need {n} weights, finite, at least 0, and one above")
    return made


def _units(n: int, clusters: Sequence[Hashable] | Ints | None, weights: Floats | None = None) -> Units:
    of_value: Ints | None = None
    sizes: Floats = np.ones(n) if weights is None else weights
    if clusters is not None:
        if len(clusters) != n:
            raise ValueError(f"{n} values, but {len(clusters)} clusters")
        of_value = _codes(clusters)
        sizes = np.bincount(of_value, weights).astype(np.float64)
    if len(sizes) == n:
        of_value, sizes = None, np.ones(n) if weights is None else weights
    shares = sizes / sizes.max()
    top = len(shares) / (len(shares) + 1)
    root = math.sqrt(float(np.sum(np.sort(shares) ** 2)))
    lowest = min(top, 1 / root)
    halvings = np.arange(math.ceil(math.log2(top / lowest) - 1e-9) + 1)
    stakes: Floats = top * 0.5 ** halvings.astype(np.float64)
    prior = np.exp(-0.5 * (np.log(stakes * root / _USUAL) / _BREADTH) ** 2)
    return Units(of_value, shares, stakes, np.log(prior / prior.sum()), float(sizes.max()), weights)


def _codes(clusters: Sequence[Hashable] | Ints) -> Ints:
    if isinstance(clusters, np.ndarray):
        return np.asarray(np.unique(clusters, return_inverse=True)[1], np.int64).reshape(-1)
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in clusters], np.int64)


def _exact(values: Floats, units: Units, within: tuple[float, float], alpha: float) -> float:
    """Clopper and Pearson: the mean whose chance of so many at the upper end, or more, is alpha."""
    from scipy.special import betaincinv

    least, greatest = within
    if units.of_value is not None or units.weights is not None:
        raise ValueError('"exact" is for independent questions that count alike: use "betting"')
    if not np.all((values == least) | (values == greatest)):
        raise ValueError(f'"exact" is for values of {least} or {greatest} only: use "betting"')
    n, highs = len(values), int(np.count_nonzero(values == greatest))
    share = float(betaincinv(highs, n - highs + 1, alpha)) if highs else 0.0
    return least + (greatest - least) * share


def _betting(rows: Floats, units: Units, within: tuple[float, float], alpha: float) -> Floats:
    """The root of K(m) = 1/alpha for each row of values; shape (rows,)."""
    least, greatest = within
    sums, shares = _sums((rows - least) / (greatest - least), units)
    found = np.zeros(len(rows))
    start = sums.sum(axis=1) / shares.sum(axis=1)
    live = np.flatnonzero(start > _TINY)
    if len(live):
        found[live] = np.exp(_roots(sums[live], shares[live], np.log(start[live]), units, math.log(alpha)))
    return least + (greatest - least) * found


def _sums(placed: Floats, units: Units) -> tuple[Floats, Floats]:
    """(S_g - a n_g) / n* of each unit, and its share; units and addends sorted, so that the order leaves no trace."""
    if units.of_value is None and units.weights is None:
        return np.sort(placed, axis=1), np.ones((1, 1)).repeat(len(placed), axis=0)
    parts = placed if units.weights is None else placed * units.weights
    size = len(units.shares)
    totals = np.empty((len(parts), size))
    for at, order in enumerate(np.argsort(parts, axis=1, kind="stable")):
        of_value = order if units.of_value is None else units.of_value[order]
        totals[at] = np.bincount(of_value, parts[at, order], size) / units.largest
    shares = np.broadcast_to(units.shares, totals.shape)
    by = np.lexsort((totals, shares))
    return np.take_along_axis(totals, by, axis=1), np.take_along_axis(shares, by, axis=1)


def _roots(sums: Floats, shares: Floats, start: Floats, units: Units, log_alpha: float) -> Floats:
    """log m with log K(m) = -log alpha; by Newton.

    log K falls and is convex in log m, so that after the first step every iterate has K(m) >= 1/alpha: the search ends
    on the safe side.
    """
    at = start.copy()
    live = np.arange(len(at))
    share = units.stakes[:, None]
    for _ in range(200):
        won = share * (sums[live] * np.exp(-at[live])[:, None])[:, None, :]
        factor = 1 - share * shares[live][:, None, :] + won
        logs = np.log(factor).sum(axis=2) + units.log_weights
        top = logs.max(axis=1)
        weight = np.exp(logs - top[:, None])
        capital = top + np.log(weight.sum(axis=1))
        slope = (weight * (won / factor).sum(axis=2)).sum(axis=1) / weight.sum(axis=1)
        step = np.maximum((capital + log_alpha) / slope, -50.0)
        at[live] += step
        live = live[np.abs(step) > 1e-13]
        if not len(live):
            break
    return at
