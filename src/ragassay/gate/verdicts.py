"""The verdict of each question: the conjunction of what its class and risk need, never an average. Pools no classes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ragassay.gate.bounds import TOLERANCE, clears, ends_of, scaled_n
from ragassay.gate.evidence import Evidence
from ragassay.gate.idle import REASON, idle
from ragassay.gate.judges import uncalibrated
from ragassay.gate.must_hold import holding
from ragassay.gate.policy_file import label_of
from ragassay.gate.reading import CLASSES, NoColumn, Part, place_of, range_of
from ragassay.gate.results import number, result
from ragassay.measures import Measure
from ragassay.records.case import REFUSING, Case, CaseClass, Outcome
from ragassay.records.decision import QuestionVerdict, RuleResult, VerdictShare
from ragassay.records.policy import Band, MustHold, Need, Policy, Risk, Verdicts
from ragassay.records.score import Observation
from ragassay.records.text import many
from ragassay.records.trace import TraceContent
from ragassay.score.answer import ANSWERING
from ragassay.score.citing import cited, items_of
from ragassay.score.labels import Labels
from ragassay.score.population import OUTSIDE
from ragassay.score.world import World
from ragassay.store import Store

Said = Literal["good", "bad", "review", "open"]
DOUBT: dict[Risk | None, Said] = {"high": "bad", "moderate": "review", "low": "open", None: "open"}
"""What a question is that cannot be told, by its risk."""
NO_BAND = Band()
NO_NEED = "no_need"
"""Reason of a question that was answered and of which nothing is needed."""
BY_LABELS = OUTSIDE | {"nothing_to_answer"}
"""Reasons for no value that lie in the labels, whatever the system did: then a need is not about the question."""


class Near(NamedTuple):
    """A need of one question that is near its threshold, on either side."""

    measure: str
    value: float
    threshold: float
    holds: bool


class Question(NamedTuple):
    """A question's verdict, and what it is near to."""

    case: Case
    verdict: QuestionVerdict
    near: tuple[Near, ...]


class _Place(NamedTuple):
    """A need and where it is read; `rows` is None where it may not be read at all."""

    need: Need
    spelled: Measure
    rows: dict[str, list[Observation]] | None
    alone: bool = False
    """One judge stands behind it, and no person: too little for a question of high risk."""

    @property
    def measure(self) -> str:
        return str(self.spelled)


def questions(store: Store, evidence: Evidence, policy: Policy, world: World) -> list[Question]:
    """The verdict of every question, in the order of the benchmark.

    good: the outcome is allowed and every need holds, in every repeat. bad: one does not. Where that is not known, the
    risk band says what doubt is: bad, review or open. An answer of which the policy needs nothing is open, for that is
    no doubt about the system.
    """
    places = [_place(store, evidence, one) for one in policy.needs]
    traces: dict[str, list[TraceContent]] = defaultdict(list)
    for content in evidence.contents:
        traces[content.query_id].append(content)
    outcomes = evidence.observed.at("outcome", None)
    made = []
    for case in evidence.cases:
        expected = Labels(case, world).expected
        own = _Own(case, policy, expected, outcomes.get(case.query_id, []), traces.get(case.query_id, []))
        made.append(own.judge(places, evidence.subject.repeats))
    return made


def _place(store: Store, evidence: Evidence, need: Need) -> _Place:
    measure = evidence.spelled(need.measure)
    place = place_of(evidence, measure, need.step)
    if isinstance(place, NoColumn) or uncalibrated(store, evidence, measure) is not None:
        return _Place(need, measure, None)
    high = [one for one in evidence.cases if one.risk == "high"]
    alone = bool(high) and uncalibrated(store, evidence, measure, high) is not None
    return _Place(need, measure, evidence.observed.at(str(measure), place), alone)


class _Own:
    """One question while its verdict is made."""

    def __init__(
        self, case: Case, policy: Policy, expected: Sequence[Outcome], outcomes: Sequence[Observation],
        traces: Sequence[TraceContent],
    ) -> None:  # fmt: skip
        self.case, self.policy, self.expected = case, policy, expected
        self.band: Band = policy.bands.get(case.risk, NO_BAND) if case.risk else NO_BAND
        self.outcomes, self.traces = outcomes, traces
        self.bad: list[str] = []
        self.doubt: list[str] = []
        self.near: list[Near] = []

    def judge(self, places: Sequence[_Place], repeats: int) -> Question:
        """The verdict, from outcome, citations and needs."""
        answered = self._outcome(repeats)
        if self.band.citations:
            self._citations(answered)
        own = [one for one in places if self._is_about(one.need)]
        read = [self._need(one, answered, repeats) for one in own]
        if answered and own and not any(read):
            self.doubt.append("no_need_could_be_read")
        bare = bool(answered) and not own and not self.band.citations
        doubt: Said = self.band.doubt or DOUBT[self.case.risk]
        said: Said = "bad" if self.bad else doubt if self.doubt else "open" if bare else "good"
        if bare:
            self.doubt.append(NO_NEED)
        verdict = QuestionVerdict(
            query_id=self.case.query_id,
            class_=self.case.class_ or "answerable",
            risk=self.case.risk,
            verdict=said,
            reasons=tuple(dict.fromkeys((*self.bad, *self.doubt))),
        )
        return Question(self.case, verdict, tuple(self.near))

    def _is_about(self, need: Need) -> bool:
        return about(need, self.case)

    def _outcome(self, repeats: int) -> set[int]:
        """Checks the outcome of every repeat; the repeats that are answers, or that may be."""
        answered: set[int] = set()
        seen: set[int] = set()
        for row in self.outcomes:
            seen.add(row.repeat)
            if row.status != "value" or row.target is None:
                self.doubt.append(f"outcome_{row.reason or 'unknown'}")
                answered.add(row.repeat)
                continue
            if row.target in ANSWERING:
                answered.add(row.repeat)
            if not self.expected and not self.band.outcomes:
                self.doubt.append("outcome_unlabelled")
            elif not self.allows(row.target):
                self.bad.append(f"outcome_{row.target}")
        if missing := set(range(repeats)) - seen:
            self.doubt.append("outcome_not_measured")
            answered |= missing
        return answered

    def allows(self, outcome: str) -> bool:
        """Whether the band and the question allow an outcome.

        A band narrows what the question expects; and it may allow declining, or a part of an answer, where the question
        expects a whole one.
        """
        band = self.band.outcomes
        if not band:
            return outcome in self.expected
        wider = outcome in REFUSING or (outcome == "partial" and "answered" in self.expected)
        return outcome in band and (outcome in self.expected or wider)

    def _citations(self, answered: set[int]) -> None:
        for content in self.traces:
            if content.repeat in answered and content.answer is not None:
                marks, items = content.answer.citations, list(items_of(content, content.context))
                if marks is None:
                    self.doubt.append("citations_not_reported")
                elif not marks:
                    self.bad.append("no_citation")
                elif all(cited(one, items) is None for one in marks):
                    self.bad.append("citation_of_nothing")

    def _need(self, place: _Place, answered: set[int], repeats: int) -> bool:
        """Reads one need; whether it was about this question at all."""
        wanted = set(range(repeats)) if place.need.always else answered
        if not wanted:
            return True
        if idle(place.need, range_of(place.spelled.declared)) is not None:
            return False
        if place.rows is None:
            self.doubt.append(f"not_measured {place.measure}")
            return True
        if place.alone and self.case.risk == "high":
            self.doubt.append(f"one_judge {place.measure}")
            return True
        rows = [one for one in place.rows.get(self.case.query_id, ()) if one.repeat in wanted]
        if rows and all(one.status == "undefined" and one.reason in BY_LABELS for one in rows):
            return False
        status, holds = holding(rows, place.need, len(wanted))
        if holds is None:
            self.doubt.append(f"{status} {place.measure}")
        elif not holds:
            self.bad.append(f"need {place.measure}")
        near = near_of(place.need, place.spelled, rows, self.policy.near)
        if near is not None:
            self.near.append(near)
        return True


def about(need: Need, case: Case) -> bool:
    """Whether a need is about a question."""
    return need.class_ in (None, case.class_ or "answerable") and need.risk in (None, case.risk)


def needs_any(policy: Policy, case: Case) -> bool:
    """Whether anything says what an answer to a question needs: a need, citations, or that its band allows none."""
    band = policy.bands.get(case.risk, NO_BAND) if case.risk else NO_BAND
    declines = bool(band.outcomes) and not {*ANSWERING} & {*band.outcomes}
    return declines or band.citations or any(about(one, case) for one in policy.needs)


def near_of(rule: Need | MustHold, measure: Measure, rows: Iterable[Observation], near: float) -> Near | None:
    """The worst value of these rows, if it is within `near` of the threshold, as a part of the measure's range.

    A value that could not be better is near nothing: where all is demanded, every good question would be.
    """
    declared = measure.declared
    threshold = rule.at_least if rule.at_least is not None else rule.at_most
    values = [one.value for one in rows if one.value is not None]
    if threshold is None or not values or declared.high is None:
        return None
    floor = rule.at_least is not None
    worst, best = (min(values), declared.high) if floor else (max(values), declared.low)
    if abs(worst - best) <= TOLERANCE or abs(worst - threshold) > near * (declared.high - declared.low) + TOLERANCE:
        return None
    holds = worst >= threshold - TOLERANCE if floor else worst <= threshold + TOLERANCE
    return Near(str(measure), worst, threshold, holds)


def shares(found: Sequence[Question]) -> tuple[VerdictShare, ...]:
    """How many questions of each class and risk have which verdict."""
    counted: dict[tuple[CaseClass, Risk | None], Counter[str]] = defaultdict(Counter)
    for one in found:
        counted[one.verdict.class_, one.verdict.risk][one.verdict.verdict] += 1
    order = ["high", "moderate", "low", None]
    keys = sorted(counted, key=lambda key: (CLASSES.index(key[0]), order.index(key[1])))
    return tuple(
        VerdictShare(
            class_=class_,
            risk=risk,
            questions=counted[class_, risk].total(),
            good=counted[class_, risk]["good"],
            bad=counted[class_, risk]["bad"],
            review=counted[class_, risk]["review"],
            open=counted[class_, risk]["open"],
        )
        for class_, risk in keys
    )


def read_verdicts(policy: Policy, found: Sequence[Question]) -> Iterator[RuleResult]:
    """Floors on the share of good questions. Review and open may be good at best, and are not at worst."""
    for rule in policy.verdicts:
        some = False
        for class_ in [rule.class_] if rule.class_ else CLASSES:
            part = Part(class_, rule.slice, rule.risk)
            own = [one for one in found if part.has(one.case)]
            if own:
                some = True
                yield _floor(rule, part, own, policy.alpha)
        if not some:
            part = Part(rule.class_, rule.slice, rule.risk)
            yield result(label_of(rule), "verdicts", rule.on_fail, None, "Nothing was read: no question is in it.",
                         ["empty_population"], population=part.population)  # fmt: skip


def _floor(rule: Verdicts, part: Part, own: Sequence[Question], alpha: float) -> RuleResult:
    lows = np.array([float(one.verdict.verdict == "good") for one in own])
    highs = np.array([float(one.verdict.verdict != "bad") for one in own])
    ends = ends_of(lows, highs, (0.0, 1.0), alpha, [one.case.cluster for one in own], two_valued=True)
    held = True if clears(ends.low, rule.at_least) else False if not clears(ends.high, rule.at_least) else None
    if (useless := idle(rule, (0.0, 1.0))) is not None:
        told = f"Nothing was read: nothing could break {useless}."
        return result(label_of(rule), "verdicts", rule.on_fail, None, told, [REASON], population=part.population)
    counts = Counter(one.verdict.verdict for one in own)
    share = float(lows.mean())
    needed = scaled_n(ends.clusters, share - ends.low, share - rule.at_least) if held is None else None
    told = (
        f"{counts['good']:,} of {many(len(own), 'question')} are good, {counts['bad']:,} bad, "
        f"{counts['review']:,} to be reviewed, {counts['open']:,} open; at least {number(ends.low)} are good, "
        f"and {number(rule.at_least)} is demanded"
    )
    why = Counter(reason for one in own if one.verdict.verdict != "good" for reason in one.verdict.reasons[:1])
    common = f"; mostly {why.most_common(1)[0][0].replace('_', ' ')}" if why else ""
    told += f": cannot tell{common}." if held is None else f"{common}."
    unsure = counts["open"] + counts["review"]
    reasons = ["questions_open"] if unsure else []
    reasons = ["threshold"] if held is False else [*reasons, "not_enough_questions"]
    return result(
        label_of(rule), "verdicts", rule.on_fail, held, told, reasons, population=part.population,
        counts={"value": counts["good"] + counts["bad"], "missing": unsure}, value=share, bound=ends.low,
        optimistic=ends.high, threshold=rule.at_least, method=ends.method, clusters=ends.clusters, needed=needed,
        questions=[str(one.case.query_id) for one in own if one.verdict.verdict != "good"],
    )  # fmt: skip
