"""Generated judgements and runs against pytrec_eval: equal to 1e-9 in mode=trec, through files and dictionaries.

RAGASSAY_CASES sets how many are generated (default 200; the figure in the notes is from 20,000).
Refused inputs, which pytrec_eval takes or crashes on, are listed in `test_refused`.
"""

from __future__ import annotations

import math
import os
import random
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from ragassay.errors import InputError
from ragassay.measures import evaluate
from ragassay.measures.drop_in import RelevanceEvaluator

CASES = int(os.environ.get("RAGASSAY_CASES", "200"))
SPELLINGS = {
    "map": "ap(mode=trec)",
    "map_cut_10": "ap(mode=trec)@10",
    "recip_rank": "rr(mode=trec)",
    "P_5": "precision(mode=trec)@5",
    "recall_10": "recall(mode=trec)@10",
    "ndcg": "ndcg(mode=trec)",
    "ndcg_cut_5": "ndcg(mode=trec)@5",
    "bpref": "bpref(mode=trec)",
    "Rprec": "r_precision(mode=trec)",
    "infAP": "infap(mode=trec)",
    "success_1": "hit(mode=trec)@1",
    "set_P": "set_precision(mode=trec)",
    "set_recall": "recall(mode=trec)",
    "set_F": "set_f1(mode=trec)",
    "set_map": "set_ap(mode=trec)",
}
THEIRS = {"map", "map_cut", "recip_rank", "P", "recall", "ndcg", "ndcg_cut", "bpref", "Rprec", "infAP", "success",
          "set_P", "set_recall", "set_F", "set_map", "iprec_at_recall", "11pt_avg", "Rprec_mult", "binG",
          "relative_P", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "utility"}  # fmt: skip
Tables = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def generated(seed: int) -> Tables | None:
    """Judgements and a run: ties, near ties in float32, negative and huge grades, unjudged, missing, odd ids."""
    rng = random.Random(seed)
    letters, longest = "abcdé猫0123456789#\"'\\%", rng.choice([2, 7, 8, 9, 16, 17, 40])

    def name() -> str:
        text = "".join(rng.choice(letters) for _ in range(rng.randint(1, longest)))
        return text if not text.startswith("#") else "x" + text

    items = sorted({name() for _ in range(rng.choice([1, 5, 30, 200]))})
    queries = sorted({name() for _ in range(rng.randint(1, 8))})
    qrels, run = {}, {}
    for query in queries:
        if rng.random() < 0.9:
            chosen = rng.sample(items, rng.randint(1, len(items)))
            qrels[query] = {item: rng.choice([-2, -1, 0, 0, 1, 1, 2, 3, 50]) for item in chosen}
        if rng.random() < 0.9:
            chosen, kind = rng.sample(items, rng.randint(1, len(items))), rng.randint(0, 3)
            run[query] = {item: _score(rng, kind) for item in chosen}
    if not set(qrels) & set(run) or any(max(own.values()) < 0 for own in qrels.values()):
        return None
    return qrels, run


def _score(rng: random.Random, kind: int) -> float:
    if kind == 0:
        return float(rng.randint(-1, 2))
    if kind == 1:
        return rng.uniform(-100, 100)
    if kind == 2:
        return 33.9211700 + rng.randint(0, 9) * 1e-7
    return rng.choice([1e-30, 1e30, -1e-9, 0.1, 1 / 3])


def written(folder: Path, tables: Tables, rng: random.Random) -> tuple[Path, Path]:
    """The tables as files, in some legal dress."""
    qrels, run = tables
    space, end = rng.choice([" ", "\t", "  ", " \t"]), rng.choice(["\n", "\r\n"])
    lines = [space.join((query, "Q0", item, "1", _written(rng, score), "tag")) for query, own in run.items()
             for item, score in own.items()]  # fmt: skip
    if rng.random() < 0.5:
        rng.shuffle(lines)
    judged = [space.join((query, "0", item, str(grade))) for query, own in qrels.items() for item, grade in own.items()]
    paths = folder / "qrels", folder / "run"
    for path, text in zip(paths, (judged, lines), strict=True):
        path.write_bytes((end.join(text) + rng.choice(["", end])).encode())
    return paths


def _written(rng: random.Random, score: float) -> str:
    return rng.choice([repr(score), f"{score:.17e}", f"{score:+.18E}"])


def theirs(tables: Tables) -> dict[str, dict[str, float]]:
    return pytrec_eval.RelevanceEvaluator(tables[0], THEIRS).evaluate(tables[1])


@pytest.mark.parametrize("part", range(4))
def test_files_and_dictionaries_equal_pytrec_eval(tmp_path: Path, part: int) -> None:
    compared = 0
    for seed in range(part, CASES, 4):
        tables = generated(seed)
        if tables is None:
            continue
        expected = theirs(tables)
        paths = written(tmp_path, tables, random.Random(seed))
        found = evaluate(*map(str, paths), SPELLINGS.values(), threads=1)
        for name, spelling in SPELLINGS.items():
            for query in found.questions:
                outcome = found.question(spelling, query)
                assert (outcome.status == "value") == (query in expected), (seed, query)
                if query in expected:
                    assert outcome.value == pytest.approx(expected[query][name], abs=1e-9), (seed, name, query)
                    compared += 1
        assert_equal(RelevanceEvaluator(tables[0], THEIRS).evaluate(tables[1]), expected, seed)
    assert compared > CASES


def assert_equal(found: dict[str, Any], expected: dict[str, Any], seed: int) -> None:
    assert found.keys() == expected.keys(), seed
    for query, values in expected.items():
        assert found[query].keys() == values.keys(), seed
        for name, value in values.items():
            # pytrec_eval divides 0 by 0 for a list that judged_docs_only left empty
            wanted = 0.0 if math.isnan(value) else value
            assert found[query][name] == pytest.approx(wanted, abs=1e-9), (seed, query, name)


@pytest.mark.parametrize("level, judged_only", [(2, False), (1, True), (3, True)])
def test_relevance_level_and_judged_only(level: int, judged_only: bool) -> None:
    for seed in range(60):
        tables = generated(seed)
        if tables is not None:
            options = {"relevance_level": level, "judged_docs_only_flag": judged_only}
            expected = pytrec_eval.RelevanceEvaluator(tables[0], THEIRS, **options).evaluate(tables[1])
            assert_equal(RelevanceEvaluator(tables[0], THEIRS, **options).evaluate(tables[1]), expected, seed)


@pytest.mark.parametrize(
    "line, message",
    [
        ("q Q0 d 1 nan t", "is not a number"),
        ("q Q0 d 1 inf t", "is not a number"),
        ("q Q0 d 1 0x1p3 t", "is not a number"),
        ("q Q0 d 1 1_000 t", "is not a number"),
        ("q Q0 d 1 x t", "is not a number"),
        ("q Q0 d 1 2", "5 fields where 6"),
        ("q Q0 d 1 2 t\nq Q0 d 2 1 t", "stands twice"),
    ],
)
def test_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text(f"q Q0 a 1 9 t\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        evaluate(str(tmp_path / "qrels"), str(tmp_path / "run"), ["ap(mode=trec)"])
    assert caught.value.line == 1 + len(line.splitlines())
    assert caught.value.hint


@pytest.mark.parametrize("grade", ["1.5", "x", "", "1e400"])
def test_refused_grades(tmp_path: Path, grade: str) -> None:
    (tmp_path / "qrels").write_text(f"q 0 a 1\nq 0 d {grade}\n")
    with pytest.raises(InputError) as caught:
        evaluate(str(tmp_path / "qrels"), {"q": {"a": 1.0}}, ["ap"])
    assert caught.value.line == 2


def test_an_item_judged_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\nq 0 a 0\n")
    with pytest.raises(InputError, match="'a' is judged twice for query 'q'") as caught:
        evaluate(str(tmp_path / "qrels"), {"q": {"a": 1.0}}, ["ap"])
    assert caught.value.line == 3
