"""Pure kernels on arrays: measures of ranked lists and of texts, each declared; it reads no trace and no store."""

from ragassay.measures.declare import Declaration, declaration, declarations
from ragassay.measures.evaluate import Evaluation, Summary, evaluate
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
    "Summary",
    "column",
    "declaration",
    "declarations",
    "evaluate",
    "exact_match",
    "one_list",
    "parse",
    "token_f1",
]
