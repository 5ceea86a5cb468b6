"""The Unicode-aware form of answers, character by character: what goes, what parts words, what is a word of its own."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest

from ragassay.errors import UsageError
from ragassay.measures import Outcome, exact_match, text, token_f1
from ragassay.measures.outcome import NO_REFERENCE
from ragassay.measures.text import f1_of_counts, normalise_unicode, normaliser

CGJ = "\u034f"


@pytest.fixture(autouse=True)
def _new_table() -> Iterator[None]:
    text._TABLE.clear()
    yield
    text._TABLE.clear()


# One character between x and y: as x?y is written afterwards. Edges of every range, and what lies beside them.
WRITTEN = {
    "": ["\u064b", "\u0652", "\u0640", "\u0670", CGJ, "\ufe00", "\ufe0f", "\U0001f3fb", "\U0001f3ff", "'", "!", "$",
         "^", "+", "=", "\u200d", "\u00ad", "«", "_", "、", "\u20ac", "\u00b1"],
    " ": ["-", "\u2013", "/", " ", "\u00a0", "\u2028", "\t", "\n", "\x00", "\x85", "\u3000"],
}  # fmt: skip
ALONE = ["\U0001f600", "☃", "ก", "\u0e81", "က", "\u1050", "ក", "あ", "\u30fe", "\u31f0", "㐀", "\u4dbf", "一", "\u9fff",
         "\U0001b000", "\U0001b122", "\U00020000", "\U0003134a", "\U0001f3fa", "\u17b3"]  # fmt: skip
KEPT = ["é", "ß", "ł", "д", "अ", "\u0653", "\u064a", "\u0671", "\ud800", "\u10d0", "\u1100", "\u0915", "ᄀ", "\uac00"]


@pytest.mark.parametrize("char", WRITTEN[""])
def test_goes_without_a_trace(char: str) -> None:
    assert normalise_unicode(f"éx{char}y") == "éxy"


@pytest.mark.parametrize("char", WRITTEN[" "])
def test_parts_words(char: str) -> None:
    assert normalise_unicode(f"éx{char}y") == "éx y"
    assert normalise_unicode(f"{char}éx{char}{char}y{char}") == "éx y"


@pytest.mark.parametrize("char", ALONE)
def test_is_a_word_of_its_own(char: str) -> None:
    assert normalise_unicode(f"éx{char}{char}y") == f"éx {char} {char} y"


@pytest.mark.parametrize("char", KEPT)
def test_is_part_of_a_word(char: str) -> None:
    folded = unicodedata.normalize("NFKC", f"éx{char}y".casefold())
    assert normalise_unicode(f"éx{char}y") == folded
    assert " " not in folded


def test_digits_of_any_script_are_ascii() -> None:
    for nine in ("٩", "९", "９", "๙", "\U0001d7d7"):
        assert normalise_unicode(f"é{nine}") == "é9"
    assert normalise_unicode("é½²") == "é1⁄22".replace("⁄", "")


def test_ascii_alone_takes_the_same_form() -> None:
    for plain in ("The  CAT-sat/on: 3.5%\tof\nit's [mat] a+b=c $5 `x` ~y ^z | <w>", "", " ", "-"):
        assert normalise_unicode(plain + "é") == (normalise_unicode(plain) + "é")
    assert normalise_unicode("The  CAT-sat/on: 3.5%") == "the cat sat on 35"


def test_no_more_than_thirty_marks_in_a_row() -> None:
    mark = "\u0301"
    for given, safe in [
        ("a" + mark * 30, "a" + mark * 30),
        ("a" + mark * 31, "a" + mark * 30 + CGJ + mark),
        ("a" + mark * 65, "a" + mark * 30 + CGJ + mark * 30 + CGJ + mark * 5),
        (mark * 31, mark * 30 + CGJ + mark),
        (mark * 20 + "a" + mark * 20, mark * 20 + "a" + mark * 20),
        (mark * 31 + "a" + mark * 30, mark * 30 + CGJ + mark + "a" + mark * 30),
        ("plain", "plain"),
    ]:
        assert text._stream_safe(given) == safe
    assert normalise_unicode("a" + mark * 100 + "é") == "á" + mark * 99 + "é"


def test_outcomes_whole() -> None:
    assert NO_REFERENCE == ("missing", None, None, None, "no_reference")
    assert exact_match("a", []) == token_f1("a", []) == NO_REFERENCE
    assert exact_match("cat", ["The cat!"]) == Outcome("value", 1.0, 1.0, 1.0)
    assert exact_match("cat", ["dog"]) == Outcome("value", 0.0, 0.0, 1.0)
    assert token_f1("cat sat", ["a cat"]) == Outcome("value", 2 * 0.5 * 1 / 1.5, 2.0, 3.0)
    assert token_f1("x y", ["cat", "dog sat on"]) == Outcome("value", 0.0, 0.0, 3.0)
    assert token_f1("", [""]) == Outcome("value", 1.0, 1.0, 1.0)
    assert token_f1("", ["cat dog"]) == token_f1("cat dog", ["the"]) == Outcome("value", 0.0, 0.0, 1.0)
    # Of equal ones the first: both 0.8, of 5 and of 10 words
    assert f1_of_counts(2, 3, 2) == Outcome("value", pytest.approx(0.8), 4.0, 5.0)
    assert token_f1("p q r", ["p q", "p q r s t u v"]).denominator == 5.0
    assert token_f1("p q", ["p x", "q y z"]) == Outcome("value", 0.5, 2.0, 4.0)
    assert token_f1("p q", ["x y", "q z"]) == token_f1("p q", ["q z", "p y"]) == Outcome("value", 0.5, 2.0, 4.0)


def test_references_without_words_count_only_where_all_are() -> None:
    assert exact_match("", ["the", "cat"]).value == 0.0
    assert exact_match("", ["the", "a"]).value == 1.0
    assert exact_match("x", ["the", "a"]).value == 0.0
    assert exact_match("", ["the", "cat"], "musique").value == 1.0
    assert text._references(["", ""], "squad") == [""]
    assert text._references(["", "x", ""], "squad") == ["x"]
    assert text._references(["", "x"], "unicode") == ["", "x"]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^there is no normalisation 'squid'") as caught:
        normaliser("squid")
    assert caught.value.hint == "one of squad, musique, unicode"
