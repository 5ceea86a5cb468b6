"""Each kind of rule against bounds that are worked out here: binomial tails by counting, and closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.unit.gate.arms import RECALL, Bench, row

from ragassay.stats.onesided import lower_bound


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def tail(n: int, least: int, p: float) -> float:
    """Chance of at least `least` of n, each with chance p."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(least, n + 1))


# --- floors and ceilings


def test_a_floor_of_thirty_that_all_hold(bench: Bench) -> None:
    """Of n questions that all have 1, the exact lower bound is alpha^(1/n): 0.905 for thirty at 0.05."""
    found = bench.one({"at_least": 0.90}, [1.0] * 30)
    assert (found.result, found.method, found.kind) == ("pass", "exact", "floor")
    assert found.bound == pytest.approx(0.05 ** (1 / 30), abs=1e-9)
    assert (found.value, found.attempted, found.scored, found.clusters) == (1.0, 30, 30, 30)
    found = bench.one({"at_least": 0.91}, [1.0] * 30)
    assert (found.result, found.reasons) == ("inconclusive", ("not_enough_questions",))
    assert found.needed == 32, "0.91^32 = 0.0489 is the first power of at most 0.05"


def test_a_floor_with_two_misses(bench: Bench) -> None:
    """The exact bound is where 28 or more of 30 have a chance of alpha: counted, not looked up in our code."""
    said = [1.0] * 28 + [0.0] * 2
    found = bench.one({"at_least": 0.80}, said)
    assert found.bound is not None
    assert tail(30, 28, found.bound) == pytest.approx(0.05, abs=1e-6)
    assert (found.result, found.questions) == ("pass", ("q028", "q029"))
    assert bench.one({"at_least": 0.81}, said).result == "inconclusive"


def test_a_floor_that_is_missed_for_certain(bench: Bench) -> None:
    """None of thirty: at most 1 - alpha^(1/n) = 0.095 of all such questions hold."""
    found = bench.one({"at_least": 0.1}, [0.0] * 30)
    assert (found.result, found.reasons) == ("fail", ("threshold",))
    assert found.optimistic == pytest.approx(1 - 0.05 ** (1 / 30), abs=1e-9)
    assert bench.one({"at_least": 0.09}, [0.0] * 30).result == "inconclusive"
    assert bench.one({"at_least": 0.1, "on_fail": "review"}, [0.0] * 30).result == "review"


def test_a_ceiling_is_a_floor_upside_down(bench: Bench) -> None:
    assert bench.one({"at_most": 0.1}, [0.0] * 30).result == "pass"
    assert bench.one({"at_most": 0.09}, [0.0] * 30).result == "inconclusive"
    assert bench.one({"at_most": 0.9}, [1.0] * 30).result == "fail"


def test_missing_and_failed_questions_stand_at_their_worst(bench: Bench) -> None:
    """Three of thirty that nobody knows: at worst 27 of 30, at best 30 of 30."""
    for unknown in ("missing", "error"):
        found = bench.one({"at_least": 0.80}, [1.0] * 27 + [unknown] * 3)
        assert found.result == "inconclusive"
        assert found.bound is not None
        assert tail(30, 27, found.bound) == pytest.approx(0.05, abs=1e-6)
        assert found.optimistic == 1.0
        assert (found.scored, found.missing, found.error) == (27, 3 * (unknown == "missing"), 3 * (unknown == "error"))
        assert f"questions_{'in_error' if unknown == 'error' else unknown}" in found.reasons
    bounded = bench.one({"at_least": 0.80}, [1.0] * 27 + [(1.0, 1.0)] * 3)
    assert bounded.result == "pass", "missing, but whatever it is, it is 1"


def test_questions_outside_of_the_population_are_not_counted_against_it(bench: Bench) -> None:
    found = bench.one({"at_least": 0.8}, [1.0] * 20 + ["undefined"] * 10)
    assert (found.result, found.undefined, found.clusters) == ("pass", 10, 20)
    assert found.bound == pytest.approx(0.05 ** (1 / 20), abs=1e-9)


def test_a_population_with_nothing_in_it_is_inconclusive(bench: Bench) -> None:
    assert bench.one({"at_least": 0.1}, ["undefined"] * 30).reasons == ("empty_population",)
    assert bench.one({"at_least": 0.1, "slice": "none"}, [1.0] * 30).reasons == ("empty_population",)
    assert bench.one({"at_least": 0.1, "class": "multi_hop"}, [1.0] * 30).reasons == ("empty_population",)
    assert bench.one({"at_least": 0.1, "measure": "ndcg@10"}, [1.0] * 30).reasons == ("measure_missing",)
    assert bench.one({"at_least": 0.1, "step": "rerank"}, [1.0] * 30).reasons == ("step_missing",)


def test_a_measure_that_was_taken_at_two_steps_needs_a_name(bench: Bench) -> None:
    arm = bench.arm([*bench.rows([1.0] * 30), *bench.rows([0.0] * 30, step="fuse")])
    (found,) = bench.read({"rules": [{"measure": RECALL, "at_least": 0.5, "class": "answerable"}]}, arm)
    assert found.reasons == ("step_not_named",)


def test_paraphrases_are_one_question(tmp_path: Path) -> None:
    """Thirty questions in ten groups of three: no more is known than of ten."""
    groups = {f"q{one:03}": {"paraphraseOf": f"q{one // 3 * 3:03}"} for one in range(30) if one % 3}
    found = Bench(tmp_path, each=groups).one({"at_least": 0.9}, [1.0] * 30)
    assert (found.clusters, found.result) == (10, "inconclusive")
    assert found.bound is not None
    assert found.bound < 0.05 ** (1 / 10) + 1e-9


def test_every_class_stands_alone(tmp_path: Path) -> None:
    """One class that fails is not hidden by another that holds."""
    bench = Bench(tmp_path, 60, each={f"q{one:03}": {"class": "multi_hop"} for one in range(30, 60)})
    arm = bench.arm(bench.rows([1.0] * 30 + [0.0] * 30))
    found = bench.read({"rules": [{"measure": RECALL, "at_least": 0.5}]}, arm)
    assert [(one.population.class_, one.result) for one in found if one.population] == [
        ("answerable", "pass"), ("multi_hop", "fail"),
    ]  # fmt: skip


def test_a_risk_band_and_a_slice_narrow_a_rule(tmp_path: Path) -> None:
    bench = Bench(tmp_path, each={f"q{one:03}": {"risk": "moderate", "slice": ["a"]} for one in range(10)})
    said = [0.0] * 10 + [1.0] * 20
    for narrow in ({"risk": "moderate"}, {"slice": "a"}, {"slice": "risk=moderate"}):
        assert bench.one({"at_least": 0.5, **narrow}, said).result == "fail", narrow


# --- zero tolerance


def test_zero_tolerance(bench: Bench) -> None:
    assert bench.one({"zero": True}, [1.0] * 30).result == "pass"
    broken = bench.one({"zero": True}, [1.0] * 29 + [0.5])
    assert (broken.result, broken.questions, broken.method) == ("fail", ("q029",), "count")
    unknown = bench.one({"zero": True}, [1.0] * 29 + ["missing"])
    assert (unknown.result, unknown.reasons) == ("inconclusive", ("questions_missing",))


def test_zero_tolerance_says_what_it_cannot_see(bench: Bench) -> None:
    """No leak in thirty: a share of 1 - 0.05^(1/30) = 0.0950 would show none in five of a hundred such sets."""
    arm = bench.arm(bench.rows([0.0] * 30, "harmful@5"))
    (found,) = bench.read({"rules": [{"measure": "harmful@5", "class": "answerable", "zero": True}]}, arm)
    assert found.result == "pass"
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 30))
    assert "0.095" in found.told


# --- margins


def test_a_margin_against_a_baseline(bench: Bench) -> None:
    """All thirty better by the whole range; -1, 0 and 1 are possible, so no exact bound, which would be higher."""
    better = bench.one({"margin": 0.05}, [1.0] * 30, [0.0] * 30)
    assert (better.result, better.baseline, better.value) == ("pass", 0.0, 1.0)
    assert better.bound == pytest.approx(lower_bound([1.0] * 30, (-1.0, 1.0), 0.05), abs=1e-9)
    assert 0.7 < better.bound < -1 + 2 * 0.05 ** (1 / 30)
    worse = bench.one({"margin": 0.05}, [0.0] * 30, [1.0] * 30)
    assert (worse.result, worse.questions[0], worse.threshold) == ("fail", "q000", -0.05)
    equal = bench.one({"margin": 0.05}, [1.0] * 30, [1.0] * 30)
    assert (equal.result, equal.method) == ("inconclusive", "betting")
    assert equal.detectable is not None
    assert 0.05 < equal.detectable < 1


def test_equal_arms_pass_a_margin_with_enough_questions(tmp_path: Path) -> None:
    assert Bench(tmp_path, 200).one({"margin": 0.1}, [1.0] * 200, [1.0] * 200).result == "pass"


def test_a_margin_needs_a_baseline(bench: Bench) -> None:
    assert bench.one({"margin": 0.1}, [1.0] * 30).reasons == ("baseline_absent",)


def test_lower_is_better_where_the_measure_says_so(bench: Bench) -> None:
    rule = {"rules": [{"measure": "harmful@5", "class": "answerable", "margin": 0.05}]}
    seen = bench.rows([1.0] * 30, "judged@5")
    good, bad = (bench.arm([*bench.rows([said] * 30, "harmful@5"), *seen]) for said in (0.0, 1.0))
    assert bench.read(rule, good, bad)[0].result == "pass"
    assert bench.read(rule, bad, good)[0].result == "fail"


def test_declining_is_no_way_out_of_a_comparison(bench: Bench) -> None:
    """What has a value in the baseline and none in the candidate counts at its worst, not as a pair less."""
    found = bench.one({"margin": 0.05}, ["undefined"] * 30, [1.0] * 30)
    assert found.result == "inconclusive"
    assert found.bound is not None
    assert found.bound < -0.9


def test_a_gap_of_judged_between_the_arms_decides_nothing(bench: Bench) -> None:
    """Five points may be, more may not: labels made from one arm's results favour it."""
    rule = {"rules": [{"measure": RECALL, "class": "answerable", "margin": 0.1}]}

    def arm(said: float, judged: float) -> object:
        return bench.arm([*bench.rows([said] * 30), *bench.rows([judged] * 30, "judged@5")])

    near = bench.read(rule, arm(1.0, 0.95), arm(0.0, 1.0))  # type: ignore[arg-type]
    assert near[0].result == "pass"
    far = bench.read(rule, arm(1.0, 0.94), arm(0.0, 1.0))  # type: ignore[arg-type]
    assert (far[0].result, far[0].reasons[0]) == ("inconclusive", "judged_gap")


def test_a_judge_without_calibration_satisfies_no_rule(bench: Bench) -> None:
    measure = "faithfulness(by=panel)"
    arm = bench.arm(bench.rows([1.0] * 30, measure, None))
    for rule in ({"at_least": 0.5}, {"zero": True}):
        (found,) = bench.read({"rules": [{"measure": measure, "class": "answerable", **rule}]}, arm)
        assert found.reasons == ("uncalibrated_judge",)
    (must,) = bench.read({"must_hold": [{"measure": measure, "at_least": 0.5, "cases": ["q001"]}]}, arm)
    assert must.reasons == ("uncalibrated_judge",)


def test_a_margin_on_retrieval_needs_to_know_what_was_judged(bench: Bench) -> None:
    rule = {"rules": [{"measure": RECALL, "class": "answerable", "margin": 0.1}]}
    (found,) = bench.read(rule, bench.arm(bench.rows([1.0] * 30)), bench.arm(bench.rows([0.0] * 30)))
    assert (found.result, found.reasons[0]) == ("inconclusive", "judged_not_measured")


# --- questions that must hold


def must(bench: Bench, said: list[object], **rule: object) -> object:
    policy = {"must_hold": [{"measure": RECALL, "at_least": 1.0, "cases": ["q001", "q002"], **rule}]}
    return bench.read(policy, bench.arm(bench.rows(said)))[0]  # type: ignore[arg-type]


def test_questions_that_must_hold(bench: Bench) -> None:
    good = must(bench, [0.0, 1.0, 1.0] + [0.0] * 27)
    assert (good.result, good.method) == ("pass", "count")  # type: ignore[attr-defined]
    bad = must(bench, [1.0, 1.0, 0.5] + [1.0] * 27)
    assert (bad.result, bad.questions) == ("fail", ("q002",))  # type: ignore[attr-defined]
    for said, reason in (("missing", "questions_missing"), ("error", "questions_in_error"), (None, "questions_missing"),
                         ("undefined", "questions_undefined")):  # fmt: skip
        found = must(bench, [1.0, 1.0, said] + [1.0] * 27)
        assert (found.result, found.reasons) == ("inconclusive", (reason,))  # type: ignore[attr-defined]
    other = must(bench, [1.0] * 30, cases=["q001", "nobody"])
    assert (other.result, other.reasons) == ("inconclusive", ("unknown_question",))  # type: ignore[attr-defined]
    assert must(bench, [1.0] * 30, cases=[]).reasons == ("empty_population",)  # type: ignore[attr-defined]


def test_every_repeat_must_hold(bench: Bench) -> None:
    rows = [row("q001", 1.0), row("q001", 0.0, repeat=1)]
    digest = bench.written.table(rows, "twice", repeats=2, estimates=False)
    from ragassay.gate.evidence import read_evidence

    policy = {"must_hold": [{"measure": RECALL, "at_least": 1.0, "cases": ["q001"]}]}
    assert bench.read(policy, read_evidence(bench.store, digest, "twice"))[0].result == "fail"


def test_a_threshold_on_counts_is_an_exact_fraction(bench: Bench) -> None:
    """Three of ten is at least 0.3, which 0.1 + 0.2 is not."""
    rows = [row("q001", 3 / 10, numerator=3.0, denominator=10.0)]
    policy = {"must_hold": [{"measure": RECALL, "at_least": 0.3, "cases": ["q001"]}]}
    assert bench.read(policy, bench.arm(rows))[0].result == "pass"
    rows = [row("q001", 0.1 + 0.2, numerator=3.0, denominator=10.0)]
    assert bench.read(policy, bench.arm(rows))[0].result == "pass"
