"""The steps of one trace as a graph: parents, united inputs, outputs, and the context at its end. Knows no label.

Source steps add items and cannot lose any; pass steps hand items on and can; all other kinds carry none. A step that
does not say what it gave out is transparent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ragassay.records.trace import PASS_KINDS, SOURCE_KINDS, Item, Step, TraceContent

CONTEXT = "context"
"""Name of the last node, and of the one step of a black box."""
Items = tuple[Item, ...]


class Context(NamedTuple):
    """What generation saw. `items` is None where that is not known; `reason` then says why."""

    items: Items | None
    reason: str = ""
    """not_reported, or inconsistent: the context and the last assemble step's output are both there and differ."""


@dataclass(frozen=True, slots=True)
class Node:
    """One step, or the context. Lists are in the order of the trace."""

    name: str
    kind: str
    step_id: str
    parents: tuple[int, ...]
    """Places of its parents in `Graph.nodes`."""
    inferred: bool
    """The parents were not declared but found by rule."""
    iteration: int | None
    given: Items | None
    """What it said that it gave out; None: it did not say."""
    inputs: Items
    """The union of what its parents hand on."""
    flow: Items
    """What goes on from here: a source's input and output, a pass step's output, else the input."""
    unexplained: Items
    """Items that it took in or gave out and that no parent gave."""

    @property
    def source(self) -> bool:
        """Whether it adds items and cannot lose any."""
        return self.kind in SOURCE_KINDS

    @property
    def carries(self) -> bool:
        """Whether its kind carries items at all."""
        return self.kind == CONTEXT or self.kind in SOURCE_KINDS or self.kind in PASS_KINDS


@dataclass(frozen=True)
class Graph:
    """The nodes of one trace in order; the context, where it is known, is the last."""

    nodes: tuple[Node, ...]
    context: Context

    @property
    def end(self) -> Node | None:
        """The context as a node; None where it is not known."""
        return self.nodes[-1] if self.context.items is not None else None

    @cached_property
    def names(self) -> dict[str, tuple[Node, ...]]:
        """Name -> nodes, for names that carry items, in order; `context` stands for the last node only."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            if node.carries and not (node.name == CONTEXT and node is not self.end and self.end is not None):
                found.setdefault(node.name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    def output(self, name: str) -> Items | None:
        """What all steps of a name gave out; None if none of them said.

        Several iterations are united: best rank first, then the earlier iteration, each item once.
        """
        said = [node.given for node in self.names.get(name, ()) if node.given is not None]
        if not said:
            return None
        return said[0] if len(said) == 1 else united(_interleaved(said))

    def iterations(self, name: str) -> dict[int, Items | None]:
        """What each iteration of a name gave out, where there are several; None if one of its steps did not say.

        The number is the declared iteration, or the place (from 1) among the steps of the name where some step of it
        declares none. Steps of one iteration are united as in `output`.
        """
        nodes = self.names.get(name, ())
        declared = all(node.iteration is not None for node in nodes)
        found: dict[int, list[Items | None]] = {}
        for place, node in enumerate(nodes, 1):
            found.setdefault(node.iteration if declared and node.iteration is not None else place, []).append(
                node.given
            )
        if len(found) < 2 or any(f"{name}#{number}" in self.names for number in found):
            return {}
        made: dict[int, Items | None] = {}
        for number, lists in sorted(found.items()):
            said = [one for one in lists if one is not None]
            made[number] = None if len(said) < len(lists) else said[0] if len(said) == 1 else united(_interleaved(said))
        return made


def keys_of(item: Item) -> tuple[tuple[object, ...], ...]:
    """All by which an item can be known again in another list: its identity, its passage, its text."""
    keys: list[tuple[object, ...]] = [item.identity]
    if item.passage_id is not None:
        keys.append(("passage", item.passage_id))
    if item.text_digest is not None:
        keys.append(("text", item.text_digest))
    return tuple(keys)


def united(items: Iterable[Item]) -> Items:
    """Each item once, where it stands first; equal by sources, else by text."""
    found: dict[tuple[object, ...], Item] = {}
    for item in items:
        found.setdefault(item.identity, item)
    return tuple(found.values())


def context_of(content: TraceContent) -> Context:
    """What generation saw: the context, else what the last assemble step gave out.

    Both present and holding different items is inconsistent; a different order is not.
    """
    assembled = next((one for one in reversed(content.steps) if one.kind == "assemble"), None)
    output = assembled.items_out if assembled is not None else None
    if content.context is None:
        return Context(output, "" if output is not None else "not_reported")
    if output is not None and not (_explained(content.context, output) and _explained(output, content.context)):
        return Context(None, "inconsistent")
    return Context(content.context)


def graph(content: TraceContent) -> Graph:
    """The graph of one trace. Parents are as declared, else inferred by rule and marked.

    A pass step without declared parents takes every item output since and including the last pass step, and from
    further back the last step that gave any item otherwise unexplained. Sources without parents take nothing in.
    """
    nodes: list[Node] = []
    places: dict[str, int] = {}
    for step in content.steps:
        nodes.append(_node(step, nodes, places))
        places[step.step_id] = len(nodes) - 1
    context = context_of(content)
    if context.items is not None:
        nodes.append(_end(context.items, nodes))
    return Graph(tuple(nodes), context)


def _node(step: Step, before: Sequence[Node], places: dict[str, int]) -> Node:
    inferred = False
    mentioned = (*(step.items_in or ()), *(step.items_out or ()))
    if step.parents is not None:
        parents = tuple(dict.fromkeys(places[one] for one in step.parents))
    elif step.kind in PASS_KINDS:
        parents, inferred = _inferred(before, mentioned), True
    else:
        parents = ()
    inputs = united(item for one in parents for item in before[one].flow)
    unexplained: Items = ()
    if step.kind in PASS_KINDS:
        flow = inputs if step.items_out is None else step.items_out
        unexplained = _unexplained(mentioned, inputs)
    elif step.kind in SOURCE_KINDS:
        flow = united((*inputs, *(step.items_out or ())))
    else:
        flow = inputs
    carries = step.kind in PASS_KINDS or step.kind in SOURCE_KINDS
    given = step.items_out if carries else None
    return Node(step.name, step.kind, step.step_id, parents, inferred, step.iteration, given, inputs, flow, unexplained)


def _end(items: Items, before: Sequence[Node]) -> Node:
    """The context: what the last assemble step gave, else a pass step like any other."""
    assembled = [place for place, node in enumerate(before) if node.kind == "assemble"]
    parents = tuple(assembled[-1:]) or _inferred(before, items)
    inferred = not assembled and not (len(parents) == 1 and before[parents[0]].name == CONTEXT)
    inputs = united(item for one in parents for item in before[one].flow)
    return Node(CONTEXT, CONTEXT, CONTEXT, parents, inferred, None, items, inputs, items, _unexplained(items, inputs))


def _inferred(before: Sequence[Node], items: Items) -> tuple[int, ...]:
    start = max((place for place, node in enumerate(before) if node.kind in PASS_KINDS), default=0)
    since = range(start, len(before))
    # A step that dropped everything is a parent too: the way back leads through it.
    chosen = {place for place in since if before[place].flow or before[place].carries or before[place].parents}
    known = {key for place in chosen for item in before[place].flow for key in keys_of(item)}
    lost = [keys for keys in map(set, map(keys_of, items)) if known.isdisjoint(keys)]
    for place in reversed(range(start)):
        given = {key for one in before[place].given or () for key in keys_of(one)}
        if any(not given.isdisjoint(keys) for keys in lost):
            chosen.add(place)
            given |= {key for one in before[place].flow for key in keys_of(one)}
            lost = [keys for keys in lost if given.isdisjoint(keys)]
    return tuple(sorted(chosen))


def _unexplained(items: Items, inputs: Items) -> Items:
    known = {key for one in inputs for key in keys_of(one)}
    return united(one for one in items if known.isdisjoint(keys_of(one)))


def _explained(items: Items, others: Items) -> bool:
    return not _unexplained(items, others)


def _interleaved(lists: Sequence[Items]) -> Iterable[Item]:
    for rank in range(max(map(len, lists), default=0)):
        for one in lists:
            if rank < len(one):
                yield one[rank]
