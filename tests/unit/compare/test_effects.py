"""Ratios, times, figures of sets, last lists, families: each against numbers from elsewhere."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.unit.compare.test_pair import compared, effects, one, rows
from tests.unit.compare.written import AS_OF, Written

from ragassay.compare.pair import pair
from ragassay.compare.times import Times, above, between
from ragassay.records.comparison import Effect, Move
from ragassay.records.document import Span
from ragassay.records.score import Bounds, Observation
from ragassay.records.trace import Item, Step, TraceContent
from ragassay.score.answer import BEYOND_ALL
from ragassay.stats.shared_flips import FlipGroup, shared_flips
from ragassay.store import Store


def part(name: str, top: float, bottom: float, repeat: int = 0) -> Observation:
    return Observation(query_id=name, repeat=repeat, measure="recall(rel=2)@20", status="value", step="bm25",
                       value=top / bottom, numerator=top, denominator=bottom)  # fmt: skip


def test_a_ratio_is_flipped_and_spread_by_what_each_question_adds(tmp_path: Path) -> None:
    before = [(1, 2), (0, 1), (3, 4), (2, 2), (1, 5), (0, 3)]
    after = [(2, 2), (1, 1), (3, 4), (1, 2), (4, 5), (1, 3)]
    names = [f"q{number}" for number in range(6)]
    tables = [[part(name, *both) for name, both in zip(names, side, strict=True)] for side in (before, after)]
    store, made = compared(tmp_path, [{"queryId": name} for name in names], *tables)
    found = one(effects(store, made), measure="recall(rel=2)@20", aggregation="micro")
    assert (found.baseline, found.candidate) == (7 / 17, 12 / 17)
    u = [(b - 12 / 17 * n) / 17 - (a - 7 / 17 * m) / 17 for (a, m), (b, n) in zip(before, after, strict=True)]
    half = stats.t(5).ppf(0.975) * math.sqrt(6 / 5 * sum(each**2 for each in u))
    assert (found.interval.low, found.interval.high) == pytest.approx((5 / 17 - half, 5 / 17 + half))
    gaps = np.array([b - a for (a, _), (b, _) in zip(before, after, strict=True)], float)  # denominators are equal
    theirs = stats.permutation_test((gaps,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert found.test.p == pytest.approx(theirs.pvalue)


def late(name: str, value: float | None, waited: float = 100.0, repeat: int = 0) -> Observation:
    known = {"status": "value", "value": value, "numerator": value, "denominator": 1.0}
    lost = {"status": "error", "reason": "timeout", "bounds": Bounds(low=waited, high=BEYOND_ALL)}
    return Observation(query_id=name, repeat=repeat, measure="latency", **(lost if value is None else known))  # type: ignore[arg-type]


def test_a_timeout_is_not_left_out_of_times(tmp_path: Path) -> None:
    names = [f"q{number:02}" for number in range(20)]
    before = [late(name, 10.0 + number) for number, name in enumerate(names)]
    after = [late(name, None if number in (3, 4) else 10.0 + number) for number, name in enumerate(names)]
    store, made = compared(tmp_path, [{"queryId": name} for name in names], before, after)
    found = effects(store, made)
    mean = one(found, measure="latency", aggregation="macro")
    assert (mean.status, mean.reason, mean.effect) == ("undefined", "right_censored", None)
    # At the least q03 and q04 took 100 ms: 87 and 86 ms more, over 20 questions.
    assert (mean.bounds.low, mean.bounds.high) == (pytest.approx((87 + 86) / 20), BEYOND_ALL)
    median = one(found, measure="latency", aggregation="median")
    assert (median.baseline, median.candidate) == (19.0, 21.0)  # 10th of 20; two of the first ten moved behind all
    worst = one(found, measure="latency", aggregation="p99")
    assert (worst.status, worst.reason) == ("undefined", "right_censored")
    assert (worst.bounds.low, worst.bounds.high) == (pytest.approx(100.0 - 29.0), BEYOND_ALL)
    # Above the common median of 40 times, 19: q10 to q19 in both arms, and the two that were given up in one of them.
    assert median.test.p == 2 / 2**2
    assert worst.test is None


@pytest.mark.parametrize("aggregation", ["median", "p95"])
def test_a_quantile_is_tested_by_what_is_above_that_of_both_arms(tmp_path: Path, aggregation: str) -> None:
    """Against scipy's permutation of the arms within each question; two paraphrases are swapped together."""
    dice = np.random.default_rng(3)
    names = [f"q{number:02}" for number in range(40)]
    before, after = dice.gamma(2.0, 20.0, 40), dice.gamma(2.0, 32.0, 40)
    cases = [{"queryId": name} for name in names[:39]] + [{"queryId": "q39", "paraphraseOf": "q38"}]
    tables = [[late(name, float(ms)) for name, ms in zip(names, side, strict=True)] for side in (before, after)]
    store, made = compared(tmp_path, cases, *tables)
    found = one(effects(store, made), measure="latency", aggregation=aggregation)
    share = {"median": 0.5, "p95": 0.95}[aggregation]
    at = np.quantile(np.concatenate((before, after)), share, method="inverted_cdf")
    more = (after > at).astype(float) - (before > at)
    more[38] += more[39]
    theirs = stats.permutation_test((more[:39],), np.sum, permutation_type="samples", n_resamples=200_000,
                                    rng=np.random.default_rng(1))  # fmt: skip
    assert found.test.p == pytest.approx(theirs.pvalue, abs=0.01)


def above_of(dice: np.random.Generator, slower: float) -> float:
    """p of the 95th percentile of 60 questions with heavy times, by all signs of those that differ."""
    shared, own = dice.gamma(2.0, 20.0, 60), np.arange(60)
    sides = []
    for factor in (1.0, slower):
        values = shared + factor * dice.gamma(1.0, 40.0, 60)
        order = np.argsort(values)
        sides.append(Times(values[order], own[order], np.zeros(0), np.zeros(0, np.int64), 0.0))
    found = above(*sides, 0.95)
    assert found is not None
    return shared_flips([FlipGroup(found.clusters, found.more[:, None], np.array([found.size]))], 60, seed=1)[0][0].p


def test_the_test_of_a_quantile_keeps_its_level_and_sees_what_is_there() -> None:
    dice = np.random.default_rng(9)
    same = [above_of(dice, 1.0) for _ in range(500)]
    assert sum(p <= 0.05 for p in same) / 500 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)
    assert np.mean([above_of(dice, 6.0) for _ in range(100)]) < 0.1


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 1e4)), min_size=1, max_size=30), st.sampled_from([0.5, 0.95]))
def test_which_arm_is_which_changes_only_the_sign(pairs: list[tuple[float, float]], share: float) -> None:
    sides = []
    for values in zip(*pairs, strict=True):
        order = np.argsort(values)
        sides.append(Times(np.array(values)[order], order.astype(np.int64), np.zeros(0), np.zeros(0, np.int64), 0.0))
    one_way, other = above(*sides, share), above(*sides[::-1], share)
    assert one_way is not None
    assert other is not None
    assert one_way.more.tolist() == (-other.more).tolist()


def test_quantiles_of_times_are_covered_as_often_as_is_said() -> None:
    dice, hits = np.random.default_rng(5), 0
    for _ in range(400):
        shared = dice.gamma(2.0, 20.0, 250)
        arms = [np.sort(shared + dice.gamma(2.0, 10.0, 250)) for _ in range(2)]
        orders = [np.argsort(shared + dice.gamma(2.0, 10.0, 250)) for _ in range(2)]
        a, b = (
            Times(np.sort(values), order.astype(np.int64), np.zeros(0), np.zeros(0, np.int64), 0.0)
            for values, order in zip(arms, orders, strict=True)
        )
        found = between(a, b, 0.5, 0.95)
        hits += found.interval is not None and found.interval.low <= 0 <= found.interval.high
    assert 0.92 <= hits / 400 <= 0.995


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=80), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_that_of_numpy(values: list[float], share: float) -> None:
    ordered = np.sort(np.array(values))
    own = Times(ordered, np.arange(len(values)), np.zeros(0), np.zeros(0, np.int64), 0.0)
    found = between(own, own, share, 0.95)
    assert found.baseline == found.candidate == np.quantile(ordered, share, method="inverted_cdf")
    assert found.interval is None or found.interval.low <= 0 <= found.interval.high


def test_moves_of_times_are_the_largest_only(tmp_path: Path) -> None:
    names = [f"q{number:03}" for number in range(300)]
    before = [late(name, 500.0) for name in names]
    after = [late(name, 500.0 + (number if number % 2 else -number)) for number, name in enumerate(names)]
    store, made = compared(tmp_path, [{"queryId": name} for name in names], before, after)
    moved = list(store.get_lines(Move, made.moves))
    assert {each.query_id for each in moved} == {f"q{number:03}" for number in range(100, 300)}
    assert {each.kind for each in moved if int(each.query_id[1:]) % 2} == {"regressed"}


def listed(name: str, step: str) -> TraceContent:
    item = Item(item_id="d", rank=1, resolution="declared", transform="slice", whole_document=True,
                sources=(Span(document_id="d", version="1", start=0, end=1),))  # fmt: skip
    own = Step(step_id="s", name=step, kind="lexical" if step == "bm25" else "vector", parents=(), items_out=(item,))
    return TraceContent(query_id=name, repeat=0, as_of=AS_OF, steps=(own,), context=(item,))


def test_lists_of_other_names_are_compared_at_the_last_list_of_each(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, [{"queryId": "q0"}, {"queryId": "q1"}])
    digests = [
        written.table(
            rows({"q0": low, "q1": 0.5}, step=step), step, traces=[listed(name, step) for name in ("q0", "q1")]
        )
        for step, low in (("bm25", 0.0), ("dense", 1.0))
    ]
    made, _ = pair(store, *digests)
    found = effects(store, made)
    both = one(found, measure="ndcg@10", step="last list")
    assert (both.effect, both.wins, both.ties) == (0.5, 1, 1)
    for step, missing in (("bm25", 2), ("dense", 2)):
        alone = one(found, measure="ndcg@10", step=step)
        assert (alone.status, alone.reason, alone.missing) == ("missing", "not_measured", missing)
    assert [(each.query_id, each.step) for each in store.get_lines(Move, made.moves)] == [("q0", "last list")]


def test_a_figure_of_a_set_is_compared_from_its_estimates(tmp_path: Path) -> None:
    names = [f"q{number:02}" for number in range(40)]

    def table(shift: float) -> list[Observation]:
        made = []
        for number, name in enumerate(names):
            right, sure = float(number % 3 > 0), (number * 7 % 40) / 40 * (1 - shift) + shift * (number % 3 > 0)
            for measure, value in (("answered_right(of=exact_match)", right), ("answer_confidence", sure)):
                made.append(Observation(query_id=name, repeat=0, measure=measure, status="value", value=value,
                                        numerator=value, denominator=1.0))  # fmt: skip
        return made

    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, [{"queryId": name} for name in names])
    measures = ("aurc(of=exact_match)", "answered_right(of=exact_match)", "answer_confidence")
    digests = [
        written.table(table(shift), name, measures=measures, measure_versions={"aurc": "1"})
        for shift, name in ((0.0, "a"), (0.9, "b"))
    ]
    made, _ = pair(store, *digests)
    found = [each for each in effects(store, made) if each.aggregation == "set"]
    assert [each.measure for each in found] == ["aurc(of=exact_match)"]
    assert found[0].candidate < found[0].baseline  # surer of what is right: less risk
    assert found[0].effect == found[0].candidate - found[0].baseline
    assert (found[0].interval.method, found[0].clusters, found[0].doubt) == ("bootstrap_percentile", 40, None)
    assert found[0].interval.low < found[0].effect < found[0].interval.high < 0
    assert (found[0].test.p, found[0].test.floor, found[0].test.flips) == (1 / 10_001, 1 / 10_001, 10_000)
    assert found[0].pairs == 40
    alike, _ = pair(store, digests[0], digests[0])
    (same,) = (each for each in effects(store, alike) if each.aggregation == "set")
    assert (same.effect, same.test.p, same.interval.low, same.interval.high) == (0.0, 1.0, 0.0, 0.0)


def observed(name: str, measure: str, value: float, **more: object) -> Observation:
    return Observation(query_id=name, measure=measure, status="value", value=value, numerator=value, denominator=1.0,
                       **{"repeat": 0, **more})  # type: ignore[arg-type]  # fmt: skip


def test_what_sets_two_kinds_of_questions_against_each_other_is_compared_over_both(tmp_path: Path) -> None:
    """Thirty answerable and ten that are not: the rows of its sides are no measure of their own."""
    auroc, score = "retrieval_auroc", "retrieval_confidence"
    names = [f"q{number:02}" for number in range(40)]

    def table(shift: float) -> list[Observation]:
        made = []
        for number, name in enumerate(names):
            side = float(number < 30)
            made += [observed(name, auroc, side), observed(name, score, (number * 13 % 40) / 40 + shift * side)]
        return made

    store = Store.open(tmp_path / "s", create=True)
    cases = [{"queryId": name, **({} if at < 30 else {"class": "unanswerable"})} for at, name in enumerate(names)]
    written = Written(store, cases)
    digests = [written.table(table(shift), name) for shift, name in ((0.0, "a"), (2.0, "b"))]
    made, _ = pair(store, *digests)
    (found,) = (each for each in effects(store, made) if each.measure == auroc)
    assert (found.aggregation, found.population.class_, found.candidate) == ("set", "answerability", 1.0)
    assert (found.interval.method, found.test.floor) == ("bootstrap_percentile", 1 / 10_001)
    assert found.test.p < 0.01


def test_groups_and_repeats_are_compared_as_any_mean(tmp_path: Path) -> None:
    """Twelve groups of two paraphrases, two repeats each: one value a group, one a question; paired and tested."""
    names = [f"q{number:02}" for number in range(24)]
    cases = [{"queryId": name, **({"paraphraseOf": names[at - 1]} if at % 2 else {})} for at, name in enumerate(names)]
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, cases)
    measures = ("exact_match", "pass_k(k=2,of=exact_match)", "paraphrase_consistency(of=exact_match)")

    def table(good: int) -> list[Observation]:
        """The first of each group passes always, the second in both repeats in `good` groups, in the others once."""
        return [
            observed(name, "exact_match", float(at % 2 == 0 or repeat == 0 or at // 2 < good), repeat=repeat)
            for at, name in enumerate(names)
            for repeat in (0, 1)
        ]

    digests = [written.table(table(good), name, measures=measures, repeats=2) for good, name in ((0, "a"), (12, "b"))]
    made, _ = pair(store, *digests)
    found = {each.measure.partition("(")[0]: each for each in effects(store, made)}
    groups, repeats = found["paraphrase_consistency"], found["pass_k"]
    assert (groups.baseline, groups.candidate, groups.pairs, groups.clusters) == (0.5, 1.0, 12, 12)
    assert (groups.wins, groups.ties, groups.losses) == (12, 0, 0)
    assert (groups.test.method, groups.test.p) == ("exact", 2 / 2**12)
    assert (repeats.baseline, repeats.candidate, repeats.pairs, repeats.clusters) == (0.5, 1.0, 24, 12)
    assert (repeats.wins, repeats.ties, repeats.losses, repeats.test.p) == (12, 12, 0, 2 / 2**12)


def test_slices_are_corrected_by_what_they_are_looked_at_for(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    cases = [{"queryId": f"q{at:02}", "slice": [f"s={at % 3}", "all"]} for at in range(60)]
    written = Written(store, cases)
    values = {case["queryId"]: 0.5 for case in cases}
    moved = {name: 0.5 + (0.1 if at % 3 == 0 else 0.01 * (-1) ** (at // 3)) for at, name in enumerate(values)}
    digests = [written.table(rows(each), name) for name, each in (("a", values), ("b", moved))]
    by: dict[str, list[Effect]] = {}
    for purpose in ("must-pass", "regressed", "explore"):
        made, _ = pair(store, *digests, slices=purpose)
        by[purpose] = sorted(
            (each for each in effects(store, made) if (each.population.slice or "").startswith("s=")),
            key=lambda each: str(each.population),
        )
        whole = one(effects(store, made), measure="ndcg@10", slice="all")
        assert (whole.test.adjusted, whole.test.family) == (None, None)  # it is the class, and no family of its own
    p = [each.test.p for each in by["explore"]]
    assert [each.test.adjusted for each in by["must-pass"]] == p
    assert [each.test.adjusted for each in by["explore"]] == pytest.approx(stats.false_discovery_control(p))
    order = np.argsort(p)
    steps = np.maximum.accumulate(np.array(p)[order] * [3, 2, 1]).clip(max=1)
    assert [by["regressed"][at].test.adjusted for at in order] == pytest.approx(steps)
    assert {each.test.family for own in by.values() for each in own} == {3}


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_question_is_a_pair_or_is_counted(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Rows in any order, repeats, questions without rows, every status: the five numbers always add up."""
    names = [f"q{number}" for number in range(data.draw(st.integers(1, 6)))]
    states = st.sampled_from(["value", "missing", "error", "undefined", "absent"])
    tables, wanted = [], {name: [] for name in names}
    for _ in range(2):
        made = []
        for name in names:
            own = data.draw(st.lists(states, min_size=1, max_size=3))
            wanted[name].append([each for each in own if each != "absent"])
            for repeat, status in enumerate(own):
                if status == "value":
                    value = data.draw(st.sampled_from([0.0, 0.25, 1.0]))
                    made.append(Observation(query_id=name, repeat=repeat, measure="ndcg@10", status=status,
                                            step="bm25", value=value, numerator=value, denominator=1.0))  # fmt: skip
                elif status != "absent":
                    made.append(Observation(query_id=name, repeat=repeat, measure="ndcg@10", status=status,
                                            step="bm25", reason="why"))  # fmt: skip
        tables.append(data.draw(st.permutations(made)))
    if not all(tables):
        return
    store, made = compared(tmp_path_factory.mktemp("any"), [{"queryId": name} for name in names], *tables, flips=20)
    found = one(effects(store, made), measure="ndcg@10")
    counts = {"value": 0, "undefined": 0, "missing": 0, "error": 0}
    for both in wanted.values():
        sides = []
        for own in both:
            worst = next((each for each in ("value", "error", "missing", "undefined") if each in own), "missing")
            sides.append(worst)
        counts[next((each for each in ("error", "missing", "undefined") if each in sides), "value")] += 1
    assert (found.pairs, found.undefined, found.missing, found.error) == tuple(counts.values())
    assert found.attempted == len(names) == made.paired
    assert (found.status == "value") == (counts["value"] > 0)
