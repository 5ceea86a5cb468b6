"""What refusal needs of traces and scores, counted key by key in one pass. Keeps no trace and makes no estimate."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragassay.errors import RagassayError
from ragassay.measures import Measure
from ragassay.measures import parse as parse_measure
from ragassay.records.case import Case
from ragassay.records.score import Observation
from ragassay.records.trace import TraceContent
from ragassay.report.streams import Together
from ragassay.score.paraphrases import groups

ANSWERING = ("answered", "partial")
RIGHT, SURE, OUTCOME = "answered_right", "answer_confidence", "outcome"
GROUPED = ("paraphrase_consistency", "paraphrase_overlap")
SAYING = {"system": "the system", "rule": "a rule of the adapter", "judge": "a judge"}
"""`Answer.outcome_source` in words."""
BY_RULES = "declared rules of scoring"
NOBODY = "nobody"


@dataclass(slots=True)
class Decisions:
    """Answers of one class under one meaning of right."""

    asked: int = 0
    declined: int = 0
    unknown: int = 0
    confidence: array[float] = field(default_factory=lambda: array("d"))
    wrong: array[float] = field(default_factory=lambda: array("d"))


class Refusing:
    """Counts that grow with `add`; of single questions only those that belong to a group of paraphrases are kept."""

    def __init__(
        self,
        measures: Sequence[str],
        cases: Iterable[Case],
        class_of: Mapping[str, str],
        expect_of: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._class_of, self._expect_of = class_of, expect_of
        self.sources: Counter[str] = Counter()
        self.decisions: dict[tuple[str, str], Decisions] = {}
        """(spelling of answered_right, class) -> its answers."""
        self.verdicts: dict[tuple[str, tuple[str, ...]], Counter[tuple[str, str]]] = {}
        self.said = False
        """Whether any retriever gave a verdict."""
        self.paraphrased = groups(cases)
        self._wanted = {case.query_id for own in self.paraphrased.values() for case in own}
        self.grouped = _grouped(measures)
        self._names = {(one.inner or one).name for one in self.grouped}
        self.rows: dict[tuple[str, str | None], dict[str, list[Observation]]] = {}
        """(measure, step) -> question -> rows, of what the measures of paraphrases are made of."""

    def add(self, one: Together) -> None:
        """Count what is recorded under one key."""
        class_ = self._class_of.get(one.key[0])
        if class_ is None:
            return
        sure: Observation | None = None
        rights: list[Observation] = []
        outcome: Observation | None = None
        for row in one.observations:
            name = row.measure.partition("(")[0].partition("@")[0]
            if name == RIGHT:
                rights.append(row)
            elif name == SURE:
                sure = row
            elif name == OUTCOME:
                outcome = row
            if name in self._names and row.query_id in self._wanted:
                self.rows.setdefault((row.measure, row.step), {}).setdefault(row.query_id, []).append(row)
        for row in rights:
            self._decide(self.decisions.setdefault((row.measure, class_), Decisions()), row, sure)
        for content in one.contents:
            self._source(content, outcome)
            self._verdict(content, outcome, (class_, self._expect_of[one.key[0]]))

    def _decide(self, own: Decisions, right: Observation, sure: Observation | None) -> None:
        own.asked += 1
        if right.status == "undefined":
            own.declined += 1
        elif right.value is None or sure is None or sure.value is None:
            own.unknown += 1
        else:
            own.confidence.append(sure.value)
            own.wrong.append(1.0 - right.value)

    def _source(self, content: TraceContent, outcome: Observation | None) -> None:
        if content.failure is not None:
            self.sources[f"{NOBODY}: failed"] += 1
        elif outcome is not None and outcome.status != "value":
            self.sources[f"{NOBODY}: {(outcome.reason or outcome.status).replace('_', ' ')}"] += 1
        elif content.answer is not None and content.answer.outcome is not None:
            self.sources[SAYING[content.answer.outcome_source or "system"]] += 1
        elif outcome is not None:
            self.sources[BY_RULES] += 1

    def _verdict(self, content: TraceContent, outcome: Observation | None, group: tuple[str, tuple[str, ...]]) -> None:
        said = content.retrieval.sufficient if content.retrieval is not None else None
        self.said = self.said or said is not None
        word = "not said" if said is None else "enough" if said else "not enough"
        did = "neither"
        if content.failure is None and outcome is not None and outcome.status == "value":
            did = "answered" if outcome.target in ANSWERING else "declined"
        self.verdicts.setdefault(group, Counter())[word, did] += 1


def _grouped(measures: Sequence[str]) -> tuple[Measure, ...]:
    found = []
    for spelled in measures:
        try:
            one = parse_measure(spelled)
        except RagassayError:  # a measure of a package that is not here
            continue
        if one.name in GROUPED:
            found.append(one)
    return tuple(found)
