"""What `ragassay measure` says: runs against judgements as a table, JSON, CSV or trec_eval's form.

Pure functions from files to text; the door in `cli` parses options and prints.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ragassay.errors import UsageError
from ragassay.measures.bounds import CERTAIN
from ragassay.measures.evaluate import Evaluation, Summary, load_labels, load_run, refuse_others, score
from ragassay.measures.spelling import Measure, parse
from ragassay.measures.trec.output import trec_lines
from ragassay.measures.trec.ranks import Precision
from ragassay.measures.trec.rows import Version
from ragassay.measures.trec.run import read_run
from ragassay.measures.unjudged import OverUnjudged
from ragassay.records.text import many
from ragassay.stats.intervals import Interval

DEFAULT = ("ndcg@10", "recall@100", "rr@10", "ap", "judged@10")
MODES = ("native", "trec", "trec10")

Progress = Callable[[str, int, int], None]
"""Called with the run's file, bytes done and all bytes."""


class Measured(NamedTuple):
    """All runs against one set of judgements, in the order in which they were named."""

    qrels: str
    runs: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    bounds: bool = False
    """Whether the bounds over unjudged items are shown."""
    top: int | None = None
    """The rubric's greatest grade, where it was said."""

    def unjudged(self, evaluation: Evaluation, measure: Measure) -> OverUnjudged | None:
        """Bounds over unjudged items where they are asked for."""
        return evaluation.over_unjudged(measure, self.top) if self.bounds else None


def measure_runs(
    qrels: str,
    runs: Sequence[str],
    spellings: Sequence[str] = (),
    *,
    mode: str = "native",
    complete: bool = False,
    rel: int = 1,
    depth: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    bounds: bool = False,
    top: int | None = None,
) -> Measured:
    """Measure every run; the judgements are read once.

    Args:
        qrels: file of judgements.
        runs: run files, at least one.
        spellings: measures; `DEFAULT` if none.
        mode: filled in where a spelling does not say its own: native, trec (trec_eval 9) or trec10.
        complete: questions that a run lacks count as empty lists (-c).
        rel: least relevant grade where a spelling does not say it (-l).
        depth: only the first items of each list (-M).
        threads: workers; the numbers do not depend on it.
        progress: told what is done.
        bounds: say what each measure could be if the unjudged items had grades.
        top: the greatest grade that they could have; else the measure's `max`, else the greatest grade judged.

    Raises:
        UsageError, InputError: what is wrong, and where.
    """
    check_runs(qrels, runs)
    if top is not None and top < 1:
        raise UsageError(f"the greatest grade is {top}", hint="a whole number from 1 on: the top of the rubric")
    wanted = measures_of(spellings, mode=mode, rel=rel)
    refuse_others(wanted)
    labels = load_labels(qrels)
    evaluations = []
    for run in runs:
        tell = _told(progress, run)
        rows = load_run(run, labels, wanted, threads=threads, progress=tell)
        evaluations.append(score(rows, wanted, complete=complete, depth=depth))
    return Measured(qrels, tuple(runs), tuple(evaluations), bounds, top)


def measures_of(spellings: Sequence[str], *, mode: str = "native", rel: int = 1) -> tuple[Measure, ...]:
    """The measures that are asked for, each once, with mode and least grade filled in."""
    if mode not in MODES:
        raise UsageError(f"there is no mode {mode!r}", hint=f"one of {', '.join(MODES)}")
    if rel < 1:
        raise UsageError(f"the least relevant grade is {rel}", hint="a whole number from 1 on, as in -l 2")
    found = []
    for text in spellings or DEFAULT:
        one = parse(text).with_rel(rel)
        found.append(one if one.get("mode") != "native" else one.with_params(mode=mode))
    return tuple(dict.fromkeys(found))


def check_runs(qrels: str, runs: Sequence[str]) -> None:
    """Refuse no run at all, and standard input named twice."""
    if not runs:
        raise UsageError("no run was named", hint="ragassay measure QRELS RUN [RUN...]")
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input (-) can be read once only", hint="name files for the others")


def trec_output(
    qrels: str,
    runs: Sequence[str],
    names: Sequence[str] = (),
    *,
    mode: str = "trec",
    by_query: bool = False,
    complete: bool = False,
    rel: int = 1,
    depth: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[str]:
    """trec_eval's own lines (`--format trec`) for each run: names are trec_eval's, as in map, P.5,10, official."""
    if mode not in {"trec", "trec10"}:
        raise UsageError("--format trec prints what trec_eval does", hint="give --mode trec or --mode trec10")
    check_runs(qrels, runs)
    version: Version = "trec" if mode == "trec" else "trec10"
    labels = load_labels(qrels)
    for run in runs:
        precision: Precision = "single" if version == "trec" else "double"
        tell = _told(progress, run)
        rows = read_run(run, labels, (precision,), strict=True, threads=threads, progress=tell)
        yield from trec_lines(
            rows,
            [_trec_name(name) for name in names] or ["official"],
            version=version,
            rel=rel,
            by_query=by_query,
            complete=complete,
            depth=depth,
        )


def _trec_name(name: str) -> str:
    """`P@5` and `P_5` as `P.5`; others as they are."""
    stem, at, cut = name.partition("@")
    if at:
        return f"{stem}.{cut}"
    stem, _, tail = name.rpartition("_")
    return f"{stem}.{tail}" if stem in {"P", "recall", "ndcg_cut", "map_cut", "success", "unj"} else name


def _told(progress: Progress | None, run: str) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    say = progress
    return lambda done, total: say(run, done, total)


def as_json(measured: Measured, *, by_query: bool = False) -> dict[str, Any]:
    """All rows as one JSON object; a value that does not exist is absent, its status and reason are there."""
    return {
        "qrels": measured.qrels,
        "runs": [
            {
                "run": run,
                "tag": one.run.tag,
                "questions": len(one.questions),
                "queries_without_judgements": one.run.unknown,
                "tie_rate": one.tie_rate,
                "duplicate_rate": one.duplicate_rate,
                "measures": [
                    _summary(item, one.interval(item.measure)) | _over(measured.unjudged(one, item.measure))
                    for item in one.summaries()
                ],
                **({"by_query": list(_by_query(measured, one))} if by_query else {}),
            }
            for run, one in zip(measured.runs, measured.evaluations, strict=True)
        ],
    }


def _summary(one: Summary, interval: Interval) -> dict[str, Any]:
    counts = {"attempted": one.attempted, "scored": one.scored, "undefined": one.undefined, "missing": one.missing}
    found: dict[str, Any] = {"measure": str(one.measure), "aggregation": one.measure.declared.aggregation, **counts}
    if one.value is None:
        return {**found, "status": "undefined" if one.undefined else "missing"}
    found |= {"status": "value", "value": one.value}
    if interval.low is not None:
        found["interval"] = {
            "low": interval.low,
            "high": interval.high,
            "level": interval.level,
            "method": interval.method,
        }
    if one.missing and one.bounds:
        found["bounds_over_missing"] = list(one.bounds)
    if one.ties:
        found["range_over_tie_orders"] = list(one.ties)
    return found


def _over(one: OverUnjudged | None) -> dict[str, Any]:
    if one is None:
        return {}
    told = {"top_grade": one.top, "questions": one.questions, "items": one.items}
    return {"over_unjudged": told if one.low is None else {"low": one.low, "high": one.high, **told}}


def _by_query(measured: Measured, evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    over = {one: measured.unjudged(evaluation, one) for one in evaluation.measures}
    for at, name in enumerate(evaluation.questions):
        for measure in evaluation.measures:
            found = evaluation.outcome(measure, at)
            row: dict[str, Any] = {"query": name, "measure": str(measure), "status": found.status}
            if found.status == "value":
                row |= {"value": found.value, "numerator": found.numerator, "denominator": found.denominator}
            else:
                row["reason"] = found.reason
            own = over[measure]
            if own is not None and own.each[at].low is not None:
                row |= {"unjudged_low": own.each[at].low, "unjudged_high": own.each[at].high}
            yield row


def as_csv(measured: Measured, *, by_query: bool = False) -> str:
    """A row for each run and measure (and query); cells of values that do not exist are empty."""
    target = io.StringIO()
    if by_query:
        columns = ["run", "query", "measure", "status", "value", "numerator", "denominator", "reason"]
    else:
        columns = ["run", "measure", "value", "attempted", "scored", "undefined", "missing", "low", "high"]
    if measured.bounds:
        columns += ["unjudged_low", "unjudged_high"]
    writer = csv.DictWriter(target, columns, lineterminator="\n", restval="")
    writer.writeheader()
    for run, one in zip(measured.runs, measured.evaluations, strict=True):
        if by_query:
            writer.writerows({"run": run, **row} for row in _by_query(measured, one))
        else:
            for item in one.summaries():
                over = measured.unjudged(one, item.measure)
                ends = {} if over is None else {"unjudged_low": over.low, "unjudged_high": over.high}
                writer.writerow(_csv_row(run, item, one.interval(item.measure)) | ends)
    return target.getvalue()


def _csv_row(run: str, one: Summary, interval: Interval) -> dict[str, Any]:
    return {
        "run": run,
        "measure": str(one.measure),
        "value": "" if one.value is None else repr(one.value),
        "attempted": one.attempted,
        "scored": one.scored,
        "undefined": one.undefined,
        "missing": one.missing,
        "low": "" if interval.low is None else repr(interval.low),
        "high": "" if interval.high is None else repr(interval.high),
    }


def as_table(measured: Measured, *, by_query: bool = False) -> str:
    """Plain text: a line for each measure, a column for each run, and what must be known to read them."""
    if by_query:
        return "\n".join(_query_lines(measured))
    single = len(measured.runs) == 1
    header = ["measure", *(["value", "95% interval"] if single else measured.runs), "scored", "undefined", "missing"]
    lines = [header]
    for at, measure in enumerate(measured.evaluations[0].measures):
        every = [one.summaries()[at] for one in measured.evaluations]
        cells = [
            str(measure),
            *(
                [_number(every[0].value), _interval(measured.evaluations[0].interval(measure))]
                if single
                else map(_number, _of(every))
            ),
        ]
        counts = [_span([getattr(one, name) for one in every]) for name in ("scored", "undefined", "missing")]
        lines.append([*cells, *counts])
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*text, *_notes(measured)])


def _of(every: Sequence[Summary]) -> list[float | None]:
    return [one.value for one in every]


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _interval(one: Interval) -> str:
    low, high = one.low, one.high
    return "undefined" if low is None or high is None else f"{low:.4f} to {high:.4f}"


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def _notes(measured: Measured) -> Iterator[str]:
    """Ties, duplicates and missing questions of each run, where there are any."""
    for run, one in zip(measured.runs, measured.evaluations, strict=True):
        if one.tie_rate:
            yield f"{run}: {one.tie_rate:.1%} of the items share their score with another in their list"
            for item in one.summaries():
                if item.ties and item.ties[0] != item.ties[1]:
                    yield f"  {item.measure}: {item.ties[0]:.4f} to {item.ties[1]:.4f} over all orders of the tied"
        if one.duplicate_rate:
            yield f"{run}: {one.duplicate_rate:.1%} of the lines repeat an item of their list; each counts once"
        for item in one.summaries():
            if item.missing and item.bounds:
                low, high = item.bounds
                yield f"{run}: {item.measure} is {low:.4f} to {high:.4f} whatever its {item.missing} missing would be"
        for item in one.summaries():
            over = measured.unjudged(one, item.measure)
            if over is not None:
                yield f"{run}: {_unjudged_note(over)}"
        if one.run.unknown:
            yield f"{run}: {one.run.unknown} queries have no judgements and are left out"


def _unjudged_note(one: OverUnjudged) -> str:
    """What the measure could be, or that nothing unjudged could change it."""
    if one.low is None or one.high is None:
        return f"{one.measure} is undefined whatever its unjudged items would be"
    if one.items == 0:
        return f"{one.measure} has no unjudged items"
    where = f"the {many(one.items, 'unjudged item')} of {many(one.questions, 'question')}"
    if one.measure.name in CERTAIN:
        return f"{one.measure} counts what is judged: it is not about what {where} would be"
    return f"{one.measure} is {one.low:.4f} to {one.high:.4f} whatever grades from 0 to {one.top} {where} would have"


def _query_lines(measured: Measured) -> Iterator[str]:
    for run, one in zip(measured.runs, measured.evaluations, strict=True):
        for row in _by_query(measured, one):
            shown = f"{row['value']:.4f}" if row["status"] == "value" else f"{row['status']} ({row['reason']})"
            if "unjudged_low" in row:
                shown += f" ({row['unjudged_low']:.4f} to {row['unjudged_high']:.4f})"
            head = f"{row['measure']:<24} {row['query']:<16} {shown}"
            yield head if len(measured.runs) == 1 else f"{run:<20} {head}"
