"""Whether a baseline is worth beating: no class worse than the built-in BM25 by more than a margin. Blames nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ragassay.compare.effect import EQUAL, differences
from ragassay.compare.effects import common_keys, populations
from ragassay.compare.pairs import LAST_LIST, pairs
from ragassay.compare.side import Side
from ragassay.records.protocol import Protocol, Subject
from ragassay.records.score import Population
from ragassay.store import Store

BUILT_IN = "reference"
"""The adapter of the built-in BM25."""
MARGIN = 0.05
CONTEXT = "context"
_STAGES = frozenset({"retrieval", "facts"})
_NOT_STATED = "the system does not say"


class Weaker(NamedTuple):
    """A measure in which the baseline is worse than the built-in system."""

    measure: str
    step: str | None
    population: Population
    by: float
    pairs: int


def weaker(baseline: Side, reference: Side, margin: float = MARGIN) -> Iterator[Weaker]:
    """Every class in which the baseline is worse by more than `margin`, on what both found.

    Read are the measures of retrieval and facts that have a range and a direction, at the context and at the last list
    of each (`margin` is a part of the range). It is the measured difference: a baseline is weak on what was seen, not
    only where that is certain.
    """
    for measure, step in _places(baseline, reference):
        told = baseline.told(measure, step)
        if told.declared is None or told.within is None or told.declared.direction == "none":
            continue
        sign = 1.0 if told.declared.direction == "higher" else -1.0
        for population in populations(baseline, reference):
            if population.slice is not None or population not in baseline.populations(measure):
                continue
            own = differences(pairs(reference, baseline, measure, population, step))
            width = told.within[1] - told.within[0]
            if own is not None and -sign * own.effect > margin * width + EQUAL:
                yield Weaker(measure, step, population, -sign * own.effect, len(own.plain))


def _places(baseline: Side, reference: Side) -> Iterable[tuple[str, str | None]]:
    last = {baseline.last_list} if baseline.last_list == reference.last_list else {LAST_LIST}
    for measure, step in common_keys(reference, baseline):
        told = baseline.told(measure, step)
        if told.declared is not None and told.declared.stage in _STAGES and step in {*last, CONTEXT}:
            yield measure, step


def weak_baseline(baseline: Side, reference: Side, margin: float = MARGIN) -> tuple[str, ...]:
    """Why the baseline is weak, a sentence each; nothing: it is not."""
    adapter = reference.subject.system.adapter
    if adapter != BUILT_IN:
        return (f"not known: the reference was asked as {adapter!r}, not as the built-in BM25 ({BUILT_IN!r})",)
    found = list(weaker(baseline, reference, margin))
    told = tuple(
        f"{one.measure} at {one.step}, {one.population}: {one.by:.3f} worse than the built-in BM25 "
        f"over {one.pairs} questions"
        for one in found
    )
    if not told and not any(True for _ in _places(baseline, reference)):
        return ("not known: no measure of retrieval was taken of both at a place that can be compared",)
    return told


def stored_configuration(store: Store, subject: Subject, protocol: Protocol) -> bool:
    """Whether everything that an arm was asked with is in the store, and its system said what it is made of."""
    stated = (subject.system.retriever, subject.system.generator, subject.system.prompt)
    held = all(one in store for one in protocol.objects.values())
    return held and not any(one.absent and one.absent.startswith(_NOT_STATED) for one in stated)
