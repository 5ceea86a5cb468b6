"""The registry of declared measures, ours and those of installed packages. It computes no score."""

from __future__ import annotations

import difflib
from functools import cache, lru_cache

from ragassay.errors import UsageError
from ragassay.extensions import extension_names
from ragassay.measures import (
    declared_answer,
    declared_counts,
    declared_judged,
    declared_ranking,
    declared_refusal,
    declared_trace,
    foreign,
)
from ragassay.measures.contract import Declaration
from ragassay.measures.foreign import OwnMeasure

__all__ = ["Declaration", "declaration", "declarations", "own_measure", "version_of"]


@cache
def declarations() -> tuple[Declaration, ...]:
    """All declared measures, in the order of the stages of a pipeline, then as declared."""
    return (
        *declared_ranking.DECLARED,
        *declared_trace.DECLARED,
        *declared_answer.DECLARED,
        *declared_judged.DECLARED,
        *declared_refusal.DECLARED,
        *declared_counts.DECLARED,
    )


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
    own = own_measure(name)
    if own is not None:
        return own.declaration
    near = difflib.get_close_matches(name.lower(), [*table, *extension_names(foreign.MEASURES)], n=3, cutoff=0.5)
    names = list(dict.fromkeys(table[one].name if one in table else one for one in near))
    hint = f"did you mean {' or '.join(names)}?" if names else "`ragassay measures` lists all measures"
    raise UsageError(f"there is no measure named {name!r}", hint=hint)


@lru_cache(maxsize=1024)
def own_measure(name: str) -> OwnMeasure | None:
    """The measure of an installed package (entry point group `ragassay.measures`); None for ours and unknown ones.

    Raises:
        UsageError: it cannot be loaded, or is not declared as it must be.
    """
    return None if name in _by_name() else foreign.load(name)


def version_of(name: str) -> str:
    """What a scoring layer seals of a measure: its declared version, and the package of one that is not ours."""
    own = own_measure(name)
    return own.version if own is not None else str(declaration(name).version)
