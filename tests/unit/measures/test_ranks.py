"""Ranks in ties that many judged rows share, ids made to collide in their ends, duplicates of every kind."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ragassay.measures import evaluate
from ragassay.measures.trec import ranks
from ragassay.measures.trec.columns import labels_from_dict, run_from_dict, run_of


def by_hand(run: dict[str, float]) -> list[str]:
    return sorted(run, key=lambda item: (run[item], item.encode()), reverse=True)


@pytest.mark.parametrize("pairs", [1, 7, 1 << 20])
@pytest.mark.parametrize("seed", range(4))
def test_one_big_tie_by_pairs_and_by_sorting(monkeypatch: pytest.MonkeyPatch, pairs: int, seed: int) -> None:
    monkeypatch.setattr(ranks, "_PAIRS", pairs)
    rng = random.Random(seed)
    names = {"".join(rng.choice("ab") for _ in range(rng.randint(1, 30))) for _ in range(150)}
    run = {name: float(rng.randint(0, 1)) for name in names}
    qrels = {"q": dict.fromkeys(sorted(names), 1)}
    rows = run_from_dict({"q": run}, labels_from_dict(qrels)).ranked["double"]
    order = by_hand(run)
    items = labels_from_dict(qrels).items
    assert [items.text(label).decode() for label in rows.label] == order
    assert rows.rank.tolist() == list(range(1, len(order) + 1))
    ones = sum(score == 1 for score in run.values())
    assert set(zip(rows.first.tolist(), rows.last.tolist(), strict=True)) == {(1, ones), (ones + 1, len(order))}


def test_long_ids_that_differ_only_in_the_middle() -> None:
    names = [f"common-start-{at:02d}-and-the-same-long-end" for at in range(50)]
    found = evaluate({"q": {names[7]: 1}}, {"q": {name: float(at) for at, name in enumerate(names)}}, ["rr"])
    assert found["rr"].value == 1 / 43


@pytest.mark.parametrize("seed", range(6))
def test_duplicates_count_once_at_their_highest_score(seed: int) -> None:
    rng = random.Random(seed)
    rows = [(f"q{rng.randint(0, 3)}", f"item-{rng.randint(0, 8)}" * rng.choice([1, 3]), float(rng.randint(0, 5)))
            for _ in range(120)]  # fmt: skip
    best: dict[str, dict[str, float]] = {}
    for query, item, score in rows:
        own = best.setdefault(query, {})
        own[item] = max(own.get(item, -1.0), score)
    qrels = {query: {item: at % 3 for at, item in enumerate(own)} for query, own in best.items()}
    labels = labels_from_dict(qrels)
    found = run_of(*map(list, zip(*rows, strict=True)), labels)
    expected = run_from_dict(best, labels)
    for ours, theirs in zip(found.ranked["double"], expected.ranked["double"], strict=True):
        assert ours.tolist() == theirs.tolist()
    assert found.retrieved.tolist() == expected.retrieved.tolist()
    assert found.duplicates.sum() == len(rows) - sum(map(len, best.values()))


def test_lists_of_very_different_lengths() -> None:
    run = {f"q{at}": {f"d{item}": float(-item) for item in range(1 + (at == 3) * 500)} for at in range(2_000)}
    qrels = {query: {"d0": 1} for query in run} | {"q3": {"d499": 1}}
    found = evaluate(qrels, run, ["rr"])
    assert found["rr"].value == pytest.approx((1_999 + 1 / 500) / 2_000)
    assert np.sum(found.run.retrieved) == 2_500


def test_the_largest_and_least_scores() -> None:
    run = {"a": 1.7976931348623157e308, "b": 5e-324, "c": 0.0, "d": -1.7976931348623157e308}
    for item, rank in zip("abcd", range(1, 5), strict=True):
        assert evaluate({"q": {item: 1}}, {"q": run}, ["rr"])["rr"].value == 1 / rank
