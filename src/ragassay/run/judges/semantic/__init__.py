"""The semantic judge, an extra: nearness by a small embedder. Imports no model before it is made."""

from ragassay.run.judges.semantic.evaluator import CANNOT_SEE, Entailed, Entailment, SemanticEvaluator, semantic

__all__ = ["CANNOT_SEE", "Entailed", "Entailment", "SemanticEvaluator", "semantic"]
