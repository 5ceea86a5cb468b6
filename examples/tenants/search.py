"""From a question to an answer: dense, summary and lexical arms, fusion, rerank, context, extraction. Knows no HTTP.

Every arm asks the database with the caller's scope, so that the filter stands inside the query and before any ranking.
Where a hole is open, one arm asks with another scope; the trace says what the arm was given, as such a service would.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from database import EVERYBODY, Database, Row, Scope, embedded, may_read, vector_of
from issuer import Caller

WORD = re.compile(r"\w+")
_DULL_WORDS = """
    a about an and are as at be by can do does for from how i in is it me my of on or our tell that the
    their there they this to us was we what when where which who why will with you your
"""
_DULL = frozenset(_DULL_WORDS.split())
_OVERLAP, _NEAR = 0.34, 0.5
"""What is kept for the context: this share of the question's words, or this cosine."""
INSUFFICIENT = "I found nothing about this in the documents that you may read."


@dataclass
class Found:
    """What one question led to: the reply's parts."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    context: list[Row] = field(default_factory=list)
    ranking: list[Row] = field(default_factory=list)
    text: str = INSUFFICIENT
    outcome: str = "abstained"


def entry(row: Row) -> dict[str, Any]:
    """An item of a list, as the reply shows it."""
    tenants = row["tenants"]
    return {
        "id": row["document_id"], "document_id": row["document_id"], "text": row["body"],
        "score": round(float(row["score"]), 6), "tenant": tenants[0] if tenants else "",
    }  # fmt: skip


class Search:
    """The pipeline over one database."""

    def __init__(self, database: Database, holes: Collection[str]) -> None:
        self._database = database
        self._holes = frozenset(holes)

    def answer(
        self,
        caller: Caller,
        query: str,
        top_k: int,
        *,
        remembered: list[Row],
        filters: dict[str, Any],
        batch: bool = False,
    ) -> Found:
        """All steps for one question."""
        found, scope = Found(), Scope.of(caller)
        vector = vector_of(query)
        lists = [self._dense(found, caller, scope, query, top_k, filters, batch=batch)]
        lists.append(self._summaries(found, caller, scope, query, top_k))
        lists.append(self._lexical(found, caller, scope, query, top_k, batch=batch))
        lists.append(self._named(found, caller, scope, query))
        if remembered:
            self._step(found, "tool", "memory", caller, scope, remembered)
            lists.append(remembered)
        fused = _fused(lists)[: max(top_k, len(remembered))]
        self._step(found, "fuse", "rrf", caller, scope, fused)
        found.ranking = self._reranked(found, caller, scope, query, fused)
        found.context = [row for row in found.ranking if _worth(row, query, vector, remembered)][:4]
        self._step(found, "assemble", "context", caller, scope, found.context)
        if found.context:
            found.text, found.outcome = _extracted(found.context, query), "answered"
        self._step(found, "generate", "extract", caller, scope, None)
        return found

    # -- the arms

    def _dense(
        self,
        found: Found,
        caller: Caller,
        scope: Scope,
        query: str,
        k: int,
        filters: dict[str, Any],
        *,
        batch: bool,
    ) -> list[Row]:
        if "filter_wildcard" in self._holes and isinstance(filters.get("tenant"), str):
            rows = self._database.of_tenants(filters["tenant"], query, k)
            return self._step(found, "vector", "dense", caller, scope, rows)
        if "filter_after_ranking" in self._holes:
            ranked = self._database.dense(EVERYBODY, query, k)
            kept = [row for row in ranked if may_read(scope, row)]
            self._step(found, "vector", "dense", caller, EVERYBODY, ranked)
            return self._step(found, "guard", "tenant filter", caller, scope, kept)
        if "latency_leak" in self._holes:
            candidates = self._database.lexical(EVERYBODY, query, k)
            time.sleep(0.01 * sum(1 for row in candidates if not may_read(scope, row)))
        return self._step(found, "vector", "dense", caller, scope, self._database.dense(scope, query, k, batch=batch))

    def _summaries(self, found: Found, caller: Caller, scope: Scope, query: str, k: int) -> list[Row]:
        used = EVERYBODY if "summary_unfiltered" in self._holes else scope
        rows = self._database.dense(used, query, k, column="summary_embedding")
        return self._step(found, "vector", "summaries", caller, used, rows)

    def _lexical(self, found: Found, caller: Caller, scope: Scope, query: str, k: int, *, batch: bool) -> list[Row]:
        used = EVERYBODY if "lexical_unfiltered" in self._holes else scope
        return self._step(found, "lexical", "words", caller, used, self._database.lexical(used, query, k, batch=batch))

    def _named(self, found: Found, caller: Caller, scope: Scope, query: str) -> list[Row]:
        """Documents whose ids stand in the question."""
        ids = [one.strip(".,;:?!\"'()") for one in query.split() if "-" in one]
        rows = [row for key in dict.fromkeys(ids) for row in self._database.fetch(scope, key)]
        return self._step(found, "fetch", "named documents", caller, scope, rows)

    def _reranked(self, found: Found, caller: Caller, scope: Scope, query: str, fused: list[Row]) -> list[Row]:
        used, widened = scope, list(fused)
        if "rerank_unfiltered" in self._holes:
            used = EVERYBODY
            known = {row["document_id"] for row in fused}
            widened += [r for r in self._database.dense(EVERYBODY, query, 5) if r["document_id"] not in known]
        scored = [{**row, "score": overlap(query, row) + 0.001 * float(row["score"])} for row in widened]
        ranked = sorted(scored, key=lambda row: (-row["score"], row["document_id"]))
        return self._step(found, "rerank", "overlap", caller, used, ranked)

    def _step(
        self, found: Found, kind: str, name: str, caller: Caller, scope: Scope, rows: list[Row] | None
    ) -> list[Row]:
        step: dict[str, Any] = {
            "kind": kind, "name": name, "credential_status": "valid",
            "principal_seen": {
                "id": caller.sub, "tenants": [caller.tenant], "groups": list(caller.groups), "roles": list(caller.roles)
            },
        }  # fmt: skip
        if kind in ("lexical", "vector", "fetch"):
            step["filter"] = {"expression": scope.expression(), "tenant": "*" if scope.everybody else scope.tenant}
        if rows is not None:
            step |= {"items_out": [entry(row) for row in rows], "score_direction": "higher"}
        found.steps.append(step)
        return rows or []


def overlap(query: str, row: Row) -> float:
    """The share of the question's words that stand in the passage; 0 for a question without words."""
    wanted = {one for one in WORD.findall(query.casefold()) if one not in _DULL}
    there = set(WORD.findall(f"{row['title']} {row['body']}".casefold()))
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _worth(row: Row, query: str, vector: np.ndarray, remembered: list[Row]) -> bool:
    if any(row["document_id"] == one["document_id"] for one in remembered) or row["document_id"] in query:
        return True
    return overlap(query, row) >= _OVERLAP or _cosine(row, vector) >= _NEAR


def _cosine(row: Row, vector: np.ndarray) -> float:
    return float(embedded([f"{row['title']}\n{row['body']}"])[0] @ vector)


def _fused(lists: list[list[Row]]) -> list[Row]:
    """Reciprocal ranks, summed; ties by id."""
    scores: dict[str, float] = {}
    rows: dict[str, Row] = {}
    for one in lists:
        for rank, row in enumerate(one, 1):
            scores[row["document_id"]] = scores.get(row["document_id"], 0.0) + 1 / (60 + rank)
            rows.setdefault(row["document_id"], row)
    order = sorted(scores, key=lambda key: (-scores[key], key))
    return [{**rows[key], "score": scores[key]} for key in order]


def _extracted(context: list[Row], query: str) -> str:
    """Of the best passages the sentences that share the most words with the question, each with its number."""
    wanted = set(WORD.findall(query.casefold())) - _DULL
    said = []
    for number, row in enumerate(context[:2], 1):
        sentences = re.split(r"(?<=[.!?])\s+", row["body"])
        ranked = sorted(
            range(len(sentences)), key=lambda at: -len(wanted & set(WORD.findall(sentences[at].casefold())))
        )
        said.append(" ".join(sentences[at] for at in sorted(ranked[:3])) + f" [{number}]")
    return " ".join(said)
