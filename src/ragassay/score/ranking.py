"""Ranked-list measures of one step's output: gains by evidence, by passage or by document. Holds no kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ragassay.measures import Measure, Outcome, one_list, own_measure
from ragassay.measures.bounds import CERTAIN, bounds
from ragassay.measures.bounds import Bounds as OneBounds
from ragassay.measures.kernels import KERNELS
from ragassay.measures.ranking import single
from ragassay.records.score import Bounds
from ragassay.records.trace import Item
from ragassay.score.hold import Reader, Reading
from ragassay.score.labels import Labels
from ragassay.score.rows import missing, undefined

RANKED: frozenset[str] = frozenset(KERNELS) - {"harmful"}
"""Names of our measures that this room takes at every step."""
_MONOTONE = frozenset({"recall", "hit", "rr"})
"""Measures that an item more can only raise."""
_SPREAD = frozenset({"ndcg", "precision"})


@lru_cache(maxsize=1024)
def is_ranked(name: str) -> bool:
    """Whether a measure is taken of lists at every step: one of ours, or of another package."""
    own = own_measure(name)
    return name in RANKED or (own is not None and own.declaration.stage == "retrieval")


class Ranked(NamedTuple):
    """One list as the kernels read it: per rank the grade newly held, whether it is judged, the grades newly held,
    whether what stands there is not known; and all grades of the labels."""

    gains: tuple[int, ...]
    judged: tuple[bool, ...]
    new: tuple[tuple[int, ...], ...]
    open: tuple[bool, ...]
    ideal: tuple[int, ...]
    coarse: bool


def by_evidence(items: Sequence[Item], labels: Labels, reader: Reader) -> Ranked:
    """Items in order, each once; the gain is the highest grade among the evidence that an item is the first to hold."""
    return _ranked(items, reader.read(items), labels)


def _ranked(items: Sequence[Item], reading: Reading, labels: Labels) -> Ranked:
    grades, every = labels.distinct, labels.visible
    new = tuple(tuple(grades[number] for number in first if number in grades) for first in reading.first)
    judged = tuple(
        bool(item.sources or item.among)
        and (labels.world.complete or any(every[number].grade >= 0 for number in touched))
        for item, touched in zip(items, reading.touched, strict=True)
    )
    return Ranked(
        tuple(max((0, *one)) for one in new),
        judged,
        new,
        tuple(reading.open),
        tuple(grades.values()),
        reading.by_document or any(one.coarse for one in every),
    )


def by_document(items: Iterable[Item], labels: Labels) -> Ranked:
    """Documents in order of their best rank; a label's grade goes to its document. Unresolved items stay unknown, and
    those that may be of several documents."""
    grades = labels.document_grades()
    places: dict[object, bool] = {}
    for item in items:
        homes = labels.world.homes(item)
        if not homes:
            places[("open", len(places))] = True
        for place in homes:
            places.setdefault(place, False)
    complete = labels.world.complete
    return _of_units(list(places.items()), grades, complete, coarse=bool(labels.visible))


def by_passage(items: Iterable[Item], labels: Labels) -> Ranked | str:
    """Passages of the sealed segmentation; a reason where an item with sources is none of them."""
    world = labels.world
    if not world.segmented:
        return "no_segmentation"
    units: dict[object, bool] = {}
    for item in items:
        shown = bool(item.sources) and item.transform != "derived"  # what was rewritten is not the passage any more
        passage = world.passage_of(item) if shown else None
        if shown and passage is None:
            return "not_of_the_segmentation"
        units.setdefault(("open", len(units)) if passage is None else passage, passage is None)
    coarse = any(one.coarse for one in labels.visible)
    return _of_units(list(units.items()), labels.passage_grades(), world.complete, coarse=coarse)


def _of_units(
    units: Sequence[tuple[object, bool]], grades: Mapping[Any, int], complete: bool, *, coarse: bool
) -> Ranked:
    known: dict[object, int] = dict(grades)
    found = [known.get(unit, 0) for unit, _ in units]
    judged = tuple(not open_ and (complete or known.get(unit, -1) >= 0) for unit, open_ in units)
    return Ranked(
        tuple(max(0, grade) for grade in found),
        judged,
        tuple((known[unit],) if unit in known else () for unit, _ in units),
        tuple(open_ for _, open_ in units),
        tuple(known.values()),
        coarse,
    )


def rank(measure: Measure, ranked: Ranked | str, labels: Labels) -> tuple[Outcome, Bounds | None]:
    """One measure of one list; missing(unknown_items) with bounds where items of unknown content could change it.

    An unresolved item is a missing label, never an irrelevant document. `measure` has its `rel`. Unlabelled: missing.
    Labels that the principal may not see at all: undefined(all_hidden).
    """
    if labels.state == "unlabelled":
        return missing("unlabelled"), None
    if labels.hidden and not labels.visible:
        return undefined("all_hidden"), None
    if isinstance(ranked, str):
        nothing = by_passage((), labels)
        outside = None if isinstance(nothing, str) else _score(measure, nothing)
        return (outside if outside and outside.reason == "nothing_relevant" else missing(ranked)), None
    outcome = _score(measure, ranked)
    if outcome.reason == "nothing_relevant" and labels.none_visible:
        return undefined("all_hidden"), None
    if outcome.status != "value" or measure.name == "judged":
        return outcome, None
    cut = measure.cutoff or len(ranked.open)
    if True not in ranked.open[:cut]:
        return outcome, None
    return settled(outcome, _bounds(measure, ranked, outcome.value or 0.0))


def settled(outcome: Outcome, bounds: Bounds) -> tuple[Outcome, Bounds | None]:
    """A value that nothing unknown can change, else missing with the bounds of what it could be."""
    if bounds.low == bounds.high:
        return outcome, None
    return missing("unknown_items", outcome.denominator), bounds


def over_unjudged(measure: Measure, ranked: Ranked | str, labels: Labels, outcome: Outcome) -> Bounds | None:
    """What a value could be if every unjudged item that the measure reads had a grade, the ideal order varied too.

    None where there is no value, every document was judged, no such item is unjudged, the measure counts judgements,
    or is of another package. Only items up to the cut-off are given grades; each holds one piece of evidence more.
    """
    if outcome.value is None or labels.world.complete or isinstance(ranked, str) or measure.name not in RANKED:
        return None
    cut = None if measure.get("list") == "condensed" else measure.cutoff
    if measure.name in CERTAIN or all(ranked.judged[:cut]) or True in ranked.open[:cut]:
        return None
    held, greatest = _held(measure, ranked, cut), labels.world.greatest
    found = _completed(measure, ranked.gains[:cut], ranked.judged[:cut], ranked.ideal, held, greatest)
    return None if found.low is None or found.high is None else Bounds(low=found.low, high=found.high)


@lru_cache(maxsize=1 << 16)
def _completed(
    measure: Measure,
    gains: tuple[int, ...],
    judged: tuple[bool, ...],
    ideal: tuple[int, ...],
    held: tuple[int, ...] | None,
    greatest: int,
) -> OneBounds:
    return bounds(measure, single(gains, judged, ideal, held), 0, int(measure.get("max") or greatest))


def _score(measure: Measure, ranked: Ranked) -> Outcome:
    cut = measure.cutoff if measure.get("list") != "condensed" else None
    return _kernel(measure, ranked.gains[:cut], ranked.judged[:cut], ranked.ideal, _held(measure, ranked, cut))


def _held(measure: Measure, ranked: Ranked, cut: int | None) -> tuple[int, ...] | None:
    rel = measure.get("rel")
    return None if rel is None else tuple(sum(grade >= int(rel) for grade in one) for one in ranked.new[:cut])


@lru_cache(maxsize=1 << 16)
def _kernel(
    measure: Measure,
    gains: tuple[int, ...],
    judged: tuple[bool, ...],
    ideal: tuple[int, ...],
    held: tuple[int, ...] | None,
) -> Outcome:
    own = own_measure(measure.name)
    if own is None:
        return one_list(measure, gains, judged, ideal, held=held)
    params: dict[str, Any] = {key: value for key, value in measure.params if key != "unit"}
    if own.declaration.cutoff != "none":
        params["cutoff"] = measure.cutoff
    return own.of_list(gains, ideal, params)


def _bounds(measure: Measure, ranked: Ranked, got: float) -> Bounds:
    """The least and the most that any content of the unknown items could give.

    What stands before the first unknown item is certain. An unknown item can hold all that is left, which is best for
    recall, hit and rr; for ndcg and precision it is best if every rank from there on holds one more piece, highest
    grades first. Since it can also take away what later items are the first to hold, their least is what is certain.
    """
    if measure.name not in _MONOTONE | _SPREAD:
        declared = measure.declared
        return Bounds(low=declared.low, high=1.0 if declared.high is None else declared.high)
    at = ranked.open.index(True)
    before = [grade for one in ranked.new[:at] for grade in one]
    left = list(ranked.ideal)
    for grade in before:
        left.remove(grade)
    left = sorted((grade for grade in left if grade > 0), reverse=True)
    rest = len(ranked.open) - at
    if measure.name in _MONOTONE:
        tail = [tuple(left), *[()] * (rest - 1)]
    else:
        tail = [(grade,) for grade in left[:rest]] + [()] * max(0, rest - len(left))
    best = _score(measure, _with_tail(ranked, at, tail)).value or 0.0
    low = got if measure.name in _MONOTONE else _score(measure, _with_tail(ranked, at, [()] * rest)).value or 0.0
    return Bounds(low=min(low, got), high=max(best, got))


def _with_tail(ranked: Ranked, at: int, tail: Sequence[tuple[int, ...]]) -> Ranked:
    new = (*ranked.new[:at], *tail)
    gains = tuple(max((0, *one)) for one in new)
    return ranked._replace(gains=gains, new=new)
