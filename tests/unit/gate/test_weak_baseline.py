"""Whether the baseline is worth beating, through the command line: what it is held against, what is said without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.gate.project import FLOOR, GOOD, RECALL, Project

MARGIN = f'[policy]\nname = "p"\n[[policy.rules]]\n{RECALL}margin = 0.3\n'
DEMANDED = MARGIN.replace('"p"\n', '"p"\nreference = true\n')
WEAK = GOOD.replace('{"document_id": f"d{number}", "text": f"The answer is word{number}."}',
                    '{"document_id": "d0", "text": "The answer is word0."}')  # fmt: skip
SAYS = 'retriever = "own 1"\ngenerator = "own 1"\nprompt = "own 1"\n'
STRENGTH = "strength of the baseline"


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def made(**given: Any) -> Project:
        project = Project(tmp_path, capsys, **{"policy": MARGIN, "size": 60, **given})
        project.cases([{**project.case(one), "query": f"Which answer is word{one}?"} for one in range(60)])
        return project

    return made


def run(project: Project, name: str, *, says: str = SAYS, **replaced: str) -> None:
    """A run of the project's own system, which says what it is made of."""
    callable_ = f'callable = "{project.module}:answer"\n'
    scored(project, name, **{callable_: callable_ + says, **replaced})


def built_in(project: Project, name: str, more: str = "", **replaced: str) -> None:
    """A run of the built-in system on the same questions."""
    wanted = f'kind = "python"\ncallable = "{project.module}:answer"'
    scored(project, name, **{wanted: f'kind = "reference"\nevidence_floor = 0.0\n{more}', **replaced})


def scored(project: Project, name: str, **replaced: str) -> None:
    project.settings(**replaced)
    for words in (("run", "--name", name), ("score", name)):
        code, out, err = project.do(*words)
        assert code == 0, out + err


def strength(decision: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in decision["results"] if one["rule"] == STRENGTH]


def test_a_weak_baseline_calls_a_person(make: Any) -> None:
    """The baseline finds one document of sixty, which the built-in system beats; the other finds them all."""
    project = make(system=WEAK)
    run(project, "weak")
    project.system(GOOD)
    run(project, "strong")
    run(project, "next")
    built_in(project, "bm25")
    code, decision = project.gate("strong", "--baseline", "weak", "--reference", "bm25")
    assert (code, decision["outcome"], project.reasons(decision)) == (3, "review", {"weak_baseline"}), decision
    assert "0.9833 worse than the built-in system, over 60 questions" in strength(decision)[0]["told"]
    code, decision = project.gate("next", "--baseline", "strong", "--reference", "bm25")
    assert (code, decision["outcome"]) == (0, "pass")
    (told,) = strength(decision)
    assert (told["result"], "not worse than the built-in system" in told["told"]) == ("pass", True)
    assert decision.get("notes", []) == []
    code, decision = project.gate("strong", "--baseline", "weak", "--reference", "weak")
    assert (code, project.reasons(decision)) == (3, {"not_built_in"})


def test_without_a_reference_it_is_said_that_nobody_checked(make: Any, tmp_path: Path) -> None:
    """In the terminal, the comment, JUnit and JSON: what was not checked, and what to give."""
    project = make()
    run(project, "before")
    run(project, "after")
    code, decision = project.gate("after", "--baseline", "before", "--md", "g.md", "--junit", "g.xml")
    (note,) = decision["notes"]
    assert (code, note.startswith("The strength of the baseline was not checked.")) == (0, True)
    assert 'kind = "reference"' in note
    assert "--reference RUN" in note
    out = project.do("gate", "after", "--baseline", "before", "--as-of", "2099-01-01")[1]
    assert f"note: {note}" in out
    assert "The strength of the baseline was not checked" in (tmp_path / "g.md").read_text()
    assert "The strength of the baseline was not checked" in (tmp_path / "g.xml").read_text()
    project.policy(f'[policy]\nname = "p"\n{FLOOR}')
    run(project, "alone")
    assert project.gate("alone")[1].get("notes", []) == [], "without a baseline there is nothing to check"


def test_a_policy_may_demand_it(make: Any) -> None:
    project = make(policy=DEMANDED)
    run(project, "before")
    run(project, "after")
    built_in(project, "bm25")
    code, decision = project.gate("after", "--baseline", "before")
    assert (code, decision["outcome"], project.reasons(decision)) == (3, "inconclusive", {"reference_absent"})
    assert "--reference RUN" in strength(decision)[0]["told"]
    assert project.gate("after", "--baseline", "before", "--reference", "bm25")[0] == 0
    code, decision = project.gate("after", "--baseline", "before", "--reference", "after")
    assert (decision["outcome"], project.reasons(decision)) == ("inconclusive", {"not_built_in"})


def test_a_policy_that_demands_it_of_no_margin_is_refused(make: Any) -> None:
    project = make(policy=f'[policy]\nname = "p"\nreference = true\n{FLOOR}')
    code, out, _ = project.do("policy", "check")
    assert (code, "no rule has a margin to hold the baseline by" in out) == (2, True), out


def test_a_baseline_that_nobody_could_build_again_is_weak(make: Any) -> None:
    project = make()
    run(project, "before", says="")
    run(project, "after")
    built_in(project, "bm25")
    code, decision = project.gate("after", "--baseline", "before", "--reference", "bm25")
    assert (code, decision["outcome"], project.reasons(decision)) == (3, "review", {"configuration_not_stored"})


def test_it_is_weak_in_a_class_that_no_rule_names(make: Any) -> None:
    """The rule is about answerable questions; of the others the baseline finds nothing."""
    project = make(policy=MARGIN.replace("margin", 'class = "answerable"\nmargin'))
    rows = [{**project.case(one), "query": f"Which answer is word{one}?"} for one in range(60)]
    project.cases([{**one, **({"class": "multi_hop"} if place >= 50 else {})} for place, one in enumerate(rows)])
    lost = GOOD.replace("number = request.query_id[1:]", "number = str(min(int(request.query_id[1:]), 49))")
    project.system(lost)
    run(project, "before")
    run(project, "after")
    built_in(project, "bm25")
    code, decision = project.gate("after", "--baseline", "before", "--reference", "bm25")
    assert (code, project.reasons(decision)) == (3, {"weak_baseline"}), decision
    assert "of multi_hop the baseline is 1 worse" in strength(decision)[0]["told"]


def test_a_baseline_that_could_not_be_held_against_anything_calls_a_person(make: Any) -> None:
    """The only margin is about a slice that no question has: nothing was compared, which is not the same as strong."""
    project = make(policy=f'{MARGIN}slice = "nobody"\n{FLOOR}')
    run(project, "before")
    run(project, "after")
    built_in(project, "bm25")
    code, decision = project.gate("after", "--baseline", "before", "--reference", "bm25")
    assert code == 3
    assert "reference_not_compared" in project.reasons(decision), decision


def test_a_reference_that_is_worse_than_it_is_built_holds_nothing(make: Any) -> None:
    """Asked for fewer items than the baseline, or on other questions."""
    project = make(policy=DEMANDED)
    run(project, "before")
    run(project, "after")
    built_in(project, "few", **{'as_of = "2026-08-01"': 'as_of = "2026-08-01"\ntop_k = 3'})
    code, decision = project.gate("after", "--baseline", "before", "--reference", "few")
    assert (code, project.reasons(decision)) == (3, {"reference_asked_for_less"}), decision
    project.cases([{**project.case(one), "query": f"Which answer is word{one}?"} for one in range(30)])
    built_in(project, "other")
    code, told = project.gate("after", "--baseline", "before", "--reference", "other")
    assert (code, "the benchmarks differ" in told["error"]) == (2, True), told
