"""Is this benchmark fit to measure with: counts, faults and gaps, each with what to do. Scores nothing."""

from ragassay.benchmark.check.material import Limits, Split
from ragassay.benchmark.check.model import Check, Finding, Place, SliceCount, Stratum
from ragassay.benchmark.check.slices import VOCABULARY, Rule
from ragassay.benchmark.check.text import lines
from ragassay.benchmark.check.whole import check, with_derived

__all__ = [
    "VOCABULARY",
    "Check",
    "Finding",
    "Limits",
    "Place",
    "Rule",
    "SliceCount",
    "Split",
    "Stratum",
    "check",
    "lines",
    "with_derived",
]
