"""In how many questions the output of each step is another one, and where that begins. Scores nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ragassay.compare.changes.artefacts import Sides
from ragassay.compare.changes.blame import artefacts_of
from ragassay.compare.changes.likeness import Likeness
from ragassay.compare.changes.moves import Move, Pair
from ragassay.compare.changes.nodes import ANSWER
from ragassay.compare.changes.stream import Asked, content_of, side_by_side
from ragassay.records.comparison import Change, StepChange
from ragassay.records.protocol import Run
from ragassay.store import Store
from ragassay.traces import CONTEXT


@dataclass(slots=True)
class _Count:
    kind: str
    order: int = 0
    same: int = 0
    first: int = 0
    downstream: int = 0
    only_baseline: int = 0
    only_candidate: int = 0
    begins: bool = False
    """Somewhere the change begins here, be it that one side lacks the step."""


_ABSENT = msgspec.Raw(b"")


class _Named(msgspec.Struct):
    name: str
    kind: str


class _Shape(msgspec.Struct):
    """The names of a trace that is the same on both sides."""

    steps: list[_Named] = []
    context: msgspec.Raw = _ABSENT
    answer: msgspec.Raw = _ABSENT
    failure: msgspec.Raw = _ABSENT


def steps(
    store: Store, baseline: Run, candidate: Run, changes: Sequence[Change], *, sides: Sides | None = None
) -> tuple[StepChange, ...]:
    """Every step of the traces of two runs, in order: in how many keys that both runs answered its output is the
    same, differs though what came in is the same (*first*), or differs since something before it does (*downstream*).

    Outputs are items (by place, else by text) with order and scores; of a rewrite the query; of a generate step the
    answer, its outcome and citations. A trace without an assemble step has the step `context`, one without a generate
    step the step `answer`. Several iterations of a name are one step of one question. A key that one run alone
    answered is in no count.

    Blamed is the changed artefact that the step stands on; *silent* where its change begins and none does.
    """
    known = sides or Sides(store, baseline, candidate)
    likeness, asked = Likeness(known), Asked(known)
    counts: dict[str, _Count] = {}
    for lines in side_by_side(store, baseline, candidate):
        if lines.ours is None or lines.theirs is None:
            continue
        if lines.ours == lines.theirs and likeness.exact:
            _add(counts, _unmoved(lines.ours))
        else:
            pair = Pair(content_of(lines.ours), content_of(lines.theirs), likeness, asked_same=asked.same(lines.key))
            _add(counts, pair.moves)
    names = sorted(counts, key=lambda name: (counts[name].order, name))
    return tuple(_row(name, place, counts[name], changes) for place, name in enumerate(names))


def _unmoved(line: bytes) -> list[Move]:
    """All steps of a trace that is the same on both sides."""
    shape = msgspec.json.decode(line, type=_Shape)
    kinds = {one.name: one.kind for one in shape.steps}
    every = {one.kind for one in shape.steps}
    if bytes(shape.context) and "assemble" not in every and CONTEXT not in kinds:
        last = next((one.name for one in reversed(shape.steps) if one.kind == "generate"), None)
        place = len(kinds) if last is None else list(kinds).index(last)
        kinds = dict([*list(kinds.items())[:place], (CONTEXT, CONTEXT), *list(kinds.items())[place:]])
    if "generate" not in every and bytes(shape.answer) + bytes(shape.failure):
        kinds[ANSWER] = ANSWER
    return [Move(name, kind, "both", same=True, first=False) for name, kind in kinds.items()]


def _add(counts: dict[str, _Count], moves: Sequence[Move]) -> None:
    for order, one in enumerate(moves):
        count = counts.setdefault(one.name, _Count(one.kind))
        count.order = max(count.order, order)
        count.begins |= one.first
        if one.side == "baseline":
            count.only_baseline += 1
        elif one.side == "candidate":
            count.only_candidate += 1
        elif one.same:
            count.same += 1
        elif one.first:
            count.first += 1
        else:
            count.downstream += 1


def _row(name: str, order: int, count: _Count, changes: Sequence[Change]) -> StepChange:
    found = artefacts_of(changes, name, count.kind) if count.begins else ()
    return StepChange(
        step=name,
        kind=count.kind,
        order=order,
        questions=count.same + count.first + count.downstream,
        same=count.same,
        first=count.first,
        downstream=count.downstream,
        only_baseline=count.only_baseline,
        only_candidate=count.only_candidate,
        blamed=found[0] if found else None,
        silent=count.begins and not found,
    )
