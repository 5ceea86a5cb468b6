"""How far a run is: a bar on a terminal, else a plain line every ten seconds on stderr. Writes nothing to stdout."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from ragassay.records.text import many
from ragassay.run.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

LINE_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run is."""

    done: int
    total: int
    failures: int
    in_flight: int = 0
    limit: int = 0
    resumed: int = 0
    """Questions that were already in the journal when this process began."""
    declared: int = 0
    """The limit that was declared; `limit` is the one in force."""
    cause: str = ""
    """Why the limit was cut."""
    hold_s: float = 0.0
    """Seconds for which the system asked that nothing be sent."""
    spent: str = ""
    """What is spent under the ceilings that are set."""
    noun: tuple[str, str] = ("question", "questions")
    """What a unit is called, and several of them."""


class Progress(Protocol):
    """What a run reports to. `tick` is called after every question and at least once a second."""

    def begin(self, standing: Standing) -> None:
        """The run starts or goes on."""
        ...

    def tick(self, standing: Standing) -> None:
        """Something may have changed."""
        ...

    def end(self, standing: Standing, state: str) -> None:
        """The run stops, in this state."""
        ...


class Silent:
    """Reports nothing."""

    def begin(self, standing: Standing) -> None:
        """Nothing."""

    def tick(self, standing: Standing) -> None:
        """Nothing."""

    def end(self, standing: Standing, state: str) -> None:
        """Nothing."""


class Noticing:
    """Hands everything on, and knows whether anything was asked at all."""

    def __init__(self, inner: Progress) -> None:
        self._inner = inner
        self.begun = False

    def begin(self, standing: Standing) -> None:
        """Hand on, and remember."""
        self.begun = True
        self._inner.begin(standing)

    def tick(self, standing: Standing) -> None:
        """Hand on."""
        self._inner.tick(standing)

    def end(self, standing: Standing, state: str) -> None:
        """Hand on."""
        self._inner.end(standing, state)


class Lines:
    """One plain line at the start, every ten seconds, and at the end."""

    def __init__(self, stream: TextIO | None = None, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._last_s = 0.0
        self._began_s = 0.0

    def begin(self, standing: Standing) -> None:
        """Say how many questions there are and how many were already done."""
        self._began_s = self._last_s = self._clock.steady_s()
        already = f", {standing.resumed} already in the journal" if standing.resumed else ""
        self._say(f"{many(standing.total, *standing.noun)}{already}")

    def tick(self, standing: Standing) -> None:
        """A line if ten seconds have passed since the last."""
        now = self._clock.steady_s()
        if now - self._last_s >= LINE_EVERY_S:
            self._last_s = now
            self._say(f"{describe(standing)}, {now - self._began_s:.0f} s")

    def end(self, standing: Standing, state: str) -> None:
        """The last figures and the state."""
        self._say(f"{describe(standing)}, {self._clock.steady_s() - self._began_s:.0f} s: {state}")

    def _say(self, line: str) -> None:
        with suppress(OSError):  # that nobody listens any more stops no run
            print(line, file=self._stream, flush=True)


class Bar:
    """A progress bar on a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bar: RichProgress | None = None

    def begin(self, standing: Standing) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn(), console=Console(file=self._stream)
        )
        self._bar.add_task(describe(standing), total=standing.total, completed=standing.done)
        self._bar.start()

    def tick(self, standing: Standing) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=standing.done, description=describe(standing))

    def end(self, standing: Standing, state: str) -> None:
        """Leave the bar as it is and name the state."""
        self.tick(standing)
        if self._bar is not None:
            self._bar.stop()
            self._bar.console.print(f"{describe(standing)}: {state}", markup=False, highlight=False)


def describe(standing: Standing) -> str:
    """`120/600 questions, 3 failed, 4 in flight, 4 at once instead of 8 (429), held for 12 s`."""
    failed = f", {standing.failures} failed" if standing.failures else ""
    flight = f", {standing.in_flight} in flight" if standing.in_flight else ""
    cut = f", {standing.limit} at once instead of {standing.declared}" if standing.limit < standing.declared else ""
    cut += f" ({standing.cause})" if cut and standing.cause else ""
    held = f", held for {standing.hold_s:.0f} s" if standing.hold_s >= 1 else ""
    spent = f", {standing.spent}" if standing.spent else ""
    return f"{standing.done}/{many(standing.total, *standing.noun)}{failed}{flight}{cut}{held}{spent}"


def choose(stream: TextIO | None = None) -> Progress:
    """A bar if the stream (default: stderr) is a terminal, else lines."""
    target = stream or sys.stderr
    return Bar(target) if target.isatty() else Lines(target)
