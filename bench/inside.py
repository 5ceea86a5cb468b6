"""Comparisons inside one process: evaluation from arrays, sign flips, ROUGE-L. Ratios only."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import numpy as np
from bench import data
from bench.measures import QUESTIONS, alternating

from ragassay.measures import evaluate
from ragassay.measures.evaluate import load_labels
from ragassay.measures.rouge import rouge_l
from ragassay.stats import sign_flip

MEASURES = ["ndcg@10", "recall@100", "ap", "rr", "precision@10", "hit@10"]


def arrays() -> None:
    """Evaluation alone: our columns against pytrec_eval's dictionaries."""
    import pytrec_eval

    run_file, qrels_file = data.regular(Path(os.environ["BENCH_FOLDER"]), QUESTIONS)
    with qrels_file.open() as lines:
        qrels = pytrec_eval.parse_qrel(lines)
    with run_file.open() as lines:
        run = pytrec_eval.parse_run(lines)
    queries = np.array([query for query, own in run.items() for _ in own], "S7")
    items = np.array([item for own in run.values() for item in own], "S7")
    scores = np.array([score for own in run.values() for score in own.values()])
    labels = load_labels(str(qrels_file))
    asked = {"ndcg_cut.10", "recall.100", "map", "recip_rank", "P.10", "success.10"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, asked)
    alternating(
        "arrays",
        lambda: evaluate(labels, (queries, items, scores), MEASURES).summaries(),
        {"pytrec_eval on dictionaries": lambda: evaluator.evaluate(run)},
    )


def flips() -> None:
    """10,000 sign flips of 6,980 questions and 6 measures, one pair: the others run once for each measure."""
    rng = np.random.default_rng(1)
    table = rng.normal(0.002, 0.3, (6_980, 6))
    other = np.zeros(6_980)

    def ours() -> object:
        return sign_flip(table, seed=1)

    theirs = {}
    try:
        from ranx.statistical_tests import fisher_randomization_test

        theirs["ranx, Fisher, six times"] = lambda: fisher_randomization_test(table[:, 0], other, 10_000, 0.05)
    except ImportError:
        print("  ranx: not installed, skipped")
    from scipy.stats import permutation_test

    theirs["scipy, six times"] = lambda: permutation_test(
        (table[:, 0], other), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=10_000, batch=500,
    )  # fmt: skip
    alternating("flips", ours, theirs, times=6)


def rouge() -> None:
    """ROUGE-L of 5,000 pairs of 60 words, text to numbers."""
    from rouge_score import rouge_scorer

    rng = random.Random(3)
    words = [f"word{at}" for at in range(800)] + ["the", "of", "and", "to"] * 40
    pairs = [(_text(rng, words), _text(rng, words)) for _ in range(5_000)]
    scorer = rouge_scorer.RougeScorer(["rougeL"])

    def ours() -> list[float | None]:
        return [rouge_l(answer, [gold]).value for answer, gold in pairs]

    def theirs() -> list[float]:
        return [scorer.score(gold, answer)["rougeL"].fmeasure for answer, gold in pairs]

    if ours() != theirs():
        print("  rouge: NUMBERS DIFFER")
    alternating("rouge", ours, {"rouge-score": theirs})


def _text(rng: random.Random, words: list[str]) -> str:
    return " ".join(rng.choice(words) + rng.choice(["", "", "", ",", "."]) for _ in range(60))


if __name__ == "__main__":
    {"arrays": arrays, "flips": flips, "rouge": rouge}[sys.argv[1]]()
