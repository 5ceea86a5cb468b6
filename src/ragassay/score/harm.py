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
    return _share(read, bad, "empty_list")


def stale_in_context(items: Sequence[Item], world: World) -> tuple[Outcome, Bounds | None]:
    """Share of the context's items that come from a document that is stale or superseded at `as_of`.

    missing(no_validity) over a corpus in which no document has an end or supersedes another: nobody said it then.
    """
    if not world.says_validity:
        return missing("no_validity"), None
    return _share(items, [is_outdated(item, world) for item in items], "empty_context")


def is_outdated(item: Item, world: World) -> bool:
    """Whether any source of an item is stale or superseded."""
    return any(world.outdated(span) for span in item.sources)


def _share(items: Sequence[Item], bad: Sequence[bool], empty: str) -> tuple[Outcome, Bounds | None]:
    if not items:
        return undefined(empty), None
    found, unknown = sum(bad), sum(not one.sources for one in items)
    return settled(
        value(found, len(items)), Bounds(low=found / len(items), high=min(1.0, (found + unknown) / len(items)))
    )
