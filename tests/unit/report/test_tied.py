"""How items were tied: counted by hand, and the same counts in every rendering."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from tests.unit.report.sample import AS_OF, material

from ragassay.records.document import Span
from ragassay.records.trace import Item, Step, TraceContent
from ragassay.report import build, json_parts
from ragassay.report.page import html
from ragassay.report.text import markdown, summary
from ragassay.report.tied import tied


def item(number: int, resolution: str, **more: Any) -> Item:
    sources = () if resolution == "unresolved" else (Span(document_id="d", version="1", start=number, end=number + 1),)
    if "among" in more:
        sources = ()
    return Item(item_id=str(number), rank=number, resolution=resolution, transform="slice", sources=sources, **more)  # type: ignore[arg-type]


def content(name: str, *items: Item, context: bool = False) -> TraceContent:
    steps = (Step(step_id="s1", name=name, kind="vector", items_out=items),)
    return TraceContent(
        query_id=name, repeat=0, as_of=AS_OF, steps=steps, context=items if context else None  # type: ignore[arg-type]
    )  # fmt: skip


PLACES = tuple(Span(document_id="d", version="1", start=at, end=at + 2) for at in (3, 7))  # type: ignore[arg-type]
LISTS = [
    content("vector", item(1, "declared"), item(2, "exact", among=PLACES), item(3, "aligned", alignment=1.0)),
    content("vector", item(1, "aligned", alignment=0.93), item(2, "unresolved", reason="ambiguous")),
    content("context", item(1, "aligned", alignment=0.97), item(2, "unresolved", reason="not_found"), context=True),
]


def test_counts_by_step_and_in_all_by_hand() -> None:
    every, vector, context = tied(LISTS)
    assert (every.step, every.items, every.declared, every.exact, every.aligned, every.unresolved) == (
        None,
        7,
        1,
        1,
        3,
        2,
    )
    assert every.reasons == {"ambiguous": 1, "not_found": 1}
    assert every.scores == {"0.90 to 0.95": 1, "0.95 to 1.00": 1, "1": 1}
    assert every.lowest == 0.93
    assert (vector.step, vector.items, vector.aligned, vector.lowest) == ("vector", 5, 2, 0.93)
    assert (context.step, context.items, context.aligned, context.unresolved) == ("context", 2, 1, 1)
    assert tied([]) == ()


def test_every_rendering_says_how_many_of_each() -> None:
    card = msgspec.structs.replace(build(material()), tied=tied(LISTS))
    line = next(one for one in summary(card) if one.startswith("items tied"))
    assert "1 declared, 1 exact, 3 aligned (lowest score 0.93), 1 of these in several places" in line
    assert "alike, 2 unresolved (ambiguous 1, not found 1), of 7" in line
    assert (
        "| all lists | 7 | 1 | 1 | 3 | 1: 1, 0.95 to 1.00: 1, 0.90 to 0.95: 1 | 1 | 2 | ambiguous 1, not found 1 |"
        in markdown(card)
    )
    assert "How items were tied to documents" in html(card)
    assert "1: 1, 0.95 to 1.00: 1, 0.90 to 0.95: 1" in html(card)
    assert json.loads(b"".join(json_parts(card)))["tied"][0]["aligned"] == 3


def test_the_sample_s_items_add_up() -> None:
    for row in build(material()).tied:
        assert row.items == row.declared + row.exact + row.aligned + row.unresolved
