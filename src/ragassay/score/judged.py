"""Measures of what judges ruled, for one answer: a value, its bounds, and a row a claim, citation or fact.

Reads verdicts; asks nobody, and takes no missing verdict for a good or a bad one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ragassay.errors import IntegrityError
from ragassay.measures import Measure, Outcome
from ragassay.records.base import Record
from ragassay.records.canonical import digest_text
from ragassay.records.case import Fact
from ragassay.records.judgement import About, AnswerClaims
from ragassay.records.protocol import Scoring
from ragassay.records.score import Bounds
from ragassay.records.trace import Item, TraceContent
from ragassay.score.answer import ANSWERING
from ragassay.score.citing import cited, items_of
from ragassay.score.facts import without_facts
from ragassay.score.hold import State
from ragassay.score.labels import Labels
from ragassay.score.rows import Rows, error, missing, undefined, value
from ragassay.score.verdicts import NOT_JUDGED, Given, Ruling, Verdicts

GRADES = {"relevant": 1.0, "correct": 1.0, "partly": 0.5, "irrelevant": 0.0, "incorrect": 0.0}
ANSWERS = {"answer_relevance": "relevance", "correctness": "correctness"}
SIMILARITIES = frozenset({"semantic_similarity", "bertscore"})
OF_REFERENCES = frozenset({"correctness", "grounded_accuracy"}) | SIMILARITIES
NUGGETS = frozenset({"vital_nuggets", "okay_nuggets", "context_utilisation"})
JUDGED_MEASURES = (
    frozenset({"faithfulness", "citation_precision", "citation_recall", "answer_relevance", "noise_sensitivity",
               "judge_flips"})
    | OF_REFERENCES
    | NUGGETS
)  # fmt: skip
DISQUALIFIED = "disqualified"


def by_judges(measures: Iterable[Measure], scoring: Scoring) -> list[Measure]:
    """Measures with their judge: one that names none (nor does what it is made of) stands once for each of
    `Scoring.judges`; without any it stays as it is, and is missing(not_judged)."""
    made: list[Measure] = []
    for one in measures:
        made += _spread(one, scoring.judges)
    return list(dict.fromkeys(made))


def _spread(measure: Measure, judges: Sequence[str]) -> list[Measure]:
    inner = measure.inner
    if measure.name in JUDGED_MEASURES and measure.get("by") is None and judges:
        return [measure.with_params(by=judge) for judge in judges]
    if inner is not None and inner.name in JUDGED_MEASURES and inner.get("by") is None and judges:
        return [measure.with_params(of=inner.with_params(by=judge).nested) for judge in judges]
    return [measure]


class Part(NamedTuple):
    """One item of a measure: good, not good, or None with the reason why that is not known."""

    target: str
    good: bool | None
    outcome: Outcome


class Score(NamedTuple):
    """A measure of one answer and the items that it is made of."""

    outcome: Outcome
    bounds: Bounds | None = None
    whole: float | None = None
    parts: tuple[Part, ...] = ()


class Judged:
    """One answer with what one judge said of it."""

    def __init__(
        self,
        content: TraceContent,
        labels: Labels,
        did: tuple[str, str],
        verdicts: Verdicts | None,
        context: Sequence[Item] | None,
        held: Callable[[], Mapping[str, State] | None],
    ) -> None:
        """`did`: (outcome, "") or ("", why there is none). `held`: what the context holds of each fact; None without
        a context."""
        self.content, self.labels, self.did, self.verdicts = content, labels, did, verdicts
        self.context, self.held = context, held
        self.given: Given | None = None if verdicts is None else verdicts.given(content.query_id, content.repeat)
        text = content.answer.text if content.answer else ""
        cut = self.given.claims if self.given else None
        if cut is not None and cut.answer != digest_text(text):
            raise IntegrityError(
                f"the claims of question {content.query_id!r} were cut from another answer",
                hint="judge this run again",
            )

    def score(self, measure: Measure) -> Score:
        """One of JUDGED_MEASURES."""
        why = self._not_answered(measure) or self._not_given(measure)
        return Score(why) if why is not None else self._of_verdicts(measure)

    def _of_verdicts(self, measure: Measure) -> Score:
        name = measure.name
        if name in ANSWERS:
            return Score(graded(self.ruling("answer", ANSWERS[name])))
        if name in SIMILARITIES:
            return Score(measured(self.ruling("similarity", name)))
        if name in NUGGETS:
            return self._nuggets(name)
        if name == "judge_flips":
            return self._flips()
        claims = self.claims
        if claims is None:
            return Score(missing(self.verdicts.absent if self.verdicts else NOT_JUDGED))
        if not claims.claims:
            return Score(undefined("no_claims"))
        if name == "faithfulness":
            return share(self.supported())
        if name == "citation_precision":
            return share(self._pairs(claims), "no_citations", all_or_none=True)
        if name == "citation_recall":
            return share(self._by_own(claims), all_or_none=True)
        if name == "noise_sensitivity":
            return self._noise()
        return Score(self._grounded())

    @property
    def claims(self) -> AnswerClaims | None:
        """The answer, cut."""
        return self.given.claims if self.given else None

    def ruling(self, about: About, target: str) -> Ruling:
        """What was ruled on one item; missing(not_judged) where it was not asked."""
        absent = self.verdicts.absent if self.verdicts else NOT_JUDGED
        found = self.given.rulings.get((about, target)) if self.given else None
        return found or Ruling("missing", None, absent, repeats=0)

    @property
    def unanswered(self) -> Outcome | None:
        """Why there is no answer to judge; one whose outcome nobody said is judged as any other."""
        outcome, why = self.did
        if why and why != "no_outcome":
            return missing(why)
        return undefined("not_answered") if outcome and outcome not in ANSWERING else None

    def _not_answered(self, measure: Measure) -> Outcome | None:
        if (found := self.unanswered) is not None:
            return found
        if measure.name in OF_REFERENCES and not self.labels.case.answers:
            none = self.labels.case.answerable == "no"
            return undefined("nothing_to_answer") if none else missing("no_reference")
        if measure.name == "noise_sensitivity" and self.labels.state == "unlabelled":
            return missing("unlabelled")
        return nothing_asked(measure.name, self.labels)

    def _not_given(self, measure: Measure) -> Outcome | None:
        """Why nothing of this judge can be read."""
        if self.verdicts is None or (self.given is None and not self.verdicts.disqualified):
            absent = NOT_JUDGED if self.verdicts is None else self.verdicts.absent
            return missing(absent, bottom_of(measure.name, self.labels))
        return error(DISQUALIFIED, bottom_of(measure.name, self.labels)) if self.verdicts.disqualified else None

    def supported(self) -> list[Part]:
        """Each claim: does the context support it."""
        claims = self.claims
        return [part(one.claim_id, self.ruling("claim", one.claim_id)) for one in claims.claims] if claims else []

    def pair(self, claims: AnswerClaims, claim_id: str, place: int) -> Part:
        """A claim with one citation: does what is cited support it. What is nowhere in the trace does not."""
        target = f"{claim_id}:{place}"
        found = self.ruling("citation", target)
        if found.status != "value" and cited(claims.citations[place], items_of(self.content, self.context)) is None:
            return Part(target, False, value(0.0))
        return part(target, found)

    def _pairs(self, claims: AnswerClaims) -> list[Part]:
        return [self.pair(claims, one.claim_id, place) for one in claims.claims for place in one.citations]

    def _by_own(self, claims: AnswerClaims) -> list[Part]:
        """Each claim: does one of its own citations support it."""
        made = []
        for claim in claims.claims:
            pairs = [self.pair(claims, claim.claim_id, place) for place in claim.citations]
            unknown = [one for one in pairs if one.good is None]
            if any(one.good for one in pairs) or not unknown:
                good = any(one.good for one in pairs)
                made.append(Part(claim.claim_id, good, value(float(good))))
            else:
                made.append(Part(claim.claim_id, None, unknown[0].outcome))
        return made

    def _nuggets(self, name: str) -> Score:
        facts = facts_of(name, self.labels)
        if name == "context_utilisation":
            held = self.held()
            if held is None:
                return Score(missing("no_context", None))
            if any(held.get(one.id) is State.UNKNOWN for one in facts):
                return Score(missing("unknown_items"))
            facts = [one for one in facts if held.get(one.id) is State.HELD]
            if not facts:
                return Score(undefined("none_in_context"))
        return share([self._fact(one) for one in facts])

    def _fact(self, fact: Fact) -> Part:
        if fact.text is None:
            return Part(fact.id, None, missing("no_fact_text", 1.0))
        return part(fact.id, self.ruling("fact", fact.id))

    def _noise(self) -> Score:
        made = []
        for one in self.supported():
            spans = self.ruling("claim", one.target).spans
            if one.good is None:
                made.append(one)
            elif one.good and not spans:
                made.append(Part(one.target, None, missing("no_spans", 1.0)))
            else:
                good = bool(one.good) and not self._touches(spans)
                made.append(Part(one.target, good, value(float(good))))
        return share(made, all_or_none=True)

    def _touches(self, spans: Sequence[Record]) -> bool:
        """Whether any of these spans meets relevant evidence."""
        world = self.labels.world
        at = world.intervals(tuple(spans))  # type: ignore[arg-type]
        for label in self.labels.relevant(world.rel):
            for place in label.places:
                for one in at:
                    if one.place == place.place and (label.coarse or (one.start < place.end and place.start < one.end)):
                        return True
        return False

    def _flips(self) -> Score:
        rulings = self.given.rulings if self.given else {}
        again = [
            Part(f"{about} {target}", one.flipped, value(float(one.flipped)))
            for (about, target), one in sorted(rulings.items())
            if one.repeats > 1
        ]
        return share(again, "no_repeats")

    def _grounded(self) -> Outcome:
        """1 if correct and every claim is supported, 0 if one of these is known to fail."""
        right, claims = self.ruling("answer", "correctness"), self.supported()
        if (right.label is not None and right.label != "correct") or any(one.good is False for one in claims):
            return value(0.0)
        if right.label is None:
            return part("", right).outcome
        return next((one.outcome for one in claims if one.good is None), value(1.0))


def facts_of(name: str, labels: Labels) -> list[Fact]:
    """The facts that a measure of nuggets asks for."""
    if name == "okay_nuggets":
        return [one for one in labels.facts if not one.required and labels.sets[one.id]]
    return list(labels.required)


def nothing_asked(name: str, labels: Labels) -> Outcome | None:
    """Why a measure of nuggets can have no value, whatever was answered; None where it could, and for others."""
    if name not in NUGGETS or facts_of(name, labels):
        return None
    if name == "okay_nuggets":
        return missing("unlabelled") if labels.state == "unlabelled" and not labels.facts else undefined("no_facts")
    return without_facts(labels)


def bottom_of(name: str, labels: Labels) -> float | None:
    """The denominator that a measure will have whatever was answered, where there is one."""
    if name in ("vital_nuggets", "okay_nuggets"):
        return float(len(facts_of(name, labels))) or None
    return 1.0 if name in ANSWERS or name in OF_REFERENCES else None


def part(target: str, ruling: Ruling) -> Part:
    """An item on the scale of support; what has no label is not known."""
    if ruling.label is None:
        unknown = error if ruling.status == "error" else missing
        return Part(target, None, unknown(ruling.reason or NOT_JUDGED, 1.0))
    good = ruling.label == "supported"
    return Part(target, good, value(float(good)))


def graded(ruling: Ruling) -> Outcome:
    """An answer on the scale of relevance or correctness."""
    if ruling.label is None:
        return part("", ruling).outcome
    grade = GRADES.get(ruling.label)
    return missing("unknown_label", 1.0) if grade is None else value(grade)


def measured(ruling: Ruling) -> Outcome:
    """The score of an item that nobody rules on."""
    if ruling.status != "value":
        return part("", ruling).outcome
    return missing("no_score", 1.0) if ruling.score is None else value(ruling.score)


def share(parts: Sequence[Part], nothing: str = "no_items", *, all_or_none: bool = False) -> Score:
    """The share of the good ones among those that are known; with the bounds for all where some are not.

    `all_or_none`: missing with these bounds as soon as one is not known. So where some are known without a verdict, and
    only to be bad, as a claim without a citation is: the share of the known ones would lean that way.
    """
    if not parts:
        return Score(undefined(nothing))
    known = [one for one in parts if one.good is not None]
    good, total, unknown = sum(one.good is True for one in known), len(parts), len(parts) - len(known)
    if not unknown:
        return Score(value(good, total), parts=tuple(parts))
    bounds = Bounds(low=good / total, high=(good + unknown) / total)
    if not known or all_or_none:
        reasons = Counter((one.outcome.status, one.outcome.reason) for one in parts if one.good is None)
        (status, reason), _ = min(reasons.items(), key=lambda one: (-one[1], one[0]))
        outcome = error(reason, total) if status == "error" else missing(reason, total)
        return Score(outcome, bounds if known else None, parts=tuple(parts))
    return Score(value(good, len(known)), bounds, float(total), tuple(parts))


def add(rows: Rows, measure: Measure, score: Score) -> None:
    """The rows of one measure: of the whole answer, and of each item with the item as target."""
    rows.add(str(measure), score.outcome, bounds=score.bounds, whole=score.whole)
    for one in score.parts:
        rows.add(str(measure), one.outcome, target=one.target)
