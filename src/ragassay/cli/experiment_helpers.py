"""Further processes that ask settings of an experiment. They only finish jobs of its store; the first one reads them.

A helper that fails or is killed changes nothing but time: what it did not finish, the first process asks. A helper ends
when the first process does, however that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from ragassay.errors import UsageError
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.reference import ReferenceSystem
from ragassay.trials.asking import Alive, Asking, Together, alone
from ragassay.trials.cache import StepCache
from ragassay.trials.sharing import Sharing, shared_parts

if TYPE_CHECKING:
    from ragassay.cli.experiment import Making

MOST = 4
"""Processes, if nobody says how many: each has the documents and indexes in memory."""
FEWEST_SETTINGS, FEWEST_QUESTIONS = 4, 1_000
"""Below these, a further process takes longer to begin than it saves."""
_ENDS_S = 10.0
_START = "from ragassay.cli.experiment_helpers import help_out; help_out()"


def helpers(making: Making, processes: int | None) -> Together:
    """What asks beside this process. UsageError where `processes` asks for what would change what is measured."""
    if processes is not None and processes < 1:
        raise UsageError(f"{processes} processes", field="processes", hint="1 or more")
    why = _why_alone(making)
    if why and (processes or 1) > 1:
        raise UsageError(f"{why}: one process only", field="processes", hint="leave out --processes")
    wanted = processes or min(MOST, os.cpu_count() or 1)
    if why or wanted < 2:
        return alone

    @contextmanager
    def together(settings: int, questions: int) -> Iterator[Alive]:
        few = settings < FEWEST_SETTINGS or questions < FEWEST_QUESTIONS
        count = min(wanted - 1, settings - 1) if processes or not few else 0
        begun = [_begin(making, number, count + 1) for number in range(1, count + 1)]
        try:
            yield lambda: any(one.poll() is None for one in begun)
        finally:
            for one in begun:
                _end(one)

    return together


def _why_alone(making: Making) -> str:
    """Why all settings are asked in one process; empty if they need not be."""
    if not making.declared.section.share:
        return "without sharing the time of each step is measured"
    for one in making.systems():
        local = isinstance(one, PipelineSystem) and not one.endpoint and shared_parts(one)
        if not local and not isinstance(one, ReferenceSystem):
            return "a system has parts that are not of this machine alone, or that are your own"
    return ""


def _begin(making: Making, share: int, shares: int) -> subprocess.Popen[bytes]:
    line = [
        sys.executable,
        "-P",
        "-c",
        _START,
        str(making.declared.path),
        str(making.store.path),
        str(share),
        str(shares),
    ]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603  this Python, and paths


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def help_out() -> None:
    """The whole of a helping process: argv is file, store, share, shares; standard input ends when it must."""
    from ragassay.cli.experiment import Making
    from ragassay.run.progress import Silent
    from ragassay.trials.grid import read_experiment

    threading.Thread(target=_end_with_input, daemon=True).start()
    file, store, share, shares = sys.argv[1:5]
    with redirect_stdout(sys.stderr):
        making = Making(read_experiment(Path(file)), Path(store))
        sharing = Sharing(StepCache.of_store(making.store.path))
        progress: Any = Silent
        try:
            asking = Asking(making.store, making.declared, making.choice, making.ready, sharing, progress=progress)
            anyio.run(asking.help_out, int(share), int(shares))
        finally:
            sharing.cache.close()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)  # the first process is gone or has finished; what is in a journal stays there
