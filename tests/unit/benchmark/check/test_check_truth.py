"""Answerability, missing labels, what the asker may see, and completeness, each counted by hand."""

from __future__ import annotations

from typing import Any

ANN = {"id": "ann", "tenants": ["acme"], "roles": ["clerk"]}


def test_unlabelled_and_passage_scope_are_counted_and_named(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("none", "one?"),
            hands.case("empty", "two?", evidence=[], answerable="no", answerability_scope="corpus"),
            hands.case("passage", "three?", hands.label("d", grade=0), answerable="no", answerability_scope="passage"),
            hands.case("unsaid", "four?", evidence=[], answerable="no"),
            hands.case("yes", "five?", hands.label("d"), answerability_scope="passage"),
        ],
        [hands.doc("d", "text")],
    )
    assert hands.places(found, "unlabelled") == ["none"]
    assert hands.places(found, "passage_scope") == ["passage"], "an answer found on a passage is an answer"
    assert hands.places(found, "scope_unstated") == ["unsaid"]
    assert hands.places(found, "answerable_without_evidence") == [], "unlabelled is not judged"
    counted = found.labelling
    assert (counted.labelled, counted.unlabelled, counted.truth_empty) == (2, 1, 2)
    assert (counted.labels, counted.coarse, counted.below_rel, counted.with_negatives) == (2, 2, 1, 1)
    assert (counted.documents, counted.documents_labelled, counted.one_relevant_document) == (1, 1, 1)


def test_labels_that_say_otherwise_than_the_answerability(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("no", "one?", hands.label("d"), answerable="no"),
            hands.case("weakly", "two?", hands.label("d", grade=1), answerable="no"),
            hands.case("yes", "three?", hands.label("d", grade=1)),
            hands.case("partial", "four?", evidence=[], answerable="partial"),
            hands.case("fine", "five?", hands.label("d", grade=2)),
        ],
        [hands.doc("d", "text")],
    )
    assert hands.places(found, "unanswerable_with_evidence") == ["no"]
    assert hands.places(found, "answerable_without_evidence") == ["partial", "yes"]


def test_an_asker_who_may_see_nothing(hands: Any) -> None:
    documents = [
        hands.doc("open", "x"),
        hands.doc("theirs", "x", tenants=("other",)),
        hands.doc("mine", "x", tenants=("acme",)),
        hands.doc("closed", "x", tenants=None),
    ]
    found = hands.run(
        [
            hands.case("sees", "1?", hands.label("mine"), hands.label("theirs", id="e2"), principal=ANN),
            hands.case("blind", "2?", hands.label("theirs"), principal=ANN),
            hands.case("closed", "3?", hands.label("closed"), principal=ANN),
            hands.case("low", "4?", hands.label("theirs"), hands.label("mine", id="e2", grade=1), principal=ANN),
            hands.case("meant", "5?", hands.label("theirs"), principal=ANN, **{"class": "cross_tenant"}),
            hands.case("denied", "6?", hands.label("theirs"), principal=ANN, expect=["denied"]),
            hands.case("nobody", "7?", hands.label("theirs")),
            hands.case("gone", "8?", hands.label("gone"), principal=ANN),
        ],
        documents,
    )
    assert hands.places(found, "nothing_visible") == ["blind", "closed", "low"]
    assert hands.levels(found)["nothing_visible"] == ("wrong", 3)
    assert hands.places(found, "nothing_visible_as_meant") == ["denied", "meant"]


def test_hidden_evidence_makes_no_unanswerable_case_contradict_itself(hands: Any) -> None:
    hidden = hands.case("a", "1?", hands.label("theirs"), principal=ANN, answerable="no")
    found = hands.run([hidden], [hands.doc("theirs", "x", tenants=("other",))])
    assert "unanswerable_with_evidence" not in hands.levels(found)


def test_missing_classes(hands: Any) -> None:
    found = hands.run([hands.case("a", "1?"), hands.case("b", "2?", evidence=[], answerable="no")])
    assert hands.places(found, "missing_class") == ["adversarial", "cross_tenant", "multi_hop"]
    every = ["answerable", "multi_hop", "unanswerable", "adversarial", "cross_tenant"]
    assert "missing_class" not in hands.levels(hands.run([hands.case(name, name, **{"class": name}) for name in every]))


def test_multi_hop_without_facts(hands: Any) -> None:
    facts = {"facts": [{"id": "f", "any_of": [["e1"]]}]}
    hop = {"class": "multi_hop"}
    found = hands.run(
        [hands.case("a", "1?", hands.label("d"), **hop), hands.case("b", "2?", hands.label("d"), **hop, **facts)],
        [hands.doc("d", "x")],
    )
    assert hands.places(found, "multi_hop_without_facts") == ["a"]


def test_complete_labels_are_held_to_their_word(hands: Any) -> None:
    documents = [hands.doc("x", "one"), hands.doc("y", "two"), hands.doc("z", "three")]
    cases = [
        hands.case("none", "first?"),
        hands.case("some", "second?", hands.label("x"), hands.label("y", id="e2", grade=0)),
        hands.case("all", "third?", hands.label("x"), *(hands.label(name, id=name, grade=0) for name in "yz")),
        hands.case("positives", "fourth?", hands.label("x")),
        hands.case("twin", "fourth", hands.label("z")),
    ]
    found = hands.run(cases, documents, completeness="complete")
    assert hands.places(found, "not_complete") == [
        "none (no labels)",
        "positives ~ twin (no relevant document in common)",
        "some (2 of 3 documents judged)",
        "twin ~ positives (no relevant document in common)",
    ]
    assert hands.levels(found)["not_complete"] == ("wrong", 4)
    assert "not_complete" not in hands.levels(hands.run(cases, documents, completeness="partial"))


def test_a_pool_holds_what_was_found_wanting(hands: Any) -> None:
    documents = [hands.doc("x", "one"), hands.doc("y", "two")]
    cases = [
        hands.case("both", "first?", hands.label("x"), hands.label("y", id="e2", grade=0)),
        hands.case("only", "second?", hands.label("x")),
        hands.case("none", "third?"),
    ]
    found = hands.run(cases, documents, completeness="pooled")
    assert hands.places(found, "pool_without_negatives") == ["only"]


def test_unknown_completeness_is_said_once(hands: Any) -> None:
    found = hands.run([hands.case("a", "1?"), hands.case("b", "2?")], completeness="unknown")
    assert hands.levels(found)["completeness_unknown"] == ("note", 1)
    assert "completeness_unknown" not in hands.levels(hands.run([hands.case("a", "1?")]))
