"""Marks that an answer copied from what it was shown: by hand, and by properties of the rule."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.claims.copied import told
from ragassay.claims.forms import CitationForm

IDS = ["p1", "p2", "p3"]
KEEP = "The great keep was built in 1080 [3] by monks of the abbey.[2][1]"


def split(answer: str, *shown: str, form: str = "[n]") -> tuple[list[str], list[str]]:
    """The names of the own marks, and of the copied ones."""
    declared = CitationForm(form)
    found = told(answer, declared.marks(answer, IDS), shown, declared)
    return [one.name for one in found.own], [one.name for one in found.copied]


@pytest.mark.parametrize(
    "answer, shown, own, copied",
    [
        ("It was built in 1080 [3].", [KEEP], [], ["p3"]),
        ("It was built in 1080 [1].", [KEEP], ["p1"], []),  # another number: its own
        ("Monks built the keep [3].", [KEEP], ["p3"], []),  # other words before it: its own
        ("[3] by monks of the abbey", [KEEP], [], ["p3"]),  # a copy that begins at the mark
        ("BUILT, in\n1080 [ 3 ].", [KEEP], [], ["p3"]),  # white space, case and punctuation aside
        ("1080 [3] by monks", [KEEP], [], ["p3"]),  # one word before, two behind
        ("monks of the abbey [2][1].", [KEEP], [], ["p2", "p1"]),
        ("monks of the abbey [2] [1].", [KEEP], [], ["p2", "p1"]),
        ("monks of the abbey [1].", [KEEP], ["p1"], []),  # there it stands behind [2]
        ("1080 [3].", [KEEP], [], ["p3"]),  # the answer has no more words
        ("1080 [3].", ["A keep of 1080."], ["p3"], []),
        ("[3]", [KEEP], ["p3"], []),
        ("Rain [7].", ["Rain [7]"], [], ["[7]"]),  # names nothing in the context, and is copied at that
        ("It was built in 1080 [3]. Monks lived there [3].", [KEEP], ["p3"], ["p3"]),
        ("[1] The great keep was built", ["The great keep was built"], ["p1"], []),  # the label is not of the text
        ("", [KEEP], [], []),
        ("No mark.", [KEEP], [], []),
        ("It was built in 1080 [3].", [], ["p3"], []),
    ],
)
def test_by_hand(answer: str, shown: list[str], own: list[str], copied: list[str]) -> None:
    assert split(answer, *shown) == (own, copied)


def test_ids_as_marks() -> None:
    assert split("Built in 1080 (p3), by whom? (p1)", "was built in 1080 (p3)", form="(id)") == (["p1"], ["p3"])


WORDS = st.lists(st.sampled_from(["rain", "snow", "hail", "[1]", "[2]", "[3]", "."]), max_size=12).map(" ".join)


@given(WORDS, st.lists(WORDS, max_size=3))
def test_every_mark_is_one_or_the_other_and_more_shown_texts_never_give_a_mark_back(
    answer: str, shown: list[str]
) -> None:
    form = CitationForm("[n]")
    marks = form.marks(answer, IDS)
    found = told(answer, marks, shown, form)
    assert sorted([*found.own, *found.copied]) == sorted(marks)
    assert told(answer, marks, [], form).copied == []
    assert set(told(answer, marks, shown[:1], form).copied) <= set(found.copied)


@given(WORDS, st.text(max_size=20), st.text(max_size=20))
def test_a_whole_copy_cites_nothing(passage: str, before: str, behind: str) -> None:
    own, _ = split(passage, f"{before} {passage} {behind}")
    assert not own or not any(one.isalnum() for one in passage.replace("[1]", "").replace("[2]", "").replace("[3]", ""))


def test_many_marks_take_time_in_proportion() -> None:
    began = time.perf_counter()
    own, copied = split("a b c [3] " * 20_000, "a b c [3] x " * 20_000)
    assert (len(own), len(copied)) == (0, 20_000)
    assert time.perf_counter() - began < 10
