"""What a rule reads: each question's value with its best and worst, over one population and place. Decides nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.gate.evidence import Evidence
from ragassay.gate.grouped import OF_MANY, base_of, noun_of, units
from ragassay.measures import Declaration, Measure
from ragassay.records.case import Case, CaseClass
from ragassay.records.policy import Risk
from ragassay.records.score import CLASS_ORDER, Population, PopulationClass, Status
from ragassay.score.estimates import ACROSS, COUNTED
from ragassay.score.fill import LIMITED
from ragassay.score.summary import Summary, summarise

CLASSES: tuple[PopulationClass, ...] = tuple(one for one in CLASS_ORDER if one != "answerability")
"""Of questions; `answerability` stands for all of them, in measures that compare both kinds."""


OVER_ALL = ACROSS | {"retrieval_auroc"}
"""Measures that hold both kinds of questions against each other: no class has them by itself."""


def classes_of(measure: Measure, class_: CaseClass | None) -> tuple[PopulationClass, ...]:
    """The classes over which a rule reads a measure: its own, or each; what compares classes is read over all."""
    if measure.name in OVER_ALL:
        return ("answerability",)
    return (class_,) if class_ else CLASSES


WITHOUT_LABELS = frozenset({"judged", "harmful", "duplicate_rate", "unexplained_items"})
OF_EVIDENCE = frozenset({"context_precision", "context_recall", "evidence_density"})
DONE = frozenset({"not_answered", "not_declined", "empty_context", "empty_list", "no_text_in_context"})
"""Reasons for no value that lie in what the system did, not in the labels."""


class Part(NamedTuple):
    """The questions that a rule is about."""

    class_: PopulationClass | None
    slice: str | None = None
    risk: Risk | None = None

    @property
    def population(self) -> Population | None:
        """As results name it; absent for all questions."""
        if self.class_ is None:
            return None
        words = [one for one in (self.slice, f"risk={self.risk}" if self.risk else None) if one]
        return Population(class_=self.class_, slice=", ".join(words) or None)

    def has(self, case: Case) -> bool:
        """Whether a case is one of them."""
        return (
            (self.class_ in (None, "answerability") or (case.class_ or "answerable") == self.class_)
            and (self.slice is None or self.slice in case.slice or self.slice == f"risk={case.risk}")
            and (self.risk is None or case.risk == self.risk)
        )


_COUNTED = frozenset({"error_rate", "retrieval_sufficient"})
"""Shares of questions, though their declaration has another unit."""


class Line(NamedTuple):
    """One question under one measure; repeats are averaged inside it. Of a pair: candidate less baseline."""

    query_id: str
    cluster: str
    status: Status
    value: float | None
    low: float
    """The worst and the best that it could be, whatever is not known; both the value where all is."""
    high: float


class Column(NamedTuple):
    """One measure at one place over one part of the questions."""

    measure: Measure
    step: str | None
    within: tuple[float, float]
    lines: tuple[Line, ...]
    """Questions that have, or could have, a value; in the order of the benchmark."""
    counts: dict[Status, int]
    """Over all questions of the part that the measure is about, those without any possible value among them."""
    noun: str = "question"
    """What has a value: a question, or a group of them."""
    two_valued: bool = False
    """Each can only be the least or the greatest, whatever the system does: known from the measure and the labels."""

    @property
    def attempted(self) -> int:
        """Questions that were asked."""
        return sum(self.counts.values())

    @property
    def lows(self) -> NDArray[np.float64]:
        """The worst of each line."""
        return np.array([one.low for one in self.lines], np.float64)

    @property
    def highs(self) -> NDArray[np.float64]:
        """The best of each line."""
        return np.array([one.high for one in self.lines], np.float64)

    @property
    def value(self) -> float | None:
        """Mean over the questions that have a value."""
        return mean_of(one.value for one in self.lines)

    @property
    def clusters(self) -> list[str]:
        """Which lines are not independent."""
        return [one.cluster for one in self.lines]


class NoColumn(NamedTuple):
    """Why there is nothing to read: a code, and what to say."""

    reason: str
    told: str


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of those that are there; None for none."""
    known = [one for one in values if one is not None]
    return math.fsum(known) / len(known) if known else None


def place_of(evidence: Evidence, measure: Measure, step: str | None) -> str | NoColumn | None:
    """Where a measure is read: the step that is named, else the only place where it was taken.

    What is made of another measure's rows is read where that one is.
    """
    if measure.name in COUNTED:
        return NoColumn("counts_cells", f"{measure} is a table of counts: no value of it is better than another")
    measure = base_of(measure)
    places = evidence.observed.places.get(str(measure))
    if places is None:
        measured = sorted(evidence.observed.places)
        return NoColumn(
            "measure_missing", f"{measure} was not measured; there is {', '.join(measured[:8]) or 'nothing'}"
        )
    named = ", ".join(one or "the whole question" for one in places)
    if step is not None:
        if step in places:
            return step
        if evidence.observed.at(str(measure), step):
            return step
        return NoColumn("step_missing", f"{measure} was not taken at {step}, but at {named}")
    if len(places) > 1:
        return NoColumn("step_not_named", f"{measure} was taken at {named}: the rule must name one of them as its step")
    return places[0]


def range_of(declared: Declaration) -> tuple[float, float] | None:
    """Least and greatest value of a measure; None where it has no greatest."""
    return None if declared.high is None else (declared.low, declared.high)


def may_be_answered(case: Case) -> bool:
    """Whether an answer, whole or in part, is among what a case expects, as far as its own fields say."""
    if case.expect is not None:
        return bool({"answered", "partial"} & set(case.expect))
    return case.answerable != "no" and not (case.answerable is None and case.class_ == "unanswerable")


def labelled(measure: Measure, case: Case, rel: int) -> bool:
    """Whether a case has the labels without which a measure has no value, whatever the system does."""
    measure = base_of(measure)
    stage, name = measure.declared.stage, measure.name
    if stage == "facts":
        return bool(case.facts)
    if (stage == "retrieval" and name not in WITHOUT_LABELS) or name in OF_EVIDENCE:
        least = int(measure.get("rel") or rel)
        return any(one.grade >= least for one in case.evidence or ())
    if stage == "confidence" and not name.startswith("retrieval_"):
        return may_be_answered(case)
    return bool(case.answers) if stage == "answer" else True


def silenced(evidence: Evidence, measure: Measure, place: str | None, part: Part) -> int:
    """Questions that have no value for what the system did, such as declining, where their labels ask for one."""
    rows = evidence.observed.at(str(base_of(measure)), place)
    return sum(
        part.has(case)
        and labelled(measure, case, evidence.benchmark.rel)
        and any(row.status == "undefined" and row.reason in DONE for row in rows.get(case.query_id, ()))
        for case in evidence.cases
    )


def column(evidence: Evidence, spelled: str, step: str | None, part: Part) -> Column | NoColumn:
    """The lines of a measure over a part of the questions; NoColumn says why there are none.

    A question that is undefined for every repeat has no line: it is outside of the population. One that is missing or
    failed has a line from the least to the greatest value.
    """
    measure = evidence.spelled(spelled)
    place = place_of(evidence, measure, step)
    if isinstance(place, NoColumn):
        return place
    if measure.declared.aggregation == "set":
        return NoColumn("figure_of_a_set", f"{measure} is one figure of all questions and has no value of one question")
    within = range_of(measure.declared)
    if within is None:
        return NoColumn(
            "unbounded_measure", f"{measure} has no greatest value, so there is no bound: set a budget instead"
        )
    own = [one for one in evidence.cases if part.has(one)]
    lines, counts = [], Counter[Status]()
    every = units if measure.name in OF_MANY else _questions
    for case, made in every(evidence, measure, place, own):
        counts[made.status] += 1
        line = _line(case, made, within)
        if line is not None:
            lines.append(line)
    two = two_valued(measure, own, evidence.subject.repeats)
    return Column(measure, place, within, tuple(lines), dict(counts), noun_of(measure), two)


def two_valued(measure: Measure, cases: Iterable[Case], repeats: int | None) -> bool:
    """Whether a question counts as right or wrong and nothing between.

    True, where it is asked once, by declaration; for recall where each question has one relevant label at most, and for
    the coverage of facts where each needs one fact at most. The values play no part.
    """
    declared = measure.declared
    if measure.name == "flip_rate":
        return True
    if repeats not in (None, 1):
        return False
    if declared.unit == "0 or 1" or declared.stage == "refusal" or measure.name in _COUNTED:
        return True
    if measure.name == "fact_coverage":
        return all(sum(fact.required for fact in one.facts) <= 1 for one in cases)
    if measure.name == "recall" and measure.get("unit") == "evidence":
        rel = int(measure.get("rel") or 1)
        return all(sum(label.grade >= rel for label in one.evidence or ()) <= 1 for one in cases)
    return False


def _questions(
    evidence: Evidence, measure: Measure, place: str | None, own: Sequence[Case]
) -> Iterator[tuple[Case, Summary]]:
    rows = evidence.observed.at(str(measure), place)
    declared = measure.declared
    for case in own:
        if measure.name not in LIMITED or case.query_id in rows:
            yield case, summarise(rows.get(case.query_id, ()), declared.low, declared.high)


def _line(case: Case, made: Summary, within: tuple[float, float]) -> Line | None:
    if made.status == "undefined":
        return None
    low = within[0] if made.low is None else made.low
    high = within[1] if made.high is None else made.high
    value = made.value if made.status == "value" else None
    return Line(case.query_id, case.cluster, made.status, value, min(max(low, within[0]), within[1]),
                min(max(high, within[0]), within[1]))  # fmt: skip


def asked_of_either(candidate: Evidence, baseline: Evidence) -> tuple[Case, ...]:
    """The questions of the candidate, then those that only the baseline was asked."""
    known = {one.query_id for one in candidate.cases}
    return (*candidate.cases, *(one for one in baseline.cases if one.query_id not in known))


def paired(candidate: Column, baseline: Column, cases: Sequence[Case]) -> tuple[tuple[Line, ...], dict[Status, int]]:
    """Differences, positive where the candidate is better, with what is not known at its worst and best.

    A question that has a line in one arm only (the other could not have a value, as when it declined, or was not asked)
    stays, with the whole range on that side: neither declining to answer nor taking questions out of the next version
    of a benchmark is a way to be left out of a comparison. `cases`: as `asked_of_either` gives them.
    """
    sign = -1.0 if candidate.measure.declared.direction == "lower" else 1.0
    ours = {one.query_id: one for one in candidate.lines}
    theirs = {one.query_id: one for one in baseline.lines}
    least, greatest = candidate.within
    made: list[Line] = []
    for case in cases:
        one, other = ours.get(case.query_id), theirs.get(case.query_id)
        if one is None and other is None:
            continue
        low, high = (one.low, one.high) if one else (least, greatest)
        low_b, high_b = (other.low, other.high) if other else (least, greatest)
        ends = sorted((sign * (low - high_b), sign * (high - low_b)))
        values = (one.value if one else None, other.value if other else None)
        known = values[0] is not None and values[1] is not None
        value = sign * (values[0] - values[1]) if values[0] is not None and values[1] is not None else None
        status: Status = "value" if known else _worse(one, other)
        made.append(Line(case.query_id, case.cluster, status, value, ends[0], ends[1]))
    counts: Counter[Status] = Counter(one.status for one in made)
    counts["undefined"] += max(candidate.attempted, baseline.attempted) - len(made)
    return tuple(made), {key: count for key, count in counts.items() if count}


def _worse(one: Line | None, other: Line | None) -> Status:
    found = {line.status for line in (one, other) if line is not None and line.status != "value"}
    return "error" if "error" in found else "missing"
