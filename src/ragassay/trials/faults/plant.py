"""A pipeline with one fault in it that says of itself what the sound one says. Scores nothing and names no cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from ragassay.records.base import DocumentId
from ragassay.records.document import Document, Passage
from ragassay.run.contract import Reply, Request
from ragassay.run.pace import Conditions
from ragassay.run.systems.bm25 import Index
from ragassay.run.systems.pipeline.dense import DenseIndex
from ragassay.run.systems.pipeline.embedders import Embedder
from ragassay.run.systems.pipeline.parts import LexicalRetriever, Retriever, VectorRetriever
from ragassay.run.systems.pipeline.rerank import Reranker
from ragassay.run.systems.pipeline.settings import PipelineSettings
from ragassay.run.systems.pipeline.settings_lists import Lexical
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.pipeline.vectors import VectorCache
from ragassay.trials.faults.chance import struck
from ragassay.trials.faults.ground import OLDER, base, opened
from ragassay.trials.faults.indexes import COPIES, INDEXES, Extra, IndexFault, Told, holding
from ragassay.trials.faults.parts import Keeping, OtherLexical, OtherModel, PartLexical, PartVector, Reversed, Searched

_KEPT = 3
_TOKENS = 60


class Union(NamedTuple):
    """All passages that a faulty index may hold: the sealed ones, then the extra ones."""

    extras: list[Extra]
    passages: list[Passage]
    vectors: DenseIndex
    texts: Searched


@dataclass(frozen=True)
class Site:
    """Where faults are planted: what a pipeline is made of, each part made once."""

    documents: Sequence[Document]
    passages: Sequence[Passage]
    settings: PipelineSettings
    embedder: Embedder
    cut: Mapping[str, int]
    """Size and overlap of the passages."""
    cache: VectorCache = field(default_factory=VectorCache.memory)
    reranker: Reranker | None = None
    unions: dict[IndexFault, Union] = field(default_factory=dict, repr=False)
    """What faults of the index may hold, made once each."""

    @cached_property
    def index(self) -> Index:
        """The lexical index of what was sealed."""
        return Index(self.documents, self.passages)

    @cached_property
    def vectors(self) -> DenseIndex:
        """The vectors of what was sealed."""
        return DenseIndex(self.documents, self.passages, self.embedder, cache=self.cache)

    def system(
        self,
        settings: PipelineSettings | None = None,
        *,
        index: Index | None = None,
        vector: VectorRetriever | None = None,
        reranker: Reranker | None = None,
    ) -> PipelineSystem:
        """The sound pipeline, or one with other parts, which says so."""
        made = settings or self.settings
        arms: list[Retriever] = [
            LexicalRetriever(self.index) if isinstance(one, Lexical) else vector or VectorRetriever(self.vectors)
            for one in made.retrievers
        ]
        return PipelineSystem(
            self.documents, self.passages, made, retrievers=arms, index=index or self.index,
            reranker=reranker or self.reranker,
        )  # fmt: skip


def loud(site: Site, name: str) -> PipelineSystem:
    """The pipeline with a fault of a step in it for every question, which says so; KeyError for faults of the index.

    A fault of the index is loud where the corpus or the segmentation that is sealed is another one.
    """
    return STEPS[name](site)


def loud_corpus(documents: Sequence[Document], name: str, *, seed: int = 0, strength: float = 1.0) -> list[Document]:
    """The documents with a fault in them, to be sealed as they are; KeyError for a fault that changes none."""
    return DOCUMENTS[name](documents, lambda one: struck(seed, base(one.document_id), strength))


def silent(site: Site, name: str, *, seed: int = 0, strength: float = 1.0) -> SilentSystem:
    """The pipeline with a fault in it, under the identity of the sound one; KeyError for a fault that there is not.

    A fault of a step strikes a share of the questions, a fault of the index a share of the documents: `strength`.
    """
    if name in INDEXES:
        return _indexed(site, INDEXES[name], seed, strength)
    sound = site.system()
    faulty = SILENT[name](site) if name in SILENT else STEPS[name](site)
    return SilentSystem(sound, faulty, seed, strength, refuses=name == "forced refusal")


class SilentSystem:
    """Asks one pipeline or the other, question by question, and has the identity of the first."""

    def __init__(
        self,
        sound: PipelineSystem,
        faulty: PipelineSystem,
        seed: int,
        strength: float,
        *,
        told: Mapping[str, Told] | None = None,
        refuses: bool = False,
    ) -> None:
        self.identity = sound.identity
        self._sound, self._faulty, self._seed, self._strength = sound, faulty, seed, strength
        self._told, self._refuses = told, refuses

    def attach(self, conditions: Conditions) -> None:
        """Hand them on."""
        for one in (self._sound, self._faulty):
            one.attach(conditions)

    async def ask(self, request: Request) -> Reply:
        """As `System.ask`."""
        if self._told is not None:
            return self._retold(await self._faulty.ask(request))
        if not struck(self._seed, request.query_id, self._strength):
            return await self._sound.ask(request)
        reply = await self._faulty.ask(request)
        return self._refused(reply) if self._refuses else reply

    def _refused(self, reply: Reply) -> Reply:
        words = self._sound.settings.insufficient
        return replace(reply, value={**reply.value, "answer": {"text": words, "outcome": "abstained", "citations": []}})

    def _retold(self, reply: Reply) -> Reply:
        """Items that the sealed index does not hold, as the system speaks of them."""
        told = self._told or {}

        def spoken(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
            return [{**one, **told.get(one["id"], {})} for one in entries]

        value = {**reply.value}
        value["steps"] = [
            {**one, **{key: spoken(one[key]) for key in ("items_in", "items_out") if key in one}}
            for one in value["steps"]
        ]
        value["contexts"] = spoken(value["contexts"])
        answer = value["answer"]
        marks = [
            {**one, "item_id": told.get(one["item_id"], {"id": one["item_id"]})["id"]} for one in answer["citations"]
        ]
        value["answer"] = {**answer, "citations": marks}
        return replace(reply, value=value)


def _indexed(site: Site, fault: IndexFault, seed: int, strength: float) -> SilentSystem:
    if fault not in site.unions:
        site.unions[fault] = _union(site, fault)
    union = site.unions[fault]
    held = holding(fault, site.passages, union.extras, seed, strength)
    documents = opened(site.documents, held.opened)
    arms: list[Retriever] = []
    for one in site.settings.retrievers:
        if not isinstance(one, Lexical):
            arms.append(PartVector(union.vectors, documents, held.vector))
        elif held.lexical is None:
            arms.append(LexicalRetriever(site.index))
        else:
            arms.append(_lexical(site, union, documents, held.lexical))
    faulty = PipelineSystem(
        site.documents, union.passages, site.settings, retrievers=arms, index=union.texts, reranker=site.reranker
    )
    told = {str(one.passage.passage_id): one.told for one in union.extras}
    return SilentSystem(site.system(), faulty, seed, strength, told=told)


def _lexical(site: Site, union: Union, documents: Sequence[Document], held: Sequence[int]) -> Retriever:
    like = {number: one.like for number, one in enumerate(union.extras, len(site.passages)) if one.like is not None}
    if len(like) < len(union.extras):
        return OtherLexical(documents, union.passages, held)
    return PartLexical(site.index, documents, held, like)


def _union(site: Site, fault: IndexFault) -> Union:
    extras = list(fault.extras(site.documents, site.passages, site.cut)) if fault.extras else []
    every = [*site.passages, *(one.passage for one in extras)]
    if not extras:
        return Union(extras, every, site.vectors, Searched(site.documents, every, site.index))
    vectors = DenseIndex(site.documents, every, site.embedder, cache=site.cache)
    return Union(extras, every, vectors, Searched(site.documents, every, site.index))


def _changed(site: Site, **more: Any) -> PipelineSystem:
    return site.system(msgspec.structs.replace(site.settings, **more))


def _k_cut(site: Site) -> PipelineSystem:
    return _changed(site, fusion=msgspec.structs.replace(site.settings.fusion, top_n=_KEPT))


def _weightless(site: Site) -> PipelineSystem:
    """The last arm has no say."""
    weights = (*(1.0 for _ in site.settings.retrievers[:-1]), 0.0)
    return _changed(site, fusion=msgspec.structs.replace(site.settings.fusion, weights=weights))


def _truncated(site: Site) -> PipelineSystem:
    return _changed(site, context=msgspec.structs.replace(site.settings.context, tokens=_TOKENS))


def _other_model(site: Site) -> PipelineSystem:
    """Questions are embedded by another model than passages."""
    dense = DenseIndex(
        site.documents, site.passages, site.embedder, query_embedder=OtherModel(site.embedder), cache=site.cache
    )
    return site.system(vector=VectorRetriever(dense))


def _reversed(site: Site) -> PipelineSystem:
    assert site.reranker is not None, "the pipeline has no reranker"
    return site.system(reranker=Reversed(site.reranker))


STEPS: Mapping[str, Callable[[Site], PipelineSystem]] = {
    "k cut": _k_cut,
    "filter dropped": lambda site: _changed(site, where={}),
    "another embedder": _other_model,
    "fusion weight zero": _weightless,
    "rerank reversed": _reversed,
    "context truncated": _truncated,
    "duplicates kept": lambda site: _changed(site, dedup=False),
    "forced answer": lambda site: _changed(site, evidence_floor=0.0),
    "forced refusal": lambda site: _changed(site, evidence_floor=1.0),
}
"""Faults of a step, each said by the pipeline that has it."""
SILENT: Mapping[str, Callable[[Site], PipelineSystem]] = {
    "duplicates kept": lambda site: site.system(index=Keeping(site.index)),
    "forced refusal": lambda site: site.system(),
}
"""Those that go wrong in another way where nothing is said: the step is there, and lets repeats through."""


def _stale(documents: Sequence[Document], hit: Callable[[Document], bool]) -> list[Document]:
    """Of struck documents only the older version, as if it held."""
    names = {base(one.document_id) for one in documents if hit(one)}
    return opened((one for one in documents if not hit(one) or one.version == OLDER), names)


def _copied(documents: Sequence[Document], hit: Callable[[Document], bool]) -> list[Document]:
    copies = [
        msgspec.structs.replace(one, document_id=DocumentId(f"{one.document_id}~copy{number}"))
        for one in documents
        if hit(one) and one.version != OLDER
        for number in range(COPIES)
    ]
    return [*documents, *copies]


DOCUMENTS: Mapping[str, Callable[[Sequence[Document], Callable[[Document], bool]], list[Document]]] = {
    "stale documents": _stale,
    "missing documents": lambda documents, hit: [one for one in documents if not hit(one)],
    "duplicated documents": _copied,
}
"""Faults of the index as other corpora."""
