"""Which experiments tried the system of a run, since the best of many is too good. Judges no setting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ragassay.records.experiment import TRIED, Experiment
from ragassay.records.protocol import Run, Subject
from ragassay.records.text import many, shown
from ragassay.report.model import Stated

if TYPE_CHECKING:
    from ragassay.store import Store


class TriedBy(NamedTuple):
    """An experiment, and the place of the run's system among its settings."""

    experiment: Experiment
    place: int
    same_questions: bool


def tried_by(store: Store, run: Run, subject: Subject) -> Iterator[TriedBy]:
    """The experiments that asked this very subject, and those that chose its system on other questions."""
    for digest in dict.fromkeys(ref.digest for ref in store.refs(TRIED)):
        found = store.get_record(Experiment, digest)
        place = next((number for number, one in enumerate(found.tried) if one.subject == run.subject), None)
        if place is not None:
            yield TriedBy(found, place, same_questions=True)
        elif found.chosen is not None:
            chosen = store.get_record(Subject, found.tried[found.chosen].subject)
            if chosen.system == subject.system and chosen.benchmark != subject.benchmark:
                yield TriedBy(found, found.chosen, same_questions=False)


def warnings(tried: Iterable[TriedBy]) -> list[str]:
    """What a reader of this run must know of the experiments that tried it on these very questions."""
    return [_warning(one) for one in tried if one.same_questions]


def _warning(found: TriedBy) -> str:
    record, place = found.experiment, found.place
    count = _count(record)
    of = f"One of {many(count, 'setting')} that were tried on these questions (experiment {shown(record.name)})"
    if place == record.chosen:
        return (
            f"{of}, and the one that {record.choice.measure} chose: the best of {count:,} is too good on the questions "
            "that chose it. Measure it on others before you report it."
        )
    if record.chosen is None:
        return f"{of}; none was chosen."
    apart = "is not told apart from" if place in record.not_told_apart else "lost to"
    return f"{of}: setting {place + 1}, which {apart} the chosen one, {shown(record.tried[record.chosen].label)}."


def choices(tried: Iterable[TriedBy]) -> list[Stated]:
    """The experiments that chose this system on other questions."""
    return [
        Stated(
            label="system chosen by",
            value=f"experiment {one.experiment.name}, best of {many(_count(one.experiment), 'setting')} by "
            f"{one.experiment.choice.measure} on other questions",
        )
        for one in tried
        if not one.same_questions
    ]


def _count(record: Experiment) -> int:
    """Different systems, those of earlier experiments on the same questions included."""
    return len({one.subject for one in record.tried}) + record.before
