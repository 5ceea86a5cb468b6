"""What a system did, in one form: who handed what to whom, what generation saw, and readers. Measures nothing."""

from ragassay.traces.graph import CONTEXT, Context, Graph, Node, context_of, graph, keys_of, united
from ragassay.traces.jsonl import each_trace, read_jsonl
from ragassay.traces.reading import TraceReading
from ragassay.traces.run_file import read_run_file
from ragassay.traces.trec import read_trec_run

__all__ = [
    "CONTEXT",
    "Context",
    "Graph",
    "Node",
    "TraceReading",
    "context_of",
    "each_trace",
    "graph",
    "keys_of",
    "read_jsonl",
    "read_run_file",
    "read_trec_run",
    "united",
]
