"""Questions in any format that is read, by its name. Knows which option belongs to which, and no line of any."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragassay.benchmark.cases import CaseReading, read_cases
from ragassay.benchmark.csv_cases import read_csv
from ragassay.benchmark.deepeval import read_deepeval
from ragassay.benchmark.intake import OnError
from ragassay.benchmark.ragas import read_ragas
from ragassay.benchmark.retrieval_sets import read_beir, read_ir_datasets, read_mteb
from ragassay.benchmark.squad import read_squad
from ragassay.benchmark.trec import read_trec
from ragassay.errors import UsageError
from ragassay.records.document import Document

CaseFormat = Literal["ragassay", "trec", "beir", "mteb", "ir_datasets", "squad", "csv", "ragas", "deepeval"]


class _Format(NamedTuple):
    read: Callable[..., CaseReading]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    gold: bool = False
    """Whether it holds gold texts, which are looked up in a corpus or become documents."""


FORMATS: Mapping[str, _Format] = {
    "ragassay": _Format(read_cases),
    "trec": _Format(read_trec, ("qrels",), ("join",)),
    "beir": _Format(read_beir, (), ("split",)),
    "mteb": _Format(read_mteb, ("qrels",)),
    "ir_datasets": _Format(read_ir_datasets, ("qrels",), ("text",)),
    "squad": _Format(read_squad, gold=True),
    "csv": _Format(read_csv, ("columns",), ("separator", "delimiter", "encoding"), gold=True),
    "ragas": _Format(read_ragas, (), ("separator",), gold=True),
    "deepeval": _Format(read_deepeval, (), ("separator", "slices"), gold=True),
}
OPTIONS = ("qrels", "join", "split", "text", "columns", "separator", "delimiter", "encoding", "slices")


def read_benchmark(
    path: str | Path,
    *,
    format: CaseFormat = "ragassay",  # noqa: A002  the word that users write
    corpus: Iterable[Document] | None = None,
    on_error: OnError = "stop",
    qrels: str | Path | None = None,
    join: str | None = None,
    split: str | None = None,
    text: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    slices: Sequence[str] | None = None,
) -> CaseReading:
    """The cases of `path` in a format; see the reader of its name. Absent options have that reader's defaults.

    `corpus`: documents in which gold texts are looked up; formats without gold texts do not read it. UsageError for a
    format that there is not, an option that the format does not take, and one that it needs.
    """
    kind = FORMATS.get(format)
    if kind is None:
        close = difflib.get_close_matches(format, FORMATS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"formats: {', '.join(FORMATS)}"
        raise UsageError(f"there is no format {format!r}", field="format", hint=hint)
    given: dict[str, Any] = {
        name: value
        for name, value in (
            ("qrels", qrels), ("join", join), ("split", split), ("text", text), ("columns", columns),
            ("separator", separator), ("delimiter", delimiter), ("encoding", encoding), ("slices", slices),
        )
        if value
    }  # fmt: skip
    for name in given:
        if name not in (*kind.needs, *kind.takes):
            those = ", ".join((*kind.needs, *kind.takes)) or "no options"
            raise UsageError(f"format {format!r} takes no {name}", field=name, hint=f"it takes {those}")
    for name in kind.needs:
        if name not in given:
            raise UsageError(f"format {format!r} needs {name}", field=name, hint="see docs/cases.md")
    needed = [given.pop(name) for name in kind.needs]
    if kind.gold:
        given["corpus"] = corpus
    return kind.read(path, *needed, on_error=on_error, **given)
