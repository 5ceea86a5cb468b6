"""A file of what a system did, of any kind that is read, to traces. Knows no line of it itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from ragassay.benchmark import read_deepeval, read_ragas
from ragassay.benchmark.intake import OnError, lines_in
from ragassay.corpus import Resolver
from ragassay.errors import InputError, UsageError
from ragassay.records.base import Instant
from ragassay.records.canonical import digest_text
from ragassay.records.document import Document, Passage
from ragassay.traces.jsonl import read_jsonl
from ragassay.traces.outputs import traces_of
from ragassay.traces.reading import TraceReading
from ragassay.traces.trec import EPOCH, read_trec_run

RunFormat = Literal["traces", "trec", "ragas", "deepeval"]
DATA_SETS = {"ragas": read_ragas, "deepeval": read_deepeval}


def read_run_file(
    path: Path | str,
    documents: Iterable[Document] = (),
    passages: Iterable[Passage] = (),
    *,
    kind: RunFormat | None = None,
    as_of: Instant | None = None,
    name: str = "run",
    separator: str | None = None,
    floor: float | None = None,
    on_error: OnError = "stop",
) -> TraceReading:
    """The traces of a file: JSON lines in our form (`traces`), a TREC run (`trec`), or the outputs of a data set.

    Without `kind` the first line says which of the first two it is: a JSON object begins with a brace, and no TREC run
    does. `ragas` and `deepeval` data sets hold a system's answers and retrieved contexts beside the questions; those
    are tied to `documents` and `passages` by id or by text (letter for letter; with `floor` also aligned), and the ids
    of their questions are those that `read_ragas` and `read_deepeval` give. The items of our own form carry their
    sources already. Errors and `on_error` as in the reader of each kind.
    """
    if kind is not None and kind not in get_args(RunFormat):
        raise UsageError(
            f"there is no kind of run file {kind!r}", field="kind", hint=f"one of {', '.join(get_args(RunFormat))}"
        )
    chosen = kind or _kind_of(Path(path))
    if chosen == "traces":
        return read_jsonl(path, on_error=on_error)
    if chosen == "trec":
        return read_trec_run(path, documents, passages, as_of=as_of, name=name, on_error=on_error)
    read = DATA_SETS[chosen](path, separator=separator, on_error=on_error)
    if not read.outputs:
        raise InputError(
            "this data set holds questions only: no answer and no retrieved context",
            file=str(path),
            hint="fill in response and retrieved_contexts (ragas), or actual_output and retrieval_context (DeepEval)",
        )
    resolver = Resolver(documents, passages, as_of=as_of, floor=floor)
    texts = {digest_text(one.text): one.text for out in read.outputs for one in out.contexts or () if one.text}
    traces = traces_of(read.outputs, resolver, as_of=as_of or EPOCH)
    return TraceReading(traces, skipped=read.skipped, texts=texts)


def _kind_of(path: Path) -> RunFormat:
    for _, line in lines_in(path):
        return "traces" if line.lstrip().startswith(b"{") else "trec"
    return "traces"
