"""How many facts a list holds, and what became of each on its way to the context. Forms no aggregate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragassay.measures import Outcome
from ragassay.records.score import Bounds, Fate
from ragassay.records.trace import Item
from ragassay.score.hold import Reader, State, fact_states
from ragassay.score.labels import Labels
from ragassay.score.rows import missing, undefined, value
from ragassay.traces import Graph, Node


def coverage(items: Sequence[Item], labels: Labels, reader: Reader) -> tuple[Outcome, Bounds | None, dict[str, State]]:
    """fact_coverage of a list, its bounds where some fact is unknown, and the state of each required fact."""
    needed = labels.required
    if not needed:
        return without_facts(labels), None, {}
    every = fact_states(labels, reader, reader.states(items))
    states: dict[str, State] = {fact.id: every[fact.id] for fact in needed}
    held = sum(state is State.HELD for state in states.values())
    unknown = sum(state is State.UNKNOWN for state in states.values())
    total = len(needed)
    if unknown:
        return missing("unknown_items", total), Bounds(low=held / total, high=(held + unknown) / total), states
    return value(held, total), None, states


def without_facts(labels: Labels) -> Outcome:
    """Why there is no fact coverage."""
    if any(one.required for one in labels.facts):
        return undefined("all_hidden")
    return missing("unlabelled") if labels.state == "unlabelled" else undefined("no_facts")


class Way(NamedTuple):
    """What became of one fact, or of one piece of evidence."""

    fate: Fate
    steps: tuple[str, ...] = ()


class Walk:
    """Walks back from the context of one trace. `lists` are read once each."""

    def __init__(self, graph: Graph, labels: Labels, reader: Reader) -> None:
        self.graph = graph
        self.labels = labels
        self.reader = reader
        self._inputs = [reader.states(node.inputs) for node in graph.nodes]
        self._flows = [
            states if node.flow == node.inputs else reader.states(node.flow)
            for node, states in zip(graph.nodes, self._inputs, strict=True)
        ]
        self._fact_in = [fact_states(labels, reader, one) for one in self._inputs]
        self._fact_out = [fact_states(labels, reader, one) for one in self._flows]
        self._order = {label.id: number for number, label in enumerate(reader.labels)}

    @property
    def inferred(self) -> bool:
        """Whether a parent on the way to the context was found by rule."""
        return any(self.graph.nodes[place].inferred for place in self._way())

    def _way(self) -> set[int]:
        nodes, seen, todo = self.graph.nodes, set[int](), [len(self.graph.nodes) - 1] if self.graph.nodes else []
        while todo:
            place = todo.pop()
            if place not in seen:
                seen.add(place)
                todo.extend(nodes[place].parents)
        return seen

    def found_at(self, fact_id: str) -> tuple[str, ...]:
        """Names of source steps of which one alone gave all that the fact needs."""
        names = [
            node.name
            for node, flow in zip(self.graph.nodes, self._fact_out, strict=True)
            if node.source and node.given and flow[fact_id] is State.HELD and self._alone(node, fact_id)
        ]
        return tuple(dict.fromkeys(names))

    def _alone(self, node: Node, fact_id: str) -> bool:
        if not node.inputs:
            return True
        return fact_states(self.labels, self.reader, self.reader.states(node.given or ()))[fact_id] is State.HELD

    def fate(self, fact_id: str) -> Way:
        """held; lost whole where its last copy went; lost in parts; never found; between two steps; or unknown."""
        if self.graph.end is None:
            return Way("unknown")
        whole = self._back([one[fact_id] for one in self._fact_in], [one[fact_id] for one in self._fact_out])
        if whole.fate not in ("never_found", "unknown"):
            return whole
        if self._fact_out[-1][fact_id] is State.UNKNOWN:
            return whole
        return self._in_parts(fact_id, whole)

    def _in_parts(self, fact_id: str, whole: Way) -> Way:
        """The set with the fewest members never found, then the fewest missing; where each missing one was lost."""
        best: tuple[int, int, list[Way]] | None = None
        for group in self.labels.sets[fact_id]:
            ways = [self.evidence(one) for one in group]
            gone = [one for one in ways if one.fate != "held"]
            never = sum(one.fate == "never_found" for one in gone)
            if best is None or (never, len(gone)) < best[:2]:
                best = (never, len(gone), gone)
        assert best is not None
        never, _, gone = best
        if never:
            return whole
        if any(one.fate == "unknown" for one in gone):
            return Way("unknown")
        steps = tuple(dict.fromkeys(step for one in gone for step in one.steps))
        return Way("between" if any(one.fate == "between" for one in gone) else "lost_in_parts", steps)

    def evidence(self, evidence_id: str) -> Way:
        """What became of one piece of evidence."""
        if self.graph.end is None:
            return Way("unknown")
        number = self._order[evidence_id]
        return self._back([one[number] for one in self._inputs], [one[number] for one in self._flows])

    def _back(self, inside: Sequence[State], outside: Sequence[State]) -> Way:
        """From the context back along every path, to the first step on it that had it whole and did not hand it on."""
        nodes, end = self.graph.nodes, len(self.graph.nodes) - 1
        if outside[end] is not State.NOT_HELD:
            return Way("held" if outside[end] is State.HELD else "unknown")
        lost: dict[str, None] = {}
        between: dict[str, None] = {}
        doubt = False
        seen: set[int] = set()
        todo = [(end, end)]
        while todo:
            place, sure = todo.pop(0)
            if place in seen:
                continue
            seen.add(place)
            if outside[place] is State.NOT_HELD:
                sure = place
            if inside[place] is State.HELD:
                if outside[place] is State.NOT_HELD:
                    lost[nodes[place].name] = None
                else:
                    between.update(dict.fromkeys((nodes[place].name, nodes[sure].name)))
                continue
            doubt |= State.UNKNOWN in (inside[place], outside[place])
            todo.extend((one, sure) for one in nodes[place].parents)
        if lost:
            return Way("lost_whole", tuple(lost))
        if between:
            return Way("between", tuple(between))
        return Way("unknown" if doubt else "never_found")
