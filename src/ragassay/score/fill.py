"""Rows for what was attempted and not observed: every measure has a row for every question. Invents no value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ragassay.measures import Measure, Outcome, parse
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.score import Observation
from ragassay.score.answer import RUNTIME_MEASURES, takes_part
from ragassay.score.fates import fates_unknown
from ragassay.score.labels import Labels
from ragassay.score.observe import COUNTS, computed, known, measures_of
from ragassay.score.population import outside
from ragassay.score.rows import Rows, Scores, error, missing
from ragassay.score.world import World

Key = tuple[str, str | None]
LIMITED = frozenset(
    {"empty_retrieval", "false_refusal", "unsupported_answer", "hidden_labels", "abstention_recall",
     "answerability_coverage"}
)  # fmt: skip
"""Measures whose population is a part of the cases; the others have no row for them."""


ABSENT = frozenset({"no_trace", "cost_ceiling", "error_budget"})
"""Why a question has no trace: it is missing, nothing failed."""


class Taken:
    """Which measures were taken at which steps, over all traces."""

    def __init__(self) -> None:
        self._seen: dict[Key, None] = {}
        self._timed: dict[Key, None] = {}

    def add(self, one: Scores) -> None:
        """What was observed of one trace."""
        self._seen.update(keys(one.observations))
        self._timed.update(keys(one.runtime))

    def close(self, scoring: Scoring, world: World) -> None:
        """After the last trace: a sealed measure that no trace has a place for stands once, without a step."""
        seen, timed = ({name for name, _ in one} for one in (self._seen, self._timed))
        for measure in measures_of(scoring, world.rel):
            of_time = measure.name in RUNTIME_MEASURES
            if str(measure) not in (timed if of_time else seen) and computed(measure.name) and not _split(measure):
                (self._timed if of_time else self._seen)[str(measure), None] = None

    def absent(
        self, labels: Labels, repeat: int, failure: str, have: tuple[Collection[Key], Collection[Key]]
    ) -> tuple[tuple[Observation, ...], tuple[Observation, ...]]:
        """The rows, of quality and of time, of one question and repeat for what `have` does not name.

        A step that a trace does not have is missing(absent_step); a failed trace is error(cause) everywhere; a question
        without a trace is missing(no_trace), or missing of why the run was stopped.
        """
        seen, timed = (
            _absent(labels, repeat, failure, (key for key in wanted if key not in own))
            for wanted, own in zip((self._seen, self._timed), have, strict=True)
        )
        return seen, timed


def complete(
    scores: Iterable[Scores],
    cases: Sequence[Case],
    repeats: int,
    world: World,
    scoring: Scoring,
    stopped: str | None = None,
) -> list[Scores]:
    """The scores of every attempted (query_id, repeat), by case and repeat, each with a row for every measure and step.

    As `Taken` says; `stopped`: the run was stopped on purpose, and this is why.
    """
    taken, by_key = Taken(), {}
    for each in scores:
        taken.add(each)
        by_key[each.query_id, each.repeat] = each
    taken.close(scoring, world)
    made = []
    for case in cases:
        labels = Labels(case, world)
        for repeat in range(repeats):
            one = by_key.get((case.query_id, repeat)) or blank(labels, repeat, stopped)
            have = keys(one.observations), keys(one.runtime)
            seen, timed = taken.absent(labels, repeat, one.failure, have)
            made.append(one._replace(observations=(*one.observations, *seen), runtime=(*one.runtime, *timed)))
    return made


def _split(measure: Measure) -> bool:
    """Tokens are counted as input and output, never under the plain spelling."""
    return measure.name == "tokens" and not measure.params


def keys(rows: Iterable[Observation]) -> dict[Key, None]:
    """Measure and step of each row, once, in order."""
    return dict.fromkeys((row.measure, row.step) for row in rows)


def blank(labels: Labels, repeat: int, stopped: str | None) -> Scores:
    """A question without a trace."""
    fates = fates_unknown(labels.case, repeat, labels)
    return Scores(labels.case.query_id, repeat, stopped or "no_trace", (), (), fates, ())


def _absent(labels: Labels, repeat: int, failure: str, wanted: Iterable[Key]) -> tuple[Observation, ...]:
    made = Rows(labels.case, repeat)
    for spelled, step in wanted:
        measure = None if spelled in COUNTS else parse(spelled)
        if not _member(spelled, measure, labels):
            continue
        why = None if measure is None or failure else outside(measure, labels)
        made.add(spelled, why or _why(failure, step, None if measure is None else known(measure, labels)), step)
    return tuple(made.made)


def _member(spelled: str, measure: Measure | None, labels: Labels) -> bool:
    if spelled == "hidden_labels":
        return labels.case.principal is not None
    if measure is None:
        return True
    if measure.name == "empty_retrieval":
        return labels.state == "empty"
    return takes_part(measure.name, labels)


def _why(failure: str, step: str | None, denominator: float | None) -> Outcome:
    if failure in ABSENT:
        return missing(failure, denominator)
    if failure:
        return error(failure, denominator)
    return missing("absent_step" if step is not None else "not_reported", denominator)
