"""Documents to a sealed corpus, the corpus to passages, text back to its place. Asks no system, ranks nothing."""

from ragassay.corpus.access import Standing, standing, visible
from ragassay.corpus.align import FLOOR, floor_of, rule
from ragassay.corpus.build import build, load, load_skipped, load_sources
from ragassay.corpus.folder import read_folder
from ragassay.corpus.formats import FORMATS, detect, read
from ragassay.corpus.jsonl import read_jsonl
from ragassay.corpus.reading import Reading
from ragassay.corpus.resolve import Resolved, Resolver
from ragassay.corpus.segment import CHUNKERS, chunk, load_passages, parameters_of, segment

__all__ = [
    "CHUNKERS",
    "FLOOR",
    "FORMATS",
    "Reading",
    "Resolved",
    "Resolver",
    "Standing",
    "build",
    "chunk",
    "detect",
    "floor_of",
    "load",
    "load_passages",
    "load_skipped",
    "load_sources",
    "parameters_of",
    "read",
    "read_folder",
    "read_jsonl",
    "rule",
    "segment",
    "standing",
    "visible",
]
