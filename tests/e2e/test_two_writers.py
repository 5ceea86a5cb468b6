"""Two processes that run the same protocol into one store: one wins, the other is told who holds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from trials.evidence import inside, make_project

from ragassay.cli import exit_code_of
from ragassay.store import Store


def test_one_wins_and_the_other_is_told(tmp_path: Path) -> None:
    make_project(tmp_path)
    settings = (tmp_path / "ragassay.toml").read_text()
    (tmp_path / "slow.toml").write_text(settings.replace('"good"', '"slow"'))
    system = (tmp_path / "system.py").read_text()
    (tmp_path / "system.py").write_text(system.replace("import json, sys", "import json, sys, time; time.sleep(2)"))
    words = [sys.executable, "-m", "ragassay", "run", "--name", "slow", "--config", "slow.toml"]
    state = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    both = [
        subprocess.Popen(words, cwd=tmp_path, env=state, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [one.communicate(timeout=120) for one in both]
    codes = [one.returncode for one in both]
    assert sorted(codes) == [0, 2], said
    winner, loser = both[codes.index(0)], said[codes.index(2)]
    assert f"process {winner.pid} is running this job" in loser[1]
    assert "wait for it" in loser[1]
    store = Store.open(tmp_path / ".ragassay")
    assert store.check("deep").ok
    acts = [one.entry.act for one in store.ledger.lines()]
    assert acts.count("began") == acts.count("ran") == 3, "the two runs of before, and one of the two"
    with inside(tmp_path):
        assert exit_code_of(["verify", "slow"]) == 0
