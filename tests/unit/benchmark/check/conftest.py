"""Cases and documents written by hand, and the check over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragassay.benchmark.check import Check, Limits, Split, check
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_text, parse_value
from ragassay.records.case import NATIVE_RUBRIC, Benchmark, Case, CaseLine
from ragassay.records.document import Document, Passage, Segmentation, Span

Checked = Callable[..., Check]


def doc(document_id: str, text: str, **more: Any) -> Document:
    return Document(
        document_id=document_id,
        text=text,
        **{"version": "1", "parser": "p", "normaliser": "n", "tenants": ("*",), **more},
    )


def label(document_id: str, start: int | None = None, end: int | None = None, **more: Any) -> dict[str, Any]:
    place = {} if start is None else {"start": start, "end": end}
    return {"id": "e1", "document_id": document_id, "version": "1", "grade": 3, **place, **more}


def case(query_id: str, query: str, *evidence: dict[str, Any], **more: Any) -> Case:
    given = {"evidence": list(evidence)} if evidence else {}
    return parse_value(CaseLine, {"query_id": query_id, "query": query, **given, **more}).to_case()


def split(cases: list[Case], name: str = "release", **more: Any) -> Split:
    header: dict[str, Any] = {
        "name": name, "version": "1", "corpus": digest_text("corpus"), "relevance_unit": "span",
        "rubric": NATIVE_RUBRIC, "completeness": "partial", "rel": 2,
        "cases": len(cases), "cases_digest": digest_of([name, len(cases)]),
        "blob": digest_text("blob"),
    }  # fmt: skip
    return Split(Benchmark(**(header | more)), cases)


def cut(document: Document, *spans: tuple[int, int]) -> list[Passage]:
    return [
        Passage(
            passage_id=f"{document.document_id}:{start}",  # type: ignore[arg-type]
            text=document.text[start:end],
            sources=(Span(document_id=document.document_id, version=document.version, start=start, end=end),),
            transform="slice",
        )
        for start, end in spans
    ]


def run(
    cases: list[Case],
    documents: list[Document] | tuple[Document, ...] = (),
    *,
    passages: list[Passage] | None = None,
    dev: list[Case] | None = None,
    limits: Limits | None = None,
    **header: Any,
) -> Check:
    own = split(cases, **header)
    segmentation = None
    if passages is not None:
        segmentation = Segmentation(
            corpus=own.benchmark.corpus, chunker="x", chunker_version="1", parameters={}, passages=len(passages),
            passages_digest=digest_text("p"), blob=Digest(digest_text("q")),
        )  # fmt: skip
    return check(
        own.benchmark,
        own.cases,
        documents,
        segmentation=segmentation,
        passages=passages or (),
        against=split(dev, "dev") if dev is not None else None,
        limits=limits or Limits(),
    )


def places(checked: Check, code: str) -> list[str]:
    """The places of one finding as text; empty if it was not found."""
    return [str(place) for one in checked.findings if one.code == code for place in one.places]


def levels(checked: Check) -> dict[str, tuple[str, int]]:
    return {one.code: (one.level, one.count) for one in checked.findings}


class Hands:
    """What a test of the check is written with."""

    doc = staticmethod(doc)
    label = staticmethod(label)
    case = staticmethod(case)
    split = staticmethod(split)
    cut = staticmethod(cut)
    run = staticmethod(run)
    places = staticmethod(places)
    levels = staticmethod(levels)


@pytest.fixture(scope="session")
def hands() -> type[Hands]:
    return Hands
