"""What is right about one case, as scoring reads it: visible labels, facts, expectations. Reads no trace."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal, NamedTuple

from ragassay.records.base import EvidenceId
from ragassay.records.case import REFUSING, Case, Evidence, Fact, Outcome
from ragassay.score.world import Interval, World


class Label(NamedTuple):
    """One piece of evidence. A coarse one has intervals without an extent: only their class counts."""

    id: str
    grade: int
    coarse: bool
    places: tuple[Interval, ...]
    """Where it stands; several only where it names no version. Any one is enough."""
    totals: tuple[int, ...]
    """Code points of each place that must be covered: those that are not white space, else all."""
    plain: bool
    """There is no white space to leave out, or nothing but white space."""
    dangling: bool
    """Its document is not in the corpus."""


State = Literal["unlabelled", "empty", "judged", "relevant"]


class Labels:
    """The labels of one case that count for its principal, with the counts of those that do not."""

    def __init__(self, case: Case, world: World) -> None:
        self.case = case
        self.world = world
        self.every = tuple(_label(one, world) for one in case.evidence or ())
        self.visible = tuple(one for one in self.every if _may_see(one, case, world))
        shown: set[str] = {one.id for one in self.visible}
        self.facts: tuple[Fact, ...] = case.facts
        self.sets: dict[str, tuple[tuple[EvidenceId, ...], ...]] = {
            fact.id: tuple(one for one in fact.any_of if shown.issuperset(one)) for fact in case.facts
        }
        """Fact -> the sets of evidence that the principal may see."""

    @property
    def hidden(self) -> int:
        """Labels that the principal may not see."""
        return len(self.every) - len(self.visible)

    @property
    def none_visible(self) -> bool:
        """There are relevant labels, and the principal may see none of them."""
        rel = self.world.rel
        return any(one.grade >= rel for one in self.every) and not any(one.grade >= rel for one in self.visible)

    @property
    def state(self) -> State:
        """Which of the four states the case's own labels are in."""
        if self.case.evidence is None:
            return "unlabelled"
        if not self.case.evidence:
            return "empty"
        return "relevant" if any(one.grade >= self.world.rel for one in self.every) else "judged"

    def relevant(self, rel: int) -> tuple[Label, ...]:
        """Visible labels with grade >= rel."""
        return tuple(one for one in self.visible if one.grade >= rel)

    @cached_property
    def distinct(self) -> dict[int, int]:
        """Place in `visible` -> grade, for labels that differ: equal places are one label, with the highest grade."""
        first: dict[tuple[object, ...], int] = {}
        grades: dict[int, int] = {}
        for number, one in enumerate(self.visible):
            kept = first.setdefault((one.coarse, *one.places), number)
            grades[kept] = max(grades.get(kept, one.grade), one.grade)
        return grades

    @property
    def required(self) -> tuple[Fact, ...]:
        """Required facts of which at least one set may be seen."""
        return tuple(one for one in self.facts if one.required and self.sets[one.id])

    @cached_property
    def expected(self) -> tuple[Outcome, ...]:
        """The allowed outcomes: as declared, else derived; empty if nothing says so."""
        case = self.case
        if case.expect is not None:
            return case.expect
        if self.none_visible:
            return (*REFUSING, "denied")
        truth = case.answerable
        if truth is None:
            known = {"answerable": "yes", "multi_hop": "yes", "unanswerable": "no"}
            truth = known.get(case.class_ or "answerable")  # type: ignore[assignment]
        derived: dict[str | None, tuple[Outcome, ...]] = {
            "yes": ("answered",),
            "partial": ("answered", "partial", "clarified"),
            "no": REFUSING,
        }
        return derived.get(truth, ())

    def document_grades(self) -> dict[int, int]:
        """Class of documents -> the highest grade of its visible labels."""
        grades: dict[int, int] = {}
        for one in self.visible:
            place = one.places[0].place
            grades[place] = max(grades.get(place, one.grade), one.grade)
        return grades

    def passage_grades(self) -> dict[str, int]:
        """Passage -> the highest grade that it carries: from half of a label's code points on."""
        world, grades = self.world, dict[str, int]()
        for one in self.visible:
            for where, total in zip(one.places, one.totals, strict=True):
                for passage_id, at in world.passages_in(where.place):
                    if one.coarse or 2 * _covered(where, at, one.plain, world) >= total > 0:
                        grades[passage_id] = max(grades.get(passage_id, one.grade), one.grade)
        return grades


def _label(one: Evidence, world: World) -> Label:
    found = world.versions(one.document_id, one.version)
    places = dict.fromkeys(world.place(document.document_id, document.version) for document in found)
    if not places:
        places = {world.place(one.document_id, one.version or ""): None}
    start, end = (0, 0) if one.start is None or one.end is None else (one.start, one.end)
    at = tuple(Interval(place, start, end) for place in places)
    dense = tuple(world.dense(each) for each in at)
    plain = not any(dense)
    totals = tuple(each.end - each.start for each in at) if plain else dense
    return Label(one.id, one.grade, one.coarse, at, totals, plain, not found)


def _may_see(label: Label, case: Case, world: World) -> bool:
    return case.principal is None or any(world.visible(one.place, case.principal) for one in label.places)


def _covered(where: Interval, at: Iterable[Interval], plain: bool, world: World) -> int:
    """Code points of `where` within the union of intervals."""
    cut = sorted((max(where.start, one.start), min(where.end, one.end)) for one in at if one.place == where.place)
    total, reached = 0, where.start
    for start, end in cut:
        start = max(start, reached)
        if start < end:
            total += size(Interval(where.place, start, end), plain, world)
            reached = end
    return total


def size(at: Interval, plain: bool, world: World) -> int:
    """Code points of an interval that count: all, or those that are not white space."""
    return at.end - at.start if plain else world.dense(at)
