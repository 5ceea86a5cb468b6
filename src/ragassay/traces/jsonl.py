"""Traces in our own form, one JSON object a line. Repairs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragassay.benchmark.intake import OnError, Problems, lines_in
from ragassay.errors import InputError
from ragassay.records.canonical import load_json, parse_value
from ragassay.records.trace import Measurements, Trace, TraceContent
from ragassay.traces.reading import TraceReading


def read_jsonl(path: Path | str, *, on_error: OnError = "stop") -> TraceReading:
    """The traces of a file (or of a gzip file), in its order. A line is a Trace, or a TraceContent alone.

    A TraceContent alone says that nothing was measured. Raises InputError or RecordError with file, line and field,
    and names up to 20 more: bytes that are not UTF-8, a line that is no trace, the same (query_id, repeat) twice, a
    file without traces. With `on_error="skip"` such lines are left out and stand in `skipped`; of one key twice the
    first stays.
    """
    problems = Problems(on_error)
    traces = list(each_trace(path, problems))
    return TraceReading(traces, skipped=problems.skipped)


def each_trace(path: Path | str, problems: Problems) -> Iterator[Trace]:
    """The traces of a file one by one, so that a long one need not be held; errors as `read_jsonl` has them.

    What is wrong with a line is kept in `problems`, and raised when the file was read.
    """
    file, read = Path(path), 0
    seen: dict[tuple[str, int], int] = {}
    for number, raw in lines_in(file):
        trace = None
        with problems.at(file, number):
            found = _trace(raw)
            key = (found.content.query_id, found.content.repeat)
            if key in seen:
                raise InputError(
                    f"question {key[0]!r}, repeat {key[1]}, is there twice; first on line {seen[key]}",
                    field="query_id",
                    hint="keep one trace for each question and repeat",
                )
            seen[key], trace = number, found
        if trace is not None:
            read += 1
            yield trace
    problems.settle(read)
    if not read:
        raise InputError("no trace in this file", file=str(file), hint="one trace a line: `ragassay schema trace`")


def _trace(raw: bytes) -> Trace:
    value = load_json(raw)
    if isinstance(value, dict) and "content" not in value:
        content = parse_value(TraceContent, value)
        measured = Measurements(query_id=content.query_id, repeat=content.repeat)
        return Trace(content=content, measurements=measured)
    return parse_value(Trace, value)
