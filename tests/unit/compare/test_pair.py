"""A comparison of drawn tables against sums by hand, by scipy, and by code that shares nothing with ours."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.unit.compare.test_pairs import CASES, drawn
from tests.unit.compare.written import Written

from ragassay.compare.pair import pair
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.comparison import Comparison, Effect, Move
from ragassay.records.score import Observation
from ragassay.stats import in_region
from ragassay.store import Store


def rows(values: dict[str, float], measure: str = "ndcg@10", step: str | None = "bm25") -> list[Observation]:
    return [
        Observation(query_id=name, repeat=0, measure=measure, status="value", step=step, value=value, numerator=value,
                    denominator=1.0)
        for name, value in values.items()
    ]  # fmt: skip


def compared(
    path: Path, cases: list[dict[str, Any]], *tables: list[Observation], **how: Any
) -> tuple[Store, Comparison]:
    store = Store.open(path / "s", create=True)
    written = Written(store, cases)
    digests = [written.table(one, f"t{number}") for number, one in enumerate(tables)]
    made, digest = pair(store, digests[0], digests[1], **how)
    assert store.get_record(Comparison, digest) == made
    return store, made


def effects(store: Store, made: Comparison) -> list[Effect]:
    return list(store.get_lines(Effect, made.effects))


def one(found: list[Effect], **wanted: Any) -> Effect:
    fits = [
        each for each in found
        if all(getattr(each, name) == value for name, value in wanted.items() if name != "slice")
        and each.population.slice == wanted.get("slice")
    ]  # fmt: skip
    assert len(fits) == 1, fits
    return fits[0]


def test_ten_questions_by_hand_and_by_scipy(tmp_path: Path) -> None:
    names = [f"q{number}" for number in range(10)]
    before = dict(zip(names, [0.5, 0.25, 1.0, 0.0, 0.5, 0.75, 0.25, 0.5, 1.0, 0.5], strict=True))
    after = dict(zip(names, [0.75, 0.25, 1.0, 0.5, 0.75, 0.75, 0.0, 0.75, 1.0, 1.0], strict=True))
    store, made = compared(tmp_path, [{"queryId": name} for name in names], rows(before), rows(after))
    found = one(effects(store, made), measure="ndcg@10")
    differences = np.array([after[name] - before[name] for name in names])
    assert (found.baseline, found.candidate, found.effect) == (0.525, 0.675, pytest.approx(0.15))
    assert (found.wins, found.ties, found.losses) == (5, 4, 1)
    ours = stats.ttest_rel(list(after.values()), list(before.values())).confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == (pytest.approx(ours.low), pytest.approx(ours.high))
    theirs = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert found.test.p == pytest.approx(theirs.pvalue)
    assert (found.test.method, found.test.flips, found.test.floor) == ("exact", 64, 2 / 64)  # six differ
    assert found.doubt == "few_clusters"
    assert found.quantiles == (-0.25, -0.25, 0.0, 0.0, 0.25, 0.5, 0.5)
    alpha = 25 * 2 / 2**10  # the greatest p of 1,024 patterns that is at most 0.05
    critical, shift = stats.t(9).ppf(1 - alpha / 2), found.detectable / (differences.std(ddof=1) / math.sqrt(10))
    power = stats.nct(9, shift).sf(critical) + stats.nct(9, shift).cdf(-critical)
    assert power == pytest.approx(0.8, abs=1e-6)
    moved = list(store.get_lines(Move, made.moves))
    assert {each.query_id: each.kind for each in moved} == {
        "q0": "improved", "q3": "improved", "q4": "improved", "q6": "regressed", "q7": "improved", "q9": "improved"
    }  # fmt: skip


def test_where_nothing_differs_the_interval_is_what_so_many_clusters_could_hide(tmp_path: Path) -> None:
    values = {f"q{number}": number / 40 for number in range(40)}
    store, made = compared(tmp_path, [{"queryId": name} for name in values], rows(values), rows(values))
    found = one(effects(store, made), measure="ndcg@10")
    reach = 1 - 0.05 ** (1 / 40)
    assert (found.effect, found.interval.low, found.interval.high) == (0.0, pytest.approx(-reach), pytest.approx(reach))
    assert (found.test.p, found.test.floor, found.ties) == (1.0, 1.0, 40)
    assert list(store.get_lines(Move, made.moves)) == []


def test_an_interval_bears_the_doubt_that_the_statistics_have(tmp_path: Path) -> None:
    dice, names = random.Random(2), [f"q{number:03}" for number in range(200)]
    before = {name: dice.random() for name in names}
    near = {name: min(1.0, max(0.0, value + dice.gauss(0, 0.4))) for name, value in before.items()}
    one_far = {name: value if name != "q007" else 1 - round(value) for name, value in before.items()}
    cases = [{"queryId": name} for name in names]
    for number, (after, doubt) in enumerate(((near, None), (one_far, "few_carry_it"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        store, made = compared(folder, cases, rows(before), rows(after))
        found = one(effects(store, made), measure="ndcg@10")
        gaps = [after[name] - before[name] for name in names]
        assert (found.doubt or "") == in_region(gaps, within=(-1.0, 1.0)).reason == (doubt or "")


def naive(written: Written, tables: list[list[Observation]], measure: str, name: str | None) -> dict[str, Any]:
    """Mean effect, clustered interval, counts and bounds by plain loops over the rows."""
    by: list[dict[str, list[Observation]]] = [defaultdict(list), defaultdict(list)]
    for side, table in zip(by, tables, strict=True):
        for row in table:
            if row.measure == measure:
                side[row.query_id].append(row)
    cluster = {case["queryId"]: case.get("paraphraseOf", case["queryId"]) for case in CASES}
    counts, gaps, low, high = defaultdict(int), {}, [], []
    for case in CASES:
        if name is not None and name not in case["slice"]:
            continue
        query = case["queryId"]
        states, means, ends = [], [], []
        for side in by:
            live = [row for row in side[query] if row.status != "undefined"]
            values = [row.value for row in live if row.status == "value"]
            bad = "error" if any(row.status == "error" for row in live) else "missing" if live else "undefined"
            states.append("value" if values else bad)
            means.append(sum(values) / len(values) if values else 0.0)
            each = [(0.0, 1.0) if row.bounds or row.status != "value" else (row.value, row.value) for row in live]
            ends.append([sum(end[at] for end in each) / len(each) for at in (0, 1)] if live else None)
        worst = next((state for state in ("error", "missing", "undefined") if state in states), "value")
        counts[worst] += 1
        if worst == "value":
            gaps[query] = means[1] - means[0]
        if "undefined" not in states:
            low.append(ends[1][0] - ends[0][1])
            high.append(ends[1][1] - ends[0][0])
    mean, sums = sum(gaps.values()) / len(gaps), defaultdict(float)
    for query, gap in gaps.items():
        sums[cluster[query]] += gap - mean
    size = len(sums)
    error = math.sqrt(size / (size - 1) * sum(each**2 for each in sums.values())) / len(gaps)
    half = stats.t(size - 1).ppf(0.975) * error
    return {
        "effect": mean, "low": mean - half, "high": mean + half, "clusters": size, "counts": dict(counts),
        "bounds": (sum(low) / len(low), sum(high) / len(high)), "gaps": gaps, "cluster": cluster,
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_drawn_tables_against_plain_loops(tmp_path: Path, seed: int) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES)
    tables = [drawn(written, 2 * seed + side) for side in (0, 1)]
    digests = [written.table(table, f"t{side}", repeats=3) for side, table in enumerate(tables)]
    made, _ = pair(store, *digests, flips=4000)
    for measure, name in itertools.product(("ndcg@10", "recall(rel=2)@20"), (None, "a", "b")):
        found = one(effects(store, made), measure=measure, aggregation="macro", slice=name)
        wanted = naive(written, tables, measure, name)
        assert found.effect == pytest.approx(wanted["effect"], abs=1e-12)
        assert (found.interval.low, found.interval.high) == pytest.approx((wanted["low"], wanted["high"]))
        assert (found.bounds.low, found.bounds.high) == pytest.approx(wanted["bounds"])
        counts = {"value": found.pairs, "undefined": found.undefined, "missing": found.missing, "error": found.error}
        assert {state: count for state, count in counts.items() if count} == wanted["counts"]
        assert found.clusters == wanted["clusters"]
        assert found.test.p == pytest.approx(flipped(wanted, 4000), abs=0.03)


def flipped(wanted: dict[str, Any], times: int) -> float:
    """A plain Monte Carlo of the same test, with other random numbers."""
    dice, sums = random.Random(9), defaultdict(float)
    for query, gap in wanted["gaps"].items():
        sums[wanted["cluster"][query]] += gap
    values, reached = list(sums.values()), 0
    for _ in range(times):
        total = sum(value if dice.random() < 0.5 else -value for value in values)
        reached += abs(total) >= abs(sum(values)) - 1e-12
    return (reached + 1) / (times + 1)


def test_the_same_input_gives_the_same_bytes_and_a_name(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES)
    a, b = (written.table(drawn(written, seed), f"t{seed}", repeats=3) for seed in (0, 1))
    first, digest = pair(store, a, b, names=("before", "after one"))
    assert pair(store, a, b, names=("before", "after one"))[1] == digest
    assert store.ref("comparison/before/after-one") == digest
    assert store.read_ref("comparison/before/after-one").kind == "comparison"
    assert pair(store, a, b, names=("before", "after one"), seed=1)[0].effects != first.effects


def test_other_versions_of_measures_are_refused_unless_declared(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES[:3])
    a = written.table(rows({"q000": 1.0}), "a")
    b = written.table(rows({"q000": 1.0}), "b", measure_versions={"ndcg": "2"})
    with pytest.raises(UsageError, match=r"ways of measuring differ \(measure ndcg\)") as refused:
        pair(store, a, b)
    assert "--variation measure" in refused.value.hint
    made, _ = pair(store, a, b, variation=["measure"])
    assert made.variation == ("measure",)
    assert [each.declared for each in made.changes if each.artefact == "measure"] == [True]


def test_other_questions_are_refused_unless_declared_and_then_named(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    ours, theirs = Written(store, CASES[:5]), Written(store, CASES[2:7], name="other")
    a = ours.table(rows({f"q00{number}": 0.5 for number in range(5)}), "a")
    b = theirs.table(rows({f"q00{number}": 1.0 for number in range(2, 7)}), "b")
    with pytest.raises(UsageError, match="benchmarks differ"):
        pair(store, a, b)
    made, _ = pair(store, a, b, variation=["benchmark"])
    assert made.paired == 3
    assert [(each.query_id, each.side) for each in made.unpaired] == [
        ("q000", "baseline"), ("q001", "baseline"), ("q005", "candidate"), ("q006", "candidate")
    ]  # fmt: skip
    found = one(effects(store, made), measure="ndcg@10")
    assert (found.attempted, found.pairs, found.missing, found.effect) == (7, 3, 4, 0.5)
    # Of q000 and q001 (0.5 before) the candidate may be 0 to 1; of q005 and q006 (1 after) the baseline may.
    low, high = (3 * 0.5 + 2 * (0 - 0.5) + 2 * (1 - 1)) / 7, (3 * 0.5 + 2 * (1 - 0.5) + 2 * (1 - 0)) / 7
    assert (found.bounds.low, found.bounds.high) == pytest.approx((low, high))


def test_a_word_that_nothing_is_called_is_refused(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    digest = Digest("sha256:" + "0" * 64)
    with pytest.raises(UsageError, match="'corpse' is nothing that can vary") as refused:
        pair(store, digest, digest, variation=["corpse"])
    assert "corpus" in refused.value.hint
