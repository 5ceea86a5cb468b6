"""rouge against the rouge-score package; bleu and chrf as sacrebleu 2.6.0 printed them, in 0..1."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from ragassay.measures.ngrams import bleu, chrf
from ragassay.measures.outcome import NO_REFERENCE, Outcome
from ragassay.measures.rouge import rouge_1, rouge_2, rouge_l, words

SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
PIECES = ("the", "cat", "Sat.", "dog-house", "İx", "naïve", "3.5", "日本", "b", "c", "d", "\n", "\n", " . ")
texts = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)

# answer, references, sentence_bleu / 100, sentence_chrf / 100: sacrebleu 2.6.0 with its defaults
SACREBLEU = [
    ("the cat sat on the mat", ["the cat is on the mat"], 0.3799178428257963, 0.645779420625287),
    ("the the the the", ["the cat sat on the mat", "a cat"], 0.1899589214128981, 0.1515956671519429),
    ("", ["x"], 0.0, 0.0),
    ("x", [""], 0.0, 0.0),
    ("Hello, world! It's 3.5 (approx.)", ["hello world, it is 3.5 approx"], 0.05934202609760488, 0.41255944749029516),
    ("a b c d e f g", ["a b c d e f g"], 1.0000000000000004, 1.0),
    ("completely different", ["nothing shared here at all"], 0.0, 0.11838924827802538),
    (
        "The &quot;quick&quot; brown-fox, 1,000.50 USD",
        ['The "quick" brown fox 1,000.50 USD', "Quick brown-fox"],
        0.42728700639623396,
        0.5233780430451205,
    ),
    ("東京は大きい", ["東京はとても大きい"], 0.0, 0.26132469080613907),
    ("zażółć gęślą jaźń", ["zażółć gęśla jaźń"], 0.3466806371753173, 0.7119713619713619),
    ("one two", ["one two three four five"], 0.2231301601484299, 0.24208344343172727),
    ("ab", ["abc"], 0.0, 0.6363636363636362),
    ("line one\nline two-\nthree", ["line one line two three"], 0.46307771619910265, 0.8259544654030196),
    ("a b c d a b c d", ["a b c d e a b c d", "a b c d"], 0.6101950432112583, 0.7422630560928433),
]


@given(texts, texts)
def test_equal_to_rouge_score(answer: str, gold: str) -> None:
    expected = SCORER.score(gold, answer)
    assert rouge_1(answer, [gold]).value == expected["rouge1"].fmeasure
    assert rouge_2(answer, [gold]).value == expected["rouge2"].fmeasure
    assert rouge_l(answer, [gold]).value == expected["rougeL"].fmeasure
    assert rouge_l(answer, [gold], "lines").value == expected["rougeLsum"].fmeasure


def test_two_hundred_texts_of_few_words_in_many_lines_equal_rouge_score() -> None:
    """Few words, so that they come again and are used up, and several subsequences are equally long."""
    rng = random.Random(2)

    def text() -> str:
        return "\n".join(
            " ".join(rng.choice("abcd") for _ in range(rng.randint(0, 7))) for _ in range(rng.randint(1, 4))
        )

    differ = 0
    for _ in range(200):
        answer, gold = text(), text()
        expected = SCORER.score(gold, answer)
        whole, lines = rouge_l(answer, [gold]), rouge_l(answer, [gold], "lines")
        assert (whole.value, lines.value) == (expected["rougeL"].fmeasure, expected["rougeLsum"].fmeasure)
        assert whole.denominator == lines.denominator == max(len(answer.split()) + len(gold.split()), 1)
        assert rouge_1(answer, [gold]).value == expected["rouge1"].fmeasure
        assert rouge_2(answer, [gold]).value == expected["rouge2"].fmeasure
        differ += whole.value != lines.value
    assert differ > 50


def test_summary_level_by_hand() -> None:
    # Lin 2004, 3.2: w1 w2 w3 w4 w5 against w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5: the union is w1 w2 w3 w5, 4 of 5.
    found = rouge_l("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", ["w1 w2 w3 w4 w5"], "lines")
    assert found == Outcome("value", pytest.approx(2 * 4 / 5 * 4 / 10 / (4 / 5 + 4 / 10)), 8.0, 15.0)
    # A word that the answer has once counts once.
    assert rouge_l("a", ["a\na"], "lines").numerator == 2.0
    assert rouge_l("a\n\na", ["a\na"], "lines").value == 1.0
    assert rouge_l("", [""], "lines") == rouge_1("", ["x"])._replace(denominator=1.0) == Outcome("value", 0.0, 0.0, 1.0)


def test_words_are_runs_of_ascii_letters_and_digits() -> None:
    assert words("The Cat-sat,3.5%\nZ_z@[`{~") == [b"the", b"cat", b"sat", b"3", b"5", b"z", b"z"]
    assert words("NAÏVE Kelvin \u212a x²") == [b"na", b"ve", b"kelvin", b"k", b"x"]
    assert words("a\ud800b") == [b"a", b"b"]


def test_the_best_reference_and_the_first_of_equals() -> None:
    assert rouge_1("a b", ["c", "a x y z", "a", "b"]) == Outcome("value", 2 * 0.5 / 1.5, 2.0, 3.0)
    assert rouge_1("a b", ["x y z", "c"]) == Outcome("value", 0.0, 0.0, 5.0)
    assert rouge_1("a", iter([])) == NO_REFERENCE


@pytest.mark.parametrize("answer, references, expected_bleu, expected_chrf", SACREBLEU)
def test_equal_to_sacrebleu(answer: str, references: list[str], expected_bleu: float, expected_chrf: float) -> None:
    assert bleu(answer, references).value == pytest.approx(expected_bleu, abs=1e-12)
    assert chrf(answer, references).value == pytest.approx(expected_chrf, abs=1e-12)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gives_a_value_in_range(answer: str, gold: str) -> None:
    for measure in (rouge_1, rouge_2, rouge_l, bleu, chrf):
        found = measure(answer, [gold])
        assert 0.0 <= found.value <= 1.0 + 1e-12
        assert found.value == pytest.approx(found.numerator / found.denominator)
        assert measure(answer, [gold, gold]).value == pytest.approx(found.value)


def test_no_reference_is_missing_and_the_best_one_counts() -> None:
    for measure in (rouge_1, rouge_2, rouge_l, bleu, chrf):
        assert measure("a b", []).reason == "no_reference"
        assert measure("a b", []).value is None
    assert rouge_l("the cat sat", ["a dog", "the cat sat", "cat"]).value == 1.0
    assert rouge_1("\ud800 cat", ["cat"]).value == 1.0


def test_longest_common_subsequence_by_hand() -> None:
    # a b c d e against x a c y e: a c e, 3 of 5 and 3 of 5
    assert rouge_l("a b c d e", ["x a c y e"]).value == 3 / 5
    assert rouge_l("a b c d e", ["x a c y e"]).numerator == 6.0


def test_long_texts() -> None:
    assert rouge_l("word other " * 5_000, ["other word " * 5_000]).value == pytest.approx(1 - 1 / 10_000)
