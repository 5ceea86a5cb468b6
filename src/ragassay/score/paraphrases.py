"""Groups of paraphrases: what each variant found or did, and how far they agree. Judges no wording."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragassay.measures import Measure, Outcome
from ragassay.measures.selective import agreement
from ragassay.records.canonical import digest_text
from ragassay.records.case import Case
from ragassay.records.score import Observation
from ragassay.records.trace import Item
from ragassay.score.hold import Reader, State
from ragassay.score.labels import Labels
from ragassay.score.population import outside
from ragassay.score.rows import missing, value
from ragassay.score.summary import Summary

FEW = "fewer_than_2_paraphrases"
NOTHING = "nothing_found"
MOST_TARGET = 200


@dataclass(frozen=True, slots=True)
class Variant:
    """One wording of a question: a word for each repeat (its outcome, or what it found), or a number (mean)."""

    query_id: str
    words: tuple[frozenset[str], ...] = ()
    number: float | None = None
    why: tuple[str, str] | None = None
    """(status, reason) where it has no value."""


@dataclass(frozen=True, slots=True)
class Told:
    """How far the variants of one group agree, and which one stands apart."""

    variants: tuple[Variant, ...]
    value: float | None
    low: float
    high: float
    worst: str | None
    """The variant with the worst value, or that agrees least with the others; None where none is worse."""


def groups(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """The id of the original -> the original and its paraphrases, where there are two or more of them here."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[case.paraphrase_of or case.query_id].append(case)
    return {root: own for root, own in found.items() if len(own) > 1}


def found_evidence(
    measure: Measure, items: Sequence[Item], labels: Labels, reader: Reader
) -> tuple[Outcome, tuple[str, ...]]:
    """How much of the relevant evidence a list holds, and which, by its place, so that paraphrases can be compared."""
    nothing = outside(measure, labels)
    if nothing is not None:
        return nothing, ()
    rel = int(measure.get("rel") or labels.world.rel)
    states = reader.read(items[: measure.cutoff]).states
    relevant = [number for number, one in enumerate(reader.labels) if one.grade >= rel]
    if any(states[number] is State.UNKNOWN for number in relevant):
        return missing("unknown_items"), ()
    held = {_place(reader.labels[number].id, labels) for number in relevant if states[number] is State.HELD}
    every = {_place(reader.labels[number].id, labels) for number in relevant}
    return value(len(held), len(every)), tuple(sorted(held))


def _place(evidence_id: str, labels: Labels) -> str:
    one = next(each for each in labels.case.evidence or () if each.id == evidence_id)
    known = labels.world.versions(one.document_id, one.version)
    name, version = labels.world.original(known[0].document_id, known[0].version) or ("", "") if known else (
        one.document_id, one.version or "")  # fmt: skip
    told = f"{name}@{version}" if one.coarse else f"{name}@{version}:{one.start}-{one.end}"
    return told if len(told) <= MOST_TARGET else digest_text(told)


def variants(measure: Measure, own: Sequence[Case], rows: Mapping[str, Sequence[Observation]]) -> tuple[Variant, ...]:
    """What each case of a group did. `measure`: paraphrase_consistency or paraphrase_overlap; `rows`: by query_id."""
    inner = measure.inner
    made = []
    for case in sorted(own, key=lambda one: one.query_id):
        mine = [
            one for one in rows.get(case.query_id, ()) if inner is None or inner.name == "outcome" or not one.target
        ]
        known = [one for one in mine if one.status == "value"]
        if not known:
            first = min(mine, key=_gravity, default=None)
            why = ("missing", "no_observation") if first is None else (first.status, first.reason or first.status)
            made.append(Variant(case.query_id, why=why))
        elif inner is None:
            repeats = sorted({one.repeat for one in known if one.target is None})
            words = tuple(frozenset(one.target for one in known if one.repeat == r and one.target) for r in repeats)
            made.append(Variant(case.query_id, words=words))
        elif inner.name == "outcome":
            made.append(Variant(case.query_id, words=tuple(frozenset((one.target or "",)) for one in known)))
        else:
            numbers = [one.value for one in known if one.value is not None]
            made.append(Variant(case.query_id, number=math.fsum(numbers) / len(numbers)))
    return tuple(made)


def _gravity(one: Observation) -> int:
    return ("error", "missing", "undefined", "value").index(one.status)


def told_of(measure: Measure, own: tuple[Variant, ...]) -> Told:
    """How far the variants agree; with bounds of what those without a value could make of it."""
    known = [one for one in own if one.why is None]
    unknown = sum(one.why is not None and one.why[0] != "undefined" for one in own)
    inner = measure.inner
    if inner is not None and inner.name != "outcome":
        return _spread(inner, own, known, unknown)
    pairs = [(one, other) for place, one in enumerate(known) for other in known[place + 1 :]]
    shares = {(one.query_id, other.query_id): _alike(one, other, inner is None) for one, other in pairs}
    counted = {key: share for key, share in shares.items() if share is not None}
    every = len(known) + unknown
    open_pairs = every * (every - 1) // 2 - len(pairs)
    total = sum(counted.values())
    weight = len(counted) + open_pairs
    low, high = (total / weight, (total + open_pairs) / weight) if weight else (0.0, 1.0)
    mean = total / len(counted) if counted else None
    return Told(own, mean, low, high, _apart(counted))


def _alike(one: Variant, other: Variant, found: bool) -> float | None:
    """Jaccard of what both found, mean over their repeats, None where neither found anything; or the agreement."""
    if not found:
        return agreement([[min(word) for word in each.words] for each in (one, other)])
    overlaps = [len(a & b) / len(a | b) for a in one.words for b in other.words if a | b]
    return sum(overlaps) / len(overlaps) if overlaps else None


def _apart(shares: Mapping[tuple[str, str], float]) -> str | None:
    """The variant that agrees least with the others; None where two agree equally little."""
    own: dict[str, list[float]] = defaultdict(list)
    for pair, share in shares.items():
        for name in pair:
            own[name].append(share)
    means = {name: math.fsum(each) / len(each) for name, each in own.items()}
    order = sorted(means, key=lambda name: means[name])
    return order[0] if len(order) > 1 and means[order[0]] < means[order[1]] - 1e-12 else None


def _spread(inner: Measure, own: tuple[Variant, ...], known: Sequence[Variant], unknown: int) -> Told:
    """1 - (greatest - least) over the range of the measure."""
    least, greatest = inner.declared.low, inner.declared.high or 1.0
    span = greatest - least
    numbers = [one.number or 0.0 for one in known]
    mean = 1 - (max(numbers) - min(numbers)) / span if len(numbers) > 1 else None
    high = 1.0 if mean is None else mean
    low = high
    if unknown:
        ends = max(greatest - min(numbers), max(numbers) - least) if numbers else span
        low = 0.0 if unknown > 1 else 1 - ends / span
    worst = None
    if len(set(numbers)) > 1:
        bad = min(numbers) if inner.declared.direction != "lower" else max(numbers)
        worst = next(one.query_id for one in known if one.number == bad)
    return Told(own, mean, min(low, high), high, worst)


def summary_of(told: Told) -> Summary:
    """A group as an aggregate needs it: one unit, whatever the number of its variants."""
    causes = [one.why for one in told.variants if one.why is not None]
    unknown = next((status for status in ("error", "missing") for one in causes if one[0] == status), None)
    known = len(told.variants) - len(causes)
    if told.value is not None:
        made = Summary("value", value=told.value, numerator=told.value, denominator=1.0, values=(told.value,))
        made.reasons.update(reason for _, reason in causes)
    else:
        made = Summary(unknown or "undefined")
        made.reasons.update([reason for _, reason in causes] or [NOTHING if known > 1 else FEW])
    if told.value is not None or unknown is not None:
        made.low, made.high = told.low, told.high
        made.unsure = unknown is not None
    return made
