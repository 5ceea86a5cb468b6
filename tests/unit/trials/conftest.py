"""A small project: eight documents, eight questions for development, a hybrid pipeline over a function that embeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WORDS = ("anchor", "basil", "copper", "dolphin", "ember", "falcon", "granite", "harbour")
SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
[corpus.provenance]
licence = "CC0-1.0"
[segmentation]
size = 12
overlap = 2
[benchmark]
cases = "cases.jsonl"
name = "small-dev"
[system]
kind = "pipeline"
[[system.retrievers]]
kind = "lexical"
candidates = 5
[[system.retrievers]]
kind = "vector"
embedder = "wordllama"
candidates = 5
[run]
as_of = "2026-06-01"
top_k = 5
"""
GRID = """
[experiment]
name = "small"
choose = "recall(rel=2)@5"
[experiment.grid]
"system.fusion.k" = [10, 60]
"system.context.tokens" = [15, 200]
"""


def case(number: int, word: str) -> dict[str, object]:
    return {
        "query_id": f"q{number}", "query": f"Where does the {word} rest at night?", "class": "answerable",
        "relevant": [{"document_id": f"d{number}", "grade": 3}],
    }  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pytest.importorskip("wordllama")
    documents = [
        {"document_id": f"d{n}", "text": f"At night the {word} rests beside the old wall. By day it is elsewhere, far."}
        for n, word in enumerate(WORDS)
    ]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents), "utf-8")
    cases = [case(n, word) for n, word in enumerate(WORDS)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cases), "utf-8")
    (tmp_path / "ragassay.toml").write_text(SETTINGS, "utf-8")
    (tmp_path / "grid.toml").write_text(GRID, "utf-8")
    return tmp_path
