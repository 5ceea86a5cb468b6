"""exact_match and token_f1 on 10,000 pairs against the published rules of SQuAD 2.0 and MuSiQue, written another way.

Both evaluation scripts state the same rules: lower case, ASCII punctuation dropped, the words a, an and the dropped,
white space squeezed; F1 over the multisets of words, 1 if neither side has any; the best reference counts; SQuAD 2.0
first leaves out references without words. `python -m bench.answers` compares with the scripts themselves.
"""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

import pytest
from bench.answers import hostile, real, references

from ragassay.measures import exact_match, token_f1


def words(text: str) -> list[str]:
    """What is left of a text, word by word: runs of word characters that are articles go, and so does punctuation."""
    bare = "".join(char for char in text.lower() if not (char.isascii() and char in string.punctuation))
    runs = [" " if run in ("a", "an", "the") else run for run in re.split(r"(\w+)", bare)]
    return "".join(runs).split()


def f1(mine: list[str], gold: list[str]) -> float:
    left, shared = list(gold), 0
    for word in mine:
        if word in left:
            left.remove(word)
            shared += 1
    if not mine or not gold:
        return float(mine == gold)
    precision, recall = shared / len(mine), shared / len(gold)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def expected(answer: str, golds: list[str], norm: str) -> tuple[float, float]:
    counted = [words(gold) for gold in golds]
    if norm == "squad":
        counted = [gold for gold in counted if gold] or [[]]
    mine = words(answer)
    return float(mine in counted), max(f1(mine, gold) for gold in counted)


def check(pairs: list[tuple[str, list[str]]]) -> None:
    exact = between = 0
    for answer, golds in pairs:
        for norm in ("squad", "musique"):
            found = exact_match(answer, golds, norm).value, token_f1(answer, golds, norm).value
            assert found == expected(answer, golds, norm), (answer, golds, norm)
            exact += found[0] == 1.0
            between += 0.0 < found[1] < 1.0
    assert min(exact, between) > len(pairs) / 20


def test_four_thousand_hostile_pairs() -> None:
    check(hostile(random.Random(5), 4_000))


@pytest.mark.shared
@pytest.mark.parametrize("name", ["clapnq", "musique"])
def test_three_thousand_pairs_of_real_answers(shared_data: Path, name: str) -> None:
    check(real(random.Random(6), references(shared_data, name), 3_000))
