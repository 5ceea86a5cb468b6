"""TREC run files as document-level traces: items are whole documents, nothing else was reported. Reads no qrels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ragassay.benchmark.intake import OnError, Problems, lines_in
from ragassay.corpus import Resolver
from ragassay.corpus.resolve import Resolved
from ragassay.errors import InputError
from ragassay.records.base import Instant, QueryId, StepId
from ragassay.records.document import Document, Passage
from ragassay.records.text import many, shown
from ragassay.records.trace import Item, Measurements, Step, Trace, TraceContent
from ragassay.traces.reading import TraceReading

EPOCH = Instant("1970-01-01T00:00:00Z")
LONGEST_ID = 512
LONGEST_LINE = 1 << 16
COLUMNS = "query_id Q0 document_id rank score tag"


class _Row(NamedTuple):
    query_id: str
    document_id: str
    score: float


def read_trec_run(
    path: Path | str,
    documents: Iterable[Document],
    passages: Iterable[Passage] = (),
    *,
    as_of: Instant | None = None,
    name: str = "run",
    repeat: int = 0,
    on_error: OnError = "stop",
) -> TraceReading:
    """The traces of a TREC run file (or of a gzip file), one a question, in the order in which questions appear.

    Each trace has one source step (`lexical`) named `name`, whose items are whole documents ordered as trec_eval
    orders them: score, then document id by UTF-8 bytes, both descending; the rank column and the order of lines are
    not read. An id of one of `passages` is that passage. No context, answer or time was reported, so those are
    missing. An id that the corpus does not have, or that stands for several versions of which `as_of` decides none,
    is an unresolved item.

    Raises InputError with file and line, and names up to 20 more: fewer than six columns, a score that is no finite
    number, a document twice for one question, bytes that are not UTF-8, a carriage return inside a line, no lines.
    With `on_error="skip"` such lines are left out and stand in `skipped`; of a document twice the first line stays.
    Lines that begin with `#` and empty lines are skipped.
    """
    file = Path(path)
    resolver = Resolver(documents, passages, as_of=as_of)
    lists: dict[str, dict[str, float]] = {}
    problems = Problems(on_error)
    for number, raw in lines_in(file, longest=LONGEST_LINE):
        if raw.startswith(b"#"):
            continue
        with problems.at(file, number):
            row = _row(raw)
            own = lists.setdefault(row.query_id, {})
            if row.document_id in own:
                raise InputError(
                    f"document {row.document_id!r} is there twice for question {row.query_id!r}",
                    field="document_id",
                    hint="keep one line for each question and document",
                )
            own[row.document_id] = row.score
    problems.settle(len(lists))
    if not lists:
        raise InputError("no line in this run file", file=str(file), hint=f"each line holds: {COLUMNS}")
    made = (_trace(query_id, scores, resolver, as_of or EPOCH, name, repeat) for query_id, scores in lists.items())
    return TraceReading(made, skipped=problems.skipped)


def _row(raw: bytes) -> _Row:
    parts = raw.split()
    if len(parts) < 6:
        raise InputError(f"{many(len(parts), 'column')} where six are needed", hint=f"each line holds: {COLUMNS}")
    try:
        query_id, document_id, score = (parts[at].decode("utf-8") for at in (0, 2, 4))
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", hint="write the run file as UTF-8") from None
    if max(len(query_id), len(document_id)) > LONGEST_ID:
        raise InputError(f"an id of more than {LONGEST_ID} characters", hint="shorten the id")
    if "\0" in query_id + document_id:
        raise InputError("a NUL character in an id", hint="is this a text file?")
    return _Row(query_id, document_id, _score(score))


def _score(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text or not text.isascii():
        raise InputError(
            f"the score {shown(text, limit=40)!r} is not a finite number",
            field="score",
            hint="trec_eval would read it as 0 without a word; write a number",
        )
    return value + 0.0


def _trace(
    query_id: str, scores: dict[str, float], resolver: Resolver, as_of: Instant, name: str, repeat: int
) -> Trace:
    order = sorted(scores, key=lambda one: (scores[one], one.encode()), reverse=True)
    items = tuple(_item(one, rank, scores[one], resolver) for rank, one in enumerate(order, 1))
    step = Step(step_id=StepId(name), name=name, kind="lexical", parents=(), items_out=items, score_direction="higher")
    content = TraceContent(query_id=QueryId(query_id), repeat=repeat, as_of=as_of, steps=(step,))
    return Trace(content=content, measurements=Measurements(query_id=content.query_id, repeat=repeat))


def _item(one: str, rank: int, score: float, resolver: Resolver) -> Item:
    found: Resolved = resolver.by_passage(one)
    if not found.sources:
        found = resolver.by_document(one)
    return Item(
        item_id=one,
        rank=rank,
        resolution=found.resolution,
        transform=found.transform,
        sources=found.sources,
        whole_document=found.whole_document,
        passage_id=found.passage_id,
        score=score,
    )
