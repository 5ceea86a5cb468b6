"""The sheet of refusal from estimates and counts. Estimates nothing: curves and bins are counts of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragassay.errors import RagassayError
from ragassay.measures import Measure, selective
from ragassay.measures import parse as parse_measure
from ragassay.records.case import Case
from ragassay.records.score import CLASS_ORDER, Estimate
from ragassay.report.dimensions import base_name, unit_of
from ragassay.report.refusal.collect import GROUPED, Decisions, Refusing
from ragassay.report.refusal.model import Bin, Confident, Group, Point, Refusal, Verdicts, Wording
from ragassay.report.words import value_text
from ragassay.score.confidence import right_of
from ragassay.score.paraphrases import Variant, told_of, variants

DECLINING = (
    "false_refusal", "unsupported_answer", "abstention_precision", "abstention_recall", "answerability_coverage",
    "abstention_rate", "escalation_rate",
)  # fmt: skip
RETRIEVAL = ("retrieval_sufficient", "retrieval_auroc")
MOST_POINTS = 400
MOST_GROUPS = 30
BINS = 10
QUERY = 160


def refusal(estimates: Iterable[Estimate], counted: Refusing) -> Refusal:
    """The same estimates and counts give the same sheet."""
    whole = [one for one in estimates if one.population.slice is None]
    return Refusal(
        declining=tuple(_named(whole, DECLINING)),
        sources=dict(sorted(counted.sources.items(), key=lambda one: (-one[1], one[0]))),
        confident=tuple(
            _confident(right, class_, own, whole)
            for (right, class_), own in sorted(counted.decisions.items(), key=_decision_rank)
        ),
        verdicts=tuple(_verdicts(counted)) if counted.said else (),
        retrieval=tuple(_named(whole, RETRIEVAL)),
        paraphrases=tuple(_named(whole, GROUPED)),
        groups=tuple(_groups(counted)),
    )


def _named(estimates: Iterable[Estimate], names: Sequence[str]) -> list[Estimate]:
    found = [
        one for one in estimates if base_name(one.measure) in names and one.aggregation in ("macro", "micro", "set")
    ]
    return sorted(
        found,
        key=lambda one: (
            names.index(base_name(one.measure)), one.measure, one.step or "", CLASS_ORDER.index(one.population.class_),
        ),
    )  # fmt: skip


def _decision_rank(one: tuple[tuple[str, str], Decisions]) -> tuple[str, int]:
    (right, class_), _ = one
    return right, [str(name) for name in CLASS_ORDER].index(class_)


def _confident(right: str, class_: str, own: Decisions, estimates: Sequence[Estimate]) -> Confident:
    mine = [one for one in estimates if one.population.class_ == class_ and _means(one, right)]
    of = {base_name(one.measure): one for one in reversed(mine)}
    error = of.get("calibration_error")
    bins = int(parse_measure(error.measure).get("bins") or BINS) if error is not None else BINS
    inside = [place for place, score in enumerate(own.confidence) if 0 <= score <= 1]
    return Confident(
        class_=class_,
        right=right,
        asked=own.asked,
        declined=own.declined,
        unknown=own.unknown,
        decisions=len(own.confidence),
        outside=len(own.confidence) - len(inside),
        points=_points(own),
        bins=tuple(
            Bin(low=one.low, high=one.high, n=one.n, confidence=one.confidence, right=one.right)
            for one in selective.bins_of(
                [own.confidence[place] for place in inside], [1.0 - own.wrong[place] for place in inside], bins
            )
        ),
        aurc=of.get("aurc"),
        calibration_error=error,
        brier=of.get("brier"),
        risks=tuple(one for one in mine if base_name(one.measure) == "selective_risk"),
    )


def _means(one: Estimate, right: str) -> bool:
    """Whether an estimate is about decisions under exactly this meaning of right."""
    if base_name(one.measure) not in ("aurc", "calibration_error", "brier", "selective_risk"):
        return False
    try:
        return str(right_of(parse_measure(one.measure))) == right
    except RagassayError:
        return False


def _points(own: Decisions) -> tuple[Point, ...]:
    curve = selective.risk_coverage(list(own.confidence), list(own.wrong))
    made = [
        Point(threshold=threshold, taken=taken, wrong=wrong, coverage=taken / own.asked, risk=wrong / taken)
        for threshold, taken, wrong in zip(
            curve.thresholds.tolist(), curve.taken.tolist(), curve.wrong.tolist(), strict=True
        )
    ]
    if len(made) <= MOST_POINTS:
        return tuple(made)
    kept = sorted({round(place * (len(made) - 1) / (MOST_POINTS - 1)) for place in range(MOST_POINTS)})
    return tuple(made[place] for place in kept)


def _verdicts(counted: Refusing) -> Iterator[Verdicts]:
    order = [str(name) for name in CLASS_ORDER]
    for (class_, expected), cells in sorted(
        counted.verdicts.items(), key=lambda one: (order.index(one[0][0]), one[0][1])
    ):
        made: dict[str, dict[str, int]] = {}
        for word in ("enough", "not enough", "not said"):
            if any(said == word for said, _ in cells):
                made[word] = {did: cells[word, did] for did in ("answered", "declined", "neither")}
        yield Verdicts(class_=class_, expected=expected, counts=made)


def _groups(counted: Refusing) -> Iterator[Group]:
    for sealed in counted.grouped:
        base = sealed.inner or sealed
        for (spelled, step), rows in sorted(counted.rows.items(), key=lambda one: (one[0][0], one[0][1] or "")):
            measure = _filled(sealed, base, spelled)
            if measure is not None:
                found = [one for own in counted.paraphrased.values() for one in _by_class(measure, step, own, rows)]
                found.sort(key=lambda one: (one.value is None, one.value or 0.0, one.wordings[0].query_id))
                yield from found[:MOST_GROUPS]


def _filled(sealed: Measure, base: Measure, spelled: str) -> Measure | None:
    """The sealed measure with the `rel` that the rows say, or None where the rows are another measure's."""
    try:
        found = parse_measure(spelled)
    except RagassayError:
        return None
    if found == base:
        return sealed
    rel = (found.inner or found).get("rel")
    if found.name != base.name or rel is None or base.with_rel(int(rel)) != found:
        return None
    return sealed.with_rel(int(rel))


def _by_class(measure: Measure, step: str | None, own: Sequence[Case], rows: Mapping[str, list]) -> Iterator[Group]:  # type: ignore[type-arg]
    """The group's wordings of each class, as scoring takes them: classes are never pooled."""
    for class_ in dict.fromkeys(case.class_ or "answerable" for case in own):
        cases = [case for case in own if (case.class_ or "answerable") == class_]
        if len(cases) < 2:
            continue
        told = told_of(measure, variants(measure, cases, rows))
        queries: dict[str, str] = {case.query_id: case.query for case in cases}
        yield Group(
            measure=str(measure),
            step=step,
            class_=class_,
            value=told.value,
            low=told.low,
            high=told.high,
            worst=told.worst,
            wordings=tuple(
                Wording(query_id=one.query_id, query=queries[one.query_id][:QUERY], told=_words(measure, one))
                for one in told.variants
            ),
        )


def _words(measure: Measure, one: Variant) -> str:
    if one.why is not None:
        return f"{one.why[0]}: {one.why[1].replace('_', ' ')}"
    if one.number is not None:
        return value_text(one.number, unit_of(str(measure.inner)))
    if measure.inner is None:
        return ", ".join(f"{len(words)} found" for words in one.words)
    return ", ".join(dict.fromkeys(min(words) for words in one.words))
