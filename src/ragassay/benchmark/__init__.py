"""Questions and labels to a sealed benchmark over one corpus. Runs nothing and scores nothing."""

from ragassay.benchmark.build import Built, build, load
from ragassay.benchmark.cases import CaseReading, read_cases
from ragassay.benchmark.check import Check, check
from ragassay.benchmark.report import BuildReport
from ragassay.benchmark.trec import read_qrels, read_topics, read_trec

__all__ = [
    "BuildReport",
    "Built",
    "CaseReading",
    "Check",
    "build",
    "check",
    "load",
    "read_cases",
    "read_qrels",
    "read_topics",
    "read_trec",
]
