"""What a system did earlier, from a file, as the system under test: our traces, or a TREC run. Asks nothing again."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay.benchmark.intake import OnError, Problems, listed
from ragassay.corpus import FLOOR
from ragassay.errors import InputError
from ragassay.records.base import Digest, Instant, Metadata
from ragassay.records.document import Document, Passage
from ragassay.records.protocol import SystemIdentity
from ragassay.records.trace import Item, Step, Trace
from ragassay.run.contract import Reply, Request
from ragassay.run.systems.kept import KeptTraces
from ragassay.run.systems.python import stated
from ragassay.traces import each_trace, read_run_file
from ragassay.traces.run_file import DATA_SETS, RunFormat


class ReplaySystem:
    """Answers each question with what a file holds of it, and with the measurements made then.

    `kind` is `traces` (JSON lines, `ragassay schema trace`), `trec` (a run file: lists of ids, no answer, no times), or
    `ragas` and `deepeval` (data sets that hold answers and retrieved contexts beside the questions; contexts are tied
    to this corpus by id or by text, letter for letter or from `alignment` on, 0 for
    letter for letter only; a run's own `alignment` should be the same).
    A question, or a repeat, that the file does not hold is a failure of this question: silence is not an empty list.
    Items whose place is not in this corpus become unresolved. With `on_error="skip"` broken lines are left out, and
    the identity says how many.
    """

    def __init__(
        self,
        kind: RunFormat,
        file: str | Path,
        documents: Iterable[Document],
        passages: Iterable[Passage] = (),
        *,
        folder: Path | None = None,
        as_of: Instant | None = None,
        name: str = "",
        step: str = "run",
        on_error: OnError = "stop",
        separator: str | None = None,
        alignment: float = FLOOR,
        retriever: str | None = None,
        generator: str | None = None,
        prompt: str | None = None,
        settings: Metadata | None = None,
    ) -> None:
        path = (folder or Path()) / file
        kept, cut = list(documents), list(passages)
        self._passages = {one.passage_id: one.sources for one in cut}
        self._lengths = {(one.document_id, one.version): len(one.text) for one in kept}
        self._texts: Mapping[Digest, str] = {}
        problems = Problems(on_error)
        found: Iterable[Trace]
        if kind == "traces":  # one by one: their file may be larger than the memory
            found = each_trace(path, problems)
        else:
            found = read = read_run_file(
                path,
                kept,
                cut,
                kind=kind,
                as_of=as_of,
                name=step,
                separator=separator,
                floor=alignment or None,
                on_error=on_error,
            )
            problems.found, self._texts = list(read.skipped), read.texts
        self._traces = KeptTraces()
        for trace in found:
            self._traces.add(self._placed(trace))
        self.skipped = problems.skipped
        self.notes = listed(self.skipped)
        self.identity = SystemIdentity(
            name=name or path.name,
            adapter=kind,
            retriever=stated(retriever),
            generator=stated(generator),
            prompt=stated(prompt),
            settings={
                "content": _digest(path),
                "questions": len(self._traces),
                "lines_left_out": len(self.skipped),
                **({"alignment": alignment} if kind in DATA_SETS else {}),
                **(settings or {}),
            },
        )

    async def ask(self, request: Request) -> Reply:
        """What is stored of this question."""
        await asyncio.sleep(0)
        return Reply(stored=self._traces.of(request.query_id), texts=self._texts)

    def _placed(self, trace: Trace) -> Trace:
        """The trace with every item that stands nowhere in this corpus marked as unresolved."""
        content = trace.content
        placed = msgspec.structs.replace(
            content,
            steps=tuple(self._step(one) for one in content.steps),
            context=self._items(content.context),
        )
        return trace if placed == content else Trace(content=placed, measurements=trace.measurements)

    def _step(self, step: Step) -> Step:
        return msgspec.structs.replace(step, items_in=self._items(step.items_in), items_out=self._items(step.items_out))

    def _items(self, items: Sequence[Item] | None) -> tuple[Item, ...] | None:
        return None if items is None else tuple(map(self._item, items))

    def _item(self, item: Item) -> Item:
        inside = (
            span.start <= span.end <= self._lengths.get((span.document_id, span.version), -1)
            for span in (*item.sources, *item.among)
        )
        if not all(inside):
            return msgspec.structs.replace(
                item, sources=(), among=(), resolution="unresolved", transform="derived", alignment=None,
                passage_id=None, whole_document=False,
            )  # fmt: skip
        if item.passage_id is not None and not set(self._passages.get(item.passage_id, ())) & set(item.sources):
            return msgspec.structs.replace(item, passage_id=None)
        return item


def _digest(path: Path) -> str:
    try:
        if path.exists() and not path.is_dir() and not path.is_file():  # to open a pipe would wait for a writer
            raise InputError("not a regular file", file=str(path), hint="name a file")
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as cause:
        raise InputError(f"cannot be read: {cause.strerror or cause}", file=str(path), hint="check the path") from None
