"""What becomes of texts that a system changed on the way: places, score, reason, and the text itself."""

from __future__ import annotations

from typing import Any

from tests.unit.run.small import AS_OF, document

from ragassay.corpus import Resolver
from ragassay.records.canonical import canonical_bytes, digest_text, parse
from ragassay.records.trace import Item, TraceContent
from ragassay.run.contract import Request
from ragassay.run.normalise import Normalised, normalise

RAIN = "Rain falls on the hills in spring.\n\nSnow falls on them in winter, from December on."
CITY = "The city has two rivers.\n\nSnow falls on them in winter, from December on."
DOCUMENTS = [document("rain", RAIN), document("city", CITY)]
REQUEST = Request(query_id="q1", query="?", as_of=AS_OF, top_k=5)  # type: ignore[arg-type]


def items(*entries: Any, floor: float | None = 0.9) -> tuple[list[Item], Normalised]:
    made = normalise({"contexts": list(entries)}, REQUEST, Resolver(DOCUMENTS, floor=floor))
    assert parse(TraceContent, canonical_bytes(made.content)) == made.content
    return list(made.content.context or ()), made


def test_changed_white_space_is_aligned_and_the_text_is_kept_as_it_came() -> None:
    text = "Rain falls  on the hills\nin spring."
    (item,), made = items({"id": "chunk-7", "text": text})
    assert (item.item_id, item.resolution, item.alignment, item.transform) == ("chunk-7", "aligned", 1.0, "slice")
    assert [(one.document_id, one.start, one.end) for one in item.sources] == [("rain", 0, 34)]
    assert made.texts[digest_text(text)] == text


def test_a_repeated_text_is_one_among_its_places_unless_its_document_is_named() -> None:
    text = "Snow falls on them in winter, from December on."
    alone, named, changed = items(
        text, {"document_id": "city", "text": text}, {"document_id": "city", "text": text.replace(" ", "\n")}
    )[0]
    assert (alone.resolution, alone.reason, alone.sources) == ("exact", None, ())
    assert [(one.document_id, one.start, one.end) for one in alone.among] == [("rain", 36, 83), ("city", 26, 73)]
    assert (named.resolution, named.sources[0].document_id, named.sources[0].start) == ("exact", "city", 26)
    assert (changed.resolution, changed.sources) == ("aligned", named.sources)


def test_reasons() -> None:
    found, _ = items("somewhere else entirely", {"id": "chunk-7"}, {"id": "c", "text": ""})
    assert [one.reason for one in found] == ["not_found", "unknown_id", "empty"]


def test_without_a_floor_nothing_is_aligned() -> None:
    (item,), _ = items("Rain falls  on the hills\nin spring.", floor=None)
    assert (item.resolution, item.alignment) == ("unresolved", None)
