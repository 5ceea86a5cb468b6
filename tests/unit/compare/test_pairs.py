"""Arrays of score tables against the estimates of the score room, which does its sums by other code, on drawn rows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.unit.compare.written import Written

from ragassay.compare.pairs import column, pairs, status_counts
from ragassay.compare.side import Side, open_side
from ragassay.records.score import Bounds, Observation, Population
from ragassay.store import Store

CASES = [
    {
        "queryId": f"q{one:03}",
        "slice": ["a"] if one % 3 else ["b"],
        **({"paraphraseOf": f"q{one // 2 * 2:03}"} if one < 40 and one % 2 else {}),
    }
    for one in range(120)
]


def drawn(written: Written, seed: int) -> list[Observation]:
    """Three repeats of two measures a question: six in nine have a value, some of those bounds."""
    dice, rows = random.Random(seed), []
    for case in written.cases:
        for repeat in range(3):
            for measure in ("ndcg@10", "recall(rel=2)@20"):
                status = dice.choice(["value"] * 6 + ["missing", "error", "undefined"])
                denominator = float(dice.randint(1, 4))
                numerator = float(dice.randint(0, int(denominator)))
                where = {"query_id": case.query_id, "repeat": repeat, "measure": measure, "step": "bm25"}
                if status == "value":
                    rows.append(
                        Observation(
                            status="value",
                            value=numerator / denominator,
                            numerator=numerator,
                            denominator=denominator,
                            bounds=Bounds(low=0.0, high=1.0) if dice.random() < 0.1 else None,
                            **where,
                        )
                    )
                else:
                    known = None if status == "undefined" else denominator
                    rows.append(Observation(status=status, reason="why", denominator=known, **where))
    return rows


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    store = Store.open(Path(tmp_path_factory.mktemp("pairs")) / "s", create=True)
    written = Written(store, CASES)
    names = ("a", "b")
    return tuple(
        open_side(store, written.table(drawn(written, seed), name, repeats=3), name) for seed, name in enumerate(names)
    )  # type: ignore[return-value]


def test_columns_add_up_to_the_estimates_of_the_table(sides: tuple[Side, Side]) -> None:
    compared = 0
    for side in sides:
        for one in side.estimates:
            if one.aggregation not in ("macro", "micro") or "flip" in one.measure:
                continue
            made = column(side, one.measure, one.population, one.step, one.aggregation)
            mean = made.values.mean() if made.weights is None else made.values.sum() / made.weights.sum()
            assert mean == pytest.approx(one.value, abs=1e-12)
            assert len(made.values) == one.scored
            if one.aggregation == "macro" and one.bounds:
                assert made.ends is not None
                assert made.ends.low.mean() == pytest.approx(one.bounds.low, abs=1e-12)
                assert made.ends.high.mean() == pytest.approx(one.bounds.high, abs=1e-12)
            compared += 1
    assert compared >= 18


def test_every_question_is_paired_or_told_why_not(sides: tuple[Side, Side]) -> None:
    made = pairs(*sides, "ndcg@10", Population(class_="answerable"), "bm25")
    undefined, missing, error = status_counts(made)
    assert len(made.query_ids) + undefined + missing + error == 120
    assert len({*made.query_ids} | {one.query_id for one in made.lost}) == 120
    assert not {*made.query_ids} & {one.query_id for one in made.lost}


def test_paraphrases_are_one_cluster(sides: tuple[Side, Side]) -> None:
    made = pairs(*sides, "ndcg@10", Population(class_="answerable"), "bm25")
    groups = dict(zip(made.query_ids, made.clusters.tolist(), strict=True))
    for one, other in (("q000", "q001"), ("q038", "q039")):
        if one in groups and other in groups:
            assert groups[one] == groups[other]
    assert len(set(groups.values())) < len(groups)
