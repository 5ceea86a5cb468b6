"""From a judged run to people and back, by commands: sample, import, calibrate, score under another threshold."""

from __future__ import annotations

import csv
import json
import socket
from pathlib import Path

import pytest
from tests.unit.run.judges.world import Overlap, RunWorld

from ragassay.cli import exit_code_of
from ragassay.records.judgement import JudgeIdentity

ANSWER = "The ferry leaves at 07:40 on weekdays [1]. A day return costs 19 euros [2]."


@pytest.fixture
def world(tmp_path: Path) -> RunWorld:
    made = RunWorld(tmp_path, questions=30, answer=lambda _: ANSWER)
    made.judge(Overlap(), name="words")
    return made


def say(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = exit_code_of(list(words))
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_whole_way(
    world: RunWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = ("--store", str(world.store.path))
    read = ("--judge", "words", "--measure", "faithfulness")
    code, out, _ = say(capsys, "judge", "sample", "judged", "--out", "people.csv", "--size", "40", "--random",
                       "--about", "claim", *store)  # fmt: skip
    assert (code, "40 items, random" in out) == (0, True)
    rows = list(csv.DictReader(Path("people.csv").read_text().splitlines(keepends=True)))
    assert len(rows) == 40
    for row in rows:
        row["label"] = "supported" if "07:40" in row["statement"] else "contradicted"
    with Path("people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    code, _, err = say(capsys, "judge", "calibrate", "words", *store)
    assert code == 2
    assert "no person has ruled" in err
    code, out, _ = say(capsys, "judge", "import", "people.csv", "--author", "anna", "--rubric", "support/1", *store)
    assert (code, "40 rows read" in out) == (0, True)
    code, out, _ = say(capsys, "judge", "calibrate", "words", *store)
    assert code == 0
    assert "sensitivity 1.000" in out
    assert "specificity 1.000" in out
    code, out, _ = say(capsys, "score", "judged", *read, *store, "--json")
    assert code == 0
    found = {(one["aggregation"]): one for one in json.loads(out)["estimates"] if "faithfulness" in one["measure"]}
    assert found["micro"]["value"] == 0.5

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", never)
    code, out, _ = say(capsys, "score", "judged", *read, "--judge-threshold", "words=0.5", *store, "--json")
    assert code == 0
    assert next(one["value"] for one in json.loads(out)["estimates"] if "faithfulness" in one["measure"]) == 1.0
    code, _, err = say(capsys, "judge", "calibrate", "words", "--threshold", "0.6", *store)
    assert code == 0
    _, _, err = say(capsys, "report", "judged", "--out", "report", *store)
    assert "newer judgements or a newer calibration of words are in force" in err
    code, out, _ = say(capsys, "explain", "judged", "q001", *store)
    assert code == 0
    assert "c2, repeat 0: " in out
    code, out, _ = say(capsys, "report", "judged", "--out", "report", *store)
    assert code == 0
    assert "words (lexical) is uncalibrated: it was held against people under another threshold" in out
    assert "Scored under another scoring layer than the protocol names: a protocol variation" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("score", "judged", "--judge", "words", "--judge-threshold", "words"), "'words' is no threshold"),
        (("score", "judged", "--judge", "words", "--judge-threshold", "words=nan"), "'words=nan' is no threshold"),
        (("score", "judged", "--judge-threshold", "ghost=0.5"), "no judge 'ghost' is read"),
        (("score", "judged", "--measure", "faithfullness"), "there is no measure named 'faithfullness'"),
        (("judge", "sample", "judged", "--out", "people.txt"), "ends with neither .csv nor .jsonl"),
        (("judge", "sample", "judged", "--out", "no/such/people.csv"), "cannot be written"),
        (("judge", "import", "gone.csv", "--author", "a", "--rubric", "r", "--run", "judged"), "cannot be read"),
        (("judge", "calibrate", "ghost", "--run", "judged"), "ghost has not judged this run"),
    ],
)
def test_what_is_wrong_is_told_without_a_traceback(
    world: RunWorld, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    code, _, err = say(capsys, *words, "--store", str(world.store.path))
    assert code == 2
    assert says in err


SETTINGS = """
[benchmark]
cases = "cases.jsonl"
[system]
kind = "reference"
[run]
as_of = "2026-08-01"
[judges.both]
kind = "panel"
members = ["words", "other"]
"""


def test_a_panel_of_the_settings_reads_what_its_members_said(
    world: RunWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Other(Overlap):
        def __init__(self) -> None:
            self.identity = JudgeIdentity(name="other", kind="semantic")
            self.judged = 0

    world.judge(Other(), name="other")
    config = tmp_path / "ragassay.toml"
    config.write_text(SETTINGS)
    where = ("--config", str(config), "--store", str(world.store.path))
    code, _, err = say(capsys, "judge", "run", "judged", "--dry-run", *where)
    assert code == 0
    assert "both: a panel asks nothing; it reads the verdicts of words, other" in err
    code, out, _ = say(capsys, "judge", "run", "judged", *where)
    assert code == 0
    assert out.startswith("judge both sha256:")
    assert "150 of 150 items have a verdict, complete" in out
