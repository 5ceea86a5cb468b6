"""Weak baselines, by hand; and what must hold whatever the tables say: arms exchanged, rows in another order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.compare.test_pair import effects, rows
from tests.unit.compare.test_pairs import CASES, drawn
from tests.unit.compare.written import Written

from ragassay.compare.pair import pair
from ragassay.records.base import Digest
from ragassay.records.comparison import Comparison, Effect, Move
from ragassay.records.protocol import Protocol, Run, Subject
from ragassay.records.score import Estimate, Observation, ScoreTable
from ragassay.store import Store

TEN = [{"queryId": f"q{number}", "class": "answerable" if number < 5 else "multi_hop"} for number in range(10)]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(Store.open(tmp_path / "s", create=True), TEN)


def at_context(values: list[float]) -> list[Observation]:
    return rows({f"q{number}": value for number, value in enumerate(values)}, "recall(rel=2)@20", "context")


def test_a_baseline_is_weak_in_the_class_in_which_it_is_worse(written: Written) -> None:
    built_in = written.table(at_context([0.5] * 10), "builtin")
    worse = written.table(at_context([0.5] * 5 + [0.4] * 5), "worse")
    made, _ = pair(written.store, worse, built_in, reference=built_in)
    assert made.weak_baseline == (
        "recall(rel=2)@20 at context, multi_hop: 0.100 worse than the built-in BM25 over 5 questions",
    )
    assert (made.reference, made.margin) == (built_in, 0.05)
    assert pair(written.store, worse, built_in, reference=built_in, margin=0.1)[0].weak_baseline == ()
    assert pair(written.store, built_in, worse, reference=built_in)[0].weak_baseline == ()
    assert pair(written.store, worse, built_in)[0].weak_baseline == ()  # nobody asked


def test_another_system_is_no_reference(written: Written) -> None:
    store = written.store
    ours = written.table(at_context([0.5] * 10), "ours")
    other = _asked_as(store, ours, "http")
    made, _ = pair(store, ours, ours, reference=other)
    assert made.weak_baseline[0].startswith("not known: the reference was asked as 'http'")


def test_nothing_of_retrieval_in_common_is_not_strong(written: Written) -> None:
    ours = written.table(rows({f"q{number}": 0.5 for number in range(10)}, "token_f1", None), "ours")
    made, _ = pair(written.store, ours, ours, reference=ours)
    assert made.weak_baseline == (
        "not known: no measure of retrieval was taken of both at a place that can be compared",
    )


def _asked_as(store: Store, scores: Digest, adapter: str) -> Digest:
    """The same table over a run that says it was asked otherwise."""
    table = store.get_record(ScoreTable, scores)
    run = store.get_record(Run, table.run_record)
    subject = store.get_record(Subject, run.subject)
    subject = replace(subject, system=replace(subject.system, adapter=adapter))
    protocol = replace(store.get_record(Protocol, run.protocol), subject=store.put_record(subject))
    run = replace(run, subject=protocol.subject, protocol=store.put_record(protocol))
    return store.put_record(replace(table, run=run.identity(), run_record=store.put_record(run)))


def _by_key(store: Store, made: Comparison) -> dict[tuple[object, ...], Effect]:
    return {(one.measure, one.step, one.population, one.aggregation): one for one in effects(store, made)}


@pytest.mark.parametrize("seed", range(4))
def test_arms_exchanged_turn_every_effect_round(tmp_path: Path, seed: int) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES)
    a, b = (written.table(drawn(written, 10 * seed + side), f"t{side}", repeats=3) for side in (0, 1))
    there, back = (pair(store, *both, flips=500)[0] for both in ((a, b), (b, a)))
    turned = _by_key(store, back)
    for key, one in _by_key(store, there).items():
        other = turned[key]
        assert other.effect == pytest.approx(-one.effect, abs=1e-12)
        assert (other.interval.low, other.interval.high) == pytest.approx((-one.interval.high, -one.interval.low))
        assert (other.bounds.low, other.bounds.high) == pytest.approx((-one.bounds.high, -one.bounds.low))
        assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
        assert (other.test.p, other.test.floor) == (one.test.p, one.test.floor)
        assert other.detectable == pytest.approx(one.detectable)
        assert (other.pairs, other.undefined, other.missing, other.error) == (
            one.pairs, one.undefined, one.missing, one.error
        )  # fmt: skip
    kinds = {"improved": "regressed", "regressed": "improved", "appeared": "disappeared", "disappeared": "appeared"}
    moved = [
        {(each.query_id, each.measure): each for each in store.get_lines(Move, one.moves)} for one in (there, back)
    ]
    assert {key: kinds.get(each.kind, each.kind) for key, each in moved[0].items()} == {
        key: each.kind for key, each in moved[1].items()
    }


@pytest.mark.parametrize("known", [True, False])
def test_bounds_of_a_ratio_are_those_of_the_two_estimates(tmp_path: Path, known: bool) -> None:
    """The score room bounds each arm by other code; without undefined questions both count the same ones."""
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES)
    tables = []
    for side in (0, 1):
        own = [one for one in drawn(written, 20 + side) if one.status != "undefined"]
        if not known:
            own = [one for one in own if one.query_id != "q007"]  # nobody knows its denominator
        tables.append(written.table(own, f"t{side}", repeats=3))
    made, _ = pair(store, *tables, flips=50)
    ends = [
        {(one.measure, one.population, one.aggregation): one.bounds
         for one in store.get_lines(Estimate, store.get_record(ScoreTable, table).estimates)}
        for table in tables
    ]  # fmt: skip
    compared = 0
    for one in effects(store, made):
        if one.aggregation == "micro" and one.measure.startswith("recall"):
            before, after = (each[one.measure, one.population, one.aggregation] for each in ends)
            assert (one.bounds.low, one.bounds.high) == pytest.approx(
                (after.low - before.high, after.high - before.low)
            )
            compared += 1
    assert compared == 3


def test_a_table_against_itself_differs_nowhere(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES)
    table = written.table(drawn(written, 3), "t", repeats=3)
    made, _ = pair(store, table, table)
    assert list(store.get_lines(Move, made.moves)) == []
    for one in effects(store, made):
        assert (one.effect, one.wins, one.losses, one.test.p) == (0.0, 0, 0, 1.0)
        assert one.interval.low < 0 < one.interval.high


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    digests = []
    for seed in (None, 1, 2):
        store = Store.open(tmp_path / f"s{seed}", create=True)
        written = Written(store, CASES)
        tables = []
        for side in (0, 1):
            own = drawn(written, side)
            if seed is not None:
                random.Random(seed).shuffle(own)
            tables.append(written.table(own, f"t{side}", repeats=3, estimates=False))
        made, _ = pair(store, *tables, flips=200)
        digests.append((made.effects, made.moves))
    assert len(set(digests)) == 1
