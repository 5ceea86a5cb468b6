"""Families of hypotheses, and their p-values corrected for what the slices are looked at for. Tests nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from msgspec.structs import replace

from ragassay.records.comparison import Effect
from ragassay.records.score import Population
from ragassay.stats.families import bh, holm

Purpose = Literal["must-pass", "regressed", "explore"]
CORRECTIONS: dict[Purpose, Literal["none", "holm", "bh"]] = {"must-pass": "none", "regressed": "holm", "explore": "bh"}
"""All slices must pass: each is held to its own level, and no correction is due (an intersection of hypotheses).
Has any slice regressed: Holm, for one false alarm is one too many. Exploring: Benjamini and Hochberg, for the share."""


def corrected(effects: Sequence[Effect], purpose: Purpose, whole: Collection[Population] = ()) -> list[Effect]:
    """The same effects, the tests of slices with their family: the slices of one measure at one step and class.

    A whole class is a hypothesis of its own and is not corrected, nor is a slice that holds all of its class (`whole`).
    """
    families: dict[tuple[str, str | None, str, str], list[int]] = {}
    for place, one in enumerate(effects):
        if one.population.slice is not None and one.test is not None and one.population not in whole:
            key = one.measure, one.step, one.aggregation, one.population.class_
            families.setdefault(key, []).append(place)
    made = list(effects)
    for places in families.values():
        tests = [test for place in places if (test := effects[place].test) is not None]
        adjusted = adjust([one.p for one in tests], CORRECTIONS[purpose])
        for place, test, p in zip(places, tests, adjusted, strict=True):
            found = replace(test, adjusted=p, correction=CORRECTIONS[purpose], family=len(places))
            made[place] = replace(effects[place], test=found)
    return made


def adjust(p: Sequence[float], correction: Literal["none", "holm", "bh"]) -> list[float]:
    """p-values after a correction; the same order, none above 1."""
    if correction == "none":
        return list(p)
    made: list[float] = (holm(p) if correction == "holm" else bh(p)).tolist()
    return made
