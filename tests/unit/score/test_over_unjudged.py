"""What a run's values could be if items that nobody judged had grades: by hand, and in the mean."""

from __future__ import annotations

import math

import pytest
from tests.unit.score.score_material import case, doc, ev, item, loose, one_estimate, row, scoring, step, trace

from ragassay.records.score import Observation
from ragassay.score import World, observe
from ragassay.score.estimates import estimate

DOCS = tuple(doc(name, f"{name}234567890") for name in "abc")
GOT = {name: item(name, 0, 10) for name in "abc"}
KNOWN = case(evidence=(ev("e1", "a", 0, 10, grade=2), ev("e2", "b", 0, 10, grade=3)))
MEASURES = (
    "recall(rel=2)@1", "recall(rel=2)@2", "precision(rel=2)@2", "rr(rel=2)", "ndcg", "judged@2",
    "recall(rel=2,unit=document)@2", "recall(list=condensed,rel=2)@1", "context_recall(rel=2)",
)  # fmt: skip


def ends(*names: str, complete: bool = False, known: bool = True) -> dict[str, tuple[float, float] | None]:
    """Ends of each measure at the step, of a list of these documents (`?`: an item of unknown content)."""
    found = [GOT[name] if name in GOT else loose(name) for name in names]
    seen = trace(step("s", "lexical", found, ()), context=found)
    world = World(DOCS, None, greatest=3, complete=complete)
    rows = observe(KNOWN if known else case(), seen, world, scoring(*MEASURES)).observations
    return {
        one.measure: None if one.unjudged is None else (one.unjudged.low, one.unjudged.high)
        for one in rows
        if one.step in ("s", "context") and one.measure in MEASURES and (one.step == "s" or "context" in one.measure)
    }


def test_by_hand() -> None:
    """c, which nobody judged, stands first, then a; b is not found. With c relevant there are three to find."""
    found = ends("c", "a")
    assert found["recall(rel=2)@1"] == (0.0, pytest.approx(1 / 3))
    assert found["recall(rel=2)@2"] == (0.5, pytest.approx(2 / 3))
    assert found["recall(rel=2,unit=document)@2"] == (0.5, pytest.approx(2 / 3))
    assert found["recall(list=condensed,rel=2)@1"] == (0.0, pytest.approx(1 / 3))
    assert found["context_recall(rel=2)"] == (0.5, pytest.approx(2 / 3))
    assert found["precision(rel=2)@2"] == (0.5, 1.0)
    assert found["rr(rel=2)"] == (0.5, 1.0)
    second, third = 1 / math.log2(3), 1 / 2
    every = []
    for grade in range(4):
        best = sorted((grade, 2, 3), reverse=True)
        every.append((grade + 2 * second) / (best[0] + best[1] * second + best[2] * third))
    assert found["ndcg"] == pytest.approx((min(every), max(every)))
    assert found["judged@2"] is None


def test_only_items_up_to_the_cut_off_are_given_grades() -> None:
    assert ends("a", "c")["recall(rel=2)@1"] is None
    assert ends("a", "c")["recall(rel=2)@2"] == (0.5, pytest.approx(2 / 3))


@pytest.mark.parametrize("how", [{"complete": True}, {"known": False}])
def test_none_where_every_document_was_judged_or_none_is_labelled(how: dict[str, bool]) -> None:
    assert set(ends("c", "a", **how).values()) == {None}


def test_what_an_item_holds_is_another_doubt() -> None:
    """An item of unknown content has bounds of its own, as before."""
    assert set(ends("?", "c", "a").values()) == {None}
    assert ends("c", "?")["recall(rel=2)@1"] == (0.0, pytest.approx(1 / 3))


def test_the_mean_over_the_scored_questions() -> None:
    """0.5, that could be 2/3, and 1: 0.75 to 5/6; a missing question stays out, a repeat counts within its own."""
    rows: list[Observation] = []
    for name, repeat, found in (("q1", 0, "ca"), ("q1", 1, "ab"), ("q2", 0, "ab"), ("q3", 0, "?")):
        items = [GOT[one] if one in GOT else loose(one) for one in found]
        seen = trace(step("s", "lexical", items, ()), query_id=name, repeat=repeat)
        known = case(name, evidence=KNOWN.evidence)
        rows += observe(known, seen, World(DOCS, None, greatest=3), scoring("recall(rel=2)@2")).observations
    cases = [case(name) for name in ("q1", "q2", "q3")]
    once = one_estimate(
        estimate([one for one in rows if one.repeat == 0], cases, scoring()),
        "recall(rel=2)@2",
        "s",
        aggregation="macro",
    )
    assert once.value == 0.75
    assert (once.unjudged.low, once.unjudged.high) == (0.75, pytest.approx(5 / 6))
    both = one_estimate(estimate(rows, cases, scoring()), "recall(rel=2)@2", "s", aggregation="macro")
    assert (both.unjudged.low, both.unjudged.high) == (0.875, pytest.approx((5 / 6 + 1) / 2))
    assert row([one for one in rows if one.query_id == "q2"], "recall(rel=2)@2", "s").unjudged is None
