"""What must hold whatever the numbers are: a worse rule never helps, and what is not known never turns into a pass."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.gate.arms import RECALL, Bench, Said, outcome

from ragassay.records.decision import RuleResult

SIZE = 12
ORDER = {"pass": 0, "review": 1, "inconclusive": 2, "fail": 3}
TWO = [{"documentId": "a", "grade": 3}, {"documentId": "b", "grade": 3}]
EACH = {f"q{one:03}": {"relevant": TWO} for one in range(SIZE)}
BENCH = Bench(Path(tempfile.mkdtemp()), SIZE, each=EACH)
VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=SIZE, max_size=SIZE)
DEMANDS = st.sampled_from(["at_least", "at_most", "margin"])
THRESHOLDS = st.sampled_from([0.05, 0.3, 0.5, 0.7, 0.95])
FEW = settings(max_examples=60, deadline=None)


def read(rule: dict[str, object], said: list[Said], base: list[Said]) -> RuleResult:
    seen = BENCH.rows([1.0] * SIZE, "judged@5")
    arms = [BENCH.arm([*BENCH.rows(one), *seen]) for one in (said, base)]
    policy = {"alpha": 0.3, "rules": [{"measure": RECALL, "class": "answerable", **rule}]}
    (found,) = BENCH.read(policy, *arms)
    return found


@FEW
@given(VALUES, VALUES, DEMANDS, THRESHOLDS, st.integers(0, SIZE - 1), st.sampled_from(["missing", "error"]))
def test_a_value_that_goes_missing_turns_nothing_into_pass(
    said: list[Said], base: list[Said], demand: str, threshold: float, place: int, status: str
) -> None:
    before = read({demand: threshold}, said, base)
    lost = [*said[:place], status, *said[place + 1 :]]
    after = read({demand: threshold}, lost, base)
    assert before.result == "pass" or after.result != "pass"
    assert before.result == "fail" or after.result != "fail", "nor into fail: it may have been the best value"


@FEW
@given(VALUES, VALUES, DEMANDS, THRESHOLDS, st.booleans())
def test_a_stricter_threshold_never_helps(
    said: list[Said], base: list[Said], demand: str, threshold: float, zero: bool
) -> None:
    stricter = threshold / 2 if demand in ("margin", "at_most") else (1 + threshold) / 2
    loose, strict = (ORDER[read({demand: one}, said, base).result] for one in (threshold, stricter))
    assert loose <= strict
    if zero and read({"zero": True}, said, base).result == "pass":
        assert all(one == 1.0 for one in said)


@FEW
@given(VALUES, st.lists(st.tuples(st.sampled_from(["at_least", "at_most", "zero"]), THRESHOLDS,
                                  st.sampled_from(["block", "review"])), min_size=1, max_size=4))  # fmt: skip
def test_another_rule_never_improves_an_outcome(said: list[Said], rules: list[tuple[str, float, str]]) -> None:
    rows = [
        {
            "measure": RECALL,
            "class": "answerable",
            "on_fail": on_fail,
            key: True if key == "zero" else at,
        }
        for key, at, on_fail in rules
    ]
    arm = BENCH.arm(BENCH.rows(said))
    outcomes = [ORDER[outcome(BENCH.read({"rules": rows[:count]}, arm))] for count in range(1, len(rows) + 1)]
    assert outcomes == sorted(outcomes)
    assert outcome([]) == "inconclusive"
