"""exact_match and token_f1 against the official scripts of SQuAD 2.0 and MuSiQue, pair by pair.

    SQUAD_SCRIPT=evaluate-v2.0.py MUSIQUE_SCRIPT=metrics/answer.py python -m bench.answers [PAIRS] [--data FOLDER]

The scripts are not part of this repository: SQuAD's is evaluate-v2.0.py of rajpurkar/SQuAD-explorer (MIT licence),
MuSiQue's is metrics/answer.py of StonyBrookNLP/musique. One that is not named is skipped, and said so. PAIRS (10,000):
three fifths of an answer and one to several references of CLAPnq and MuSiQue, bent a little (only with --data, the
folder of the public data sets), the others made of words that such scripts trip over.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from ragassay.measures import exact_match, token_f1
from ragassay.measures.text import Norm
from ragassay.records.text import many

PAIRS = 10_000
WORDS = [
    "the", "a", "an", "The", "AN", "cat,", "sat.", "3.5", "é", "’", "na-ïve", "猫", "İ", "ß", "\xa0", "\u2028",
    "\x1c", "_a_", "theatre", "the_the", "a.n", "`", "~", "\ud800", "😀", "Łódź",
]  # fmt: skip
ENDS = ("", " ", "\t", "\n")
Pair = tuple[str, list[str]]
Scores = list[tuple[float, float]]


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


def hostile(rng: random.Random, count: int) -> list[Pair]:
    """Pairs made of `WORDS`: articles and punctuation everywhere, texts without words, odd white space."""

    def text() -> str:
        return "".join(rng.choice(WORDS) + rng.choice(ENDS) for _ in range(rng.randint(0, 6)))

    pairs = []
    for _ in range(count):
        golds = [text() for _ in range(rng.randint(1, 3))]
        pairs.append((bent(rng, rng.choice(golds)) if rng.random() < 0.5 else text(), golds))
    return pairs


def references(data: Path, name: str) -> list[list[str]]:
    """The reference answers of each question of CLAPnq or MuSiQue that has any."""
    if name == "clapnq":
        lines = (data / "clapnq" / "clapnq_dev_answerable.jsonl").read_text("utf-8").splitlines()
        golds = [[one["answer"] for one in json.loads(line)["output"] if one.get("answer")] for line in lines]
    else:
        lines = (data / "musique" / "musique.json").read_text("utf-8").splitlines()
        golds = [[row["answer"], *row["answer_aliases"]] for row in map(json.loads, lines)]
    return [own for own in golds if own]


def real(rng: random.Random, golds: list[list[str]], count: int) -> list[Pair]:
    """A question's references with a bent copy of one of them as the answer, or of another question's."""
    pairs = []
    for _ in range(count):
        own = rng.choice(golds)
        source = own if rng.random() < 0.8 else rng.choice(golds)
        pairs.append((bent(rng, rng.choice(source)), own))
    return pairs


def script(path: Path) -> ModuleType:
    """The file as a module; what it imports may lie beside its folder."""
    sys.path.append(str(path.resolve().parent.parent))
    described = importlib.util.spec_from_file_location(path.stem.replace("-", "_").replace(".", "_"), path)
    if described is None or described.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def by_squad(path: Path, pairs: list[Pair]) -> Scores:
    """SQuAD 2.0's `get_raw_scores` over all pairs as questions of one paragraph."""
    asked = [{"id": str(at), "answers": [{"text": gold} for gold in golds]} for at, (_, golds) in enumerate(pairs)]
    said = {str(at): answer for at, (answer, _) in enumerate(pairs)}
    exact, f1 = script(path).get_raw_scores([{"paragraphs": [{"qas": asked}]}], said)
    return [(float(exact[str(at)]), float(f1[str(at)])) for at in range(len(pairs))]


def by_musique(path: Path, pairs: list[Pair]) -> Scores:
    """MuSiQue's `AnswerMetric`, asked pair by pair."""
    module = script(path)
    found = []
    for answer, golds in pairs:
        metric = module.AnswerMetric()
        metric(answer, golds)
        exact, f1 = metric.get_metric()
        found.append((float(exact), float(f1)))
    return found


SCRIPTS: dict[Norm, tuple[str, Callable[[Path, list[Pair]], Scores]]] = {
    "squad": ("SQUAD_SCRIPT", by_squad),
    "musique": ("MUSIQUE_SCRIPT", by_musique),
}


def compare(norm: Norm, pairs: list[Pair], said: Scores) -> int:
    """Print how many values are equal in every bit, and return how many are not."""
    mine = [(exact_match(answer, golds, norm).value, token_f1(answer, golds, norm).value) for answer, golds in pairs]
    equal = [sum(own[at] == other[at] for own, other in zip(mine, said, strict=True)) for at in range(2)]
    between = sum(0.0 < f1 < 1.0 for _, f1 in said)
    hits = sum(exact == 1.0 for exact, _ in said)
    print(f"  {norm}: of {many(len(pairs), 'pair')} {equal[0]:,} equal in exact_match ({hits:,} are 1), "
          f"{equal[1]:,} in token_f1 ({between:,} between 0 and 1), every bit")  # fmt: skip
    return 2 * len(pairs) - sum(equal)


def main() -> int:
    """Compare with each script that is named; exit code 1 where a value differs, 2 where there is no script."""
    parser = argparse.ArgumentParser(description="exact_match and token_f1 against the official scripts")
    parser.add_argument("pairs", nargs="?", type=int, default=PAIRS)
    parser.add_argument("--data", type=Path, help="folder of the public data sets")
    asked = parser.parse_args()
    rng = random.Random(5)
    pairs = []
    if asked.data:
        for name in ("clapnq", "musique"):
            pairs += real(rng, references(asked.data, name), asked.pairs * 3 // 10)
    pairs += hostile(rng, asked.pairs - len(pairs))
    different, ran = 0, 0
    for norm, (variable, call) in SCRIPTS.items():
        path = os.environ.get(variable)
        if path is None:
            print(f"  {norm}: no script in ${variable}, skipped")
            continue
        ran += 1
        different += compare(norm, pairs, call(Path(path), pairs))
    return 2 if not ran else int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
