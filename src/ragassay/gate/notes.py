"""What to know of a decision beside its results: what nobody checked, what no rule reads. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.gate.check import Finding
from ragassay.gate.evidence import Evidence
from ragassay.gate.verdicts import NO_NEED, Question
from ragassay.gate.weak_baseline import HOW
from ragassay.records.base import Digest
from ragassay.records.policy import Policy
from ragassay.records.text import many

MOST_WARNINGS = 10


def notes_of(
    policy: Policy, candidate: Evidence, baseline: Evidence | None, reference: Digest | None, found: Sequence[Finding],
    asked: Sequence[Question] = (),
) -> Iterator[str]:  # fmt: skip
    """One sentence or two each. `found`: what `policy check` finds on these questions and measures; `asked`: the
    verdicts of the questions."""
    if baseline is not None and reference is None and not policy.reference:
        yield f"The strength of the baseline was not checked. What checks it: {HOW}."
    if baseline is not None and policy.variation:
        named = ", ".join(one.replace("_", " ") for one in policy.variation)
        yield f"Declared to differ from the baseline: {named}."
    if candidate.unconfirmed:
        count = many(candidate.unconfirmed, "question is a candidate", "questions are candidates")
        yield f"{count} that nobody has confirmed (slice split=candidate): no rule reads any."
    if candidate.twins:
        count = many(candidate.twins, "question asks", "questions ask")
        yield f"{count} what another one asks, though nobody declared it, and count as one: `ragassay benchmark check`."
    bare = sum(NO_NEED in one.verdict.reasons for one in asked)
    if bare and (policy.needs or policy.bands or policy.verdicts):  # else nobody asked for verdicts
        count = many(bare, "question that was answered has", "questions that were answered have")
        yield f"{count} no verdict: nothing says what a good answer needs ([[policy.needs]])."
    warnings = [one for one in found if one.level == "warning"]
    for one in warnings[:MOST_WARNINGS]:
        yield f"{one.field}: {one.message}."
    if len(warnings) > MOST_WARNINGS:
        yield f"`ragassay policy check` warns of {len(warnings) - MOST_WARNINGS:,} more."
