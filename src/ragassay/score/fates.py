"""The fate of every fact of one question on its way to the context, as records. Walks no graph itself."""

from __future__ import annotations

from ragassay.records.case import Case
from ragassay.records.score import FactFate
from ragassay.records.trace import TraceContent
from ragassay.score.copies import without_copies
from ragassay.score.facts import Walk
from ragassay.score.hold import Reader
from ragassay.score.labels import Labels
from ragassay.score.world import World
from ragassay.traces import Graph, graph


def fates_of(case: Case, content: TraceContent, world: World, hold: float) -> tuple[FactFate, ...]:
    """The fates of a case's facts in one trace, required or not, in their order; facts that its asker may not see
    have none. Of a failed trace, and of one whose context is not known, every fate is unknown.
    """
    labels = Labels(case, world)
    reader = Reader(labels.visible, world, hold)
    return read_fates(labels, reader, graph(without_copies(content, world)), content)


def read_fates(labels: Labels, reader: Reader, whole: Graph, content: TraceContent) -> tuple[FactFate, ...]:
    """As `fates_of`, of a trace that was read already."""
    facts = [one for one in labels.facts if labels.sets[one.id]]
    if not facts:
        return ()
    if content.failure is not None or whole.end is None:
        return fates_unknown(labels.case, content.repeat, labels)
    walk = Walk(whole, labels, reader)
    inferred = walk.inferred
    made = []
    for fact in facts:
        way = walk.fate(fact.id)
        made.append(
            FactFate(
                query_id=labels.case.query_id,
                repeat=content.repeat,
                fact_id=fact.id,
                required=fact.required,
                fate=way.fate,
                steps=way.steps,
                found_at=walk.found_at(fact.id),
                inferred=inferred,
            )
        )
    return tuple(made)


def fates_unknown(case: Case, repeat: int, labels: Labels) -> tuple[FactFate, ...]:
    """The fates of a question whose way to the context cannot be followed."""
    return tuple(
        FactFate(query_id=case.query_id, repeat=repeat, fact_id=one.id, required=one.required, fate="unknown")
        for one in labels.facts
        if labels.sets[one.id]
    )
