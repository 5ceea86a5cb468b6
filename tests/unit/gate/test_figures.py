"""Risk at a coverage by its exact bound; silenced classes; the strength of the baseline; reason codes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.gate.arms import Bench
from tests.unit.gate.project import FLOOR, GOOD, RECALL, Project

from ragassay.records.decision import RuleResult
from ragassay.records.score import Bounds, Estimate, Interval, Population

RISK = "selective_risk(coverage=0.5,of=exact_match)"


def risk(bench: Bench, wrong: int, taken: int, rule: dict[str, Any], **more: Any) -> RuleResult:
    one = Estimate(
        measure=RISK, population=Population(class_="answerable"), aggregation="set", status="value",
        value=wrong / taken, numerator=float(wrong), denominator=float(taken),
        interval=Interval(low=0.0, high=1.0, level=0.95, method=more.pop("method", "clopper_pearson"), clusters=taken),
        **{"attempted": 30, "scored": 30, "undefined": 0, "missing": 0, "error": 0, **more},
    )  # fmt: skip
    arm = bench.arm(bench.rows([1.0] * 30))
    table = msgspec.structs.replace(arm.table, estimates=bench.store.put_lines([one]))
    (found,) = bench.read({"rules": [{"measure": RISK, "class": "answerable", **rule}]}, arm._replace(table=table))
    return found


def test_risk_at_a_coverage_has_an_exact_bound(tmp_path: Path) -> None:
    """None wrong of fifteen: at most 1 - 0.05^(1/15) = 0.181 of all such decisions are."""
    bench = Bench(tmp_path)
    good = risk(bench, 0, 15, {"at_most": 0.19})
    assert (good.result, good.method) == ("pass", "exact")
    assert good.bound == pytest.approx(1 - 0.05 ** (1 / 15), abs=1e-9)
    assert risk(bench, 0, 15, {"at_most": 0.18}).result == "inconclusive"
    one = risk(bench, 1, 15, {"at_most": 0.5})
    assert one.bound is not None
    none_or_one = (1 - one.bound) ** 15 + 15 * one.bound * (1 - one.bound) ** 14
    assert math.isclose(none_or_one, 0.05, abs_tol=1e-6)
    assert risk(bench, 15, 15, {"at_most": 0.5}).result == "fail"
    unknown = risk(bench, 0, 15, {"at_most": 0.19}, scored=28, missing=2, bounds=Bounds(low=0.0, high=2 / 15))
    assert (unknown.result, unknown.reasons) == ("inconclusive", ("questions_missing",))
    assert risk(bench, 0, 15, {"at_most": 0.19}, method="t over clusters").reasons == ("clustered_decisions",)
    assert risk(bench, 0, 15, {"margin": 0.1}).reasons == ("figure_of_a_set",)
    assert risk(bench, 0, 15, {"at_most": 0.19, "class": "multi_hop"}).reasons == ("empty_population",)


def test_a_measure_across_classes_is_of_no_class(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    arm = bench.arm(bench.rows([1.0] * 30, "abstention_precision", None))
    rule = {"measure": "abstention_precision", "at_least": 0.5}
    (found,) = bench.read({"rules": [rule]}, arm)
    assert (found.result, str(found.population)) == ("pass", "answerability")
    assert bench.read({"rules": [{**rule, "class": "answerable"}]}, arm)[0].reasons == ("across_classes",)


def test_a_class_that_declined_altogether_is_not_passed_over(tmp_path: Path) -> None:
    """Ten multi-hop questions that were all declined have no value; a rule over every class says so."""
    hops = {f"q{one:03}": {"class": "multi_hop", "answers": [{"text": "x"}]} for one in range(20, 30)}
    answers = {f"q{one:03}": {"answers": [{"text": "x"}]} for one in range(20)}
    bench = Bench(tmp_path, each={**answers, **hops})
    rows = bench.rows([1.0] * 20 + ["undefined"] * 10, "token_f1", None)
    rule = {"rules": [{"measure": "token_f1", "at_least": 0.5}]}
    declined = [msgspec.structs.replace(one, reason="not_answered") if one.reason else one for one in rows]
    found = bench.read(rule, bench.arm(declined))
    assert [(one.result, one.reasons) for one in found] == [("pass", ()), ("inconclusive", ("empty_population",))]
    outside = [msgspec.structs.replace(one, reason="nothing_to_answer") if one.reason else one for one in rows]
    assert [one.result for one in bench.read(rule, bench.arm(outside))] == ["pass"], "that lies in the labels"


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda **given: Project(tmp_path, capsys, **given)


WEAK = GOOD.replace('{"document_id": f"d{number}", "text": f"The answer is word{number}."}',
                    '{"document_id": "d0", "text": "The answer is word0."}')  # fmt: skip
MARGIN = f'[policy]\nname = "p"\n[[policy.rules]]\n{RECALL}margin = 0.1\n'


def built_in(project: Project, name: str) -> None:
    """A run of the built-in system on the same questions."""
    wanted = f'kind = "python"\ncallable = "{project.module}:answer"'
    project.settings(**{wanted: 'kind = "reference"\nevidence_floor = 0.0'})
    for words in (("run", "--name", name), ("score", name)):
        code, out, err = project.do(*words)
        assert code == 0, out + err


def test_a_weak_baseline_calls_a_person(make: Any) -> None:
    """The baseline finds one document of thirty, which the built-in system beats; the other finds them all."""
    project = make(system=WEAK, policy=MARGIN)
    project.cases([{**project.case(one), "query": f"Which answer is word{one}?"} for one in range(30)])
    project.run("weak")
    project.system(GOOD)
    project.run("strong")
    built_in(project, "bm25")
    code, decision = project.gate("strong", "--baseline", "weak", "--reference", "bm25")
    assert (code, decision["outcome"], project.reasons(decision)) == (3, "review", {"weak_baseline"}), decision
    code, decision = project.gate("strong", "--baseline", "strong", "--reference", "bm25")
    assert "weak_baseline" not in project.reasons(decision)
    code, decision = project.gate("strong", "--baseline", "weak", "--reference", "weak")
    assert project.reasons(decision) == {"not_built_in"}
    assert code == 3


def test_a_baseline_that_could_not_be_held_against_anything_calls_a_person(make: Any) -> None:
    """The only margin is about a slice that no question has: nothing was compared, which is not the same as strong."""
    project = make(policy=MARGIN + 'slice = "nobody"\n' + FLOOR)
    project.run("strong")
    built_in(project, "bm25")
    code, decision = project.gate("strong", "--baseline", "strong", "--reference", "bm25")
    assert code == 3
    assert "reference_not_compared" in project.reasons(decision), decision


NEEDS = '[[policy.needs]]\nmeasure = "token_f1"\nat_least = 0.2\n'


def test_the_reasons_in_a_queue(make: Any, tmp_path: Path) -> None:
    """Five questions near what is needed, each for another reason."""
    system = """
def answer(request):
    number = int(request.query_id[1:])
    one = lambda n: {"document_id": f"d{n}", "text": f"The answer is word{n}."}
    shown = {0: [one(5)], 1: [one(1), {"document_id": "old", "text": "An old rule."}], 2: [one(5), one(6), one(2)]}
    said = "nothing" if number == 3 else f"word{number} or so"
    return {"answer": {"text": said, "outcome": "answered"}, "contexts": shown.get(number, [one(number)])}
"""
    policy = f'[policy]\nname = "p"\nnear = 1.0\n[[policy.verdicts]]\nat_least = 0.1\n{NEEDS}'
    project = make(system=system, policy=policy, measures=["token_f1", "outcome", "recall(rel=2)@5"])
    rows = [{"document_id": f"d{one}", "version": "1", "text": f"The answer is word{one}."} for one in range(30)]
    rows += [{"document_id": "old", "version": "1", "text": "An old rule.", "valid_until": "2026-01-01"}]
    project.lines("documents.jsonl", rows)
    project.cases([project.case(one, answers=[{"text": f"word{one}"}]) for one in range(5)])
    project.run()
    project.gate("--queue", "queue.jsonl")
    notes = [json.loads(line)["notes"] for line in (tmp_path / "queue.jsonl").read_text().splitlines()]
    assert [one.removeprefix("candidate: ").partition(";")[0] for one in notes] == [
        "missing_evidence, retrieval_noise", "weak_authority", "retrieval_noise", "generation_error",
        "policy_too_strict",
    ]  # fmt: skip


def test_a_document_of_little_authority_is_weak(make: Any, tmp_path: Path) -> None:
    policy = f'[policy]\nname = "p"\nnear = 1.0\nleast_authority = 2\n[[policy.verdicts]]\nat_least = 0.1\n{NEEDS}'
    system = GOOD.replace('"text": f"word{number}"', '"text": f"word{number} or so"')
    project = make(system=system, policy=policy, measures=["token_f1", "outcome", "recall(rel=2)@5"])
    project.lines("documents.jsonl", [
        {"document_id": f"d{one}", "version": "1", "text": f"The answer is word{one}.", "metadata": {"authority": one}}
        for one in range(4)
    ])  # fmt: skip
    project.cases([project.case(one, answers=[{"text": f"word{one}"}]) for one in range(4)])
    project.run()
    project.gate("--queue", "queue.jsonl")
    found = [json.loads(line)["notes"].split(";")[0] for line in (tmp_path / "queue.jsonl").read_text().splitlines()]
    assert found == ["candidate: weak_authority"] * 2 + ["candidate: policy_too_strict"] * 2


def test_the_docs_name_the_reasons() -> None:
    from typing import get_args

    from ragassay.gate.queue import Reason

    text = (Path(__file__).resolve().parents[3] / "docs" / "gate.md").read_text("utf-8")
    assert all(f"`{one}`" in text for one in get_args(Reason))
