"""The choice by hand: the best number, ties, and what a paired test cannot tell apart."""

from __future__ import annotations

import pytest

from ragassay.errors import UsageError
from ragassay.records.base import QueryId
from ragassay.records.case import Case
from ragassay.records.experiment import Choice
from ragassay.records.score import Bounds, Estimate, Population
from ragassay.trials.choice import choice_of, choose, pessimistic
from ragassay.trials.grid import Section

RULE = Choice(measure="ndcg@5", class_="answerable", direction="higher")
CASES = [Case(query_id=QueryId(f"q{n}"), query="?", class_="answerable") for n in range(8)]


def of(*values: float) -> dict[str, float]:
    return {f"q{n}": value for n, value in enumerate(values)}


def test_the_best_number_is_chosen_and_the_first_of_equal_ones() -> None:
    tables = [of(*[0.5] * 8), of(*[1.0] * 8), of(*[1.0] * 8)]
    found = choose(RULE, [0.5, 1.0, 1.0], tables, CASES)
    assert (found.place, found.tied, found.questions) == (1, (2,), 8)
    # All 2^8 sign patterns of eight equal differences: only the two with one sign are as large.
    assert found.p == {0: pytest.approx(2 / 256), 2: 1.0}
    assert found.not_told_apart(0.95) == (2,)


def test_a_setting_does_not_win_by_failing_on_what_is_hard() -> None:
    whole = measured(0.6, scored=8, error=0, bounds=None)
    # Four questions of 1.0 and four failures: between 4/8 and 8/8, so worse than 0.6 until somebody knows better.
    partly = measured(1.0, scored=4, error=4, bounds=Bounds(low=0.5, high=1.0))
    assert (pessimistic(whole, RULE), pessimistic(partly, RULE)) == (0.6, 0.5)
    lower = Choice(measure="false_refusal", class_="answerable", direction="lower")
    assert pessimistic(measured(0.0, scored=4, error=4, bounds=Bounds(low=0.0, high=0.5)), lower) == 0.5
    assert pessimistic(measured(1.0, scored=4, error=4, bounds=None), RULE) is None
    assert pessimistic(None, RULE) is None


def measured(value: float, *, scored: int, error: int, bounds: Bounds | None) -> Estimate:
    return Estimate(
        measure="ndcg@5", population=Population(class_="answerable"), aggregation="macro", status="value", value=value,
        attempted=scored + error, scored=scored, undefined=0, missing=0, error=error, bounds=bounds,
    )  # fmt: skip


def test_lower_is_better_where_the_measure_says_so() -> None:
    rule = Choice(measure="false_refusal", class_="answerable", direction="lower")
    assert choose(rule, [0.5, 0.1, None], [of(*[0.5] * 8), of(*[0.1] * 8), {}], CASES).place == 1


def test_one_question_with_a_difference_tells_nothing_apart() -> None:
    found = choose(RULE, [0.5, 0.6], [of(*[0.5] * 8), of(1.0, *[0.5] * 7)], CASES)
    assert (found.place, found.p) == (1, {0: 1.0})


def test_the_test_rests_on_questions_that_all_settings_have() -> None:
    found = choose(RULE, [0.2, 0.6], [of(*[0.2] * 5), of(*[0.6] * 8)], CASES)
    assert found.questions == 5
    assert choose(RULE, [None, None], [{}, {}], CASES).place is None


def test_classes_are_never_pooled() -> None:
    section = Section(name="e", choose="ndcg@5")
    mixed = [*CASES, Case(query_id=QueryId("m"), query="?", class_="multi_hop")]
    with pytest.raises(UsageError, match="2 classes") as caught:
        choice_of(section, mixed)
    assert 'class = "multi_hop" (1 questions)' in caught.value.hint
    unanswerable = Case(query_id=QueryId("u"), query="?", class_="unanswerable")
    assert choice_of(section, [*CASES, unanswerable]).class_ == "answerable"
    with pytest.raises(UsageError, match="no question is of class"):
        choice_of(Section(name="e", choose="ndcg@5", class_="adversarial"), CASES)
