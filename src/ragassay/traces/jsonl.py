"""Traces in our own form, one JSON object a line. Repairs nothing."""

from __future__ import annotations

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
    file = Path(path)
    problems = Problems(on_error)
    traces: list[Trace] = []
    seen: dict[tuple[str, int], int] = {}
    for number, raw in lines_in(file):
        with problems.at(file, number):
            trace = _trace(raw)
            key = (trace.content.query_id, trace.content.repeat)
            if key in seen:
                raise InputError(
                    f"question {key[0]!r}, repeat {key[1]}, is there twice; first on line {seen[key]}",
                    field="query_id",
                    hint="keep one trace for each question and repeat",
                )
            seen[key] = number
            traces.append(trace)
    problems.settle(len(traces))
    if not traces:
        raise InputError("no trace in this file", file=str(file), hint="one trace a line: `ragassay schema trace`")
    return TraceReading(traces, skipped=problems.skipped)


def _trace(raw: bytes) -> Trace:
    value = load_json(raw)
    if isinstance(value, dict) and "content" not in value:
        content = parse_value(TraceContent, value)
        measured = Measurements(query_id=content.query_id, repeat=content.repeat)
        return Trace(content=content, measurements=measured)
    return parse_value(Trace, value)
