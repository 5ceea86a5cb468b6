"""Questions that are there twice, in one benchmark and across two, each counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

NEAR = ("How many exports does the free plan allow each month?", "How many export does the free plan allow each month?")


def test_the_same_words_are_found_whatever_their_case_signs_and_spaces(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("a", "Who plays Marty's girlfriend?"),
            hands.case("b", "who play's  martys girlfriend"),
            hands.case("c", "ＷＨＯ plays Marty’s girlfriend ?"),
            hands.case("d", "Who plays Biff?"),
        ]
    )
    assert hands.places(found, "duplicate") == ["a ~ b", "b ~ a", "c ~ a"]
    assert hands.levels(found)["duplicate"] == ("wrong", 3)
    assert "near_duplicate" not in hands.levels(found)


ANN = {"id": "ann", "tenants": ["acme"]}
AFTER = {"id": "c1", "turn": 2, "history": [{"role": "user", "text": "The free plan?"}]}
ELSEWHERE = {"id": "c2", "turn": 2, "history": [{"role": "user", "text": "The paid plan?"}]}
SAME_HISTORY = {"id": "c3", "turn": 2, "history": [{"role": "user", "text": "the FREE plan"}]}


@pytest.mark.parametrize(
    ("one", "other", "duplicate"),
    [
        ({}, {}, True),
        ({"principal": ANN}, {"principal": ANN}, True),
        ({"principal": ANN}, {}, False),
        ({"principal": ANN}, {"principal": ANN | {"tenants": ["other"]}}, False),
        ({"conversation": AFTER}, {"conversation": ELSEWHERE}, False),
        ({"conversation": AFTER}, {"conversation": SAME_HISTORY}, True),
        ({"valid_until": "2026-01-01T00:00:00Z"}, {"valid_from": "2026-01-01T00:00:00Z"}, False),
        ({"slice": ["x"]}, {"slice": ["y"], "risk": "low"}, True),
    ],
)
def test_another_asker_history_or_time_makes_another_question(
    hands: Any, one: dict[str, Any], other: dict[str, Any], duplicate: bool
) -> None:
    for words in (("How much is it for a year?",) * 2, NEAR):
        found = hands.levels(hands.run([hands.case("a", words[0], **one), hands.case("b", words[1], **other)]))
        assert bool({"duplicate", "near_duplicate"} & found.keys()) is duplicate


def test_nearly_equal_questions_are_suspects_and_declared_paraphrases_are_not(hands: Any) -> None:
    found = hands.run(
        [hands.case("a", NEAR[0]), hands.case("b", NEAR[1]), hands.case("c", "What is the capital of Peru?")]
    )
    assert [one.rpartition(" ")[0] for one in hands.places(found, "near_duplicate")] == ["a ~ b"]
    declared = hands.run([hands.case("a", NEAR[0]), hands.case("b", NEAR[1], paraphrase_of="a")])
    assert "near_duplicate" not in hands.levels(declared)


def test_of_nearly_equal_questions_those_with_opposite_answerability_are_marked(hands: Any) -> None:
    no = {"evidence": [], "answerable": "no"}
    opposed = hands.run([hands.case("a", NEAR[0]), hands.case("b", NEAR[1], **no)])
    assert hands.places(opposed, "near_duplicate")[0].endswith(", only one answerable)")
    agreed = hands.run([hands.case("a", NEAR[0], **no), hands.case("b", NEAR[1], **no)])
    assert "answerable" not in hands.places(agreed, "near_duplicate")[0]


def test_a_changed_name_is_another_question(hands: Any) -> None:
    found = hands.run([
        hands.case("a", "What is the capital of France?"), hands.case("b", "What is the capital of Finland?")
    ])  # fmt: skip
    assert "near_duplicate" not in hands.levels(found)


def test_a_paraphrase_in_the_same_words_is_none(hands: Any) -> None:
    found = hands.run([hands.case("a", "How much?"), hands.case("b", "how much", paraphrase_of="a")])
    assert hands.places(found, "duplicate_declared") == ["a ~ b", "b ~ a"]
    assert "duplicate" not in hands.levels(found)


def test_a_paraphrase_of_a_paraphrase_falls_out_of_its_cluster(hands: Any) -> None:
    cases = [
        hands.case("a", "How much is a seat?"),
        hands.case("b", "What does one user cost?", paraphrase_of="a"),
        hands.case("c", "Which price has a licence?", paraphrase_of="b"),
    ]
    found = hands.run(cases)
    assert hands.places(found, "paraphrase_chain") == ["c ~ b"]
    assert found.clusters == len({case.cluster for case in cases}) == 2, (
        "this is why it is wrong: three are one question"
    )


def test_questions_of_dev_that_are_in_release(hands: Any) -> None:
    release = [
        hands.case("r1", "How much is a seat?"),
        hands.case("r2", NEAR[0]),
        hands.case("r3", "What does one user cost?", paraphrase_of="r1"),
        hands.case("r4", "Who may export?"),
    ]
    dev = [hands.case("r4", "how much is a seat"), hands.case("d2", NEAR[1]), hands.case("d3", "how much is a seat")]
    found = hands.run(release, dev=dev)
    assert hands.places(found, "leaked") == ["r1 ~ d3 [dev]"]
    assert [one.rpartition(" ")[0] for one in hands.places(found, "leaked_near")] == ["r2 ~ d2 [dev]"]
    assert hands.places(found, "group_split") == ["r3 ~ d3 [dev]"], "its original is in dev"
    assert "duplicate" not in hands.levels(found), "what dev holds twice is for a check of dev"
    assert found.against == "dev"
    assert found.cases == 4
    assert {one.code: one.questions for one in found.findings}["leaked"] == ("r1",)


def test_splits_declared_by_slice_in_one_benchmark(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("a", "How much is a seat?", slice=["split=dev"]),
            hands.case("b", "How much is a SEAT?", slice=["split=release"]),
            hands.case("c", "What does one user cost?", paraphrase_of="a", slice=["split=release"]),
            hands.case("d", "Who may export?", slice=["split=release"]),
        ]
    )
    assert hands.places(found, "leaked") == ["a ~ b [release]", "b ~ a [dev]"]
    assert hands.places(found, "group_split") == ["a ~ c [release]", "c ~ a [dev]"]
    assert "duplicate" not in hands.levels(found)


def test_contradictory_labels_of_the_same_question(hands: Any) -> None:
    documents = [hands.doc("x", "one two three"), hands.doc("y", "four")]
    same = "How much is a seat?"
    found = hands.run(
        [
            hands.case("yes", same, hands.label("x", 0, 3)),
            hands.case("no", same, evidence=[], answerable="no"),
            hands.case("low", same, hands.label("x", 0, 3, grade=1), hands.label("x", 4, 7, id="e2")),
            hands.case("else", same, hands.label("y", 0, 4)),
            hands.case("alone", "Who may export?", hands.label("y", 0, 4)),
        ],
        documents,
    )
    assert hands.places(found, "contradiction") == [
        "else ~ low (no relevant document in common)",
        "else ~ no (one is answerable, the other is not)",
        "low ~ else (no relevant document in common)",
        "low ~ no (one is answerable, the other is not)",
        "low ~ yes (one place is relevant in one and not in the other)",
        "no ~ else (one is answerable, the other is not)",
        "yes ~ else (no relevant document in common)",
        "yes ~ low (one place is relevant in one and not in the other)",
        "yes ~ no (one is answerable, the other is not)",
    ]
    assert hands.levels(found)["contradiction"][0] == "wrong"


def test_contradiction_between_declared_paraphrases_and_across_splits(hands: Any) -> None:
    documents = [hands.doc("x", "one"), hands.doc("y", "two")]
    first = hands.case("a", "How much is a seat?", hands.label("x"))
    other = hands.case("b", "What does one user cost?", hands.label("y"), paraphrase_of="a")
    found = hands.run([first, other], documents)
    assert hands.places(found, "contradiction") == [
        "a ~ b (no relevant document in common)", "b ~ a (no relevant document in common)"
    ]  # fmt: skip
    across = hands.run([first], documents, dev=[hands.case("z", "how much is a seat", evidence=[], answerable="no")])
    assert hands.places(across, "contradiction") == ["a ~ z [dev] (one is answerable, the other is not)"]
    agreeing = hands.run([first, hands.case("b", "What does it cost?", hands.label("x"), paraphrase_of="a")], documents)
    assert "contradiction" not in hands.levels(agreeing)


def test_partial_is_not_unanswerable_and_two_grades_in_one_case_are_no_contradiction(hands: Any) -> None:
    same, documents = "How much is a seat?", [hands.doc("x", "one")]
    partly = [hands.case("a", same, answerable="partial"), hands.case("b", same, evidence=[], answerable="no")]
    assert hands.levels(hands.run(partly))["contradiction"] == ("wrong", 2)
    both = (hands.label("x", 0, 3), hands.label("x", 0, 3, id="e2", grade=1))
    twins = hands.run([hands.case("a", same, *both), hands.case("b", same, *both)], documents)
    assert "contradiction" not in hands.levels(twins)


def test_questions_of_signs_only_are_compared_as_they_are(hands: Any) -> None:
    found = hands.run([hands.case("a", "?!"), hands.case("b", " ?! "), hands.case("c", "!!"), hands.case("d", "")])
    assert hands.places(found, "duplicate") == ["a ~ b", "b ~ a"]


def test_the_search_says_when_it_stops(hands: Any) -> None:
    from ragassay.benchmark.check import Limits

    cases = [hands.case(f"q{number}", f"How do I reset device {number} of the free plan?") for number in range(20)]
    stopped = hands.run(cases, limits=Limits(compared_pairs=10))
    assert hands.levels(stopped)["search_stopped"] == ("weak", 1)
    listed = hands.run(cases, limits=Limits(listed_pairs=7))
    assert hands.levels(listed)["near_duplicate"] == ("weak", 7)
    assert "search_stopped" in hands.levels(listed)
    assert "search_stopped" not in hands.levels(hands.run(cases))
