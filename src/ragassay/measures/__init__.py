"""Pure kernels on arrays: measures of ranked lists and of texts, each declared; it reads no trace and no store."""

from ragassay.measures.declare import Declaration, declaration, declarations, own_measure, version_of
from ragassay.measures.evaluate import Evaluation, Summary, evaluate
from ragassay.measures.foreign import OwnMeasure
from ragassay.measures.outcome import Outcome
from ragassay.measures.ranking import Column, column, one_list
from ragassay.measures.spelling import Measure, parse
from ragassay.measures.text import exact_match, token_f1

__all__ = [
    "Column",
    "Declaration",
    "Evaluation",
    "Measure",
    "Outcome",
    "OwnMeasure",
    "Summary",
    "column",
    "declaration",
    "declarations",
    "evaluate",
    "exact_match",
    "one_list",
    "own_measure",
    "parse",
    "token_f1",
    "version_of",
]
