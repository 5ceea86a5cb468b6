"""What both arms did with the questions that are shown in full, side by side. Scores nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from ragassay.compare.side import Side
from ragassay.records.case import Case
from ragassay.records.document import Document, Passage
from ragassay.records.score import Observation
from ragassay.records.trace import Measurements, TraceContent
from ragassay.report.build import library_of
from ragassay.report.lists import Library
from ragassay.report.material import documents_of
from ragassay.report.model import RepeatView
from ragassay.report.questions import repeat
from ragassay.report.versus.differ import pieces
from ragassay.report.versus.lists import step_pairs
from ragassay.report.versus.model import Pair
from ragassay.report.versus.questions import Scored

Key = tuple[str, int]
ROLES: tuple[Literal["corpus", "segmentation"], ...] = ("corpus", "segmentation")


class Arm(NamedTuple):
    """What one side did with the wanted questions."""

    library: Library
    contents: dict[Key, TraceContent]
    measurements: dict[Key, Measurements]
    ruled: Mapping[Key, Observation]
    """Outcomes that scoring gave."""
    repeats: int


def arms(sides: tuple[Side, Side], rows: tuple[Scored, Scored], wanted: frozenset[str]) -> tuple[Arm, Arm]:
    """Both sides; a corpus and a segmentation that both have are read once."""
    first, second = sides
    before, after = first.protocol.objects, second.protocol.objects
    same = all(before.get(role) == after.get(role) for role in ROLES)
    documents = documents_of(first.store, first.protocol)
    made = [_arm(first, rows[0], documents, wanted)]
    made.append(_arm(second, rows[1], documents if same else documents_of(second.store, second.protocol), wanted))
    return made[0], made[1]


def _arm(
    side: Side, rows: Scored, known: tuple[tuple[Document, ...], tuple[Passage, ...]], wanted: frozenset[str]
) -> Arm:
    store, run = side.store, side.run
    texts = {str(one["digest"]): str(one["text"]) for one in store.get_lines(dict, run.texts)}
    contents = (one for one in side.traces() if one.query_id in wanted)
    measured = (one for one in store.get_lines(Measurements, run.measurements) if one.query_id in wanted)
    return Arm(
        library=library_of(*known, texts, side.scoring.hold),
        contents={(one.query_id, one.repeat): one for one in contents},
        measurements={(one.query_id, one.repeat): one for one in measured},
        ruled=rows.ruled,
        repeats=side.subject.repeats,
    )


def pairs(case: Case, old: Arm, new: Arm) -> Iterator[Pair]:
    """Every repeat of a question on either side."""
    for number in range(max(old.repeats, new.repeats)):
        key = (case.query_id, number)
        before, after = _view(case, old, key), _view(case, new, key)
        texts = [view.answer.text for view in (before, after) if view is not None and view.answer is not None]
        yield Pair(
            repeat=number,
            before=before,
            after=after,
            pieces=pieces(*texts) if len(texts) == 2 else (),
            steps=step_pairs(case, old.contents.get(key), new.contents.get(key), old.library, new.library),
        )


def _view(case: Case, arm: Arm, key: Key) -> RepeatView | None:
    content = arm.contents.get(key)
    if content is None:
        return None
    outcome = [arm.ruled[key]] if key in arm.ruled else []
    return repeat(case, content, arm.measurements.get(key), outcome, (), arm.library)
