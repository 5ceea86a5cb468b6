"""An experiment from its file to its record: each setting a run, finished ones never asked again. Judges no release."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ragassay.assay import Frozen, Plan, measure, perform, seal
from ragassay.benchmark import Built
from ragassay.errors import RagassayError, StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Case
from ragassay.records.experiment import Choice, Experiment, Tried
from ragassay.records.protocol import Run, Scoring
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.trace import Measurements
from ragassay.run import System
from ragassay.run.executing import job_digest
from ragassay.run.journal import Journal
from ragassay.seal import Sealed
from ragassay.store import Store
from ragassay.trials.choice import Chosen, choose, column, list_step
from ragassay.trials.grid import Declared, Setting
from ragassay.trials.sharing import Sharing
from ragassay.trials.split import Split
from ragassay.trials.worst import Counted, counted_of, judged, rows_of

TRIED = "tried/"
"""Names of all experiments, also of those whose own name another one took."""


class Ready(NamedTuple):
    """Everything that is needed to ask the questions under one setting."""

    frozen: Frozen
    built: Built
    system: System
    plan: Plan


class Row(NamedTuple):
    """What came of one setting."""

    tried: Tried
    estimates: list[Estimate]
    last_list: str | None
    """The step that hands on the last list before the context."""
    questions: int
    failures: int
    same_as: int | None = None
    """Place of an earlier setting that makes the same system."""
    counted: Counted = Counted(None, {}, 0)
    """What it counts as in the choice."""


class Result(NamedTuple):
    """An experiment that is finished."""

    record: Experiment
    digest: Digest
    rows: list[Row]
    chosen: Chosen
    level: float
    columns: tuple[str, ...]
    """Measures of the table."""


class Standing(NamedTuple):
    """How far the run of one setting is."""

    setting: Setting
    state: str
    kept: int


Prepare = Callable[[Setting], Ready]
Tell = Callable[[int, Setting, str], None]


def columns_of(rel: int, choice: Choice, more: Sequence[str] = ()) -> tuple[str, ...]:
    """The measures of the table: recall@20, ndcg@5, context tokens, the one that chooses, and further ones."""
    from ragassay.measures import parse

    wanted = (choice.measure, f"recall(rel={rel})@20", "ndcg@5", "context_tokens", *more)
    return tuple(dict.fromkeys(str(parse(one)) for one in wanted))


def sealed_of(store: Store, declared: Declared, setting: Setting, ready: Ready, choice: Choice) -> tuple[Plan, Sealed]:
    """The protocol of one setting: scored by the columns of the table and what was measured of time."""
    measures = (
        *columns_of(ready.built.benchmark.rel, choice, declared.section.measures),
        "latency",
        "cache_hits",
        "error_rate",
    )
    plan = dataclasses.replace(ready.plan, name=declared.run_name(setting), measures=measures)
    return plan, seal(store, plan, ready.frozen, ready.built, ready.system.identity)


def standing(store: Store, declared: Declared, setting: Setting, sealed: Sealed) -> Standing:
    """Whether a setting's run is finished, begun or not begun; reads only."""
    path = store.journal_path(job_digest(sealed.protocol.subject, declared.run_name(setting)))
    if not path.exists():
        return Standing(setting, "not begun", 0)
    kept = Journal.peek(path)
    return Standing(setting, "finished" if kept.state == "sealed" else "begun", len(kept.entries))


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
) -> Result:
    """Run and score every setting, then choose; the record is kept under `experiment/NAME`.

    A setting's run is a job of the store like any other: killed, it goes on where it stopped, and a finished one is not
    asked again. Two settings that make the same system are one run. What stops a run stops the experiment, and the
    error names the setting.
    """
    rows: list[Row] = []
    places: dict[str, int] = {}
    last: Ready | None = None
    for place, setting in enumerate(declared.settings):
        try:
            last = prepare(setting)
            if sharing is not None:
                sharing.adopt(last.system, _cut(last))
            plan, sealed = sealed_of(store, declared, setting, last, choice)
            first = places.setdefault(str(sealed.protocol.subject), place)
            if first != place:
                label = {"label": setting.label, "changes": canonical_bytes(setting.changes).decode()}
                rows.append(rows[first]._replace(tried=_with(rows[first].tried, label), same_as=first))
                tell(place, setting, f"the same system as {declared.settings[first].label}")
                continue
            run, digest = await perform(store, plan, sealed, last.system, progress=progress())
            rows.append(_row(store, setting, sealed, run, digest, plan.name))
        except RagassayError as error:
            error.message = f"setting {place + 1} of {len(declared.settings)} ({setting.label}): {error.message}"
            raise
        finally:
            if sharing is not None:
                sharing.cache.flush()
        tell(place, setting, f"{run.answered} asked, {run.failures} failed")
    assert last is not None, "a grid has at least one setting"
    return _finish(store, declared, split, choice, cases, rows, last)


def _cut(ready: Ready) -> str:
    """Documents, with who may see them, and passages."""
    return f"{ready.frozen.corpus.digest} {ready.frozen.segmentation.identity()}"


def _with(tried: Tried, changes: dict[str, str]) -> Tried:
    return msgspec.structs.replace(tried, **changes)


def _row(store: Store, setting: Setting, sealed: Sealed, run: Run, digest: Digest, name: str) -> Row:
    scores = _scored(store, digest, sealed.protocol.scoring, name)
    table = store.get_record(ScoreTable, scores)
    measured = list(store.get_lines(Measurements, run.measurements))
    tried = Tried(
        label=setting.label,
        changes=canonical_bytes(setting.changes).decode(),
        subject=sealed.protocol.subject,
        run=digest,
        scores=scores,
        cached=sum(_from_cache(one) for one in measured),
    )
    estimates = list(store.get_lines(Estimate, table.estimates))
    return Row(tried, estimates, list_step(store, run.contents), run.questions, run.failures)


def _from_cache(one: Measurements) -> bool:
    """Whether a step has no time since a cache of other settings saved some of it."""
    return any(step.cache_hits and step.duration_ms is None for step in one.steps)


def _scored(store: Store, run: Digest, scoring: Digest, name: str) -> Digest:
    """The score table of a run; one that is there already is not made again."""
    try:
        found = store.ref(f"scores/{name}")
    except StoreError:
        return measure(store, run, scoring, name=name)
    table = store.get_record(ScoreTable, found)
    return found if (table.run_record, table.scoring) == (run, scoring) else measure(store, run, scoring, name=name)


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
