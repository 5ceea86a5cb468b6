"""Data sets of other tools through the command line: `[benchmark]` and `[system]` keys to rows worked out by hand."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import exit_code_of

Rows = dict[tuple[str, str], dict[str, str]]
RAIN, SNOW = "Rain falls from clouds.", "Snow is frozen rain."
RUN = '[run]\nas_of = "2026-08-01"\n'
SCORING = '[scoring]\nmeasures = ["recall(rel=2)@5", "context_tokens", "token_f1"]\n'
RAGAS = [
    {"user_input": "What is snow?", "retrieved_contexts": [RAIN, "Nothing of the kind."], "reference_contexts": [SNOW],
     "response": "Frozen.", "reference": "Frozen rain."},
    {"user_input": "What is rain?", "retrieved_contexts": [RAIN], "reference_contexts": [RAIN], "response": "Water.",
     "reference": "Water."},
    {"user_input": "What is hail?", "retrieved_contexts": [], "reference_contexts": [SNOW], "response": "Ice."},
    {"user_input": "Nobody answered?", "reference_contexts": [SNOW]},
]  # fmt: skip


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Rows]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RAGAS))

    def go(settings: str) -> Rows:
        Path("ragassay.toml").write_text(settings)
        assert exit_code_of(["run"]) == 0
        assert exit_code_of(["score"]) == 0
        assert exit_code_of(["export", "rows.csv"]) == 0
        with Path("rows.csv").open(newline="") as file:
            return {(one["query_id"], one["measure"]): one for one in csv.DictReader(file)}

    return go


def by_place(rows: Rows, measure: str) -> list[tuple[str, str]]:
    """(status, value or reason) of a measure, in the order in which questions stand in the table."""
    return sorted((one["status"], one["value"] or one["reason"]) for (_, name), one in rows.items() if name == measure)


def test_a_ragas_file_is_the_questions_and_the_system(scored: Any) -> None:
    rows = scored(
        '[benchmark]\ncases = "set.jsonl"\nformat = "ragas"\n'
        '[system]\nkind = "ragas"\nfile = "set.jsonl"\n[run]\nas_of = "2026-08-01"\nmax_error_rate = 0.5\n' + SCORING
    )
    assert by_place(rows, "recall(rel=2)@5") == [
        ("error", "invalid_response"),  # no response and no context: nothing is stored of it, and that is no empty list
        ("missing", "unknown_items"),  # "Nothing of the kind." might be the gold text in other words
        ("value", "0.0"),  # retrieved nothing
        ("value", "1.0"),
    ]
    # "Rain falls from clouds." is 4 words and a full stop, "Nothing of the kind." too, though it stands in no document
    tokens = [("error", "invalid_response"), ("value", "0.0"), ("value", "10.0"), ("value", "5.0")]
    assert by_place(rows, "context_tokens") == tokens
    # "frozen" against "frozen rain": precision 1, recall 1/2; "What is hail?" has no reference answer
    f1 = dict.fromkeys(by_place(rows, "token_f1"))
    assert ("value", str(2 / 3)) in f1
    assert ("value", "1.0") in f1


def test_deepeval_cells_with_separator_slices_and_skipped_lines(
    scored: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "g.csv").write_text(
        "input,actual_output,context,retrieval_context,additional_metadata\n"
        f'What is snow?,Frozen.,{SNOW};{RAIN},{RAIN},"{{""level"": ""hard""}}"\n'
        f"Broken,x\n"
        f'What is rain?,Water.,{RAIN},{RAIN},"{{""level"": ""easy""}}"\n'
    )
    rows = scored(
        '[benchmark]\ncases = "g.csv"\nformat = "deepeval"\nseparator = ";"\nslices = ["level"]\non_error = "skip"\n'
        '[system]\nkind = "deepeval"\nfile = "g.csv"\nseparator = ";"\non_error = "skip"\n' + RUN + SCORING
    )
    assert by_place(rows, "recall(rel=2)@5") == [("value", "0.5"), ("value", "1.0")]
    assert "questions: 1 left out of g.csv (on_error = skip): line 3" in capsys.readouterr().err, "run says it too"
    assert exit_code_of(["export", "e.csv", "--table", "estimates"]) == 0
    with Path("e.csv").open(newline="") as file:
        found = {one["slice"]: one["value"] for one in csv.DictReader(file) if one["measure"] == "recall(rel=2)@5"}
    assert (float(found["level=hard"]), float(found["level=easy"])) == (0.5, 1.0)


def test_a_run_says_how_many_documents_it_went_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.jsonl").write_text(json.dumps({"document_id": "a", "text": RAIN, "tenants": ["*"]}) + "\n{broken\n")
    Path("c.jsonl").write_text(json.dumps({"query_id": "q", "query": "Rain?"}) + "\n")
    Path("ragassay.toml").write_text(
        '[corpus]\ndocuments = "d.jsonl"\non_error = "skip"\n[benchmark]\ncases = "c.jsonl"\n'
        '[system]\nkind = "reference"\n' + RUN
    )
    assert exit_code_of(["run"]) == 0
    assert "documents: 1 left out (on_error = skip)" in capsys.readouterr().err


@pytest.mark.parametrize(("alignment", "found"), [("", "1.0"), ("alignment = 0.0\n", "unknown_items")])
def test_alignment_is_that_of_the_run(scored: Any, tmp_path: Path, alignment: str, found: str) -> None:
    long = "Rain falls when warm air rises and cools, and the water in it condenses into drops that fall."
    row = {"input": "Why?", "context": [long], "retrieval_context": [long.replace(" ", "\n ")], "actual_output": "x"}
    (tmp_path / "g.json").write_text(json.dumps([row]))
    rows = scored(
        '[benchmark]\ncases = "g.json"\nformat = "deepeval"\n[system]\nkind = "deepeval"\nfile = "g.json"\n'
        + RUN + alignment + SCORING
    )  # fmt: skip
    ((_, value),) = by_place(rows, "recall(rel=2)@5")
    assert value == found


def test_redaction_reaches_texts_that_stand_nowhere(scored: Any, tmp_path: Path) -> None:
    row = {
        "input": "Who?",
        "context": [RAIN],
        "retrieval_context": ["Call 0221-4711 now."],
        "actual_output": "0221-4711",
    }
    (tmp_path / "g.json").write_text(json.dumps([row]))
    rows = scored(
        '[benchmark]\ncases = "g.json"\nformat = "deepeval"\n[system]\nkind = "deepeval"\nfile = "g.json"\n'
        + RUN + SCORING + "[redact.patterns]\nphone = '[0-9]{4}-[0-9]{4}'\n"
    )  # fmt: skip
    assert by_place(rows, "context_tokens")[0][0] == "value"
    kept = b"".join(one.read_bytes() for one in sorted((tmp_path / ".ragassay").rglob("*")) if one.is_file())
    assert b"Call [redacted:phone] now." in kept
    assert not re.search(rb"(?<![0-9a-f])4711(?![0-9a-f])", kept)  # digests are random here and may hold these digits
    assert b"-4711" not in kept


@pytest.mark.parametrize(
    ("form", "file", "text", "more", "cases"),
    [
        ("csv", "q.csv", "Frage;Antwort\nWas?;Das.\nWer?;Der.\n",
         'columns = { query = "Frage", answers = "Antwort" }\ndelimiter = ";"\n', 2),
        ("squad", "s.json", json.dumps({"data": [{"title": "t", "paragraphs": [{"context": RAIN, "qas": [
            {"id": "1", "question": "What falls?", "answers": [{"text": "Rain", "answer_start": 0}]}]}]}]}), "", 1),
        ("ir_datasets", "q.tsv", "q1\twhat falls\n", 'qrels = "qrels"\n', 1),
        ("mteb", "q.jsonl", '{"_id": "q1", "text": "what falls"}\n', 'qrels = "qrels.jsonl"\n', 1),
    ],
)  # fmt: skip
def test_each_format_builds_by_its_own_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, form: str, file: str, text: str, more: str, cases: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_text(text)
    (tmp_path / "qrels").write_text("q1 0 rain.md 1\n")
    (tmp_path / "qrels.jsonl").write_text('{"query-id": "q1", "corpus-id": "rain.md", "score": 1}\n')
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "rain.md").write_text(RAIN)
    Path("ragassay.toml").write_text(
        '[corpus]\ndocuments = "documents"\ndefault_tenants = ["*"]\n'
        f'[benchmark]\ncases = "{file}"\nformat = "{form}"\n{more}[system]\nkind = "reference"\n' + RUN
    )
    assert exit_code_of(["benchmark", "build", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"] == cases


@pytest.mark.parametrize(
    ("benchmark", "system", "words"),
    [
        ('split = "test"', "", ["benchmark.split", "takes no split", "ragassay.toml"]),
        ('columns = { query = "q" }', "", ["benchmark.columns", "takes no columns"]),
        ('slices = ["level"]', "", ["benchmark.slices", "takes no slices"]),
        ('format = "ragass"', "", ["benchmark.format"]),
        ('on_error = "ignore"', "", ["benchmark.on_error"]),
        ("", "alignment = 0.8", ["system.alignment", "unknown key"]),
        ("", "separato = '#'", ["system.separato", "did you mean 'separator'"]),
    ],
)
def test_keys_that_do_not_fit_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, benchmark: str, system: str, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RAGAS))
    form = "" if benchmark.startswith("format") else 'format = "ragas"\n'
    Path("ragassay.toml").write_text(
        f'[benchmark]\ncases = "set.jsonl"\n{form}{benchmark}\n'
        f'[system]\nkind = "ragas"\nfile = "set.jsonl"\n{system}\n' + RUN
    )
    assert exit_code_of(["seal"]) == 2
    said = capsys.readouterr().err
    for word in words:
        assert word in said
