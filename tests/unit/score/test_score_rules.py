"""Single rules at their edges: which set of a fact is followed, what a passage carries, how wide bounds are."""

from __future__ import annotations

import math

import pytest
from tests.unit.score.score_material import case, doc, ev, fact, fate, item, loose, number, row, score, step, trace

from ragassay.records.document import Passage

A, B, C, D = (doc(name, f"{name}234567890") for name in "abcd")
DOCS = (A, B, C, D)
GOT = {name: item(name, 0, 10) for name in "abcd"}
EVIDENCE = tuple(ev(f"e{n}", name, 0, 10) for n, name in enumerate("abcd", 1))


def test_the_set_with_fewest_never_found_goes_before_the_one_with_fewest_missing() -> None:
    # {e1, e2}: e2 is in the context, e1 was never found: one missing. {e3, e4}: both lost on the way: two missing.
    known = case(evidence=EVIDENCE, facts=(fact("f", ("e1", "e2"), ("e3", "e4")),))
    seen = trace(
        step("bm25", "lexical", [GOT["c"], GOT["b"]], ()), step("cut", "rerank", [GOT["b"]], ("bm25",)),
        step("dense", "vector", [GOT["d"]], ()), step("guard", "guard", [], ("dense",)),
        step("assemble", "assemble", [GOT["b"]], ("cut", "guard")),
    )  # fmt: skip
    assert fate(score(known, seen, DOCS), "f") == ("lost_in_parts", ("cut", "guard"))


def test_of_two_sets_with_as_many_lost_the_one_with_fewer_missing_then_the_first_declared_is_followed() -> None:
    seen = trace(
        step("bm25", "lexical", [GOT["a"], GOT["b"]], ()), step("cut", "rerank", [GOT["b"]], ("bm25",)),
        step("dense", "vector", [GOT["c"], GOT["d"]], ()), step("guard", "guard", [GOT["d"]], ("dense",)),
        step("assemble", "assemble", [GOT["b"], GOT["d"]], ("cut", "guard")),
    )  # fmt: skip
    # {e1, e4} lacks e1 (cut), {e3, e2} lacks e3 (guard): one each, so the first declared.
    first = case(evidence=EVIDENCE, facts=(fact("f", ("e1", "e4"), ("e3", "e2")),))
    assert fate(score(first, seen, DOCS), "f") == ("lost_in_parts", ("cut",))
    second = case(evidence=EVIDENCE, facts=(fact("f", ("e3", "e2"), ("e1", "e4")),))
    assert fate(score(second, seen, DOCS), "f") == ("lost_in_parts", ("guard",))
    # {e1, e3} lacks two: the set with one missing goes first though it is declared last.
    third = case(evidence=EVIDENCE, facts=(fact("f", ("e1", "e3"), ("e3", "e2")),))
    assert fate(score(third, seen, DOCS), "f") == ("lost_in_parts", ("guard",))


@pytest.mark.parametrize("end, relevant", [(4, 2), (5, 1)])
def test_a_passage_carries_evidence_from_half_of_it_on(end: int, relevant: int) -> None:
    # Passages are 0 to 2 and 2 to 10 of `a`. Of 4 code points each has 2: both carry it. Of 5, 2 and 3: one does.
    cut = [
        Passage(passage_id=f"p{at}", text=A.text[at:to], transform="slice", sources=item("a", at, to).sources)
        for at, to in ((0, 2), (2, 10))
    ]
    known = case(evidence=(ev("e", "a", 0, end),))
    seen = trace(step("s", "lexical", [item("a", 2, 10)], ()))
    found = row(score(known, seen, DOCS, "recall(rel=2,unit=passage)", passages=cut), "recall(rel=2,unit=passage)", "s")
    assert (found.numerator, found.denominator) == (1.0, float(relevant))


def test_bounds_are_as_narrow_as_what_is_left() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10, grade=3), ev("e2", "b", 0, 10, grade=2)))
    seen = trace(step("s", "lexical", [GOT["a"], loose("?"), GOT["c"]], ()))
    got = score(known, seen, DOCS, "ndcg", "recall(rel=2)", "precision(rel=2)@3", "rr(rel=2)", "hit(rel=2)@1")
    ideal = 3 + 2 / math.log2(3)
    bounds = {one.measure: one.bounds for one in got.observations if one.step == "s" and one.bounds}
    # e1 is held for certain; the unknown item may hold e2 at rank 2, which is the ideal order.
    assert (bounds["ndcg"].low, bounds["ndcg"].high) == (pytest.approx(3 / ideal), pytest.approx(1.0))
    assert (bounds["recall(rel=2)"].low, bounds["recall(rel=2)"].high) == (0.5, 1.0)
    assert (bounds["precision(rel=2)@3"].low, bounds["precision(rel=2)@3"].high) == (
        pytest.approx(1 / 3), pytest.approx(2 / 3),
    )  # fmt: skip
    # What the unknown item cannot change is a value.
    assert number(got, "rr(rel=2)", "s") == 1.0
    assert number(got, "hit(rel=2)@1", "s") == 1.0


def test_grade_1_counts_for_ndcg_and_not_for_recall_at_rel_2() -> None:
    known = case(evidence=(ev("e1", "a", 0, 10, grade=1), ev("e2", "b", 0, 10, grade=2)))
    seen = trace(step("s", "lexical", [GOT["a"]], ()))
    got = score(known, seen, DOCS, "ndcg", "recall(rel=2)", "recall(rel=1)")
    assert number(got, "ndcg", "s") == pytest.approx(1 / (2 + 1 / math.log2(3)), abs=1e-12)
    assert (number(got, "recall(rel=2)", "s"), number(got, "recall(rel=1)", "s")) == (0.0, 0.5)


def test_an_item_that_completes_evidence_gains_it_and_one_that_repeats_it_does_not() -> None:
    known = case(evidence=(ev("e", "a", 0, 10, grade=3),))
    halves = [item("a", 0, 5), item("a", 5, 10), item("a", 0, 10)]
    got = score(known, trace(step("s", "lexical", halves, ())), DOCS, "rr(rel=2)", "precision(rel=2)@3", "judged@3")
    assert number(got, "rr(rel=2)", "s") == 0.5  # complete at rank 2
    assert number(got, "precision(rel=2)@3", "s") == pytest.approx(1 / 3, abs=1e-12)
    assert number(got, "judged@3", "s") == 1.0  # all three carry a part of a label


def test_derived_items_are_unknown_for_spans_and_held_for_documents() -> None:
    summary = item("a", 0, 10, transform="derived")
    known = case(evidence=(ev("e1", "a", 0, 10), ev("e2", "a")), facts=(fact("f1", ("e1",)), fact("f2", ("e2",))))
    got = score(known, trace(step("s", "lexical", [summary], ())), DOCS)
    assert row(got, "fact_coverage", "s", "f1").reason == "unknown_items"
    assert row(got, "fact_coverage", "s", "f2").value == 1.0
    assert row(got, "fact_coverage", "s").coarse
