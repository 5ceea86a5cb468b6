"""Questions near a threshold, with what is probably behind it, as candidates for a benchmark. Confirms no label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ragassay.gate.decide import Decided
from ragassay.gate.evidence import UNCONFIRMED
from ragassay.gate.reading import NoColumn, place_of
from ragassay.gate.results import number
from ragassay.gate.verdicts import Near, Question, near_of
from ragassay.measures import parse
from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Case, CaseLine
from ragassay.records.trace import Item, TraceContent
from ragassay.score.hold import Reader, State, fact_states
from ragassay.score.labels import Labels
from ragassay.score.world import World
from ragassay.traces.graph import context_of

Reason = Literal["missing_evidence", "weak_authority", "retrieval_noise", "generation_error", "policy_too_strict"]
HARMFUL = frozenset({"contradicts", "stale", "distractor"})
OF_ANSWERS = frozenset({"answer", "grounding", "refusal"})
"""Stages whose measures read what was said."""


class Queued(NamedTuple):
    """One question near a threshold."""

    question: Question
    near: tuple[Near, ...]
    reasons: tuple[Reason, ...]


def queue(made: Decided) -> list[Queued]:
    """Every question of which a need or a must_hold rule is within `policy.near` of its threshold, on either side.

    missing_evidence: evidence that a fact needs (else: a relevant label) is not in the context. weak_authority: a
    document in the context is superseded, no longer valid, or below the policy's least authority. retrieval_noise: a
    harmful label is in the context, or more items without needed evidence than with it. generation_error: all evidence
    is there, and what was said does not hold. policy_too_strict: none of these.
    """
    traces: dict[str, list[TraceContent]] = {}
    for content in made.candidate.contents:
        traces.setdefault(content.query_id, []).append(content)
    must = _near_must_hold(made)
    found = []
    for one in made.questions:
        near = (*one.near, *must.get(one.case.query_id, ()))
        if near:
            own = traces.get(one.case.query_id, [])
            found.append(Queued(one, near, reasons_of(made, one, near, own)))
    return found


def _near_must_hold(made: Decided) -> dict[str, list[Near]]:
    found: dict[str, list[Near]] = {}
    for rule in made.policy.must_hold:
        measure = made.candidate.spelled(rule.measure)
        place = place_of(made.candidate, measure, rule.step)
        if isinstance(place, NoColumn):
            continue
        rows = made.candidate.observed.at(str(measure), place)
        for case in made.candidate.cases:
            if case.query_id in rule.cases or (not rule.cases and case.must_hold):
                near = near_of(rule, measure, rows.get(case.query_id, ()), made.policy.near)
                if near is not None:
                    found.setdefault(case.query_id, []).append(near)
    return found


def reasons_of(
    made: Decided, question: Question, near: Sequence[Near], traces: Sequence[TraceContent]
) -> tuple[Reason, ...]:
    """The reason codes of one question, in the order in which they are declared."""
    labels = Labels(question.case, made.world)
    found: set[Reason] = set()
    for content in traces:
        items = context_of(content).items
        if items is None:
            continue
        found |= _of_context(items, labels, made)
    if "missing_evidence" not in found and _said_wrong(question, near):
        found.add("generation_error")
    order: tuple[Reason, ...] = ("missing_evidence", "weak_authority", "retrieval_noise", "generation_error")
    return tuple(one for one in order if one in found) or ("policy_too_strict",)


def _of_context(items: Sequence[Item], labels: Labels, made: Decided) -> set[Reason]:
    reader = Reader(labels.visible, made.world, made.candidate.scoring.hold)
    states, reading = reader.states(items), reader.read(items)
    found: set[Reason] = set()
    if labels.required:
        held = fact_states(labels, reader, states)
        if any(held.get(fact.id) is State.NOT_HELD for fact in labels.required):
            found.add("missing_evidence")
    needed = {number for number, one in enumerate(reader.labels) if one.grade >= made.world.rel}
    if not labels.required and any(states[one] is State.NOT_HELD for one in needed):
        found.add("missing_evidence")
    roles = {one.id: one.role for one in labels.case.evidence or ()}
    harmful = {number for number, one in enumerate(reader.labels) if roles.get(one.id) in HARMFUL}  # type: ignore[call-overload]
    with_it = sum(not needed.isdisjoint(touched) for touched in reading.touched)
    noisy = needed and with_it < len(items) - with_it
    if noisy or any(not harmful.isdisjoint(touched) for touched in reading.touched):
        found.add("retrieval_noise")
    if any(_weak(item, made.world, made.policy.least_authority) for item in items):
        found.add("weak_authority")
    return found


def _weak(item: Item, world: World, least: int | None) -> bool:
    for span in item.sources:
        if world.outdated(span):
            return True
        for document in world.versions(span.document_id, span.version) if least is not None else ():
            said = document.metadata.get("authority")
            if isinstance(said, int | float) and not isinstance(said, bool) and least is not None and said < least:
                return True
    return False


def _said_wrong(question: Question, near: Sequence[Near]) -> bool:
    """An outcome that is not allowed, a missing citation, or a need of the answer that does not hold."""
    spelled = [one.removeprefix("need ") for one in question.verdict.reasons if one.startswith("need ")]
    spelled += [one.measure for one in near if not one.holds]
    of_outcome = any(one.startswith("outcome_") or "citation" in one for one in question.verdict.reasons)
    wrong = question.verdict.verdict == "bad" and of_outcome
    return wrong or any(parse(one).declared.stage in OF_ANSWERS for one in spelled)


def queue_lines(made: Decided) -> Iterator[bytes]:
    """The queue as JSON lines that `[benchmark] cases` takes; each is marked as a candidate, which no rule reads.

    A person confirms one by taking the slice `split=candidate` away, after looking at question and labels.
    """
    taken = {str(one.query_id) for one in made.candidate.cases}
    for one in queue(made):
        yield canonical_bytes(_candidate(one, taken)) + b"\n"


def _candidate(one: Queued, taken: set[str]) -> CaseLine:
    case = one.question.case
    name, number_ = f"{case.query_id[:480]}~near", 2
    while name in taken:
        name, number_ = f"{case.query_id[:480]}~near{number_}", number_ + 1
    taken.add(name)
    told = "; ".join(
        f"{near.measure} {number(near.value)} {'holds' if near.holds else 'does not hold'} at {number(near.threshold)}"
        for near in one.near
    )
    notes = f"candidate: {', '.join(one.reasons)}; {told}; verdict {one.question.verdict.verdict}"
    fields: dict[str, Any] = {key: getattr(case, key) for key in Case.__struct_fields__}
    fields |= {
        "query_id": name,
        "slice": (*(each for each in case.slice if not each.startswith("split=")), UNCONFIRMED),
        "must_hold": False,
        "notes": f"{case.notes}; {notes}" if case.notes else notes,
        "lossy": False,
        "raw": None,
    }
    if case.conversation is None:
        fields["paraphrase_of"] = case.paraphrase_of or case.query_id
    return CaseLine(**fields)
