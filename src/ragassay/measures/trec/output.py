"""trec_eval's output, line by line: `name query value` with four decimals; nothing natively ragassay is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.evaluate import as_lists
from ragassay.measures.trec.rows import Row, Version, averaged, expanded, rows
from ragassay.measures.trec.run import RunRows


def trec_lines(
    run: RunRows,
    measures: Sequence[str],
    *,
    version: Version = "trec",
    rel: int = 1,
    by_query: bool = False,
    complete: bool = False,
    depth: int | None = None,
) -> Iterator[str]:
    """What trec_eval prints for a run: options -m, -l, -q, -c and -M.

    Raises:
        InputError: version 10 without -c, and the run lacks a question (trec_eval 10 stops there).
    """
    names = expanded(measures)
    lists = as_lists(run, "single" if version == "trec" else "double", depth)
    present = run.retrieved >= 0
    if version == "trec10" and not complete and not present.all():
        name = run.labels.names[int(np.flatnonzero(~present)[0])].decode("utf-8", "replace")
        raise InputError(f"the run has no items for query {name!r}", hint="trec_eval 10 stops here; give -c")
    used = present | complete
    table = [row for name in names if name not in {"runid", "num_q"} for row in rows(name, lists, rel, version)]
    if by_query:
        shown = used if version == "trec10" else present
        for at in np.flatnonzero(shown).tolist():
            query = run.labels.names[at].decode("utf-8", "surrogateescape")
            for row in table:
                if not row.summary_only:
                    yield _line(row, query, float(row.values[at]))
    if "runid" in names:
        yield f"{'runid':<22}\tall\t{run.tag}"
    if "num_q" in names:
        yield f"{'num_q':<22}\tall\t{int(np.count_nonzero(used))}"
    for row in table:
        yield _line(row, "all", averaged(row, used))


def _line(row: Row, query: str, value: float) -> str:
    shown = str(int(value)) if row.whole else f"{value:6.4f}"
    return f"{row.name:<22}\t{query}\t{shown}"
