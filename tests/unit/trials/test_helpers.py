"""Settings asked in two processes: the same record as in one, whatever becomes of the other one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import exit_code_of
from ragassay.cli.experiment import Making
from ragassay.cli.experiment_helpers import FEWEST_QUESTIONS, FEWEST_SETTINGS, helpers
from ragassay.records.experiment import Experiment
from ragassay.records.protocol import Run
from ragassay.run.lease import Lease, held
from ragassay.store import Store
from ragassay.trials.asking import alone
from ragassay.trials.grid import read_experiment


def record_of(store: Path) -> tuple[Experiment, list[str]]:
    opened = Store.open(store)
    record = opened.get_record(Experiment, opened.ref("experiment/small"))
    return record, [opened.get_record(Run, one.run).content for one in record.tried]


def asked(project: Path, store: str, *words: str) -> int:
    return exit_code_of(["experiment", str(project / "grid.toml"), "--store", str(project / store), *words])


def test_two_processes_give_what_one_gives(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(project, "one", "--processes", "1") == 0
    first = capsys.readouterr().out
    assert asked(project, "two", "--processes", "2") == 0
    assert capsys.readouterr().out.splitlines()[-3:] == first.splitlines()[-3:]
    (one, content), (two, again) = record_of(project / "one"), record_of(project / "two")
    assert again == content
    assert (two.chosen, two.tied, [row.subject for row in two.tried]) == (
        one.chosen, one.tied, [row.subject for row in one.tried])  # fmt: skip
    assert Store.open(project / "two").check("deep").ok


def test_a_helper_that_cannot_begin_is_done_without(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ragassay.cli.experiment_helpers._START", "raise SystemExit(3)")
    assert asked(project, "store", "--processes", "3") == 0
    assert len(record_of(project / "store")[0].tried) == 4
    capsys.readouterr()


def test_a_helper_ends_when_its_input_does_and_leaves_no_lease(project: Path) -> None:
    start = "from ragassay.cli.experiment_helpers import help_out; help_out()"
    line = [sys.executable, "-P", "-c", start, str(project / "grid.toml"), str(project / "store"), "0", "1"]
    helper = subprocess.Popen(line, stdin=subprocess.PIPE)
    assert helper.stdin is not None
    helper.stdin.close()  # as when the first process is killed
    assert helper.wait(60) in (0, 1)
    assert not any(held(one) for one in (project / "store").rglob("*.lock"))
    assert asked(project, "store") == 0


def test_a_job_that_somebody_else_runs_is_said_and_not_waited_for(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(project, "store", "--dry-run") == 0
    assert asked(project, "store") == 0
    (journal, *_) = sorted((project / "store").rglob("*.lock"))
    lease = Lease(journal)
    try:
        assert held(journal)
        capsys.readouterr()
        assert asked(project, "store") == 2
        assert f"process {os.getpid()} is running this job" in capsys.readouterr().err
    finally:
        lease.release()
    assert not held(journal)
    assert not held(journal.with_name("nothing"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "small"\n', 'name = "small"\nshare = false\n', "time of each step is measured"),
        ("[experiment.grid]\n", '[experiment.grid]\n"system.rerank" = [{ kind = "python", callable = "own:score" }]\n',
         "your own"),
    ],
)  # fmt: skip
def test_what_must_be_one_process_is(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, words: str
) -> None:
    (project / "own.py").write_text("def score(query, texts):\n    return [1.0] * len(texts)\n", "utf-8")
    grid = (project / "grid.toml").read_text("utf-8")
    (project / "grid.toml").write_text(grid.replace(old, new), "utf-8")
    assert asked(project, "store", "--processes", "2") == 2
    assert words in capsys.readouterr().err
    assert asked(project, "store", "--processes", "0") == 2
    assert "1 or more" in capsys.readouterr().err


def test_little_to_ask_is_asked_by_one_process_unless_more_are_wanted(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr("ragassay.cli.experiment_helpers._begin", lambda *given: begun.append(given))
    monkeypatch.setattr("ragassay.cli.experiment_helpers._end", lambda one: None)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    making = Making(read_experiment(project / "grid.toml"), project / "store")
    for settings, questions, wanted, processes in (
        (FEWEST_SETTINGS - 1, FEWEST_QUESTIONS, None, 0),
        (FEWEST_SETTINGS, FEWEST_QUESTIONS - 1, None, 0),
        (FEWEST_SETTINGS, FEWEST_QUESTIONS, None, 3),
        (2, 16, 9, 1),
        (0, 0, 2, 0),
    ):
        begun.clear()
        with helpers(making, wanted)(settings, questions):
            assert len(begun) == max(processes, 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert helpers(making, None) is alone


def test_killed_with_its_helper_and_begun_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [sys.executable, "-m", "ragassay", "experiment", str(project / "grid.toml"), "--processes", "2"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(held(one) for one in (project / ".ragassay").rglob("*.lock")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(held(one) for one in (project / ".ragassay").rglob("*.lock")):
        time.sleep(0.01)  # the helper ends with it
    assert exit_code_of(["experiment", str(project / "grid.toml"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["record"]["tried"]) == 4
    assert Store.open(project / ".ragassay").check("deep").ok
