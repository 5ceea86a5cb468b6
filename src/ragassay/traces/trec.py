"""TREC run files as document-level traces: items are whole documents, nothing else was reported. Reads no qrels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ragassay.corpus import Resolver
from ragassay.errors import InputError
from ragassay.records.base import Instant, QueryId, StepId
from ragassay.records.document import Document
from ragassay.records.trace import Item, Measurements, Step, Trace, TraceContent

EPOCH = Instant("1970-01-01T00:00:00Z")
LONGEST_ID = 512
COLUMNS = "query_id Q0 document_id rank score tag"


class _Row(NamedTuple):
    query_id: str
    document_id: str
    score: float


def read_trec_run(
    path: Path | str,
    documents: Iterable[Document],
    *,
    as_of: Instant | None = None,
    name: str = "run",
    repeat: int = 0,
) -> list[Trace]:
    """The traces of a TREC run file, one a question, in the order in which questions first appear.

    Each trace has one source step (`lexical`) named `name`, whose items are whole documents ordered as trec_eval
    orders them: score, then document id by UTF-8 bytes, both descending; the rank column and the order of lines are
    not read. No context, answer or time was reported, so those are missing. A document id that the corpus does not
    have, or that stands for several versions of which `as_of` decides none, is an unresolved item.

    Raises InputError with file and line: fewer than six columns, a score that is no finite number, a document twice
    for one question, bytes that are not UTF-8, no lines. Lines that begin with `#` and empty lines are skipped.
    """
    file = Path(path)
    resolver = Resolver(documents, as_of=as_of)
    lists: dict[str, dict[str, float]] = {}
    for number, row in _rows(file):
        own = lists.setdefault(row.query_id, {})
        if row.document_id in own:
            raise InputError(
                f"document {row.document_id!r} is there twice for question {row.query_id!r}",
                file=str(file),
                line=number,
                field="document_id",
                hint="keep one line for each question and document",
            )
        own[row.document_id] = row.score
    if not lists:
        raise InputError("no line in this run file", file=str(file), hint=f"each line holds: {COLUMNS}")
    return [_trace(query_id, scores, resolver, as_of or EPOCH, name, repeat) for query_id, scores in lists.items()]


def _rows(file: Path) -> Iterator[tuple[int, _Row]]:
    try:
        data = file.read_bytes()
    except OSError as cause:
        raise InputError(
            f"cannot read the run: {cause.strerror or cause}", file=str(file), hint="check the path"
        ) from cause
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip() or raw.startswith(b"#"):
            continue
        try:
            parts = raw.decode("utf-8").split()
        except UnicodeDecodeError:
            raise InputError(
                "not UTF-8 text", file=str(file), line=number, hint="write the run file as UTF-8"
            ) from None
        if len(parts) < 6:
            raise InputError(
                f"{len(parts)} columns where six are needed",
                file=str(file),
                line=number,
                hint=f"each line holds: {COLUMNS}",
            )
        if max(len(parts[0]), len(parts[2])) > LONGEST_ID:
            raise InputError(
                f"an id of more than {LONGEST_ID} characters", file=str(file), line=number, hint="shorten the id"
            )
        yield number, _Row(parts[0], parts[2], _score(parts[4], file, number))


def _score(text: str, file: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise InputError(
            f"the score {text[:40]!r} is not a finite number",
            file=str(file),
            line=line,
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


def _item(document_id: str, rank: int, score: float, resolver: Resolver) -> Item:
    found = resolver.by_document(document_id)
    return Item(
        item_id=document_id,
        rank=rank,
        resolution=found.resolution,
        transform=found.transform,
        sources=found.sources,
        whole_document=found.whole_document,
        score=score,
    )
