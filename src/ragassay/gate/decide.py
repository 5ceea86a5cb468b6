"""The room's verb: a sealed policy over one run or two to a decision in the store. Shows nothing, asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragassay.gate.budgets import read_budgets
from ragassay.gate.check import Finding, check, given_of
from ragassay.gate.evidence import Again, Evidence, check_alike, gather, score_again
from ragassay.gate.must_hold import read_must_hold
from ragassay.gate.notes import notes_of
from ragassay.gate.probed import JudgeAgain, Probed, read_probe, standing_now
from ragassay.gate.recorded import read_recorded
from ragassay.gate.refusals import read_words, rules_of
from ragassay.gate.results import result
from ragassay.gate.reviews import read_reviews
from ragassay.gate.rules import Arms, read_rules
from ragassay.gate.standing import read_standing, variation_of
from ragassay.gate.verdicts import Question, questions, read_verdicts, shares
from ragassay.gate.weak_baseline import read_weak_baseline
from ragassay.measures import parse
from ragassay.probe.again import judge_again
from ragassay.records.base import Digest
from ragassay.records.decision import Decision, Result, Review, RuleResult
from ragassay.records.policy import Policy
from ragassay.records.text import instant
from ragassay.score.confidence import with_implied
from ragassay.score.table import load_world
from ragassay.score.world import World
from ragassay.store import Store

MOST_REFUSED = 5


class Decided(NamedTuple):
    """A decision, its digest, and what it was made from."""

    decision: Decision
    digest: Digest
    policy: Policy
    candidate: Evidence
    baseline: Evidence | None
    questions: list[Question]
    world: World


def decide(
    store: Store,
    policy: Digest,
    candidate: Digest,
    *,
    baseline: Digest | None = None,
    reference: Digest | None = None,
    as_of: str,
    reviews: Sequence[Review] = (),
) -> tuple[Decision, Digest]:
    """Read a policy over a run's score table, and over a baseline's; the decision and its digest in the store.

    `policy` is a Policy record, the others are ScoreTable records, `as_of` the moment at which evidence is fresh or
    stale. Every byte is hashed again, and every table is made again from its traces.

    The outcome: fail if a blocking rule failed, else inconclusive if a blocking rule is, else review if a rule calls a
    person, else pass. Without rules it is inconclusive. The same records give the same decision.

    Raises IntegrityError for damaged bytes or a table that does not follow from its run, UsageError where candidate
    and baseline were not measured alike.
    """
    made = decided(store, policy, candidate, baseline=baseline, reference=reference, as_of=as_of, reviews=reviews)
    return made.decision, made.digest


def decided(
    store: Store,
    policy: Digest,
    candidate: Digest,
    *,
    baseline: Digest | None = None,
    reference: Digest | None = None,
    as_of: str,
    reviews: Sequence[Review] = (),
    names: tuple[str, str] = ("candidate", "baseline"),
    again: Again = score_again,
    probed: Probed | None = None,
    judge: JudgeAgain = judge_again,
) -> Decided:
    """`decide`, with all that was read, for queues and lists of people; `again`: who scores the runs again,
    `judge`: who judges the probes again."""
    moment = instant(as_of)
    rules = store.get_record(Policy, policy)
    wanted = measures_of(rules)
    ours = gather(store, candidate, names[0], wanted, again)._replace(judges=rules.judges)
    theirs = None
    if baseline is not None:
        theirs = gather(store, baseline, names[1], wanted, again)._replace(judges=rules.judges)
    if theirs is not None:
        check_alike(store, ours, theirs, rules.variation)
    world = load_world(store, ours.run, ours.protocol, ours.subject, ours.benchmark)
    asked = questions(store, ours, rules, world)
    arms = Arms(store, rules, ours, theirs)
    given = probed if probed is not None and rules.probe is not None else Probed()
    now = standing_now(store, ours, given.declared)
    results = [
        *read_standing(rules, policy, arms.sides, moment),
        *read_weak_baseline(arms, reference, moment, again),
        *read_demands(arms, asked),
        *read_probe(arms, given, now, moment, judge),
        *read_reviews(rules, ours, theirs, reviews, moment),
    ]
    found = check(rules, given_of(store, ours))
    if outcome_of(results) == "pass":
        results += read_check(found)
    decision = Decision(
        outcome=outcome_of(results),
        policy=policy,
        candidate=ours.arm,
        baseline=None if theirs is None else theirs.arm,
        reference=reference,
        as_of=moment,
        results=tuple(results),
        questions=store.put_lines([one.verdict for one in asked]),
        verdicts=shares(asked),
        reviews=tuple(reviews),
        assessment=given.assessment,
        standing=now,
        variation=variation_of(policy, ours),
        notes=tuple(notes_of(rules, ours, theirs, reference, found, asked)),
    )
    return Decided(decision, store.put_record(decision), rules, ours, theirs, asked, world)


def measures_of(policy: Policy) -> frozenset[str]:
    """The measures that a policy names, and those of whose rows they are made."""
    found = {one.measure for one in (*policy.rules, *rules_of(policy.refusal))}
    found |= {one.measure for one in policy.must_hold} | {one.measure for one in policy.budgets}
    found |= {one.measure for one in policy.needs}
    found |= {policy.review.measure} if policy.review else set()
    return frozenset(map(str, with_implied(map(parse, found))))


def read_demands(arms: Arms, asked: Sequence[Question]) -> list[RuleResult]:
    """The results of all that a policy demands of these arms: rules, must_hold, budgets, verdicts, refusal, ..."""
    policy = arms.policy
    return [
        *read_rules(arms, policy.rules),
        *read_must_hold(arms.store, arms.candidate, policy.must_hold),
        *read_budgets(arms.candidate, policy.budgets, policy.alpha, arms.baseline),
        *read_verdicts(policy, asked),
        *read_rules(arms, rules_of(policy.refusal)),
        *read_words(arms.candidate, policy.refusal),
        *read_recorded(arms),
    ]


def read_check(found: Sequence[Finding]) -> list[RuleResult]:
    """What `policy check` refuses, where everything else would let the run pass."""
    refused = [f"{one.field}: {one.message}" for one in found if one.level == "refused"]
    if not refused:
        return []
    told = f"`ragassay policy check` refuses it, so nothing passes. {'. '.join(refused[:MOST_REFUSED])}."
    return [result("policy", "evidence", "block", None, told, ["policy_refused"])]


def outcome_of(results: Sequence[RuleResult]) -> Result:
    """One outcome from all results; nothing read is inconclusive."""
    if any(one.result == "fail" for one in results):
        return "fail"
    if any(one.result == "inconclusive" and one.on_fail == "block" for one in results):
        return "inconclusive"
    if not any(one.kind != "evidence" for one in results):
        return "inconclusive"
    if any(one.result != "pass" for one in results):
        return "review"
    return "pass"
