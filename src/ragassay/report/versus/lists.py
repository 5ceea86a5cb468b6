"""The lists of two traces step by step: which items stayed, moved, came and went. Scores nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ragassay.records.case import Case
from ragassay.records.trace import Item, TraceContent
from ragassay.report.holding import held
from ragassay.report.lists import Column, Library, columns, label
from ragassay.report.model import StepView
from ragassay.report.versus.model import Fate, Row, StepPair

MOST_ROWS = 30
Named = tuple[str, int | None]
T = TypeVar("T")


def step_pairs(
    case: Case, before: TraceContent | None, after: TraceContent | None, library: Library, other: Library
) -> tuple[StepPair, ...]:
    """Every step of either trace, by name and iteration, in the order of the candidate's."""
    old = _by_name(columns(before, ()) if before else ())
    new = _by_name(columns(after, ()) if after else ())
    names = _merged(list(old), list(new))
    return tuple(_step_pair(case, old.get(one), new.get(one), library, other) for one in names)


def _by_name(found: Sequence[Column]) -> dict[Named, Column]:
    made: dict[Named, Column] = {}
    for one in found:
        made.setdefault((one.view.name, one.view.iteration), one)
    return made


def _merged(old: list[Named], new: list[Named]) -> list[Named]:
    """The names of both: `new` in its order, each name of `old` alone behind the one it followed."""
    names = list(new)
    for place, one in enumerate(old):
        if one not in names:
            before = [other for other in old[:place] if other in names]
            names.insert(names.index(before[-1]) + 1 if before else 0, one)
    return names


def _step_pair(case: Case, old: Column | None, new: Column | None, library: Library, other: Library) -> StepPair:
    found = new or old
    assert found is not None
    view = found.view
    ranks = (_ranks(old), _ranks(new))
    views = (old and old.view, new and new.view)
    counts = _both(views, lambda one: one.items)
    asked = _both(views, lambda one: one.query_text)
    failed = _both(views, lambda one: one.failure)
    items = {one.identity: one for one in (*((old and old.items) or ()), *((new and new.items) or ()))}
    other_cut = _recut(old, new)
    taken = {one.identity for one in other_cut.values()}
    rows = []
    for key, item in items.items():
        if key in taken:
            continue
        was, now = ranks[0].get(key), ranks[1].get(key)
        name, holds = label(item), _holds(item, case, library, other)
        fate: Fate = "new" if was is None else "gone" if now is None else "same" if was == now else "moved"
        if (again := other_cut.get(key)) is not None:
            name, now, fate = _to(item, again), ranks[1][again.identity], "recut"
            holds = holds or _holds(again, case, library, other)
        rows.append(Row(fate=fate, label=name, before=was, after=now, holds=holds))
    rows.sort(key=lambda one: (min(one.before or 10**9, one.after or 10**9), one.after or 10**9, one.label))
    shown = [one for place, one in enumerate(rows) if place < MOST_ROWS or one.holds]
    return StepPair(
        name=view.name if view.iteration is None else f"{view.name} {view.iteration}",
        kind=view.kind,
        before=counts[0],
        after=counts[1],
        same=(old is None) == (new is None)
        and all(one[0] == one[1] for one in (counts, asked, failed))
        and all(one.fate == "same" for one in rows),
        rows=tuple(shown),
        rows_total=len(rows),
        asked=asked if old is not None and new is not None and asked[0] != asked[1] else None,
        there=(old is not None, new is not None),
        failed=failed,
    )


def _recut(old: Column | None, new: Column | None) -> dict[tuple[object, ...], Item]:
    """Of the items that only the list before has: the first of those that only the list now has and that share a part
    of the same document with it, whatever its version. Each item of either list is paired once."""
    before = {one.identity: one for one in (old and old.items) or ()}
    after = {one.identity: one for one in (new and new.items) or ()}
    left = [one for key, one in after.items() if key not in before]
    found: dict[tuple[object, ...], Item] = {}
    for key, item in before.items():
        if key not in after:
            again = next((one for one in left if _share(item, one)), None)
            if again is not None:
                left.remove(again)
                found[key] = again
    return found


def _to(item: Item, again: Item) -> str:
    """`a [0:9] → [3:9]`; the whole label of the other where it does not begin with the same document."""
    document, told = item.sources[0].document_id, label(again)
    return (
        f"{label(item)} → {told.removeprefix(document).strip() or told if told.startswith(f'{document} [') else told}"
    )


def _share(one: Item, other: Item) -> bool:
    return any(
        a.document_id == b.document_id and a.start < b.end and b.start < a.end
        for a in one.sources
        for b in other.sources
    )


def _both(
    views: tuple[StepView | None, StepView | None], of: Callable[[StepView], T | None]
) -> tuple[T | None, T | None]:
    """The same of either step; None where there is no such step."""
    old, new = views
    return None if old is None else of(old), None if new is None else of(new)


def _ranks(column: Column | None) -> dict[tuple[object, ...], int]:
    found: dict[tuple[object, ...], int] = {}
    for item in (column and column.items) or ():
        found.setdefault(item.identity, item.rank)
    return found


def _holds(item: Item, case: Case, library: Library, other: Library) -> bool:
    evidence = case.evidence or ()
    return any(
        any(held(item, evidence, one.documents, one.hold)) for one in (library, *(() if other is library else (other,)))
    )
