"""A file of what a system did, of either kind, to traces. Knows no line of it itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from ragassay.benchmark.intake import OnError, lines_in
from ragassay.errors import UsageError
from ragassay.records.base import Instant
from ragassay.records.document import Document, Passage
from ragassay.traces.jsonl import read_jsonl
from ragassay.traces.reading import TraceReading
from ragassay.traces.trec import read_trec_run

RunFormat = Literal["traces", "trec"]


def read_run_file(
    path: Path | str,
    documents: Iterable[Document] = (),
    passages: Iterable[Passage] = (),
    *,
    kind: RunFormat | None = None,
    as_of: Instant | None = None,
    name: str = "run",
    on_error: OnError = "stop",
) -> TraceReading:
    """The traces of a file: JSON lines in our form (`traces`) or a TREC run (`trec`), plain or packed by gzip.

    Without `kind` the first line says which it is: a JSON object begins with a brace, and no TREC run does. The items
    of our form carry their sources already; those of a TREC run are looked up in `documents` and `passages`.
    Errors and `on_error` as in `read_jsonl` and `read_trec_run`.
    """
    if kind is not None and kind not in get_args(RunFormat):
        raise UsageError(f"there is no kind of run file {kind!r}", field="kind", hint="traces or trec")
    if (kind or _kind_of(Path(path))) == "traces":
        return read_jsonl(path, on_error=on_error)
    return read_trec_run(path, documents, passages, as_of=as_of, name=name, on_error=on_error)


def _kind_of(path: Path) -> RunFormat:
    for _, line in lines_in(path):
        return "traces" if line.lstrip().startswith(b"{") else "trec"
    return "traces"
