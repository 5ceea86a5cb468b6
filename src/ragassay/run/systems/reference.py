"""The reference pipeline: BM25, dedup, context budget, extractive answer, every step in sight. Uses no model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from ragassay.corpus.words import TOKENIZER, words
from ragassay.errors import UsageError
from ragassay.records.document import Document, Passage
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.records.text import many
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.contract import Request
from ragassay.run.pace import Conditions
from ragassay.run.systems.bm25 import Hit, Hits, Index
from ragassay.run.systems.extract import Extract, extract

ABSTENTION = "I cannot answer this from the documents."
Entry = dict[str, Any]


class ReferenceSystem:
    """lexical -> dedup -> assemble -> generate over the passages of a segmentation.

    `context_tokens` is the budget of `assemble` in word tokens; `evidence_floor` the least part of the question (by
    idf mass) that the best sentence must cover, below which the answer is `abstention`; `max_sentences` the most
    that an answer has. With a history, a step `rewrite` puts the last `history_turns` user turns before the query.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        passages: Sequence[Passage],
        *,
        name: str = "reference",
        k1: float = 1.5,
        b: float = 0.75,
        context_tokens: int = 600,
        evidence_floor: float = 0.4,
        max_sentences: int = 2,
        abstention: str = ABSTENTION,
        history_turns: int = 1,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        if not 0 <= evidence_floor <= 1:
            raise UsageError(f"an evidence floor of {evidence_floor}", field="evidence_floor", hint="0 to 1")
        if context_tokens < 1 or max_sentences < 1 or history_turns < 0:
            raise UsageError("context_tokens and max_sentences are 1 or more, history_turns 0 or more", field="system")
        if not abstention.strip():
            raise UsageError("the abstention is empty", field="abstention", hint="an empty answer is not an abstention")
        self.index = Index(documents, passages, k1=k1, b=b)
        self._budget, self._floor, self._most = context_tokens, evidence_floor, max_sentences
        self._abstention, self._turns, self._clock = abstention, history_turns, clock
        self.identity = SystemIdentity(
            name=name,
            adapter="reference",
            retriever=Stated(value=self.index.identity),
            generator=Stated(value="extractive/1"),
            prompt=Stated(absent="nothing is prompted: answers are copied from passages"),
            settings={
                "context_tokens": context_tokens,
                "tokenizer": TOKENIZER,
                "dedup": "equal text or inside another",
                "evidence_floor": float(evidence_floor),
                "max_sentences": max_sentences,
                "abstention": abstention,
                "history_turns": history_turns,
            },
        )

    def attach(self, conditions: Conditions) -> None:
        """Take the clock of the run and build the index."""
        self._clock = conditions.clock
        self.index.warm()

    async def ask(self, request: Request) -> dict[str, Any]:
        """The response to one question, all steps reported."""
        await asyncio.sleep(0)
        return _Answering(self, request).response()


class _Answering:
    """One question on its way through the pipeline."""

    def __init__(self, system: ReferenceSystem, request: Request) -> None:
        self.system, self.request = system, request
        self.index = system.index
        self.steps: list[dict[str, Any]] = []
        self.began_s = system._clock.steady_s()

    def response(self) -> dict[str, Any]:
        query = self.rewrite()
        hits = self.lexical(query)
        kept = self.dedup(hits)
        context = self.assemble(kept)
        found = self.generate(query, context)
        enough = bool(found.text) and found.coverage >= self.system._floor
        answer: dict[str, Any] = {
            "text": found.text if enough else self.system._abstention,
            "outcome": "answered" if enough else "abstained",
            "confidence": found.coverage,
            "citations": [
                {"answer_start": start, "answer_end": end, "item_id": item} for start, end, item in found.citations
            ]
            if enough
            else [],
        }
        return {
            "answer": answer,
            "contexts": self.entries(context),
            "steps": self.steps,
            "retrieval": {"sufficient": enough, "confidence": found.coverage},
            "calls": 0,
            "cache_hits": 0,
        }

    @contextmanager
    def step(self, kind: str, parents: list[str] | None = None) -> Iterator[dict[str, Any]]:
        clock = self.system._clock
        started_ms = clock.since_ms(self.began_s)
        start_s = clock.steady_s()
        made: dict[str, Any] = {"step_id": kind, "name": kind, "kind": kind, "parents": parents or [], "decisions": []}
        yield made
        self.steps.append({**made, "started_ms": started_ms, "duration_ms": clock.since_ms(start_s), "calls": 0})

    def rewrite(self) -> str:
        turns = [one.text for one in self.request.history if one.role == "user"]
        if not turns or not self.system._turns:
            return self.request.query
        with self.step("rewrite") as step:
            step["query_text"] = query = " ".join([*turns[-self.system._turns :], self.request.query])
        return query

    def lexical(self, query: str) -> list[Hit]:
        request = self.request
        with self.step("lexical", [one["step_id"] for one in self.steps]) as step:
            found = self.index.search(query, top_k=request.top_k, principal=request.principal, as_of=request.as_of)
            step |= {
                "query_text": query,
                "filter": {"as_of": request.as_of, "principal": request.principal.id if request.principal else "none"},
                "credential_status": "given, not needed" if request.credential else "none",
                "decisions": filter_decisions(request, found),
                "items_out": self.entries(found.hits),
                "score_direction": "higher",
            }
            if request.principal is not None:
                step["principal_seen"] = msgspec.to_builtins(request.principal)
        return found.hits

    def dedup(self, hits: list[Hit]) -> list[Hit]:
        with self.step("dedup", ["lexical"]) as step:
            kept, dropped = self.index.without_repeats(hits)
            step["decisions"] = [self.drop(hit, f"repeats {self.id_of(same)}") for hit, same in dropped]
            step |= {"items_in": self.entries(hits), "items_out": self.entries(kept), "score_direction": "higher"}
        return kept

    def assemble(self, kept: list[Hit]) -> list[Hit]:
        with self.step("assemble", ["dedup"]) as step:
            context: list[Hit] = []
            left = self.system._budget
            for hit in kept:
                size = len(words(self.index.passages[hit.number].text))
                if size <= left:
                    context.append(hit)
                    left -= size
                else:
                    step["decisions"].append(self.drop(hit, f"{many(size, 'token')}, {left:,} left"))
            step |= {"items_in": self.entries(kept), "items_out": self.entries(context), "score_direction": "higher"}
        return context

    def generate(self, query: str, context: list[Hit]) -> Extract:
        with self.step("generate", ["assemble"]) as step:
            pairs = [(self.id_of(one), self.index.passages[one.number].text) for one in context]
            found = extract(query, pairs, idf=self.index.idf, most=self.system._most)
            enough = bool(found.text) and found.coverage >= self.system._floor
            sign = ">=" if enough else "<"
            reason = f"coverage {found.coverage:.3f} {sign} floor {self.system._floor:g}"
            step["decisions"] = [{"action": "answer" if enough else "abstain", "reason": reason}]
        return found

    def entries(self, hits: list[Hit]) -> list[Entry]:
        return [{"id": self.id_of(one), "score": one.score} for one in hits]

    def id_of(self, hit: Hit) -> str:
        return self.index.passages[hit.number].passage_id

    def drop(self, hit: Hit, reason: str) -> Entry:
        return {"action": "drop", "item_id": self.id_of(hit), "reason": reason}


def filter_decisions(request: Request, found: Hits) -> list[Entry]:
    """What the filters before ranking left, in words."""
    who = request.principal
    seen = (
        f"{found.visible:,} of {many(found.passages, 'passage is', 'passages are')} visible to {who.id}"
        if who is not None
        else f"no principal: all {many(found.passages, 'passage is', 'passages are')} open"
    )
    return [
        {"action": "filter", "reason": seen},
        {"action": "filter", "reason": f"{found.valid} of {found.visible} are valid at {request.as_of}"},
    ]
