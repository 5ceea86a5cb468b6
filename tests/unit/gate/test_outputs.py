"""What a decision becomes: lines, JSON, JUnit, Markdown, the step summary, the scorecard, queue and reviews."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml
from tests.unit.gate.project import FLOOR, GOOD, POLICY, RECALL, Project

from ragassay.benchmark import read_cases

WORSE = GOOD.replace('f"d{number}"', 'f"d{0 if int(number) < 4 else number}"').replace(
    'f"The answer is word{number}."}]', 'f"The answer is word{0 if int(number) < 4 else number}."}]'
)
"""Right but for q1, q2 and q3."""
REVIEWED = f"{POLICY.replace(str(0.8), str(0.6))}[policy.review]\n{RECALL}largest = 5\n"


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda **given: Project(tmp_path, capsys, **given)


def test_every_form_says_the_same(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(system=WORSE, policy=POLICY.replace("0.8", "0.99"))
    project.run()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("# before\n")
    code, out, _ = project.do("gate", "--junit", "g.xml", "--md", "g.md", "--summary", "--as-of", "2099-01-01")
    assert code == 1
    last = out.strip().splitlines()[-1]
    assert last == (
        "Fail: recall(rel=2)@5 at context: at least 0.99 [answerable] (0 of 1 result of policy release hold)."
    )
    assert "27 of" not in out
    assert "see: q1, q2, q3" in out
    suites = JUnitXml.fromfile(str(tmp_path / "g.xml"))
    assert (suites.tests, suites.failures) == (2, 2)
    for text in ((tmp_path / "g.md").read_text(), (tmp_path / "summary.md").read_text()):
        assert "**Fail: " in text
        assert "q1, q2, q3" in text
    assert (tmp_path / "g.md").read_text().startswith("<!-- ragassay gate -->\n")
    assert (tmp_path / "summary.md").read_text().startswith("# before\n## Gate: candidate")
    code, decision = project.gate()
    assert (code, decision["exit_code"], decision["outcome"]) == (1, 1, "fail")
    assert decision["sentence"] == last


def test_the_scorecard_opens_with_the_decision(make: Any, tmp_path: Path) -> None:
    project = make()
    project.run()
    card = json.loads(project.do("report", "--json")[1])
    assert card["verdict"]["lead"] == "Not decided: policy release has rules, and no gate has read them."
    project.gate()
    code, out, _ = project.do("report", "--json", "--junit", str(tmp_path / "r.xml"))
    card = json.loads(out)
    assert card["verdict"]["lead"] == "Pass: the one result of policy release holds."
    assert card["verdict"]["outcome"] == "pass"
    assert "Pass: the one result of policy release holds." in (tmp_path / "report" / "scorecard.html").read_text()
    suites = JUnitXml.fromfile(str(tmp_path / "r.xml"))
    assert (suites.tests, suites.failures, suites.skipped) == (31, 0, 0)
    project.policy(POLICY.replace("0.8", "0.99"))
    (tmp_path / "strict.toml").write_text(project.said)
    code, _ = project.gate("--policy", "strict.toml")
    assert code == 3
    card = json.loads(project.do("report", "--json")[1])
    assert card["verdict"]["outcome"] == "inconclusive", "a later decision on the same scores replaces the first"


def test_the_same_records_give_the_same_decision(make: Any) -> None:
    project = make()
    project.run()
    assert project.gate()[1]["decision"] == project.gate()[1]["decision"]
    code, out, _ = project.do("store", "check")
    assert code == 0, out


def test_another_policy_than_the_sealed_one_calls_a_person(make: Any, tmp_path: Path) -> None:
    project = make(policy="")
    project.run()
    (tmp_path / "late.toml").write_text(POLICY)
    code, decision = project.gate("--policy", "late.toml")
    assert (code, decision["outcome"], project.reasons(decision)) == (3, "review", {"policy_not_sealed"})


def test_a_policy_in_a_file_of_its_own_is_sealed(make: Any, tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(POLICY)
    project = make(policy='[policy]\nfile = "release.toml"\n')
    assert project.do("policy", "check")[0] == 0
    project.run()
    assert project.gate()[0] == 0
    project.policy('[policy]\nfile = "release.toml"\nname = "x"\n')
    code, _, err = project.do("run")
    assert code == 2
    assert "names a file and says more" in err


def test_stale_evidence(make: Any) -> None:
    project = make(policy=POLICY.replace('"release"', '"release"\nmax_age_days = 30'))
    project.run()
    assert project.gate(as_of=False)[0] == 0
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (3, {"stale_evidence"})


def test_a_mixed_run(make: Any) -> None:
    mixed = GOOD.replace('"contexts": [{', '"versions": {"model": "a" if int(number) else "b"}, "contexts": [{')
    project = make(system=mixed)
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (3, {"mixed_run"})


def test_reviews_are_written_filled_in_and_read(make: Any, tmp_path: Path) -> None:
    project = make(policy=REVIEWED)
    project.run("before")
    project.system(WORSE)
    project.run("after")
    code, decision = project.gate("after", "--baseline", "before", "--to-review", "todo.toml")
    assert (code, project.reasons(decision)) == (3, {"review_absent"})
    todo = (tmp_path / "todo.toml").read_text()
    assert [line for line in todo.splitlines() if line.startswith("query_id")] == [
        'query_id = "q1"', 'query_id = "q2"', 'query_id = "q3"',
    ]  # fmt: skip
    assert '# loss of 1\n# question: "What is 1?"' in todo
    code, decision = project.gate("after", "--baseline", "before", "--reviews", "todo.toml")
    assert project.reasons(decision) == {"review_absent"}, "nothing was filled in"
    half = todo.replace('by = ""', 'by = "Ada"', 1)
    (tmp_path / "half.toml").write_text(half)
    code, told = project.gate("after", "--baseline", "before", "--reviews", "half.toml")
    assert code == 2
    assert "half.toml:" in told["error"]
    assert "fill in all four, or none" in told["error"]
    full = todo.replace('by = ""', 'by = "Ada"').replace('at = ""', "at = 2099-01-01")
    full = full.replace('verdict = ""', 'verdict = "acceptable"').replace('reason = ""', 'reason = "looked"')
    (tmp_path / "full.toml").write_text(full)
    code, decision = project.gate("after", "--baseline", "before", "--reviews", "full.toml")
    assert (code, decision["outcome"]) == (0, "pass")
    assert [one["by"] for one in decision["reviews"]] == ["Ada"] * 3
    assert project.gate("after", "--baseline", "before")[0] == 0, "they are kept in the store"
    code, told = project.gate("before", "--baseline", "after", "--reviews", "full.toml")
    assert code == 2
    assert "about another candidate" in told["error"]
    (tmp_path / "no.toml").write_text(full.replace('"acceptable"', '"not_acceptable"', 1).replace("12-01", "12-02"))
    code, decision = project.gate("after", "--baseline", "before", "--reviews", "no.toml")
    assert (code, project.reasons(decision)) == (1, {"not_acceptable"})


def test_the_queue_comes_back_as_candidates(make: Any, tmp_path: Path) -> None:
    """Context recall of the one with two pieces of evidence is 0.5 where 0.5 is needed."""
    policy = f"{POLICY}near = 0.05\n".replace(FLOOR, "") + FLOOR + f"[[policy.needs]]\n{RECALL}at_least = 0.5\n"
    project = make(policy=policy)
    rows = [project.case(one) for one in range(30)]
    rows[7]["evidence"].append({"id": "e2", "document_id": "d8", "grade": 3, "quote": "word8"})
    rows[7]["facts"].append({"id": "f2", "any_of": [["e2"]]})
    project.cases(rows)
    project.run()
    code, _ = project.gate("--queue", "queue.jsonl")
    assert code == 0
    (case,) = read_cases(tmp_path / "queue.jsonl")
    assert (case.query_id, case.paraphrase_of, case.slice) == ("q7~near", "q7", ("split=candidate",))
    assert case.notes == "candidate: missing_evidence; recall(rel=2)@5 0.5 holds at 0.5; verdict good"
    project.cases([*rows, json.loads((tmp_path / "queue.jsonl").read_text())])
    project.run("next")
    code, decision = project.gate("next")
    assert (code, decision["results"][0]["attempted"]) == (0, 30), "an unconfirmed candidate is in no rule"
