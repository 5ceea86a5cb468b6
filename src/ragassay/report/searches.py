"""Which search of a question brought which of its facts: one row a query, in the order asked. Scores nothing."""

from __future__ import annotations

from typing import NamedTuple

from ragassay.records.trace import SOURCE_KINDS
from ragassay.report.model import Cut, Question, RepeatView, StepView

_TOLD = ("search ", "stop ")
"""Decisions that say that, not why, it was searched (again)."""


class Search(NamedTuple):
    """One query, by one or several retrievers."""

    iteration: int | None
    steps: tuple[str, ...]
    query: Cut
    is_question: bool
    because: tuple[str, ...]
    """Decisions of the step that wrote the query."""
    found: tuple[int | None, ...]
    """Items of each step; None: it did not say."""
    brought: tuple[str, ...]
    """Facts (evidence, where the question has no facts) that are whole with this search and were not before."""
    again: tuple[str, ...]
    """Those that this search holds whole although earlier ones did."""


def searches(question: Question, repeat: RepeatView) -> list[Search]:
    """The searches of a trace; none if there is one only and it asked for the question as it stands.

    A fact is whole with a search if the lists of all searches so far, together, hold some set of its evidence.
    """
    groups: dict[tuple[int | None, str], list[StepView]] = {}
    for step in repeat.steps:
        if step.kind in SOURCE_KINDS and step.query_text is not None:
            groups.setdefault((step.iteration, step.query_text.text), []).append(step)
    made: list[Search] = []
    before: set[str] = set()
    for (iteration, text), steps in groups.items():
        ids = {one.step_id for one in steps}
        own = {one.evidence_id for one in repeat.evidence if ids & set(one.held)}
        whole, known = _whole(question, own | before), _whole(question, before)
        query = steps[0].query_text
        assert query is not None
        made.append(
            Search(
                iteration, tuple(one.name for one in steps), query, text == question.query.text,
                _because(repeat, iteration, text), tuple(one.items for one in steps),
                tuple(one for one in whole if one not in known),
                tuple(one for one in _whole(question, own) if one in known),
            )
        )  # fmt: skip
        before |= own
    return made if len(made) > 1 or (made and not made[0].is_question) else []


def ended(repeat: RepeatView) -> str | None:
    """Why no further search was made, in the words of the step that decided so."""
    said = [one for step in repeat.steps for one in step.decisions if one.startswith("stop ")]
    return said[-1].removeprefix("stop ").strip("()") if said else None


def _whole(question: Question, held: set[str]) -> list[str]:
    """The facts that this evidence carries; without facts, the evidence itself."""
    if not question.facts:
        return [one.id for one in question.evidence or () if one.id in held]
    return [fact.id for fact in question.facts if any(held >= set(one) for one in fact.any_of)]


def _because(repeat: RepeatView, iteration: int | None, query: str) -> tuple[str, ...]:
    """What the last step before it that wrote this query says of it."""
    writers = [
        one
        for one in repeat.steps
        if one.kind == "rewrite"
        and one.query_text is not None
        and one.query_text.text == query
        and (one.iteration is None or one.iteration == iteration)
    ]
    return tuple(one for one in writers[-1].decisions if not one.startswith(_TOLD)) if writers else ()
