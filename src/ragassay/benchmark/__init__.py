"""Questions and labels to a sealed benchmark over one corpus. Runs nothing and scores nothing."""

from ragassay.benchmark.build import Built, build, load
from ragassay.benchmark.cases import CaseReading, read_cases
from ragassay.benchmark.check import Check, check
from ragassay.benchmark.csv_cases import read_csv
from ragassay.benchmark.deepeval import read_deepeval
from ragassay.benchmark.formats import FORMATS, read_benchmark
from ragassay.benchmark.outputs import Output, OutputContext
from ragassay.benchmark.ragas import read_ragas
from ragassay.benchmark.report import BuildReport
from ragassay.benchmark.retrieval_sets import read_beir, read_ir_datasets, read_mteb
from ragassay.benchmark.squad import read_squad
from ragassay.benchmark.trec import read_qrels, read_topics, read_trec

__all__ = [
    "FORMATS",
    "BuildReport",
    "Built",
    "CaseReading",
    "Check",
    "Output",
    "OutputContext",
    "build",
    "check",
    "load",
    "read_beir",
    "read_benchmark",
    "read_cases",
    "read_csv",
    "read_deepeval",
    "read_ir_datasets",
    "read_mteb",
    "read_qrels",
    "read_ragas",
    "read_squad",
    "read_topics",
    "read_trec",
]
