"""`ragassay diff` over a store that holds two runs of one small example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli import diff as command
from ragassay.cli.init import init
from ragassay.cli.run import run
from ragassay.cli.score import score
from ragassay.errors import StoreError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of the example: the passages of the second are half as long, and only the first one is scored."""
    monkeypatch.chdir(tmp_path)
    init()
    run(name="before")
    score("before")
    settings = tmp_path / "ragassay.toml"
    text = settings.read_text()
    assert "\nsize = 120 " in text
    settings.write_text(text.replace("\nsize = 120 ", "\nsize = 60 "))
    run(name="after")
    return tmp_path


def test_the_one_change_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    command.diff("before", "after")
    told = capsys.readouterr().out
    assert "changed: 1\n  segmentation  size: 120 -> 60\n" in told
    assert "facts lost anew: not known, since not both runs are scored" in told
    score("after")
    capsys.readouterr()
    command.diff("before", "after", json=True)
    made = json.loads(capsys.readouterr().out)
    assert [(one["artefact"], one["before"], one["after"]) for one in made["changes"]] == [
        ("segmentation", "120", "60")
    ]
    assert made["losses"] == []


def test_a_run_against_itself(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    command.diff("before", "before")
    told = capsys.readouterr().out
    assert "changed: nothing that is recorded" in told
    assert "begin here" not in told


def test_a_run_that_is_not_there(project: Path) -> None:
    with pytest.raises(StoreError, match="there is no run/nothing"):
        command.diff("nothing", "after")
