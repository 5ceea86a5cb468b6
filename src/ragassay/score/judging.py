"""One question before all judges that were read: each one's measures, and what is wrong with the claims. Asks none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ragassay.measures import Measure
from ragassay.records.score import ClaimFailure
from ragassay.records.trace import TraceContent
from ragassay.score.answer import outcome_of
from ragassay.score.failures import failures_of
from ragassay.score.hold import Reader, State, fact_states
from ragassay.score.judged import Judged, Score
from ragassay.score.labels import Labels
from ragassay.score.verdicts import Verdicts
from ragassay.traces import Graph


class Judging:
    """One answer with everything that any judge said of it; each judge is read once, when it is first asked for."""

    def __init__(
        self,
        content: TraceContent,
        labels: Labels,
        reader: Reader,
        graph: Graph,
        verdicts: Mapping[str, Verdicts],
        rules: Sequence[str],
    ) -> None:
        """`rules`: those by which an answer counts as abstained."""
        self.content, self.labels, self.reader, self.graph, self.verdicts = content, labels, reader, graph, verdicts
        self.did = outcome_of(content, rules)
        self._by: dict[str, Judged] = {}

    def score(self, measure: Measure) -> Score:
        """One of JUDGED_MEASURES by the judge that it names."""
        return self._judged(str(measure.get("by") or "")).score(measure)

    def failures(self) -> tuple[ClaimFailure, ...]:
        """What is wrong with each claim, by each judge that was read; nothing where nothing was answered."""
        every = [(name, self._judged(name)) for name in self.verdicts]
        return tuple(
            row
            for name, one in every
            if one.unanswered is None
            for row in failures_of(name, one, self.graph, self.reader)
        )

    def _judged(self, judge: str) -> Judged:
        if judge not in self._by:
            context = self.graph.context.items
            self._by[judge] = Judged(
                self.content, self.labels, self.did, self.verdicts.get(judge), context, lambda: self._held
            )
        return self._by[judge]

    @cached_property
    def _held(self) -> dict[str, State] | None:
        """What the context holds of each fact."""
        items = self.graph.context.items
        return None if items is None else fact_states(self.labels, self.reader, self.reader.states(items))
