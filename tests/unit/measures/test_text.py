"""exact_match and token_f1 on answers of every script, size and degree of brokenness."""

from __future__ import annotations

import collections
import re
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragassay.errors import UsageError
from ragassay.measures import exact_match, token_f1
from ragassay.measures.text import normalise_squad, normalise_unicode


def squad_normalise(text: str) -> str:
    """The SQuAD 2.0 script's normalisation, written out as published."""
    text = text.lower()
    text = "".join(char for char in text if char not in set(string.punctuation))
    text = re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", text)
    return " ".join(text.split())


def squad_f1(gold: str, answer: str) -> float:
    """The SQuAD 2.0 script's compute_f1."""
    golds, answers = squad_normalise(gold).split(), squad_normalise(answer).split()
    same = sum((collections.Counter(golds) & collections.Counter(answers)).values())
    if not golds or not answers:
        return float(golds == answers)
    if same == 0:
        return 0.0
    precision, recall = 1.0 * same / len(answers), 1.0 * same / len(golds)
    return (2 * precision * recall) / (precision + recall)


PIECES = ("the", "a", "an", "The", "cat,", "sat.", "3.5", "é", "’", "na-ïve", "猫", "\ud800", "\U0001f600")
words = st.lists(st.sampled_from(PIECES), max_size=12)


@given(words.map(" ".join), words.map(" ".join))
def test_equal_to_the_squad_script(answer: str, gold: str) -> None:
    assert token_f1(answer, [gold]).value == squad_f1(gold, answer)
    assert exact_match(answer, [gold]).value == float(squad_normalise(answer) == squad_normalise(gold))


@given(st.text(), st.text())
@example("C:\u0327", "")
def test_any_text_at_all(answer: str, gold: str) -> None:
    assert normalise_squad(answer) == squad_normalise(answer)
    for norm in ("squad", "musique", "unicode"):
        score = token_f1(answer, [gold], norm)
        assert 0.0 <= score.value <= 1.0
        assert score.value == pytest.approx(score.numerator / score.denominator)
        assert token_f1(gold, [answer], norm).value == pytest.approx(score.value)
        assert exact_match(answer, [answer], norm).value == 1.0
    assert normalise_unicode(normalise_unicode(answer)) == normalise_unicode(answer)


@pytest.mark.parametrize(
    "answer, gold, norm, exact, f1",
    [
        ("The Cat!", "cat", "squad", 1.0, 1.0),
        ("cat sat", "the cat sat on mat", "squad", 0.0, 2 * 1.0 * 0.5 / 1.5),
        ("", "the", "squad", 1.0, 1.0),
        ("x", "the", "squad", 0.0, 0.0),
        ("東京都", "東京", "squad", 0.0, 0.0),
        ("東京都", "東京", "unicode", 0.0, 0.8),
        ("東京。", "東京", "unicode", 1.0, 1.0),
        ("ﾄｳｷｮｳ", "トウキョウ", "unicode", 1.0, 1.0),
        ("Zażółć gęślą jaźń", "zażółć GĘŚLĄ jaźń.", "unicode", 1.0, 1.0),
        ("Łódź", "Lodz", "unicode", 0.0, 0.0),
        ("العَرَبِيَّة", "العربية", "unicode", 1.0, 1.0),
        ("٣٤ كتاب", "34 كتاب", "unicode", 1.0, 1.0),
        ("👍🏽 yes", "👍 yes", "unicode", 1.0, 1.0),
        ("👍", "👎", "unicode", 0.0, 0.0),
        ("Straße", "STRASSE", "unicode", 1.0, 1.0),
        ("2010–2012", "2010 2012", "unicode", 1.0, 1.0),
        ("\ud800 broken", "\ud800 broken", "squad", 1.0, 1.0),
        ("\ud800 broken", "broken", "unicode", 0.0, 2 * 1 * 0.5 / 1.5),
    ],
)
def test_scripts(answer: str, gold: str, norm: str, exact: float, f1: float) -> None:
    assert exact_match(answer, [gold], norm).value == exact
    assert token_f1(answer, [gold], norm).value == f1


def test_the_best_reference_counts_and_none_is_missing() -> None:
    assert token_f1("cat sat", ["dog", "cat"]).value == 2 * 0.5 * 1 / 1.5
    assert exact_match("cat", ["dog", "the cat"]).value == 1.0
    for measure in (exact_match, token_f1):
        assert measure("cat", []).status == "missing"
        assert measure("cat", []).value is None
        assert measure("", ["the", "cat"]).value == 0.0  # SQuAD 2.0: empty references count only where all are
        assert measure("", ["the", "cat"], "musique").value == 1.0
    with pytest.raises(UsageError, match="no normalisation"):
        exact_match("a", ["a"], "squid")


@pytest.mark.parametrize("norm", ["squad", "unicode"])
@pytest.mark.parametrize("piece", ["word the ", "a" * 9 + " ", "猫 ", "é", "\u0301\u0323", "\ud800", ". "])
def test_hundred_thousand_words_take_linear_time(norm: str, piece: str) -> None:
    start = time.perf_counter()
    assert token_f1(piece * 100_000, [piece * 100_001], norm).value is not None
    assert time.perf_counter() - start < 20
