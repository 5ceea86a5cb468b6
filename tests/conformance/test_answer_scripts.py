"""exact_match and token_f1 on 10,000 pairs against the published rules of SQuAD 2.0 and MuSiQue, written another way.

Both evaluation scripts state the same rules: lower case, ASCII punctuation dropped, the words a, an and the dropped,
white space squeezed; F1 over the multisets of words, 1 if neither side has any; the best reference counts; SQuAD 2.0
first leaves out references without words. The scripts themselves give the same 20,000 pairs of values (run by hand,
SQuAD-explorer eee5fdb and MuSiQue's metrics/answer.py).
"""

from __future__ import annotations

import json
import random
import re
import string
from pathlib import Path

import pytest

from ragassay.measures import exact_match, token_f1

WORDS = [
    "the", "a", "an", "The", "AN", "cat,", "sat.", "3.5", "é", "’", "na-ïve", "猫", "İ", "ß", "\xa0", "\u2028",
    "\x1c", "_a_", "theatre", "the_the", "a.n", "`", "~", "\ud800", "😀", "Łódź",
]  # fmt: skip
ENDS = ("", " ", "\t", "\n")


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


def bent(rng: random.Random, text: str) -> str:
    """The text with a few words taken out, doubled, moved, shouted or put in."""
    own = text.split()
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(own) + 1)
        change = rng.randint(0, 3)
        if change == 0:
            own[at : at + 1] = []
        elif change == 1:
            own.insert(at, rng.choice([*own, *WORDS]))
        elif change == 2:
            own[at : at + 1] = [word.upper() for word in own[at : at + 1]]
        else:
            own[at : at + 1] = [word + rng.choice(".,;:!?'") for word in own[at : at + 1]]
    return " ".join(own)


def test_four_thousand_hostile_pairs() -> None:
    rng = random.Random(5)

    def text() -> str:
        return "".join(rng.choice(WORDS) + rng.choice(ENDS) for _ in range(rng.randint(0, 6)))

    pairs = []
    for _ in range(4_000):
        golds = [text() for _ in range(rng.randint(1, 3))]
        pairs.append((bent(rng, rng.choice(golds)) if rng.random() < 0.5 else text(), golds))
    check(pairs)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["clapnq", "musique"])
def test_three_thousand_pairs_of_real_answers(shared_data: Path, name: str) -> None:
    if name == "clapnq":
        lines = (shared_data / "clapnq" / "clapnq_dev_answerable.jsonl").read_text().splitlines()
        golds = [[one["answer"] for one in json.loads(line)["output"] if one.get("answer")] for line in lines]
    else:
        lines = (shared_data / "musique" / "musique.json").read_text().splitlines()
        golds = [[row["answer"], *row["answer_aliases"]] for row in map(json.loads, lines)]
    golds = [own for own in golds if own]
    rng = random.Random(6)
    pairs = []
    for _ in range(3_000):
        own = rng.choice(golds)
        source = own if rng.random() < 0.8 else rng.choice(golds)
        pairs.append((bent(rng, rng.choice(source)), own))
    check(pairs)
