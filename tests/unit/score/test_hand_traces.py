"""The hand traces of the rules of holding and losing, each counted on paper in its comment."""

from __future__ import annotations

import math

import pytest
from tests.unit.score.score_material import (
    case,
    doc,
    ev,
    fact,
    fate,
    item,
    loose,
    number,
    row,
    score,
    step,
    trace,
)  # fmt: skip

from ragassay.records.trace import Answer

# a: 20 code points, no white space. The evidence e1 is its second half.
A = doc("a", "aaaaaaaaaabbbbbbbbbb")
B = doc("b", "cccccccccc dddddddddd")
C = doc("c", "eeeeeeeeee")
DOCS = (A, B, C)
WHOLE_A = item("a", 0, 20)
FIRST, SECOND = item("a", 0, 10), item("a", 10, 20)
OTHER = item("c", 0, 10)


def test_hybrid_whose_rerank_drops_one_arms_copy_loses_the_fact_where_the_last_copy_went() -> None:
    known = case(evidence=(ev("e1", "a", 10, 20),), facts=(fact("f1", ("e1",)),))
    seen = trace(
        step("bm25", "lexical", [SECOND, OTHER], ()),
        step("dense", "vector", [OTHER, SECOND], ()),
        step("rerank", "rerank", [OTHER], ("dense",)),  # takes SECOND in, drops it
        step("fuse", "fuse", [OTHER], ("bm25", "rerank")),  # still had it from bm25: the last copy goes here
        step("assemble", "assemble", [OTHER], ("fuse",)),
    )
    got = score(known, seen, DOCS)
    assert fate(got, "f1") == ("lost_whole", ("fuse",))
    assert got.fates[0].found_at == ("bm25", "dense")
    assert not got.fates[0].inferred
    # recall: 1 of 1 at both arms, 0 of 1 from rerank on
    names = ("bm25", "dense", "rerank", "fuse", "context")
    assert [number(got, "recall(rel=2)", one) for one in names] == [1, 1, 0, 0, 0]
    # rr: rank 1 in bm25, rank 2 in dense; ndcg there: (2/log2 3) / (2/log2 2) = 0.6309...
    assert number(got, "rr(rel=2)", "bm25") == 1.0
    assert number(got, "rr(rel=2)", "dense") == 0.5
    assert number(got, "ndcg", "dense") == pytest.approx(1 / math.log2(3), abs=1e-12)
    # precision@2: one of two; judged@2: one of two (OTHER carries no label)
    assert number(got, "precision(rel=2)@2", "bm25") == 0.5
    assert number(got, "judged@2", "bm25") == 0.5


def test_two_halves_on_two_arms_are_joined_by_fusion_and_lost_in_parts() -> None:
    known = case(
        evidence=(ev("e1", "a", 0, 10), ev("e2", "a", 10, 20)), facts=(fact("f1", ("e1", "e2")),), class_="multi_hop"
    )
    arms = (step("bm25", "lexical", [FIRST, OTHER], ()), step("dense", "vector", [SECOND, OTHER], ()))
    joined = trace(*arms, step("fuse", "fuse", [FIRST, SECOND, OTHER], ("bm25", "dense")),
                   step("assemble", "assemble", [SECOND], ("fuse",)))  # fmt: skip
    got = score(known, joined, DOCS)
    # Fusion held both, the context holds e2 only: lost whole at assemble. No source had it whole.
    assert fate(got, "f1") == ("lost_whole", ("assemble",))
    assert got.fates[0].found_at == ()
    assert [number(got, "fact_coverage", one) for one in ("bm25", "dense", "fuse", "assemble")] == [0, 0, 1, 0]
    assert [number(got, "recall(rel=2)", one) for one in ("bm25", "fuse", "context")] == [0.5, 1.0, 0.5]

    never_joined = trace(*arms, step("fuse", "fuse", [SECOND, OTHER], ("bm25", "dense")),
                         step("assemble", "assemble", [OTHER], ("fuse",)))  # fmt: skip
    got = score(known, never_joined, DOCS)
    # The union that enters fusion has both halves, so fusion lost it whole.
    assert fate(got, "f1") == ("lost_whole", ("fuse",))

    one_arm_reranked = trace(*arms, step("rerank", "rerank", [OTHER], ("dense",)),
                             step("fuse", "fuse", [OTHER], ("bm25", "rerank")),
                             step("assemble", "assemble", [OTHER], ("fuse",)))  # fmt: skip
    got = score(known, one_arm_reranked, DOCS)
    # No step ever had both: e1 went at fuse, e2 at rerank. Lost in parts, at two steps at once.
    assert fate(got, "f1") == ("lost_in_parts", ("fuse", "rerank"))


def test_three_retrievals_joined_gain_what_no_single_one_had() -> None:
    text = doc("t", "111222333")
    known = case(
        evidence=(ev("e1", "t", 0, 3), ev("e2", "t", 3, 6), ev("e3", "t", 6, 9)),
        facts=(fact("f1", ("e1", "e2", "e3")),),
        class_="multi_hop",
    )
    parts = [item("t", 0, 3), item("t", 3, 6), item("t", 6, 9)]
    searches = [step("search", "tool", [one, OTHER], (), step_id=f"s{n}", iteration=n) for n, one in enumerate(parts)]
    seen = trace(*searches, step("assemble", "assemble", [*parts], ("s0", "s1", "s2")))
    got = score(known, seen, (*DOCS, text))
    assert fate(got, "f1") == ("held", ())
    assert got.fates[0].found_at == ()  # no single retrieval had it
    # The iterations are united: ranks p0 p1 p2 (all rank 1), then OTHER once. recall@1 = 1/3, recall = 3/3.
    assert number(got, "recall(rel=2)", "search") == 1.0
    assert number(got, "recall(rel=2)@1", "search") == pytest.approx(1 / 3, abs=1e-12)
    assert number(got, "fact_coverage", "search") == 1.0


def test_assemble_that_truncates() -> None:
    evidence = (ev("e1", "a", 0, 10), ev("e2", "b", 0, 10))
    known = case(evidence=evidence, facts=(fact("f1", ("e1",)), fact("f2", ("e2",))))
    seen = trace(
        step("bm25", "lexical", [item("b", 0, 21), WHOLE_A]),
        step("assemble", "assemble", [item("b", 0, 21), item("a", 0, 5)]),  # cut to a budget: half of e1 is gone
        step("generate", "generate", None),
    )
    got = score(known, seen, DOCS)
    assert fate(got, "f1") == ("lost_whole", ("assemble",))
    assert fate(got, "f2") == ("held", ())
    assert got.fates[0].inferred  # nobody declared parents
    # The truncated item has a source of its own, which no parent gave: counted, and still no loss of f2.
    assert number(got, "unexplained_items", "assemble") == 1.0
    assert number(got, "fact_coverage", "context") == 0.5


def test_black_box_knows_its_context_only() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10),), facts=(fact("f1", ("e1",)),))
    seen = trace(step("context", "fetch", [OTHER], ()), context=[OTHER], answer=Answer(text="x"))
    got = score(known, seen, DOCS, "recall(rel=2)", "fact_coverage")
    # One step, the context: nothing was lost on the way, it was never found.
    assert fate(got, "f1") == ("never_found", ())
    assert {one.step for one in got.observations} == {"context"}
    assert number(got, "recall(rel=2)", "context") == 0.0
    # contexts that were not reported are missing, not empty
    silent = score(known, trace(answer="x"), DOCS, "recall(rel=2)", "fact_coverage")
    assert (row(silent, "recall(rel=2)", "context").status, row(silent, "recall(rel=2)", "context").reason) == (
        "missing", "no_context",
    )  # fmt: skip
    assert fate(silent, "f1") == ("unknown", ())


def test_context_and_assemble_that_differ_are_an_error() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10),), facts=(fact("f1", ("e1",)),))
    seen = trace(step("assemble", "assemble", [OTHER], ()), context=[FIRST])
    got = score(known, seen, DOCS, "recall(rel=2)", "context_recall", "unique_parents")
    for measure in ("recall(rel=2)", "context_recall(rel=2)", "unique_parents"):
        found = row(got, measure, "context")
        assert (found.status, found.reason) == ("error", "inconsistent_context")
    assert fate(got, "f1") == ("unknown", ())


def test_reported_input_may_be_a_part_and_what_is_cut_there_is_charged_to_the_step() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10),), facts=(fact("f1", ("e1",)),))
    seen = trace(
        step("bm25", "lexical", [OTHER, FIRST], ()),
        step("rerank", "rerank", [OTHER], ("bm25",), items_in=(OTHER,)),  # only looked at its first
        step("assemble", "assemble", [OTHER], ("rerank",)),
    )
    assert fate(score(known, seen, DOCS), "f1") == ("lost_whole", ("rerank",))


def test_a_step_that_says_nothing_is_transparent_and_an_empty_one_is_empty() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10),), facts=(fact("f1", ("e1",)),))
    silent = trace(
        step("bm25", "lexical", [FIRST], ()),
        step("guard", "guard", None, ("bm25",)),
        step("assemble", "assemble", [OTHER], ("guard",)),
    )
    got = score(known, silent, DOCS, "recall(rel=2)")
    assert fate(got, "f1") == ("lost_whole", ("assemble",))
    assert row(got, "recall(rel=2)", "guard").reason == "no_items_out"
    empty = trace(
        step("bm25", "lexical", [FIRST], ()),
        step("guard", "guard", [], ("bm25",)),
        step("assemble", "assemble", [], ("guard",)),
    )
    got = score(known, empty, DOCS, "recall(rel=2)")
    assert fate(got, "f1") == ("lost_whole", ("guard",))
    assert number(got, "recall(rel=2)", "guard") == 0.0


def test_unknown_on_the_way_is_between_two_steps() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10),), facts=(fact("f1", ("e1",)),))
    seen = trace(
        step("bm25", "lexical", [FIRST], ()),
        step("dedup", "dedup", [loose("rewritten")], ("bm25",)),  # may hold it, may not
        step("assemble", "assemble", [OTHER], ("dedup",)),
    )
    got = score(known, seen, DOCS)
    assert fate(got, "f1") == ("between", ("dedup", "assemble"))
    found = row(got, "fact_coverage", "dedup")
    assert (found.status, found.reason) == ("missing", "unknown_items")
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (0.0, 1.0)


def test_lost_at_two_steps_at_once_is_joint() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10),), facts=(fact("f1", ("e1",)),))
    seen = trace(
        step("bm25", "lexical", [FIRST], ()),
        step("dense", "vector", [FIRST], ()),
        step("cut", "rerank", [OTHER], ("bm25",)),
        step("rerank", "rerank", [OTHER], ("dense",)),
        step("fuse", "fuse", [OTHER], ("cut", "rerank")),
        step("assemble", "assemble", [OTHER], ("fuse",)),
    )
    assert fate(score(known, seen, DOCS), "f1") == ("lost_whole", ("cut", "rerank"))
