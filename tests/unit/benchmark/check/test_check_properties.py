"""Order changes nothing, and one more case takes nobody off a list."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

QUERIES = st.sampled_from([
    "How many exports does the free plan allow each month?",
    "How many export does the free plan allow each month?",
    "how many exports does the FREE plan allow each month",
    "Retry behaviour after commit",
    "Who may not export?",
    "¿Quién?",
    "",
    "?!",
])  # fmt: skip
LABELS = st.lists(
    st.fixed_dictionaries(
        {
            "document": st.sampled_from(["x", "y", "empty", "theirs", "gone"]),
            "grade": st.integers(0, 3),
            "place": st.sampled_from([None, (0, 3), (4, 9)]),
        }
    ),
    max_size=3,
)
CASES = st.lists(
    st.fixed_dictionaries(
        {
            "query": QUERIES,
            "labels": st.none() | LABELS,
            "no": st.booleans(),
            "asker": st.sampled_from([None, {"id": "ann", "tenants": ["acme"]}]),
            "parent": st.none() | st.integers(0, 6),
            "side": st.sampled_from([[], ["split=dev"], ["split=release"], ["long-tail"]]),
            "foreign": st.booleans(),
        }
    ),
    min_size=1,
    max_size=7,
)


def documents(hands: Any) -> list[Any]:
    return [
        hands.doc("x", "aaa bbbbb ccc", title="Retry behaviour after commit", metadata={"type": "faq"}),
        hands.doc("y", "aaa bbbbb"),
        hands.doc("empty", ""),
        hands.doc("theirs", "aaa bbbbb", tenants=("other",)),
    ]


def made(hands: Any, drawn: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    own: list[Any] = []
    foreign: list[Any] = []
    for number, one in enumerate(drawn):
        more: dict[str, Any] = {"slice": one["side"], "answerable": "no" if one["no"] else "yes"}
        if one["labels"] is not None:
            more["evidence"] = [
                hands.label(
                    each["document"],
                    *(each["place"] or () if each["document"] in ("x", "y", "theirs") else ()),
                    id=f"e{at}",
                    grade=each["grade"],
                )
                for at, each in enumerate(one["labels"])
            ]
        if one["asker"]:
            more["principal"] = one["asker"]
        if one["parent"] is not None and one["parent"] < number and drawn[one["parent"]]["foreign"] == one["foreign"]:
            more["paraphrase_of"] = f"q{one['parent']}"
        (foreign if one["foreign"] else own).append(hands.case(f"q{number}", one["query"], **more))
    return own, foreign


@given(CASES, st.randoms(use_true_random=False))
def test_the_order_of_cases_documents_and_passages_changes_nothing(
    hands: Any, drawn: list[dict[str, Any]], chance: random.Random
) -> None:
    own, foreign = made(hands, drawn)
    known = documents(hands)
    passages = [*hands.cut(known[0], (0, 3), (4, 9)), *hands.cut(known[1], (0, 9))]
    first = hands.run(own, known, passages=passages, dev=foreign)
    for each in (own, foreign, known, passages):
        chance.shuffle(each)
    assert hands.run(own, known, passages=passages, dev=foreign) == first


PERSONAL = {"missing_class", "missing_slice", "completeness_unknown"}
"""Findings about what is not there at all: a further case may be what was missing."""


@given(CASES)
def test_a_further_case_takes_no_question_off_a_list(hands: Any, drawn: list[dict[str, Any]]) -> None:
    for completeness in ("complete", "pooled"):
        before, foreign = made(hands, drawn[:-1])
        after, later = made(hands, drawn)
        if not before:
            continue
        fewer = hands.run(before, documents(hands), dev=foreign, completeness=completeness)
        more = {
            one.code: set(one.questions)
            for one in hands.run(after, documents(hands), dev=later, completeness=completeness).findings
        }
        for one in fewer.findings:
            if one.code in PERSONAL:
                continue
            kept = set(one.questions) - more.get(one.code, set())
            if one.code == "duplicate_declared":
                kept -= more.get("duplicate", set())  # a stranger with the same words is the graver finding
            assert not kept, one.code


@given(CASES)
def test_counts_add_up_and_every_name_is_a_case(hands: Any, drawn: list[dict[str, Any]]) -> None:
    own, foreign = made(hands, drawn)
    if not own:
        return
    found = hands.run(own, documents(hands), dev=foreign)
    names = {one.query_id for one in own}
    for one in found.findings:
        assert set(one.questions) <= names
        assert one.count == len(one.places) or not one.places
        assert one.why
        assert one.do
    for dimension in ("class", "answerable", "risk", "principal"):
        assert sum(one.cases for one in found.strata if one.dimension == dimension) == len(own)
        assert sum(one.easy for one in found.strata if one.dimension == dimension) == found.easy
    assert found.derived.keys() == names
    counted = found.labelling
    assert counted.labelled + counted.unlabelled + counted.truth_empty == len(own)
    assert counted.spans + counted.coarse == counted.labels
