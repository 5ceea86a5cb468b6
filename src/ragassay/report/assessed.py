"""The assessments of probes that a scorecard shows: those that decisions read, else those of the run's own corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragassay.errors import AbsentError
from ragassay.probe.standing import changed_since
from ragassay.records.base import Digest
from ragassay.records.decision import Decision
from ragassay.records.policy import Policy
from ragassay.records.probe import Assessment, Finding, ProbeSuite
from ragassay.records.protocol import Subject
from ragassay.report.advised import Advised, advised_of
from ragassay.report.probed import Probed, probed

if TYPE_CHECKING:
    from ragassay.store import Store

DECLARED = ("embedding", "index", "policy")
"""What only the settings say; a scorecard reads records alone, so that without a decision nobody says it."""


class AssessedBy(NamedTuple):
    """One assessment, and whether it still holds for the run."""

    digest: Digest
    assessment: Assessment
    suite: str
    findings: tuple[Finding, ...]
    stale: tuple[str, ...]
    unknown: tuple[str, ...]
    advised: Advised


def assessments_behind(
    store: Store, subject: Subject, policy: Policy, decisions: Sequence[tuple[Decision, str]]
) -> Iterator[AssessedBy]:
    """Those of decisions on exactly this score table; without any, the newest of each suite that is about the run's
    corpus, or that its policy names."""
    said: dict[Digest, Decision] = {}
    for decision, _ in decisions:
        if decision.assessment is not None:
            said.setdefault(decision.assessment, decision)
    for digest, decision in said.items():
        try:
            one = store.get_record(Assessment, digest)
            now = decision.standing
            stale = _stale(one, subject) if now is None else changed_since(one.standing, now)
            yield _read(store, digest, one, stale, DECLARED if now is None else ())
        except AbsentError:  # taken away on purpose, or left out of a public file
            continue
    if said:
        return
    wanted = policy.probe.suite if policy.probe is not None else None
    for ref in store.refs("assessment/"):
        one = store.get_record(Assessment, ref.digest)
        stale = _stale(one, subject)
        if not stale or ref.name.removeprefix("assessment/") == wanted:
            yield _read(store, ref.digest, one, stale, () if stale else DECLARED)


def _stale(one: Assessment, subject: Subject) -> tuple[str, ...]:
    return () if one.standing.corpus == subject.corpus else ("corpus",)


def _read(
    store: Store, digest: Digest, one: Assessment, stale: tuple[str, ...], unknown: tuple[str, ...]
) -> AssessedBy:
    suite = store.get_record(ProbeSuite, one.suite).name
    findings = tuple(store.get_lines(Finding, one.findings))
    return AssessedBy(digest, one, suite, findings, stale, unknown, advised_of(store, suite, digest))


def sections(found: Sequence[AssessedBy]) -> tuple[Probed, ...]:
    """What the scorecard shows of each."""
    return tuple(
        probed(
            one.assessment,
            one.findings,
            one.stale,
            suite=one.suite,
            digest=one.digest,
            unknown=one.unknown,
            advised=one.advised,
        )
        for one in found
    )
