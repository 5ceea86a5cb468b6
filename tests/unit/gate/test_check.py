"""What `policy check` finds, on thirty questions whose limits are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.gate.check import Given, check
from ragassay.gate.policy_file import policy_of
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.protocol import Scoring

MEASURES = (
    "recall(rel=2)@5", "rr(rel=2)@5", "fact_coverage", "false_refusal", "abstention_rate", "outcome", "latency",
    "error_rate",
    "unsupported_answer", "token_f1", "judged@5", "selective_risk(of=exact_match,coverage=0.5)", "context_tokens",
)  # fmt: skip
RECALL = {"measure": "recall(rel=2)@5", "step": "context", "class": "answerable"}
FOUND = {"relevant": [{"document_id": "d", "grade": 3}]}
REFUSAL = {"refusal": {"abstention_at_least": 0.5, "false_refusal_at_most": 0.5}}


def given(size: int = 30, **more: Any) -> Given:
    """Questions of which the last ten are unanswerable."""
    cases = []
    for one in range(size):
        labels = {"evidence": [], "class": "unanswerable"} if one >= size - 10 else FOUND
        cases.append(parse_value(CaseLine, {"query_id": f"q{one}", "query": "?", **labels}).to_case())
    scoring = Scoring(
        measures=MEASURES, measure_versions={}, hold=1.0, tokenizer="word/1", normalisation="squad", level=0.95,
        ties="list_order",
    )  # fmt: skip
    return Given(cases, scoring, **{"rel": 2, "top_k": 20, **more})


def found(policy: dict[str, Any], at: Given | None = None) -> dict[str, str]:
    """Field -> what was found there; warnings with a mark."""
    made = policy_of({"name": "p", **policy})
    marks = {"refused": "", "warning": "(warning) "}
    return {one.field: f"{marks[one.level]}{one.message}" for one in check(made, at or given())}


def rules(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"rules": list(rows), **REFUSAL}


def test_a_policy_that_can_be_decided_has_no_findings() -> None:
    assert found(rules({**RECALL, "at_least": 0.8})) == {}


@pytest.mark.parametrize(
    ("demand", "needed"), [({"at_least": 0.95}, 59), ({"at_most": 0.05}, 59), ({"at_least": 0.9}, 29)]
)
def test_too_few_questions_to_ever_pass(demand: dict[str, float], needed: int) -> None:
    """n with 0.95^n <= 0.05 is 59; with 0.9^n, 29. There are twenty with evidence."""
    measure = {"measure": "false_refusal", "class": "answerable"} if "at_most" in demand else RECALL
    told = found(rules({**measure, **demand}))["policy.rules[0]"]
    assert told == (
        "20 questions of answerable (20 independent) can never pass: "
        f"at least {needed} are needed, all with the best value"
    )


def test_a_budget_of_a_quantile_needs_59() -> None:
    row = {"measure": "latency", "statistic": "p95", "at_most": 100.0}
    assert "at least 59 are needed" in found({"budgets": [row], **REFUSAL})["policy.budgets[0]"]
    assert "policy.budgets[0]" not in found({"budgets": [{**row, "sample": True}], **REFUSAL})
    assert "policy.budgets[0]" not in found({"budgets": [row], **REFUSAL}, given(59))


def test_a_margin_says_what_would_show_that_equals_are_equal() -> None:
    told = found(rules({**RECALL, "margin": 0.1}))["policy.rules[0].margin"]
    assert told.startswith("(warning) 20 independent questions of answerable cannot show that two equal systems")
    few = given(completeness="unknown")
    bare = Given(few.cases, parse_scoring(without="judged@5"), 2, 20)
    assert "how much was judged" in found(rules({**RECALL, "margin": 0.1}), bare)["policy.rules[0].margin"]


def parse_scoring(without: str) -> Scoring:
    import msgspec

    return msgspec.structs.replace(given().scoring, measures=tuple(one for one in MEASURES if one != without))


@pytest.mark.parametrize(
    ("rule", "field", "message"),
    [
        ({"measure": "recall(rel=2)@7", "at_least": 0.5}, "measure", "the scoring lacks recall(rel=2)@7"),
        ({**RECALL, "slice": "x", "at_least": 0.5}, "slice", "no question is in slice 'x'"),
        ({**RECALL, "class": "multi_hop", "at_least": 0.5}, "class", "the benchmark has no question that is multi_hop"),
        ({**RECALL, "risk": "high", "at_least": 0.5}, "risk", "the benchmark has no question that is answerable, risk"),
        ({**RECALL, "at_least": 0.0}, "at_least", "nothing could break at_least = 0"),
        ({**RECALL, "at_least": 1.5}, "at_least", "nothing could fulfil at_least = 1.5"),
        ({**RECALL, "at_most": 1.0}, "at_most", "nothing could break at_most = 1"),
        ({**RECALL, "margin": 1.0}, "margin", "nothing could break margin = 1"),
        ({"measure": "context_tokens", "at_most": 100.0}, "measure", "context_tokens has no greatest value"),
        ({"measure": "faithfulness(by=j)", "at_least": 0.5}, "measure", "judge j has no calibration record"),
        ({"measure": "faithfulness", "at_least": 0.5}, "measure", "faithfulness does not say by which judge"),
        ({"measure": "abstention_rate", "margin": 0.1}, "measure", "neither more nor less of abstention_rate"),
        ({**RECALL, "class": "unanswerable", "at_least": 0.5}, "measure", "no question of the benchmark can have"),
    ],
)  # fmt: skip
def test_rules_that_can_not_stand(rule: dict[str, Any], field: str, message: str) -> None:
    assert found(rules(rule))[f"policy.rules[0].{field}"].startswith(message)


def test_a_cut_above_what_the_system_is_asked_for_or_generation_receives() -> None:
    wide = {**RECALL, "at_least": 0.5}
    assert "above the 3 that the system" in found(rules(wide), given(top_k=3))["policy.rules[0].measure"]
    assert "above the 4 that generation receives" in found(rules(wide), given(received=4))["policy.rules[0].measure"]
    assert found(rules({**wide, "step": "lexical"}), given(received=4)) == {}


def test_a_step_that_a_run_does_not_have() -> None:
    at = given(places={"recall(rel=2)@5": ("context", "lexical")})
    assert found(rules({**RECALL, "step": "lexicle", "at_least": 0.5}), at)["policy.rules[0].step"].startswith(
        "recall(rel=2)@5 is not taken at lexicle"
    )
    bare = {key: value for key, value in RECALL.items() if key != "step"}
    assert "several steps" in found(rules({**bare, "at_least": 0.5}), at)["policy.rules[0].step"]


def test_one_passage_is_not_enough_for_multi_hop() -> None:
    base = given()
    hops = [parse_value(CaseLine, {"query_id": f"m{one}", "query": "?", "class": "multi_hop", **FOUND}).to_case()
            for one in range(30)]  # fmt: skip
    at = Given([*base.cases, *hops], base.scoring, 2, 20)
    rule = {"measure": "rr(rel=2)@5", "step": "context", "at_least": 0.5}
    assert "rr as the only measure of multi_hop" in found(rules(rule), at)["policy.rules[0].measure"]
    both = rules(rule, {**RECALL, "class": "multi_hop", "at_least": 0.5})
    assert "policy.rules[0].measure" not in found(both, at)


def test_what_contradicts_itself() -> None:
    declined = {"measure": "abstention_rate", "class": "answerable"}
    two = rules({**declined, "at_least": 0.8}, {**declined, "at_most": 0.7})
    assert found(two)["policy.rules[0].at_least"] == "at least 0.8 here, and another rule says at most 0.7"
    both = found(rules({**declined, "at_least": 0.5}, {**declined, "at_most": 0.7}))
    assert "policy.rules[0].at_least" not in both


def test_what_is_missing_is_a_warning() -> None:
    told = found({"rules": [{**RECALL, "at_least": 0.5}]})
    assert told == {"policy.rules": "(warning) no rule reads 10 questions of unanswerable"}
    of_answers = {"rules": [{"measure": "abstention_rate", "class": "unanswerable", "at_least": 0.5}]}
    assert found(of_answers)["policy.rules"].startswith("(warning) no rule ")
    assert found({}) == {"policy": "the policy demands nothing"}


def test_must_hold_names_questions_that_are_there() -> None:
    row = {"measure": "recall(rel=2)@5", "step": "context", "at_least": 1.0}
    assert found({"must_hold": [{**row, "cases": ["q1", "qq"]}], **REFUSAL})["policy.must_hold[0].cases"].startswith(
        "there is no question 'qq'"
    )
    assert "none is named" in found({"must_hold": [row], **REFUSAL})["policy.must_hold[0].cases"]


def test_bands_and_verdicts_need_what_they_read() -> None:
    at = Given(given().cases, parse_scoring(without="outcome"), 2, 20)
    assert "outcome" in found({"verdicts": [{"at_least": 0.5}]}, at)["policy.verdicts"]
    both = [one.message for one in check(policy_of({"name": "p", "bands": {"high": {}}, **REFUSAL}), given())]
    assert "no question has risk high" in both
    assert any("no need says what support is" in one for one in both)
