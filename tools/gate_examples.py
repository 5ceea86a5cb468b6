"""A policy that uses every kind of rule, a decision under it, a review. Writes nothing itself."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ragassay.records.base import Record
from ragassay.records.comparison import Arm
from ragassay.records.decision import Decision, QuestionVerdict, Review, RuleResult, VerdictShare
from ragassay.records.policy import (
    Band,
    Budget,
    MustHold,
    Need,
    Policy,
    ProbeDemand,
    Refusal,
    ReviewDemand,
    Rule,
    Verdicts,
)
from ragassay.records.probe import Standing
from ragassay.records.score import Population


def decided(digest: Callable[[str], str]) -> dict[str, Record]:
    """By name."""
    policy = Policy(
        name="release", alpha=0.01, max_age_days=14, judged_gap=0.1, near=0.1, least_authority=2,
        reference=True, variation=("embedder",),
        rules=(
            Rule(measure="recall@20", class_="answerable", step="fuse", at_least=0.8),
            Rule(measure="unsupported_answer", class_="unanswerable", at_most=0.1, on_fail="review"),
            Rule(measure="ndcg@5", slice="language=de", risk="high", margin=0.02, name="German stays as good"),
            Rule(measure="error_rate", zero=True),
        ),
        must_hold=(MustHold(measure="survival", cases=("q-0042",), at_least=1.0),),
        budgets=(
            Budget(measure="latency(kind=rerank)", statistic="p95", at_most=400.0),
            Budget(measure="cost", statistic="mean", at_most=0.01, sample=True),
        ),
        needs=(Need(measure="faithfulness(by=panel-a)", risk="high", at_least=1.0),),
        bands={"high": Band(outcomes=("answered", "abstained"), citations=True), "low": Band(doubt="review")},
        verdicts=(Verdicts(class_="answerable", risk="high", at_least=0.9),),
        refusal=Refusal(text="There is not enough evidence.", route="support", abstention_at_least=0.8),
        review=ReviewDemand(measure="ndcg@5", largest=5),
    )  # fmt: skip
    arm = Arm(
        name="candidate", run=digest("run"), run_record=digest("record"), scores=digest("scores"),
        subject=digest("subject"), protocol=digest("protocol"),
    )  # fmt: skip
    floor = RuleResult(
        rule="recall(rel=2)@20 at fuse, answerable: at least 0.8", kind="floor", on_fail="block", result="inconclusive",
        told="too few questions", reasons=("not_enough_questions",), measure="recall(rel=2)@20",
        population=Population(class_="answerable"), step="fuse", value=0.9, bound=0.72, optimistic=0.98, threshold=0.8,
        method="betting", attempted=30, scored=28, undefined=0, missing=1, error=1, clusters=30, needed=80,
        detectable=0.18, questions=("q-7",),
    )  # fmt: skip
    held = RuleResult(rule="survival of q-0042", kind="must_hold", on_fail="block", result="pass", told="it holds")
    review = Review(
        query_id="q-7", candidate=digest("scores"), baseline=digest("baseline"), by="N. N.", at="2026-08-02T10:00:00Z",
        verdict="acceptable", reason="the label is wrong",
    )  # fmt: skip
    decision = Decision(
        outcome="inconclusive", policy=digest("policy"), candidate=arm, as_of="2026-08-02T12:00:00Z",
        results=(floor, held), questions=digest("questions"), reviews=(review,), variation=("policy",),
        notes=("Declared to differ from the baseline: benchmark.",),
        verdicts=(VerdictShare(class_="answerable", risk="high", questions=3, good=1, bad=1, review=0, open=1),),
    )  # fmt: skip
    verdict = QuestionVerdict(
        query_id="q-7", class_="answerable", risk="high", verdict="bad", reasons=("missing_evidence",)
    )
    return {
        "policy-release": policy, "decision": decision, "review": review, "questionverdict": verdict,
        **_probed(decision, digest),
    }  # fmt: skip


def _probed(decision: Decision, digest: Callable[[str], str]) -> dict[str, Record]:
    """The demand for an assessment of probes, and a decision that a leak has made."""
    demand = ProbeDemand(
        suite="tenants", at_most=0.001, channels={"items": 0.001, "answer": 0.002},
        categories=("unauthorized", "credential"), attacks="review", reviews=2, neighbours=0.1,
    )  # fmt: skip
    leak = RuleResult(
        rule="authorization: no leak", kind="probe", on_fail="block", result="fail", told="1 leak", reasons=("leak",)
    )
    standing = Standing(
        corpus=digest("corpus"), metadata=digest("metadata"), embedding="wordllama 256", index="exact", policy="rows 3"
    )
    failed = msgspec.structs.replace(
        decision, outcome="fail", results=(leak,), verdicts=(), assessment=digest("assessment"), standing=standing
    )
    return {"policy-probed": Policy(name="tenants", probe=demand), "decision-probed": failed}
