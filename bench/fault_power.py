"""What a rule of a policy would have caught: effects by rule, and the least effect that it fails on. Runs no system."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.gate.bounds import TOLERANCE, ends_of
from ragassay.gate.evidence import Evidence
from ragassay.gate.policy_file import label_of
from ragassay.gate.reading import Column, Part, classes_of, column, paired
from ragassay.records.policy import Policy, Rule

POWER, RESAMPLES, STEPS = 0.8, 200, 8
LEAST = 1.5
"""An effect is detectable from so many times the least one on."""


class Effects(NamedTuple):
    """Differences of one rule in one class, question by question, positive where the candidate is better."""

    rule: Rule
    class_: str
    within: tuple[float, float]
    query_ids: tuple[str, ...]
    low: NDArray[np.float64]
    """With what is not known at its worst."""
    high: NDArray[np.float64]
    """With it at its best: this is what a rule fails on."""

    @property
    def label(self) -> str:
        """The rule as results name it."""
        return label_of(self.rule)


def effects(policy: Policy, candidate: Evidence, baseline: Evidence) -> list[Effects]:
    """Every margin of a policy over two arms, read as the gate reads it."""
    found = []
    for rule in policy.rules:
        for class_ in classes_of(candidate.spelled(rule.measure), rule.class_):
            part = Part(class_, rule.slice, rule.risk)
            ours, theirs = (column(one, rule.measure, rule.step, part) for one in (candidate, baseline))
            if not isinstance(ours, Column) or not isinstance(theirs, Column) or not theirs.lines:
                continue
            lines, _ = paired(ours, theirs, candidate.cases)
            reach = ours.within[1] - ours.within[0]
            low, high = (np.array([getattr(one, key) for one in lines], np.float64) for key in ("low", "high"))
            found.append(Effects(rule, class_, (-reach, reach), tuple(one.query_id for one in lines), low, high))
    return found


def fails(
    rule: Rule, within: tuple[float, float], low: NDArray[np.float64], high: NDArray[np.float64], alpha: float
) -> bool:
    """Whether the margin fails on these differences, by the gate's own bound."""
    ends = ends_of(low, high, within, alpha, range(len(low)), two_valued=False)
    return bool(ends.high < -(rule.margin or 0.0) - TOLERANCE)


class Least(NamedTuple):
    """The least mean effect of which a rule fails in 80 of 100 draws of questions; None: not even the whole one."""

    effect: float | None
    share: float | None
    """Of the questions, of which each had the whole effect."""


def least(one: Effects, count: int, alpha: float, seed: int) -> Least:
    """By drawing `count` questions again and again, of which a share is struck, and reading the rule on each draw.

    `count`: questions of this class that the gate will read. The share is halved eight times.
    """
    rng = np.random.default_rng([seed, *hashlib.sha256(f"{one.label} {one.class_}".encode()).digest()[:4]])
    drawn = rng.integers(0, len(one.low), (RESAMPLES, count))
    place = rng.random((RESAMPLES, count))

    def power(share: float) -> float:
        caught = 0
        for rows, hit in zip(drawn, place < share, strict=True):
            caught += fails(
                one.rule, one.within, np.where(hit, one.low[rows], 0), np.where(hit, one.high[rows], 0), alpha
            )
        return caught / RESAMPLES

    if power(1.0) < POWER:
        return Least(None, None)
    below, above = 0.0, 1.0
    for _ in range(STEPS):
        middle = (below + above) / 2
        below, above = (below, middle) if power(middle) >= POWER else (middle, above)
    return Least(float(one.high.mean()) * above, above)


def strongest(every: Sequence[Effects]) -> list[Effects]:
    """The rules that an effect shows in most: by how far its mean lies beyond the margin, over its spread."""

    def signal(one: Effects) -> float:
        beyond = -float(one.high.mean()) - (one.rule.margin or 0.0)
        return beyond / (float(one.high.std()) + 0.05)

    return sorted((one for one in every if len(one.high)), key=signal, reverse=True)
