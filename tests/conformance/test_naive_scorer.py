"""Our scores against a second scorer that was written from the rules alone: random traces and the demo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.naive import Naive, Row
from tests.conformance.naive_material import AS_OF, DOCUMENTS, PASSAGES, TEXTS, cases, followed, traces
from tests.conformance.naive_walk import Walk, estimate, fate, observe, sets_of

import ragassay.benchmark
import ragassay.corpus
import ragassay.score
from ragassay.cli.demo import demo_workspace
from ragassay.cli.run import run_workspace
from ragassay.cli.score import score_run
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Corpus, Segmentation
from ragassay.records.protocol import Protocol, Run, Scoring
from ragassay.records.score import Estimate, FactFate, Observation, ScoreTable
from ragassay.records.trace import Measurements, Trace, TraceContent
from ragassay.score import World

MEASURES = (
    *(
        f"{name}({options}){cut}"
        for name in ("recall", "hit", "precision", "rr")
        for options in ("rel=2", "rel=1", "rel=2,unit=document", "rel=2,unit=passage")
        for cut in ("", "@1", "@3")
        if (name, cut) != ("precision", "")
    ),
    "ndcg", "ndcg@2", "ndcg(unit=document)@2", "ndcg(unit=passage)@2", "judged@2", "judged@5", "fact_coverage",
    "dedup_coverage", "empty_retrieval", "context_precision(rel=2)", "context_recall(rel=2)",
    "evidence_density(rel=2)", "unique_parents", "overlap_ratio", "context_tokens", "exact_match", "token_f1",
    "abstention_rate", "false_refusal", "unsupported_answer",
)  # fmt: skip
UNSURE = ("unknown", "between")
"""Fates of which the rules fix only that nothing can be said."""
Rows = list[tuple[str, str, str | None, Row]]


def scoring(hold: float, rules: tuple[str, ...] = ()) -> Scoring:
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
        return ours.bounds is None or (mine.low, mine.high) != (ours.bounds.low, ours.bounds.high)
    return False


def compare(
    naive: Naive, case: Case, trace: Trace, rows: Sequence[Observation], fates: Sequence[FactFate], told: Scoring
) -> Rows:
    """Every row and every fate of one trace are the same; the rows of the second scorer."""
    found = {(one.measure, one.step): one for one in rows if one.target is None}
    mine = list(observe(naive, case, trace, told.measures, told.abstention_rules))
    wrong = [(m, step, row, found.get((m, step))) for m, step, row in mine if differs(row, found.get((m, step)))]
    assert not wrong, wrong[:3]
    ours = {one.fact_id: one for one in fates}
    walk = Walk(naive, trace.content)
    for fact in case.facts:
        sets = sets_of(naive, case, fact)
        if not sets:
            assert fact.id not in ours
            continue
        expected = ("?", ()) if trace.content.failure else fate(naive, walk, sets)
        got = ours[fact.id].fate, tuple(sorted(ours[fact.id].steps))
        assert expected == (("?", ()) if got[0] in UNSURE else got), (fact, expected, ours[fact.id])
    return [(case.query_id, *row) for row in mine]


def same_estimates(rows: Rows, cases: Sequence[Case], ours: Sequence[Estimate]) -> int:
    """How many means there were to compare; every one has the same counts and value."""
    mine, compared = estimate(rows, cases), 0
    for one in ours:
        here = mine.get((one.measure, one.step, one.population.class_, one.population.slice))
        if here is None or one.aggregation not in ("macro", "micro"):
            continue
        compared += 1
        assert (one.attempted, one.scored, one.undefined, one.missing, one.error) == here["counts"], one
        expected = here[one.aggregation]
        assert (one.value is None) == (expected is None), (one, here)
        assert expected is None or one.value == pytest.approx(expected, abs=1e-12), (one, here)
    return compared


def check(case: Case, trace: Trace, hold: float, complete: bool, rules: tuple[str, ...] = ()) -> None:
    told = scoring(hold, rules)
    world = World(DOCUMENTS, PASSAGES, texts=TEXTS, rel=2, complete=complete, as_of=AS_OF)
    naive = Naive(DOCUMENTS, PASSAGES, texts=TEXTS, hold=hold, complete=complete)
    got = ragassay.score.observe(case, trace, world, told)
    compare(naive, case, trace, got.observations, got.fates, told)


@settings(max_examples=120)
@given(cases(), traces(), st.sampled_from([1.0, 0.5]), st.sampled_from([(), ("do not know",)]), st.booleans())
def test_every_row_of_a_random_trace(
    case: Case, trace: Trace, hold: float, rules: tuple[str, ...], complete: bool
) -> None:
    check(case, trace, hold, complete, rules)


@settings(max_examples=200)
@given(followed(), st.sampled_from([1.0, 0.5]))
def test_every_fate_of_facts_that_get_lost_on_the_way(given_: tuple[Case, Trace], hold: float) -> None:
    check(*given_, hold, False)


@settings(max_examples=25)
@given(st.data(), st.integers(1, 3))
def test_every_mean_of_random_runs_with_repeats(data: st.DataObject, repeats: int) -> None:
    """Macro and micro means and the five counts, by class and slice; repeats averaged inside the question first."""
    asked = [data.draw(cases(f"q{number}")) for number in range(data.draw(st.integers(1, 4)))]
    told = scoring(1.0)
    world = World(DOCUMENTS, PASSAGES, texts=TEXTS, rel=2, as_of=AS_OF)
    naive = Naive(DOCUMENTS, PASSAGES, texts=TEXTS)
    mine: Rows = []
    ours: list[Observation] = []
    for case in asked:
        for repeat in range(repeats):
            trace = data.draw(traces(case.query_id, repeat))
            got = ragassay.score.observe(case, trace, world, told)
            ours += got.observations
            mine += compare(naive, case, trace, got.observations, got.fates, told)
    same_estimates(mine, asked, ragassay.score.estimate(ours, asked, told))


def test_every_row_fate_and_mean_of_the_demo(tmp_path: Path) -> None:
    workspace = demo_workspace(tmp_path)
    store = workspace.store
    table = store.get_record(ScoreTable, score_run(store, run_workspace(workspace, None)[0]))
    done = store.get_record(Run, table.run_record)
    protocol, told = store.get_record(Protocol, done.protocol), store.get_record(Scoring, table.scoring)
    benchmark = store.get_record(Benchmark, protocol.objects["benchmark"])
    documents = ragassay.corpus.load(store, store.get_record(Corpus, protocol.objects["corpus"]))
    cut = store.get_record(Segmentation, protocol.objects["segmentation"])
    texts = {one["digest"]: one["text"] for one in store.get_lines(dict, done.texts)}
    asked = {one.query_id: one for one in ragassay.benchmark.load(store, benchmark)}
    naive = Naive(documents, ragassay.corpus.load_passages(store, cut), texts=texts, hold=told.hold)
    rows: dict[Any, list[Observation]] = {}
    for one in store.get_lines(Observation, table.observations):
        rows.setdefault((one.query_id, one.repeat), []).append(one)
    fates: dict[Any, list[FactFate]] = {}
    for each in store.get_lines(FactFate, table.fates):
        fates.setdefault((each.query_id, each.repeat), []).append(each)
    mine: Rows = []
    for content in store.get_lines(TraceContent, done.contents):
        key = (content.query_id, content.repeat)
        trace = Trace(content=content, measurements=Measurements(query_id=key[0], repeat=key[1]))
        mine += compare(naive, asked[key[0]], trace, rows[key], fates.get(key, []), told)
    assert len(mine) > 10_000
    assert same_estimates(mine, list(asked.values()), list(store.get_lines(Estimate, table.estimates))) > 1_000
