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
    unresolved. These four add up to `items`."""

    step: str | None
    items: int
    declared: int
    exact: int
    aligned: int
    among: int
    """Of the exact and the aligned those that stand in several places alike, and nobody knows which was meant."""
    unresolved: int
    reasons: dict[str, int]
    """Why they are unresolved; an item of an older trace has none."""
    scores: dict[str, int]
    """Of the aligned: how many have a score in each part, lowest first; exactly 1 stands by itself."""
    lowest: float | None
    """Of the scores of the aligned."""


class _Counts:
    """The items of one list, counted."""

    def __init__(self) -> None:
        self.by: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.parts: Counter[str] = Counter()
        self.lowest: float | None = None
        self.among = 0

    def add(self, items: Iterable[Item]) -> None:
        for item in items:
            self.by[item.resolution] += 1
            self.among += bool(item.among)
            if item.reason is not None:
                self.reasons[item.reason] += 1
            if item.alignment is not None:
                self.parts[_part(item.alignment)] += 1
                self.lowest = item.alignment if self.lowest is None else min(self.lowest, item.alignment)

    def with_(self, other: _Counts) -> _Counts:
        made = _Counts()
        for name in ("by", "reasons", "parts", "among"):
            setattr(made, name, getattr(self, name) + getattr(other, name))
        made.lowest = min((one for one in (self.lowest, other.lowest) if one is not None), default=None)
        return made

    def row(self, step: str | None) -> Tied:
        order = sorted(self.parts, key=lambda part: (part == "1", part))
        return Tied(
            step=step,
            items=self.by.total(),
            declared=self.by["declared"],
            exact=self.by["exact"],
            aligned=self.by["aligned"],
            among=self.among,
            unresolved=self.by["unresolved"],
            reasons=dict(sorted(self.reasons.items())),
            scores={part: self.parts[part] for part in order},
            lowest=self.lowest,
        )


class Tying:
    """Counts trace by trace; `rows` says what was counted so far."""

    def __init__(self) -> None:
        self._steps: dict[str, _Counts] = {}
        self._context = _Counts()

    def add(self, content: TraceContent) -> None:
        """A black box's one step and its context are one list and count once."""
        for step in content.steps:
            if step.items_out is not None and not (step.name == CONTEXT and content.context is not None):
                self._steps.setdefault(step.name, _Counts()).add(step.items_out)
        self._context.add(content.context or ())

    def rows(self) -> tuple[Tied, ...]:
        """All lists together, then each step in the order in which it first stood in a trace, the context last.

        Empty if no trace has a list.
        """
        steps = dict(self._steps)
        if self._context.by:
            steps[CONTEXT] = steps.pop(CONTEXT, _Counts()).with_(self._context)
        if not steps:
            return ()
        every = _Counts()
        for one in steps.values():
            every = every.with_(one)
        return (every.row(None), *(one.row(step) for step, one in steps.items()))


def tied(contents: Iterable[TraceContent]) -> tuple[Tied, ...]:
    """`Tying.rows` of all given traces."""
    counted = Tying()
    for content in contents:
        counted.add(content)
    return counted.rows()


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
