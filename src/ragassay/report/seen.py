"""What a scorecard counts over all traces and scores, taken key by key in one pass. Renders and judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ragassay.records.score import Observation
from ragassay.records.trace import Item, Measurements, StepTiming, TraceContent
from ragassay.report import outcomes
from ragassay.report.model import AccessReview, RepeatView
from ragassay.report.refusal.collect import Refusing
from ragassay.report.runtime import Spread, used_of
from ragassay.report.streams import Together
from ragassay.report.tied import Tying
from ragassay.score.identities import Reported


class Seen:
    """Counts that grow with `add`. None of them holds a trace or a score."""

    def __init__(
        self,
        class_of: Mapping[str, str],
        expect_of: Mapping[str, tuple[str, ...]],
        refusing: Refusing,
        reported: Reported,
    ) -> None:
        self._class_of, self._expect_of = class_of, expect_of
        self.refusing = refusing
        self.reported = reported
        self.traces = 0
        self.failures: Counter[str] = Counter()
        self.steps: dict[str, None] = {}
        """Names of steps in the order in which they came."""
        self.tied = Tying()
        self.inferred = 0
        """Steps that named no parents."""
        self.coarse = 0
        self.items = self.loose = self.whole = 0
        """In the contexts: all, unresolved, naming a document and no part of it."""
        self.answers = self.silent = 0
        """Answers that have a text, and those of them that do not say their outcome."""
        self.outcomes: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
        self.spreads: dict[tuple[str, str | None, str], Spread] = {}
        self.timed: dict[tuple[str, str | None, str], Spread] = {}
        self.used: dict[tuple[str, str, str], Spread] = {}
        """What steps reported of their own calls, by measure, step and class."""
        self.late: Counter[tuple[str, str]] = Counter()
        """Cut-short rows by (measure, class)."""
        self._access: Counter[str] = Counter()
        self._reviewed = 0

    def add(self, one: Together) -> None:
        """Count what is recorded under one key."""
        self.refusing.add(one)
        measured = one.measurements[-1] if one.measurements else None
        for content in one.contents:
            self._content(content)
            self.reported.add(content, measured)
        class_ = self._class_of.get(one.key[0])
        if class_ is None:
            return
        if measured is not None and one.contents:
            self._use(one.contents[-1], measured, class_)
        group = (class_, self._expect_of[one.key[0]])
        for row in one.observations:
            self.coarse += row.coarse
            if row.measure.startswith("outcome") and row.measure.partition("(")[0] == "outcome":
                self.outcomes.setdefault(group, Counter())[outcomes.did(row)] += 1
            _count(self.spreads, row, class_)
        for row in one.runtime:
            _count(self.timed, row, class_)
            if row.status == "error" and row.bounds is not None:
                self.late[row.measure, class_] += 1

    def _use(self, content: TraceContent, measured: Measurements, class_: str) -> None:
        """The sums of one trace for each step, its iterations together; none where one of them did not say."""
        of = {timing.step_id: timing for timing in measured.steps}
        sums: dict[tuple[str, str], float | None] = {}
        for step in content.steps:
            for measure, value in used_of(of.get(step.step_id) or StepTiming(step_id=step.step_id)).items():
                before = sums.get((measure, step.name), 0.0)
                sums[measure, step.name] = None if before is None or value is None else before + value
        for (measure, name), value in sums.items():
            self.used.setdefault((measure, name, class_), Spread()).count(value)

    def _content(self, content: TraceContent) -> None:
        self.traces += 1
        if content.failure is not None:
            self.failures[content.failure.cause] += 1
        for step in content.steps:
            self.steps.setdefault(step.name)
            self.inferred += step.parents is None
        self.tied.add(content)
        for item in _shown(content):
            self.items += 1
            self.loose += item.resolution == "unresolved"
            self.whole += item.whole_document
        if content.answer is not None and content.answer.text:
            self.answers += 1
            self.silent += content.answer.outcome is None

    def review(self, view: RepeatView) -> None:
        """Count the items that one trace of a question with a principal showed."""
        if view.context is not None:
            self._reviewed += 1
            last = len(view.steps) - 1
            self._access.update(item.access or "unknown" for item in view.items if item.places[last] is not None)

    def access(self, denied_questions: tuple[str, ...]) -> AccessReview:
        """What `review` counted."""
        return AccessReview(
            questions=self._reviewed,
            items=self._access.total(),
            allowed=self._access["allowed"],
            denied=self._access["denied"],
            unknown=self._access["unknown"],
            denied_questions=denied_questions,
        )


def _count(spreads: dict[tuple[str, str | None, str], Spread], row: Observation, class_: str) -> None:
    """Scores of single targets stand for no question and are in no distribution."""
    if row.target is None:
        key = (row.measure, row.step, class_)
        if (found := spreads.get(key)) is None:
            found = spreads[key] = Spread()
        found.add(row)


def _shown(content: TraceContent) -> tuple[Item, ...]:
    """The items that generation saw; without a context, those of the last step that gave any."""
    if content.context is not None:
        return content.context
    return next((step.items_out for step in reversed(content.steps) if step.items_out is not None), ())
