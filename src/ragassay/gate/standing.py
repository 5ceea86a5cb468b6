"""What must be so before any rule is read: traces, one version, fresh evidence, few errors, a sealed policy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from ragassay.gate.evidence import Evidence
from ragassay.gate.results import moment, number, result
from ragassay.records.base import Digest
from ragassay.records.comparison import Artefact
from ragassay.records.decision import RuleResult
from ragassay.records.policy import OnFail, Policy
from ragassay.records.text import many

TOO_MANY_ERRORS = "too_many_errors"
"""Reason code that ends in exit code 4."""


def read_standing(policy: Policy, digest: Digest, arms: list[tuple[str, Evidence]], as_of: str) -> Iterator[RuleResult]:
    """Results of kind evidence that are not pass; `arms` are (candidate or baseline, evidence)."""
    if not policy.demands:
        yield _stop("policy", "The policy demands nothing, so nothing can pass.", "no_rules")
    for side, one in arms:
        yield from _run(side, one, policy.max_errors)
        if policy.max_age_days is not None:
            yield from _age(side, one, policy.max_age_days, as_of)
    if len(arms) > 1 and arms[0][1].table.run_record == arms[1][1].table.run_record:
        told = "The baseline is the candidate's own run: nothing was compared."
        yield _stop("the two runs", told, "same_run")
    for artefact in variation_of(digest, arms[0][1]):
        words = {"policy": "policy was not", "measure": "measures were not those"}[artefact]
        sealed = "sealed before this run was asked" if artefact == "policy" else "that were sealed before this run"
        yield _stop(f"sealed {artefact}", f"The {words} {sealed}: a person must look.", f"{artefact}_not_sealed",
                    on_fail="review", held=False)  # fmt: skip


def variation_of(policy: Digest, candidate: Evidence) -> tuple[Artefact, ...]:
    """The layers of the candidate's protocol that are not those it was sealed with."""
    found: list[Artefact] = []
    if policy != candidate.protocol.policy:
        found.append("policy")
    if candidate.table.scoring != candidate.protocol.scoring:
        found.append("measure")
    return tuple(found)


def faults_of(policy: Policy, side: str, one: Evidence, as_of: str) -> Iterator[tuple[str, str]]:
    """What keeps one run from being evidence, a sentence and a reason code each; nothing: it is."""
    for found in _run(side, one, policy.max_errors):
        yield found.told, found.reasons[0]
    if policy.max_age_days is not None:
        for found in _age(side, one, policy.max_age_days, as_of):
            yield found.told, found.reasons[0]


def _run(side: str, one: Evidence, most: float) -> Iterator[RuleResult]:
    if not one.cases:
        yield _stop(f"questions of the {side}", "There is no confirmed question.", "no_questions")
    if not one.contents:
        yield _stop(f"traces of the {side}", "No question was answered or failed: there is no trace.", "no_traces")
    if one.mixed:
        told = f"More than one version of {', '.join(one.mixed)} was reported within the run."
        yield _stop(f"versions of the {side}", told, "mixed_run")
    share = one.failed / one.asked if one.asked else 0.0
    if share > most + 1e-12 or one.run.stopped == "error_budget":
        told = f"{one.failed:,} of {one.asked:,} questions failed; at most {number(most)} of them may."
        yield _stop(f"errors of the {side}", told, TOO_MANY_ERRORS)
    elif one.run.state != "complete":
        why = (one.run.stopped or one.run.state).replace("_", " ")
        left = many(one.asked - len(one.contents), "question was", "questions were")
        told = f"The run was ended early ({why}): {left} not asked."
        yield _stop(f"completeness of the {side}", told, "partial_run")


def _age(side: str, one: Evidence, days: int, as_of: str) -> Iterator[RuleResult]:
    """From the end of the run to `as_of`; evidence from after `as_of` is not known to be fresh either."""
    label = f"age of the {side}"
    ended, now = moment(one.envelope.finished_at or one.envelope.started_at), moment(as_of)
    if ended - now >= timedelta(days=1):
        yield _stop(label, f"The run ended at {ended:%Y-%m-%d}, after {now:%Y-%m-%d}.", "as_of_before_evidence")
    elif now - ended > timedelta(days=min(days, timedelta.max.days)):
        told = f"The run ended {(now - ended).days:,} days before {now:%Y-%m-%d}; at most {days:,} are allowed."
        yield _stop(label, told, "stale_evidence")


def _stop(label: str, told: str, reason: str, *, on_fail: OnFail = "block", held: bool | None = None) -> RuleResult:
    return result(label, "evidence", on_fail, held, told, [reason])
