"""The steps of one trace with all that each stood on, the context and the answer among them. Compares nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragassay.records.trace import PASS_KINDS, SOURCE_KINDS, Answer, Item, Step, TraceContent
from ragassay.traces import CONTEXT, Graph, context_of, graph

ANSWER = "answer"
"""Name and kind of the last node of a trace that has no generate step."""
_SAYS = frozenset({"rewrite", "embed", "guard", "generate", ANSWER})
Items = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One step, the context of a trace without an assemble step, or the answer of one without a generate step."""

    name: str
    kind: str
    number: int
    """Which of the steps of this name, from 0."""
    parents: tuple[int, ...]
    """Places of what it stood on."""
    items: Items | None
    """What it handed on; None: it did not say, or its kind carries none."""
    said: tuple[Any, ...]
    """What it said beside items: the query that it wrote or searched, decisions of a guard, the answer, its failure."""
    step: int | None
    """Its place among the steps of the trace."""

    @property
    def key(self) -> tuple[str, int]:
        """By which it is known again in another trace."""
        return (self.name, self.number)

    @property
    def source(self) -> bool:
        """Whether it adds items to those that came in."""
        return self.kind in SOURCE_KINDS

    @property
    def speaks(self) -> bool:
        """Whether what it says, and not only the items that it hands on, reaches the steps after it."""
        return self.kind in _SAYS


class Points:
    """The points of one trace, in order."""

    def __init__(self, content: TraceContent) -> None:
        self.content = content
        self.all: list[Point] = []
        self._places: dict[str, int] = {}
        self._names: dict[str, int] = {}
        generate = [place for place, one in enumerate(content.steps) if one.kind == "generate"]
        boxed = not any(one.kind == "assemble" for one in content.steps) and content.context is not None
        boxed &= all(one.name != CONTEXT for one in content.steps)
        for place, step in enumerate(content.steps):
            if boxed and generate and place == generate[-1]:
                self._add_context()
            self._add(step, place, bool(generate) and place == generate[-1])
        if boxed and not generate:
            self._add_context()
        if not generate and (content.answer is not None or content.failure is not None):
            everything = tuple(range(len(self.all)))
            self._put(ANSWER, ANSWER, everything, None, _answer(content.answer, content), None)
        self.by_key = {one.key: place for place, one in enumerate(self.all)}

    @cached_property
    def graph(self) -> Graph:
        """The graph, whose nodes stand in the order of the steps."""
        return graph(self.content)

    @cached_property
    def context(self) -> Items | None:
        """What generation saw."""
        return context_of(self.content).items

    def inputs(self, point: Point) -> Items:
        """The union of what its parents hand on."""
        if point.step is not None:
            return self.graph.nodes[point.step].inputs
        end = self.graph.end
        return end.inputs if end is not None and point.name == CONTEXT else (self.context or ())

    def before(self, names: Sequence[str]) -> frozenset[str]:
        """Names of all steps that those of these names stood on, and these themselves."""
        places = [place for place, one in enumerate(self.all) if one.name in names]
        return frozenset(self.all[place].name for place in self.upstream(places))

    def upstream(self, places: Iterable[int]) -> set[int]:
        """These places and all that they stood on."""
        todo, seen = list(places), set[int]()
        while todo:
            place = todo.pop()
            if place not in seen:
                seen.add(place)
                todo.extend(self.all[place].parents)
        return seen

    def way(self) -> frozenset[str]:
        """Names of all steps before generation."""
        return frozenset(one.name for one in self.all if one.kind not in ("generate", ANSWER))

    def _add_context(self) -> None:
        end = self.graph.end
        ids = () if end is None else tuple(self.content.steps[one].step_id for one in end.parents)
        # Generation, and what comes after it, is none that it stood on; where only such are named, all before it are.
        places = tuple(self._places[one] for one in ids if one in self._places)
        if ids and not places:
            places = tuple(range(len(self.all)))
        self._put(CONTEXT, CONTEXT, places, self.content.context, (), None)

    def _add(self, step: Step, place: int, last: bool) -> None:
        parents = self._parents(step, place)
        context = next((number for number, one in enumerate(self.all) if one.name == CONTEXT), None)
        if last and context is not None:
            parents = tuple(dict.fromkeys((*parents, context)))
        carries = step.kind in PASS_KINDS or step.kind in SOURCE_KINDS
        self._places[step.step_id] = len(self.all)
        said = _said(step) + (_answer(self.content.answer, self.content) if last else ())
        self._put(step.name, step.kind, parents, step.items_out if carries else None, said, place)

    def _parents(self, step: Step, place: int) -> tuple[int, ...]:
        """As declared; of a pass step else as the graph infers; of any other all that could have reached it."""
        if step.parents is not None:
            return tuple(dict.fromkeys(self._places[one] for one in step.parents))
        if step.kind in PASS_KINDS:
            steps = self.content.steps
            return tuple(self._places[steps[one].step_id] for one in self.graph.nodes[place].parents)
        wanted = {"rewrite", "embed"} if step.kind in SOURCE_KINDS else None
        return tuple(number for number, one in enumerate(self.all) if wanted is None or one.kind in wanted)

    def _put(
        self, name: str, kind: str, parents: tuple[int, ...], items: Items | None, said: tuple[Any, ...],
        step: int | None,
    ) -> None:  # fmt: skip
        number = self._names.get(name, 0)
        self._names[name] = number + 1
        self.all.append(Point(name, kind, number, parents, items, said, step))


def _said(step: Step) -> tuple[Any, ...]:
    failed = None if step.error is None else (step.error.cause, step.error.code)
    query = step.query_text if step.kind == "rewrite" or step.kind in SOURCE_KINDS else None
    decided = tuple((one.action, one.item_id) for one in step.decisions) if step.kind == "guard" else ()
    return (query, decided, failed)


def _answer(answer: Answer | None, content: TraceContent) -> tuple[Any, ...]:
    """What reached the asker. Confidence is no part of it: it may move where nothing else does."""
    failed = None if content.failure is None else (content.failure.cause, content.failure.code)
    if answer is None:
        return (None, failed)
    return ((answer.text, answer.outcome, answer.citations, answer.finish_reason), failed)
