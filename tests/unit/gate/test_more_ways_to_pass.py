"""Ten more ways to pass with nothing, through the command line: hostile policies, other corpora, stale days, texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from tests.unit.gate.project import FLOOR, GOOD, POLICY, RECALL, Project

CANNOT_TELL, USAGE = 3, 2
P = '[policy]\nname = "p"\n'
MARGIN = f"{P}[[policy.rules]]\n{RECALL}margin = 0.5\n"


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda **given: Project(tmp_path, capsys, **given)


@pytest.mark.parametrize(
    "policy",
    [
        f"{P}{FLOOR}class = 'answerabel'\n",
        f"{P}{FLOOR}weight = 0\n",
        f"{P}alpha = 0.0\n{FLOOR}",
        f"{P}alpha = 0.5\n{FLOOR}",
        f"{P}max_errors = 2\n{FLOOR}",
        f"{P}judged_gap = -1\n{FLOOR}",
        f"{P}{FLOOR}on_fail = 'ignore'\n",
        f"{P}[[policy.rules]]\n{RECALL}at_least = true\n",
        f"{P}[[policy.rules]]\n{RECALL}zero = false\n",
        f"{P}[[policy.rules]]\n{RECALL}margin = -0.1\n",
        f"{P}[policy.review]\n{RECALL}largest = 0\n",
    ],
)
def test_a_hostile_policy_is_refused(make: Any, policy: str) -> None:
    """A population that there is not, a weight, an alpha or a demand that would let anything pass."""
    project = make(policy=policy)
    assert project.do("run")[0] == USAGE


@pytest.mark.parametrize("demand", ["at_least = 0.0", "at_most = 1.0", "margin = 1.0"])
def test_a_demand_that_nothing_breaks_is_refused_by_the_check(make: Any, demand: str) -> None:
    project = make(policy=f"{P}[[policy.rules]]\n{RECALL}{demand}\n")
    code, out, _ = project.do("policy", "check")
    assert code == USAGE
    assert "nothing could break" in out


@pytest.mark.parametrize(
    "demand",
    [
        f"[[policy.rules]]\n{RECALL}at_least = 0.0\n",
        f"[[policy.rules]]\n{RECALL}at_least = -5\n",
        f"[[policy.rules]]\n{RECALL}at_most = 1\n",
        '[[policy.rules]]\nmeasure = "error_rate"\nat_most = 1.0\n',
        '[[policy.rules]]\nmeasure = "abstention_rate"\nat_most = 1.0\n',
        f'[[policy.must_hold]]\n{RECALL}at_least = 0.0\ncases = ["q1"]\n',
        f"[[policy.verdicts]]\nat_least = 0.0\n[[policy.needs]]\n{RECALL}at_least = 1.0\n",
        f"[[policy.verdicts]]\nat_least = 0.01\n[[policy.needs]]\n{RECALL}at_least = 0.0\n",
        '[[policy.budgets]]\nmeasure = "error_rate"\nstatistic = "share"\nat_most = 1.0\nsample = true\n',
        '[[policy.budgets]]\nmeasure = "latency"\nstatistic = "share"\nat_most = 1.0\nsample = true\n',
        "[policy.refusal]\nfalse_refusal_at_most = 1.0\n",
        "[policy.refusal]\nabstention_at_least = 0.0\n",
    ],
)
def test_a_demand_that_nothing_breaks_passes_no_gate_either(make: Any, demand: str) -> None:
    """Sealed without the check, with any number of errors allowed, over a system that is down."""
    project = make(
        policy=f"{P}max_errors = 1.0\n{demand}", system="def answer(request):\n    raise OSError('down')\n", size=3
    )
    project.run()
    code, decision = project.gate()
    assert code == CANNOT_TELL, decision
    assert decision["outcome"] in ("inconclusive", "review")
    assert project.reasons(decision) & {"nothing_could_break_it", "questions_open"}


@pytest.mark.parametrize("where", ['class = "multi_hop"', 'risk = "high"', 'slice = "language=xx"'])
def test_a_population_without_rows_decides_nothing(make: Any, where: str) -> None:
    project = make(policy=f"{P}{FLOOR}{where}\n")
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"empty_population"})


def test_a_day_before_the_run_or_long_after_it(make: Any) -> None:
    project = make(policy=POLICY.replace('"release"\n', '"release"\nmax_age_days = 7\n'))
    project.run()
    for day, reason in (("2000-01-01", "as_of_before_evidence"), ("2099-01-01", "stale_evidence")):
        code, decision = project.gate("--as-of", day, as_of=False)
        assert (code, project.reasons(decision)) == (CANNOT_TELL, {reason})
    assert project.gate("--as-of", "yesterday", as_of=False)[0] == USAGE


def test_a_question_that_is_there_twice(make: Any) -> None:
    """A good question asked thirty times is one question, and the file is refused."""
    project = make()
    project.cases([project.case(1)] * 30)
    code, _, err = project.do("run")
    assert code == USAGE
    assert "q1" in err


def test_one_question_in_thirty_wordings_is_one(make: Any) -> None:
    project = make()
    cases = [{**project.case(1), "query_id": f"q{one}", "query": f"What is 1, {one}?"} for one in range(1, 31)]
    project.cases([cases[0], *({**one, "paraphrase_of": "q1"} for one in cases[1:])])
    project.system(GOOD.replace("request.query_id[1:]", '"1"'))
    project.run()
    code, decision = project.gate()
    assert (code, decision["results"][0]["clusters"]) == (CANNOT_TELL, 1)


def test_other_questions_or_another_corpus_as_baseline(make: Any) -> None:
    project = make(policy=MARGIN)
    project.run("before")
    project.lines("documents.jsonl", [
        {"document_id": f"d{one}", "version": "1", "text": f"The answer is word{one}, now."} for one in range(30)
    ])  # fmt: skip
    project.run("other-corpus")
    assert project.gate("other-corpus", "--baseline", "before")[0] == USAGE
    project.cases([project.case(one) for one in range(15)])
    project.run("other-questions")
    assert project.gate("other-questions", "--baseline", "before")[0] == USAGE


def test_a_run_against_itself_compares_nothing(make: Any) -> None:
    project = make(policy=f"{P}[[policy.rules]]\n{RECALL}margin = 0.5\n[policy.review]\n{RECALL}largest = 5\n", size=60)
    project.run()
    code, decision = project.gate("--baseline", "candidate")
    assert (code, decision["outcome"], project.reasons(decision)) == (CANNOT_TELL, "inconclusive", {"same_run"})
    assert "Both are the same run" in project.do("compare", "candidate", "candidate")[1]
    project.run("again")
    assert project.gate("again", "--baseline", "candidate")[0] == 0, "the same answers from another run are evidence"


def test_a_table_of_counts_is_no_score(make: Any) -> None:
    """Every question has an outcome, so its share is 1 whatever the system does."""
    project = make(policy=f'{P}[[policy.rules]]\nmeasure = "outcome"\nat_least = 0.5\n')
    code, out, _ = project.do("policy", "check")
    assert (code, "table of counts" in out) == (USAGE, True)
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"counts_cells"})


def test_questions_taken_out_of_the_benchmark_count_at_their_worst(make: Any) -> None:
    """The candidate was never asked what the baseline could answer, by a benchmark that was declared to differ."""
    project = make(
        policy=f'{P}variation = ["benchmark"]\n[[policy.rules]]\n{RECALL}margin = 0.5\n', size=60,
    )  # fmt: skip
    project.run("before")
    project.run("same")
    assert project.gate("same", "--baseline", "before")[0] == 0
    project.cases([project.case(one) for one in range(20)])
    project.run("fewer")
    code, decision = project.gate("fewer", "--baseline", "before")
    (margin,) = decision["results"]
    assert (code, margin["attempted"], margin["scored"], margin["missing"]) == (CANNOT_TELL, 60, 20, 40)
    assert margin["bound"] < -0.5
    project.said = project.said.replace("margin = 0.5\n", f"margin = 0.5\n[policy.review]\n{RECALL}largest = 50\n")
    project.run("reviewed")
    _, decision = project.gate("reviewed", "--baseline", "before")
    review = next(one for one in decision["results"] if one["kind"] == "reviewed")
    assert "0 of 40 moved questions were opened" in review["told"]


def test_a_softer_policy_after_the_run_is_no_pass(make: Any, tmp_path: Path) -> None:
    project = make()
    project.run()
    (tmp_path / "soft.toml").write_text(f"{P}[[policy.rules]]\n{RECALL}at_least = 0.1\n")
    code, decision = project.gate("--policy", "soft.toml")
    assert (code, decision["outcome"], project.reasons(decision)) == (CANNOT_TELL, "review", {"policy_not_sealed"})


def test_names_that_would_be_markup_are_text_in_every_output(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the comment, the step summary, JUnit and JSON; a rule's name cannot open a tag, a cell or a mention."""
    name = "]]> <script>x</script> | [l](javascript:x) @all \u202e ![i](http://x)"
    project = make(policy=f"{P}{FLOOR}name = {json.dumps(name)}\n")
    project.run()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, decision = project.gate("--junit", "g.xml", "--md", "g.md", "--summary")
    assert (code, decision["results"][0]["rule"]) == (0, name)
    tree = etree.parse(str(tmp_path / "g.xml"))
    assert not tree.findall(".//script")
    for file in ("g.md", "summary.md"):
        text = (tmp_path / file).read_text()
        assert "<script" not in text
        assert not re.search(r"(?<!\\)\](\(|\[)", text), "a bracket that closes a link is escaped"
        assert not re.search(r"(?<!\\)@all", text)
        assert "\u202e" not in text
