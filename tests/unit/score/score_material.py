"""Small corpora, cases and traces by hand, so that every number of a test can be counted on paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragassay.records.canonical import digest_text
from ragassay.records.case import Case, Evidence, Fact
from ragassay.records.document import Document, Passage, Span
from ragassay.records.protocol import Scoring
from ragassay.records.score import Estimate, Observation
from ragassay.records.trace import Answer, Failure, Item, Measurements, Step, Trace, TraceContent
from ragassay.score import Scores, World, observe

AS_OF = "2026-08-01T00:00:00Z"
RETRIEVAL = (
    "recall(rel=2)", "recall(rel=2)@1", "hit(rel=2)", "precision(rel=2)@2", "rr(rel=2)", "ndcg", "judged@2",
    "fact_coverage",
)  # fmt: skip


def doc(document_id: str, text: str, version: str = "1", **more: Any) -> Document:
    return Document(
        document_id=document_id, version=version, text=text, parser="p/1", normaliser="n/1",
        **{"tenants": ("*",), **more},
    )  # fmt: skip


def ev(
    name: str, document_id: str, start: int | None = None, end: int | None = None, grade: int = 2, **more: Any
) -> Evidence:
    return Evidence(
        id=name, document_id=document_id, start=start, end=end, grade=grade, **{"version": "1", **more}
    )  # fmt: skip


def fact(name: str, *any_of: tuple[str, ...], required: bool = True) -> Fact:
    return Fact(id=name, any_of=any_of, required=required)


def case(query_id: str = "q", **more: Any) -> Case:
    return Case(query_id=query_id, query="?", **{"class_": "answerable", "answerable": "yes", **more})


def item(document_id: str, start: int, end: int, *, version: str = "1", transform: str = "slice", **more: Any) -> Item:
    span = Span(document_id=document_id, version=version, start=start, end=end)
    return Item(
        item_id=f"{document_id}:{start}-{end}", rank=1, resolution="declared", transform=transform, sources=(span,),
        **more,
    )  # fmt: skip


def whole(document_id: str, version: str = "1") -> Item:
    span = Span(document_id=document_id, version=version, start=0, end=0)
    return Item(
        item_id=document_id, rank=1, resolution="declared", transform="slice", sources=(span,), whole_document=True
    )


def loose(text: str = "", name: str = "x") -> Item:
    """An unresolved item."""
    return Item(item_id=name, rank=1, resolution="unresolved", transform="derived", text_digest=digest_text(text))


def one_among(items: Iterable[Item]) -> Item:
    """An item whose text stands in the places of several alike."""
    among = tuple(span for one in items for span in one.sources)
    return Item(
        item_id="y", rank=1, resolution="exact", transform="slice", among=among, text_digest=digest_text(repr(among))
    )


def step(name: str, kind: str, out: Iterable[Item] | None, parents: tuple[str, ...] | None = None, **more: Any) -> Step:
    step_id = more.pop("step_id", name)
    items = None if out is None else tuple(out)
    return Step(step_id=step_id, name=name, kind=kind, parents=parents, items_out=items, **more)


def trace(
    *steps: Step, query_id: str = "q", repeat: int = 0, answer: str | Answer | None = None,
    context: Iterable[Item] | None = None, failure: str = "", **measured: Any,
) -> Trace:  # fmt: skip
    said = Answer(text=answer) if isinstance(answer, str) else answer
    content = TraceContent(
        query_id=query_id, repeat=repeat, as_of=AS_OF, steps=steps, answer=said,
        context=None if context is None else tuple(context),
        failure=Failure(cause=failure) if failure else None,
    )  # fmt: skip
    return Trace(content=content, measurements=Measurements(query_id=query_id, repeat=repeat, **measured))


def scoring(*measures: str, **more: Any) -> Scoring:
    settings = {"hold": 1.0, "tokenizer": "word/1", "normalisation": "squad", "level": 0.95, "ties": "list_order"}
    return Scoring(measures=measures or RETRIEVAL, measure_versions={}, **{**settings, **more})


def score(known: Case, seen: Trace, documents: Iterable[Document], *measures: str, **more: Any) -> Scores:
    options = {key: more.pop(key) for key in ("passages", "texts", "rel", "complete", "as_of") if key in more}
    passages: list[Passage] | None = options.pop("passages", None)
    return observe(known, seen, World(documents, passages, **options), scoring(*measures, **more))


def row(
    scores: Scores | Iterable[Observation], measure: str, at: str | None = None, target: str | None = None
) -> Observation:
    rows = (*scores.observations, *scores.runtime) if isinstance(scores, Scores) else tuple(scores)
    found = [one for one in rows if (one.measure, one.step, one.target) == (measure, at, target)]
    assert len(found) == 1, (measure, at, target, [(one.measure, one.step, one.target) for one in rows])
    return found[0]


def number(scores: Scores, measure: str, at: str | None = None) -> float | None:
    return row(scores, measure, at).value


def fate(scores: Scores, name: str) -> tuple[str, tuple[str, ...]]:
    found = next(one for one in scores.fates if one.fact_id == name)
    return found.fate, found.steps


def one_estimate(estimates: Iterable[Estimate], measure: str, step_name: str | None = None, **more: Any) -> Estimate:
    wanted = {"class_": "answerable", "slice": None, "aggregation": None, **more}
    found = [
        one
        for one in estimates
        if one.measure == measure
        and one.step == step_name
        and one.population.class_ == wanted["class_"]
        and one.population.slice == wanted["slice"]
        and wanted["aggregation"] in (None, one.aggregation)
    ]
    assert len(found) >= 1, (measure, step_name)
    return found[0]
