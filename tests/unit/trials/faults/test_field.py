"""The three regressions of the field: a mean of correctness does not see them, the gate and the comparison do."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.trials.faults.field import AFTER, FIELD, MEAN_ONLY, Field, before

from ragassay.compare.pair import pair
from ragassay.gate.decide import decide
from ragassay.records.comparison import Effect

CAUGHT = {
    "context poisoning": "stale_in_context",
    "silent refusal": "false_refusal",
    "confident answers on unanswerable questions": "unsupported_answer",
}


MEANS = {
    "context poisoning": 0.9,
    "silent refusal": 1.0,
    "confident answers on unanswerable questions": 0.9,
}
"""As docs/faults.md shows them; before it is 0.8, 48 of 60."""


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    return Field(tmp_path_factory.mktemp("field"))


def both(field: Field, name: str, text: str, tag: str) -> tuple[Any, Any, Any]:
    policy = field.policy(text)
    ours, sealed = field.run(f"{name} {tag}", AFTER[name], policy)
    theirs, _ = field.run(f"before {tag}", before, policy)
    return ours, theirs, sealed


@pytest.mark.parametrize("name", AFTER)
def test_a_mean_of_correctness_does_not_see_it(field: Field, name: str) -> None:
    ours, theirs, sealed = both(field, name, MEAN_ONLY, "mean")
    assert field.pooled(theirs) == pytest.approx(48 / 60)
    assert field.pooled(ours) == pytest.approx(MEANS[name])
    assert field.pooled(ours, "token_f1") >= field.pooled(theirs, "token_f1")
    decision, _ = decide(field.store, sealed, ours, baseline=theirs, as_of="2026-08-02T00:00:00Z")
    assert decision.outcome != "fail"


@pytest.mark.parametrize("name", AFTER)
def test_the_gate_fails_it_by_the_rule_that_is_about_it(field: Field, name: str) -> None:
    ours, theirs, sealed = both(field, name, FIELD, "field")
    decision, _ = decide(field.store, sealed, ours, baseline=theirs, as_of="2026-08-02T00:00:00Z")
    assert decision.outcome == "fail"
    assert {one.measure for one in decision.results if one.result == "fail"} == {CAUGHT[name]}


@pytest.mark.parametrize("name", AFTER)
def test_the_comparison_names_it(field: Field, name: str) -> None:
    ours, theirs, _ = both(field, name, FIELD, "field")
    comparison, _ = pair(field.store, theirs, ours, flips=500)
    found = [
        one
        for one in field.store.get_lines(Effect, comparison.effects)
        if one.measure == CAUGHT[name] and one.population.slice is None and one.status == "value"
    ]
    worse = [one for one in found if one.effect is not None and one.effect > 0 and one.losses > one.wins]
    assert worse
    assert any(one.interval is not None and one.interval.low > 0 for one in worse)


def test_before_against_before_fails_nothing(field: Field) -> None:
    policy = field.policy(FIELD)
    theirs, sealed = field.run("before field", before, policy)
    again, _ = field.run("before again", before, policy)
    decision, _ = decide(field.store, sealed, again, baseline=theirs, as_of="2026-08-02T00:00:00Z")
    assert decision.outcome != "fail"
