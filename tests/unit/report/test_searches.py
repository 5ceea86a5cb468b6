"""Which search brought which fact, on a trace made by hand and in the page."""

from __future__ import annotations

import msgspec
from tests.unit.report import sample

from ragassay.records.trace import Item, Step, StepDecision, TraceContent
from ragassay.report import html
from ragassay.report.build import build
from ragassay.report.model import Question
from ragassay.report.searches import ended, searches


def source(number: int, query: str, items: tuple[Item, ...], parents: tuple[str, ...] = ()) -> Step:
    return Step(
        step_id=f"find-{number}", name="find", kind="lexical", parents=parents, iteration=number, query_text=query,
        items_out=items, score_direction="higher",
    )  # fmt: skip


def follow(number: int, query: str) -> Step:
    decisions = (
        StepDecision(action="read", item_id="p", reason="names <b>it</b>"),
        StepDecision(action="search", reason="round"),
    )
    return Step(
        step_id=f"follow-{number}", name="follow", kind="rewrite", parents=(f"find-{number - 1}",), iteration=number,
        query_text=query, decisions=decisions,
    )  # fmt: skip


def rounds() -> TraceContent:
    """m-1 needs two halves: the first round holds one, the second the other, the third nothing that is new."""
    (old,) = [one for one in sample.contents() if one.query_id == "m-1"]
    one, other = sample.item(sample.CS, 1, 1), sample.item(sample.PR, 1, 1)
    (question,) = [case.query for case in sample.cases() if case.query_id == "m-1"]
    join = Step(
        step_id="join", name="join", kind="fuse", parents=("find-1", "find-2", "find-3"), items_out=(one, other),
        decisions=(StepDecision(action="stop", reason="3 of 3 rounds"),),
    )  # fmt: skip
    steps = (
        source(1, question, (one,)), follow(2, "tuple <i>"), source(2, "tuple <i>", (other,), ("follow-2",)),
        follow(3, "again"), source(3, "again", (other,), ("follow-3",)), join,
    )  # fmt: skip
    return msgspec.structs.replace(old, steps=steps, context=(one, other))


def made() -> tuple[Question, str]:
    contents = [rounds() if one.query_id == "m-1" else one for one in sample.contents()]
    card = build(sample.material(contents=contents))
    (question,) = [one for one in card.questions if one.query_id == "m-1"]
    return question, html(card)


def test_each_search_brings_what_was_not_whole_before() -> None:
    question, _ = made()
    first, second, third = searches(question, question.repeats[0])
    facts = {fact.id for fact in question.facts}
    assert facts
    assert first.is_question
    assert (first.iteration, second.iteration, third.iteration) == (1, 2, 3)
    assert set(first.brought) | set(second.brought) == facts
    assert not set(first.brought) & set(second.brought)
    assert (third.brought, third.found) == ((), (1,))
    assert second.because == ("read p (names <b>it</b>)",)
    assert ended(question.repeats[0]) == "3 of 3 rounds"


def test_one_search_for_the_question_itself_is_no_table() -> None:
    question, _ = made()
    other = build(sample.material()).questions
    (plain,) = [one for one in other if one.query_id == "a-1"]
    assert searches(plain, plain.repeats[0]) == []
    assert question.repeats[0].steps[2].parents == ("follow-2",)


def test_the_page_shows_rounds_and_escapes_what_the_trace_says() -> None:
    _, page = made()
    text = page if isinstance(page, str) else str(page)
    assert text.count("What was searched, and what it brought") >= 1
    assert "Round 2" in text
    assert "tuple &lt;i&gt;" in text
    assert "names &lt;b&gt;it" in text
    assert "after find-1 and find-2 and find-3" in text
    assert "Ended: 3 of 3 rounds." in text
