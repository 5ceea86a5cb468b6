"""What became of each question in a few words, for lists that people and machines of CI read. Decides no gate."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ragassay.records.text import many
from ragassay.report.dimensions import base_name
from ragassay.report.model import Question, RepeatView
from ragassay.report.svg import FATE_WORDS

ORDER = ("denied", "failed", "lost", "never_found", "error")
"""Flags by which questions come first, the worst first."""


class Finding(NamedTuple):
    """`bad` and `failed` say what is wrong, `open` why nothing can be said, `good` on which ground."""

    state: Literal["failed", "bad", "open", "good"]
    kind: str
    """One word: the failure's cause, `lost`, `outcome`, `nothing_found`, `not_measured`, `unknown`, `held`."""
    words: str


def rank(question: Question) -> int:
    """The place of a question's worst flag in ORDER; greater than all of them without any."""
    return min((ORDER.index(flag) for flag in question.flags if flag in ORDER), default=len(ORDER))


def find(question: Question, view: RepeatView) -> Finding:
    """What one repeat of a question shows: the first of these that holds.

    The system failed; a required fact is not in the context; the outcome is none of the expected ones; nothing
    relevant was found (where there are no facts); it cannot be told; nothing was measured. Otherwise it is good:
    never without a ground.
    """
    if view.failure:
        detail = f": {view.failure_detail.text}" if view.failure_detail else ""
        return Finding(
            "failed", view.failure.partition(" at ")[0].partition(" (")[0].replace(" ", "_"), view.failure + detail
        )
    needed = [fate for fate in view.fates if fate.required]
    lost = [fate for fate in needed if fate.fate not in ("held", "unknown")]
    if lost:
        told = [
            f"{one.fact_id} {FATE_WORDS[one.fate]}{' at ' + ' and '.join(one.steps) if one.steps else ''}"
            for one in lost
        ]
        count = f"{len(lost)} of {many(len(needed), 'fact')}"
        return Finding("bad", "lost", f"{count} not in the context: {'; '.join(told)}")
    if question.expect and view.outcome and view.outcome not in question.expect:
        return Finding("bad", "outcome", f"expected {' or '.join(question.expect)}, the system {view.outcome}")
    if unknown := sum(fate.fate == "unknown" for fate in needed):
        return Finding("open", "unknown", f"{unknown} of {many(len(needed), 'fact')}: cannot be told")
    if needed:
        return Finding("good", "held", f"{len(needed)} of {many(len(needed), 'fact')} in the context")
    recall = nearest(view, "recall")
    if recall == 0:
        return Finding("bad", "nothing_found", "no relevant item is in the list nearest to the answer")
    if recall is not None:
        return Finding("good", "held", f"recall {recall:.3f} in the list nearest to the answer")
    if question.expect and view.outcome:
        return Finding("good", "outcome", f"the system {view.outcome}, as expected")
    return Finding(
        "open", "not_measured", "not measured: no facts, no labels, and no outcome to hold against an expected one"
    )


def nearest(view: RepeatView, name: str) -> float | None:
    """The value of a measure at the last step that has one (its greatest, where several spellings do)."""
    order = {step.name: place for place, step in enumerate(view.steps)}
    found = [
        (order.get(one.step or "", -1), one.value)
        for one in view.scores
        if base_name(one.measure) == name and one.value is not None and one.target is None
    ]
    return max(found)[1] if found else None
