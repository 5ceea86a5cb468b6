"""What stands around one judge of a score table, out of the store. Aggregates nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragassay.records.judgement import Calibration, JudgeIdentity, Judgement, JudgementSet
from ragassay.records.protocol import Scoring
from ragassay.records.score import ScoreTable
from ragassay.score.verdicts import Verdicts

if TYPE_CHECKING:
    from ragassay.store import Store


class JudgeRead(NamedTuple):
    """One judge of a score table with everything that was said by and of it."""

    name: str
    record: JudgementSet
    identity: JudgeIdentity
    verdicts: Verdicts
    threshold: float | None
    """The least score of *supported* under which the table reads it; None: its own labels."""
    calibration: Calibration | None
    calibrated_on: str | None
    """`Run.identity()` of the run on which it was held against people."""
    people: tuple[Judgement, ...]


def judges_read(
    store: Store, table: ScoreTable, scoring: Scoring, verdicts: Mapping[str, Verdicts]
) -> Iterator[JudgeRead]:
    """The judges of a table in the order of their names."""
    for name, one in sorted(verdicts.items()):
        known = table.calibrations.get(name)
        calibration = store.get_record(Calibration, known) if known else None
        yield JudgeRead(
            name=name,
            record=one.record,
            identity=store.get_record(JudgeIdentity, one.record.judge),
            verdicts=one,
            threshold=scoring.judge_thresholds.get(name),
            calibration=calibration,
            calibrated_on=store.get_record(JudgementSet, calibration.judged).run if calibration else None,
            people=tuple(store.get_lines(Judgement, calibration.people)) if calibration else (),
        )
