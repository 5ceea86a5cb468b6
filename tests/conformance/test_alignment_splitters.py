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
    ("name", "pages", "least_named"), [("clapnq", 60, 0.99), ("musique", 100, 0.98), ("wice", 12, 0.9)]
)
def test_chunks_are_tied_and_never_wrongly(
    resolution, shared_data: Path, name: str, pages: int, least_named: float
) -> None:
    made = resolution.measure([name], shared_data, most=pages, each=120)
    every = [one for chunks in made.values() for one in chunks]
    assert len(made) >= 22
    assert len(every) >= 1_000
    assert [one.wrong for one in every if one.wrong] == []
    once = [one for one in every if one.outcome != "repeated"]
    assert sum(one.outcome in ("exact", "aligned") for one in once) >= 0.99 * len(once)
    assert sum(one.named for one in every) >= least_named * len(every)
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
