"""Measures of whole runs against judgements, from files, dictionaries or columns; question by question and averaged.

from ragassay import measures
result = measures.evaluate("qrels.txt", "run.txt", ["ndcg@10", "recall(rel=2)@100"])
result["ndcg@10"].value, result.question("ndcg@10", "q1")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragassay.errors import InputError, UsageError
from ragassay.measures.lists import Bools, Floats, Lists, by_query
from ragassay.measures.outcome import Outcome
from ragassay.measures.ranking import Column, column
from ragassay.measures.spelling import Measure, parse
from ragassay.measures.ties import extreme_ranks
from ragassay.measures.trec import columns, tables
from ragassay.measures.trec.labels import Labels, read_labels
from ragassay.measures.trec.ranks import Precision, Ranked
from ragassay.measures.trec.run import Progress, RunRows, read_run
from ragassay.measures.unjudged import OverUnjudged, over_unjudged
from ragassay.stats.intervals import Interval, mean_interval
from ragassay.stats.mean import mean

LEAST_GRADE = 1
"""TREC's least relevant grade, filled in where a spelling leaves `rel` open; the spelling that is printed shows it."""


class Summary(NamedTuple):
    """One measure over all questions: attempted = scored + undefined + missing; value is None if none is scored."""

    measure: Measure
    value: float | None
    attempted: int
    scored: int
    undefined: int
    missing: int
    bounds: tuple[float, float] | None
    """What the mean could be if each missing question had any value of the measure's range; None if unbounded."""
    ties: tuple[float, float] | None
    """Mean with every tie ordered for the worst and for the best; None where there are no ties."""


@dataclass(frozen=True)
class Evaluation:
    """All measures of one run. Questions are those of the judgements, ascending by bytes."""

    run: RunRows
    measures: tuple[Measure, ...]
    columns: Mapping[Measure, Column]
    tie_values: Mapping[Measure, tuple[Floats, Floats]]
    """Values of each question with every tie ordered for the worst and for the best."""
    complete: bool
    """True if a question that the run does not have counts as an empty list (trec_eval -c)."""
    depth: int | None = None
    """Items of each list that were read; all for None."""

    @cached_property
    def questions(self) -> tuple[str, ...]:
        """Names of the questions."""
        return tuple(name.decode("utf-8", "surrogateescape") for name in self.run.labels.names)

    @cached_property
    def present(self) -> Bools:
        """Which questions are scored, or undefined, rather than missing."""
        return (self.run.retrieved >= 0) | self.complete

    @property
    def tie_rate(self) -> float | None:
        """Share of retrieved items that share their score with another in their list; None if nothing is retrieved."""
        tied = next(iter(self.run.tied.values()))
        total = int(np.maximum(self.run.retrieved, 0).sum())
        return int(tied.sum()) / total if total else None

    @property
    def duplicate_rate(self) -> float | None:
        """Share of the run's lines that repeat an item of their list; None if nothing is retrieved."""
        again = int(self.run.duplicates.sum())
        total = int(np.maximum(self.run.retrieved, 0).sum()) + again
        return again / total if total else None

    def __getitem__(self, measure: str | Measure) -> Summary:
        return self.summary(self._own(measure))

    def question(self, measure: str | Measure, name: str) -> Outcome:
        """The outcome of one question: value, undefined, or missing(not_in_run)."""
        at = self.run.labels.number.get(name.encode("utf-8", "surrogateescape"))
        if at is None:
            raise UsageError(f"there are no judgements for query {name!r}")
        return self.outcome(self._own(measure), at)

    def outcome(self, measure: Measure, at: int) -> Outcome:
        """The outcome of the question of that index."""
        if not self.present[at]:
            return Outcome("missing", None, None, None, "not_in_run")
        return self.columns[measure].outcome(at)

    def _own(self, measure: str | Measure) -> Measure:
        wanted = (parse(measure) if isinstance(measure, str) else measure).with_rel(LEAST_GRADE)
        if wanted not in self.columns:
            raise UsageError(f"{wanted} was not asked for", hint=f"there are: {', '.join(map(str, self.measures))}")
        return wanted

    def summary(self, measure: Measure) -> Summary:
        """One measure over all questions; in mode=trec the mean is added in trec_eval's order."""
        one = self.columns[measure]
        scored = self.present & ~one.undefined
        values = one.value[scored]
        declared = measure.declared
        missing = int(np.count_nonzero(~self.present))
        undefined = int(np.count_nonzero(self.present & one.undefined))
        within = (declared.low, declared.high) if declared.high is not None else None
        numbers = values.tolist()
        if measure.get("mode") == "native":
            average = mean(numbers)
        else:
            average = float(np.cumsum(values)[-1] / len(values)) if len(values) else None
        ties = None
        if measure in self.tie_values:
            low, high = (mean(part[scored].tolist()) for part in self.tie_values[measure])
            ties = (low, high) if low is not None and high is not None else None
        return Summary(
            measure,
            average,
            len(scored),
            len(values),
            undefined,
            missing,
            _bounds(numbers, missing, within),
            ties,
        )

    def over_unjudged(self, measure: str | Measure, top: int | None = None) -> OverUnjudged:
        """What the mean, and each question, could be if every unjudged item retrieved had a grade from 0 to `top`.

        Takes a millisecond or less a question. `top`: else the measure's `max`, else the greatest grade judged.
        Missing questions stay out, as they do of the value; `Summary.bounds` says what they could do.

        Raises:
            UsageError: `top` is not a whole number from 1 on.
        """
        own = self._own(measure)
        if top is not None and (not isinstance(top, int) or top < 1):
            raise UsageError(f"the greatest grade is {top!r}", hint="a whole number from 1 on: the top of the rubric")
        if (own, top) not in self._unjudged:
            lists = as_lists(self.run, _precision(own), self.depth)
            self._unjudged[own, top] = over_unjudged(self.columns[own], lists, self.present, top)
        return self._unjudged[own, top]

    @cached_property
    def _unjudged(self) -> dict[tuple[Measure, int | None], OverUnjudged]:
        return {}

    def interval(self, measure: str | Measure, level: float = 0.95) -> Interval:
        """Interval of the mean over the scored questions (Student t); undefined with fewer than 2."""
        own = self._own(measure)
        one, declared = self.columns[own], own.declared
        values = one.value[self.present & ~one.undefined].tolist()
        return mean_interval(
            values, level=level, within=None if declared.high is None else (declared.low, declared.high)
        )

    @cached_property
    def _summaries(self) -> tuple[Summary, ...]:
        return tuple(self.summary(one) for one in self.measures)

    def summaries(self) -> tuple[Summary, ...]:
        """All measures, in the order in which they were asked for."""
        return self._summaries


def _bounds(values: list[float], missing: int, within: tuple[float, float] | None) -> tuple[float, float] | None:
    if within is None or not (values or missing):
        return None
    average, total = mean(values) or 0.0, len(values) + missing
    return tuple((average * len(values) + missing * end) / total for end in within)  # type: ignore[return-value]


def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[str | Measure],
    *,
    rel: int = LEAST_GRADE,
    complete: bool = False,
    depth: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measures of a run against judgements.

    Args:
        qrels: a file path, {query: {item: grade}}, a table (pandas, polars, Arrow, anything with
            `__arrow_c_stream__`) or three columns (query, item, grade); or `Labels` that were read before.
        run: the same with scores; or `RunRows` that were read before.
        measures: spellings or measures of ranked lists.
        rel: least relevant grade of measures that do not say theirs.
        complete: a question without items in the run counts as an empty list (trec_eval -c), not as missing.
        depth: cut every list to its first items (trec_eval -M).
        threads: workers; results do not depend on it.
        progress: called with bytes done and all bytes, for files.

    Raises:
        InputError: what is wrong in which file and line.
        UsageError: a measure that is not one of ranked lists.
    """
    wanted = tuple(dict.fromkeys((parse(one) if isinstance(one, str) else one).with_rel(rel) for one in measures))
    if not wanted:
        raise UsageError("no measure was asked for", hint="as in -m ndcg@10 -m recall@100")
    if not isinstance(rel, int) or rel < 1:
        raise UsageError(f"the least relevant grade is {rel!r}", hint="a whole number from 1 on")
    refuse_others(wanted)
    labels = load_labels(qrels)
    rows = load_run(run, labels, wanted, threads=threads, progress=progress)
    return score(rows, wanted, complete=complete, depth=depth)


def refuse_others(wanted: tuple[Measure, ...]) -> None:
    """An error for measures that judgements and a run cannot give, before any file is read."""
    for one in wanted:
        if one.name == "harmful":
            raise UsageError(
                "harmful needs the roles of evidence, which judgements in TREC form do not have",
                hint="score a benchmark with evidence roles instead",
            )
        if one.get("unit") == "passage":
            raise UsageError(f"{one} needs a sealed segmentation", hint="TREC items have one unit: leave `unit` out")
        column(one, _NOTHING)


_NOTHING = Lists(0, *(np.zeros(0, np.int64) for _ in range(6)))


def load_labels(qrels: Any) -> Labels:
    """Judgements from any form that `evaluate` takes."""
    if isinstance(qrels, Labels):
        return qrels
    if isinstance(qrels, (str, Path)):
        return read_labels(str(qrels))
    if isinstance(qrels, Mapping) and all(isinstance(own, Mapping) for own in qrels.values()):
        return columns.labels_from_dict(qrels)
    return columns.labels_of(*tables.three_columns(qrels, tables.GRADES))


def load_run(
    run: Any,
    labels: Labels,
    wanted: tuple[Measure, ...],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> RunRows:
    """A run from any form that `evaluate` takes, ranked as its measures need: doubles, and float32 for mode=trec."""
    precisions = tuple(dict.fromkeys(_precision(one) for one in wanted))
    strict = any(one.get("mode") in {"trec", "trec10"} for one in wanted)
    if isinstance(run, RunRows):
        if run.labels is not labels or not set(precisions) <= set(run.ranked):
            raise UsageError("the run was read for other judgements or other modes", hint="read it with these")
        return run
    if isinstance(run, (str, Path)):
        return read_run(str(run), labels, precisions, strict=strict, threads=threads, progress=progress)
    if isinstance(run, Mapping) and all(isinstance(own, Mapping) for own in run.values()):
        return columns.run_from_dict(run, labels, precisions)
    three = tables.three_columns(run, tables.SCORES)
    return columns.run_of(*three, labels, precisions, strict=strict, threads=threads)


def _precision(measure: Measure) -> Precision:
    return "single" if measure.get("mode") == "trec" else "double"


def score(rows: RunRows, wanted: tuple[Measure, ...], *, complete: bool, depth: int | None = None) -> Evaluation:
    """Measures of judged rows."""
    for one in wanted:
        if one.get("mode") == "trec10" and not complete and np.any(rows.retrieved < 0):
            name = rows.labels.names[int(np.flatnonzero(rows.retrieved < 0)[0])].decode("utf-8", "replace")
            raise InputError(
                f"the run has no items for query {name!r}",
                hint="trec_eval 10 stops here; give -c (complete) to count it as an empty list",
            )
    lists = {one: as_lists(rows, one, depth) for one in rows.ranked}
    scored = {one: column(one, lists[_precision(one)]) for one in wanted}
    ties = {}
    for precision, tied in rows.tied.items():
        if tied.any():
            worst, best = (_in_ties(rows, precision, depth, best=side) for side in (False, True))
            mine = [one for one in wanted if _precision(one) == precision]
            ties.update({one: (column(one, worst).value, column(one, best).value) for one in mine})
    return Evaluation(rows, wanted, scored, ties, complete, depth)


def as_lists(rows: RunRows, precision: Precision, depth: int | None = None) -> Lists:
    """The rows of a run as the lists that kernels read."""
    return _lists(rows, rows.ranked[precision], depth)


def _lists(rows: RunRows, ranked: Ranked, depth: int | None) -> Lists:
    labels = rows.labels
    query, grade = labels.by_grade
    lists = Lists(
        queries=len(labels.names),
        retrieved=np.maximum(rows.retrieved, 0),
        query=ranked.query,
        rank=ranked.rank,
        grade=labels.grade[ranked.label],
        label_query=query,
        label_grade=grade,
    )
    return lists if depth is None else lists.truncated(depth)


def _in_ties(rows: RunRows, precision: Precision, depth: int | None, *, best: bool) -> Lists:
    """The lists with every tie ordered for the best, or for the worst."""
    own = rows.ranked[precision]
    grade = rows.labels.grade[own.label]
    ranks = extreme_ranks(own.query, own.first, own.last, grade, best=best)
    order = by_query(own.query, ranks)
    ranked = own._replace(query=own.query[order], rank=ranks[order], label=own.label[order])
    return _lists(rows, ranked, depth)
