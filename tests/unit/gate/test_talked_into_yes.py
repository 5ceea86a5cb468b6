"""More ways to be talked into yes, through the command line: each of them passed once, and none does now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.gate.project import FLOOR, GOOD, MEASURES, POLICY, RECALL, Project

CANNOT_TELL, USAGE = 3, 2
P = '[policy]\nname = "p"\n'
MARGIN = f"{P}[[policy.rules]]\n{RECALL}margin = 0.5\n"
EMPTY = 'def answer(request):\n    return {"answer": {"text": "x", "outcome": "answered"}, "contexts": []}\n'
DOWN = "def answer(request):\n    raise OSError('down')\n"


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda **given: Project(tmp_path, capsys, **given)


def scored(project: Project, name: str, **replaced: str) -> None:
    """Ask and score with other settings."""
    project.settings(**replaced)
    for words in (("run", "--name", name), ("score", name)):
        code, out, err = project.do(*words)
        assert code == 0, out + err


@pytest.mark.parametrize(
    ("demand", "system"),
    [
        ('max_errors = 1.0\n[[policy.rules]]\nmeasure = "error_rate"\nat_least = 0.5\n', DOWN),
        (f"[[policy.rules]]\n{RECALL}at_most = 0.9\n", EMPTY),
        (f'[[policy.must_hold]]\n{RECALL}at_most = 0.9\ncases = ["q1"]\n', EMPTY),
        (f'[[policy.budgets]]\n{RECALL}statistic = "share"\nat_most = 0.5\n', EMPTY),
        (f'[[policy.budgets]]\n{RECALL}statistic = "p95"\nat_most = 0.5\nsample = true\n', EMPTY),
        (f"[[policy.verdicts]]\nat_least = 0.8\n[[policy.needs]]\n{RECALL}at_most = 0.9\n", EMPTY),
    ],
)
def test_a_demand_that_the_worst_system_holds_best(make: Any, demand: str, system: str) -> None:
    """at_least where at_most was meant, or the other way round: a typing error that nothing fails."""
    project = make(policy=f"{P}{demand}", system=system)
    code, out, _ = project.do("policy", "check")
    assert (code, "is the better: the worse a system is" in out) == (USAGE, True), out
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"policy_refused"}), decision


def test_one_passage_of_several_for_multi_hop(make: Any) -> None:
    """The check refuses rr as the only measure of multi_hop; a gate that was not asked first does as well."""
    rule = '[[policy.rules]]\nmeasure = "rr(rel=2)@5"\nstep = "context"\nat_least = 0.8\n'
    project = make(policy=f"{P}{rule}", measures=[*MEASURES, "rr(rel=2)@5"], each={"class": "multi_hop"})
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"policy_refused"})


@pytest.mark.parametrize(
    "bands",
    ["", '[policy.bands.low]\noutcomes = ["answered", "partial", "abstained", "clarified", "escalated", "denied"]\n'],
)
def test_answers_of_which_nothing_is_needed_are_not_good(make: Any, bands: str) -> None:
    """Thirty answers of x: their outcome is allowed, and that is all that anybody asked."""
    project = make(system=EMPTY, policy=f"{P}[[policy.verdicts]]\nat_least = 0.8\n{bands}", each={"risk": "low"})
    code, out, _ = project.do("policy", "check")
    assert (code, "whatever was answered would be good" in out) == (USAGE, True), out
    project.run()
    code, decision = project.gate()
    assert code == CANNOT_TELL
    (share,) = decision["verdicts"]
    assert (share["good"], share["open"]) == (0, 30)


def test_citations_of_nothing_are_no_citations(make: Any) -> None:
    policy = f"{P}[[policy.verdicts]]\nat_least = 0.8\n[policy.bands.low]\ncitations = true\n"
    marked = EMPTY.replace('"answered"', '"answered", "citations": [{"item_id": "nowhere"}]')
    project = make(system=marked, policy=policy, each={"risk": "low"})
    project.run()
    code, decision = project.gate()
    assert (code, decision["outcome"], decision["verdicts"][0]["bad"]) == (1, "fail", 30), decision
    assert "citation of nothing" in decision["results"][0]["told"]


def test_a_refusal_that_is_called_an_answer(make: Any) -> None:
    """The system says `answered` of the very text that it must say when it has no evidence: nothing was refused."""
    said = "There is not enough evidence."
    system = (
        f'def answer(request):\n    said = "abstained" if request.query_id == "q0" else "answered"\n'
        f'    return {{"answer": {{"text": "{said}", "outcome": said}}, "contexts": []}}\n'
    )
    policy = f'{P}[policy.refusal]\ntext = "{said}"\nfalse_refusal_at_most = 0.2\non_fail = "block"\n'
    project = make(system=system, policy=policy)
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (1, {"refusal_called_answered"}), decision


def test_the_same_question_under_thirty_names(make: Any) -> None:
    project = make(system=GOOD.replace("request.query_id[1:]", '"1"'))
    project.cases([{**project.case(1), "query_id": f"q{one}"} for one in range(1, 31)])
    code, out, _ = project.do("policy", "check")
    assert (code, "30 questions of answerable (1 independent) can never pass" in out) == (USAGE, True), out
    project.run()
    code, decision = project.gate()
    assert (code, decision["results"][0]["clusters"]) == (CANNOT_TELL, 1)
    assert any(one.startswith("29 questions ask what another one asks") for one in decision["notes"])


def test_a_chain_of_paraphrases_is_one_question(make: Any) -> None:
    """Each is a paraphrase of the one before: one group, and not twenty-nine."""
    project = make(system=GOOD.replace("request.query_id[1:]", '"1"'))
    rows = [{**project.case(1), "query_id": f"q{one}", "query": f"What is one, {one}?"} for one in range(1, 31)]
    project.cases([rows[0], *({**one, "paraphrase_of": f"q{place}"} for place, one in enumerate(rows[1:], 1))])
    project.run()
    code, decision = project.gate()
    assert (code, decision["results"][0]["clusters"]) == (CANNOT_TELL, 1)


def test_the_same_words_from_two_askers_are_two_questions(make: Any) -> None:
    project = make(system=GOOD.replace("request.query_id[1:]", '"1"'))
    who = [{"id": f"u{one}", "tenants": ["*"]} for one in range(30)]
    project.cases([{**project.case(1), "query_id": f"q{one}", "principal": who[one]} for one in range(30)])
    project.run()
    code, decision = project.gate()
    assert (code, decision["results"][0]["clusters"], decision.get("notes", [])) == (0, 30, [])


@pytest.mark.parametrize("setting", ["hold = 0.1", 'abstention_rules = ["x"]'])
def test_arms_that_were_measured_in_two_ways(make: Any, setting: str) -> None:
    """A candidate that is asked to hold a tenth of the evidence is as good as a baseline that must hold all of it."""
    project = make(policy=MARGIN, size=60)
    project.run("before")
    scored(project, "cand", **{"measures =": f"{setting}\nmeasures ="})
    code, told = project.gate("cand", "--baseline", "before")
    assert code == USAGE
    assert "were not measured alike: the ways of measuring differ" in told["error"]


def test_a_tighter_policy_is_another_policy_and_no_other_measure(make: Any) -> None:
    """Where the demands alone moved, both the gate and the comparison go on."""
    project = make(size=60, policy=POLICY)
    project.run("before")
    project.policy(POLICY.replace("0.8", "0.9"))
    project.run("after")
    assert project.gate("after", "--baseline", "before")[0] == 0
    code, out, err = project.do("compare", "before", "after")
    assert (code, "at_least" in out) == (0, True), err


@pytest.mark.parametrize(
    ("by", "at", "counts"),
    [("Ada", "2099-01-01", True), ("Ada", "1999-01-01", False), ("Ada", "2199-01-01", False)],
)
def test_a_review_of_before_the_run_or_after_the_decision(
    make: Any, tmp_path: Path, by: str, at: str, counts: bool
) -> None:
    project = reviewed(make)
    fill(tmp_path, by, at)
    code, decision = project.gate("after", "--baseline", "before", "--reviews", "filled.toml")
    wanted = (0, set()) if counts else (CANNOT_TELL, {"review_absent"})
    assert (code, project.reasons(decision)) == wanted, decision
    if not counts:
        told = next(one["told"] for one in decision["results"] if one["kind"] == "reviewed")
        assert "1 review of before the runs had ended" in told


@pytest.mark.parametrize("by", ["\u200b", ".", "\u2060 \u00a0", "--"])
def test_a_reviewer_without_a_name(make: Any, tmp_path: Path, by: str) -> None:
    project = reviewed(make)
    fill(tmp_path, by, "2099-01-01")
    code, told = project.gate("after", "--baseline", "before", "--reviews", "filled.toml")
    assert code == USAGE
    assert "by is blank" in told["error"]
    assert "filled.toml" in told["error"]


def reviewed(make: Any) -> Project:
    """Two runs of which one question moved, and the file that asks a person to open it."""
    project: Project = make(policy=f"{P}{FLOOR}[policy.review]\n{RECALL}largest = 5\n")
    project.run("before")
    asked = "request.query_id[1:]"
    project.system(GOOD.replace(f"number = {asked}", f'number = {{"0": "1"}}.get({asked}, {asked})'))
    project.run("after")
    code, decision = project.gate("after", "--baseline", "before", "--to-review", "asked.toml")
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"review_absent"})
    return project


def fill(folder: Path, by: str, at: str) -> None:
    text = (folder / "asked.toml").read_text()
    for key, said in (("by", by), ("at", at), ("verdict", "acceptable"), ("reason", "looked")):
        text = text.replace(f'{key} = ""', f"{key} = {json.dumps(said)}")
    (folder / "filled.toml").write_text(text)


def test_how_much_was_judged_at_one_place_says_nothing_of_five(make: Any) -> None:
    project = make(measures=[*MEASURES, "judged@1"], policy=MARGIN, size=60)
    unlabelled = {'completeness = "complete"': ""}
    for name in ("before", "after"):
        scored(project, name, **unlabelled)
    code, decision = project.gate("after", "--baseline", "before")
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"judged_not_measured"}), decision
    project.settings(**unlabelled)
    code, out, _ = project.do("policy", "check")
    assert (code, 'add "judged@5"' in out) == (USAGE, True), out


def test_questions_that_hide_as_candidates_are_told(make: Any) -> None:
    """Thirty good ones pass; that thirty others are out of every rule is said in each output."""
    project = make(size=60)
    project.cases([project.case(one, **({"slice": ["split=candidate"]} if one >= 30 else {})) for one in range(60)])
    project.run()
    code, decision = project.gate("--md", "g.md", "--junit", "g.xml")
    (note,) = decision["notes"]
    assert (code, note.startswith("30 questions are candidates that nobody has confirmed")) == (0, True)
    assert "30 questions are candidates" in (project.folder / "g.md").read_text()
    assert "30 questions are candidates" in (project.folder / "g.xml").read_text()
    assert "note: 30 questions are candidates" in project.do("gate", "--as-of", "2099-01-01")[1]


def test_answers_of_which_nothing_is_needed_are_told(make: Any) -> None:
    """Bands, and no need: every answer is open, and a reader is told why."""
    project = make(policy=POLICY + '[policy.bands.high]\noutcomes = ["answered"]\n')
    project.run()
    _, decision = project.gate()
    told = "30 questions that were answered have no verdict: nothing says what a good answer needs ([[policy.needs]])."
    assert told in decision["notes"]


def test_a_declared_difference_is_told(make: Any) -> None:
    """Labels that were moved to whatever the candidate returns: it was declared, so a reader must see that."""
    project = make(policy=MARGIN.replace('"p"', '"p"\nvariation = ["benchmark"]'), size=60)
    project.run("before")
    project.run("after")
    _, decision = project.gate("after", "--baseline", "before")
    assert "Declared to differ from the baseline: benchmark." in decision["notes"]
