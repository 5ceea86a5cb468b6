"""Demands on groups of paraphrases and on repeats: their means have bounds over groups and questions, as any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.gate.arms import RECALL, Bench, row

from ragassay.gate.check import Given, check
from ragassay.gate.evidence import Evidence
from ragassay.gate.policy_file import policy_of
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.protocol import Scoring
from ragassay.records.score import Observation
from ragassay.stats import lower_bound, upper_bound

SAME = "paraphrase_consistency(of=outcome)"
PASSES, FLIPS = "pass_k(k=2,of=hit/rel:2/at:5)", "flip_rate(of=hit/rel:2/at:5)"
HIT = "hit(rel=2)@5"
PAIRS = {f"q{one:03}": {"paraphraseOf": f"q{one - 1:03}"} for one in range(1, 60, 2)}


def outcomes(bench: Bench, said: Sequence[str]) -> list[Observation]:
    rows = [row(name, 1.0, "outcome", None, target=one) for name, one in zip(bench.ids, said, strict=True) if one]
    lost = [row(name, "missing", "outcome", None) for name, one in zip(bench.ids, said, strict=True) if not one]
    return rows + lost


def test_paraphrases_are_bet_on_group_by_group(tmp_path: Path) -> None:
    """Thirty pairs of which all agree: thirty values of 1. Two that do not, and one of which half is unknown."""
    bench = Bench(tmp_path, size=60, each=PAIRS)
    rule = {"measure": SAME, "class": "answerable"}
    (good,) = bench.read({"rules": [{**rule, "at_least": 0.8}]}, bench.arm(outcomes(bench, ["answered"] * 60)))
    assert (good.result, good.attempted, good.clusters, good.method) == ("pass", 30, 30, "betting")
    assert good.bound == pytest.approx(lower_bound([1.0] * 30, (0.0, 1.0), 0.05))
    assert "30 of 30 groups scored" in good.told
    said = ["answered", "abstained"] * 2 + ["answered"] * 55 + [""]
    (some,) = bench.read({"rules": [{**rule, "at_least": 0.5}]}, bench.arm(outcomes(bench, said)))
    assert (some.result, some.missing, some.value) == ("pass", 1, pytest.approx(27 / 29))
    assert some.bound == pytest.approx(lower_bound([0.0] * 3 + [1.0] * 27, (0.0, 1.0), 0.05))
    arms = [bench.arm(outcomes(bench, said)), bench.arm(outcomes(bench, ["answered"] * 60))]
    (worse,) = bench.read({"rules": [{**rule, "margin": 0.5}]}, *arms)
    assert worse.bound == pytest.approx(lower_bound([-1.0] * 3 + [0.0] * 27, (-1.0, 1.0), 0.05))
    assert worse.result == "pass"
    (zero,) = bench.read({"rules": [{**rule, "zero": True}]}, arms[0])
    assert (zero.result, zero.questions[:2]) == ("fail", ("q000", "q002"))


def test_without_a_group_nothing_is_decided(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    arm = bench.arm(outcomes(bench, ["answered"] * 30))
    for rule in ({"measure": SAME, "at_least": 0.1}, {"measure": SAME, "class": "answerable", "at_least": 0.1}):
        (found,) = bench.read({"rules": [rule]}, arm)
        assert (found.result, found.reasons) == ("inconclusive", ("empty_population",))


def repeated(bench: Bench, hits: Sequence[Sequence[float | str]]) -> Evidence:
    rows = [row(name, one, HIT, "context", repeat=at) for name, own in zip(bench.ids, hits, strict=True)
            for at, one in enumerate(own)]  # fmt: skip
    arm = bench.arm(rows)
    return arm._replace(subject=msgspec.structs.replace(arm.subject, repeats=3))


def test_repeats_of_a_question_have_one_value(tmp_path: Path) -> None:
    """pass^2 of 3 repeats of which 2 pass is 1/3; they flip. A repeat in error may have passed or not."""
    bench = Bench(tmp_path, size=40)
    hits: list[list[float | str]] = [[1.0, 1.0, 1.0]] * 38 + [[1.0, 1.0, 0.0], [1.0, 1.0, "error"]]
    arm = repeated(bench, hits)
    low = [1.0] * 38 + [1 / 3, 1 / 3]
    (passes,) = bench.read({"rules": [{"measure": PASSES, "class": "answerable", "at_least": 0.7}]}, arm)
    assert (passes.result, passes.method, passes.step) == ("pass", "betting", "context")
    assert passes.bound == pytest.approx(lower_bound(low, (0.0, 1.0), 0.05))
    (flips,) = bench.read({"rules": [{"measure": FLIPS, "class": "answerable", "at_most": 0.2}]}, arm)
    assert (flips.result, flips.attempted) == ("pass", 40)
    assert flips.bound == pytest.approx(upper_bound([0.0] * 38 + [1.0] * 2, (0.0, 1.0), 0.05, method="exact"))
    (zero,) = bench.read({"rules": [{"measure": FLIPS, "class": "answerable", "zero": True}]}, arm)
    assert (zero.result, zero.questions) == ("fail", ("q038", "q039"))
    few = bench.arm(bench.rows([1.0] * 40, HIT))
    (none,) = bench.read({"rules": [{"measure": PASSES, "class": "answerable", "at_least": 0.7}]}, few)
    assert (none.result, none.reasons) == ("inconclusive", ("empty_population",))


MEASURES = (
    RECALL, SAME, PASSES, "aurc(of=exact_match)", "calibration_error(of=exact_match)", "retrieval_auroc",
    "selective_risk(coverage=0.5,of=exact_match)", HIT, "exact_match", "outcome",
)  # fmt: skip


def findings(rule: dict[str, Any], size: int = 30, **given: Any) -> list[str]:
    """What is refused of one rule; every third question may not be answered."""
    scoring = Scoring(
        measures=MEASURES, measure_versions={}, hold=1.0, tokenizer="word/1", normalisation="squad", level=0.95,
        ties="list_order",
    )  # fmt: skip
    cases = []
    for one in range(size):
        labels = {"class": "unanswerable"} if one % 3 == 0 else {"relevant": [{"document_id": "d", "grade": 3}]}
        cases.append(parse_value(CaseLine, {"query_id": f"q{one}", "query": "?", **labels}).to_case())
    made = Given(cases, scoring, 2, 20, **given)
    class_ = {} if rule["measure"] == "retrieval_auroc" else {"class": "answerable"}
    policy = policy_of({"name": "p", "rules": [{**class_, **rule}]})
    return [one.message for one in check(policy, made) if one.level == "refused" and one.field.startswith("policy.ru")]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ({"measure": SAME, "at_least": 0.9}, "no question of the benchmark can have a value"),
        ({"measure": PASSES, "at_least": 0.1}, "needs 2 repeats of each question, and there is 1"),
        ({"measure": "aurc(of=exact_match)", "at_most": 0.1}, "can never pass: with every decision right"),
        ({"measure": "calibration_error(of=exact_match)", "at_most": 0.2}, "can never pass: with every decision right"),
        ({"measure": "aurc(of=exact_match)", "zero": True}, "one figure of many decisions"),
        ({"measure": "retrieval_auroc", "at_least": 0.9}, "can never pass: with every decision right"),
        ({"measure": "retrieval_auroc", "at_least": 0.6, "class": "answerable"}, "no class has it"),
    ],
)
def test_the_check_says_what_could_never_pass(rule: dict[str, Any], wanted: str) -> None:
    said = findings(rule, repeats=1)
    assert any(wanted in one for one in said), said


def test_the_check_lets_stand_what_could_pass() -> None:
    for rule in (
        {"measure": "aurc(of=exact_match)", "at_most": 0.4},
        {"measure": "calibration_error(of=exact_match)", "at_most": 0.4},
        {"measure": "selective_risk(coverage=0.5,of=exact_match)", "at_most": 0.4},
        {"measure": "aurc(of=exact_match)", "margin": 0.9},
    ):
        assert findings(rule, size=60) == [], rule
    assert findings({"measure": "retrieval_auroc", "at_least": 0.8}, size=60) == []
