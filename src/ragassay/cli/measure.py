"""`ragassay measure`: TREC judgements and runs to numbers; no store, no network. The work is in `ragassay.measures`."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

from cyclopts import Parameter

from ragassay.cli import talk
from ragassay.errors import UsageError
from ragassay.measures import command

FORMATS = ("table", "json", "csv", "trec")
_BIG = 32 << 20


def measure(
    qrels: str,
    /,
    *runs: str,
    m: Annotated[tuple[str, ...], Parameter(name=["--measure", "-m"], negative=())] = (),
    by_query: Annotated[bool, Parameter(name=["--by-query", "-q"], negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    csv: Annotated[bool, Parameter(negative=())] = False,
    mode: str = "native",
    c: Annotated[bool, Parameter(name=["--complete", "-c"], negative=())] = False,
    l: Annotated[int, Parameter(name=["--level", "-l"])] = 1,  # noqa: E741
    depth: Annotated[int | None, Parameter(name=["--depth", "-M"])] = None,
    format: Annotated[str, Parameter(name="--format")] = "table",  # noqa: A002
    threads: int | None = None,
    bounds: Annotated[bool, Parameter(negative=())] = False,
    top_grade: int | None = None,
) -> None:
    """Measure TREC runs against judgements.

    Parameters
    ----------
    qrels
        Judgements: lines of query, 0, document, grade. `-` is standard input; gzip is read.
    runs
        Runs: lines of query, Q0, document, rank, score, tag.
    m
        A measure, as often as needed: ndcg@10, recall(rel=2)@100, map, nDCG@5. With --format trec: trec_eval's names.
    by_query
        One line a question.
    json
        The same as --format json.
    csv
        The same as --format csv.
    mode
        native, trec (trec_eval 9 and pytrec_eval: scores as float32) or trec10 (trec_eval 10).
    c
        Questions that a run lacks count as empty lists; else they are reported as missing.
    l
        Least relevant grade, where a measure does not say its own.
    depth
        Read only the first items of each list.
    format
        table, json, csv, or trec: trec_eval's own output.
    threads
        Workers; the numbers do not depend on it.
    bounds
        Say what each measure could be, exactly, if the unjudged items that were retrieved had any grade. Give --depth
        to ask that of the first items only.
    top_grade
        With --bounds: the greatest grade of the rubric; else the measure's `max`, else the greatest grade judged.
    """
    shape = "json" if json else "csv" if csv else format
    if shape not in FORMATS:
        raise UsageError(f"there is no format {shape!r}", hint=f"one of {', '.join(FORMATS)}")
    if depth is not None and depth < 1:
        raise UsageError(f"--depth is {depth}", hint="a whole number from 1 on")
    if top_grade is not None and not bounds:
        raise UsageError("--top-grade is read with --bounds only", hint="give --bounds too")
    if bounds and shape == "trec":
        raise UsageError("trec_eval's own output has no bounds", hint="leave out --format trec, or --bounds")
    options: dict[str, Any] = {"complete": c, "rel": l, "depth": depth, "threads": threads}
    with _Bar() as bar:
        if shape == "trec":
            followed = "trec" if mode == "native" else mode
            lines = command.trec_output(qrels, runs, m, mode=followed, by_query=by_query, progress=bar.tell, **options)
            text = "\n".join(lines)
        else:
            measured = command.measure_runs(
                qrels, runs, m, mode=mode, progress=bar.tell, bounds=bounds, top=top_grade, **options
            )
    if shape == "trec":
        talk.data(text)
    elif shape == "json":
        talk.data_json(command.as_json(measured, by_query=by_query))
    elif shape == "csv":
        talk.data(command.as_csv(measured, by_query=by_query).rstrip("\n"))
    else:
        for line in command.as_table(measured, by_query=by_query).split("\n"):
            talk.data(talk.plain(line))
    talk.then("ragassay measures NAME says what a measure means")


class _Bar:
    """A bar on a terminal, a line every ten seconds elsewhere; only for big files."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._last = time.monotonic()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, run: str, done: int, total: int) -> None:
        """Show how far a run is."""
        if total < _BIG or talk.quiet:
            return
        if sys.stderr.isatty():
            if self._bar is None:
                from rich.console import Console
                from rich.progress import Progress

                self._bar = Progress(console=Console(stderr=True), transient=True)
                self._bar.start()
                self._task, self._run = self._bar.add_task(talk.plain(run), total=total), run
            if self._run != run:
                self._task, self._run = self._bar.add_task(talk.plain(run), total=total), run
            self._bar.update(self._task, completed=done)
        elif time.monotonic() - self._last > 10:
            self._last = time.monotonic()
            talk.say(f"{run}: {done / total:.0%}")
