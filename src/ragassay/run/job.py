"""The loop of a job: starts questions, makes each finished one durable, and knows when to stop. Writes no manifest."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec

from ragassay.errors import ErrorBudgetError, Interrupted, UsageError
from ragassay.run.clock import Clock
from ragassay.run.journal import Finished, Journal, Key, no_point
from ragassay.run.pace import Pace
from ragassay.run.progress import Progress, Silent, Standing
from ragassay.run.question import Questioner
from ragassay.run.threads import Writer
from ragassay.run.world import World

_TICK_S = 1.0


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


class Job:
    """One run of a job in this process, over a journal whose lease it holds."""

    def __init__(
        self,
        journal: Journal,
        questioner: Questioner,
        world: World,
        *,
        pace: Pace,
        most_failures: int,
        clock: Clock,
        writer: Writer,
    ) -> None:
        self._journal, self._questioner, self._pace = journal, questioner, pace
        self._clock, self._writer, self._after = clock, writer, world.after
        self._total, self._most = len(world.keys), most_failures
        self._waiting = deque(key for key in world.keys if key not in journal.entries)
        self._resumed, self._failures = len(journal.entries), journal.failures
        self._why = ""
        self._tasks: dict[asyncio.Task[Finished], Key] = {}
        self._progress: Progress = Silent()
        self._on_point: Callable[[str], None] = no_point

    def report_to(self, progress: Progress, on_point: Callable[[str], None] = no_point) -> None:
        """Who is told how far the job is, and what is called at its points."""
        self._progress, self._on_point = progress, on_point

    async def run(self, stop: asyncio.Event) -> None:
        """Ask everything that is not in the journal. Returns when all is there.

        Raises Interrupted when `stop` is set, ErrorBudgetError when too much failed; finished questions are kept.
        """
        self._progress.begin(self.standing())
        state = "stopped"
        stopping = asyncio.ensure_future(stop.wait())
        try:
            self._check_budget()
            while self._waiting or self._tasks:
                self._start()
                await asyncio.wait({*self._tasks, stopping}, timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED)
                await self._collect()
                self._check_budget()
                self._progress.tick(self.standing())
                if stop.is_set() and (self._waiting or self._tasks):
                    raise self._interrupted()
            state = "complete"
        except ErrorBudgetError:
            state = "failed"
            self._journal.move("failed", self._clock.now())
            raise
        except (Interrupted, asyncio.CancelledError):
            state = "interrupted"
            self._journal.move("interrupted", self._clock.now())
            raise
        finally:
            stopping.cancel()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_TICK_S)
            self._progress.end(self.standing(), state)

    def _start(self) -> None:
        while self._waiting and len(self._tasks) < self._pace.allowed:
            if self._tasks and self._pace.hold_s > 0:
                return
            key = self._next()
            if key is None:
                return
            self._on_point("before_ask")
            self._tasks[asyncio.ensure_future(self._questioner.ask(key))] = key

    def _next(self) -> Key | None:
        """The first waiting question of which all earlier turns are finished."""
        for number, key in enumerate(self._waiting):
            if all(one in self._journal.entries for one in self._after(key)):
                del self._waiting[number]
                return key
        return None

    async def _collect(self) -> None:
        """Make every finished question durable, in the order in which they were asked."""
        for task in [one for one in self._tasks if one.done()]:
            del self._tasks[task]
            finished = task.result()
            self._on_point("after_answer")
            await self._keep(finished)
            if self._failures <= self._most:
                self._start()

    async def _keep(self, finished: Finished) -> None:
        new = {digest: text for digest, text in finished.texts.items() if digest not in self._journal.texts}
        order = len(self._journal.entries)
        measurements = msgspec.structs.replace(finished.measurements, completed=order)
        line = msgspec.structs.replace(finished, measurements=measurements, texts=new)
        await self._writer.run(self._journal.append, line)
        if finished.content.failure is None:
            self._pace.succeeded()
        else:
            self._failures += 1
            self._why = self._why or _why(finished)

    def _check_budget(self) -> None:
        if self._failures > self._most:
            raise ErrorBudgetError(
                f"{self._failures} of {self._total} questions failed; {self._most} may (max_error_rate)"
                + (f". {self._why}" if self._why else ""),
                hint="mend the system and begin anew (--no-resume, resume=False), or raise max_error_rate and go on "
                "from here",
            )

    def _interrupted(self) -> Interrupted:
        return Interrupted(
            f"stopped; {len(self._journal.entries)} of {self._total} questions are finished and kept",
            hint="the same command again goes on from there",
        )

    def standing(self) -> Standing:
        """Where the job is now."""
        return Standing(
            done=len(self._journal.entries),
            total=self._total,
            failures=self._failures,
            in_flight=len(self._tasks),
            limit=self._pace.allowed,
            resumed=self._resumed,
        )
