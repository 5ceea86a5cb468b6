"""What must hold for any list: more never lowers coverage, counts add up, bounds contain every completion."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.score.score_material import (
    case,
    doc,
    ev,
    fact,
    item,
    loose,
    one_among,
    row,
    score,
    scoring,
    step,
    trace,
)

from ragassay.records.document import Span
from ragassay.records.score import Estimate, Observation
from ragassay.records.trace import Item
from ragassay.score import World, complete, estimate, observe
from ragassay.score.hold import Reader, State
from ragassay.score.labels import Labels
from ragassay.score.quantiles import quantile

TEXT = "aa bb cc dd ee ff"
DOCS = (doc("t", TEXT), doc("u", "xxxxxxxx"))
EVIDENCE = (ev("e1", "t", 0, 5), ev("e2", "t", 4, 12, grade=3), ev("e3", "u", 0, 8), ev("e4", "u", grade=2))
FACTS = (fact("f1", ("e1",)), fact("f2", ("e1", "e2"), ("e3",)), fact("f3", ("e4",)))
KNOWN = case(evidence=EVIDENCE, facts=FACTS)

spans = st.tuples(st.sampled_from("tu"), st.integers(0, 16), st.integers(1, 10)).map(
    lambda one: item(one[0], one[1], min(one[1] + one[2], 17))
)
alike = st.lists(spans, min_size=2, max_size=3, unique_by=lambda one: one.sources).map(one_among)
items = st.one_of(alike, spans, spans, spans, st.integers(0, 3).map(lambda n: loose(f"text {n}", f"x{n}")))
lists = st.lists(items, max_size=6)


def at(span: Span) -> Item:
    return item(span.document_id, span.start, span.end)


def states(given_items: list[Item]) -> dict[str, State]:
    labels = Labels(KNOWN, World(DOCS))
    reader = Reader(labels.visible, labels.world, 1.0)
    return dict(zip((one.id for one in labels.visible), reader.states(given_items), strict=True))


@settings(deadline=None)
@given(lists, items, st.integers(0, 6))
def test_one_more_item_never_lowers_what_a_list_holds(before: list[Item], more: Item, at: int) -> None:
    was, now = states(before), states([*before[:at], more, *before[at:]])
    assert all(now[name] >= state for name, state in was.items())


@settings(deadline=None)
@given(lists, st.randoms(use_true_random=False))
def test_order_does_not_change_what_a_whole_list_holds(before: list[Item], shuffler: random.Random) -> None:
    after = list(before)
    shuffler.shuffle(after)
    assert states(before) == states(after)


@settings(deadline=None)
@given(lists, lists)
def test_coverage_of_the_union_is_at_least_that_of_each(one: list[Item], two: list[Item]) -> None:
    both = states([*one, *two])
    assert all(both[name] >= max(states(one)[name], states(two)[name]) for name in both)


def _brute(given_items: list[Item]) -> dict[str, bool]:
    """Held, by counting single code points; unresolved items hold nothing, one of several places no span."""
    seen: dict[str, set[int]] = {"t": set(), "u": set()}
    for one in given_items:
        for span in one.sources:
            seen[span.document_id] |= set(range(span.start, span.end))
    return {
        "e1": {0, 1, 3, 4} <= seen["t"],
        "e2": {4, 6, 7, 9, 10} <= seen["t"],
        "e3": set(range(8)) <= seen["u"],
        "e4": any({at.document_id for at in one.sources or one.among} == {"u"} for one in given_items),
    }


@settings(deadline=None)
@given(lists)
def test_holding_equals_counting_code_points_one_by_one(given_items: list[Item]) -> None:
    found = {name: state is State.HELD for name, state in states(given_items).items()}
    assert found == _brute(given_items)


MEASURES = (
    "recall(rel=2)@3", "recall(rel=3)", "hit(rel=2)@2", "rr(rel=2)", "ndcg@4", "ndcg(gain=exp)", "precision(rel=2)@3",
    "ap(rel=2)", "fact_coverage",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(lists, st.data())
def test_bounds_of_a_row_contain_every_completion(given_items: list[Item], data: st.DataObject) -> None:
    """Whatever the unresolved items turn out to be (any spans, also several in one), the value lies in the bounds."""
    rows = {one.measure: one for one in _measured(given_items) if one.measure in MEASURES and one.target is None}
    loose_ones = {one.identity: one.among for one in given_items if not one.sources}
    contents = {
        name: [data.draw(st.sampled_from(among).map(at))]
        if among
        else data.draw(st.lists(spans, min_size=1, max_size=2))
        for name, among in sorted(loose_ones.items())
    }
    known = [contents.get(one.identity) for one in given_items]  # equal items turn out to be the same
    if not any(known):
        return
    filled = [
        one if new is None else Item(
            item_id=one.item_id, rank=1, resolution="declared", transform="slice",
            sources=tuple(span for part in new for span in part.sources),
        )
        for one, new in zip(given_items, known, strict=True)
    ]  # fmt: skip
    distinct = {one.identity for one in filled}
    if len(distinct) != len({one.identity for one in given_items}):
        return  # an item that turns out to be a copy of another takes up no rank: another list
    for found in _measured(filled):
        if found.measure not in MEASURES or found.target is not None or found.value is None:
            continue
        before = rows[found.measure]
        if before.bounds is None:
            assert before.value == found.value, (found.measure, before)
        else:
            assert before.bounds.low - 1e-12 <= found.value <= before.bounds.high + 1e-12, (found.measure, before)


def _measured(given_items: list[Item]) -> list[Observation]:
    got = score(KNOWN, trace(step("s", "lexical", given_items, ())), DOCS, *MEASURES)
    return [one for one in got.observations if one.step == "s"]


outcomes = st.sampled_from(["hit", "miss", "timeout", "none", "unlabelled"])
NAMES = [f"q{n}" for n in range(5)]


def _table(kinds: list[str]):
    cases, scores = [], []
    how, world = scoring("recall(rel=2)", "hit(rel=2)@1", "exact_match", "latency", "error_rate"), World(DOCS)
    for name, kind in zip(NAMES, kinds, strict=False):
        evidence = None if kind == "unlabelled" else (EVIDENCE[0], EVIDENCE[2])
        known = case(name, evidence=evidence, slice=("hard",) if name in NAMES[:2] else ())
        cases.append(known)
        if kind == "none":
            continue
        out = [item("t", 0, 5)] if kind == "hit" else [item("t", 6, 9)]
        seen = trace(step("s", "lexical", out, ()), query_id=name, failure="timeout" if kind == "timeout" else "",
                     latency_ms=5.0)  # fmt: skip
        scores.append(observe(known, seen, world, how))
    scores = complete(scores, cases, 1, world, how)
    return cases, [one for got in scores for one in (*got.observations, *got.runtime)], how


@settings(max_examples=40, deadline=None)
@given(st.lists(outcomes, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_counts_add_up_nobody_is_left_out_and_order_does_not_matter(kinds: list[str], shuffler: random.Random) -> None:
    cases, rows, how = _table(kinds)
    found = estimate(rows, cases, how)
    for one in found:
        members = [known for known in cases if one.population.slice is None or one.population.slice in known.slice]
        assert one.attempted == one.scored + one.undefined + one.missing + one.error == len(members)
        assert (one.status == "value") == (one.scored > 0) or one.reason == "right_censored"
    shuffled_rows, shuffled_cases = list(rows), list(cases)
    shuffler.shuffle(shuffled_rows)
    shuffler.shuffle(shuffled_cases)
    assert estimate(shuffled_rows, shuffled_cases, how) == found


def _key(one: Estimate) -> tuple[object, ...]:
    return (one.measure, one.step, one.aggregation, one.population)


@settings(max_examples=40, deadline=None)
@given(st.lists(outcomes, min_size=1, max_size=4))
def test_bounds_of_a_mean_contain_every_completion(kinds: list[str]) -> None:
    cases, rows, how = _table(kinds)
    measures = ("recall(rel=2)", "hit(rel=2)@1")
    open_rows = [n for n, one in enumerate(rows) if one.measure in measures and one.status in ("missing", "error")]
    if len(open_rows) > 8:
        return
    before = {_key(one): one for one in estimate(rows, cases, how) if one.measure in measures}
    for values in itertools.product((0.0, 0.5, 1.0), repeat=min(len(open_rows), 4)):
        if len(values) < len(open_rows):
            values = (*values, *(1.0 for _ in open_rows[len(values) :]))
        filled = list(rows)
        for place, value in zip(open_rows, values, strict=True):
            old = filled[place]
            bottom = old.denominator or 1.0
            filled[place] = Observation(
                query_id=old.query_id, repeat=old.repeat, measure=old.measure, step=old.step, status="value",
                value=value, numerator=value * bottom, denominator=bottom,
            )  # fmt: skip
        for one in estimate(filled, cases, how):
            was = before.get(_key(one))
            if was is None or was.value is None or one.value is None:
                continue
            low, high = (was.bounds.low, was.bounds.high) if was.bounds else (was.value, was.value)
            assert low - 1e-12 <= one.value <= high + 1e-12, (was, one)


@settings(deadline=None)
@given(st.lists(st.integers(0, 20).map(float), min_size=1, max_size=12), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_without_timeouts_is_the_inverse_of_the_empirical_distribution(
    times: list[float], share: float
) -> None:
    least = min(one for one in times if sum(t <= one for t in times) >= share * len(times) - 1e-9)
    assert quantile(times, [], share) == least


def test_a_quantile_with_timeouts_by_hand() -> None:
    # Ended at 1, 3; given up at 2, 4. S(1) = 3/4; at 3 two are at risk: S(3) = 3/4 * 1/2 = 3/8.
    assert quantile([1.0, 3.0], [2.0, 4.0], 0.25) == 1.0
    assert quantile([1.0, 3.0], [2.0, 4.0], 0.5) == 3.0
    assert quantile([1.0, 3.0], [2.0, 4.0], 0.95) is None
    assert quantile([], [4.0], 0.5) is None


def test_rows_name_their_denominator_even_where_they_have_no_value() -> None:
    got = score(KNOWN, trace(step("s", "lexical", [], ()), failure="timeout"), DOCS, "recall(rel=2)", "fact_coverage")
    assert row(got, "recall(rel=2)", "s").denominator == 4.0
    assert row(got, "fact_coverage", "s").denominator == 3.0
