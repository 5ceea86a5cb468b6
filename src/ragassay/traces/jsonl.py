"""Traces in our own form, one JSON object a line. Repairs nothing."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import load_json, parse_value
from ragassay.records.trace import Measurements, Trace, TraceContent


def read_jsonl(path: Path | str) -> list[Trace]:
    """The traces of a file, in its order. A line is a Trace, or a TraceContent alone (nothing was measured then).

    Raises InputError or RecordError with file, line and field: bytes that are not UTF-8, a line that is no trace,
    the same (query_id, repeat) twice, a file without traces.
    """
    file = Path(path)
    traces: list[Trace] = []
    seen: dict[tuple[str, int], int] = {}
    for number, raw in enumerate(_lines(file), 1):
        if not raw.strip():
            continue
        try:
            trace = _trace(raw)
        except RecordError as error:
            raise error.at(file=str(file), line=number)  # noqa: B904  the same error, with its place
        key = (trace.content.query_id, trace.content.repeat)
        if key in seen:
            raise InputError(
                f"question {key[0]!r}, repeat {key[1]}, is there twice; first on line {seen[key]}",
                file=str(file),
                line=number,
                hint="keep one trace for each question and repeat",
            )
        seen[key] = number
        traces.append(trace)
    if not traces:
        raise InputError("no trace in this file", file=str(file), hint="one trace a line: `ragassay schema trace`")
    return traces


def _trace(raw: bytes) -> Trace:
    value = load_json(raw)
    if isinstance(value, dict) and "content" not in value:
        content = parse_value(TraceContent, value)
        measured = Measurements(query_id=content.query_id, repeat=content.repeat)
        return Trace(content=content, measurements=measured)
    return parse_value(Trace, value)


def _lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().split(b"\n")
    except OSError as cause:
        raise InputError(
            f"cannot read the traces: {cause.strerror or cause}", file=str(file), hint="check the path"
        ) from cause
