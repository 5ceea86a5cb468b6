"""Retrievers, fusion, rerank and dedup for one query of one question. Answers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ragassay.run.contract import Request
from ragassay.run.systems.opening import Hit, Hits
from ragassay.run.systems.pipeline.embedding_endpoint import EmbeddingError
from ragassay.run.systems.pipeline.fusion import rrf, weighted
from ragassay.run.systems.pipeline.parts import Found, Retriever
from ragassay.run.systems.pipeline.rerank import Rescored, checked_scores, reorder
from ragassay.run.systems.pipeline.steps import CallFailedError, Entry, StepLog
from ragassay.run.systems.prompt import Text
from ragassay.run.systems.reference import filter_decisions
from ragassay.run.threads import in_thread

if TYPE_CHECKING:
    from ragassay.run.systems.pipeline.system import PipelineSystem


class Retrieving:
    """The steps from a query to a list. `iteration` (from 1) tells apart the rounds of one that retrieves again."""

    def __init__(self, system: PipelineSystem, request: Request) -> None:
        self.system, self.request, self.settings = system, request, system.settings
        self.log = StepLog(system.clock)
        self.index = system.index

    async def retrieve(self, query: str, iteration: int | None = None) -> list[Hit]:
        """Retrievers, fusion, rerank, dedup."""
        before = self.log.leaves()
        lists = [
            await self.find(number, one, query, before, iteration) for number, one in enumerate(self.system.retrievers)
        ]
        hits = lists[0] if len(lists) == 1 else self.fuse(lists, iteration)
        if self.system.reranker is not None:
            hits = await self.rerank(query, hits, iteration)
        return self.dedup(hits, iteration) if self.settings.dedup else hits

    async def find(
        self, number: int, retriever: Retriever, query: str, parents: list[str], iteration: int | None
    ) -> list[Hit]:
        """One retriever: what may be seen, is valid and has the metadata, ranked."""
        declared, request = self.settings.retrievers[number], self.request
        with self.log.step(declared.name, retriever.kind, parents, iteration) as step:
            step["query_text"] = query
            found = await self._found(retriever, query, declared.candidates or request.top_k, declared.name)
            step |= {
                "filter": {
                    **{f"where.{key}": value for key, value in self.settings.where.items()},
                    "as_of": request.as_of,
                    "principal": request.principal.id if request.principal else "none",
                },
                "credential_status": "given, not needed" if request.credential else "none",
                "decisions": [*filter_decisions(request, found.hits), *self._matching(found.hits)],
                "items_out": self.entries(found.hits.hits),
                "score_direction": "higher",
                "calls": found.calls,
                "cache_hits": found.cache_hits,
                "timed": found.timed,
            }
            if request.principal is not None:
                step["principal_seen"] = msgspec.to_builtins(request.principal)
        return found.hits.hits

    async def _found(self, retriever: Retriever, query: str, top_k: int, name: str) -> Found:
        asked: dict[str, Any] = {
            "top_k": top_k, "principal": self.request.principal, "as_of": self.request.as_of,
            "where": self.settings.where or None,
        }  # fmt: skip
        if retriever.local:
            return retriever.find(query, **asked)
        started_s = self.system.clock.steady_s()
        try:
            found: Found = await in_thread(lambda: retriever.find(query, **asked))
        except EmbeddingError as cause:
            self.log.called(cause.reply, started_s)
            raise CallFailedError(name, cause.reply, detail=cause.message) from None
        self.log.sent(found.calls, self.system.clock.since_ms(started_s))
        return found

    def _matching(self, found: Hits) -> list[Entry]:
        if found.matching is None:
            return []
        return [{"action": "filter", "reason": f"{found.matching} of {found.valid} have the metadata asked for"}]

    def fuse(self, lists: list[list[Hit]], iteration: int | None = None) -> list[Hit]:
        """Several lists to one."""
        declared = self.settings.fusion
        parents = [one["step_id"] for one in self.log.steps[-len(lists) :]]
        with self.log.step("fuse", "fuse", parents, iteration) as step:
            if declared.method == "rrf":
                fused = rrf(lists, declared.k, declared.weights)
            else:
                fused = weighted(lists, declared.weights, declared.normalise)
            kept = fused[: declared.top_n]
            step["decisions"] = self.beyond(fused[len(kept) :], f"beyond the first {declared.top_n}")
            together = {hit.number: hit for one in reversed(lists) for hit in reversed(one)}
            ordered = [together[number] for number in dict.fromkeys(hit.number for one in lists for hit in one)]
            # Scores of different lists do not compare, so what goes in carries none.
            step |= {
                "items_in": [{"id": self.id_of(one)} for one in ordered],
                "items_out": self.entries(kept),
                "score_direction": "higher",
            }
        return kept

    async def rerank(self, query: str, hits: list[Hit], iteration: int | None = None) -> list[Hit]:
        """The first `candidates` read beside the question and put into the order of their new scores."""
        declared = self.settings.rerank
        most = None if declared is None else declared.candidates
        top_n = (declared.top_n if declared is not None else None) or self.request.top_k
        with self.log.step("rerank", "rerank", None, iteration) as step:
            read = hits[:most]
            numbers = [one.number for one in read]
            texts = [self.index.passages[one].text for one in numbers]
            step |= {"query_text": query, "items_in": self.entries(hits)}
            scored = await self._rescored(query, texts)
            again = [Hit(number, score) for number, score in reorder(numbers, scored.scores)]
            step["decisions"] = [
                *self.beyond(hits[len(read) :], f"not read: beyond the first {most}"),
                *self.beyond(again[top_n:], f"beyond the first {top_n}"),
            ]
            step |= {
                "items_out": self.entries(again[:top_n]),
                "score_direction": "higher",
                "calls": scored.calls,
                "cache_hits": scored.cache_hits,
                "timed": scored.timed,
            }
        return again[:top_n]

    async def _rescored(self, query: str, texts: list[str]) -> Rescored:
        reranker: Any = self.system.reranker
        if not texts:
            return Rescored([])
        if hasattr(reranker, "rescore"):
            self.log.may_call("rerank")
            started_s = self.system.clock.steady_s()
            try:
                scored, reply = await reranker.rescore(query, texts)
            except CallFailedError as cause:
                self.log.called(cause.reply, started_s)
                raise
            self.log.called(reply, started_s)
            return scored  # type: ignore[no-any-return]
        if hasattr(reranker, "score_counted"):
            scored = await in_thread(reranker.score_counted, query, texts)
        else:
            scored = Rescored(await in_thread(reranker.score, query, texts))
        return scored._replace(scores=checked_scores(scored.scores, len(texts), reranker.identity.split(" ")[0]))  # type: ignore[no-any-return]

    def dedup(self, hits: list[Hit], iteration: int | None = None) -> list[Hit]:
        """Without what repeats a better one."""
        with self.log.step("dedup", "dedup", None, iteration) as step:
            kept, dropped = self.index.without_repeats(hits)
            for hit, same in dropped:
                step["decisions"] += self.beyond([hit], f"repeats {self.id_of(same)}")
            step |= {"items_in": self.entries(hits), "items_out": self.entries(kept), "score_direction": "higher"}
        return kept

    def entries(self, hits: list[Hit]) -> list[Entry]:
        """A list as it is reported."""
        return [{"id": self.id_of(one), "score": one.score} for one in hits]

    def id_of(self, hit: Hit) -> str:
        """The passage's id."""
        return self.index.passages[hit.number].passage_id

    def text_of(self, hit: Hit) -> Text:
        """The passage for the context."""
        passage = self.index.passages[hit.number]
        document = passage.sources[0].document_id if passage.sources else None
        return Text(str(passage.passage_id), passage.text, document, hit.score)

    def beyond(self, hits: list[Hit], reason: str) -> list[Entry]:
        """Decisions to drop."""
        return [{"action": "drop", "item_id": self.id_of(one), "reason": reason} for one in hits]
