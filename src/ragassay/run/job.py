"""The loop of a job: starts questions, makes each finished one durable, and knows when to stop. Writes no manifest.

One push to the disk is on its way at a time; a question that is back frees its place. No more may wait for
the disk than may be out, so a kill never loses more than twice what the limit allows to be out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, Protocol

from ragassay.errors import CeilingError, ErrorBudgetError, Interrupted, UsageError
from ragassay.records.text import many
from ragassay.run.account import Account
from ragassay.run.ceiling import Ceiling
from ragassay.run.clock import Clock
from ragassay.run.journal import Finished
from ragassay.run.log import Log, no_point
from ragassay.run.log_lines import Key
from ragassay.run.pace import Paces
from ragassay.run.progress import Progress, Silent, Standing
from ragassay.run.threads import Writer
from ragassay.run.waiting import Waiting

_TICK_S = 1.0
_TURNS = 3
"""Turns of the loop in which a question that was begun gets its request out over an open connection; then the next one
is begun."""


class Asker(Protocol):
    """Who does one unit of a job, whatever comes: a question that is asked, a batch that is judged."""

    async def ask(self, key: Key, account: Account | None = None) -> Any:
        """The finished unit as `finished`, and bytes to be stored before it as `raw`.

        `finished` None: the ceiling had no room for the rest of it; then `spent` are the facts of what was sent.
        """
        ...


class Units(Protocol):
    """What a job consists of."""

    @property
    def keys(self) -> list[Key]:
        """All of it in order."""
        ...

    def after(self, key: Key) -> tuple[Key, ...]:
        """The keys that must be finished before this one is begun."""
        ...


class Told(NamedTuple):
    """What people are told about a job."""

    one: str = "question"
    several: str = "questions"
    done: str = "asked"
    budget_hint: str = (
        "`ragassay report` shows what failed and why; mend the system and begin anew (--no-resume, "
        "resume=False), or raise max_error_rate and go on from here"
    )
    ceiling_hint: str = (
        "`ragassay score` scores them, the others as missing(cost_ceiling); with a higher ceiling the same "
        "command goes on"
    )
    why: Callable[[Any], str] = lambda finished: _why(finished)  # noqa: PLW0108  it is defined below
    """The first failure in words."""

    def many(self, number: int) -> str:
        """`3 questions are`."""
        return many(number, f"{self.one} is", f"{self.several} are")


def most_failures(error_budget: float | int, questions: int) -> int:
    """How many questions may fail: a whole number is a count, a fraction (float) is of all questions, rounded down."""
    if isinstance(error_budget, bool) or error_budget < 0 or (isinstance(error_budget, float) and error_budget > 1):
        raise UsageError(
            f"an error budget of {error_budget!r}", field="error_budget", hint="a count (3) or a fraction (0.2)"
        )
    return error_budget if isinstance(error_budget, int) else int(error_budget * questions + 1e-9)


def _why(finished: Finished) -> str:
    """The first failure in words: what a person needs in order to mend the system."""
    failure = finished.content.failure
    said = finished.measurements.failure_detail or ""
    code = f" {failure.code}" if failure and failure.code and failure.code not in said else ""
    line = " ".join(said.split())[:200]
    cause = failure.cause.replace("_", " ") if failure else "unknown"
    return f"The first was {finished.content.query_id!r}: {cause}{code}{f', {line}' if line else ''}"


def _has_failed(task: asyncio.Task[Any]) -> bool:
    """Whether what came back is a failure; a task that broke is heard of elsewhere."""
    if task.cancelled() or task.exception() is not None:
        return False
    finished = task.result().finished
    return finished is not None and finished.failed


class Job:
    """One run of a job in this process, over a journal whose lease it holds."""

    def __init__(
        self,
        journal: Log[Any],
        questioner: Asker,
        world: Units,
        *,
        paces: Paces,
        ceiling: Ceiling,
        most_failures: int,
        clock: Clock,
        writer: Writer,
        put: Callable[[bytes], object],
        told: Told = Told(),  # noqa: B008  it is frozen
        first: Callable[[list[Any]], None] | None = None,
    ) -> None:
        """`first` is called in the thread that writes, with what was done, before a line of it is in the journal."""
        self._journal, self._questioner, self._paces, self._ceiling = journal, questioner, paces, ceiling
        self._clock, self._writer, self._put = clock, writer, put
        keys = world.keys
        self._total, self._most = len(keys), most_failures
        self._waiting = Waiting(keys, journal.entries.__contains__, world.after)
        self._told, self._first = told, first
        self._full = self._ended = False
        for entry in journal.entries.values():
            ceiling.settle(0, entry.facts)
        self._resumed, self._failures = len(journal.entries), journal.failures
        self._failing = self._failures
        """Of what came back, on the disk or not: no more is begun than the error budget has room for."""
        self._why = ""
        self._tasks: dict[asyncio.Task[Any], tuple[Key, Account]] = {}
        """What is out, and what came back and is not on the disk yet."""
        self._back = 0
        """How many of them came back."""
        self._done: list[asyncio.Task[Any]] = []
        """What came back and is not being written yet."""
        self._writing: asyncio.Future[Any] | None = None
        self._broken: BaseException | None = None
        self._news = asyncio.Event()
        self._over = False
        self._progress: Progress = Silent()
        self._on_point: Callable[[str], None] = no_point

    def report_to(self, progress: Progress, on_point: Callable[[str], None] = no_point) -> None:
        """Who is told how far the job is, and what is called at its points."""
        self._progress, self._on_point = progress, on_point

    async def run(self, stop: asyncio.Event) -> None:
        """Ask everything that is not in the journal. Returns when all is there.

        Raises Interrupted when `stop` is set, ErrorBudgetError when too much failed, CeilingError when what is spent
        leaves no room for another question; finished questions are kept.
        """
        self._progress.begin(self.standing())
        state = "stopped"
        stopping = asyncio.ensure_future(stop.wait())
        stopping.add_done_callback(lambda _: self._news.set())
        try:
            self._check_budget()
            while self._waiting or self._tasks:
                self._news.clear()
                await self._start()
                if self._full and not self._tasks:
                    raise self._no_room()
                self._progress.tick(self.standing())
                await self._hear()
                self._check_budget()
                if stop.is_set():
                    await self._settle()
                    if self._waiting or self._tasks:
                        raise self._interrupted()
            state = "complete"
        except CeilingError:
            state = "stopped at the ceiling"
            raise
        except ErrorBudgetError:
            state = "failed"
            raise
        except (Interrupted, asyncio.CancelledError):
            state = "interrupted"
            await self._settle()
            self._journal.move("interrupted", self._clock.now(), pace=self._paces.take())
            raise
        finally:
            stopping.cancel()
            await self._settle()
            self._over = True
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_TICK_S)
            self._progress.end(self.standing(), state)

    async def _start(self) -> None:
        """Begin what there is room for, one after another: all at once, the first request would go out with the last.

        What is sent apart is answered apart, and what one answer costs is then done while others are waited for.
        """
        self._full = self._ended
        while self._has_room() and not self._news.is_set():
            if self._tasks and self._paces.hold_s > 0:
                return
            key = self._waiting.take()
            if key is None:
                return
            account = Account(self._ceiling.reserve, asyncio.get_running_loop().time)
            if not account.may_call():
                self._waiting.put_back(key)
                self._full = True
                return
            self._on_point("before_ask")
            task = asyncio.ensure_future(self._questioner.ask(key, account))
            self._tasks[task] = key, account
            task.add_done_callback(self._note)
            for _ in range(_TURNS if self._has_room() else 0):
                await asyncio.sleep(0)

    def _has_room(self) -> bool:
        out, allowed = len(self._tasks) - self._back, self._paces.allowed
        open_ = bool(self._waiting) and not self._ended and self._failing <= self._most
        return open_ and out < allowed and self._back <= allowed

    async def _hear(self) -> None:
        """Wait until something is on the disk, or failed to get there, or a moment is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_TICK_S):
                await self._news.wait()
        if self._broken is not None:
            raise self._broken

    def _note(self, task: asyncio.Task[Any]) -> None:
        """A question came back: another one may begin while it goes to the disk."""
        self._back += 1
        if not self._over:
            self._failing += _has_failed(task)
            self._news.set()
            self._done.append(task)
            self._push()

    def _push(self) -> None:
        """Write what came back, unless a write is on its way: what comes back meanwhile goes with the next one."""
        if self._writing is not None or self._broken is not None or not self._done:
            return
        try:
            made = self._gather()
        except BaseException as cause:  # noqa: BLE001  it belongs to whoever runs the job
            self._broken = cause
            self._news.set()
            return
        if made:
            self._writing = self._writer.begin(self._write, list(made.values()))
            self._writing.add_done_callback(partial(self._written, made))

    def _gather(self) -> dict[asyncio.Task[Any], Any]:
        """What came back, in that order, as it will stand in the journal."""
        made: dict[asyncio.Task[Any], Any] = {}
        new: set[str] = set()
        done, self._done = self._done, []
        for task in done:
            key, account = self._tasks[task]
            asked = task.result()
            self._on_point("after_answer")
            if asked.finished is None:  # the ceiling has no room for the rest of it
                self._forget(task)
                self._ceiling.settle(account.reserved, asked.spent)
                self._waiting.put_back(key)
                self._ended = True
                self._news.set()
                continue
            self._ceiling.settle(account.reserved, asked.finished.facts)
            made[task] = asked._replace(finished=self._line(asked.finished, len(made), new))
        return made

    def _written(self, made: dict[asyncio.Task[Any], Any], writing: asyncio.Future[Any]) -> None:
        """A write is over: what is on the disk is counted."""
        self._writing = None
        self._news.set()
        try:
            writing.result()
            for task, asked in made.items():
                self._forget(task)
                self._waiting.finished(asked.finished.key)
                if not asked.finished.failed:
                    self._paces.succeeded()
                else:
                    self._failures += 1
                    self._why = self._why or self._told.why(asked.finished)
        except BaseException as cause:  # noqa: BLE001  it belongs to whoever runs the job
            self._broken = cause
        self._push()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        del self._tasks[task]
        self._back -= 1

    async def _settle(self) -> None:
        """Wait until everything that came back is on the disk."""
        while self._writing is not None:
            await asyncio.wait({self._writing})

    def _line(self, finished: Any, place: int, new: set[str]) -> Any:
        """A finished unit as its line holds it: its order, the texts that are new, and what the pace did."""
        known = self._journal.texts
        texts = {digest: text for digest, text in finished.texts.items() if digest not in known and digest not in new}
        new.update(texts)
        return finished.placed(len(self._journal.entries) + place, texts, self._paces.take())

    def _write(self, made: list[Any]) -> None:
        for asked in made:
            if asked.raw is not None:
                self._put(asked.raw)
        if self._first is not None:
            self._first(made)
        self._journal.append_all([asked.finished for asked in made])

    def _check_budget(self) -> None:
        if self._failures > self._most:
            raise ErrorBudgetError(
                f"{self._failures} of {many(self._total, self._told.one, self._told.several)} failed; {self._most} may "
                "(max_error_rate)" + (f". {self._why}" if self._why else ""),
                hint=self._told.budget_hint,
            )

    def _no_room(self) -> CeilingError:
        done = len(self._journal.entries)
        return CeilingError(
            f"stopped at the ceiling: {self._ceiling.describe()}; {done} of {self._told.many(self._total)} "
            f"{self._told.done} and kept, and another one might pass it",
            hint=self._told.ceiling_hint,
        )

    def _interrupted(self) -> Interrupted:
        return Interrupted(
            f"stopped; {len(self._journal.entries)} of {self._told.many(self._total)} finished and kept",
            hint="the same command again goes on from there",
        )

    def standing(self) -> Standing:
        """Where the job is now."""
        return Standing(
            done=len(self._journal.entries),
            total=self._total,
            failures=self._failures,
            in_flight=len(self._tasks) - self._back,
            limit=self._paces.allowed,
            resumed=self._resumed,
            declared=self._paces.limit,
            cause=self._paces.tightest.cause,
            hold_s=self._paces.hold_s,
            spent=self._ceiling.describe(),
            noun=(self._told.one, self._told.several),
        )
