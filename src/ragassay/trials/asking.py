"""The settings of an experiment asked and scored, here and in other processes at once. Chooses none."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import anyio
import msgspec

from ragassay.assay import Frozen, Plan, measure, perform, seal
from ragassay.benchmark import Built
from ragassay.errors import RagassayError, StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import canonical_bytes
from ragassay.records.experiment import Choice, Tried
from ragassay.records.protocol import Run
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.trace import Measurements
from ragassay.run import System
from ragassay.run.executing import job_digest
from ragassay.run.journal import Journal
from ragassay.run.lease import held
from ragassay.seal import Sealed
from ragassay.store import Store
from ragassay.trials.choice import list_step
from ragassay.trials.grid import Declared, Setting
from ragassay.trials.sharing import Sharing
from ragassay.trials.worst import Counted

_LOOK_AGAIN_S = 0.2


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


class Standing(NamedTuple):
    """How far the run of one setting is."""

    setting: Setting
    state: str
    kept: int


Prepare = Callable[[Setting], Ready]
Tell = Callable[[int, Setting, str], None]
Alive = Callable[[], bool]
Together = Callable[[int, int], AbstractContextManager[Alive]]
"""What asks in other processes meanwhile, told how many settings and questions are left; gives whether one still is."""


def alone(_settings: int, _questions: int) -> AbstractContextManager[Alive]:
    """No other process."""
    return nullcontext(lambda: False)


class Point(NamedTuple):
    """One setting, sealed."""

    setting: Setting
    ready: Ready
    plan: Plan
    sealed: Sealed
    same_as: int | None
    """Place of an earlier setting that makes the same system."""


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
    path = _journal(store, declared, setting, sealed)
    if not path.exists():
        return Standing(setting, "not begun", 0)
    kept = Journal.peek(path)
    return Standing(setting, "finished" if kept.state == "sealed" else "begun", len(kept.entries))


class Asking:
    """All settings of one experiment: each a job of the store, so that a finished one is never asked again."""

    def __init__(
        self,
        store: Store,
        declared: Declared,
        choice: Choice,
        prepare: Prepare,
        sharing: Sharing | None,
        *,
        progress: Callable[[], Any] = lambda: None,
        tell: Tell = lambda _place, _setting, _said: None,
    ) -> None:
        """Seals every setting; nothing is asked yet. An error names its setting."""
        self.store, self.declared, self.sharing = store, declared, sharing
        self._progress, self._tell = progress, tell
        self.points: list[Point] = []
        self._systems: dict[int, System] = {}
        places: dict[str, int] = {}
        for place, setting in enumerate(declared.settings):
            try:
                ready = prepare(setting)
                if sharing is not None:
                    sharing.adopt(ready.system, _cut(ready))
                plan, sealed = sealed_of(store, declared, setting, ready, choice)
            except RagassayError as error:
                raise self._named(error, place)  # noqa: B904  the same error, with its setting
            first = places.setdefault(str(sealed.protocol.subject), place)
            self._systems[place] = ready.system
            self.points.append(Point(setting, ready, plan, sealed, None if first == place else first))

    async def rows(self, together: Together) -> list[Row]:
        """What came of each setting, in their order. One that another process asks is waited for.

        A secret that a setting needs and that is not set is a UsageError before any is asked.
        """
        self._check_secrets()
        rows: dict[int, Row] = {}
        waiting = deque(place for place, one in enumerate(self.points) if one.same_as is None)
        deferred = 0
        with (alone if self.sharing is None else together)(*self._left()) as alive:
            while waiting:
                place = waiting.popleft()
                row = await self._asked(place, patient=alive())
                if row is None:
                    waiting.append(place)
                    deferred += 1
                    if deferred >= len(waiting):
                        await anyio.sleep(_LOOK_AGAIN_S)
                    continue
                deferred, rows[place] = 0, row
                self._tell(place, self.points[place].setting, f"{row.questions} asked, {row.failures} failed")
        for place, one in enumerate(self.points):
            if one.same_as is not None:
                label = {"label": one.setting.label, "changes": canonical_bytes(one.setting.changes).decode()}
                first = rows[one.same_as]
                rows[place] = first._replace(tried=msgspec.structs.replace(first.tried, **label), same_as=one.same_as)
                self._tell(place, one.setting, f"the same system as {self.points[one.same_as].setting.label}")
        return [rows[place] for place in range(len(self.points))]

    async def help_out(self, share: int, shares: int) -> None:
        """Ask what nobody asks or has finished, beginning `share` of `shares` of the way; for a helping process."""
        begin = len(self.points) * share // shares
        for place in [*range(begin, len(self.points)), *range(begin)]:
            one = self.points[place]
            if one.same_as is None and standing(self.store, self.declared, one.setting, one.sealed).state != "finished":
                await self._asked(place, patient=True)

    async def _asked(self, place: int, *, patient: bool) -> Row | None:
        """One setting, finished and scored; None if another process is at it and we are patient."""
        one = self.points[place]
        lock = _journal(self.store, self.declared, one.setting, one.sealed).with_suffix(".lock")
        if patient and held(lock):
            return None
        try:
            run, digest = await perform(
                self.store, one.plan, one.sealed, self._systems[place], progress=self._progress()
            )
            row = _row(self.store, one.setting, one.sealed, run, digest, one.plan.name)
        except RagassayError as error:
            if patient and error.file == str(lock):  # somebody else was quicker
                return None
            raise self._named(error, place)  # noqa: B904  the same error, with its setting
        finally:
            if self.sharing is not None:
                self.sharing.cache.flush()
        del self._systems[place]
        return row

    def _check_secrets(self) -> None:
        for place, one in enumerate(self.points):
            if one.same_as is None and standing(self.store, self.declared, one.setting, one.sealed).state == "finished":
                continue
            check = getattr(one.ready.system, "check_secrets", None)
            if callable(check):
                try:
                    check()
                except RagassayError as error:
                    raise self._named(error, place)  # noqa: B904  the same error, with its setting

    def _left(self) -> tuple[int, int]:
        """Settings that are not finished, and their questions that are not asked."""
        own = [one for one in self.points if one.same_as is None]
        states = [standing(self.store, self.declared, one.setting, one.sealed) for one in own]
        left = [
            one.ready.built.benchmark.cases * one.plan.repeats - state.kept
            for one, state in zip(own, states, strict=True)
            if state.state != "finished"
        ]
        return len(left), sum(left)

    def _named(self, error: RagassayError, place: int) -> RagassayError:
        settings = self.declared.settings
        error.message = f"setting {place + 1} of {len(settings)} ({settings[place].label}): {error.message}"
        return error.at(file=str(self.declared.path)) if error.field.startswith("system") and not error.file else error


def _journal(store: Store, declared: Declared, setting: Setting, sealed: Sealed) -> Any:
    return store.journal_path(job_digest(sealed.protocol.subject, declared.run_name(setting)))


def _cut(ready: Ready) -> str:
    """Documents, with who may see them, and passages."""
    return f"{ready.frozen.corpus.digest} {ready.frozen.segmentation.identity()}"


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
