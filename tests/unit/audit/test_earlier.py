"""What was said before stays, and is shown behind the newest with who took it back and why, in an exported file too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project
from tests.unit.run.judges.world import Overlap, RunWorld
from tests.unit.score.score_material import scoring

from ragassay import assay, report
from ragassay.audit.archive import export, unpack
from ragassay.audit.explain import explain
from ragassay.cli import exit_code_of
from ragassay.errors import LedgerError
from ragassay.gate.reviews import add_review
from ragassay.records.base import Digest, Instant, QueryId
from ragassay.records.decision import Review
from ragassay.records.judgement import JudgementSet
from ragassay.records.protocol import Run
from ragassay.records.score import ScoreTable
from ragassay.seal.evidence import About, verify_evidence
from ragassay.store import Store
from ragassay.store.superseding import supersessions
from ragassay.trials.people import draw, import_verdicts, sample_text

__all__ = ["made_once", "project"]


@pytest.fixture
def world(tmp_path: Path) -> RunWorld:
    """Anna says that everything is supported, and takes it back."""
    made = RunWorld(tmp_path, questions=6)
    made.judge(Overlap(), name="words")
    drawn = draw(made.store, made.digest, ["words"], size=6, about=("claim",), plain=True)
    for label, reason in (("supported", ""), ("unsupported", "read the rubric again")):
        path = tmp_path / f"{label}.jsonl"
        path.write_text(sample_text(drawn, "jsonl").replace('"label": ""', f'"label": "{label}"'))
        import_verdicts(made.store, made.digest, path, author="anna", rubric="r", reason=reason)
    made.judge(Overlap(version="2"), name="words")
    ran = {"run": Digest(made.digest), "protocol": made.store.get_record(Run, made.digest).protocol}
    made.store.ledger.record("ran", ran, Instant("2026-08-01T00:00:00Z"))
    asked = made.store.put_record(scoring("faithfulness", judges=("words", "anna")))
    assay.measure(made.store, Digest(made.digest), asked, name="judged")
    return made


def about_of(world: RunWorld) -> About:
    return About(Digest(world.digest), world.store.ref("scores/judged"))


def test_the_newest_verdict_counts_and_the_one_before_stands_behind_it(world: RunWorld, tmp_path: Path) -> None:
    hops = explain(world.store, about_of(world), question(world))
    own = [(one.what, one.told) for one in hops if one.made_by == "judge anna (person)"]
    assert [what for what, _ in own] == ["verdict", "verdict before"]
    assert ": unsupported" in own[0][1]
    assert ": supported" in own[1][1]
    assert "by anna: read the rubric again" in own[1][1]
    path = tmp_path / "evidence.zip"
    with path.open("wb") as file:
        export(world.store, Digest(world.digest), file, version="0")
    unpack(path, tmp_path / "elsewhere")
    other = Store.open(tmp_path / "elsewhere")
    assert explain(other, about_of(world), question(world)) == hops
    assert supersessions(other) == supersessions(world.store)


def question(world: RunWorld) -> str:
    """One on which anna ruled."""
    table = world.store.get_record(ScoreTable, world.store.ref("scores/judged"))
    record = world.store.get_record(JudgementSet, table.judged["anna"])
    return str(next(iter(world.store.get_lines(dict, record.judgements)))["query_id"])


def test_the_scorecard_says_what_was_taken_back(world: RunWorld) -> None:
    card = report.scorecard(world.store, world.store.ref("scores/judged"))
    around = {one.label: one.value or "" for one in card.identity.circumstances}
    assert "1 time; " in around["superseded: verdicts of anna"]
    assert "by anna: read the rubric again" in around["superseded: verdicts of anna"]
    assert "judged again with another" in around["superseded: verdicts of words"]


def test_verdicts_that_were_replaced_behind_the_ledger_s_back_do_not_verify(world: RunWorld) -> None:
    store = world.store
    verify_evidence(store, about_of(world))
    path = store.ledger.path
    kept = [line for line in path.read_bytes().splitlines(keepends=True) if b'"act":"superseded"' not in line]
    assert len(kept) == len(store.ledger.lines()) - 2
    path.unlink()
    for line in kept[1:]:
        entry = json.loads(line)
        store.ledger.record(entry["act"], entry["objects"], entry["at"])
    with pytest.raises(LedgerError, match="does not know who did that and why"):
        verify_evidence(store, about_of(world))


def test_a_review_that_somebody_took_back(world: RunWorld) -> None:
    store = world.store
    tables = {"candidate": store.ref("scores/judged"), "baseline": store.ref("scores/judged")}
    words = [
        Review(query_id=QueryId("q1"), by=by, at=Instant(at), verdict=verdict, reason=why, **tables)  # type: ignore[arg-type]
        for by, at, verdict, why in (
            ("Ada", "2026-08-01T00:00:00Z", "acceptable", "a synonym"),
            ("Bo", "2026-08-02T00:00:00Z", "acceptable", "fine"),
            ("ada", "2026-08-03T00:00:00Z", "not_acceptable", "the date is wrong"),
        )
    ]
    before = len(supersessions(store))
    first, _, last = [add_review(store, one) for one in words]
    add_review(store, words[2])  # the same file read again
    (told,) = supersessions(store)[before:]
    assert (told.kind, told.old, told.new) == ("review", first, last)
    assert (told.by, told.reason) == ("ada", "the date is wrong")


def test_labels_that_were_edited(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = Path("cases.jsonl").read_text()
    Path("cases.jsonl").write_text(cases.replace('"What is 3?"', '"What is number 3?"'))
    settings = Path("ragassay.toml").read_text()
    named = settings.replace("[benchmark]", '[benchmark]\nedited_by = "Ada"\nedited_why = "question 3 was unclear"', 1)
    Path("ragassay.toml").write_text(named)
    assert exit_code_of(["run", "--name", "edited"]) == 0
    assert exit_code_of(["score", "edited"]) == 0
    capsys.readouterr()
    assert exit_code_of(["explain", "edited", "q3", "--json"]) == 0
    hops = json.loads(capsys.readouterr().out)
    (before,) = [one for one in hops if one["what"] == "question and labels before"]
    assert "'What is 3?'" in before["told"]
    assert "by Ada: question 3 was unclear" in before["told"]
    assert exit_code_of(["explain", "edited", "q4"]) == 0
    assert "before" not in capsys.readouterr().out
    assert exit_code_of(["store", "history", "benchmark/benchmark", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["by"], told["reason"]) == ("benchmark", "Ada", "question 3 was unclear")
    assert exit_code_of(["store", "history"]) == 0
    assert "in place of" in capsys.readouterr().out
    Path("ragassay.toml").write_text(settings)
    Path("cases.jsonl").write_text(cases)
    assert exit_code_of(["benchmark", "build"]) == 0
    store = Store.open(project / ".ragassay")
    assert [one.by for one in supersessions(store)] == ["Ada", "not recorded"]
    assert exit_code_of(["verify", "edited"]) == 0
    assert exit_code_of(["store", "check"]) == 0
