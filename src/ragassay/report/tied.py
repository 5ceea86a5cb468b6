"""How the items of a run were tied to documents, counted by step. Ties none itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from ragassay.records.trace import Item, TraceContent

CONTEXT = "context"
_EDGES = (0.8, 0.85, 0.9, 0.95, 1.0)


class Tied(msgspec.Struct, frozen=True, kw_only=True):
    """Items in the lists of one step over all traces, or of all lists (`step` absent): declared, exact, aligned or
    unresolved. The four add up to `items`."""

    step: str | None
    items: int
    declared: int
    exact: int
    aligned: int
    unresolved: int
    reasons: dict[str, int]
    """Why they are unresolved; an item of an older trace has none."""
    scores: dict[str, int]
    """Of the aligned: how many have a score in each part, lowest first; exactly 1 stands by itself."""
    lowest: float | None
    """Of the scores of the aligned."""


def tied(contents: Iterable[TraceContent]) -> tuple[Tied, ...]:
    """All lists together, then each step in the order in which it first stands in a trace, the context last.

    A black box's one step and its context are one list and count once. Empty if no trace has a list.
    """
    steps: dict[str, list[Item]] = {}
    context: list[Item] = []
    for content in contents:
        for step in content.steps:
            if step.items_out is not None and not (step.name == CONTEXT and content.context is not None):
                steps.setdefault(step.name, []).extend(step.items_out)
        context.extend(content.context or ())
    if context:
        context = [*steps.pop(CONTEXT, ()), *context]
        steps[CONTEXT] = context
    if not steps:
        return ()
    every = [item for items in steps.values() for item in items]
    return (_row(None, every), *(_row(step, items) for step, items in steps.items()))


def _row(step: str | None, items: list[Item]) -> Tied:
    counts = Counter(item.resolution for item in items)
    scores = [item.alignment for item in items if item.alignment is not None]
    parts = Counter(_part(score) for score in scores)
    order = sorted(parts, key=lambda part: (part == "1", part))
    return Tied(
        step=step,
        items=len(items),
        declared=counts["declared"],
        exact=counts["exact"],
        aligned=counts["aligned"],
        unresolved=counts["unresolved"],
        reasons=dict(sorted(Counter(item.reason for item in items if item.reason is not None).items())),
        scores={part: parts[part] for part in order},
        lowest=min(scores, default=None),
    )


def _part(score: float) -> str:
    if score >= 1:
        return "1"
    low = max((edge for edge in _EDGES if edge <= score), default=0.0)
    high = next((edge for edge in _EDGES if edge > score), 1.0)
    return f"{low:.2f} to {high:.2f}"


def spread(one: Tied) -> str:
    """The scores of the aligned in words: `1: 40, 0.95 to 1.00: 3`."""
    return ", ".join(f"{part}: {count:,}" for part, count in reversed(one.scores.items()))


def why(one: Tied) -> str:
    """The reasons of the unresolved in words: `ambiguous 3, not found 1`."""
    return ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in one.reasons.items())
