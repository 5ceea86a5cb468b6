"""The same system against itself: how often a policy fails it, by drawing questions from score tables. Asks nothing.

The system under test wavers: on each question it does one thing or another, by chance. Both were run once; a trial
draws questions with replacement, throws a coin for each question and arm, and reads the policy's demands on what came
out, by the gate's own reading. So no trial is a run, and what a run would check beside the numbers is not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ragassay.gate.decide import outcome_of, read_demands
from ragassay.gate.evidence import Evidence, Observed
from ragassay.gate.rules import Arms
from ragassay.records.base import QueryId
from ragassay.records.policy import Policy
from ragassay.stats.onesided import upper_bound
from ragassay.store import Store


class Again(NamedTuple):
    """What came of the trials."""

    trials: int
    outcomes: dict[str, int]
    failed: dict[str, int]
    """Rule -> trials in which it failed."""
    bound: float
    """Upper 95 % bound (Clopper and Pearson) of the chance that the policy fails."""
    moved: float
    """Share of questions on which the two arms of a trial did not do the same."""


def again(
    store: Store, policy: Policy, steady: Evidence, other: Evidence, trials: int, seed: int,
    tell: Callable[[int], None] = lambda _: None,
) -> Again:  # fmt: skip
    """`trials` comparisons of the wavering system with itself."""
    rng = np.random.default_rng(seed)
    count = len(steady.cases)
    outcomes: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for trial in range(trials):
        places = rng.integers(0, count, count)
        arms = [_drawn(steady, other, places, rng.random(count) < 0.5) for _ in range(2)]
        results = read_demands(Arms(store, policy, *arms), [])
        outcomes[outcome_of(results)] += 1
        failed.update(one.rule for one in results if one.result == "fail")
        tell(trial)
    hit = np.zeros(trials)
    hit[: outcomes["fail"]] = 1
    bound = upper_bound(hit, (0.0, 1.0), 0.05, method="exact")
    return Again(trials, dict(outcomes), dict(failed), float(bound), _moved(steady, other) / 2)


def _drawn(steady: Evidence, other: Evidence, places: NDArray[np.int64], coins: NDArray[np.bool_]) -> Evidence:
    """One arm: the questions at these places, each under a name of its own, from one run or the other."""
    names = [f"{steady.cases[place].query_id}#{number}" for number, place in enumerate(places)]
    observed = Observed(())
    for key, rows in steady.observed.rows.items():
        sides = (rows, other.observed.rows.get(key, {}))
        own = {}
        for name, place, coin in zip(names, places, coins, strict=True):
            found = sides[int(coin)].get(steady.cases[place].query_id)
            if found is not None:
                own[name] = found
        observed.rows[key] = own
    cases = tuple(
        replace(steady.cases[place], query_id=QueryId(name)) for name, place in zip(names, places, strict=True)
    )
    return steady._replace(observed=observed, cases=cases)


def _moved(steady: Evidence, other: Evidence) -> float:
    """Share of questions of which any row that is read differs between the two runs."""
    differ = set()
    for key, rows in steady.observed.rows.items():
        theirs = other.observed.rows.get(key, {})
        for query_id, own in rows.items():
            pair = [[(one.status, one.value) for one in each] for each in (own, theirs.get(query_id, []))]
            if pair[0] != pair[1]:
                differ.add(query_id)
    return len(differ) / len(steady.cases)
