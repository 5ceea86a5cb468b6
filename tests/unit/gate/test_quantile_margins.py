"""Margins on quantiles of times, worked out by hand: what passes, what fails, and what nobody can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.gate.arms import Bench, Said, row

from ragassay.errors import RagassayError
from ragassay.gate.policy_file import policy_of
from ragassay.records.decision import RuleResult
from ragassay.records.score import Bounds, Observation


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, 80)


def times(bench: Bench, said: Sequence[Said]) -> list[Observation]:
    return bench.rows(said, "latency", None)


def held(bench: Bench, new: Sequence[Said], base: Sequence[Said], **more: Any) -> RuleResult:
    policy = {"budgets": [{"measure": "latency", "statistic": "p95", "margin": 50.0, **more}]}
    (found,) = bench.read(policy, bench.arm(times(bench, new)), bench.arm(times(bench, base)))
    return found


def test_equal_arms_pass_from_72_questions_on(tmp_path: Path) -> None:
    """Half of alpha for each arm: 0.95^n <= 0.025 first at n = 72."""
    for size, wanted in ((71, "inconclusive"), (72, "pass")):
        folder = tmp_path / str(size)
        folder.mkdir()
        found = held(Bench(folder, size), [100.0] * size, [100.0] * size)
        assert (found.result, found.kind, found.method) == (wanted, "margin", "exact")
        assert found.needed == (72 if wanted == "inconclusive" else None)
        assert (found.value, found.baseline, found.threshold) == (100.0, 100.0, -50.0)


def test_slower_by_more_fails_and_by_less_passes(bench: Bench) -> None:
    assert held(bench, [149.0] * 80, [100.0] * 80).result == "pass"
    same = held(bench, [150.0] * 80, [100.0] * 80)
    assert same.result == "inconclusive", "by just as much is neither less nor more"
    slow = held(bench, [151.0] * 80, [100.0] * 80)
    assert (slow.result, slow.bound, slow.optimistic) == ("fail", -51.0, -51.0)
    assert held(bench, [151.0] * 80, [100.0] * 80, on_fail="review").result == "review"
    assert held(bench, [10.0] * 80, [100.0] * 80).result == "pass", "faster"


def test_a_few_slow_ones_are_not_told_apart_by_80_questions(bench: Bench) -> None:
    """Four of 80 are 5 %: p95 itself does not see them; no bound rules out that more of all questions are."""
    few = [100.0] * 76 + [900.0] * 4
    found = held(bench, few, [100.0] * 80)
    assert (found.result, found.value) == ("inconclusive", 100.0)
    assert held(bench, few, [100.0] * 80, sample=True).result == "pass"
    more = [100.0] * 75 + [900.0] * 5
    assert held(bench, more, [100.0] * 80, sample=True).result == "fail"
    assert held(bench, [100.0] * 40 + [900.0] * 40, [100.0] * 80).result == "fail"


def test_a_timeout_is_not_left_out_on_either_side(bench: Bench) -> None:
    def given_up(values: Sequence[Said], least: float) -> list[Observation]:
        lost = row("q079", "error", "latency", None)
        late = msgspec.structs.replace(lost, bounds=Bounds(low=least, high=least))
        return [*times(bench, [*values[:-1], None]), late]

    policy = {"budgets": [{"measure": "latency", "statistic": "p95", "margin": 50.0, "sample": True}]}
    fast, slow = [100.0] * 80, [100.0] * 75 + [900.0] * 5
    four = [100.0] * 76 + [900.0] * 4
    for new, base, least, wanted in ((slow, fast, 900.0, "fail"), (four, fast, 10.0, "pass")):
        found = bench.read(policy, bench.arm(given_up(new, least)), bench.arm(times(bench, base)))
        assert found[0].result == wanted
    open_ = bench.read(policy, bench.arm(given_up([100.0] * 75 + [900.0] * 5, 10.0)), bench.arm(times(bench, fast)))
    assert (open_[0].result, open_[0].reasons) == ("inconclusive", ("not_enough_questions", "questions_in_error"))
    gone = bench.read(policy, bench.arm(times(bench, fast)), bench.arm(given_up(fast, 10.0)))
    assert gone[0].result == "pass", "one of 80 unknown cannot move the baseline's p95 below 100"


def test_without_a_baseline_or_its_times_nothing_is_read(bench: Bench) -> None:
    policy = {"budgets": [{"measure": "latency", "statistic": "p95", "margin": 50.0}]}
    (alone,) = bench.read(policy, bench.arm(times(bench, [100.0] * 80)))
    assert (alone.result, alone.kind, alone.reasons) == ("inconclusive", "margin", ("baseline_absent",))
    (bare,) = bench.read(policy, bench.arm(times(bench, [100.0] * 80)), bench.arm(bench.rows([1.0] * 80)))
    assert (bare.result, bare.reasons) == ("inconclusive", ("measure_missing",))


def test_questions_that_hang_together_are_bet_on_as_one(tmp_path: Path) -> None:
    each: Mapping[str, Any] = {f"q{one:03}": {"paraphraseOf": f"q{one // 2 * 2:03}"} for one in range(1, 200, 2)}
    found = held(Bench(tmp_path, 200, each=each), [100.0] * 200, [100.0] * 200)
    assert (found.method, found.clusters) == ("betting", 100)


@pytest.mark.parametrize(
    "row",
    [
        {"statistic": "p95"},
        {"statistic": "p95", "at_most": 1.0, "margin": 1.0},
        {"statistic": "mean", "margin": 1.0, "sample": True},
        {"statistic": "share", "margin": 0.1},
    ],
)
def test_what_a_budget_cannot_be(row: dict[str, Any]) -> None:
    with pytest.raises(RagassayError, match="margin"):
        policy_of({"name": "p", "budgets": [{"measure": "latency", **row}]})
