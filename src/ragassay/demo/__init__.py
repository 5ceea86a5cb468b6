"""The questions and documents that ship with the product, read as any other files. Runs nothing.

`data/README.md` says what they are, where they come from and what they do not show.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ragassay.benchmark import CaseReading, read_cases
from ragassay.corpus import Reading, read_jsonl
from ragassay.records.base import Instant

__all__ = ["AS_OF", "CORPUS_VERSION", "FOLDER", "Demo", "load"]

FOLDER = Path(__file__).parent / "data"
DOCUMENTS = ("wikipedia/documents.jsonl", "invented/documents.jsonl")
CASES = ("clapnq/cases.jsonl", "musique/cases.jsonl", "invented/cases.jsonl")
AS_OF = Instant("2026-06-01T00:00:00Z")
"""When the demo's questions are asked: after the second versions of some documents have begun to be valid."""
CORPUS_VERSION = "demo-1"


class Demo(NamedTuple):
    """The demo's documents and cases, ready for `corpus.build` and `benchmark.build`."""

    documents: Reading
    cases: CaseReading


def load() -> Demo:
    """Documents and cases in a fixed order: the same records, with the same digests, on every call."""
    documents, cases = Reading(), CaseReading()
    for name in DOCUMENTS:
        documents.extend(read_jsonl(FOLDER / name))
    for name in CASES:
        part = read_cases(FOLDER / name)
        for case in part:
            cases.add(case, part.places[case.query_id])
    return Demo(documents, cases)
