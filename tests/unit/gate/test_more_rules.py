"""Budgets, verdicts of questions, refusals, reviews and what must be so before any rule, each worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.gate.arms import RECALL, Bench, row

from ragassay.gate.evidence import Evidence, check_alike, read_evidence
from ragassay.gate.reviews import add_review, largest, read_reviews, stored_reviews
from ragassay.gate.standing import read_standing
from ragassay.gate.verdicts import questions, shares
from ragassay.records.base import Digest
from ragassay.records.decision import Review
from ragassay.records.policy import Policy, ReviewDemand
from ragassay.records.score import Observation
from ragassay.records.trace import Answer, Failure, TraceContent
from ragassay.score.table import load_world
from ragassay.score.world import World

AS_OF = "2026-08-01T00:00:00Z"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def world_of(bench: Bench, arm: Evidence) -> World:
    return load_world(bench.store, arm.run, arm.protocol, arm.subject, arm.benchmark)


# --- budgets


def budget(bench: Bench, said: list[object], **more: object) -> object:
    policy = {"budgets": [{"measure": "latency", "statistic": "p95", "at_most": 100.0, **more}]}
    arm = bench.arm(bench.rows(said, str(more.get("measure", "latency")), None))  # type: ignore[arg-type]
    return bench.read(policy, arm)[0]


def test_a_quantile_needs_59_questions_to_be_known(tmp_path: Path) -> None:
    """p95 <= 100 of all such questions: with none of n above, 1 - 0.05^(1/n) <= 0.05 first at n = 59."""
    for size, wanted in ((58, "inconclusive"), (59, "pass")):
        folder = tmp_path / str(size)
        folder.mkdir()
        found = budget(Bench(folder, size), [50.0] * size)
        assert found.result == wanted, size  # type: ignore[attr-defined]
        if wanted == "inconclusive":
            assert found.needed == 59  # type: ignore[attr-defined]


def test_a_budget_of_these_questions_only(bench: Bench) -> None:
    """One of thirty above is 3.3 %, two are 6.7 %: the limit of p95 is 5 %."""
    assert budget(bench, [50.0] * 29 + [200.0], sample=True).result == "pass"  # type: ignore[attr-defined]
    over = budget(bench, [50.0] * 28 + [200.0] * 2, sample=True)
    assert (over.result, over.questions) == ("fail", ("q028", "q029"))  # type: ignore[attr-defined]
    assert budget(bench, [200.0] * 30).result == "fail"  # type: ignore[attr-defined]


def test_repeats_that_happen_to_agree_are_no_reason_for_the_exact_bound(tmp_path: Path) -> None:
    """A share of two repeats lies between 0 and 1 too: which bound is taken is known before anything is measured."""
    bench = Bench(tmp_path, 100)
    arm = bench.arm([row(name, 50.0, "latency", None, repeat=one) for name in bench.ids for one in (0, 1)])
    arm = arm._replace(subject=msgspec.structs.replace(arm.subject, repeats=2))
    policy = {"budgets": [{"measure": "latency", "statistic": "p95", "at_most": 100.0}]}
    assert bench.read(policy, arm)[0].method == "betting"


def test_a_timeout_is_not_left_out_of_a_budget(bench: Bench) -> None:
    """One that was given up after 300 ms is above 100 ms; one that failed at once may have been."""
    late = row("q029", "error", "latency", None)
    for least, wanted in ((300.0, "fail"), (10.0, "inconclusive")):
        bounds = msgspec.structs.replace(late, bounds=msgspec.convert({"low": least, "high": least}, type_of_bounds()))
        arm = bench.arm([*bench.rows([50.0] * 28 + [200.0, None], "latency", None), bounds])
        policy = {"budgets": [{"measure": "latency", "statistic": "p95", "at_most": 100.0, "sample": True}]}
        assert bench.read(policy, arm)[0].result == wanted


def type_of_bounds() -> type:
    from ragassay.records.score import Bounds

    return Bounds


def test_totals_and_means(bench: Bench) -> None:
    total = {"measure": "cost", "statistic": "total", "at_most": 3.0, "sample": True}
    assert budget(bench, [0.1] * 30, **total).result == "pass"  # type: ignore[attr-defined]
    assert budget(bench, [0.11] * 30, **total).result == "fail"  # type: ignore[attr-defined]
    unknown = budget(bench, [0.05] * 29 + ["missing"], **total)
    assert unknown.result == "inconclusive", "nobody knows what the last one cost"  # type: ignore[attr-defined]
    mean = {"measure": "context_tokens", "statistic": "mean", "at_most": 100.0, "sample": True}
    assert budget(bench, [90.0] * 29 + [110.0], **mean).result == "pass"  # type: ignore[attr-defined]


def test_a_share_of_failures(bench: Bench) -> None:
    share = {"measure": "error_rate", "statistic": "share", "at_most": 0.1}
    assert budget(bench, [0.0] * 30, **share).result == "pass"  # type: ignore[attr-defined]
    assert budget(bench, [0.0] * 29 + [1.0], **share).result == "inconclusive"  # type: ignore[attr-defined]
    assert budget(bench, [0.0] * 27 + [1.0] * 3, **share, sample=True).result == "pass"  # type: ignore[attr-defined]


# --- verdicts of questions


def outcome_rows(bench: Bench, said: list[str | None]) -> list[Observation]:
    return [
        Observation(
            query_id=name, repeat=0, measure="outcome", status="value", value=1.0, target=one, numerator=1.0,
            denominator=1.0,
        )
        for name, one in zip(bench.ids, said, strict=True) if one is not None
    ]  # type: ignore[arg-type]  # fmt: skip


def test_a_verdict_is_a_conjunction_and_doubt_is_by_risk(tmp_path: Path) -> None:
    """Every question has recall of 1 but q004, which has none; who has no outcome is in doubt."""
    each = {
        "q000": {}, "q001": {"risk": "high", "notes": "money"}, "q002": {"risk": "moderate"}, "q003": {"risk": "low"},
        "q004": {},
    }  # fmt: skip
    bench = Bench(tmp_path, 5, each=each)
    rows = [*bench.rows([1.0, 1.0, 1.0, 1.0, 0.0]), *outcome_rows(bench, ["answered", None, None, None, "answered"])]
    arm = bench.arm(rows)
    policy = msgspec.convert(
        {"name": "p", "needs": [{"measure": RECALL, "at_least": 1.0}], "verdicts": [{"at_least": 0.5}]}, Policy
    )
    found = questions(bench.store, arm, policy, world_of(bench, arm))
    assert [one.verdict.verdict for one in found] == ["good", "bad", "review", "open", "bad"]
    assert found[4].verdict.reasons == (f"need {RECALL}",)
    assert {(one.risk, one.good, one.bad, one.review, one.open) for one in shares(found)} == {
        (None, 1, 1, 0, 0), ("high", 0, 1, 0, 0), ("moderate", 0, 0, 1, 0), ("low", 0, 0, 0, 1),
    }  # fmt: skip
    assert found[4].near == (), "1.0 away is not near"


def test_a_band_may_allow_declining_or_demand_an_answer(tmp_path: Path) -> None:
    each = {f"q{one:03}": {"risk": "high", "notes": "money"} for one in range(2)}
    bench = Bench(tmp_path, 2, each=each)
    arm = bench.arm([*bench.rows([1.0, 1.0]), *outcome_rows(bench, ["abstained", "answered"])])

    def said(outcomes: list[str], needs: Sequence[object] = ()) -> list[str]:
        policy = msgspec.convert({"name": "p", "needs": needs, "bands": {"high": {"outcomes": outcomes}}}, Policy)
        return [one.verdict.verdict for one in questions(bench.store, arm, policy, world_of(bench, arm))]

    assert said(["answered", "abstained"]) == ["good", "open"], "of an answer nothing is needed"
    policy = msgspec.convert({"name": "p", "bands": {"high": {"outcomes": ["answered"]}}}, Policy)
    assert "no_need" in questions(bench.store, arm, policy, world_of(bench, arm))[1].verdict.reasons, "and that is why"
    assert said(["answered"]) == ["bad", "open"]
    needs = [{"measure": RECALL, "at_least": 1.0}]
    assert said(["answered", "abstained"], needs) == ["good", "good"]
    assert said(["answered"], needs) == ["bad", "good"]
    assert said(["abstained"], needs) == ["good", "bad"]


def test_the_share_of_good_questions(bench: Bench) -> None:
    policy = {"needs": [{"measure": RECALL, "at_least": 1.0}], "verdicts": [{"at_least": 0.9}]}
    answered: list[str | None] = ["answered"] * 30
    good = bench.arm([*bench.rows([1.0] * 30), *outcome_rows(bench, answered)])
    (found,) = bench.read(policy, good)
    assert (found.result, found.bound) == ("pass", pytest.approx(0.05 ** (1 / 30)))
    bad = bench.arm([*bench.rows([0.0] * 30), *outcome_rows(bench, answered)])
    assert bench.read(policy, bad)[0].result == "fail"
    unlabelled = bench.arm(bench.rows([1.0] * 30))
    assert bench.read(policy, unlabelled)[0].result == "inconclusive", "nobody knows what the outcomes are"


def test_what_is_near_a_threshold(tmp_path: Path) -> None:
    """Within 0.05 of the range on either side."""
    bench = Bench(tmp_path, 4)
    arm = bench.arm([*bench.rows([0.76, 0.84, 0.86, 0.74]), *outcome_rows(bench, ["answered"] * 4)])
    policy = msgspec.convert({"name": "p", "needs": [{"measure": RECALL, "at_least": 0.8}], "near": 0.05}, Policy)
    found = questions(bench.store, arm, policy, world_of(bench, arm))
    assert [[near.holds for near in one.near] for one in found] == [[False], [True], [], []]
    strict = msgspec.convert({"name": "p", "needs": [{"measure": RECALL, "at_least": 1.0}], "near": 0.05}, Policy)
    best = bench.arm([*bench.rows([1.0, 0.96, 0.9, 0.0]), *outcome_rows(bench, ["answered"] * 4)])
    found = questions(bench.store, best, strict, world_of(bench, best))
    assert [len(one.near) for one in found] == [0, 1, 0, 0], "what could not be better is near nothing"


# --- refusal


def test_floor_and_ceiling_of_declining(tmp_path: Path) -> None:
    each = {f"q{one:03}": {"class": "unanswerable", "relevant": []} for one in range(30)}
    bench = Bench(tmp_path, 60, each=each)

    def read(abstained: float, refused: float) -> list[str]:
        rows = [row(name, abstained, "abstention_rate", None) for name in bench.ids[:30]]
        rows += [row(name, refused, "false_refusal", None) for name in bench.ids[30:]]
        policy = {"refusal": {"abstention_at_least": 0.8, "false_refusal_at_most": 0.2}}
        return [one.result for one in bench.read(policy, bench.arm(rows))]

    assert read(1.0, 0.0) == ["pass", "pass"]
    assert read(0.0, 1.0) == ["review", "review"], "outside of the declared limits a person is called"


def test_the_exact_words_of_a_refusal(bench: Bench) -> None:
    def read(*texts: str, outcome: str = "abstained") -> tuple[str, tuple[str, ...]]:
        traces = [
            TraceContent(
                query_id=name, repeat=0, as_of=AS_OF,
                answer=Answer(text=text, outcome=outcome, outcome_source="system"),
            )
            for name, text in zip(bench.ids, texts, strict=False)
        ]  # type: ignore[arg-type]  # fmt: skip
        rows = outcome_rows(bench, [outcome] * len(texts) + [None] * (30 - len(texts)))
        bench.count += 1
        digest = bench.written.table(rows, f"words{bench.count}", traces=traces, estimates=False)
        policy = {"refusal": {"text": "I do not know.", "route": "desk", "on_fail": "block"}}
        (found,) = bench.read(policy, read_evidence(bench.store, digest, "words"))
        return found.result, found.questions

    assert read("I do not know.", " I do not know.\n") == ("pass", ())
    assert read("I do not know.", "No idea.") == ("fail", ("q001",))
    assert read("I do not know. Ask the desk.", outcome="escalated") == ("pass", ())
    assert read("I do not know.", outcome="escalated") == ("fail", ("q000",)), "the route is not named"
    assert read("Forty-two.", outcome="answered") == ("inconclusive", ()), "nobody declined, so nothing was checked"


# --- reviews


def review(query_id: str, ours: Evidence, theirs: Evidence, **more: str) -> Review:
    fields = {"by": "Ada", "at": AS_OF, "verdict": "acceptable", "reason": "looked", **more}
    return Review(query_id=query_id, candidate=ours.scores, baseline=theirs.scores, **fields)  # type: ignore[arg-type]


def test_each_of_the_largest_moves_must_have_been_opened(bench: Bench) -> None:
    ours = bench.arm(bench.rows([1.0, 0.9, 0.0, 0.1] + [0.5] * 26))
    theirs = bench.arm(bench.rows([0.0, 0.5, 1.0, 0.5] + [0.5] * 26))
    demand = ReviewDemand(measure=RECALL, largest=1)
    moved = largest(ours, theirs, demand)
    assert isinstance(moved, list)
    assert [(one.query_id, one.difference) for one in moved] == [("q000", 1.0), ("q002", -1.0)]
    policy = Policy(name="p", review=demand)

    def read(*reviews: Review) -> tuple[str, tuple[str, ...]]:
        (found,) = read_reviews(policy, ours, theirs, reviews, AS_OF)
        return found.result, found.reasons

    both = review("q000", ours, theirs), review("q002", ours, theirs)
    assert read() == ("inconclusive", ("review_absent",))
    assert read(both[0]) == ("inconclusive", ("review_absent",))
    assert read(*both) == ("pass", ())
    assert read(*both, review("q002", ours, theirs, verdict="not_acceptable", by="Bo")) == ("fail", ("not_acceptable",))
    later = review("q002", ours, theirs, verdict="not_acceptable", at="2026-08-02T00:00:00Z")
    assert read(*both, later)[0] == "fail", "the latest word of a person counts"
    other = review("q000", theirs, ours), review("q002", theirs, ours)
    assert read(*other) == ("inconclusive", ("review_absent",)), "a review of another change is not one of this"


def test_reviews_are_kept_and_never_replaced(bench: Bench) -> None:
    ours, theirs = bench.arm(bench.rows([1.0] * 30)), bench.arm(bench.rows([0.0] * 30))
    first, second = review("q000", ours, theirs), review("q000", ours, theirs, verdict="not_acceptable")
    add_review(bench.store, first)
    add_review(bench.store, second)
    add_review(bench.store, first)
    assert len(stored_reviews(bench.store, ours.scores, theirs.scores)) == 2


# --- before any rule


def standing(bench: Bench, arm: Evidence, as_of: str = "2026-08-02T00:00:00Z", **policy: object) -> set[str]:
    made = Policy(name="p", **policy)  # type: ignore[arg-type]
    arm = arm._replace(
        protocol=msgspec.structs.replace(arm.protocol, policy=Digest("sha256:x"), scoring=arm.table.scoring)
    )
    found = read_standing(made, Digest("sha256:x"), [("candidate", arm)], as_of)
    return {reason for one in found for reason in one.reasons}


def traced(bench: Bench, failed: int = 0, versions: dict[str, str] | None = None) -> Evidence:
    traces = [
        TraceContent(
            query_id=name, repeat=0, as_of=AS_OF, failure=Failure(cause="timeout") if place < failed else None,
            versions=versions or {} if place == 29 else {"model": "a"} if versions else {},
        )
        for place, name in enumerate(bench.ids)
    ]  # type: ignore[arg-type]  # fmt: skip
    bench.count += 1
    digest = bench.written.table(bench.rows([1.0] * 30), f"t{bench.count}", traces=traces, estimates=False)
    return read_evidence(bench.store, digest, "traced")


def test_what_must_be_so_before_any_rule(bench: Bench) -> None:
    good = traced(bench)
    assert standing(bench, good) == {"no_rules"}
    assert standing(bench, bench.arm(bench.rows([1.0] * 30))) == {"no_rules", "no_traces"}
    assert standing(bench, traced(bench, versions={"model": "b"})) == {"no_rules", "mixed_run"}
    assert standing(bench, traced(bench, failed=6)) == {"no_rules"}, "a fifth may fail"
    assert standing(bench, traced(bench, failed=7)) == {"no_rules", "too_many_errors"}
    assert standing(bench, good, max_age_days=1) == {"no_rules"}
    assert standing(bench, good, max_age_days=2**53 - 1) == {"no_rules"}, "more days than the calendar has"
    assert standing(bench, good, "2026-08-02T12:00:01Z", max_age_days=1) == {"no_rules", "stale_evidence"}
    assert standing(bench, good, "2026-07-01T00:00:00Z", max_age_days=1) == {"no_rules", "as_of_before_evidence"}
    partial = good._replace(run=msgspec.structs.replace(good.run, state="partial", stopped="cost_ceiling"))
    assert standing(bench, partial) == {"no_rules", "partial_run"}


def test_a_policy_that_was_not_sealed_calls_a_person(bench: Bench) -> None:
    good = traced(bench)
    found = list(read_standing(Policy(name="p"), Digest("sha256:other"), [("candidate", good)], AS_OF))
    assert {one.reasons[0]: one.result for one in found}["policy_not_sealed"] == "review"


def test_arms_that_were_not_measured_alike_are_refused(bench: Bench) -> None:
    from ragassay.errors import UsageError

    one = bench.arm(bench.rows([1.0] * 30))
    other = one._replace(subject=msgspec.structs.replace(one.subject, corpus=Digest("sha256:" + "0" * 64)))
    with pytest.raises(UsageError, match="arm1 and arm1 were not measured alike: the corpora differ") as raised:
        check_alike(bench.store, one, other, ())
    assert "document_text" in raised.value.hint
    check_alike(bench.store, one, other, ("document_text",))
    newer = bench.arm(bench.rows([1.0] * 30), measure_versions={"recall": "2"})
    with pytest.raises(UsageError, match=r"the ways of measuring differ \(measure recall"):
        check_alike(bench.store, one, newer, ())
    check_alike(bench.store, one, newer, ("measure",))
    laxer = bench.arm(bench.rows([1.0] * 30), hold=0.5)
    with pytest.raises(UsageError, match=r"the ways of measuring differ \(threshold hold") as raised:
        check_alike(bench.store, one, laxer, ())
    assert 'variation = ["threshold"]' in raised.value.hint
