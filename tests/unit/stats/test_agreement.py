"""Agreement against published examples and scikit-learn; Dawid and Skene's model against a known truth."""

from __future__ import annotations

import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragassay.stats.agreement import ac1, alpha, confusion, dawid_skene, kappa, raw

GWET = [("+", "+")] * 118 + [("+", "-")] * 5 + [("-", "+")] * 2
"""Gwet 2008: 125 items, agreement 0.944, kappa -0.0234, AC1 0.9408."""


def krippendorff() -> list[list[str]]:
    """Krippendorff 2011, example C: 12 units, 4 observers, missing data; nominal alpha 0.743."""
    rows = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    return [[row[place] for row in rows if row[place] != "."] for place in range(12)]


def ids(size: int) -> list[int]:
    return list(range(size))


def test_gwets_example_of_high_agreement_and_no_kappa() -> None:
    assert raw(GWET, ids(125)).value == pytest.approx(0.944)
    assert kappa(GWET, ids(125)).value == pytest.approx(-0.0234, abs=5e-5)
    assert ac1(GWET, ids(125)).value == pytest.approx(0.9408, abs=5e-5)
    assert confusion(GWET) == {"+": {"+": 118, "-": 5}, "-": {"+": 2}}


def test_krippendorffs_example_with_missing_data() -> None:
    units = krippendorff()
    assert sum(len(unit) for unit in units) == 41
    assert alpha(units, ids(12)).value == pytest.approx(0.743, abs=5e-4)


def test_constant_and_empty_data_have_no_figure() -> None:
    same = [("a", "a")] * 5
    assert [one(same, ids(5)).value for one in (kappa, ac1)] == [None, None]
    assert raw(same, ids(5)).value == 1.0
    assert alpha([["a", "a"]] * 5, ids(5)).value is None
    assert kappa([], []).value is None
    assert alpha([["a"], []], ids(2)).value is None


def test_an_interval_keeps_the_items_of_a_question_together() -> None:
    rng = random.Random(1)
    pairs = [(one, one if rng.random() < 0.8 else "n") for one in rng.choices("yn", k=40) for _ in range(1)]
    often = [pair for pair in pairs for _ in range(5)]
    alone = kappa(pairs, ids(40)).interval
    together = kappa(often, [place // 5 for place in range(200)]).interval
    apart = kappa(often, ids(200)).interval
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))
    assert apart.low is not None
    assert together.low is not None
    assert apart.low > together.low  # five copies are not five times the evidence


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    found = kappa(pairs, ids(len(pairs))).value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = cohen_kappa_score([one for one, _ in pairs], [other for _, other in pairs])
    if found is None:
        assert len({label for pair in pairs for label in pair}) == 1
    else:
        assert found == pytest.approx(wanted, abs=1e-12)
        assert -1 <= found <= 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from("ab"), min_size=2, max_size=2), min_size=2, max_size=20))
def test_alpha_of_two_raters_by_its_definition(units: list[list[str]]) -> None:
    """1 - observed / expected disagreement, pair by pair, with all values pooled."""
    values = [label for unit in units for label in unit]
    n = len(values)
    apart = sum(a != b for a, b in units) / len(units)
    expected = sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (n * (n - 1))
    found = alpha(units, ids(len(units))).value
    assert (found is None) == (expected == 0)
    assert found is None or found == pytest.approx(1 - apart / expected, abs=1e-12)


def test_dawid_and_skene_trust_the_rater_who_is_mostly_right() -> None:
    rng = random.Random(7)
    truth = rng.choices("yn", [0.6, 0.4], k=400)
    flip = {"y": "n", "n": "y"}
    skill = {"a": 0.95, "b": 0.65, "c": 0.65}
    ratings = [{who: one if rng.random() < p else flip[one] for who, p in skill.items()} for one in truth]
    chances = dawid_skene(ratings, ["y", "n"])
    right = sum(max(one, key=one.__getitem__) == true for one, true in zip(chances, truth, strict=True))
    votes = [max("yn", key=list(one.values()).count) for one in ratings]
    majority = sum(vote == true for vote, true in zip(votes, truth, strict=True))
    assert right > majority + 30
    assert all(sum(one.values()) == pytest.approx(1) for one in chances)


def test_dawid_and_skene_need_three_raters_and_take_gaps() -> None:
    with pytest.raises(ValueError, match="3 raters"):
        dawid_skene([{"a": "y", "b": "n"}], ["y", "n"])
    every = [{"a": label, "b": label, "c": label} for label in "yyyyyynnnn"]
    found = dawid_skene([*every, {}, {"c": "n"}], ["y", "n"])
    assert found[0]["y"] > found[10]["y"] > found[11]["y"]
    assert found[10]["y"] == pytest.approx(sum(one["y"] for one in found) / 12, abs=1e-6)
