"""SIGKILL at random moments and at every named point, each run resumed until it is done."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ragassay.run.executing import POINTS
from trials.lives import Trial, build, promise, reference_digest, server

MOST_KILLS_A_RUN = 20


def kill_at(point: str, time_number: int) -> Callable[[str], None]:
    """A hook that kills its own process the n-th time a point is reached."""
    seen: Counter[str] = Counter()

    def hook(name: str) -> None:
        seen[name] += 1
        if name == point and seen[name] == time_number:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def run_kills(*, kills: int, runs: int, questions: int, seed: int, times: tuple[int, ...]) -> list[tuple[str, str]]:
    """The trial; figures as (what, value). Raises TrialError when a promise is broken.

    `times`: at each named point the process is killed the n-th time it gets there, for each n.
    """
    chance = random.Random(seed)
    began = time.monotonic()
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="ragassay-trials-") as name, server() as port:
        folder = Path(name)
        protocol = build(folder / "base", questions=questions)
        reference = reference_digest(folder / "base", folder / "reference", protocol, port, questions)
        while totals["kills"] < kills or totals["runs"] < runs:
            trial = Trial(folder / "base", folder / "run", protocol, port, f"random{totals['runs']}")
            random_run(trial, chance, most=min(MOST_KILLS_A_RUN, max(0, kills - totals["kills"])))
            totals.update(trial.check(reference, questions=questions))
            totals["runs"] += 1
            trial.remove()
        points = [(point, number) for point in POINTS for number in times]
        reached = 0
        for point, number in points:
            trial = Trial(folder / "base", folder / "run", protocol, port, f"point-{point}-{number}")
            code = trial.live(on_point=kill_at(point, number))
            if number == 1:
                promise(code == -signal.SIGKILL, f"the point {point} was never reached (exit {code})")
            reached += code == -signal.SIGKILL
            if code != 0:
                promise(trial.live() == 0, f"{point}: the resumed run did not finish")
            totals.update({f"point {key}": value for key, value in trial.check(reference, questions=questions).items()})
            trial.remove()
    equal = totals["runs"] + len(points)
    return [
        ("random kills", str(totals["kills"])),
        ("of them while questions were in flight", str(totals["busy"])),
        ("runs that they were spread over", str(totals["runs"])),
        ("processes", str(totals["lives"])),
        ("questions a run", str(questions)),
        ("requests the server saw", str(totals["asked"])),
        ("of them asked twice (all in flight at a kill)", str(totals["duplicates"])),
        ("journaled questions asked again", "0"),
        ("kills at named points", f"{reached} at {len(POINTS)} points"),
        (
            "content digests equal to the uninterrupted run",
            f"{equal} of {equal}",
        ),
        ("seconds", f"{time.monotonic() - began:.0f}"),
    ]


def random_run(trial: Trial, chance: random.Random, *, most: int) -> None:
    """Kill a run up to `most` times at random moments, then let it finish."""
    while trial.kills < most:
        since = chance.choice(("", "open", "before_ask", "before_ask", "after_answer", "after_answer"))
        code = trial.live(kill_after_s=chance.uniform(0, 0.06 if since else 0.1), since=since)
        if code == 0:
            return
        promise(code == -signal.SIGKILL, f"{trial.name}: a life ended with {code}: {trial.error}")
    promise(trial.live() == 0, f"{trial.name}: the resumed run did not finish: {trial.error}")
