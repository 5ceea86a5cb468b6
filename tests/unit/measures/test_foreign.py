"""What a measure of another package may return, and what is said of a declaration that does not fit."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from ragassay.measures import Declaration, Outcome, OwnMeasure
from ragassay.measures.foreign import fault

WORDS = dict.fromkeys(
    ("summary", "population", "denominator", "missing_labels", "reference", "unsafe_alone_for"), "as it says"
)
ANSWER = Declaration(name="echo", stage="answer", aggregation="macro", high=3.0, params=("kind",), **WORDS)
LIST = Declaration(name="top", stage="retrieval", aggregation="macro", params=("rel",), **WORDS)


def test_a_number_is_its_own_numerator() -> None:
    heard: list[Any] = []

    def score(*arguments: Any, **params: Any) -> int:
        heard.append((arguments, params))
        return 2

    found = OwnMeasure(ANSWER, score).of_answer("text", ["one", "two"], {"kind": "x"})
    assert found == Outcome("value", 2.0, 2.0, 1.0)
    assert heard == [(("text", ("one", "two")), {"kind": "x"})]


@pytest.mark.parametrize(
    ("made", "status", "reason"),
    [
        (Outcome("value", 1.5, 3.0, 2.0), "value", ""),
        (Outcome("undefined", None, None, None, "no_words"), "undefined", "no_words"),
        (Outcome("undefined", 0.5, None, None, "no_words"), "error", "measure_failed"),
        (Outcome("undefined", None, None, None), "error", "measure_failed"),
        (Outcome("value", 3.5, 3.5, 1.0), "error", "out_of_range"),
        (Outcome("value", None, None, None), "error", "out_of_range"),
        ("no number", "error", "measure_failed"),
    ],
)
def test_an_outcome_is_taken_as_it_is_if_it_is_one(made: Any, status: str, reason: str) -> None:
    found = OwnMeasure(ANSWER, lambda *_, **__: made).of_answer("", [], {})
    assert (found.status, found.reason) == (status, reason)
    if status != "error":
        assert found is made


def test_without_a_label_of_that_grade_nothing_is_asked() -> None:
    def never(*_: Any, **__: Any) -> float:
        raise AssertionError

    own = OwnMeasure(LIST, never)
    nothing = Outcome("undefined", None, None, None, "nothing_relevant")
    assert own.of_list([1], [1], {"rel": 2}) == nothing
    assert own.of_list([], [], {"rel": 1}) == nothing
    assert OwnMeasure(LIST, lambda *_, **__: 0.25).of_list([1], [2], {"rel": 2}).value == 0.25


def list_with(**change: Any) -> OwnMeasure:
    return OwnMeasure(dataclasses.replace(LIST, **change), len)  # type: ignore[arg-type]


def answer_with(**change: Any) -> OwnMeasure:
    return OwnMeasure(dataclasses.replace(ANSWER, **change), len)  # type: ignore[arg-type]


class NoScore:
    declaration = ANSWER


class NoDeclaration:
    declaration = None

    def score(self) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (OwnMeasure(ANSWER, len), ""),
        (OwnMeasure(LIST, len), ""),
        (NoScore(), "is no OwnMeasure of a declaration and a function"),
        (NoDeclaration(), "is no OwnMeasure of a declaration and a function"),
        (list_with(stage="context"), "is of stage 'context'; retrieval and answer are taken"),
        (answer_with(summary="", reference=""), "leaves summary, reference blank"),
        (list_with(params=()), "needs rel among its params"),
        (answer_with(params=("rel",)), "takes rel or unit, which only lists have"),
        (answer_with(params=("unit",)), "takes rel or unit, which only lists have"),
        (answer_with(cutoff="optional"), "has a cut-off, which only lists have"),
        (answer_with(aliases=("parrot",)), "has other names; only ours may"),
        (answer_with(aggregation="micro"), "is not computed by *measures*, as a mean over questions"),
        (answer_with(computed_by="score"), "is not computed by *measures*, as a mean over questions"),
        (list_with(high=None), "has no greatest value; a list needs one, since items may be unknown"),
        (answer_with(high=None), ""),
        (answer_with(high=math.inf), "has a range that is none"),
        (answer_with(low=-math.inf), "has a range that is none"),
        (answer_with(low=3.0), "has a range that is none"),
    ],
)
def test_the_first_fault_in_words(measure: Any, words: str) -> None:
    assert fault(measure, getattr(measure.declaration, "name", "echo")) == words


def test_parameters_and_names_that_cannot_be_spelled() -> None:
    assert fault(answer_with(params=("beta", "kind", "top")), "echo") == (
        "takes beta, top; parameters are rel, gain, unit, p, max, over, of, by, kind, q, split"
    )
    assert fault(answer_with(), "other") == "is declared as 'echo', but its entry point is 'other'"
    wrong = "has a name that is not lower case letters, digits and _, with a letter at both ends"
    assert [fault(answer_with(name=name), name) for name in ("Echo", "echo_", "2e", "e-o")] == [wrong] * 4
