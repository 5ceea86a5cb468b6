"""An experiment from its file to its record: each setting a run, finished ones never asked again. Judges no release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ragassay.records.base import Digest
from ragassay.records.case import Case
from ragassay.records.experiment import TRIED, Choice, Experiment
from ragassay.records.protocol import Scoring
from ragassay.records.score import ScoreTable
from ragassay.store import Store
from ragassay.trials.asking import Asking, Prepare, Ready, Row, Tell, Together, alone, columns_of
from ragassay.trials.choice import Chosen, choose, column
from ragassay.trials.grid import Declared
from ragassay.trials.sharing import Sharing
from ragassay.trials.split import Split
from ragassay.trials.worst import Counted, counted_of, judged, rows_of


class Result(NamedTuple):
    """An experiment that is finished."""

    record: Experiment
    digest: Digest
    rows: list[Row]
    chosen: Chosen
    level: float
    columns: tuple[str, ...]
    """Measures of the table."""


async def perform_experiment(
    store: Store,
    declared: Declared,
    split: Split,
    choice: Choice,
    cases: Sequence[Case],
    prepare: Prepare,
    sharing: Sharing | None,
    *,
    progress: Callable[[], Any] = lambda: None,
    tell: Tell = lambda _place, _setting, _said: None,
    together: Together = alone,
) -> Result:
    """Run and score every setting, then choose; the record is kept under `experiment/NAME`.

    A setting's run is a job of the store like any other: killed, it goes on where it stopped, and a finished one is not
    asked again. Two settings that make the same system are one run. What stops a run stops the experiment, and the
    error names the setting. `together` may ask some of the settings in other processes; where steps are not shared,
    so that their time is measured, it is not asked to.
    """
    asking = Asking(store, declared, choice, prepare, sharing, progress=progress, tell=tell)
    rows = await asking.rows(together)
    return _finish(store, declared, split, choice, cases, rows, asking.points[-1].ready)


def _finish(
    store: Store,
    declared: Declared,
    split: Split,
    choice: Choice,
    cases: Sequence[Case],
    rows: list[Row],
    last: Ready,
) -> Result:
    found = [column(one.estimates, choice.measure, choice.class_, step=choice.step, last=one.last_list) for one in rows]
    counted = _counted(store, rows, [one.step for one in found], cases, choice)
    chosen = choose(choice, [one.number for one in counted], [one.by_question for one in counted], cases)
    benchmark = last.built.benchmark.identity()
    subjects = {one.tried.subject for one in rows}
    columns = columns_of(last.built.benchmark.rel, choice, declared.section.measures)
    record = Experiment(
        name=declared.section.name,
        benchmark=benchmark,
        split="dev",
        split_by=split.by,
        before=len(_tried_before(store, benchmark) - subjects),
        choice=choice,
        tried=tuple(one.tried for one in rows),
        chosen=chosen.place,
        tied=chosen.tied,
        not_told_apart=chosen.not_told_apart(last.plan.level),
    )
    digest = store.put_record(record)
    store.set_ref(f"{TRIED}{digest[7:23]}", digest, kind="experiment")
    store.set_ref(f"experiment/{record.name}", digest, kind="experiment")
    rows = [one._replace(counted=each) for one, each in zip(rows, counted, strict=True)]
    return Result(record, digest, rows, chosen, last.plan.level, columns)


def _counted(
    store: Store, rows: list[Row], steps: list[str | None], cases: Sequence[Case], choice: Choice
) -> list[Counted]:
    """What each setting counts as in the choice."""
    tables = [store.get_record(ScoreTable, one.tried.scores) for one in rows]
    observed = [rows_of(store, one, choice.measure, step) for one, step in zip(tables, steps, strict=True)]
    own = judged(observed, cases, choice)
    scorings = [store.get_record(Scoring, one.scoring) for one in tables]
    return [counted_of(one, own, choice, scoring) for one, scoring in zip(observed, scorings, strict=True)]


def _tried_before(store: Store, benchmark: Digest) -> set[Digest]:
    """Subjects that any experiment of this store tried on these questions."""
    records = [store.get_record(Experiment, ref.digest) for ref in store.refs(TRIED)]
    return {one.subject for record in records if record.benchmark == benchmark for one in record.tried}
