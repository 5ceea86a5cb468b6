"""`ragassay benchmark check` as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.assay import evaluate_sync
from ragassay.benchmark import read_cases
from ragassay.cli import exit_code_of

SETTINGS = """\
[corpus]
documents = "docs.jsonl"
default_tenants = ["*"]
[benchmark]
cases = "{name}.jsonl"
name = "{name}"
completeness = "partial"
[segmentation]
size = 20
overlap = 0
[system]
kind = "reference"
[run]
as_of = "2026-12-01"
"""
DOCUMENTS = [
    {"document_id": "a", "title": "Retry behaviour after commit", "text": "A publish is retried twice."},
    {"document_id": "b", "text": "Seats cost 5 EUR. Exports are free."},
    *({"document_id": f"f{number}", "text": f"the what is and of number {number}"} for number in range(20)),
]
CASES = [
    {
        "query_id": "q1",
        "query": "What is the retry behaviour after commit?",
        "relevant": [{"document_id": "a", "grade": 3}],
    },
    {"query_id": "q2", "query": "How much is a seat?", "relevant": [{"document_id": "b", "grade": 3}]},
]
DANGLING = {"query_id": "q3", "query": "Who may export?", "relevant": [{"document_id": "gone", "grade": 3}]}


def write(folder: Path, name: str, cases: list[dict[str, object]]) -> list[str]:
    (folder / "docs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS), "utf-8")
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cases), "utf-8")
    path = folder / f"{name}.toml"
    path.write_text(SETTINGS.format(name=name), "utf-8")
    return ["--config", str(path)]


def test_strict_alone_makes_the_exit_code_speak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path, "good", CASES)
    bad = write(tmp_path, "bad", [*CASES, DANGLING])
    assert exit_code_of(["benchmark", "check", *good]) == 0
    assert exit_code_of(["benchmark", "check", "--strict", *good]) == 0
    assert exit_code_of(["benchmark", "check", *bad]) == 0
    capsys.readouterr()
    assert exit_code_of(["benchmark", "check", "--strict", *bad]) == 1
    out, err = capsys.readouterr()
    assert "WRONG  1 label on a document or version that the corpus does not hold  [dangling]" in out.splitlines()
    assert "q3/r1 (gone)" in out
    assert "1 wrong" in err
    assert err.splitlines()[-1].startswith("next: ragassay ")


def test_the_same_in_json_from_settings_and_from_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = write(tmp_path, "bad", [*CASES, DANGLING])
    assert exit_code_of(["benchmark", "check", "--json", *given]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["wrong"] == 1
    (found,) = (one for one in first["findings"] if one["code"] == "dangling")
    assert found["places"] == [{"query_id": "q3", "evidence_id": "r1", "detail": "gone"}]
    assert found["questions"] == ["q3"]
    assert first["segmentation"].startswith("sha256:")
    assert exit_code_of(["benchmark", "check", "bad", "--json", *given]) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_dev_against_release_and_wrong_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dev = write(tmp_path, "dev", [{"query_id": "d1", "query": "how much is a SEAT"}])
    release = write(tmp_path, "release", CASES)
    assert exit_code_of(["benchmark", "build", *dev]) == 0
    assert exit_code_of(["benchmark", "check", "--against", "dev", "--strict", *release]) == 1
    assert "q2 ~ d1 [dev]" in capsys.readouterr().out
    for words in (["--against", "dve"], ["nope"], ["--segmentation", "nope"], ["--against", "release"]):
        assert exit_code_of(["benchmark", "check", *words, *release]) == 2, words
        err = capsys.readouterr().err
        assert err.startswith("error: ")
        assert "hint: " in err


def test_a_corpus_that_has_moved_on_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = write(tmp_path, "release", CASES)
    assert exit_code_of(["benchmark", "build", *given]) == 0
    (tmp_path / "docs.jsonl").write_text('{"document_id": "z", "text": "other"}\n', "utf-8")
    assert exit_code_of(["corpus", "add", *given]) == 0
    capsys.readouterr()
    assert exit_code_of(["benchmark", "check", "release", *given]) == 2
    assert "frozen anew" in capsys.readouterr().err


def test_derived_slices_part_the_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = write(tmp_path, "good", CASES)
    target = tmp_path / "derived.jsonl"
    assert exit_code_of(["benchmark", "check", "--write-cases", str(target), *given]) == 0
    assert exit_code_of(["benchmark", "check", "--write-cases", str(target), *given]) == 2, "nothing is overwritten"
    assert "already" in capsys.readouterr().err
    written = {case.query_id: case.slice for case in read_cases(target)}
    assert "derived:lexical=copied" in written["q1"]
    assert "derived:lexical=free" in written["q2"]
    card = evaluate_sync(
        target,
        lambda request: {"answer": "x", "contexts": ["A publish is retried twice."]},
        documents=DOCUMENTS,
        as_of="2026-12-01",
    )
    shown = json.dumps(card.to_json())
    assert "derived:lexical=copied" in shown
    assert "derived:lexical=free" in shown


RELEASE = [{"query_id": "r1", "query": "How much is a seat?", "relevant": [{"document_id": "b", "grade": 3}]}, CASES[0]]


def test_against_takes_a_file_of_questions_and_stores_nothing_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write(tmp_path, "dev", CASES)
    write(tmp_path, "release", RELEASE)
    monkeypatch.chdir(tmp_path)
    assert exit_code_of(["benchmark", "check", *config, "--json", "--against", "release.jsonl"]) == 0
    from_file = json.loads(capsys.readouterr().out)
    assert from_file["against"] == "release.jsonl"
    assert exit_code_of(["benchmark", "build", "--config", "release.toml"]) == 0
    capsys.readouterr()
    assert exit_code_of(["benchmark", "check", *config, "--json", "--against", "release"]) == 0
    from_store = json.loads(capsys.readouterr().out)
    assert from_file["findings"] == json.loads(
        json.dumps(from_store["findings"]).replace('"release"', '"release.jsonl"')
    ), "the same questions, wherever they come from"
    assert {one["code"] for one in from_file["findings"]} > {one["code"] for one in _alone(config, capsys)}


def _alone(config: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    assert exit_code_of(["benchmark", "check", *config, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out)["findings"])


def test_a_name_of_the_store_goes_before_a_file_of_that_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write(tmp_path, "dev", CASES)
    write(tmp_path, "release", RELEASE)
    monkeypatch.chdir(tmp_path)
    assert exit_code_of(["benchmark", "build", "--config", "release.toml"]) == 0
    (tmp_path / "release").write_text("no questions")
    capsys.readouterr()
    assert exit_code_of(["benchmark", "check", *config, "--against", "release"]) == 0
    assert exit_code_of(["benchmark", "check", *config, "--against", "./release"]) == 2
    told = capsys.readouterr().err
    assert "release" in told
    assert exit_code_of(["benchmark", "check", *config, "--against", "releese"]) == 2
    told = capsys.readouterr().err
    assert "a file of questions may be named too" in told


def test_against_a_file_without_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "dev", CASES)
    write(tmp_path, "release", RELEASE)
    monkeypatch.chdir(tmp_path)
    assert exit_code_of(["benchmark", "build", "--config", "dev.toml"]) == 0
    capsys.readouterr()
    arguments = ["benchmark", "check", "dev", "--store", ".ragassay", "--json", "--against", "release.jsonl"]
    assert exit_code_of(arguments) == 0
    assert json.loads(capsys.readouterr().out)["against"] == "release.jsonl"
    assert exit_code_of([*arguments[:-1], "dev.jsonl"]) == 2, "with itself"
