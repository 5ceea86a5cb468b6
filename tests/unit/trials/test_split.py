"""Questions for development are told from those of the release split, or nothing is asked."""

from __future__ import annotations

import pytest

from ragassay.errors import UsageError
from ragassay.records.base import QueryId
from ragassay.records.case import Case, Conversation, Turn
from ragassay.trials.split import kind_of_name, split_of


def cases(*slices: tuple[str, ...]) -> list[Case]:
    return [Case(query_id=QueryId(f"q{n}"), query=f"Which is number {n}?", slice=one) for n, one in enumerate(slices)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("clapnq-dev", "dev"), ("musique_validation", "dev"), ("Train.v2", "dev"),
        ("faq-release", "release"), ("held-out 2026", "release"), ("test", "release"), ("dev-test", "release"),
        ("devices", None), ("contest", None), ("benchmark", None), ("latest", None),
        ("faqTest", "release"), ("FAQ_Tests2", "release"), ("test2026", "release"), ("HeldOutSet", "release"),
        ("\uff54\uff45\uff53\uff54", "release"), ("faq-te\u200bst", "release"), ("TEST", "release"), ("DevSet", "dev"),
    ],
)  # fmt: skip
def test_names(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


def test_slices_go_first_and_only_questions_for_development_are_left() -> None:
    found = split_of("x-release", cases(("split=dev",), ("split=release",), ("split=dev", "language=de"), ()))
    assert (found.queries, found.left_out) == ({"q0", "q2"}, 2)
    declared = split_of("x", cases(("split=dev",), ("split=release",), ()), declared="dev")
    assert (declared.queries, declared.left_out) == ({"q0", "q2"}, 1)


@pytest.mark.parametrize("declared", [None, "dev"])
def test_the_release_split_is_refused_whatever_is_declared(declared: str | None) -> None:
    for name, of_settings, slices in (
        ("faq-release", None, ((), ())),
        ("faq", "test", ((), ())),
        ("faq", None, (("split=release",), ("split=test",))),
        ("faq-dev", None, (("split=release",), ())),
    ):
        if declared and slices[-1] == () and slices[0]:
            continue  # there is a question that nobody labelled, and it is declared to be for development
        with pytest.raises(UsageError) as caught:
            split_of(name, cases(*slices), of_settings=of_settings, declared=declared)
        assert "release" in caught.value.message + caught.value.hint
        assert caught.value.field == "split"


@pytest.mark.parametrize(
    "words",
    ["split=Release", "SPLIT = test", "Split:release", "split=test-2026", "subset=test", "set=held-out",
     "partition=holdout", "fold=Test2", "test", "Held-Out", "release"],
)  # fmt: skip
def test_a_label_is_a_label_however_it_is_written(words: str) -> None:
    with pytest.raises(UsageError, match="no question"):
        split_of("faq-dev", cases((words,), (words, "language=de")), declared="dev")
    assert split_of("faq", cases((words,), ("split=dev",), ()), declared="dev").queries == {"q1", "q2"}


def test_slices_about_other_matters_are_no_labels() -> None:
    for words in ("topic=release", "set=A", "training", "language=de", "fold=3", "test=blood", "testing-methods"):
        assert split_of("faq", cases((words,)), declared="dev").by == "the experiment's file", words
    assert split_of("faq", cases(("split=dev", "release"))).queries == {"q0"}, "a topic, where the split is said"


def test_files_and_ids_say_release_whatever_the_name_is() -> None:
    for files in (["faq/test.jsonl"], ["topics.tsv", "qrels/faqTest.tsv"], ["Release.csv"]):
        with pytest.raises(UsageError, match="the name of the file"):
            split_of("faq-dev", cases((), ()), files=files, declared="dev")
    assert split_of("faq", cases(()), files=["tests/fixtures/dev.jsonl"]).by == "the name of the file 'dev.jsonl'"
    assert split_of("faq-dev", cases(()), files=["latest.jsonl"]).by == "the name of benchmark 'faq-dev'"
    ids = [Case(query_id=QueryId(one), query="?") for one in ("test-1", "Test_2", "held-out 3")]
    with pytest.raises(UsageError, match="every id"):
        split_of("faq", ids, declared="dev")
    assert split_of("faq", [*ids, *cases(())], declared="dev").by == "the experiment's file"


def test_neither_conversations_nor_paraphrases_stand_on_both_sides() -> None:
    first = Case(query_id=QueryId("q0"), query="?", slice=("split=release",))
    second = Case(query_id=QueryId("q1"), query="?!", slice=("split=dev",), paraphrase_of=first.query_id)
    with pytest.raises(UsageError, match="paraphrase"):
        split_of("faq", [first, second])
    assert split_of("faq", [first, *cases((), ("split=dev",))[1:]]).queries == {"q1"}


def test_the_same_words_do_not_stand_on_both_sides_but_short_turns_of_conversations_may() -> None:
    def turn(name: str, query: str, split: str, before: str) -> Case:
        history = (Turn(role="user", text=before),)
        return Case(query_id=QueryId(name), query=query, slice=(f"split={split}",),
                    conversation=Conversation(id=name, turn=2, history=history))  # fmt: skip

    for first, second, same in (
        (("Where does the falcon rest?", "Birds."), ("where does the FALCON  rest", "Animals?"), True),
        (("And why?", "Birds."), ("and why", "birds"), True),
        (("And why?", "Birds."), ("And why?", "Stones."), False),
    ):
        both = [turn("q0", first[0], "release", first[1]), turn("q1", second[0], "dev", second[1])]
        if not same:
            assert split_of("faq", both).queries == {"q1"}
            continue
        with pytest.raises(UsageError, match="the same words"):
            split_of("faq", both)


def test_a_question_with_both_slices_is_not_for_development() -> None:
    with pytest.raises(UsageError):
        split_of("x-dev", cases(("split=dev", "split=release")), declared="dev")


def test_unlabelled_questions_are_refused_until_somebody_says_so() -> None:
    with pytest.raises(UsageError, match="nobody says"):
        split_of("faq", cases((), ()))
    assert split_of("faq", cases((), ()), declared="dev").by == "the experiment's file"
    assert split_of("faq", cases(()), of_settings="dev").queries == {"q0"}
    assert split_of("faq-dev", cases(())).by == "the name of benchmark 'faq-dev'"
