"""Document-level measures of TREC runs against trec_eval's own code, ties and unjudged documents included."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.score.score_material import case, doc, ev, number, score

from ragassay.traces import read_trec_run

NAMES = [f"d{n}" for n in range(12)]
DOCUMENTS = [doc(name, f"text of {name}") for name in NAMES]
PAIRS = {
    "ndcg_cut_5": "ndcg@5", "ndcg": "ndcg", "recall_5": "recall(rel=1)@5", "P_5": "precision(rel=1)@5",
    "recip_rank": "rr(rel=1)", "success_5": "hit(rel=1)@5", "map": "ap(rel=1)", "map_cut_5": "ap(rel=1)@5",
}  # fmt: skip

labels = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1).filter(lambda one: any(one.values()))
runs = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.5, 1.0, 2.0, 4.0, 8.0]), min_size=1)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(labels, runs)
def test_equal_to_trec_eval(tmp_path: Path, grades: dict[str, int], scores: dict[str, float]) -> None:
    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 {name} 1 {number} t\n" for name, number in scores.items()))
    (seen,) = read_trec_run(path, DOCUMENTS)
    known = case(evidence=tuple(ev(f"r{n}", name, grade=grade) for n, (name, grade) in enumerate(grades.items())))
    got = score(known, seen, DOCUMENTS, *PAIRS.values(), *map(_by_document, PAIRS.values()), rel=1)
    theirs = pytrec_eval.RelevanceEvaluator({"q": grades}, set(PAIRS)).evaluate({"q": scores})["q"]
    for name, ours in PAIRS.items():
        assert number(got, ours, "run") == pytest.approx(theirs[name], abs=1e-9), name
        assert number(got, _by_document(ours), "run") == pytest.approx(theirs[name], abs=1e-9), name


def _by_document(measure: str) -> str:
    """`recall(rel=1)@5` as `recall(rel=1,unit=document)@5`."""
    head, mark, cut = measure.partition("@")
    inner = f"{head[:-1]},unit=document)" if head.endswith(")") else f"{head}(unit=document)"
    return f"{inner}{mark}{cut}"
