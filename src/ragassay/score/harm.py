"""What should not have been shown: stale, superseded and contradicting evidence in a list. Reads no answer."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.measures import Measure, Outcome
from ragassay.records.score import Bounds
from ragassay.records.trace import Item
from ragassay.score.hold import Reader
from ragassay.score.labels import Labels
from ragassay.score.ranking import settled
from ragassay.score.rows import missing, undefined, value
from ragassay.score.world import World

ROLES = ("contradicts", "stale")


def harmful(measure: Measure, items: Sequence[Item], labels: Labels, reader: Reader) -> tuple[Outcome, Bounds | None]:
    """Share of the first k items that carry any part of evidence labelled *contradicts* or *stale*, or come from a
    document that is stale or superseded at `as_of`.

    Unlabelled: missing. An item of unknown content makes it missing, with bounds. An empty list: undefined(empty_list).
    """
    if measure.get("unit") != "evidence":
        return missing("not_computed"), None
    if labels.state == "unlabelled":
        return missing("unlabelled"), None
    roles: dict[str, str | None] = {one.id: one.role for one in labels.case.evidence or ()}
    read = items[: measure.cutoff]
    reading = reader.read(read)
    bad = [
        any(roles.get(reader.labels[number].id) in ROLES for number in touched) or is_outdated(item, labels.world)
        for item, touched in zip(read, reading.touched, strict=True)
    ]
    return _share(bad, [_perhaps(*one, labels.world) for one in zip(read, reading.open, strict=True)], "empty_list")


def stale_in_context(items: Sequence[Item], world: World) -> tuple[Outcome, Bounds | None]:
    """Share of the context's items that come from a document that is stale or superseded at `as_of`.

    missing(no_validity) over a corpus in which no document has an end or supersedes another: nobody said it then.
    """
    if not world.says_validity:
        return missing("no_validity"), None
    bad = [is_outdated(item, world) for item in items]
    return _share(bad, [_perhaps(item, False, world) for item in items], "empty_context")


def is_outdated(item: Item, world: World) -> bool:
    """Whether any source of an item is stale or superseded, or all places among which it is one."""
    if item.among:
        return all(world.outdated(span) for span in item.among)
    return any(world.outdated(span) for span in item.sources)


def _perhaps(item: Item, touches: bool, world: World) -> bool:
    """Whether nobody knows if an item is harmful: it is unresolved, or it is in only some of its places.

    `touches`: it would touch a label in some of them.
    """
    if item.among:
        return touches or any(world.outdated(span) for span in item.among)
    return not item.sources


def _share(bad: Sequence[bool], perhaps: Sequence[bool], empty: str) -> tuple[Outcome, Bounds | None]:
    if not bad:
        return undefined(empty), None
    found = sum(bad)
    unknown = sum(two and not one for one, two in zip(bad, perhaps, strict=True))
    low, high = found / len(bad), min(1.0, (found + unknown) / len(bad))
    return settled(value(found, len(bad)), Bounds(low=low, high=high))
