"""Demands on figures of many decisions, such as the risk at a coverage, by bounds that hold at every number of them.

A decision is an answer that carries a confidence and of which it is known whether it was right. Ranks no system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragassay.gate.bounds import TOLERANCE, clears, codes, scaled_n
from ragassay.gate.evidence import Evidence
from ragassay.gate.idle import REASON, idle
from ragassay.gate.judges import uncalibrated
from ragassay.gate.policy_file import kind_of, label_of
from ragassay.gate.reading import DONE, NoColumn, Part, classes_of, may_be_answered
from ragassay.gate.results import number, of_counts, result, unread
from ragassay.measures import Measure, selective
from ragassay.records.case import Case
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Rule
from ragassay.records.score import Status
from ragassay.score import sets
from ragassay.score.confidence import CONFIDENCE, right_of
from ragassay.score.summary import summarise
from ragassay.stats.figures import Ends, auroc_bounds, calibration_bounds
from ragassay.stats.onesided import lower_bound, upper_bound
from ragassay.store import Store

FIGURES = frozenset({"selective_risk", "aurc", "calibration_error", "retrieval_auroc"})
"""Figures of a set with bounds: exact, betting, McDiarmid's, Chernoff's (docs/design/015)."""
_UNIT = (0.0, 1.0)


class Figure(NamedTuple):
    """One figure of one arm, with a lower and an upper bound, what is not known at its worst and its best."""

    value: float | None
    low: float
    high: float
    method: str
    decisions: int
    clusters: int
    counts: Mapping[Status, int]
    """Questions, by whether they have a decision."""


def read_figures(
    store: Store, alpha: float, candidate: Evidence, baseline: Evidence | None, rule: Rule, measure: Measure
) -> Iterator[RuleResult]:
    """One result for each class that a rule is about."""
    part = Part(rule.class_, rule.slice, rule.risk)
    why = _unreadable(store, candidate, rule, measure)
    if why is not None:
        yield unread(rule, part, why)
        return
    some = False
    for class_ in classes_of(measure, rule.class_):
        at = Part(class_, rule.slice, rule.risk)
        own = decisions(candidate, measure, at)
        if rule.class_ is None and not _concerns(own, measure):
            continue
        some = True
        if rule.margin is not None:
            yield _margin(store, alpha, candidate, baseline, rule, measure, at)
            continue
        found = figure(measure, own, alpha)
        yield unread(rule, at, found) if isinstance(found, NoColumn) else _threshold(rule, measure, at, found)
    if not some:
        yield unread(rule, part, NoColumn("empty_population", f"no question can have a value of {measure}"))


def _unreadable(store: Store, evidence: Evidence, rule: Rule, measure: Measure) -> NoColumn | None:
    if rule.zero:
        told = f"{measure} is one figure of many decisions: give it at_least, at_most or margin"
        return NoColumn("figure_of_a_set", told)
    if (unbroken := idle(rule, _UNIT)) is not None:
        return NoColumn(REASON, f"nothing could break {unbroken}")
    part = Part(rule.class_, rule.slice, rule.risk)
    why = uncalibrated(store, evidence, measure, [one for one in evidence.cases if part.has(one)])
    if why is not None:
        return NoColumn("uncalibrated_judge", why)
    needed = [str(one) for one in bases_of(measure)]
    absent = [one for one in needed if not evidence.observed.places.get(one)]
    if absent:
        return NoColumn("measure_missing", f"{', '.join(absent)}, of which {measure} is made, was not measured")
    return None


def bases_of(measure: Measure) -> tuple[Measure, Measure]:
    """The two measures whose rows a figure is made of: right or wrong (or which side), and how sure."""
    if measure.name == "retrieval_auroc":
        return measure, Measure(f"retrieval_{measure.get('score')}")
    return right_of(measure), CONFIDENCE


def decisions(evidence: Evidence, measure: Measure, part: Part) -> sets.Own:
    """The decisions of a part of the questions, those of which something is not known among them."""
    mark, sure = (evidence.observed.at(str(one), None) for one in bases_of(measure))
    joined = sets.ranked if measure.name == "retrieval_auroc" else sets.decision
    made = []
    for case in evidence.cases:
        if part.has(case) and (rows := mark.get(case.query_id)):
            scores = {one.repeat: one for one in sure.get(case.query_id, ())}
            made.append((case, [joined(measure, one, scores.get(one.repeat)) for one in rows]))
    return made


def _concerns(own: sets.Own, measure: Measure) -> bool:
    """Whether a class has decisions, or could have had: one that the system declined altogether is not passed over."""
    if measure.name == "retrieval_auroc":
        return bool(own)
    return any(
        one.row.status != "undefined" or (one.row.reason in DONE and may_be_answered(case))
        for case, rows in own
        for one in rows
    )


def figure(measure: Measure, own: sets.Own, alpha: float) -> Figure | NoColumn:
    """One figure over these decisions, each bound at `alpha`; NoColumn says why there is none."""
    known = sets.known_of(own)
    counts: Counter[Status] = Counter(summarise([one.row for one in rows], *_UNIT).status for _, rows in own)
    if not known.scores and not known.unknown:
        return NoColumn("empty_population", f"{measure} has no decision ({of_counts(counts)})")
    found = bounded(measure, known, own, alpha)
    return found if isinstance(found, NoColumn) else found._replace(counts=dict(counts))


def bounded(measure: Measure, known: sets.Known, own: sets.Own, alpha: float) -> Figure | NoColumn:
    """The figure of decisions that are joined already, without counts; `own` is read where something is not known."""
    made = {"selective_risk": _risk, "aurc": _area, "calibration_error": _gap, "retrieval_auroc": _ranks}
    return made[measure.name](measure, known, own, alpha)


def _risk(measure: Measure, known: sets.Known, _own: sets.Own, alpha: float) -> Figure | NoColumn:
    """So many wrong of those that a coverage takes: exact where each stands alone, else betting over clusters."""
    wanted = sets.wanted_of(float(measure.get("coverage") or 0.0), known.attempted)
    found = selective.at_coverage(selective.risk_coverage(known.scores, known.marks), wanted)
    if found is None:
        return NoColumn("coverage_not_reached", f"{len(known.scores):,} decisions of the {wanted:,} that it asks for")
    value = found.wrong / found.taken
    if not known.alone:
        if known.unknown:
            return NoColumn("clustered_decisions", "some decisions are not known, and decisions hang together")
        taken = [place for place, score in enumerate(known.scores) if score >= found.threshold]
        marks, clusters = [known.marks[one] for one in taken], [known.clusters[one] for one in taken]
        low, high = (bound(marks, _UNIT, alpha, clusters=clusters) for bound in (lower_bound, upper_bound))
        return Figure(value, low, high, "betting", found.taken, len(set(clusters)), {})
    ends = selective.risk_bounds(known.scores, known.marks, wanted, known.unknown) if known.unknown else None
    least, most = (value, value) if ends is None else (min(ends[0], value), max(ends[1], value))
    fewest, worst = int(np.floor(least * found.taken + 1e-9)), int(np.ceil(most * found.taken - 1e-9))
    low = lower_bound(_marks(fewest, found.taken), _UNIT, alpha, method="exact")
    high = upper_bound(_marks(worst, found.taken), _UNIT, alpha, method="exact")
    return Figure(value, low, high, "exact", found.taken, found.taken, {})


def _marks(ones: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.repeat([1.0, 0.0], [ones, size - ones])


def _area(_measure: Measure, known: sets.Known, _own: sets.Own, alpha: float) -> Figure:
    """A mean of wrong decisions weighted by their place, by betting; unknown ones as the most confident, all right at
    best and all wrong at worst: no other completion of them has a lesser or a greater area."""
    size = len(known.scores)
    if not size:
        return Figure(None, *_UNIT, "betting", 0, 0, {})
    weights = selective.aurc_weights(known.scores, known.unknown)
    part = float(weights.sum()) / (size + known.unknown)
    clusters = None if known.alone else codes(known.clusters)
    low, high = (
        bound(known.marks, _UNIT, alpha, clusters=clusters, weights=weights) for bound in (lower_bound, upper_bound)
    )
    value = float(selective.aurc(known.scores, known.marks)[0])
    return Figure(value, part * low, 1 - part + part * high, "betting", size, len(set(known.clusters)), {})


def _gap(measure: Measure, known: sets.Known, _own: sets.Own, alpha: float) -> Figure:
    """With a decision that is not known, all bins could be others: then it is not known at all."""
    size, clusters = len(known.scores), len(set(known.clusters))
    if not size:
        return Figure(None, *_UNIT, "mcdiarmid", 0, 0, {})
    bins = int(measure.get("bins") or 10)
    value = float(selective.calibration_error(known.scores, [1 - one for one in known.marks], bins)[0])
    if known.unknown:
        return Figure(value, *_UNIT, "mcdiarmid", size, clusters, {})
    places = selective.bin_places(known.scores, bins).tolist()
    ends = calibration_bounds(value, places, alpha, None if known.alone else known.clusters)
    return Figure(value, *ends, "mcdiarmid", size, clusters, {})


def _ranks(measure: Measure, known: sets.Known, own: sets.Own, alpha: float) -> Figure | NoColumn:
    good, size = int(sum(known.marks)), len(known.marks)
    if not good or good == size:
        return NoColumn("one_side_only", f"{measure} needs questions of both kinds")
    value = float(selective.auroc(known.scores, known.marks)[0])
    ends = sets.ranked_bounds(known, own, value)
    worst, best = (value, value) if ends is None else (ends.low, ends.high)
    sides = [[one for one, mark in zip(known.clusters, known.marks, strict=True) if mark == side] for side in (1, 0)]
    low, high = auroc_bounds(worst, best, sides[0], sides[1], alpha)
    method = "chernoff" if known.alone else "mcdiarmid"
    return Figure(value, low, high, method, size, len(set(known.clusters)), {})


def best_case(measure: Measure, own: Sequence[Case], alpha: float) -> Ends | None:
    """The bounds of a figure if every question had the best decision; None where it needs both kinds of questions."""
    clusters = [one.cluster for one in own]
    if measure.name == "retrieval_auroc":
        sides = [[one.cluster for one in own if may_be_answered(one) == side] for side in (True, False)]
        return auroc_bounds(1.0, 1.0, sides[0], sides[1], alpha) if all(sides) else None
    if measure.name == "calibration_error":
        return calibration_bounds(0.0, [0] * len(own), alpha, clusters)
    if measure.name == "selective_risk":
        clusters = clusters[: sets.wanted_of(float(measure.get("coverage") or 0.0), len(own))]
    exact = measure.name == "selective_risk" and len(set(clusters)) == len(clusters)
    right = np.zeros(len(clusters))
    high = upper_bound(right, _UNIT, alpha, method="exact") if exact else upper_bound(right, _UNIT, alpha, clusters)
    return Ends(0.0, high)


def _threshold(rule: Rule, measure: Measure, part: Part, one: Figure) -> RuleResult:
    floor = rule.at_least is not None
    threshold = rule.at_least if rule.at_least is not None else rule.at_most or 0.0
    bound, optimistic = (one.low, one.high) if floor else (one.high, one.low)
    if floor:
        held = True if clears(bound, threshold) else None if clears(optimistic, threshold) else False
    else:
        held = True if clears(threshold, bound) else None if clears(threshold, optimistic) else False
    needed = None
    if held is None and one.value is not None:
        distance = one.value - threshold if floor else threshold - one.value
        needed = scaled_n(one.clusters, abs(one.value - bound), distance)
    return result(
        label_of(rule), kind_of(rule), rule.on_fail, held, _told(one, held, threshold, floor, needed),
        ["threshold"] if held is False else _why(one), counts=one.counts, measure=str(measure),
        population=part.population, value=one.value, bound=bound, optimistic=optimistic, threshold=threshold,
        method=one.method, clusters=one.clusters, needed=needed,
    )  # fmt: skip


def _told(one: Figure, held: bool | None, threshold: float, floor: bool, needed: int | None) -> str:
    side, other = ("at least", "at most") if floor else ("at most", "at least")
    bound, best = (one.low, one.high) if floor else (one.high, one.low)
    text = f"{_shown(one.value)} over {one.decisions:,} decisions ({of_counts(one.counts)})"
    if held is False:
        return f"{text}; it is {other} {number(best)} at best, and {side} {number(threshold)} is demanded."
    told = f"{text}; it is {side} {number(bound)} at worst, and {side} {number(threshold)} is demanded"
    more = f" About {needed:,} independent questions like them would decide." if needed else ""
    return f"{told}." if held else f"{told}: cannot tell.{more}"


def _shown(value: float | None) -> str:
    return "no value" if value is None else number(value)


def _why(*both: Figure) -> list[str]:
    reasons = []
    for status, code in (("missing", "questions_missing"), ("error", "questions_in_error")):
        if any(one.counts.get(status) for one in both):  # type: ignore[call-overload]
            reasons.append(code)
    return reasons or ["not_enough_questions"]


def _margin(
    store: Store, alpha: float, candidate: Evidence, baseline: Evidence | None, rule: Rule, measure: Measure, at: Part
) -> RuleResult:
    """Each arm's bounds at half of alpha: both hold at once with a chance of 1 - alpha at least, however alike the
    arms are. Wider than a paired bound would be, for which there is none."""
    if baseline is None:
        return unread(rule, at, NoColumn("baseline_absent", "there is no baseline to hold it against"))
    why = _unreadable(store, baseline, rule, measure)
    if why is not None:
        return unread(rule, at, why._replace(told=f"in the baseline, {why.told}"))
    both = [figure(measure, decisions(side, measure, at), alpha / 2) for side in (candidate, baseline)]
    for side, one in zip(("", "in the baseline, "), both, strict=True):
        if isinstance(one, NoColumn):
            return unread(rule, at, one._replace(told=f"{side}{one.told}"))
    ours, theirs = (one for one in both if isinstance(one, Figure))
    margin = rule.margin or 0.0
    low, high = ours.low - theirs.high, ours.high - theirs.low
    if measure.declared.direction == "lower":
        low, high = -high, -low
    held = True if low > -margin + TOLERANCE else False if high < -margin - TOLERANCE else None
    told = (
        f"{_shown(ours.value)} over {ours.decisions:,} decisions ({of_counts(ours.counts)}), {_shown(theirs.value)} "
        f"over {theirs.decisions:,} in the baseline; the difference is at least {number(low)} and at most "
        f"{number(high)}, and above {number(-margin)} is demanded{'' if held is not None else ': cannot tell'}."
    )
    return result(
        label_of(rule), "margin", rule.on_fail, held, told, ["threshold"] if held is False else _why(ours, theirs),
        counts=ours.counts, measure=str(measure), population=at.population, value=ours.value, baseline=theirs.value,
        bound=low, optimistic=high, threshold=-margin, method=ours.method, clusters=min(ours.clusters, theirs.clusters),
    )  # fmt: skip
