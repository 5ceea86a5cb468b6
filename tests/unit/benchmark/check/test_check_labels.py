"""Findings about single labels, each counted by hand."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_label_on_what_the_corpus_does_not_hold_is_wrong_only_if_it_is_relevant(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("a", "one?", hands.label("gone"), hands.label("d", id="e2")),
            hands.case("b", "two?", hands.label("d", version="9", grade=2), hands.label("away", id="e2", grade=1)),
        ],
        [hands.doc("d", "text")],
    )
    assert hands.places(found, "dangling") == ["a/e1 (gone)", "b/e1 (d)"]
    assert hands.places(found, "dangling_not_relevant") == ["b/e2 (away)"]
    assert hands.levels(found)["dangling"] == ("wrong", 2)
    assert hands.levels(found)["dangling_not_relevant"] == ("note", 1)
    assert next(one for one in found.findings if one.code == "dangling").questions == ("a", "b")


def test_a_fact_dangles_only_if_no_alternative_is_whole(hands: Any) -> None:
    evidence = [hands.label("d", id="here"), hands.label("gone", id="gone"), hands.label("d", id="low", grade=1)]
    facts = [
        {"id": "kept", "any_of": [["gone"], ["here"]]},
        {"id": "half", "any_of": [["gone", "here"]]},
        {"id": "weak", "any_of": [["low"], ["low", "here"]]},
        {"id": "strong", "any_of": [["low"], ["here"]]},
    ]
    found = hands.run([hands.case("a", "one?", *evidence, facts=facts)], [hands.doc("d", "text")])
    assert hands.places(found, "dangling_fact") == ["a/half"]
    assert hands.places(found, "fact_below_rel") == ["a/weak"]


def test_quotes_not_found_and_found_twice_are_told_apart(hands: Any) -> None:
    text = "The fee is 5 EUR.\nThe fee is due.  The END"
    labels = [
        hands.label("d", id="twice", quote="The fee"),
        hands.label("d", id="overlap", quote="aa"),
        hands.label("d", id="absent", quote="The rate"),
        hands.label("d", id="case", quote="the end"),
        hands.label("d", id="space", quote="EUR. The"),
        hands.label("d", id="whole"),
    ]
    found = hands.run([hands.case("a", "one?", *labels)], [hands.doc("d", f"{text} aaa")])
    assert hands.places(found, "quote_ambiguous") == ["a/overlap", "a/twice"]
    there = "(there but for white space or case)"
    assert hands.places(found, "quote_not_found") == ["a/absent", f"a/case {there}", f"a/space {there}"]
    assert hands.places(found, "document_only") == ["a/whole"], (
        "a label with a lost quote is named once, as a lost quote"
    )


def test_a_quote_with_its_span_is_not_looked_up_again(hands: Any) -> None:
    found = hands.run([hands.case("a", "one?", hands.label("d", 0, 2, quote="aa"))], [hands.doc("d", "aa aa")])
    assert "quote_ambiguous" not in hands.levels(found)


@pytest.mark.parametrize(("unit", "level"), [("span", "weak"), ("passage", "weak"), ("document", "note")])
def test_whole_documents_are_a_fault_unless_the_benchmark_declares_them(hands: Any, unit: str, level: str) -> None:
    cases = [hands.case("a", "one?", hands.label("d"), hands.label("d", id="low", grade=1))]
    found = hands.run(cases, [hands.doc("d", "text")], relevance_unit=unit)
    assert hands.levels(found)["document_only"] == (level, 1)


def test_a_whole_document_that_is_one_passage_flatters_nothing(hands: Any) -> None:
    small, large = hands.doc("small", "one two"), hands.doc("large", "one two three four")
    cases = [hands.case("a", "one?", hands.label("small"), hands.label("large", id="e2"))]
    passages = [*hands.cut(small, (0, 7)), *hands.cut(large, (0, 7), (8, 18))]
    found = hands.run(cases, [small, large], passages=passages)
    assert hands.places(found, "document_is_passage") == ["a/e1"]
    assert hands.places(found, "document_only") == ["a/e2"]


def test_a_relevant_document_without_text_is_named(hands: Any) -> None:
    cases = [hands.case("a", "one?", hands.label("empty"), hands.label("blank", id="e2"), hands.label("d", id="e3"))]
    found = hands.run(cases, [hands.doc("empty", ""), hands.doc("blank", " \n"), hands.doc("d", "x")])
    assert hands.places(found, "empty_document") == ["a/e1", "a/e2"]


def test_a_label_is_overlong_by_words_or_by_its_part_of_a_document_that_is_not_short(hands: Any) -> None:
    long = hands.doc("long", " ".join(["word"] * 1000))
    middle = hands.doc("middle", " ".join(["word"] * 100))
    short = hands.doc("short", " ".join(["word"] * 50))

    def words(number: int) -> int:
        return number * 5 - 1

    cases = [
        hands.case("a201", "one?", hands.label("long", 0, words(201))),
        hands.case("b200", "two?", hands.label("long", 0, words(200))),
        hands.case("c80", "three?", hands.label("middle", 0, words(80))),
        hands.case("d79", "four?", hands.label("middle", 0, words(79))),
        hands.case("e50", "five?", hands.label("short", 0, words(50))),
        hands.case("f201", "six?", hands.label("long", 0, words(201), grade=1)),
    ]
    found = hands.run(cases, [long, middle, short])
    assert hands.places(found, "overlong") == [
        "a201/e1 (201 words, 20% of the document)",
        "c80/e1 (80 words, 80% of the document)",
    ]


def test_what_passages_cut_and_what_they_drop(hands: Any) -> None:
    text = "aaaa bbbb  cccc dddd"
    one, other, dropped = hands.doc("d", text), hands.doc("other", "x y"), hands.doc("dropped", "zzz")
    cases = [
        hands.case("in", "one?", hands.label("d", 0, 9)),
        hands.case("spaced", "two?", hands.label("d", 5, 11)),  # "bbbb  ": the white space is in no passage
        hands.case("cut", "three?", hands.label("d", 0, 15)),
        hands.case("lost", "four?", hands.label("d", 11, 20)),  # dddd is in no passage
        hands.case("gone", "five?", hands.label("dropped")),
        hands.case("low", "six?", hands.label("d", 16, 20, grade=1)),
    ]
    found = hands.run(
        cases, [one, other, dropped], passages=[*hands.cut(one, (0, 9), (11, 15)), *hands.cut(other, (0, 3))]
    )
    assert hands.places(found, "divided") == ["cut/e1"]
    assert hands.places(found, "unreachable") == ["gone/e1", "lost/e1"]
    assert hands.levels(found)["unreachable"] == ("wrong", 2)
    without = hands.levels(hands.run(cases, [one, other, dropped]))
    assert not {"divided", "unreachable", "document_is_passage"} & without.keys()
