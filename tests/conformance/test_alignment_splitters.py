"""Chunks of LangChain's and LlamaIndex's own splitters over real pages, tied to their places without any offset.

A part of `python -m bench.resolution`: all pages are in the corpus, some are split. The comparison of what was tied
with the chunk, its page and the splitter's own offset is `bench.resolution.check`, which uses nothing of ours.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.shared, pytest.mark.filterwarnings("ignore")]
NEEDED = ("langchain_text_splitters", "llama_index.core", "tiktoken", "nltk", "bs4", "lxml", "rapidfuzz")


@pytest.fixture(scope="module")
def resolution():
    for name in NEEDED:
        if os.environ.get("RAGASSAY_REQUIRE_ALL"):
            __import__(name)
        pytest.importorskip(name)
    sys.path.insert(0, str(ROOT))
    try:
        from bench import resolution as module

        yield module
    finally:
        sys.path.remove(str(ROOT))


@pytest.mark.parametrize(
    ("name", "pages", "least_one"), [("clapnq", 60, 0.93), ("musique", 100, 0.9), ("wice", 12, 0.9)]
)
def test_chunks_are_resolved_and_never_wrongly(
    resolution, shared_data: Path, name: str, pages: int, least_one: float
) -> None:
    made = resolution.measure([name], shared_data, most=pages, each=120)
    every = [one for chunks in made.values() for one in chunks]
    assert len(made) >= 22
    assert len(every) >= 1_000
    assert [one.wrong for one in every if one.wrong] == []
    placed = [one for one in every if one.outcome in ("exact", "aligned")]
    assert len(placed) >= 0.99 * len(every)
    assert sum(not one.alike for one in placed) >= least_one * len(every)
    assert sum(one.named for one in every) >= 0.99 * len(every)
    assert {"exact", "aligned"} <= {one.outcome for one in every}


def test_the_comparison_sees_a_wrong_place(resolution) -> None:
    from ragassay.corpus import Resolved
    from ragassay.records.document import Span

    texts = {"a": "The cat sat on the mat and slept.", "b": "The dog ran into the wood and barked."}

    def wrong(document: str, start: int, end: int) -> str:
        span = Span(document_id=document, version="1", start=start, end=end)
        chunk = resolution.Chunk("a", "The cat sat on  the mat", 0)
        return resolution._wrong(Resolved((span,), "aligned", "slice", score=1.0), chunk, texts)

    assert wrong("a", 0, 22) == ""
    assert wrong("b", 0, 22) == "another page"
    assert wrong("a", 8, 33) == "another text"
    assert wrong("a", 4, 22) == "another start"


def test_the_comparison_sees_a_wrong_place_among_several(resolution) -> None:
    from ragassay.corpus import Resolved
    from ragassay.records.document import Span

    texts = {"a": "Sent back. Or kept. Sent back.", "b": "Sent back. Burnt."}

    def wrong(start: int | None, *places: tuple[str, int]) -> str:
        among = tuple(Span(document_id=one, version="1", start=at, end=at + 10) for one, at in places)
        return resolution._wrong(
            Resolved((), "exact", "slice", among=among), resolution.Chunk("a", "Sent back.", start), texts
        )

    assert wrong(20, ("a", 0), ("a", 20), ("b", 0)) == ""
    assert wrong(None, ("a", 0), ("b", 0)) == ""
    assert wrong(20, ("a", 0), ("b", 0)) == "another start"
    assert wrong(None, ("b", 0), ("b", 0)) == "another page"
    assert wrong(0, ("a", 0), ("b", 7)) == "another text among several"
