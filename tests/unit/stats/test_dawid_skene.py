"""Dawid and Skene's model against one step in fractions, and where chances are too small for a float."""

from __future__ import annotations

import random
from fractions import Fraction
from math import prod

import pytest

from ragassay.stats import agreement

RATINGS = [
    {"a": "y", "b": "y", "c": "n"},
    {"a": "y", "b": "n"},
    {"a": "n", "b": "n", "c": "n", "d": "y"},
    {"c": "y"},
    {},
    {"d": "z", "a": "n"},
]
LABELS = ("y", "n", "z")


def one_step(smoothing: Fraction) -> list[dict[str, Fraction]]:
    """Shares of votes, then each rater's matrix and the shares of all, then Bayes' rule; as the paper's 2.3 to 2.5."""
    start = []
    for one in RATINGS:
        votes = list(one.values())
        start.append({t: Fraction(votes.count(t), len(votes)) if votes else Fraction(1, 3) for t in LABELS})
    prior = {t: sum(chance[t] for chance in start) / len(RATINGS) for t in LABELS}

    def says(rater: str, true: str, label: str) -> Fraction:
        own = [(chance[true], one[rater]) for chance, one in zip(start, RATINGS, strict=True) if rater in one]
        return (sum(c for c, said in own if said == label) + smoothing) / (sum(c for c, _ in own) + 3 * smoothing)

    made = []
    for one in RATINGS:
        joint = {t: prior[t] * prod(says(rater, t, label) for rater, label in one.items()) for t in LABELS}
        made.append({t: value / sum(joint.values()) for t, value in joint.items()})
    return made


@pytest.mark.parametrize("smoothing", [Fraction(1), Fraction(1, 4)])
def test_one_step_in_fractions(smoothing: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "PASSES", 1)
    found = agreement.dawid_skene(RATINGS, LABELS, smoothing=float(smoothing))
    wanted = [{t: float(value) for t, value in one.items()} for one in one_step(smoothing)]
    assert found == [pytest.approx(one, abs=1e-12) for one in wanted]


def test_the_smoothing_is_one_unless_told() -> None:
    assert agreement.dawid_skene(RATINGS, LABELS) == agreement.dawid_skene(RATINGS, LABELS, smoothing=1.0)
    assert agreement.dawid_skene(RATINGS, LABELS) != agreement.dawid_skene(RATINGS, LABELS, smoothing=2.0)


def test_two_raters_are_not_enough_and_three_are() -> None:
    with pytest.raises(ValueError, match="needs 3 raters, got 2"):
        agreement.dawid_skene([{"a": "y", "b": "n"}], ["y", "n"])
    assert agreement.dawid_skene([{"a": "y", "b": "y", "c": "y"}], ["y"]) == [{"y": 1.0}]


def test_chances_far_below_the_least_float() -> None:
    """4,000 raters, half of them guessing: the joint chances are about 1e-1000, and three more raters saw little."""
    rng = random.Random(3)
    truth = "ynyn"
    crowd = [{f"r{at}": (true if at % 2 else rng.choice("yn")) for at in range(4_000)} for true in truth]
    few = {"r1": "y", "r3": "y", "r5": "y"}
    found = agreement.dawid_skene([*crowd, few], ["y", "n"])
    assert [max(one, key=one.__getitem__) for one in found] == [*truth, "y"]
    assert all(sum(one.values()) == pytest.approx(1) for one in found)
