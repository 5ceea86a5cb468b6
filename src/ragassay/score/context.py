"""Measures of what generation saw: precision, density, overlap, parents, tokens. Reads no other step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragassay.measures import Measure, Outcome
from ragassay.records.score import Bounds
from ragassay.records.trace import Item
from ragassay.score.hold import Reader, State
from ragassay.score.labels import Label, Labels
from ragassay.score.ranking import settled
from ragassay.score.rows import missing, undefined, value
from ragassay.score.world import Interval, World

Found = tuple[Outcome, Bounds | None]
CONTEXT_MEASURES = frozenset(
    {"context_precision", "evidence_density", "unique_parents", "overlap_ratio", "context_tokens"}
)


def of_context(measure: Measure, items: Sequence[Item], labels: Labels, reader: Reader, tokenizer: str) -> Found:
    """One of CONTEXT_MEASURES of a reported context; an empty one is undefined(empty_context), but has 0 tokens.

    Items of unknown content make it missing(unknown_items) with bounds, unless they cannot change it.
    """
    world = labels.world
    if measure.name == "context_tokens":
        return _tokens(items, world, tokenizer), None
    if measure.name in ("context_precision", "evidence_density"):
        if labels.state == "unlabelled":
            return missing("unlabelled"), None
        relevant = {one.id for one in labels.relevant(int(measure.get("rel") or world.rel))}
        if not relevant:
            return undefined("all_hidden" if labels.none_visible else "nothing_relevant"), None
        if not items:
            return undefined("empty_context"), None
        if measure.name == "context_precision":
            return _precision(items, reader, relevant, world)
        return _density(items, [one for one in reader.labels if one.id in relevant], world)
    if not items:
        return undefined("empty_context"), None
    return _parents(items, world) if measure.name == "unique_parents" else _overlap(items, world)


def _precision(items: Sequence[Item], reader: Reader, relevant: set[str], world: World) -> Found:
    """Items that carry a part of relevant evidence that the whole context holds; an equal item counts once."""
    reading = reader.read(items)
    holds = {
        number
        for number, label in enumerate(reader.labels)
        if label.id in relevant and reading.states[number] is State.HELD
    }
    seen: set[object] = set()
    count = 0
    for item, touched in zip(items, reading.touched, strict=True):
        identity = world.identity(item)
        count += identity not in seen and not holds.isdisjoint(touched)
        seen.add(identity)
    # A part of evidence that only an unknown item could complete may count too, so the upper end is every item.
    high = 1.0 if any(reading.open) else count / len(items)
    return settled(value(count, len(items)), Bounds(low=count / len(items), high=high))


def _density(items: Sequence[Item], relevant: Sequence[Label], world: World) -> Found:
    """Relevant code points in the context, each once, over all that the context's text has."""
    if any(one.coarse for one in relevant):
        return missing("no_spans"), None
    total = unknown = 0
    for item in items:
        size = _text_size(item, world)
        if size is None:
            return missing("no_text"), None
        total += size
        unknown += size if _unplaced(item) else 0
    if total == 0:
        return undefined("no_text_in_context"), None
    marks = [at for one in relevant for at in one.places]
    inside = [
        Interval(at.place, max(at.start, mark.start), min(at.end, mark.end))
        for item in items
        if not _unplaced(item)
        for at in world.of(item)
        for mark in marks
        if mark.place == at.place
    ]
    got = min(_union(inside, world), total)
    return settled(value(got, total), Bounds(low=got / total, high=min(1.0, (got + unknown) / total)))


def _parents(items: Sequence[Item], world: World) -> Found:
    places = {place for item in items for place in world.homes(item)}
    unresolved = sum(not world.homes(item) for item in items)
    if not places:
        return missing("no_spans"), None
    return settled(value(len(places)), Bounds(low=float(len(places)), high=float(len(places) + unresolved)))


def _overlap(items: Sequence[Item], world: World) -> Found:
    spans = [at for item in items if not _unplaced(item) for at in world.of(item)]
    total = sum(world.dense(at) for at in spans)
    if not spans:
        return missing("no_spans"), None
    if total == 0:
        unknown = any(_unplaced(item) for item in items)
        return (
            (missing("unknown_items"), Bounds(low=0.0, high=1.0))
            if unknown
            else (undefined("no_text_in_context"), None)
        )
    found = value(total - _union(spans, world), total)
    if any(_unplaced(item) for item in items):
        return settled(found, Bounds(low=0.0, high=1.0))
    return found, None


def _tokens(items: Sequence[Item], world: World, tokenizer: str) -> Outcome:
    counts = [world.tokens(item, tokenizer) for item in items]
    known = [one for one in counts if one is not None]
    return value(sum(known)) if len(known) == len(counts) else missing("no_text_or_tokenizer")


def _unplaced(item: Item) -> bool:
    """Its text cannot be found in a document by overlap."""
    return not item.sources or item.transform == "derived"


def _text_size(item: Item, world: World) -> int | None:
    """Code points of an item's text that are not white space."""
    if not _unplaced(item):
        return sum(world.dense(at) for at in world.of(item))
    text = world.text_of(item)
    return None if text is None else sum(map(len, text.split()))


def _union(spans: Iterable[Interval], world: World) -> int:
    """Code points that are not white space within the union of intervals."""
    total, place, reached = 0, -1, 0
    for at in sorted(spans):
        if at.place != place:
            place, reached = at.place, 0
        start = max(at.start, reached)
        if start < at.end:
            total += world.dense(Interval(at.place, start, at.end))
            reached = at.end
    return total
