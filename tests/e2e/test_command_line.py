"""The command line as a person uses it: every command on a small project, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path

import pytest

BLOCK = Path(__file__).with_name("no_network")


def call(
    *words: str, cwd: Path, check: int | None = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One command in a process that cannot open a socket."""
    environment = {**os.environ, "PYTHONPATH": str(BLOCK), "PYTHONWARNINGS": "error", **(env or {})}
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert "Traceback" not in done.stderr, done.stderr
    if check is not None:
        assert done.returncode == check, (done.stdout, done.stderr)
    return done


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that init wrote, run, scored and reported."""
    folder = tmp_path_factory.mktemp("project")
    call("init", "p", cwd=folder)
    for words in (["corpus", "add"], ["benchmark", "build"], ["seal"], ["run"], ["score"], ["report"]):
        done = call(*words, cwd=folder / "p")
        assert done.stdout
        assert done.stderr.splitlines()[-1].startswith("next: ")
    return folder / "p"


def test_the_report_is_written_in_three_forms_that_agree(project: Path) -> None:
    html = (project / "report" / "scorecard.html").read_text("utf-8")
    markdown = (project / "report" / "scorecard.md").read_text("utf-8")
    data = json.loads((project / "report" / "scorecard.json").read_text("utf-8"))
    assert "default-src 'none'" in unescape(html)
    assert markdown.startswith("# ")
    assert isinstance(data, dict)


@pytest.mark.parametrize(
    "words",
    [
        ["corpus", "add"], ["corpus", "show"], ["benchmark", "build"], ["benchmark", "show"], ["seal"],
        ["seal", "--check"], ["run"], ["run", "--dry-run"], ["score"], ["report"], ["measures"], ["measures", "ndcg"],
        ["store", "check"], ["store", "refs"], ["store", "show", "run/latest"], ["doctor"], ["schema"],
        ["schema", "caseline"], ["schema", "system"], ["schema", "settings"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_json_is_the_only_thing_on_standard_output(project: Path, words: list[str]) -> None:
    json.loads(call(*words, "--json", cwd=project).stdout)


def test_running_again_asks_nothing_and_changes_nothing(project: Path) -> None:
    first = json.loads(call("run", "--json", cwd=project).stdout)
    second = json.loads(call("run", "--json", cwd=project).stdout)
    assert first == second


def test_a_second_store_gets_the_same_content_digests(project: Path, tmp_path: Path) -> None:
    here = json.loads(call("run", "--json", cwd=project).stdout)
    there = json.loads(call("run", "--json", "--store", str(tmp_path / "other"), cwd=project).stdout)
    assert (here["subject"], here["content"]) == (there["subject"], there["content"])
    scores = [
        json.loads(call("score", "--json", *store, cwd=project).stdout)["content"]
        for store in ([], ["--store", str(tmp_path / "other")])
    ]
    assert scores[0] == scores[1]


def test_a_changed_byte_anywhere_is_found_before_scoring(project: Path, tmp_path: Path) -> None:
    blobs = sorted(path for path in (project / ".ragassay" / "blobs").rglob("*") if path.is_file())
    assert len(blobs) > 8
    for path in blobs:
        before = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        found = call("store", "check", cwd=project, check=5)
        assert path.name in found.stdout
        path.write_bytes(before)
        path.chmod(0o444)
    call("store", "check", cwd=project)
    sealed = json.loads(call("seal", "--json", cwd=project).stdout)
    corpus = json.loads(call("store", "show", sealed["objects"]["corpus"], "--json", cwd=project).stdout)
    name = corpus["blob"].removeprefix("sha256:")
    path = project / ".ragassay" / "blobs" / "sha256" / name[:2] / name
    before = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    assert name[:12] in call("score", cwd=project, check=5).stderr
    assert name[:12] in call("seal", "--check", cwd=project, check=5).stderr
    path.write_bytes(before)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["foo"], "error: Unknown command"),
        (["\x1b[31mfoo"], 'error: Unknown command "\N{REPLACEMENT CHARACTER}[31mfoo"'),
        (["run", "--\x1b]0;title\x07"], "error: Unknown option: --\N{REPLACEMENT CHARACTER}]0;title"),
        (["run", "--no-reusme"], "Did you mean --no-resume?"),
        (["run", "--nme", "x"], "--name"),
        (["schema", "cas"], "did you mean 'case'"),
        (["measures", "recal"], "did you mean 'recall'"),
        (["score", "nothing"], "nothing"),
        (["report", "nothing"], "nothing"),
        (["store", "show", "run/nothing"], "run/nothing"),
        (["run", "--config", "nowhere.toml"], "ragassay init"),
        (["store", "check", "--store", "nowhere"], "nowhere"),
        (["init", "."], "already there"),
        (["measure", "nowhere.qrels", "nowhere.run"], "nowhere.qrels"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_exit_two_with_a_way_on(project: Path, words: list[str], expected: str) -> None:
    assert expected in call(*words, cwd=project, check=2).stderr


def test_a_wrong_line_in_a_data_file_is_named(project: Path, tmp_path: Path) -> None:
    call("init", "p", cwd=tmp_path)
    cases = tmp_path / "p" / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8") + '{"query_id": "x", "qery": "?"}\n', "utf-8")
    error = call("benchmark", "build", cwd=tmp_path / "p", check=2).stderr
    assert "cases.jsonl:5" in error
    assert "did you mean 'query'" in error


def test_an_interrupt_keeps_what_was_finished_and_the_same_command_goes_on(tmp_path: Path) -> None:
    call("init", "p", cwd=tmp_path)
    folder = tmp_path / "p"
    (folder / "slow.py").write_text(
        "import time\ndef answer(request):\n"
        "    with open('asked', 'a') as file:\n        file.write(request.query_id + '\\n')\n"
        "    time.sleep(0.5)\n    return {'answer': 'x', 'contexts': []}\n"
    )
    toml = folder / "ragassay.toml"
    toml.write_text(
        toml.read_text("utf-8")
        .replace('kind = "reference"', 'kind = "python"\ncallable = "slow:answer"')
        .replace("evidence_floor", "# evidence_floor")
        .replace("concurrency = 4", "concurrency = 1")
    )
    process = subprocess.Popen([sys.executable, "-m", "ragassay", "run"], cwd=folder, stderr=subprocess.PIPE, text=True)
    asked = folder / "asked"
    deadline = time.monotonic() + 60
    while not (asked.exists() and len(asked.read_text().split()) >= 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    call("run", cwd=folder)
    names = asked.read_text().split()
    assert set(names) == {"retry", "rate", "drafts", "price"}
    assert len(names) <= 5, "only the question in flight may be asked twice"


def test_a_report_of_a_run_that_nobody_scored_scores_it_first(tmp_path: Path) -> None:
    call("init", "p", cwd=tmp_path)
    folder = tmp_path / "p"
    assert "`ragassay run` makes" in call("report", cwd=folder, check=2).stderr
    call("run", cwd=folder)
    assert "was not scored yet" in call("report", cwd=folder).stderr
    assert "was not scored yet" not in call("report", cwd=folder).stderr
    call("run", "--name", "by-name", cwd=folder)
    assert "by-name was not scored yet" in call("report", "by-name", cwd=folder).stderr
    call("run", "--name", "second", cwd=folder)
    assert "was not scored yet" in call("report", cwd=folder).stderr


def test_the_next_command_works_where_this_one_was_given(tmp_path: Path) -> None:
    call("init", "my folder", cwd=tmp_path)
    where = ["--config", "my folder/ragassay.toml", "--store", "the store"]
    for words in (["run"], ["score"]):
        last = call(*words, *where, cwd=tmp_path).stderr.splitlines()[-1]
        assert last.endswith("--config 'my folder/ragassay.toml' --store 'the store'")
    again = call("run", *where, cwd=tmp_path).stderr
    assert "nothing was asked" in again
    call("run", "--name", "other", *where, cwd=tmp_path)
    again = json.loads(call("run", "--json", *where, cwd=tmp_path).stdout)
    call("score", *where, cwd=tmp_path)
    scored = json.loads(call("store", "show", "scores/latest", *where, cwd=tmp_path).stdout)
    assert scored["run_record"] == again["run"], "a run that was asked for again is the newest"


def test_a_table_in_the_store_is_shown_as_json_lines(project: Path) -> None:
    scores = json.loads(call("store", "show", "scores/latest", cwd=project).stdout)
    rows = [json.loads(line) for line in call("store", "show", scores["estimates"], cwd=project).stdout.splitlines()]
    assert {"measure", "attempted", "scored"} <= set(rows[0])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('kind = "reference"', 'kind = "refrence"', "ragassay.toml:23: system.kind: there is no kind"),
        ("evidence_floor", "evidence_flor", "ragassay.toml:24: system.evidence_flor: unknown key"),
        ('kind = "reference"', 'kind = "http"\nurl = "http://127.0.0.1:1/"', "it belongs to kind = 'reference'"),
    ],
)
def test_a_wrong_system_is_named_with_file_and_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    call("init", "p", cwd=tmp_path)
    toml = tmp_path / "p" / "ragassay.toml"
    toml.write_text(toml.read_text("utf-8").replace(old, new, 1), "utf-8")
    assert expected in call("run", cwd=tmp_path / "p", check=2).stderr


def test_the_example_answers_what_it_can_and_declines_the_rest(project: Path) -> None:
    run = json.loads(call("store", "show", "run/latest", cwd=project).stdout)
    contents = map(json.loads, call("store", "show", run["contents"], cwd=project).stdout.splitlines())
    outcomes = {one["query_id"]: one["answer"]["outcome"] for one in contents}
    assert outcomes == {"retry": "answered", "rate": "answered", "drafts": "answered", "price": "abstained"}


def test_too_many_failures_say_what_the_first_one_was(tmp_path: Path) -> None:
    call("init", "p", cwd=tmp_path)
    folder = tmp_path / "p"
    (folder / "broken.py").write_text("def answer(request):\n    return request['nowhere']\n")
    toml = folder / "ragassay.toml"
    text = toml.read_text("utf-8").replace('kind = "reference"', 'kind = "python"\ncallable = "broken:answer"')
    text = re.sub(r"(?m)^concurrency = \d+", "concurrency = 2", text)
    toml.write_text(text.replace("evidence_floor", "# evidence_floor"), "utf-8")
    error = call("run", cwd=folder, check=4).stderr
    assert "max_error_rate" in error
    assert "The first was" in error
    assert "exception" in error
    report = call("report", "--out", "r", cwd=folder).stdout
    told = re.search(
        r"ended early \(error budget\): (\d) of 4 questions were asked, (\d) of them failed, the others", report
    )
    assert told, report
    assert told[1] == told[2] in {"1", "2"}, "nothing is begun once a question failed that may not"
    assert f"{told[1]} already in the journal" in call("run", cwd=folder, check=4).stderr
    assert "already in the journal" not in call("run", "--no-resume", cwd=folder, check=4).stderr
