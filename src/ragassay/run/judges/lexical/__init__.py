"""The lexical judge: the offline default for grounding. Asks no model; CANNOT_SEE says what escapes it."""

from ragassay.run.judges.lexical.evaluator import CANNOT_SEE, THRESHOLD, LexicalEvaluator, lexical
from ragassay.run.judges.lexical.overlap import Frequencies

__all__ = ["CANNOT_SEE", "THRESHOLD", "Frequencies", "LexicalEvaluator", "lexical"]
