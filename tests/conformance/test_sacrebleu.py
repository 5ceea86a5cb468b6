"""bleu and chrf against sacrebleu's own functions with their defaults: generated, hostile, and without spaces."""

from __future__ import annotations

import random
import sys

import pytest
import sacrebleu

from ragassay.errors import MissingExtraError
from ragassay.measures import ngrams
from ragassay.measures.ngrams import bleu, chrf

PAIRS = 2_000
WORDS = [
    "the", "cat", "sat", "on", "a", "mat", "Mat.", "1,000.50", "brown-fox", "don't", "&quot;", "&amp;amp;",
    "<skipped>", "naïve", "İstanbul", "ﬁn", "é", "Ω", "कुत्ता", "العربية", "👍🏽", "a\u200bb", "-", "...", "$5",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
]  # fmt: skip
UNSPACED = [
    "東京は大きい都市です。", "我们在图书馆里看书，", "ภาษาไทยไม่มีช่องว่าง", "ភាសាខ្មែរ", "မြန်မာဘာသာ",
    "カタカナとひらがな", "、", "中",
]  # fmt: skip
HOSTILE = ["", " ", "\n", "-\n", "\t", "\0", "\x1f", "\ud800", "\u202e", "\ufeff", "\u2028", "%s", "\\1", "{0}", "\r\n"]
ENDS = (" ", " ", " ", "", "\n")


def generated(seed: int) -> tuple[str, list[str]]:
    """An answer and one to three references; many references are the answer with words taken out or moved."""
    rng = random.Random(seed)
    pool = (WORDS, UNSPACED, [*HOSTILE, *WORDS], [*HOSTILE, *UNSPACED])[seed % 4]

    def text() -> list[str]:
        return [rng.choice(pool) + rng.choice(ENDS) for _ in range(rng.choice([0, 1, 2, 4, 8, 25]))]

    answer = text()
    references = []
    for _ in range(rng.randint(1, 3)):
        own = [word for word in answer if rng.random() < 0.8] if rng.random() < 0.6 else text()
        references.append("".join(own[::-1] if rng.random() < 0.2 else own))
    return "".join(answer), references


def test_two_thousand_pairs_have_sacrebleus_values() -> None:
    between = {"bleu": 0, "chrf": 0}
    for seed in range(PAIRS):
        answer, references = generated(seed)
        for name, ours, theirs in (("bleu", bleu, sacrebleu.sentence_bleu), ("chrf", chrf, sacrebleu.sentence_chrf)):
            found, expected = ours(answer, references), theirs(answer, references).score / 100
            assert found.value == min(expected, 1.0), (seed, name)
            assert (found.status, found.numerator, found.denominator) == ("value", found.value, 1.0)
            between[name] += 0.0 < found.value < 1.0
    assert min(between.values()) > PAIRS / 4


def test_by_hand() -> None:
    assert bleu("a b c d e f g", ["a b c d e f g"]) == ("value", 1.0, 1.0, 1.0, "")  # sacrebleu: 100.00000000000004
    # 4 of 5 words, 2 of 4 pairs, 1 of 3 triples, 0 of 2 fours (smoothed to 1 / (2 * 2)); equal lengths
    assert bleu("a b c x e", ["a b c d e"]).value == pytest.approx((4 / 5 * 2 / 4 * 1 / 3 * 1 / 4) ** 0.25)
    # Characters: 2 of 2 and 2 of 3, pairs 1 of 1 and 1 of 2; longer ones do not exist on our side
    precision, recall = 1.0, (2 / 3 + 1 / 2) / 2
    assert chrf("ab", ["a b c"]).value == pytest.approx(5 * precision * recall / (4 * precision + recall))


def test_without_sacrebleu_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ngrams._scorers.cache_clear()
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(MissingExtraError, match="bleu and chrf need sacrebleu") as caught:
        bleu("a", ["a"])
    assert caught.value.hint == "pip install 'ragassay[text]'"
