"""Which changed artefact a step stands on. Finds no change itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay.compare.changes.nodes import ANSWER
from ragassay.compare.changes.systems import RETRIEVER
from ragassay.records.comparison import Artefact, Change
from ragassay.records.trace import SOURCE_KINDS
from ragassay.traces import CONTEXT

_FINDS = frozenset(SOURCE_KINDS | {"embed"})
_WRITES = frozenset({"generate", "cite", ANSWER})
_SEES = frozenset({"assemble", CONTEXT})
_ALL = frozenset({"rewrite", "embed", *SOURCE_KINDS, "fuse", "rerank", "dedup", "guard", *_SEES, *_WRITES})
KINDS: Mapping[Artefact, frozenset[str]] = {
    "fusion": frozenset({"fuse"}),
    "reranker": frozenset({"rerank"}),
    "dedup": frozenset({"dedup"}),
    "rewrite": frozenset({"rewrite"}),
    "assembly": _SEES,
    "prompt": _WRITES,
    "generator": _WRITES,
    "filter": _FINDS,
    "embedder": _FINDS,
    "index": _FINDS,
    "retriever": _FINDS,
    "segmentation": _FINDS,
    "parser": _FINDS,
    "document_text": _FINDS,
    "document_added": _FINDS,
    "document_removed": _FINDS,
    "document_acl": _FINDS,
    "document_metadata": _FINDS,
    "top_k": _FINDS | {"rerank"},
    "as_of": _FINDS | _WRITES,
    "seed": _WRITES | {"rewrite"},
    "history": _WRITES | {"rewrite"},
    "versions": _ALL,
    "system": _ALL,
    "resolution": _ALL,
    "redaction": _ALL,
    "timeout": _ALL,
}
"""Artefact -> kinds of steps that stand on it, the most particular ones first; those left out move no step."""
_THROUGHOUT: frozenset[Artefact] = frozenset(
    {"segmentation", "parser", "document_text", "document_added", "document_removed", "index"}
)
"""What may move an answer though the context is the same: how rare a word is, over all texts, tells what answers."""
_LABELS: frozenset[Artefact] = _THROUGHOUT | {"benchmark", "history", "resolution"}


def artefacts_of(changes: Iterable[Change], name: str, kind: str) -> tuple[Artefact, ...]:
    """The changed artefacts that a step stands on, the most particular one first; empty: every identity is equal."""
    changes = list(changes)
    found = [one.artefact for one in changes if _touches(one, name, kind)]
    if not found and kind in _WRITES:
        found = [one.artefact for one in changes if one.artefact in _THROUGHOUT]
    order = list(KINDS)
    return tuple(dict.fromkeys(sorted(found, key=order.index)))


def artefacts_of_labels(changes: Iterable[Change]) -> tuple[Artefact, ...]:
    """The changed artefacts that can move the fate of a fact although no step moved."""
    wanted = (one for one in changes if one.artefact in _LABELS or (one.artefact, one.name) == ("threshold", "hold"))
    return tuple(dict.fromkeys(one.artefact for one in wanted))


def artefacts_of_all(changes: Sequence[Change], steps: Iterable[tuple[str, str]]) -> tuple[Artefact, ...]:
    """Those of several steps (name, kind) together."""
    return tuple(dict.fromkeys(one for name, kind in steps for one in artefacts_of(changes, name, kind)))


def _touches(change: Change, name: str, kind: str) -> bool:
    if kind not in KINDS.get(change.artefact, ()) or (change.artefact, change.name) == ("system", "name"):
        return False
    if change.artefact in ("retriever", "embedder", "index", "filter") and change.name.startswith(RETRIEVER):
        own = change.name.removeprefix(RETRIEVER)
        return own == name or own.startswith(f"{name} ")
    return True
