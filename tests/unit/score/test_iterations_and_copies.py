"""Iterations listed apart, steps that say nothing, equal labels and items: each counted on paper.

Every test here failed once: a second scorer, written from the rules alone, had another value.
"""

from __future__ import annotations

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
    whole,
)

from ragassay.records.canonical import digest_text
from ragassay.records.document import Passage, Span
from ragassay.records.trace import Item

DOCS = [doc("a", "0123456789"), doc("b", "one two three"), doc("copy of b", "one two three")]
FIRST, SECOND = item("a", 0, 5), item("a", 5, 10)
HALVES = case(evidence=(ev("e1", "a", 0, 5), ev("e2", "a", 5, 10)), facts=(fact("f", ("e1", "e2")),))


def test_iterations_are_united_by_default_and_listed_apart() -> None:
    """An agent searches three times: nothing, the first half, both. United: both."""
    searches = [
        step("search", "lexical", out, (), step_id=f"s{n}", iteration=n)
        for n, out in enumerate(([], [FIRST], [SECOND, FIRST]), 1)
    ]
    got = score(HALVES, trace(*searches), DOCS, "recall(rel=2)", "rr(rel=2)", "fact_coverage")
    recall = [number(got, "recall(rel=2)", f"search{which}") for which in ("", "#1", "#2", "#3")]
    assert recall == [1.0, 0.0, 0.5, 1.0]
    assert [number(got, "fact_coverage", f"search{which}") for which in ("", "#1", "#2", "#3")] == [1, 0, 0, 1]
    single = score(HALVES, trace(searches[1]), DOCS, "recall(rel=2)")
    assert {one.step for one in single.observations if one.measure == "recall(rel=2)"} == {"search", "context"}


def test_steps_of_one_iteration_are_one_and_undeclared_ones_are_counted() -> None:
    both = [step("s", "lexical", [one], (), step_id=name, iteration=1) for name, one in (("x", FIRST), ("y", SECOND))]
    later = step("s", "lexical", [], (), step_id="z", iteration=2)
    got = score(HALVES, trace(*both, later), DOCS, "recall(rel=2)")
    assert (number(got, "recall(rel=2)", "s#1"), number(got, "recall(rel=2)", "s#2")) == (1.0, 0.0)
    bare = [step("s", "lexical", [one], (), step_id=name) for name, one in (("x", FIRST), ("y", SECOND))]
    got = score(HALVES, trace(*bare), DOCS, "recall(rel=2)")
    assert (number(got, "recall(rel=2)", "s#1"), number(got, "recall(rel=2)", "s#2")) == (0.5, 0.5)


def test_one_silent_search_of_three_leaves_their_union_missing() -> None:
    searches = [step("s", "lexical", out, (), step_id=str(n), iteration=n) for n, out in enumerate(([FIRST], None), 1)]
    got = score(HALVES, trace(*searches), DOCS, "recall(rel=2)", "fact_coverage")
    assert (row(got, "recall(rel=2)", "s").status, row(got, "recall(rel=2)", "s").reason) == ("missing", "no_items_out")
    assert number(got, "recall(rel=2)", "s#1") == 0.5
    assert row(got, "recall(rel=2)", "s#2").status == "missing"


def test_a_silent_step_is_missing_only_where_it_could_have_had_a_value() -> None:
    silent = trace(step("s", "lexical", None, ()), step("d", "dedup", None, ("s",)))
    nothing = case(evidence=(ev("e", "a", 0, 5, grade=0),))
    got = score(nothing, silent, DOCS, "recall(rel=2)", "fact_coverage", "context_precision(rel=2)", "dedup_coverage")
    assert row(got, "recall(rel=2)", "s").reason == "nothing_relevant"
    assert row(got, "recall(rel=2)", "context").reason == "nothing_relevant"
    assert row(got, "fact_coverage", "s").reason == "no_facts"
    assert row(got, "context_precision(rel=2)", "context").reason == "nothing_relevant"
    assert row(got, "dedup_coverage", "d").reason == "no_facts"
    asked = score(HALVES, silent, DOCS, "dedup_coverage")
    assert (row(asked, "dedup_coverage", "d").status, row(asked, "dedup_coverage", "d").reason) == (
        "missing",
        "no_items_out",
    )


def test_two_labels_on_one_place_are_one_piece_of_evidence() -> None:
    """Labels on b and on its copy are one, with the better grade: 1 of 2, not 2 of 3; ndcg 3 / (3 + 2 / log2 3)."""
    known = case(evidence=(ev("e1", "b", grade=3), ev("e2", "copy of b", grade=2), ev("e3", "a", grade=2)))
    got = score(known, trace(step("s", "lexical", [whole("copy of b")], ())), DOCS, "recall(rel=2)", "ndcg")
    found = row(got, "recall(rel=2)", "s")
    assert (found.numerator, found.denominator, found.value) == (1, 2, 0.5)
    assert abs((number(got, "ndcg", "s") or 0) - 3 / (3 + 2 / 1.584962500721156)) < 1e-12


def test_a_reranker_that_drops_everything_is_where_the_fact_was_lost() -> None:
    known = case(evidence=(ev("e", "a", 0, 5),), facts=(fact("f", ("e",)),))
    seen = trace(step("s", "lexical", [FIRST]), step("rerank", "rerank", []), context=[])
    assert fate(score(known, seen, DOCS), "f") == ("lost_whole", ("rerank",))


def test_inferred_parents_do_not_hang_on_the_order_of_items() -> None:
    known = case(evidence=(ev("e", "a", 0, 5),), facts=(fact("f", ("e",)),))
    first, other = step("x", "lexical", [SECOND, FIRST]), item("b", 0, 3)
    for out in ([SECOND, other], [other, SECOND]):
        seen = trace(step("w", "lexical", [other, SECOND]), first, step("r", "rerank", []), step("z", "assemble", out))
        assert fate(score(known, seen, DOCS), "f") == ("lost_whole", ("z",))


def test_a_summary_or_a_whole_document_further_up_does_not_hide_the_slice() -> None:
    known = case(evidence=(ev("e", "a", 0, 10),), facts=(fact("f", ("e",)),))
    every = item("a", 0, 10)
    for above in (item("a", 0, 10, transform="derived"), whole("a")):
        got = score(known, trace(step("s", "lexical", [above, every], ())), DOCS, "fact_coverage", "recall(rel=2)@2")
        assert number(got, "fact_coverage", "s") == 1.0
        assert number(got, "recall(rel=2)@2", "s") == 1.0


def test_a_rewritten_passage_is_not_the_passage() -> None:
    place = Span(document_id="a", version="1", start=0, end=10)
    cut = [Passage(passage_id="p", text="0123456789", sources=(place,), transform="slice")]
    known = case(evidence=(ev("e", "a", 0, 10),))
    seen = trace(step("s", "lexical", [item("a", 0, 10, transform="derived")], ()))
    got = row(score(known, seen, DOCS, "recall(rel=2,unit=passage)", passages=cut), "recall(rel=2,unit=passage)", "s")
    assert got.status == "missing"
    assert got.bounds is not None
    assert (got.bounds.low, got.bounds.high) == (0.0, 1.0)


def test_a_text_that_nobody_reported_has_no_number_of_tokens() -> None:
    silent = Item(item_id="x", rank=1, resolution="unresolved", transform="derived")
    nothing = Item(item_id="y", rank=1, resolution="unresolved", transform="derived", text_digest=digest_text(""))
    told = score(HALVES, trace(context=[silent]), DOCS, "context_tokens")
    assert row(told, "context_tokens", "context").status == "missing"
    assert number(score(HALVES, trace(context=[nothing]), DOCS, "context_tokens"), "context_tokens", "context") == 0.0


def test_overlap_is_not_known_where_only_unknown_items_have_text() -> None:
    seen = trace(context=[item("a", 3, 3), loose("something")])
    got = row(score(HALVES, seen, DOCS, "overlap_ratio"), "overlap_ratio", "context")
    assert (got.status, got.bounds is not None) == ("missing", True)


def test_steps_that_name_different_copies_hand_on_one_item() -> None:
    known = case(evidence=(ev("e", "b"),), facts=(fact("f", ("e",)),))
    one, other = item("b", 0, 13), item("copy of b", 0, 13)
    seen = trace(step("s", "lexical", [one]), step("z", "assemble", [other]), context=[one])
    got = score(known, seen, DOCS, "recall(rel=2)", "context_recall(rel=2)", "unexplained_items")
    assert number(got, "context_recall(rel=2)", "context") == 1.0
    assert number(got, "unexplained_items", "z") == 0.0
    assert fate(got, "f") == ("held", ())


def test_visible_labels_below_the_benchmarks_grade_count_for_a_measure_that_asks_for_less() -> None:
    from ragassay.records.case import Principal

    hidden = doc("secret", "0123456789", tenants=("t2",))
    known = case(evidence=(ev("e1", "a", 0, 5, grade=1), ev("e2", "secret", 0, 5, grade=3)),
                 principal=Principal(id="u", tenants=("t1",)))  # fmt: skip
    seen = trace(step("s", "lexical", [FIRST], ()))
    got = score(known, seen, [*DOCS, hidden], "recall(rel=1)", "recall(rel=2)", "judged@1")
    assert number(got, "recall(rel=1)", "s") == 1.0
    assert row(got, "recall(rel=2)", "s").reason == "all_hidden"
    assert number(got, "judged@1", "s") == 1.0
