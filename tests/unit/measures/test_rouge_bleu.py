"""rouge against the rouge-score package; bleu and chrf as sacrebleu 2.6.0 printed them, in 0..1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from ragassay.measures.ngrams import bleu, chrf
from ragassay.measures.rouge import rouge_1, rouge_2, rouge_l

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
