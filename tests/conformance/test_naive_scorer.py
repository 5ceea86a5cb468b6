"""Our scores against a second scorer that was written from the rules alone: random traces and the demo."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.naive import Naive, Row
from tests.conformance.naive_material import AS_OF, DOCUMENTS, PASSAGES, TEXTS, cases, traces
from tests.conformance.naive_walk import Walk, fate, observe, sets_of

import ragassay.score
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.score import Observation
from ragassay.records.trace import Trace
from ragassay.score import World

MEASURES = tuple(  # noqa: RUF005
    f"{name}({options}){cut}"
    for name in ("recall", "hit", "precision", "rr")
    for options in ("rel=2", "rel=1", "rel=2,unit=document", "rel=2,unit=passage")
    for cut in ("", "@1", "@3")
    if (name, cut) != ("precision", "")
) + (
    "ndcg", "ndcg@2", "ndcg(unit=document)@2", "ndcg(unit=passage)@2", "judged@2", "judged@5", "fact_coverage",
    "dedup_coverage", "empty_retrieval", "context_precision(rel=2)", "context_recall(rel=2)",
    "evidence_density(rel=2)", "unique_parents", "overlap_ratio", "context_tokens", "exact_match", "token_f1",
    "abstention_rate", "false_refusal", "unsupported_answer",
)  # fmt: skip
UNSURE = ("unknown", "between")


def scoring(hold: float, rules: tuple[str, ...]) -> Scoring:
    return Scoring(
        measures=MEASURES, measure_versions={}, hold=hold, tokenizer="word/1", normalisation="squad", level=0.95,
        ties="list_order", abstention_rules=rules,
    )  # fmt: skip


def differs(mine: Row, ours: Observation | None) -> bool:
    if ours is None or mine.status != ours.status:
        return True
    if mine.value is not None:
        return mine.value != pytest.approx(ours.value, abs=1e-12)
    if mine.low is not None:
        assert ours.bounds is not None
        return (mine.low, mine.high) != (pytest.approx(ours.bounds.low), pytest.approx(ours.bounds.high))
    return False


def compare(naive: Naive, case: Case, trace: Trace, ours: Any, told: Scoring) -> list[tuple[str, str, str | None, Row]]:
    """Every row and fate of one trace; the rows of the second scorer."""
    found = {(one.measure, one.step): one for one in ours.observations if one.target is None}
    rows = list(observe(naive, case, trace, told.measures, told.abstention_rules))
    wrong = [(m, step, row, found.get((m, step))) for m, step, row in rows if differs(row, found.get((m, step)))]
    assert not wrong, wrong[:3]
    fates = {one.fact_id: one for one in ours.fates}
    walk = Walk(naive, trace.content)
    for fact in case.facts:
        sets = sets_of(naive, case, fact)
        if not sets:
            assert fact.id not in fates
            continue
        mine = fate(naive, walk, sets) if trace.content.failure is None else ("?", ())
        got = fates[fact.id].fate
        theirs = ("?", ()) if got in UNSURE else (got, tuple(sorted(fates[fact.id].steps)))
        assert mine == theirs, (fact, mine, fates[fact.id])
    return [(case.query_id, *row) for row in rows]


@settings(max_examples=150)
@given(cases(), traces(), st.sampled_from([1.0, 0.5]), st.sampled_from([(), ("do not know",)]), st.booleans())
def test_every_row_and_fate_of_a_random_trace(
    case: Case, trace: Trace, hold: float, rules: tuple[str, ...], complete: bool
) -> None:
    told = scoring(hold, rules)
    world = World(DOCUMENTS, PASSAGES, texts=TEXTS, rel=2, complete=complete, as_of=AS_OF)
    naive = Naive(DOCUMENTS, PASSAGES, texts=TEXTS, hold=hold, complete=complete)
    compare(naive, case, trace, ragassay.score.observe(case, trace, world, told), told)
