"""A stored trace as the outcome of a question: its content under this run's redaction, its times as they were then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay.errors import RagassayError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_text
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
        return _kept(trace, redaction, reply.texts)
    except RagassayError as cause:
        return _failure(key, request, redaction, "trace", str(cause))
    except msgspec.ValidationError as cause:
        return _failure(key, request, redaction, "trace", f"redaction left no trace: {cause}")


def _kept(trace: Trace, redaction: Redaction, known: Mapping[Digest, str]) -> Finished:
    whole = msgspec.to_builtins(trace.content)
    texts = _redacted_texts(whole, known, redaction)
    plain, counts = redaction.value(whole)
    content = msgspec.structs.replace(msgspec.convert(plain, TraceContent), redaction=redaction.digest)
    measured, more = redaction.value(msgspec.to_builtins(trace.measurements))
    for name, number in more.items():
        counts[name] = counts.get(name, 0) + number
    measurements = msgspec.structs.replace(
        msgspec.convert(measured, Measurements), raw=None, redactions=counts or trace.measurements.redactions
    )
    return Finished(content=content, measurements=measurements, digest=digest_of(content), texts=texts)


def _redacted_texts(content: dict[str, Any], known: Mapping[Digest, str], redaction: Redaction) -> dict[str, str]:
    """The known texts of a content's items by digest; a digest becomes that of the redacted text, in place."""
    kept: dict[str, str] = {}
    lists = [
        content.get("context"),
        *(step.get(key) for step in content.get("steps", ()) for key in ("items_in", "items_out")),
    ]
    for item in (one for items in lists for one in items or ()):
        digest = item.get("text_digest")
        text = known.get(Digest(digest)) if digest else None
        if text is not None:
            cleaned = redaction.text(text)[0]
            item["text_digest"] = digest_text(cleaned)
            kept[item["text_digest"]] = cleaned
    return kept


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
