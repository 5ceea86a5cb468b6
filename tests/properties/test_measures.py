"""What must hold for every ranking measure, on generated lists: range, order, swaps, appending, nesting, bounds."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragassay.measures import Outcome, declaration, evaluate, one_list, parse
from ragassay.measures.bounds import Bounds, bounds, mean_over_unjudged
from ragassay.measures.completions import Case, every_count
from ragassay.measures.lists import Lists

RANKING = [
    "recall(rel=1)@3", "recall(rel=2)", "hit(rel=1)@2", "precision(rel=2)@3", "r_precision(rel=1)", "rr(rel=1)@3",
    "ap(rel=1)", "ap(rel=2)@3", "ndcg", "ndcg@3", "ndcg(gain=exp)@3", "rbp(p=0.7,rel=1)", "rbp(max=3,p=0.7)@3",
    "err(max=3)@4", "bpref(rel=1)", "infap(rel=1)", "set_precision(rel=1)", "set_f1(rel=1)", "set_ap(rel=1)",
]  # fmt: skip
OTHERS = ["judged@3", "judged(over=retrieved)@3", "rbp_residual(p=0.7)", "harmful@3"]
SETS = {"set_precision", "set_f1", "set_ap"}
grades = st.lists(st.one_of(st.none(), st.integers(-1, 3)), max_size=7)
extra = st.lists(st.integers(-1, 3), max_size=4)


def outcome(measure: str, ranked: list[int | None], more: list[int]) -> Outcome:
    labels = [grade for grade in ranked if grade is not None] + more
    return one_list(
        measure, [grade or 0 for grade in ranked], [grade is not None and grade >= 0 for grade in ranked], labels
    )


@pytest.mark.parametrize("measure", RANKING + OTHERS)
@given(ranked=grades, more=extra)
def test_in_its_declared_range_or_undefined(measure: str, ranked: list[int | None], more: list[int]) -> None:
    found = outcome(measure, ranked, more)
    declared = declaration(parse(measure).name)
    if found.status == "undefined":
        assert found.reason
        assert found.value is None
    else:
        assert declared.low <= found.value <= declared.high + 1e-12
        assert found.value == pytest.approx(found.numerator / found.denominator)


@pytest.mark.parametrize("measure", RANKING)
@given(ranked=grades, more=extra, at=st.integers(0, 5))
def test_moving_a_better_item_up_never_lowers(measure: str, ranked: list[int | None], more: list[int], at: int) -> None:
    """Among judged items: an unjudged one is skipped by bpref and infap and so may not be swapped there."""
    ranked = [max(grade or 0, 0) for grade in ranked]
    if at + 1 >= len(ranked):
        return
    worse = sorted(ranked[at : at + 2])
    better = worse[::-1]
    low = outcome(measure, [*ranked[:at], *worse, *ranked[at + 2 :]], more).value
    high = outcome(measure, [*ranked[:at], *better, *ranked[at + 2 :]], more).value
    assert (low is None) == (high is None)
    if low is not None:
        assert high >= low - 1e-12


@pytest.mark.parametrize("measure", [one for one in RANKING if parse(one).name not in SETS])
@given(ranked=grades, more=extra, count=st.integers(1, 4))
def test_appending_unjudged_items_changes_nothing(
    measure: str, ranked: list[int | None], more: list[int], count: int
) -> None:
    assert outcome(measure, ranked, more) == outcome(measure, [*ranked, *[None] * count], more)


@pytest.mark.parametrize(
    "name", ["recall(rel=1)", "hit(rel=1)", "rr(rel=1)", "ap(rel=1)", "rbp(p=0.7,rel=1)", "err(max=3)"]
)
@given(ranked=grades, more=extra)
def test_cut_offs_are_nested(name: str, ranked: list[int | None], more: list[int]) -> None:
    values = [outcome(f"{name}@{k}", ranked, more).value for k in range(1, 9)]
    if values[0] is not None:
        assert all(low <= high + 1e-12 for low, high in itertools.pairwise(values))
        assert values[-1] == pytest.approx(outcome(name, ranked, more).value)


@pytest.mark.parametrize("measure", RANKING)
@settings(max_examples=30)
@given(
    ranked=st.lists(st.one_of(st.none(), st.integers(-1, 2)), max_size=5),
    more=st.lists(st.integers(0, 2), max_size=3),
)
def test_bounds_are_those_of_all_completions(measure: str, ranked: list[int | None], more: list[int]) -> None:
    """Brute force over every grade of every unjudged item: contained, and sharp at both ends."""
    found = bounds(parse(measure), lists_of(ranked, more), 0, greatest=2)
    unjudged = [at for at, grade in enumerate(ranked) if grade is None or grade < 0]
    values = []
    for completion in itertools.product(range(3), repeat=len(unjudged)):
        whole = list(ranked)
        for at, grade in zip(unjudged, completion, strict=True):
            whole[at] = grade
        value = outcome(measure, whole, more).value
        if value is not None:
            values.append(value)
    if values:
        assert found == (pytest.approx(min(values)), pytest.approx(max(values)))
    else:
        assert found == Bounds(None, None)


@pytest.mark.parametrize(
    "measure", ["ndcg", "ndcg@2", "ndcg(gain=exp)@3", "ndcg(gain=exp)", "err(max=3)@3", "ap(rel=2)"]
)
@settings(max_examples=60)
@given(
    ranked=st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=5),
    more=st.lists(st.integers(0, 3), max_size=3),
    greatest=st.integers(1, 2),
)
@example(ranked=[None, 1], more=[], greatest=1)  # an item at the cut-off itself
@example(ranked=[None, None, 3], more=[3, 1], greatest=2)
@example(ranked=[None, 2, None], more=[3, 3, 2], greatest=1)
def test_bounds_where_some_labels_are_above_what_the_unjudged_could_have(
    measure: str, ranked: list[int | None], more: list[int], greatest: int
) -> None:
    """Brute force again; `greatest` is less than the grades that are known."""
    found = bounds(parse(measure), lists_of(ranked, more), 0, greatest=greatest)
    unjudged = [at for at, grade in enumerate(ranked) if grade is None]
    values = []
    for completion in itertools.product(range(greatest + 1), repeat=len(unjudged)):
        whole = list(ranked)
        for at, grade in zip(unjudged, completion, strict=True):
            whole[at] = grade
        value = outcome(measure, whole, more).value
        if value is not None:
            values.append(value)
    assert found == ((pytest.approx(min(values)), pytest.approx(max(values))) if values else Bounds(None, None))


def lists_of(ranked: list[int | None], more: list[int]) -> Lists:
    rows = [at for at, grade in enumerate(ranked) if grade is not None]
    labels = sorted([ranked[at] for at in rows] + more, reverse=True)
    return Lists(
        queries=1,
        retrieved=np.array([len(ranked)]),
        query=np.zeros(len(rows), np.int64),
        rank=np.array(rows, np.int64) + 1,
        grade=np.array([ranked[at] for at in rows], np.int64),
        label_query=np.zeros(len(labels), np.int64),
        label_grade=np.array(labels, np.int64),
    )


@pytest.mark.parametrize("top", [True, False])
@pytest.mark.parametrize(
    "measure",
    ["ap(rel=1)", "ap(rel=2)@4", "bpref(rel=1)", "bpref(rel=2)", "infap(rel=1)", "infap(rel=3)", "r_precision(rel=1)",
     "r_precision(rel=2)", "ndcg", "ndcg@4", "ndcg(gain=exp)", "ndcg(gain=exp)@6"],
)  # fmt: skip
@given(
    ranked=st.lists(st.one_of(st.none(), st.none(), st.integers(0, 3)), max_size=25),
    more=st.lists(st.integers(0, 4), max_size=6),
    greatest=st.integers(0, 3),
)
def test_all_numbers_of_completions_at_once_are_the_kernels_values(
    measure: str, top: bool, ranked: list[int | None], more: list[int], greatest: int
) -> None:
    """m open ranks from the top (or from the end) get the greatest grade, the others 0: each m through the kernel."""
    judged = [at for at, grade in enumerate(ranked) if grade is not None]
    free = [at for at, grade in enumerate(ranked) if grade is None]
    labels = sorted([ranked[at] for at in judged] + more, reverse=True)
    case = Case(*(np.array(one, np.int64) for one in ([at + 1 for at in judged], [ranked[at] for at in judged], labels,
                                                      [at + 1 for at in free])), greatest)  # fmt: skip
    expected = []
    for count in range(len(free) + 1):
        given_to = set(free[:count] if top else free[len(free) - count :])
        whole = [(greatest if at in given_to else 0) if grade is None else grade for at, grade in enumerate(ranked)]
        value = outcome(measure, whole, more).value
        if value is not None:
            expected.append(value)
    found = every_count(parse(measure), case, top=top).tolist()
    if greatest >= int(parse(measure).get("rel") or 1):
        assert found == pytest.approx(expected, abs=1e-12)
    else:  # no completion is relevant: one value says it all
        assert all(one == pytest.approx(found[0], abs=1e-12) for one in expected)
        assert bool(found) == bool(expected)


def test_bounds_of_a_hundred_thousand_unjudged_items() -> None:
    """n log n: with every number of completions through the kernels this would be ten thousand million rows."""
    size = 100_000
    lists = lists_of([1 if at % 1_000 == 7 else 0 if at % 1_000 == 3 else None for at in range(size)], [1] * 50)
    start = time.process_time()
    for measure in ("ap(rel=1)", "bpref(rel=1)", "infap(rel=1)", "r_precision(rel=1)", "ndcg"):
        low, high = bounds(parse(measure), lists, 0, greatest=1)
        assert 0.0 <= low < 0.3 < 0.9 < high <= 1.0 + 1e-9
    assert time.process_time() - start < 10


@pytest.mark.parametrize("measure", ["harmful@3", "harmful"])
@given(ranked=st.lists(st.one_of(st.none(), st.integers(0, 1)), max_size=6), greatest=st.integers(0, 3))
def test_each_unjudged_item_is_harmful_or_not(measure: str, ranked: list[int | None], greatest: int) -> None:
    """Brute force; what the rubric's greatest grade is does not matter."""
    found = bounds(parse(measure), lists_of(ranked, []), 0, greatest)
    values = [outcome(measure, list(one), []).value for one in completions(ranked, 1)]
    assert found == (Bounds(None, None) if not ranked else pytest.approx((min(values), max(values))))


@pytest.mark.parametrize("measure", ["ndcg@3", "recall(rel=1)@2", "ap(rel=2)", "bpref(rel=1)", "infap(rel=1)"])
@given(
    ranked=st.lists(st.one_of(st.none(), st.integers(0, 2)), max_size=5), more=st.lists(st.integers(0, 2), max_size=3)
)
def test_a_completed_list_has_nothing_to_condense(measure: str, ranked: list[int | None], more: list[int]) -> None:
    """Brute force of the condensed variant, which therefore has the bounds of the full one."""
    condensed = parse(measure).with_params(list="condensed")
    values = [outcome(str(condensed), one, more).value for one in completions(ranked, 2)]
    defined = [one for one in values if one is not None]
    found = bounds(condensed, lists_of(ranked, more), 0, greatest=2)
    assert found == (pytest.approx((min(defined), max(defined))) if defined else Bounds(None, None))


@pytest.mark.parametrize("measure", ["judged@3", "judged(over=retrieved)@3", "judged", "rbp_residual(p=0.5)"])
@given(ranked=grades, more=extra)
def test_what_is_judged_is_known(measure: str, ranked: list[int | None], more: list[int]) -> None:
    value = outcome(measure, ranked, more).value
    assert bounds(parse(measure), lists_of(ranked, more), 0, greatest=2) == (value, value)


pieces = st.lists(st.one_of(st.none(), st.lists(st.integers(0, 2), max_size=3)), max_size=4)


@pytest.mark.parametrize("measure", [one for one in RANKING if "max=" not in one])
@settings(max_examples=60)
@given(ranked=pieces, more=st.lists(st.integers(0, 2), max_size=2))
@example(ranked=[None, [1, 1], None, [2, 1]], more=[1])
def test_bounds_where_an_item_holds_several_pieces(
    measure: str, ranked: list[list[int] | None], more: list[int]
) -> None:
    """Brute force; an item that was unjudged holds one piece, of the grade that it turns out to have."""
    rel = int(parse(measure).get("rel") or 1)
    labels = sorted([*itertools.chain.from_iterable(one or [] for one in ranked), *more], reverse=True)
    rows = [at for at, one in enumerate(ranked) if one is not None]
    lists = Lists(
        queries=1,
        retrieved=np.array([len(ranked)]),
        query=np.zeros(len(rows), np.int64),
        rank=np.array(rows, np.int64) + 1,
        grade=np.array([max(ranked[at], default=0) for at in rows], np.int64),
        label_query=np.zeros(len(labels), np.int64),
        label_grade=np.array(labels, np.int64),
        held=np.array([sum(grade >= rel for grade in ranked[at]) for at in rows], np.int64),
    )
    free = [at for at, one in enumerate(ranked) if one is None]
    values = []
    for given_grades in itertools.product(range(3), repeat=len(free)):
        whole = [one if one is not None else [] for one in ranked]
        for at, grade in zip(free, given_grades, strict=True):
            whole[at] = [grade]
        values.append(one_list(
            measure, [max(one, default=0) for one in whole], [True] * len(whole), [*labels, *given_grades],
            held=[sum(grade >= rel for grade in one) for one in whole],
        ).value)  # fmt: skip
    defined = [one for one in values if one is not None]
    found = bounds(parse(measure), lists, 0, greatest=2)
    assert found == (pytest.approx((min(defined), max(defined))) if defined else Bounds(None, None))


def completions(ranked: list[int | None], greatest: int) -> list[list[int]]:
    """Every way to grade the unjudged items."""
    free = [at for at, grade in enumerate(ranked) if grade is None]
    found = []
    for grades_given in itertools.product(range(greatest + 1), repeat=len(free)):
        whole = [grade or 0 for grade in ranked]
        for at, grade in zip(free, grades_given, strict=True):
            whole[at] = grade
        found.append(whole)
    return found


ends = st.one_of(st.none(), st.tuples(st.integers(0, 8), st.integers(0, 8)).map(sorted))


@given(every=st.lists(st.tuples(ends, st.booleans()), max_size=6))
def test_the_mean_over_unjudged_items_is_that_of_the_best_choice(every: list[tuple[list[int] | None, bool]]) -> None:
    """Brute force over which of the unscored questions get a value, and over which end each takes."""
    each = [Bounds(None, None) if one is None else Bounds(one[0] / 8, one[1] / 8) for one, _ in every]
    scored = np.array([own and one is not None for one, own in every], bool)
    found = mean_over_unjudged(each, scored)
    means = []
    choices = [
        ((one.low, one.high) if own else (None, one.low, one.high)) for one, own in zip(each, scored, strict=True)
    ]
    for chosen in itertools.product(*choices):
        values = [one for one in chosen if one is not None]
        means += [sum(values) / len(values)] if values else []
    assert found == (pytest.approx((min(means), max(means))) if means else Bounds(None, None))


def test_bounds_are_of_the_question_that_is_asked_for() -> None:
    """Two questions: [1, ?] of two relevant, and [?, 0, -1] of one. ap by hand."""
    both = Lists(
        queries=2,
        retrieved=np.array([2, 3]),
        query=np.array([0, 1, 1]),
        rank=np.array([1, 2, 3]),
        grade=np.array([1, 0, -1]),
        label_query=np.array([0, 0, 1, 1, 1]),
        label_grade=np.array([1, 1, 1, 0, -1]),
    )
    assert bounds(parse("ap(rel=1)"), both, 0, greatest=1) == pytest.approx((1 / 2, 2 / 3))
    # Question 1: nothing (0 of 1); rank 3 alone: 1/3 of 2; rank 1 alone: 1 of 2; both: (1 + 2/3) of 3
    assert bounds(parse("ap(rel=1)"), both, 1, greatest=1) == pytest.approx((0, (1 + 2 / 3) / 3))
    assert bounds(parse("precision(rel=1)@3"), both, 1, greatest=1) == pytest.approx((0, 2 / 3))
    assert bounds(parse("ndcg"), both, 1, greatest=0) == pytest.approx((0, 0))


def test_bounds_of_a_mean_over_questions_that_the_run_does_not_have() -> None:
    # Two of four judged questions are in the run: precision@1 is 1 and 0; the others could have 0 or 1 each
    qrels = {one: {"a": 1} for one in ("q1", "q2", "q3", "q4")}
    (made,) = evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}, ["precision(rel=1)@1"]).summaries()
    assert (made.value, made.bounds) == (0.5, (0.25, 0.75))
    (made,) = evaluate(qrels, {"q1": {"a": 1.0}}, ["precision(rel=1)@1"]).summaries()
    assert (made.value, made.bounds) == (1.0, (0.25, 1.0))


tied_runs = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2), min_size=1)


@settings(max_examples=60)
@given(run=tied_runs, qrels=st.dictionaries(st.sampled_from("abcxy"), st.integers(0, 3), min_size=1))
def test_the_range_over_ties_is_that_of_all_orders(run: dict[str, int], qrels: dict[str, int]) -> None:
    measures = ["ap", "rr", "ndcg", "recall@2", "precision@2", "bpref", "rbp(p=0.5)", "err(max=3)"]
    result = evaluate({"q": qrels}, {"q": {item: float(score) for item, score in run.items()}}, measures)
    groups = [[item for item in run if run[item] == score] for score in (2, 1, 0)]
    for measure in result.measures:
        values = []
        for orders in itertools.product(*map(itertools.permutations, groups)):
            ranked = [qrels.get(item) for order in orders for item in order]
            rest = [grade for item, grade in qrels.items() if item not in run]
            values.append(outcome(str(measure), ranked, rest).value)
        summary = result.summary(measure)
        if summary.value is not None and any(len(group) > 1 for group in groups):
            assert summary.ties == (pytest.approx(min(values)), pytest.approx(max(values)))
        else:
            assert summary.ties is None


columns = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from(["a", "b", "cc", "long-identifier-1", "long-identifier-2"]),
              st.sampled_from([0.0, 1.0, 2.5])),
    min_size=1, max_size=20, unique_by=lambda row: row[:2],
).flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows)))  # fmt: skip


@settings(max_examples=60)
@given(columns)
def test_the_order_of_rows_does_not_matter(
    pair: tuple[list[tuple[str, str, float]], list[tuple[str, str, float]]],
) -> None:
    qrels = {"p": {"a": 1, "long-identifier-1": 2}, "q": {"b": 1}, "r": {"zz": 1}}
    first, second = (evaluate(qrels, tuple(zip(*rows, strict=True)), ["ap", "ndcg@2", "rr"]) for rows in pair)
    assert first.summaries() == second.summaries()
    assert first.tie_rate == second.tie_rate
