"""The choice by hand: the best number, ties, and what a paired test cannot tell apart."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ragassay.errors import UsageError
from ragassay.records.base import QueryId
from ragassay.records.case import Case, ReferenceAnswer
from ragassay.records.experiment import Choice
from ragassay.records.protocol import Scoring
from ragassay.records.score import Observation
from ragassay.trials.choice import choice_of, choose
from ragassay.trials.grid import Section
from ragassay.trials.worst import Counted, counted_of, judged

RULE = Choice(measure="ndcg@5", class_="answerable", direction="higher")
SCORING = Scoring(
    measures=("ndcg@5",),
    measure_versions={},
    hold=1.0,
    tokenizer="words/1",
    normalisation="squad",
    level=0.95,
    ties="trec",
)
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


def rows(measure: str, *values: Any) -> list[Observation]:
    made = []
    for n, one in enumerate(values):
        what: dict[str, Any] = {"status": "value", "value": one, "numerator": one, "denominator": 1.0}
        if isinstance(one, tuple):
            what = {"status": one[0], "reason": one[1], "denominator": 1.0}
        made.append(Observation(query_id=QueryId(f"q{n}"), repeat=0, measure=measure, **what))
    return made


def counted(rule: Choice, *settings: list[Observation], cases: list[Case] = CASES) -> list[Counted]:
    own = judged(settings, cases, rule)
    return [counted_of(one, own, rule, SCORING) for one in settings]


def test_a_setting_does_not_win_by_failing_on_what_is_hard() -> None:
    # Four questions of 1.0 and four failures: between 4/8 and 8/8, so worse than 0.6 until somebody knows better.
    whole, partly = rows("ndcg@5", *[0.6] * 8), rows("ndcg@5", *[1.0] * 4, *[("error", "timeout")] * 4)
    found = counted(RULE, whole, partly)
    assert [(one.number, one.at_worst) for one in found] == [(pytest.approx(0.6), 0), (0.5, 4)]
    assert found[1].by_question == of(*[1.0] * 4, *[0.0] * 4)
    lower = Choice(measure="false_refusal", class_="answerable", direction="lower")
    some = rows("false_refusal", *[0.0] * 4, *[("error", "timeout")] * 4)
    assert counted(lower, some)[0].number == 0.5
    assert counted(RULE, rows("ndcg@5", *[("error", "timeout")] * 8))[0].number is None, "nothing has a value"


def test_a_setting_does_not_win_by_answering_only_what_is_easy() -> None:
    rule = Choice(measure="token_f1", class_="answerable", direction="higher")
    cases = [msgspec.structs.replace(one, answers=(ReferenceAnswer(text="a"),)) for one in CASES]
    bold, shy = rows("token_f1", *[0.6] * 8), rows("token_f1", *[1.0] * 4, *[("undefined", "not_answered")] * 4)
    found = counted(rule, bold, shy, cases=cases)
    assert [one.number for one in found] == [pytest.approx(0.6), 0.5], "4 of 8 are as good as answered wrongly"
    assert choose(rule, [one.number for one in found], [one.by_question for one in found], cases).place == 0
    density = Choice(measure="evidence_density", class_="answerable", direction="higher")
    empty = rows("evidence_density", *[0.4] * 2, *[("undefined", "empty_context")] * 6)
    assert counted(density, empty)[0].number == pytest.approx(0.1), "a budget that lets nothing in is not dense"


def test_one_failed_repeat_counts_at_its_worst_too() -> None:
    some = rows("ndcg@5", *[1.0] * 8)
    some += [msgspec.structs.replace(one, repeat=1, status="error", value=None, reason="timeout") for one in some[:4]]
    assert counted(RULE, some)[0] == Counted(0.75, of(*[0.5] * 4, *[1.0] * 4), 4)


def test_what_lies_in_the_labels_leaves_a_question_out_for_every_setting() -> None:
    rule = Choice(measure="token_f1", class_="answerable", direction="higher")
    cases = [msgspec.structs.replace(one, answers=(ReferenceAnswer(text="a"),)) for one in CASES[:6]] + CASES[6:]
    # q6 and q7 have no reference: an abstention there costs nothing, an answer has no value either.
    shy = rows("token_f1", *[0.5] * 6, ("undefined", "not_answered"), ("missing", "no_reference"))
    assert counted(rule, shy, cases=cases)[0] == Counted(0.5, of(*[0.5] * 6), 0)
    some = rows("ndcg@5", *[0.5] * 7, ("undefined", "nothing_relevant"))
    failed = rows("ndcg@5", *[0.5] * 7, ("error", "timeout"))
    assert [one.number for one in counted(RULE, some, failed)] == [0.5, 0.5], "nobody could have had a value of q7"


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
    assert 'class = "multi_hop" (1 question)' in caught.value.hint
    unanswerable = Case(query_id=QueryId("u"), query="?", class_="unanswerable")
    assert choice_of(section, [*CASES, unanswerable]).class_ == "answerable"
    with pytest.raises(UsageError, match="no question is of class"):
        choice_of(Section(name="e", choose="ndcg@5", class_="adversarial"), CASES)
