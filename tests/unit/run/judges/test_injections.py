"""Orders hidden in what a judge is shown: none of them stands outside of the fence; and the trial can fail."""

from __future__ import annotations

import pytest
from trials.injections import PLACES, asked, cases, controlled, flips, model_a, model_b, ordered, outside
from trials.scripted_models import honest

from ragassay.run.judges.llm import prompt

WRITTEN = [one for one in cases() if one.order is not None and not one.order.family.startswith("BIPIA")]


def test_the_cases_are_what_they_say() -> None:
    assert len(WRITTEN) == 28 * len(PLACES)
    assert {one.place for one in WRITTEN} == set(PLACES)
    assert all(ordered(one.order.text) for one in WRITTEN if one.order is not None)


def test_no_order_reaches_a_model_outside_of_the_fence() -> None:
    some = WRITTEN[::3]  # every order and every place: 3 shares no factor with 8
    verdicts, seen = asked(model_a, [one.item for one in some])
    assert flips(some, verdicts) == []
    assert not any(ordered(outside(one)) or ordered(one.outside) for one in seen)
    assert {one.status for one in verdicts} == {"value"}  # an order never costs a verdict either


def test_with_a_fence_that_anybody_can_forge_the_trial_finds_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "fenced", lambda nonce, name, text: f"<<<{nonce} {name}\n{text}\n>>>{nonce}")
    some = [one for one in WRITTEN if one.order is not None and one.order.family == "fence"][::2]
    verdicts, _ = asked(model_a, [one.item for one in some])
    assert len(flips(some, verdicts)) > len(some) // 4


@pytest.mark.parametrize("manner", ["evidence", "order", "made up"])
def test_a_model_that_obeys_everything_is_disqualified_within_one_run(manner: str) -> None:
    assert (controlled(model_b(manner)) or "").startswith("controls: ")


def test_an_honest_model_is_not_disqualified() -> None:
    assert controlled(honest) is None


def test_what_a_model_without_scruples_is_told_is_found_by_the_check_of_quotes_and_by_the_contrary() -> None:
    some = WRITTEN[::7]
    items = [one.item for one in some]
    made_up, _ = asked(model_b("made up"), items)
    assert flips(some, made_up) == []
    evidence, _ = asked(model_b("evidence"), items, counterfactual=True)
    assert flips(some, evidence) == []
    cunning, _ = asked(model_b("cunning"), items, counterfactual=True, order_swap=True)
    assert flips(some, cunning)  # not everything is found, and nothing says so
