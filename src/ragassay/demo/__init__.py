"""The questions and documents that ship with the product, read as any other files. Runs nothing.

`data/README.md` says what they are, where they come from and what they do not show.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ragassay.benchmark import CaseReading, read_cases
from ragassay.corpus import Reading, read_jsonl
from ragassay.records.base import Instant

__all__ = ["AS_OF", "CASES", "CORPUS_VERSION", "DOCUMENTS", "FOLDER", "NOTE", "VERSION", "Demo", "load"]

FOLDER = Path(__file__).parent / "data"
DOCUMENTS = FOLDER / "documents.jsonl"
CASES = FOLDER / "cases.jsonl"
VERSION = "1"
"""Of the benchmark that the demo's cases make."""
CORPUS_VERSION = "demo-1"
AS_OF = Instant("2026-06-01T00:00:00Z")
"""When the demo's questions are asked: after the second versions of some documents have begun to be valid."""
NOTE = (
    "The demo's questions are real (CLAPnq, MuSiQue) and invented (tenants, attacks, conversations). "
    "CLAPnq judged its unanswerable questions on one passage each: another passage may hold an answer."
)
"""What anybody who sees a number of the demo should be told first."""


class Demo(NamedTuple):
    """The demo's documents and cases, ready for `corpus.build` and `benchmark.build`."""

    documents: Reading
    cases: CaseReading


def load() -> Demo:
    """Documents and cases in the order of their files: the same records, with the same digests, on every call."""
    return Demo(read_jsonl(DOCUMENTS), read_cases(CASES))
