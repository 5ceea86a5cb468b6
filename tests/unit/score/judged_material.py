"""Sets of judgements by hand, and one answer scored under them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.unit.score.score_material import scoring

from ragassay.claims import Source, claims_of
from ragassay.records.canonical import digest_of
from ragassay.records.case import Case
from ragassay.records.document import Document, Span
from ragassay.records.judgement import SCALES, AnswerClaims, Judgement, JudgementSet
from ragassay.records.trace import Trace
from ragassay.score import Scores, World, observe
from ragassay.score.verdicts import Verdicts

JUDGE = digest_of("judge")
ABOUT_SCALE = {
    "claim": "support/1", "citation": "support/1", "fact": "support/1", "item": "relevance/1",
    "similarity": "similarity/1",
}  # fmt: skip


def span(document_id: str, start: int, end: int, version: str = "1") -> Span:
    return Span(document_id=document_id, version=version, start=start, end=end)


def said(what: str, label: str | None = None, query_id: str = "q", repeat: int = 0, **more: Any) -> Judgement:
    """A verdict: `claim c1`, `citation c1:0`, `fact f`, `answer correctness`; without a label it is missing."""
    about, _, target = what.partition(" ")
    scale = ABOUT_SCALE.get(about, f"{target}/1")
    status = more.pop("status", "missing" if label is None else "value")
    reason = more.pop("reason", "timeout" if label is None else None)
    assert label is None or label in SCALES[scale]
    return Judgement(
        query_id=query_id, repeat=repeat, judge=JUDGE, about=about, target=target, scale=scale, status=status,
        label=label, reason=reason, **more,
    )  # fmt: skip


def cut(seen: Trace, **more: Any) -> AnswerClaims:
    """The claims of an answer as the room of claims cuts them."""
    content = seen.content
    assert content.answer is not None
    sources = [Source(one.item_id) for one in content.context or ()]
    return claims_of(content.query_id, content.repeat, content.answer.text, content.answer.citations, sources, **more)


def verdicts(
    seen: Trace | Iterable[Trace], *rulings: Judgement, name: str = "j", threshold: float | None = None, **more: Any
) -> Verdicts:
    traces = [seen] if isinstance(seen, Trace) else list(seen)
    blank = digest_of("blank")
    settings: dict[str, Any] = {"state": "complete", "asked": len(rulings), "valued": 0, **more}
    record = JudgementSet(
        name=name, run=blank, judge=JUDGE, claims=blank, judgements=blank, content=blank, splitter="s", **settings
    )
    return Verdicts(record, [cut(one) for one in traces if one.content.answer], rulings, threshold)


def judged(
    known: Case, seen: Trace, documents: Iterable[Document], *measures: str, by: Mapping[str, Verdicts], **more: Any
) -> Scores:
    options = {key: more.pop(key) for key in ("texts", "rel", "complete", "as_of") if key in more}
    how = scoring(*measures, judges=tuple(by), **more)
    return observe(known, seen, World(documents, None, **options), how, by)
