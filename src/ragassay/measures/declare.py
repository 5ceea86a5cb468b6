"""The registry of all declared measures, behind `ragassay measures`. It computes no score."""

from __future__ import annotations

import difflib
from functools import cache

from ragassay.errors import UsageError
from ragassay.measures import declared_answer, declared_counts, declared_ranking, declared_trace
from ragassay.measures.contract import Declaration

__all__ = ["Declaration", "declaration", "declarations"]


@cache
def declarations() -> tuple[Declaration, ...]:
    """All declared measures, in the order of the stages of a pipeline, then as declared."""
    return (*declared_ranking.DECLARED, *declared_trace.DECLARED, *declared_answer.DECLARED, *declared_counts.DECLARED)


@cache
def _by_name() -> dict[str, Declaration]:
    table: dict[str, Declaration] = {}
    for one in declarations():
        for name in (one.name, *one.aliases):
            if name in table:
                raise AssertionError(f"two measures answer to {name!r}")
            table[name] = one
    return table


def declaration(name: str) -> Declaration:
    """The declaration of a measure by its name or by another tool's name for it (`map`, `nDCG`, `P`).

    Raises:
        UsageError: no such measure; the hint names the nearest ones.
    """
    table = _by_name()
    found = table.get(name) or table.get(name.lower())
    if found is not None:
        return found
    near = difflib.get_close_matches(name.lower(), list(table), n=3, cutoff=0.5)
    names = list(dict.fromkeys(table[one].name for one in near))
    hint = f"did you mean {' or '.join(names)}?" if names else "`ragassay measures` lists all measures"
    raise UsageError(f"there is no measure named {name!r}", hint=hint)
