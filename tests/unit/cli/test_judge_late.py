"""A judge that is declared after a run was sealed: the commands say how its numbers are had, and give some."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli import main


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert not ended.value.code
    found = capsys.readouterr()
    return found.out, found.err


def test_judge_says_how_its_numbers_are_had_and_score_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said(capsys, "init", ".")
    said(capsys, "run")
    with Path("ragassay.toml").open("a", encoding="utf-8") as file:
        file.write('\n[judges.words]\nkind = "lexical"\n')
    assert "next: ragassay score --judge words" in said(capsys, "judge")[1]

    def measures(*words: str) -> set[str]:
        return {one["measure"] for one in json.loads(said(capsys, "score", "--json", *words)[0])["estimates"]}

    assert not [one for one in measures() if "by=" in one], "the sealed scoring knows no judge"
    assert "faithfulness(by=words)" in measures("--judge", "words")
    only = {one for one in measures("--judge", "words", "--measure", "correctness") if "by=" in one}
    assert only == {"correctness(by=words)"}, "asked measures are not added to"
