"""What a pipeline says of the indexes that it searches and of how its models read the corpus. Builds no index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from ragassay.records.index import IndexArtefact
from ragassay.records.text import many
from ragassay.run.contract import Circumstances
from ragassay.run.systems.pipeline.dense import VectorIndex

if TYPE_CHECKING:
    from ragassay.run.systems.pipeline.system import PipelineSystem


def circumstances_of(system: PipelineSystem) -> Circumstances:
    """The artefacts of the vector indexes, each with its step, and a sentence for each model that cuts passages off."""
    found = tuple(_artefacts(system))
    return Circumstances(found, tuple(_notes(system, found)))


def _artefacts(system: PipelineSystem) -> Iterator[IndexArtefact]:
    for declared, retriever in zip(system.settings.retrievers, system.retrievers, strict=True):
        index = getattr(retriever, "index", None)
        if isinstance(index, VectorIndex):
            yield msgspec.structs.replace(index.artefact, step=declared.name)


def _notes(system: PipelineSystem, found: Iterable[IndexArtefact]) -> Iterator[str]:
    passages = len(system.index.passages)
    for one in found:
        if one.envelope.cut:
            yield (
                f"{one.step}: {_of(one.envelope.cut, passages)} longer than what the embedder reads "
                f"({_short(one.content.embedder)}); what stands at their end is in no vector."
            )
    reader: Any = getattr(system.reranker, "embedder", None)
    cut = None if reader is None else _cut(system, reader, found)
    if cut:
        yield (
            f"rerank: {_of(cut, passages)} longer than what the model reads ({_short(reader.identity)}); "
            "what stands at their end is not read."
        )


def _cut(system: PipelineSystem, reader: Any, found: Iterable[IndexArtefact]) -> int | None:
    known = {one.content.embedder: one.envelope.cut for one in found}
    if reader.identity in known:
        return known[reader.identity]
    count = getattr(reader, "cut_off", None)
    if not callable(count):
        return None
    texts = [one.text for one in system.index.passages]
    for retriever in system.retrievers:
        index = getattr(retriever, "index", None)
        if isinstance(index, VectorIndex):  # it keeps counts from one run to the next
            return index.cache.counted(f"cut off {index.content.index} {reader.identity}", lambda: count(texts))
    cut: int | None = count(texts)
    return cut


def _of(cut: int, passages: int) -> str:
    return f"{cut:,} of {many(passages, 'passage')} {'is' if cut == 1 else 'are'}"


def _short(identity: str) -> str:
    """The name of a model and, behind a semicolon, how it reads."""
    name, _, how = identity.partition("; ")
    return f"{name.split(' ')[0]}: {how}" if how else name.split(" ")[0]
