"""Figures of decisions by their bounds; silenced classes; reason codes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.gate.arms import Bench, Said
from tests.unit.gate.project import GOOD, Project

from ragassay.records.decision import RuleResult
from ragassay.records.score import Observation
from ragassay.stats import upper_bound

RISK = "selective_risk(coverage=0.5,of=exact_match)"
AREA, GAP, RANKS = "aurc(of=exact_match)", "calibration_error(bins=5,of=exact_match)", "retrieval_auroc"
RIGHT, SURE = "answered_right(of=exact_match)", "answer_confidence"


def rows_of(bench: Bench, right: Sequence[Said], sure: Sequence[Said]) -> list[Observation]:
    """What each question was, right or wrong, and how sure the system was."""
    rows = [*bench.rows(right, RIGHT, None), *bench.rows(sure, SURE, None)]
    return [msgspec.structs.replace(one, reason="not_answered") if one.status == "undefined" else one for one in rows]


def ruled(bench: Bench, rule: dict[str, Any], ours: list[Observation], theirs: Any = None) -> RuleResult:
    """The one result of one rule."""
    base = None if theirs is None else bench.arm(theirs)
    (found,) = bench.read({"rules": [rule]}, bench.arm(ours), base)
    return found


def risk(bench: Bench, wrong: int, rule: dict[str, Any], unknown: int = 0) -> RuleResult:
    """Of thirty answers fifteen are taken; the first of them are wrong, the last of the thirty not known."""
    right: list[Said] = [0.0] * wrong + [1.0] * (30 - wrong - unknown) + ["missing"] * unknown
    sure = [0.9] * 15 + [0.1] * 15
    return ruled(bench, {"measure": RISK, "class": "answerable", **rule}, rows_of(bench, right, sure))


def test_risk_at_a_coverage_has_an_exact_bound(tmp_path: Path) -> None:
    """None wrong of fifteen: at most 1 - 0.05^(1/15) = 0.181 of all such decisions are."""
    bench = Bench(tmp_path)
    good = risk(bench, 0, {"at_most": 0.19})
    assert (good.result, good.method) == ("pass", "exact"), good
    assert good.bound == pytest.approx(1 - 0.05 ** (1 / 15), abs=1e-9)
    assert risk(bench, 0, {"at_most": 0.18}).result == "inconclusive"
    one = risk(bench, 1, {"at_most": 0.5})
    assert one.bound is not None
    none_or_one = (1 - one.bound) ** 15 + 15 * one.bound * (1 - one.bound) ** 14
    assert math.isclose(none_or_one, 0.05, abs_tol=1e-6)
    assert risk(bench, 15, {"at_most": 0.5}).result == "fail"
    unknown = risk(bench, 0, {"at_most": 0.19}, unknown=2)
    assert (unknown.result, unknown.reasons) == ("inconclusive", ("questions_missing",))
    assert risk(bench, 0, {"at_most": 0.19, "class": "multi_hop"}).reasons == ("empty_population",)
    assert risk(bench, 0, {"zero": True}).reasons == ("figure_of_a_set",)
    few = rows_of(bench, [1.0] * 10 + ["undefined"] * 20, [0.5] * 10 + ["undefined"] * 20)
    assert ruled(bench, {"measure": RISK, "class": "answerable", "at_most": 0.5}, few).reasons == (
        "coverage_not_reached",
    )
    assert ruled(bench, {"measure": RISK, "at_most": 0.5}, few).result == "inconclusive", "declining is no way out"


def test_decisions_that_hang_together_are_bet_on_as_clusters(tmp_path: Path) -> None:
    """Fifteen right answers in five groups of paraphrases show less than fifteen questions."""
    each = {f"q{one:03}": {"paraphraseOf": f"q{one - one % 3:03}"} for one in range(30) if one % 3}
    bench = Bench(tmp_path, each=each)
    found = risk(bench, 0, {"at_most": 0.6})
    assert (found.method, found.clusters) == ("betting", 5)
    assert found.bound == pytest.approx(upper_bound([0.0] * 5, (0.0, 1.0), 0.05))
    assert risk(bench, 0, {"at_most": 0.6}, unknown=1).reasons == ("clustered_decisions",)


def test_figures_of_sets_by_their_bounds(tmp_path: Path) -> None:
    """The area and the gap of decisions that are all right and all sure, and the rank of a retriever that is."""
    bench = Bench(tmp_path, size=100)
    good = rows_of(bench, [1.0] * 100, [1.0] * 100)
    area = ruled(bench, {"measure": AREA, "class": "answerable", "at_most": 0.1}, good)
    equal = upper_bound([0.0] * 100, (0.0, 1.0), 0.05)
    assert (area.result, area.value, area.method) == ("pass", 0.0, "betting")
    assert area.bound == pytest.approx(equal), "equal confidences weigh alike"
    gap = ruled(bench, {"measure": GAP, "class": "answerable", "at_most": 0.1}, good)
    assert (gap.result, gap.value, gap.method) == ("inconclusive", 0.0, "mcdiarmid")
    assert gap.bound == pytest.approx(math.sqrt(math.log(20) / 200))
    assert gap.needed == 150, "log(20) / (2 0.1^2)"
    assert ruled(bench, {"measure": GAP, "class": "answerable", "at_most": 0.13}, good).result == "pass"
    bad = rows_of(bench, [0.0] * 100, [1.0] * 100)
    assert ruled(bench, {"measure": GAP, "class": "answerable", "at_most": 0.5}, bad).result == "fail"
    assert ruled(bench, {"measure": AREA, "class": "answerable", "at_most": 0.5}, bad).result == "fail"
    worse = {"measure": AREA, "class": "answerable", "margin": 0.2}
    assert ruled(bench, worse, bad, good).result == "fail"
    same = ruled(bench, worse, good, good)
    half = upper_bound([0.0] * 100, (0.0, 1.0), 0.025)
    assert (same.result, same.bound) == ("pass", pytest.approx(-half))
    assert ruled(bench, worse, good).reasons == ("baseline_absent",)


def test_a_decision_that_is_not_known_is_at_its_worst(tmp_path: Path) -> None:
    """One of a hundred: the area could be larger by what the most confident wrong answer does; the gap is open."""
    bench = Bench(tmp_path, size=100)
    said: list[Said] = [1.0] * 99 + ["error"]
    one = rows_of(bench, said, [0.5] * 100)
    area = ruled(bench, {"measure": AREA, "class": "answerable", "at_most": 0.5}, one)
    known = upper_bound([0.0] * 99, (0.0, 1.0), 0.05)
    first = sum(1 / k for k in range(1, 101)) / 100
    assert (area.result, area.bound) == ("pass", pytest.approx(first + (1 - first) * known))
    gap = ruled(bench, {"measure": GAP, "class": "answerable", "at_most": 0.9}, one)
    assert (gap.result, gap.reasons) == ("inconclusive", ("questions_in_error",))


def test_the_rank_of_a_retriever(tmp_path: Path) -> None:
    """Forty questions that may be answered, sixty that may not, each of the first scored higher: as forty pairs."""
    bench = Bench(tmp_path, size=100)
    rows = [*bench.rows([1.0] * 40 + [0.0] * 60, RANKS, None),
            *bench.rows([0.9] * 40 + [0.1] * 60, "retrieval_confidence", None)]  # fmt: skip
    found = ruled(bench, {"measure": RANKS, "at_least": 0.9}, rows)
    assert (found.result, found.method, str(found.population)) == ("pass", "chernoff", "answerability")
    assert found.bound == pytest.approx(0.05 ** (1 / 40))
    assert ruled(bench, {"measure": RANKS, "class": "answerable", "at_least": 0.9}, rows).reasons == ("across_classes",)
    one_side = [*bench.rows([1.0] * 100, RANKS, None), *bench.rows([0.9] * 100, "retrieval_confidence", None)]
    assert ruled(bench, {"measure": RANKS, "at_least": 0.9}, one_side).reasons == ("one_side_only",)
    assert ruled(bench, {"measure": RANKS, "at_least": 0.9}, bench.rows([1.0] * 100)).reasons == ("measure_missing",)


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
