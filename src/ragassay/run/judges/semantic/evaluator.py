"""Nearness by a small embedder, and entailment by a model of the user's own. Nearness never means *supported*.

Without an entailment model, claims, citations and facts get no label: *missing(cannot_tell)* with the nearness as
score, and nothing is ever called contradicted. No fit entailment model ships in a package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from ragassay.errors import RagassayError, UsageError
from ragassay.records.judgement import About, JudgeIdentity
from ragassay.records.trace import Failure
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.semantic.formulas import bertscore, cosine
from ragassay.version import VERSION

if TYPE_CHECKING:
    from ragassay.run.systems.pipeline.embedders import TextEmbedder

CANNOT_SEE = (
    "Nearness of vectors sees neither negation, nor another number, nor swapped names: such sentences are as near to "
    "each other as paraphrases are. It never means *supported* by itself."
)
"""Stands wherever a number of this judge stands."""
DIGITS = 6
"""Scores are rounded to so many decimals, below what batches and threads could move."""
_ABOUT: frozenset[About] = frozenset({"claim", "citation", "fact", "similarity"})


class Entailed(NamedTuple):
    """What an entailment model says of a pair, with what it decided on."""

    label: Literal["entailed", "neutral", "contradicted"]
    score: float


class Entailment(Protocol):
    """The interface for an entailment model of the user's own."""

    @property
    def identity(self) -> str:
        """Name, version and digest of the weights."""
        ...

    def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Entailed]:
        """One for each (premise, hypothesis), in order; a pair's does not depend on those beside it."""
        ...


_LABEL = {"entailed": "supported", "neutral": "unsupported", "contradicted": "contradicted"}


class SemanticEvaluator:
    """See the module. `embedder` has `identity`, `embed` and `token_vectors`."""

    def __init__(self, embedder: TextEmbedder, entailment: Entailment | None = None) -> None:
        self._embedder, self._entailment = embedder, entailment
        self.about = _ABOUT
        self.identity = JudgeIdentity(
            name="semantic",
            kind="semantic",
            model=entailment.identity if entailment else None,
            settings={"embedder": embedder.identity, "digits": str(DIGITS)},
            libraries={"ragassay": VERSION},
        )

    def judge(self, items: Sequence[Item]) -> list[Verdict]:
        """A verdict for each item, in order; a failing model is an error of its items."""
        return [self._safely(item) for item in items]

    def _safely(self, item: Item) -> Verdict:
        try:
            return self._one(item)
        except RagassayError as error:
            why = error.message[:500]
            return Verdict("error", reason="evaluator_error", rationale=why, failure=Failure(cause="exception"))

    def _one(self, item: Item) -> Verdict:
        if item.about == "similarity":
            return self._similarity(item)
        if item.about not in _ABOUT:
            return Verdict("missing", reason="not_judged")
        shown = [item.answer] if item.about == "fact" else [one.text for one in item.evidence]
        shown = [one for one in shown if one.strip()]
        if self._entailment is not None and shown:
            return self._entailed(item.statement, shown, self._entailment)
        near = self._nearest(item.statement, shown)
        return Verdict("missing", reason="cannot_tell", score=near, rationale=CANNOT_SEE)

    def _entailed(self, statement: str, shown: Sequence[str], model: Entailment) -> Verdict:
        """Entailed by one text is supported; else contradicted by one; else neither."""
        said = model.entails([(one, statement) for one in shown])
        for wanted in ("entailed", "contradicted", "neutral"):
            found = [one for one in said if one.label == wanted]
            if found:
                best = max(found, key=lambda one: one.score)
                return Verdict("value", _LABEL[wanted], score=best.score, rationale=f"{model.identity}: {wanted}")
        return Verdict("error", reason="evaluator_error", failure=Failure(cause="invalid_response"))

    def _nearest(self, statement: str, shown: Sequence[str]) -> float | None:
        if not shown or not statement.strip():
            return None
        vectors = self._embedder.embed([statement, *shown])
        return round(max(cosine(vectors[0], one) for one in vectors[1:]), DIGITS)

    def _similarity(self, item: Item) -> Verdict:
        """The nearest reference: cosine of whole texts, or BERTScore's F1; a score that rules on nothing."""
        texts = [item.statement, *(one for one in item.references if one.strip())]
        if len(texts) < 2:
            return Verdict("missing", reason="no_reference")
        if not item.statement.strip():
            return Verdict("missing", reason="empty_answer")
        if item.target == "bertscore":
            tokens = self._embedder.token_vectors(texts)
            found = [one.f1 for two in tokens[1:] if (one := bertscore(tokens[0], two)) is not None]
        elif item.target == "semantic_similarity":
            vectors = self._embedder.embed(texts)
            found = [cosine(vectors[0], one) for one in vectors[1:]]
        else:
            return Verdict("missing", reason="not_judged")
        if not found:
            return Verdict("undefined", reason="no_tokens")
        return Verdict("value", "measured", score=round(max(found), DIGITS), rationale=CANNOT_SEE)


def semantic(settings: Mapping[str, str], embedder: TextEmbedder | None = None) -> SemanticEvaluator:
    """The evaluator that kind = "semantic" means; `embedder` is "minilm" or "wordllama" (an extra each).

    Raises UsageError for other keys and names, MissingExtraError where the package is not installed.
    """
    unknown = sorted(set(settings) - {"embedder"})
    if unknown:
        raise UsageError(f"the semantic judge knows no {unknown[0]!r}", field=unknown[0], hint="it takes: embedder")
    if embedder is None:
        name = settings.get("embedder", "minilm")
        if name not in ("minilm", "wordllama"):
            raise UsageError(f"{name!r} is no embedder of this judge", field="embedder", hint="minilm or wordllama")
        from ragassay.run.systems.pipeline.embedders import embedder as made

        embedder = made(name)
    return SemanticEvaluator(embedder)
