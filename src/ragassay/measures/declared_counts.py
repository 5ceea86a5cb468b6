"""Declarations of what is counted beside other measures: repeats that disagree, doubled, unexplained and hidden things.

It computes nothing.
"""

from __future__ import annotations

from ragassay.measures.contract import Declaration

DECLARED: tuple[Declaration, ...] = (
    Declaration(
        name="flip_rate",
        summary="Share of questions whose repeats do not all have the same value of a measure that is 0 or 1.",
        stage="robustness",
        population="questions with two or more repeats that have a value",
        denominator="such questions",
        aggregation="macro",
        direction="lower",
        missing_labels="as the measure that it is of; a repeat without a value widens the bounds",
        reference="ragassay",
        unsafe_alone_for="quality: a system that is always wrong never flips",
        params=("of",),
        computed_by="score",
    ),
    Declaration(
        name="duplicate_rate",
        summary="Share of a step's output that repeats an item further up.",
        stage="retrieval",
        population="questions with a trace that has the step",
        denominator="items of the output",
        aggregation="micro",
        direction="lower",
        missing_labels="needs no labels",
        short_list="an empty output is undefined(empty_list)",
        reference="ragassay",
        unsafe_alone_for="redundancy: overlapping passages are different items",
        computed_by="score",
    ),
    Declaration(
        name="unexplained_items",
        summary="Items that a step took in or gave out and that no parent gave.",
        stage="retrieval",
        population="questions with a trace that has the step",
        denominator="1",
        aggregation="macro",
        high=None,
        direction="lower",
        unit="items",
        missing_labels="needs no labels",
        reference="ragassay",
        unsafe_alone_for="quality: it says how far the trace explains itself",
        computed_by="score",
    ),
    Declaration(
        name="hidden_labels",
        summary="Labels of a question that its principal may not see, and that therefore do not count for it.",
        stage="authorization",
        population="questions with a principal",
        denominator="1",
        aggregation="macro",
        high=None,
        direction="none",
        unit="labels",
        missing_labels="a question without labels hides none",
        reference="ragassay",
        unsafe_alone_for="leaks: it counts what was labelled, not what was returned",
        computed_by="score",
    ),
)
