"""Which sets of judgements and calibrations are in force for a run, by the names that the store has for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ragassay.errors import StoreError
from ragassay.records.base import Digest
from ragassay.records.judgement import Calibration, JudgeIdentity, JudgementSet
from ragassay.records.protocol import Run, Scoring
from ragassay.records.score import ScoreTable
from ragassay.score.observe import measures_of
from ragassay.score.verdicts import judges_of
from ragassay.store import Store


class InForce(NamedTuple):
    """Digests by the judge's name."""

    judged: dict[str, Digest]
    calibrations: dict[str, Digest]


def judgements_ref(name: str, run: str) -> str:
    """Where the set of one judge on one run stands; `run` is `Run.identity()`."""
    return f"judgements/{name}/{run.removeprefix('sha256:')[:16]}"


def calibration_ref(name: str, judge: str) -> str:
    """Where the calibration of one judge of one identity stands; `judge` is the digest of its JudgeIdentity."""
    return f"calibrations/{name}/{judge.removeprefix('sha256:')[:16]}"


def in_force(store: Store, run: Run, scoring: Scoring) -> InForce:
    """The newest set of each judge that a scoring layer or one of its measures names, and the calibration of exactly
    the identity that judged; what there is none of is left out."""
    return of_judges(store, run, judges_of(scoring, measures_of(scoring, 1)))


def of_judges(store: Store, run: Run, names: Iterable[str]) -> InForce:
    """As `in_force`, of judges by name."""
    judged: dict[str, Digest] = {}
    calibrations: dict[str, Digest] = {}
    for name in names:
        found = _ref(store, judgements_ref(name, run.identity()))
        if found is None:
            continue
        judged[name] = found
        judge = store.get_record(JudgementSet, found).judge
        known = _ref(store, calibration_ref(name, judge))
        if known is not None and store.get_record(Calibration, known).judge == judge:
            calibrations[name] = known
    return InForce(judged, calibrations)


def judges_on(store: Store, run: str, kind: str | None = None) -> tuple[str, ...]:
    """Names of all whose verdicts on a run (`Run.identity()`) are in force: people only (`person`), or the others."""
    end = run.removeprefix("sha256:")[:16]
    made = []
    for ref in store.refs("judgements/"):
        _, name, last = ref.name.split("/", 2)
        if last == end:
            identity = store.get_record(JudgeIdentity, store.get_record(JudgementSet, ref.digest).judge)
            if kind is None or (identity.kind == "person") == (kind == "person"):
                made.append(name)
    return tuple(sorted(made))


def uncalibrated(store: Store, table: ScoreTable, scoring: Scoring) -> tuple[str, ...]:
    """Judges of a table that are no people and were not held against any as they are read: their numbers are marked."""
    made = []
    for name, digest in sorted(table.judged.items()):
        record = store.get_record(JudgementSet, digest)
        known = table.calibrations.get(name)
        found = store.get_record(Calibration, known) if known else None
        fits = found is not None and (found.judge, found.threshold) == (
            record.judge, scoring.judge_thresholds.get(name))  # fmt: skip
        if not fits and store.get_record(JudgeIdentity, record.judge).kind != "person":
            made.append(name)
    return tuple(made)


def is_superseded(store: Store, table: ScoreTable, run: Run) -> tuple[str, ...]:
    """Judges that a table reads and of which another set or calibration is in force than it was made of."""
    now = in_force(store, run, store.get_record(Scoring, table.scoring))
    return tuple(
        name
        for name in sorted({*table.judged, *now.judged})
        if (now.judged.get(name), now.calibrations.get(name)) != (table.judged.get(name), table.calibrations.get(name))
    )


def _ref(store: Store, name: str) -> Digest | None:
    try:
        return store.ref(name)
    except StoreError:
        return None
