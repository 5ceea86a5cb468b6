"""A stored trace as the outcome of a question: its content under this run's redaction, its times as they were then."""

from __future__ import annotations

import msgspec

from ragassay.errors import RagassayError
from ragassay.records.canonical import digest_of
from ragassay.records.trace import Attempt, Failure, Measurements, Trace, TraceContent
from ragassay.redact import Redaction
from ragassay.run.contract import Reply, Request
from ragassay.run.journal import Finished, Key
from ragassay.run.normalise import failed

NOT_STORED = "not_stored"
"""Code of the failure of a question that the file does not answer: silence is not an empty list."""


def replayed(key: Key, request: Request, reply: Reply, redaction: Redaction) -> Finished:
    """The finished trace of one key from `reply.stored`.

    What was not measured then stays missing: the time that reading took is not the system's. A question or repeat that
    is not stored, and a trace of another moment than the run's, are failures of this question.
    """
    trace = (reply.stored or {}).get(key[1])
    if trace is None:
        detail = reply.detail or f"nothing is stored for this question, repeat {key[1]}"
        return _failure(key, request, redaction, NOT_STORED, detail)
    if trace.content.as_of != request.as_of:
        detail = f"what is stored was answered as of {trace.content.as_of}; this run asks as of {request.as_of}"
        return _failure(key, request, redaction, "as_of", detail)
    try:
        return _kept(trace, redaction)
    except RagassayError as cause:
        return _failure(key, request, redaction, "trace", str(cause))
    except msgspec.ValidationError as cause:
        return _failure(key, request, redaction, "trace", f"redaction left no trace: {cause}")


def _kept(trace: Trace, redaction: Redaction) -> Finished:
    plain, counts = redaction.value(msgspec.to_builtins(trace.content))
    content = msgspec.structs.replace(msgspec.convert(plain, TraceContent), redaction=redaction.digest)
    measured, more = redaction.value(msgspec.to_builtins(trace.measurements))
    for name, number in more.items():
        counts[name] = counts.get(name, 0) + number
    measurements = msgspec.structs.replace(
        msgspec.convert(measured, Measurements), raw=None, redactions=counts or trace.measurements.redactions
    )
    return Finished(content=content, measurements=measurements, digest=digest_of(content), texts={})


def _failure(key: Key, request: Request, redaction: Redaction, code: str, detail: str) -> Finished:
    failure = Failure(cause="invalid_response", code=code)
    content = failed(failure, request, repeat=key[1], redaction=redaction.digest)
    measurements = Measurements(
        query_id=content.query_id,
        repeat=key[1],
        attempts=(Attempt(duration_ms=0.0, failure=failure),),
        failure_detail=redaction.text(detail)[0][:2000],
    )
    return Finished(content=content, measurements=measurements, digest=digest_of(content), texts={})
