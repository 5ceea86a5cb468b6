"""Two texts word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragassay.report.versus.differ import MOST_WORDS, pieces, words
from ragassay.report.versus.model import Piece


def test_one_word_differs() -> None:
    assert pieces("after 30 days", "after 14 days") == (
        Piece(kind="same", text="after "),
        Piece(kind="gone", text="30"),
        Piece(kind="new", text="14"),
        Piece(kind="same", text=" days"),
    )


def test_texts_without_spaces_are_compared_letter_by_letter() -> None:
    found = pieces("東京は晴れ", "東京は雨")
    assert found[0] == Piece(kind="same", text="東京は")
    assert "".join(one.text for one in found if one.kind == "gone") == "晴れ"


def test_equal_texts_are_one_piece_and_empty_ones_none() -> None:
    assert pieces("the same", "the same") == (Piece(kind="same", text="the same"),)
    assert pieces("", "") == ()


def test_texts_that_share_only_common_words_are_another_text() -> None:
    found = pieces("Salt is won from the sea by drying.", "I cannot answer this from the documents.")
    assert [one.kind for one in found] == ["gone", "new"]


def test_very_long_texts_are_not_compared() -> None:
    assert pieces("a " * MOST_WORDS, "a") == ()


@given(st.text(), st.text())
def test_pieces_give_both_texts_back(before: str, after: str) -> None:
    assert "".join(words(before)) == before
    found = pieces(before, after)
    assert "".join(one.text for one in found if one.kind != "new") == before
    assert "".join(one.text for one in found if one.kind != "gone") == after
