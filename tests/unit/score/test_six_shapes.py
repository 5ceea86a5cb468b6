"""A case of each of the six shapes that the records were tried on, scored by hand."""

from __future__ import annotations

import math

import pytest
from tests.unit.score.score_material import (
    AS_OF,
    case,
    doc,
    ev,
    fact,
    fate,
    item,
    number,
    one_estimate,
    row,
    score,
    scoring,
    step,
    trace,
)  # fmt: skip

from ragassay.records.case import Conversation, Principal, Turn
from ragassay.records.trace import Answer
from ragassay.score import World, complete, estimate, observe

A, B, C = doc("a", "aaaaaaaaaa"), doc("b", "bbbbbbbbbb"), doc("c", "cccccccccc")
DOCS = (A, B, C)
GOT_A, GOT_B, GOT_C = item("a", 0, 10), item("b", 0, 10), item("c", 0, 10)


def test_multi_turn_the_conversation_is_the_cluster() -> None:
    history = (Turn(role="user", text="first?"), Turn(role="assistant", text="yes"))
    cases = [
        case("q1", evidence=(ev("e", "a", 0, 10),), conversation=Conversation(id="talk", turn=1)),
        case("q2", evidence=(ev("e", "b", 0, 10),), conversation=Conversation(id="talk", turn=2, history=history)),
        case("q3", evidence=(ev("e", "c", 0, 10),)),
    ]
    seen = [
        trace(step("bm25", "lexical", [GOT_A], ()), query_id="q1"),
        trace(step("bm25", "lexical", [GOT_A], ()), query_id="q2"),
        trace(step("bm25", "lexical", [GOT_C], ()), query_id="q3"),
    ]
    world, how = World(DOCS), scoring("recall(rel=2)")
    rows = [one for known, got in zip(cases, seen, strict=True) for one in observe(known, got, world, how).observations]
    assert [one.turn for one in rows if one.query_id == "q2"] == [2] * 3
    found = one_estimate(estimate(rows, cases, how), "recall(rel=2)", "bm25", aggregation="macro")
    assert found.value == pytest.approx(2 / 3, abs=1e-12)  # 1, 0, 1
    assert found.interval is not None
    assert found.interval.clusters == 2  # the talk, and q3
    # Clustered by hand: sums of deviations are (1 - 2/3) + (0 - 2/3) = -1/3 and 1 - 2/3 = 1/3.
    # Their squares add to 2/9; times 2 / (2 - 1); root is 2/3; over n = 3: 2/9. t(1 df, 0.975) = 12.706.
    # 2/3 - 12.706 * 2/9 is below 0, so the interval is cut to the range.
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)


def test_an_agent_that_retrieves_three_times() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10), ev("e2", "b", 0, 10, grade=3)), facts=(fact("f", ("e1", "e2")),))
    seen = trace(
        step("plan", "rewrite", None, (), step_id="r0"),
        step("search", "tool", [GOT_C, GOT_A], ("r0",), step_id="t0", iteration=0),
        step("plan", "rewrite", None, ("t0",), step_id="r1"),
        step("search", "tool", [GOT_C], ("r1",), step_id="t1", iteration=1),
        step("plan", "rewrite", None, ("t1",), step_id="r2"),
        step("search", "tool", [GOT_B], ("r2",), step_id="t2", iteration=2),
        step("assemble", "assemble", [GOT_B, GOT_C], ("t2",)),
    )
    got = score(known, seen, DOCS)
    # A source adds to what came before, also through a rewrite: assemble could have had a, b and c, and dropped a.
    assert fate(got, "f") == ("lost_whole", ("assemble",))
    # United by name: rank 1 of each (c, c again, b), then a: the list is c, b, a.
    assert number(got, "recall(rel=2)@1", "search") == 0.0
    assert number(got, "rr(rel=2)", "search") == 0.5
    assert number(got, "recall(rel=2)", "search") == 1.0
    # ndcg: gains 0, 3, 2 against 3, 2: (3/log2 3 + 2/log2 4) / (3/log2 2 + 2/log2 3)
    hand = (3 / math.log2(3) + 1) / (3 + 2 / math.log2(3))
    assert number(got, "ndcg", "search") == pytest.approx(hand, abs=1e-12)


def test_five_repeats_are_averaged_inside_the_case_first() -> None:
    cases = [case(name, evidence=(ev("e", "a", 0, 10),)) for name in ("q1", "q2")]
    hits = {"q1": [1, 1, 1, 0, None], "q2": [0, 0, 0, 0, 0]}  # None: a timeout
    how, world = scoring("hit(rel=2)@1"), World(DOCS)
    scores = []
    for known in cases:
        for repeat, found in enumerate(hits[known.query_id]):
            where = {"query_id": known.query_id, "repeat": repeat}
            if found is None:
                seen = trace(**where, failure="timeout")
            else:
                seen = trace(step("bm25", "lexical", [GOT_A if found else GOT_B], ()), **where)
            scores.append(observe(known, seen, world, how))
    scores = complete(scores, cases, 5, world, how)
    rows = [one for got in scores for one in got.observations]
    found = one_estimate(estimate(rows, cases, how), "hit(rel=2)@1", "bm25")
    # q1: 3 of 4 that have a value; q2: 0 of 5. Mean (0.75 + 0) / 2. Two questions attempted, two scored.
    assert found.value == 0.375
    assert (found.attempted, found.scored, found.error) == (2, 2, 0)
    assert found.reasons == {"timeout": 1}
    # Bounds: the timeout at 0 gives (3/5 + 0) / 2, at 1 it gives (4/5 + 0) / 2.
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (pytest.approx(0.3), pytest.approx(0.4))
    # q1 flips, q2 does not.
    flips = one_estimate(estimate(rows, cases, how), "flip_rate(of=hit/rel:2/at:1)", "bm25")
    assert (flips.value, flips.scored) == (0.5, 2)


def test_alternatives_that_must_be_combined() -> None:
    evidence = (ev("e1", "a", 0, 10), ev("e2", "b", 0, 10), ev("e3", "c", 0, 10, grade=3))
    known = case(evidence=evidence, facts=(fact("f", ("e1", "e2"), ("e3",)),), class_="multi_hop")
    half = trace(step("bm25", "lexical", [GOT_A], ()), step("assemble", "assemble", [GOT_A], ("bm25",)))
    got = score(known, half, DOCS)
    # {e1, e2} lacks e2, which was never found; {e3} lacks e3, never found either. One never found each; nothing was
    # lost on the way.
    assert fate(got, "f") == ("never_found", ())
    assert number(got, "fact_coverage", "bm25") == 0.0
    other = trace(step("bm25", "lexical", [GOT_A, GOT_C], ()), step("assemble", "assemble", [GOT_A, GOT_C], ("bm25",)))
    got = score(known, other, DOCS)
    assert fate(got, "f") == ("held", ())  # by the other alternative alone
    assert number(got, "fact_coverage", "bm25") == 1.0
    assert number(got, "recall(rel=2)", "bm25") == pytest.approx(2 / 3, abs=1e-12)
    gone = trace(
        step("bm25", "lexical", [GOT_A], ()), step("rerank", "rerank", [], ("bm25",)),
        step("dense", "vector", [GOT_B], ()), step("assemble", "assemble", [GOT_B], ("rerank", "dense")),
    )  # fmt: skip
    # {e1, e2}: e1 lost at rerank, e2 held. {e3}: never found. The first has no never-found member: lost in parts.
    assert fate(score(known, gone, DOCS), "f") == ("lost_in_parts", ("rerank",))


def test_document_versions_with_validity_windows() -> None:
    old = doc("policy", "limit is five", valid_until="2026-07-01T00:00:00Z")
    new = doc("policy", "limit is nine", "2", valid_from="2026-07-01T00:00:00Z")
    # The label names version 2; finding the words in version 1 is not finding the evidence.
    known = case(evidence=(ev("e", "policy", 9, 13, version="2"),), facts=(fact("f", ("e",)),))
    stale = trace(step("bm25", "lexical", [item("policy", 0, 13, version="1")], ()))
    fresh = trace(step("bm25", "lexical", [item("policy", 0, 13, version="2")], ()))
    assert number(score(known, stale, (old, new)), "recall(rel=2)", "bm25") == 0.0
    assert number(score(known, fresh, (old, new)), "recall(rel=2)", "bm25") == 1.0
    # A label without a version means the one that is valid at as_of.
    open_ = case(evidence=(ev("e", "policy", 9, 13, version=None),))
    assert number(score(open_, stale, (old, new), as_of=AS_OF), "recall(rel=2)", "bm25") == 0.0
    assert number(score(open_, fresh, (old, new), as_of=AS_OF), "recall(rel=2)", "bm25") == 1.0


def test_relevance_that_differs_by_tenant() -> None:
    acme = doc("prices-acme", "acme pays 4", tenants=("acme",))
    beta = doc("prices-beta", "beta pays 9", tenants=("beta",))
    evidence = (ev("e1", "prices-acme", 0, 11), ev("e2", "prices-beta", 0, 11))
    facts = (fact("f1", ("e1",)), fact("f2", ("e2",)))
    seen = trace(
        step("bm25", "lexical", [item("prices-beta", 0, 11), item("prices-acme", 0, 11)], ()),
        answer=Answer(text="no", outcome="denied", outcome_source="system"),
    )
    measures = ("recall(rel=2)", "rr(rel=2)", "fact_coverage", "false_refusal", "unsupported_answer")
    # acme's user: only e1 counts. Of 1 relevant 1 found, at rank 2; fact f2 is not asked of it.
    mine = case(evidence=evidence, facts=facts, principal=Principal(id="u", tenants=("acme",)))
    got = score(mine, seen, (acme, beta), *measures)
    assert (number(got, "recall(rel=2)", "bm25"), number(got, "rr(rel=2)", "bm25")) == (1.0, 0.5)
    assert row(got, "fact_coverage", "bm25").denominator == 1.0
    assert number(got, "hidden_labels") == 1.0
    assert [one.fact_id for one in got.fates] == ["f1"]
    assert number(got, "false_refusal") == 1.0  # it could be answered for this user
    # A stranger sees neither: nothing counts, and denying was right.
    theirs = case(evidence=evidence, facts=facts, principal=Principal(id="s", tenants=("gamma",)))
    got = score(theirs, seen, (acme, beta), *measures)
    assert (row(got, "recall(rel=2)", "bm25").status, row(got, "recall(rel=2)", "bm25").reason) == (
        "undefined", "all_hidden",
    )  # fmt: skip
    assert number(got, "unsupported_answer") == 0.0
    assert not [one for one in got.observations if one.measure == "false_refusal"]
    # Nobody is named: all labels count, and no authorization figure includes the case.
    unscoped = score(case(evidence=evidence, facts=facts), seen, (acme, beta), *measures)
    assert number(unscoped, "recall(rel=2)", "bm25") == 1.0
    assert row(unscoped, "fact_coverage", "bm25").denominator == 2.0
    assert not [one for one in unscoped.observations if one.measure == "hidden_labels"]
