"""Questions copied from headings or from their evidence, and questions that hold their answer."""

from __future__ import annotations

import math
from typing import Any

TEXT = "# Retry behaviour after commit\n\nA publish that fails is retried.\n\n## Limits of the export queue ##\n\nTen."


def corpus(hands: Any) -> list[Any]:
    """Twenty documents in which function words are common and the words of one document are rare."""
    filler = [hands.doc(f"f{number}", f"what is the answer to the question of number {number}") for number in range(19)]
    return [hands.doc("d", TEXT, title="Publish recovery guide"), *filler]


def test_questions_that_repeat_a_heading_a_title_or_the_text(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("heading", "What is the retry behaviour after commit?", hands.label("d")),
            hands.case("closing", "limits of the export queue", hands.label("d")),
            hands.case("title", "Is the publish recovery guide the answer?", hands.label("d")),
            hands.case("text", "publish that fails is retried", hands.label("d")),
            hands.case("free", "Will a failed upload be sent again?", hands.label("d")),
            hands.case("elsewhere", "What is the retry behaviour after commit now?", hands.label("f1")),
            hands.case("low", "What of the retry behaviour after commit?", hands.label("d", grade=1)),
        ],
        corpus(hands),
    )
    shown = {name: place for name, _, place in (one.partition(" ") for one in hands.places(found, "copied"))}
    assert shown.keys() == {"heading", "closing", "title", "text"}
    assert "Retry behaviour after commit" in shown["heading"]
    assert shown["text"] == "(text of d)"
    assert found.easy == 4


def test_the_share_is_weighed_as_bm25_weighs_words(hands: Any) -> None:
    """Two documents; `the` is in both, `cat` and `sat` in one, `why` in none."""
    documents = [hands.doc("d", "the cat sat", title="The cat sat"), hands.doc("e", "the")]
    common, rare, absent = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5), math.log(1 + 2.5 / 0.5)
    share = (common + 2 * rare) / (common + 2 * rare + absent)
    assert 0.46 < share < 0.47
    from ragassay.benchmark.check import Limits

    cases = [hands.case("a", "Why the cat sat", hands.label("d"))]
    assert hands.run(cases, documents, limits=Limits(heading=share - 1e-9)).easy == 1
    assert hands.run(cases, documents, limits=Limits(heading=share + 1e-9)).easy == 0


def test_strata_are_shown_with_and_without_the_copied(hands: Any) -> None:
    found = hands.run(
        [
            hands.case(
                "heading", "What is the retry behaviour after commit?", hands.label("d"), slice=["language=en", "x"]
            ),
            hands.case(
                "free", "Will a failed upload be sent again?", hands.label("d"), slice=["language=en"], risk="low"
            ),
            hands.case("no", "Who is the queen?", evidence=[], answerable="no"),
        ],
        corpus(hands),
    )
    rows = {(one.dimension, one.value): (one.cases, one.easy, one.without) for one in found.strata}
    assert rows["class", "answerable"] == (2, 1, 1)
    assert rows["class", "unanswerable"] == (1, 0, 1)
    assert rows["slice language", "en"] == (2, 1, 1)
    assert rows["slice", "x"] == (1, 1, 0)
    assert rows["risk", "low"] == (1, 0, 1)
    assert rows["risk", "not stated"] == (2, 1, 1)
    assert "derived:lexical=copied" in found.derived["heading"]
    assert "derived:lexical=free" in found.derived["free"]
    assert not any("lexical" in one for one in found.derived["no"])


def test_a_question_that_holds_its_answer_as_whole_words(hands: Any) -> None:
    def answers(*texts: str) -> dict[str, Any]:
        return {"answers": [{"text": text} for text in texts]}

    found = hands.run(
        [
            hands.case("held", "Who directed the film Batman Forever?", **answers("Joel S.", "batman, forever")),
            hands.case("part", "Is Batmanesque a word?", **answers("Batman")),
            hands.case("yes", "Yes or no, is it on?", **answers("yes")),
            hands.case("short", "Is it 5 or 6?", **answers("5")),
            hands.case("other", "Who?", **answers("Ann")),
            hands.case("owner", "Who was England’s king?", **answers("England")),
            hands.case("signs", "Really?!", **answers("?!")),
        ]
    )
    assert hands.places(found, "answer_in_question") == ["held (batman, forever)", "owner (England)"]
