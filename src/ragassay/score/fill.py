"""Rows for what was attempted and not observed: every measure has a row for every question. Invents no value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def complete(
    scores: Iterable[Scores],
    cases: Sequence[Case],
    repeats: int,
    world: World,
    scoring: Scoring,
    stopped: str | None = None,
) -> list[Scores]:
    """The scores of every attempted (query_id, repeat), by case and repeat, each with a row for every measure and step.

    A step that a trace does not have is missing(absent_step); a failed trace is error(cause) everywhere; a question
    without a trace is missing(no_trace), or missing(`stopped`) where the run was stopped on purpose. A sealed measure
    that no trace has a place for stands once, without a step.
    """
    by_key = {(one.query_id, one.repeat): one for one in scores}
    seen = _keys(row for one in by_key.values() for row in one.observations)
    timed = _keys(row for one in by_key.values() for row in one.runtime)
    for measure in measures_of(scoring, world.rel):
        if measure.name in RUNTIME_MEASURES:
            own, names = timed, {name for name, _ in timed}
        else:
            own, names = seen, {name for name, _ in seen}
        if str(measure) not in names and computed(measure.name) and not _split(measure):
            own[str(measure), None] = None
    made = []
    for case in cases:
        labels = Labels(case, world)
        for repeat in range(repeats):
            one = by_key.get((case.query_id, repeat)) or _blank(case, repeat, labels, stopped or "no_trace")
            made.append(
                one._replace(
                    observations=(*one.observations, *_absent(one, one.observations, seen, labels)),
                    runtime=(*one.runtime, *_absent(one, one.runtime, timed, labels)),
                )
            )
    return made


def _split(measure: Measure) -> bool:
    """Tokens are counted as input and output, never under the plain spelling."""
    return measure.name == "tokens" and not measure.params


def _keys(rows: Iterable[Observation]) -> dict[Key, None]:
    return dict.fromkeys((row.measure, row.step) for row in rows)


def _blank(case: Case, repeat: int, labels: Labels, why: str) -> Scores:
    return Scores(case.query_id, repeat, why, (), (), fates_unknown(case, repeat, labels), ())


def _absent(one: Scores, rows: Sequence[Observation], wanted: Iterable[Key], labels: Labels) -> tuple[Observation, ...]:
    have = {(row.measure, row.step) for row in rows}
    made = Rows(labels.case, one.repeat)
    for spelled, step in wanted:
        if (spelled, step) in have:
            continue
        measure = None if spelled in COUNTS else parse(spelled)
        if not _member(spelled, measure, labels):
            continue
        why = None if measure is None or one.failure else outside(measure, labels)
        made.add(spelled, why or _why(one.failure, step, None if measure is None else known(measure, labels)), step)
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
