"""Run the mutants that have not been run: each in a fork of one process that has imported everything and the tests.

    python tools/mutants_run.py [--again] [--sample N [--seed S]] [--tests PATH,PATH] [--minutes M] [--hold FILE]
                                [PART_OF_A_NAME...]

--again: those that survived, too. --sample: only those of a random sample (tools/mutants_drawn.py). --tests: only
these, for the mutants that survived. --minutes: stop then; the next run goes on. --hold: wait while this file is there.

`mutmut` makes the mutants and keeps their state (mutants/, *.meta); it would start a test run for each of them, which
takes many times as long. Here only the tests that call the changed function run, until one fails: first those that
noticed another mutant of it, then the quickest.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from mutants_drawn import drawn, number, option

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "mutants"
SURVIVED, NO_TEST, NOTICED, STRANGE = 0, 33, 1, 3
"""Exit codes as mutmut keeps them; a signal's is its number, negative: too long, or a crash."""
EVERY_S = 20.0
"""How often the state is written, so that a run that is stopped goes on where it was."""


def make() -> None:
    """Write the mutants into the copy; those of functions that did not change keep their state."""
    code = (
        "import mutmut.__main__ as M; M.set_mutant_under_test('mutant_generation'); M.copy_src_dir(); "
        "M.copy_also_copy_files(); M.setup_source_paths(); M.create_mutants(1)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


class Wanted(NamedTuple):
    """Which mutants to run, and for how long."""

    parts: list[str]
    again: bool
    sample: int | None
    seed: int
    minutes: int | None
    tests: list[str]
    hold: Path | None

    @classmethod
    def of(cls, arguments: list[str]) -> Wanted:
        """From the command line."""
        left = list(arguments)
        sample, seed, minutes = (number(left, option) for option in ("--sample", "--seed", "--minutes"))
        tests, hold = option(left, "--tests"), option(left, "--hold")
        return cls(
            [one for one in left if one != "--again"], "--again" in left, sample, seed or 0, minutes,
            tests.split(",") if tests else [], Path(hold) if hold else None,
        )  # fmt: skip


class State:
    """What is known of each mutant, by the file that mutmut keeps it in."""

    def __init__(self) -> None:
        self.files = {path: json.loads(path.read_text("utf-8")) for path in sorted(Path("src").rglob("*.meta"))}
        self.changed: set[Path] = set()
        self.written = time.monotonic()

    def to_run(self, wanted: Wanted) -> list[tuple[Path, str]]:
        """Mutants without a result, in a random order that is always the same."""
        again: set[int | None] = {SURVIVED, NO_TEST} if wanted.again or wanted.tests else set()
        found = {
            name: path
            for path, data in self.files.items()
            for name, code in data["exit_code_by_key"].items()
            if not wanted.parts or any(part in name for part in wanted.parts)
        }
        folders = {name: path.parent.as_posix() for name, path in found.items()}
        names = drawn(folders, len(found) if wanted.sample is None else wanted.sample, wanted.seed)
        codes = {name: self.files[found[name]]["exit_code_by_key"][name] for name in names}
        fresh: set[int | None] = set() if wanted.tests else {None}
        return [(found[name], name) for name, code in codes.items() if code in again | fresh]

    def keep(self, path: Path, name: str, code: int) -> None:
        """Note one result, and write all now and then."""
        self.files[path]["exit_code_by_key"][name] = code
        self.changed.add(path)
        if time.monotonic() - self.written > EVERY_S:
            self.write()

    def write(self) -> None:
        """Write what changed, each file as a whole."""
        for path in self.changed:
            beside = path.with_suffix(".new")
            beside.write_text(json.dumps(self.files[path], indent=4), "utf-8")
            beside.replace(path)
        self.changed, self.written = set(), time.monotonic()


class Forks:
    """A plugin: instead of running the tests once, it runs the mutants."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.ends = math.inf if wanted.minutes is None else time.monotonic() + 60 * wanted.minutes

    def pytest_runtestloop(self, session: Any) -> bool:
        """First each test once, to see what it calls; then mutant after mutant."""
        import ragassay

        if not Path(str(ragassay.__file__)).is_relative_to(COPY):
            sys.exit(f"the tests import {ragassay.__file__}, not the mutants in {COPY}")
        if session.testsfailed:
            sys.exit("not every test could be imported: see them with pytest in mutants/")
        state = State()
        todo = state.to_run(self.wanted)
        calls = called_by(session.items)
        noticed: dict[str, Counter[str]] = defaultdict(Counter)
        gc.collect()
        gc.freeze()  # what is there is not looked through, and so not copied, in every fork
        print(f"{len(todo)} mutants to run; each test was run once in {time.process_time():.0f} s", flush=True)
        for count, (path, name) in enumerate(todo, 1):
            if time.monotonic() > self.ends:
                break
            function = name.rpartition("__mutmut_")[0]
            own = calls.get(function, [])
            own.sort(
                key=lambda pair: (-noticed[function][pair[1].nodeid], -noticed[path.name][pair[1].nodeid], pair[0])
            )
            while self.wanted.hold and self.wanted.hold.exists():
                state.write()
                time.sleep(0.5)
            begin = time.monotonic()
            code, by = in_a_fork(name, own) if own else (NO_TEST, "")
            state.keep(path, name, code)
            if by:
                noticed[function][by] += 1
                noticed[path.name][by] += 1
            print(f"{count}/{len(todo)} {code:3} {time.monotonic() - begin:6.2f} s {name} {by}", flush=True)
        state.write()
        return True


def called_by(items: list[Any]) -> dict[str, list[tuple[float, Any]]]:
    """The tests that call each function, with their CPU seconds; a test that fails without a mutant is left out."""
    import mutmut.mutation.trampoline as trampoline

    called: set[str] = set()
    trampoline.record_trampoline_hit = lambda name, *_, **__: called.add(name)
    os.environ["MUTANT_UNDER_TEST"] = "stats"
    found: dict[str, list[tuple[float, Any]]] = defaultdict(list)
    for at, item in enumerate(items):
        called.clear()
        begin = time.process_time()
        if failed(item, items[at + 1] if at + 1 < len(items) else None):
            print(f"fails without a mutant: {item.nodeid}", flush=True)
            continue
        for function in called:
            found[function].append((time.process_time() - begin, item))
    return found


def failed(item: Any, following: Any) -> bool:
    """Run one test."""
    from _pytest.runner import runtestprotocol

    return any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))


def in_a_fork(name: str, own: list[tuple[float, Any]]) -> tuple[int, str]:
    """Exit code of the mutant, and the test that noticed it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os._exit(as_mutant(name, own, write))
    os.close(write)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test may have left running
    with os.fdopen(read) as pipe:
        return os.waitstatus_to_exitcode(status), pipe.read()


def as_mutant(name: str, own: list[tuple[float, Any]], write: int) -> int:
    """In the fork: the tests, one after another, until one fails; a signal ends one that works or waits too long."""
    os.setpgid(0, 0)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.environ["MUTANT_UNDER_TEST"] = name
    try:
        for at, (seconds, item) in enumerate(own):
            limit_s = math.ceil(time.process_time() + 4 * seconds + 2)
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))
            signal.alarm(math.ceil(20 * seconds + 30))
            if failed(item, own[at + 1][1] if at + 1 < len(own) else None):
                os.write(write, item.nodeid.encode())
                return NOTICED
    except BaseException:  # noqa: BLE001  a mutant may raise anything, also what pytest does not catch
        return STRANGE
    return SURVIVED


def main(arguments: list[str]) -> int:
    """Make the mutants, then start again inside their copy and run them."""
    if not os.environ.get("MUTANT_UNDER_TEST"):
        make()
        environment = {"RAGASSAY_MUTANTS": "1", "CI": "1", "PYTHONDONTWRITEBYTECODE": "1",
                       "MUTANT_UNDER_TEST": "stats", "PYTHONPATH": str(COPY / "src")}  # fmt: skip
        command = [sys.executable, __file__, *arguments]
        return subprocess.run(command, cwd=COPY, env=os.environ | environment, check=False).returncode
    import pytest

    own = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    options = ["-p", "no:terminalreporter", "-s", *own["pytest_add_cli_args"]]
    wanted = Wanted.of(arguments)
    tests = wanted.tests or own["pytest_add_cli_args_test_selection"]
    return int(pytest.main([*options, *tests], plugins=[Forks(wanted)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
