"""`ragassay measure`: data on standard output, talk on standard error, exit codes; the numbers are tested elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay import cli


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 2 t\nq2 Q0 x 1 2 t\nq2 Q0 b 2 1 t\n")
    return [str(tmp_path / "qrels"), str(tmp_path / "run")]


@pytest.mark.parametrize(
    "options, expected",
    [
        (["-m", "map"], "ap(rel=1)  0.7500"),
        (["-m", "rr", "--by-query"], "0.5000"),
        (["-m", "map", "--csv"], "ap(rel=1),0.75,2,2,0,0"),
        (["-m", "map", "--format", "trec"], "map                   \tall\t0.7500"),
        (["-m", "P.1", "--format", "trec", "-q", "--mode", "trec10"], "P_1                   \tq2\t0.0000"),
        (["-m", "ndcg@10", "--mode", "trec"], "ndcg(mode=trec)@10"),
        (["-m", "recall@1", "-l", "1", "-c", "--depth", "1"], "recall(rel=1)@1"),
    ],
)
def test_every_form(files: list[str], capsys: pytest.CaptureFixture[str], options: list[str], expected: str) -> None:
    assert cli.exit_code_of(["measure", *files, *options]) == 0
    out, err = capsys.readouterr()
    assert expected in out
    assert "next:" in err


def test_json_is_one_document(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code_of(["measure", *files, files[1], "-m", "map", "-m", "ndcg@10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["measure"] for one in found["runs"][1]["measures"]] == ["ap(rel=1)", "ndcg@10"]


@pytest.mark.parametrize(
    "options, message",
    [
        (["-m", "nope"], "no measure named 'nope'"),
        (["--format", "xml"], "no format 'xml'"),
        (["--depth", "0"], "--depth is 0"),
        (["-l", "0"], "least relevant grade is 0"),
        (["--mode", "tec"], "no mode 'tec'"),
    ],
)
def test_wrong_usage_is_exit_2(
    files: list[str], capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert cli.exit_code_of(["measure", *files, *options]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert not out


def test_a_broken_file_names_its_line(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with Path(files[1]).open("a") as out:
        out.write("q2 Q0 c 3 zero t\n")
    assert cli.exit_code_of(["measure", *files]) == 2
    assert f"{files[1]}:4" in capsys.readouterr().err
